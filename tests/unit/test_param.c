/* test_param.c - parameter tables: values in, bounds, messages, values out
 * SPDX-License-Identifier: MIT
 */
#include "check_main.h"

#include "harness/core/param.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

struct args {
	const char *text;
	int64_t count, delay, size, rate, share;
	bool flag;
	double factor;
	int mode;
};

static const char *const modes[] = {"drop", "delay", "hang", NULL};

#define AT(field) offsetof(struct args, field)

static const struct drill_param table[] = {
	{"count", DRILL_INT, AT(count), NULL, 1, 64, NULL, "How many."},
	{"text", DRILL_STRING, AT(text), "abc", 0, 0, NULL, "Words."},
	{"delay", DRILL_DURATION, AT(delay), "80ms", 1, 60000000000, NULL,
	 "How long."},
	{"size", DRILL_SIZE, AT(size), "4KiB", 0, 0, NULL, "How big."},
	{"rate", DRILL_RATE, AT(rate), "10Gbit/s", 0, 0, NULL, "How fast."},
	{"share", DRILL_PERCENT, AT(share), "5%", 0, 1000000, NULL,
	 "How much."},
	{"flag", DRILL_BOOL, AT(flag), "false", 0, 0, NULL, "Whether."},
	{"factor", DRILL_NUMBER, AT(factor), "1.5", 0, 0, NULL, "Times."},
	{"mode", DRILL_ENUM, AT(mode), "delay", 0, 0, modes, "Which way."},
	{0},
};

static int parse(const char *json, struct args *a, struct drill_err *err)
{
	json_t *obj = json_loads(json, 0, NULL);
	int rc;

	ck_assert_ptr_nonnull(obj);
	memset(a, 0x5a, sizeof(*a));
	memset(err, 0, sizeof(*err));
	rc = drill_params_parse(table, "test", obj, a, err);
	json_decref(obj);
	return rc;
}

START_TEST(defaults_fill_what_is_not_said)
{
	struct drill_err err;
	struct args a;

	ck_assert_int_eq(parse("{\"count\": 3}", &a, &err), 0);
	ck_assert_int_eq(a.count, 3);
	ck_assert_str_eq(a.text, "abc");
	ck_assert_int_eq(a.delay, 80000000);
	ck_assert_int_eq(a.size, 4096);
	ck_assert_int_eq(a.rate, 10000000000);
	ck_assert_int_eq(a.share, 50000);
	ck_assert(!a.flag);
	ck_assert_double_eq(a.factor, 1.5);
	ck_assert_int_eq(a.mode, 1);
}
END_TEST

static const struct {
	const char *json;
	size_t at;
	int64_t value;
} good[] = {
	{"{\"count\": 64}", AT(count), 64},
	{"{\"count\": \"7\"}", AT(count), 7},
	{"{\"count\": 5.0}", AT(count), 5},
	{"{\"count\": 1, \"delay\": \"1min\"}", AT(delay), 60000000000},
	{"{\"count\": 1, \"delay\": null}", AT(delay), 80000000},
	{"{\"count\": 1, \"share\": \"0%\"}", AT(share), 0},
	{"{\"count\": 1, \"size\": \"1GiB\"}", AT(size), 1 << 30},
};

START_TEST(takes_what_a_user_would_type)
{
	struct drill_err err;
	struct args a;
	int64_t v;

	ck_assert_msg(parse(good[_i].json, &a, &err) == 0, "%s", err.msg);
	memcpy(&v, (char *)&a + good[_i].at, sizeof(v));
	ck_assert_int_eq(v, good[_i].value);
}
END_TEST

static const struct {
	const char *json;
	int code;
	const char *says;
} bad[] = {
	{"{}", -EINVAL, "'count' is missing: How many."},
	{"{\"count\": 0}", -ERANGE, "'count' must be from 1 to 64"},
	{"{\"count\": 65}", -ERANGE, "'count' must be from 1 to 64"},
	{"{\"count\": 1.5}", -EINVAL, "'count' must be an integer, not 1.5"},
	{"{\"count\": 1e300}", -EINVAL, "must be an integer"},
	{"{\"count\": \"x\"}", -EINVAL, "must be an integer, not \"x\""},
	{"{\"count\": \"\"}", -EINVAL, "must be an integer, not \"\""},
	{"{\"count\": true}", -EINVAL, "must be an integer, not true"},
	{"{\"count\": 1, \"text\": 5}", -EINVAL, "must be a string, not 5"},
	{"{\"count\": 1, \"delay\": 80}", -EINVAL, "\"80ms\", not 80"},
	{"{\"count\": 1, \"delay\": \"80\"}", -EINVAL, "'80' has no unit"},
	{"{\"count\": 1, \"delay\": \"0s\"}", -ERANGE, "from 1ns to 1min"},
	{"{\"count\": 1, \"delay\": \"61s\"}", -ERANGE, "from 1ns to 1min"},
	{"{\"count\": 1, \"share\": \"101%\"}", -ERANGE, "from 0% to 100%"},
	{"{\"count\": 1, \"size\": 4096}", -EINVAL, "\"4KiB\", not 4096"},
	{"{\"count\": 1, \"rate\": 1}", -EINVAL, "\"10Gbit/s\", not 1"},
	{"{\"count\": 1, \"flag\": 1}", -EINVAL, "must be true or false"},
	{"{\"count\": 1, \"factor\": \"1x\"}", -EINVAL, "must be a number"},
	{"{\"count\": 1, \"factor\": \"inf\"}", -EINVAL, "a finite number"},
	{"{\"count\": 1, \"factor\": []}", -EINVAL, "a number, not []"},
	{"{\"count\": 1, \"mode\": \"dealy\"}", -EINVAL,
	 "no value 'dealy', did you mean 'delay'? (one of: drop, delay, hang)"},
	{"{\"count\": 1, \"mode\": 1}", -EINVAL, "drop, delay, hang, not 1"},
	{"{\"cuont\": 1}", -EINVAL, "'cuont', did you mean 'count'?"},
	{"{\"zzzzzz\": 1}", -EINVAL, "(there are: count, text, delay"},
	{"[1]", -EINVAL, "must be named, not a list"},
};

START_TEST(refuses_the_rest_and_says_what_to_write)
{
	struct drill_err err;
	struct args a;

	ck_assert_int_eq(parse(bad[_i].json, &a, &err), bad[_i].code);
	ck_assert_msg(strstr(err.msg, bad[_i].says), "%s: %s", bad[_i].json,
		      err.msg);
}
END_TEST

START_TEST(a_table_without_rows_takes_nothing)
{
	static const struct drill_param none[] = {{0}};
	json_t *obj = json_loads("{\"x\": 1}", 0, NULL);
	struct drill_err err = {0};

	ck_assert_int_eq(drill_params_parse(none, "test", NULL, NULL, &err), 0);
	ck_assert_int_eq(drill_params_parse(none, "test", obj, NULL, &err),
			 -EINVAL);
	ck_assert_str_eq(err.msg, "no parameter 'x': it takes none");
	json_decref(obj);
}
END_TEST

#define ROWS(a) ((int)(sizeof(a) / sizeof((a)[0])))

int main(void)
{
	Suite *s = suite_create("param");
	TCase *t = tcase_create("param");

	tcase_add_test(t, defaults_fill_what_is_not_said);
	tcase_add_loop_test(t, takes_what_a_user_would_type, 0, ROWS(good));
	tcase_add_loop_test(t, refuses_the_rest_and_says_what_to_write, 0,
			    ROWS(bad));
	tcase_add_test(t, a_table_without_rows_takes_nothing);
	suite_add_tcase(s, t);
	return drill_check_main(s);
}
