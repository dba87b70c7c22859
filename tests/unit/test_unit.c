/* test_unit.c - values with units, exact both ways
 * SPDX-License-Identifier: MIT
 */
#include "check_main.h"

#include "harness/core/unit.h"

#include <errno.h>
#include <string.h>

static const struct {
	const char *text;
	enum drill_unit unit;
	int64_t value;
	const char *printed;
} good[] = {
	{"80ms", DRILL_UNIT_DURATION, 80000000, "80ms"},
	{"0s", DRILL_UNIT_DURATION, 0, "0s"},
	{"0.1s", DRILL_UNIT_DURATION, 100000000, "100ms"},
	{"1.5us", DRILL_UNIT_DURATION, 1500, "1500ns"},
	{"1.50000us", DRILL_UNIT_DURATION, 1500, "1500ns"},
	{"60s", DRILL_UNIT_DURATION, 60000000000, "1min"},
	{"90 s", DRILL_UNIT_DURATION, 90000000000, "90s"},
	{"0.0625min", DRILL_UNIT_DURATION, 3750000000, "3750ms"},
	{"24h", DRILL_UNIT_DURATION, 86400000000000, "1d"},
	{"106751d", DRILL_UNIT_DURATION, 9223286400000000000, "106751d"},
	{"4KiB", DRILL_UNIT_SIZE, 4096, "4KiB"},
	{"4kB", DRILL_UNIT_SIZE, 4000, "4kB"},
	{"0.5KiB", DRILL_UNIT_SIZE, 512, "512B"},
	{"1TiB", DRILL_UNIT_SIZE, INT64_C(1) << 40, "1TiB"},
	{"10Gbit/s", DRILL_UNIT_RATE, 10000000000, "10Gbit/s"},
	{"9.6kbit/s", DRILL_UNIT_RATE, 9600, "9600bit/s"},
	{"5%", DRILL_UNIT_PERCENT, 50000, "5%"},
	{"0.5%", DRILL_UNIT_PERCENT, 5000, "0.5%"},
	{"0.0001%", DRILL_UNIT_PERCENT, 1, "0.0001%"},
	{"12.0340%", DRILL_UNIT_PERCENT, 120340, "12.034%"},
	{"100%", DRILL_UNIT_PERCENT, 1000000, "100%"},
};

START_TEST(reads_and_prints_exactly)
{
	struct drill_err err = {0};
	char buf[40];
	int64_t v;

	ck_assert_int_eq(drill_unit_parse(good[_i].text, good[_i].unit, &v,
					  &err),
			 0);
	ck_assert_int_eq(v, good[_i].value);
	ck_assert_str_eq(drill_unit_print(v, good[_i].unit, buf, sizeof(buf)),
			 good[_i].printed);
	ck_assert_int_eq(drill_unit_parse(buf, good[_i].unit, &v, &err), 0);
	ck_assert_int_eq(v, good[_i].value);
}
END_TEST

static const struct {
	const char *text;
	enum drill_unit unit;
	const char *says;
} bad[] = {
	{"80", DRILL_UNIT_DURATION, "'80' has no unit"},
	{"80", DRILL_UNIT_DURATION, "\"80ms\""},
	{"", DRILL_UNIT_DURATION, "'' is no duration"},
	{"ms", DRILL_UNIT_DURATION, "write it like \"80ms\""},
	{"-1s", DRILL_UNIT_DURATION, "is no duration"},
	{"+1s", DRILL_UNIT_DURATION, "is no duration"},
	{"1e3s", DRILL_UNIT_DURATION, "unknown unit 'e3s'"},
	{"1.s", DRILL_UNIT_DURATION, "is no duration"},
	{".5s", DRILL_UNIT_DURATION, "is no duration"},
	{"1,5s", DRILL_UNIT_DURATION, "unknown unit ',5s'"},
	{"5m", DRILL_UNIT_DURATION, "unknown unit 'm' (units: ns us ms s min"},
	{"5MS", DRILL_UNIT_DURATION, "unknown unit 'MS'"},
	{"1  s", DRILL_UNIT_DURATION, "unknown unit ' s'"},
	{"1s ", DRILL_UNIT_DURATION, "unknown unit 's '"},
	{"1.5ns", DRILL_UNIT_DURATION, "too fine"},
	{"0.00001%", DRILL_UNIT_PERCENT, "too fine"},
	{"106752d", DRILL_UNIT_DURATION, "too large"},
	{"99999999999999999999s", DRILL_UNIT_DURATION, "is no duration"},
	{"4KB", DRILL_UNIT_SIZE, "unknown unit 'KB'"},
	{"10Gbps", DRILL_UNIT_RATE, "is no rate"},
	{"nan%", DRILL_UNIT_PERCENT, "is no percentage"},
};

START_TEST(refuses_what_is_not_a_value_with_a_unit)
{
	struct drill_err err = {0};
	int64_t v;

	ck_assert_int_eq(drill_unit_parse(bad[_i].text, bad[_i].unit, &v, &err),
			 -EINVAL);
	ck_assert_msg(strstr(err.msg, bad[_i].says), "%s: %s", bad[_i].text,
		      err.msg);
}
END_TEST

static const char *const names[] = {"link.delay",   "link.loss", "host.kill",
				    "host.stop",    "null.noop", "signal",
				    "collective.hang", NULL};

static const struct {
	const char *typed, *meant;
} near[] = {
	{"link.dealy", "link.delay"}, {"host.kil", "host.kill"},
	{"signl", "signal"},	      {"sginal", "signal"},
	{"host.stop", "host.stop"},   {"completely-different", NULL},
	{"", NULL},		      {"x", NULL},
	{"zz", NULL},		      {"collective.hnag", "collective.hang"},
};

START_TEST(finds_the_name_that_was_meant)
{
	const char *got = drill_nearest(near[_i].typed, names);

	if (near[_i].meant)
		ck_assert_str_eq(got, near[_i].meant);
	else
		ck_assert_ptr_null(got);
}
END_TEST

START_TEST(very_long_names_are_no_typing_mistakes)
{
	char name[5000];

	memset(name, 'a', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	ck_assert_ptr_null(drill_nearest(name, names));
}
END_TEST

#define ROWS(a) ((int)(sizeof(a) / sizeof((a)[0])))

int main(void)
{
	Suite *s = suite_create("unit");
	TCase *t = tcase_create("unit");

	tcase_add_loop_test(t, reads_and_prints_exactly, 0, ROWS(good));
	tcase_add_loop_test(t, refuses_what_is_not_a_value_with_a_unit, 0,
			    ROWS(bad));
	tcase_add_loop_test(t, finds_the_name_that_was_meant, 0, ROWS(near));
	tcase_add_test(t, very_long_names_are_no_typing_mistakes);
	suite_add_tcase(s, t);
	return drill_check_main(s);
}
