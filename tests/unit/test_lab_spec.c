/* test_lab_spec.c - labs in YAML and JSON, and what is wrong with them
 * SPDX-License-Identifier: MIT
 */
#include "check_main.h"

#include "harness/lab/lab.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static int read_yaml(const char *text, struct drill_lab_spec *spec,
		     struct drill_err *err)
{
	char path[] = "/tmp/drill-lab.XXXXXX";
	int fd = mkstemp(path), rc;

	memset(err, 0, sizeof(*err));
	ck_assert_int_eq(write(fd, text, strlen(text)), (int)strlen(text));
	close(fd);
	rc = drill_lab_spec_read(path, spec, err);
	unlink(path);
	return rc;
}

START_TEST(the_example_labs_read)
{
	struct drill_lab_spec s;
	struct drill_err err = {0};

	ck_assert_msg(drill_lab_spec_read("scenarios/labs/small.yaml", &s,
					  &err) == 0,
		      "%s", err.msg);
	ck_assert_str_eq(s.provider, "auto");
	ck_assert_int_eq(s.hosts, 2);
	ck_assert_int_eq(s.spares, 1);
	drill_lab_spec_done(&s);
	ck_assert_msg(drill_lab_spec_read("scenarios/labs/rack.yaml", &s,
					  &err) == 0,
		      "%s", err.msg);
	ck_assert_int_eq(s.watchdog_ns, 5000000000);
	ck_assert_str_eq(
		json_string_value(json_array_get(
			json_object_get(json_object_get(s.domains, "rack"),
					"b"),
			0)),
		"h4");
	ck_assert_double_eq(json_number_value(json_object_get(
				    s.rates, "usd_per_rank_hour")),
			    2.5);
	drill_lab_spec_done(&s);
}
END_TEST

START_TEST(yaml_and_json_spell_the_fields_alike)
{
	static const char json[] =
		"{\"provider\": \"local\", \"name\": \"x\", \"hosts\": 3, "
		"\"spares\": 1, \"devices\": 4, \"watchdog\": \"2s\", "
		"\"domains\": {\"rack\": {\"a\": [\"h0\", \"h3\"]}}, "
		"\"rates\": {\"kwh_per_rank_hour\": 0.7}}";
	struct drill_lab_spec a, b;
	struct drill_err err;
	json_t *obj = json_loads(json, 0, NULL);

	/* JSON is YAML. */
	ck_assert_msg(read_yaml(json, &a, &err) == 0, "%s", err.msg);
	ck_assert_int_eq(drill_lab_spec_from_json(obj, &b, &err), 0);
	ck_assert_str_eq(a.provider, b.provider);
	ck_assert_str_eq(a.name, "x");
	ck_assert_int_eq(a.hosts, 3);
	ck_assert_int_eq(b.hosts, 3);
	ck_assert_int_eq(a.devices, b.devices);
	ck_assert_int_eq(a.watchdog_ns, b.watchdog_ns);
	ck_assert(json_equal(a.domains, b.domains));
	ck_assert(json_equal(a.rates, b.rates));
	drill_lab_spec_done(&a);
	drill_lab_spec_done(&b);
	json_decref(obj);
}
END_TEST

static const struct {
	const char *text, *says;
} bad[] = {
	{"hosts: 4\nhsots: 2\n", ":2: a lab has no 'hsots', did you mean 'hosts'?"},
	{"zzzzzz: 4\n", ":1: a lab has no 'zzzzzz' (there are: provider, name"},
	{"hosts: four\n", ":1: 'hosts' must be a number from 1 to 250, not \"four\""},
	{"hosts: '4'\n", "not \"4\""},
	{"hosts: 0\n", "not 0"},
	{"hosts: 1.5\n", "not 1.5"},
	{"hosts: 99999999999999999999\n", ":1: 'hosts' must be a number"},
	{"spares: -1\n", "from 0 to 250, not -1"},
	{"\n\nwatchdog: 5\n", ":3: 'watchdog' must be a duration with its unit"},
	{"watchdog: 5 parsecs\n", ":1: 'watchdog': '5 parsecs' is no duration"},
	{"domains: [a]\n", ":1: 'domains' must be groups"},
	{"domains: {rack: {a: h0}}\n", "'a' must be a list of hosts"},
	{"hosts: 2\ndomains: {rack: {a: [h2]}}\n",
	 "rack 'a' names host 'h2', but the lab has h0 to h1"},
	{"domains: {rack: {a: [h01]}}\n", "names host 'h01'"},
	{"rates: {usd: 1}\n", ":1: 'rates' has no 'usd'"},
	{"rates: {usd_per_rank_hour: -1}\n", "must be a number from 0"},
	{"hosts: 2\nhosts: 3\n", ":2: this name is there twice"},
	{"domains: {rack: {a: [h0], a: [h1]}}\n", ":1: this name is there twice"},
	{"a: &x [h0]\nb: *x\n", ":2: aliases are not followed"},
	{"[1, 2]\n", "no lab in it: write \"hosts: 4\""},
	{"", "no lab in it"},
	{"hosts: [\n", ":2: "},
	{"hosts: 4\n\tspares: 1\n", ":2: "},
	{"? [a]\n: 1\n", ":1: a name must be a word"},
	{"domains: [[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]\n", "nested too deep"},
	{"name: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n",
	 "'name' must be a short word"},
	{"hosts: 1\nname: ../x\n", ":2: '../x' is no name for a lab"},
	{"hosts: 1\n---\nhosts: 2\n", ":2: a second document"},
};

START_TEST(what_is_wrong_is_said_with_file_and_line)
{
	struct drill_lab_spec s;
	struct drill_err err;

	ck_assert_int_lt(read_yaml(bad[_i].text, &s, &err), 0);
	ck_assert_msg(strstr(err.msg, bad[_i].says), "%s", err.msg);
	ck_assert_ptr_nonnull(strstr(err.msg, "/tmp/drill-lab."));
}
END_TEST

START_TEST(a_missing_file_is_named)
{
	struct drill_lab_spec s;
	struct drill_err err = {0};

	ck_assert_int_eq(drill_lab_spec_read("/nonexistent.yaml", &s, &err),
			 -ENOENT);
	ck_assert_ptr_nonnull(strstr(err.msg, "/nonexistent.yaml"));
}
END_TEST

START_TEST(a_provider_is_found_by_name_or_the_nearest_is_named)
{
	struct drill_lab_spec s = {.provider = "nents", .hosts = 1};
	struct drill_err err = {0};
	char why[400];

	ck_assert_ptr_null(drill_lab_find(&s, why, sizeof(why), &err));
	ck_assert_msg(strstr(err.msg, "did you mean 'netns'?"), "%s", err.msg);
	strcpy(s.provider, "local");
	ck_assert_ptr_eq(drill_lab_find(&s, why, sizeof(why), &err),
			 &drill_lab_local);
	strcpy(s.provider, "auto");
	ck_assert_ptr_nonnull(drill_lab_find(&s, why, sizeof(why), &err));
	ck_assert(strstr(why, "lab netns") == why ||
		  strstr(why, "lab local (no netns: ") == why);
}
END_TEST

#define ROWS(a) ((int)(sizeof(a) / sizeof((a)[0])))

int main(void)
{
	Suite *s = suite_create("lab spec");
	TCase *t = tcase_create("lab spec");

	tcase_set_timeout(t, 30);
	tcase_add_test(t, the_example_labs_read);
	tcase_add_test(t, yaml_and_json_spell_the_fields_alike);
	tcase_add_loop_test(t, what_is_wrong_is_said_with_file_and_line, 0,
			    ROWS(bad));
	tcase_add_test(t, a_missing_file_is_named);
	tcase_add_test(t, a_provider_is_found_by_name_or_the_nearest_is_named);
	suite_add_tcase(s, t);
	return drill_check_main(s);
}
