/* test_measure_cases.c - the twelve worked examples, number by number
 * SPDX-License-Identifier: MIT
 */
#include "check_main.h"
#include "harness/core/event.h"
#include "harness/measure/measure.h"

#include <math.h>
#include <string.h>

#define DIR "tests/data/measuring/"
#define PATH_SIZE 256

static const char *const cases[] = {
	"01-restart",	   "02-gray-link",
	"03-undetected-hang", "04-overlap",
	"05-shrink",	   "06-spare",
	"07-checkpoint-blocked", "08-fault-in-restore",
	"09-livelock",	   "10-null",
	"11-log-only",	   "12-truncated",
};

static int numbers;

static double tolerance(double want)
{
	return fmax(0.002, 0.001 * fabs(want));
}

static void compare(const char *at, json_t *want, json_t *got);

static void join_path(char *path, const char *at, const char *key)
{
	ck_assert_int_lt(snprintf(path, PATH_SIZE, "%s.%s", at, key), PATH_SIZE);
}

/* Instants are plain times in the examples and objects in run.json. */
static void compare_instants(const char *at, json_t *want, json_t *got)
{
	const char *key;
	json_t *v;
	char path[PATH_SIZE];

	ck_assert_msg(json_object_size(want) == json_object_size(got),
		      "%s: %zu instants, not %zu", at, json_object_size(got),
		      json_object_size(want));
	json_object_foreach(want, key, v) {
		join_path(path, at, key);
		compare(path, v, json_object_get(json_object_get(got, key),
						 "t_s"));
	}
}

static void compare_object(const char *at, json_t *want, json_t *got)
{
	const char *key;
	json_t *v;
	char path[PATH_SIZE];

	json_object_foreach(want, key, v) {
		join_path(path, at, key);
		ck_assert_msg(json_object_get(got, key), "%s is missing", path);
		if (!strcmp(key, "instants"))
			compare_instants(path, v, json_object_get(got, key));
		else
			compare(path, v, json_object_get(got, key));
	}
}

static void compare_array(const char *at, json_t *want, json_t *got)
{
	size_t i;
	json_t *v;
	char path[PATH_SIZE];

	ck_assert_msg(json_array_size(want) == json_array_size(got),
		      "%s has %zu items, not %zu", at, json_array_size(got),
		      json_array_size(want));
	json_array_foreach(want, i, v) {
		ck_assert_int_lt(snprintf(path, sizeof(path), "%s[%zu]", at, i),
				 PATH_SIZE);
		compare(path, v, json_array_get(got, i));
	}
}

static void compare(const char *at, json_t *want, json_t *got)
{
	if (json_is_number(want)) {
		double w = json_number_value(want), g = json_number_value(got);

		numbers++;
		ck_assert_msg(json_is_number(got) && fabs(w - g) <= tolerance(w),
			      "%s is %.6f, not %.6f", at, g, w);
	} else if (json_is_object(want)) {
		compare_object(at, want, got);
	} else if (json_is_array(want)) {
		compare_array(at, want, got);
	} else {
		char *g = json_dumps(got, JSON_ENCODE_ANY);

		ck_assert_msg(json_equal(want, got), "%s is %s", at, g);
		free(g);
	}
}

static json_t *measure_file(const char *name)
{
	struct drill_err err = {0};
	json_t *events = NULL, *got = NULL;
	char path[PATH_SIZE];
	bool torn;

	snprintf(path, sizeof(path), DIR "%s.events.jsonl", name);
	ck_assert_msg(!drill_events_read(path, &events, &torn, &err), "%s",
		      err.msg);
	ck_assert_msg(!drill_measure(events, &got, &err), "%s", err.msg);
	json_decref(events);
	return got;
}

START_TEST(every_number_of_the_example_is_found_from_its_events_alone)
{
	const char *name = cases[_i];
	char path[PATH_SIZE];
	json_error_t je;
	json_t *want, *got = measure_file(name);

	snprintf(path, sizeof(path), DIR "%s.expected.json", name);
	want = json_load_file(path, 0, &je);
	ck_assert_msg(want, "%s: %s", path, je.text);
	numbers = 0;
	compare(name, want, got);
	ck_assert_int_gt(numbers, 60);
	json_decref(want);
	json_decref(got);
}
END_TEST

START_TEST(the_phases_sum_to_the_time_to_steady)
{
	json_t *got = measure_file(cases[_i]), *trial, *in, *v;
	size_t t, i;
	const char *key;

	json_array_foreach(json_object_get(got, "trials"), t, trial)
		json_array_foreach(json_object_get(trial, "incidents"), i, in) {
			double sum = 0, steady;

			json_object_foreach(json_object_get(in, "phases"), key, v)
				sum += json_number_value(v);
			v = json_object_get(in, "time_to_steady_s");
			steady = json_number_value(v);
			if (!json_is_null(v))
				ck_assert_double_eq_tol(sum, steady, 1e-6);
		}
	json_decref(got);
}
END_TEST

START_TEST(the_segments_of_each_slot_cover_the_trial_without_overlap)
{
	json_t *got = measure_file(cases[_i]), *trial, *s;
	size_t t, i;

	json_array_foreach(json_object_get(got, "trials"), t, trial) {
		double sum = 0, at = 0, from, to;
		json_int_t slot = -1;

		json_array_foreach(json_object_get(trial, "segments"), i, s) {
			from = json_number_value(json_object_get(s, "from_s"));
			to = json_number_value(json_object_get(s, "to_s"));
			if (json_integer_value(json_object_get(s, "slot")) == slot)
				ck_assert_double_eq_tol(from, at, 1e-6);
			slot = json_integer_value(json_object_get(s, "slot"));
			at = to;
			sum += to - from;
		}
		s = json_object_get(json_object_get(trial, "ledger"),
				    "wall_rank_s");
		ck_assert_double_eq_tol(sum, json_number_value(s), 1e-6);
	}
	json_decref(got);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("measure_cases");
	TCase *tc = tcase_create("cases");
	int n = sizeof(cases) / sizeof(*cases);

	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(
		tc, every_number_of_the_example_is_found_from_its_events_alone,
		0, n);
	tcase_add_loop_test(tc, the_phases_sum_to_the_time_to_steady, 0, n);
	tcase_add_loop_test(
		tc, the_segments_of_each_slot_cover_the_trial_without_overlap,
		0, n);
	suite_add_tcase(s, tc);
	return drill_check_main(s);
}
