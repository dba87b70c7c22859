/* test_time_cases.c - random gaps are slept as drawn, no wall clock counts
 * SPDX-License-Identifier: MIT
 */
#include "check_main.h"
#include "tests/support/drill_test.h"

#include <math.h>
#include <string.h>

static struct drill_tested t;

static void setup(void)
{
	memset(&drill_mock, 0, sizeof(drill_mock));
}

static void teardown(void)
{
	drill_tested_done(&t);
}

/* ---- c16: the wall clock ---- */

#define LATE                                                                   \
	"return scenario { name = 'x', lab = lab.netns { hosts = 4 }, "        \
	"workloads = { job = workload.train { ranks = 4, steps = 60 } }, "     \
	"faults = { held = host.stop { rank = 2, at = at.step(12), "           \
	"duration = '3s' } }, "                                                \
	"trials = { baseline = 1, null = 0, fault = 1 } }"

/* All that was measured, as one text; yours to free. */
static char *measured(int64_t wall_step_ns)
{
	json_t *all = json_object();
	char *text;

	memset(&drill_mock, 0, sizeof(drill_mock));
	drill_mock.bite_s = 2;
	drill_mock.wall_step_ns = wall_step_ns;
	drill_test_run(LATE, 7, &t);
	ck_assert_msg(t.loaded == 0, "%s", t.err.msg);
	json_object_set(all, "trials", json_object_get(t.result.run, "trials"));
	json_object_set(all, "events", t.result.events);
	text = json_dumps(all, JSON_SORT_KEYS | JSON_INDENT(1));
	json_decref(all);
	return text;
}

START_TEST(c16_stepping_the_wall_clock_changes_no_interval)
{
	static const int64_t hour = INT64_C(3600000000000);
	char *calm = measured(0), *forth, *back;
	double held = drill_mock.reverted_s - drill_mock.effective_s;

	drill_tested_done(&t);
	forth = measured(hour);
	ck_assert_int_gt(drill_mock.wall_steps, 0);
	drill_tested_done(&t);
	back = measured(-hour);
	ck_assert_double_eq_tol(held, 3, 0.01);
	ck_assert_str_eq(forth, calm);
	ck_assert_str_eq(back, calm);
	free(calm);
	free(forth);
	free(back);
}
END_TEST

/* ---- c22: what was drawn is what is slept ---- */

#define MEAN 0.5
#define MOST 20000

static int order(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Kolmogorov's distance between the n values at @v and the exponential
 * distribution of the mean MEAN. Sorts. */
static double distance(double *v, int n)
{
	double f, most = 0;
	int i;

	qsort(v, (size_t)n, sizeof(*v), order);
	for (i = 0; i < n; i++) {
		f = 1 - exp(-v[i] / MEAN);
		most = fmax(most, fmax(f - (double)i / n,
				       (double)(i + 1) / n - f));
	}
	return most;
}

/* The gaps between the firings of the trial: as drawn, and by the stamps. */
static int gaps(double *drawn, double *slept)
{
	double last = -1, now;
	json_t *e, *ev;
	size_t i;
	int n = 0;

	json_array_foreach(t.result.events, i, e) {
		if (strcmp(json_string_value(json_object_get(e, "kind")),
			   "fault.requested") != 0)
			continue;
		ev = json_object_get(e, "evidence");
		now = json_number_value(json_object_get(e, "t_s"));
		if (last >= 0 && n < MOST) {
			drawn[n] = json_number_value(
				json_object_get(ev, "drawn_gap_s"));
			slept[n++] = now - last;
		}
		last = now;
	}
	return n;
}

START_TEST(c22_drawn_and_achieved_gaps_agree_in_distribution)
{
	static double drawn[MOST], slept[MOST];
	int i, n;

	drill_test_run("return scenario { name = 'x', lab = lab.netns { hosts = "
		       "4 }, workloads = { job = workload.train { ranks = 4, "
		       "steps = 8000 } }, faults = { f = null.noop { rank = 0, "
		       "at = at.poisson { mtbf = '500ms' } } }, trials = { "
		       "baseline = 0, null = 0, fault = 1 }, deadline = '30min' "
		       "}", (uint64_t)_i, &t);
	ck_assert_msg(t.loaded == 0, "%s", t.err.msg);
	n = gaps(drawn, slept);
	ck_assert_int_gt(n, 900);
	for (i = 0; i < n; i++)
		ck_assert_double_eq_tol(slept[i], drawn[i], 0.001);
	/* Beyond 1.95/sqrt(n) lies one sample of a thousand. */
	ck_assert_double_lt(distance(drawn, n), 1.95 / sqrt(n));
	ck_assert_double_lt(distance(slept, n), 1.95 / sqrt(n));
	/* The test can fail: a constant of the same mean is far away. */
	for (i = 0; i < n; i++)
		slept[i] = MEAN;
	ck_assert_double_gt(distance(slept, n), 0.5);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("time_cases");
	TCase *c = tcase_create("time_cases");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_test(c, c16_stepping_the_wall_clock_changes_no_interval);
	tcase_add_loop_test(c,
			    c22_drawn_and_achieved_gaps_agree_in_distribution,
			    1, DRILL_SANITIZED ? 2 : 4);
	tcase_set_timeout(c, 60);
	suite_add_tcase(s, c);
	return drill_check_main(s);
}
