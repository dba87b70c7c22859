/* test_measure_synthetic.c - jobs whose delays are known by construction
 * SPDX-License-Identifier: MIT
 */
#include "check_main.h"
#include "harness/measure/measure.h"
#include "tests/support/synthetic_job.h"

#include <math.h>
#include <string.h>
#include <time.h>

#define SEEDS 40 /* a loop */

static const char *const cats[SYNTHETIC_CATS] = {
	"useful", "checkpoint", "data",	    "stalled",
	"redone", "restart",	"degraded", "idle",
};

static void near(uint64_t seed, const char *what, double want, json_t *got)
{
	double g = json_number_value(got);

	if (isnan(want)) {
		ck_assert_msg(!got || json_is_null(got),
			      "seed %llu: %s is %f, and never was",
			      (unsigned long long)seed, what, g);
		return;
	}
	ck_assert_msg(json_is_number(got) &&
		      fabs(want - g) <= fmax(0.002, 0.001 * fabs(want)),
		      "seed %llu: %s is %f, not %f", (unsigned long long)seed,
		      what, g, want);
}

static json_t *instant(json_t *in, const char *name)
{
	return json_object_get(
		json_object_get(json_object_get(in, "instants"), name), "t_s");
}

static void compare_incident(uint64_t seed,
			     const struct synthetic_incident *want, json_t *in)
{
	ck_assert_str_eq(json_string_value(json_object_get(in, "fault")),
			 want->fault);
	near(seed, "effective", want->effective, instant(in, "effective"));
	near(seed, "detected", want->detected, instant(in, "detected"));
	near(seed, "stopped", want->stopped, instant(in, "stopped"));
	near(seed, "restarted", want->restarted, instant(in, "restarted"));
	near(seed, "restored", want->restored, instant(in, "restored"));
	near(seed, "resumed", want->resumed, instant(in, "resumed"));
	near(seed, "caught_up", want->caught_up, instant(in, "caught_up"));
	near(seed, "steady", want->steady, instant(in, "steady"));
	near(seed, "reverted", want->reverted, instant(in, "reverted"));
	near(seed, "time_to_detect_s", want->detected - want->effective,
	     json_object_get(in, "time_to_detect_s"));
	near(seed, "time_to_resume_s", want->resumed - want->effective,
	     json_object_get(in, "time_to_resume_s"));
	near(seed, "lost of an incident", want->lost,
	     json_object_get(in, "lost_compute_rank_s"));
}

static void compare_job(uint64_t seed, const struct synthetic_job *job,
			json_t *trial)
{
	json_t *ledger = json_object_get(trial, "ledger");
	json_t *in = json_object_get(trial, "incidents");
	char *reasons = json_dumps(json_object_get(trial, "reasons"), 0);
	int c;

	ck_assert_msg(json_is_true(json_object_get(trial, "conclusive")),
		      "seed %llu: %s", (unsigned long long)seed, reasons);
	free(reasons);
	near(seed, "wall_s", job->wall, json_object_get(trial, "wall_s"));
	for (c = 0; c < SYNTHETIC_CATS; c++)
		near(seed, cats[c], job->ledger[c],
		     json_object_get(ledger, cats[c]));
	near(seed, "drift_rank_s", job->drift,
	     json_object_get(trial, "drift_rank_s"));
	near(seed, "lost_compute_rank_s", job->lost,
	     json_object_get(trial, "lost_compute_rank_s"));
	ck_assert_int_eq(json_array_size(in), job->incidents);
	for (c = 0; c < job->incidents; c++)
		compare_incident(seed, &job->incident[c], json_array_get(in, c));
}

static void run_seed(uint64_t seed, bool jitter)
{
	struct synthetic_job job;
	struct drill_err err = {0};
	json_t *got = NULL;

	synthetic_job(seed, jitter, &job);
	ck_assert_msg(!drill_measure(job.events, &got, &err), "%s", err.msg);
	compare_job(seed, &job,
		    json_array_get(json_object_get(got, "trials"), 1));
	json_decref(got);
	json_decref(job.events);
}

START_TEST(what_was_put_in_is_measured_in_every_category)
{
	int k;

	for (k = 0; k < SEEDS; k++)
		run_seed(_i * SEEDS + k, false);
}
END_TEST

START_TEST(drift_is_seen_from_step_stamps_and_is_nobodys_cost)
{
	int k;

	for (k = 0; k < SEEDS; k++)
		run_seed(5000 + _i * SEEDS + k, true);
}
END_TEST

/* What one rank said keeps its order; ranks are drained in bursts. */
static json_t *in_bursts(json_t *events, size_t burst)
{
	json_t *mixed = json_array(), *e;
	size_t from, i, n = json_array_size(events);
	json_int_t rank;

	for (from = 0; from < n; from += burst)
		for (rank = 9; rank >= -1; rank--)
			for (i = from; i < n && i < from + burst; i++) {
				e = json_object_get(json_array_get(events, i),
						    "rank");
				if ((e ? json_integer_value(e) : -1) == rank)
					json_array_append(mixed,
						json_array_get(events, i));
			}
	return mixed;
}

START_TEST(ranks_drained_in_bursts_give_the_same_numbers)
{
	struct synthetic_job job;
	struct drill_err err = {0};
	json_t *a = NULL, *b = NULL, *mixed;

	synthetic_job(77, false, &job);
	ck_assert_int_eq(drill_measure(job.events, &a, &err), 0);
	mixed = in_bursts(job.events, 300);
	ck_assert_int_eq(json_array_size(mixed), json_array_size(job.events));
	ck_assert(!json_equal(mixed, job.events));
	ck_assert_int_eq(drill_measure(mixed, &b, &err), 0);
	ck_assert(json_equal(json_object_get(json_array_get(
			json_object_get(a, "trials"), 1), "ledger"),
		json_object_get(json_array_get(
			json_object_get(b, "trials"), 1), "ledger")));
	json_decref(a);
	json_decref(b);
	json_decref(mixed);
	json_decref(job.events);
}
END_TEST

/* 512 ranks, 500 steps, ten trials in seconds: one trial's worth is timed. */
START_TEST(measuring_a_large_job_takes_a_moment)
{
	json_t *events = synthetic_large(2, 512, 100), *got = NULL;
	struct drill_err err = {0};
	clock_t before = clock();
	double s;

	ck_assert_msg(!drill_measure(events, &got, &err), "%s", err.msg);
	s = (double)(clock() - before) / CLOCKS_PER_SEC;
	printf("%zu events in %.2f s\n", json_array_size(events), s);
	ck_assert_double_lt(s, 5);
	json_decref(got);
	json_decref(events);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("measure_synthetic");
	TCase *tc = tcase_create("synthetic");

	tcase_set_timeout(tc, 120);
	tcase_add_loop_test(tc, what_was_put_in_is_measured_in_every_category, 0,
			    10);
	tcase_add_loop_test(
		tc, drift_is_seen_from_step_stamps_and_is_nobodys_cost, 0, 3);
	tcase_add_test(tc, ranks_drained_in_bursts_give_the_same_numbers);
	tcase_add_test(tc, measuring_a_large_job_takes_a_moment);
	suite_add_tcase(s, tc);
	return drill_check_main(s);
}
