/* test_stats.c - the statistics against tables and simulation
 * SPDX-License-Identifier: MIT
 */
#include "check_main.h"
#include "harness/measure/stats.h"
#include "harness/measure/verdict.h"

#include <errno.h>
#include <math.h>

START_TEST(the_table_of_smallest_trial_counts_is_reproduced)
{
	static const struct {
		double p;
		int n[5];
	} rows[] = {
		{0.50, {5, 8, 11, 13, 16}},
		{0.90, {29, 46, 61, 76, 89}},
		{0.95, {59, 93, 124, 153, 181}},
		{0.99, {299, 473, 628, 773, 913}},
	};
	size_t i;
	int k;

	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		for (k = 1; k <= 5; k++) {
			int n = rows[i].n[k - 1];

			ck_assert_int_eq(drill_order_needed(rows[i].p, k, 0.95),
					 n);
			/* and both ways: the bound is there, and not before */
			ck_assert_int_eq(drill_order_upper(n, rows[i].p, 0.95),
					 n - k + 1);
			ck_assert(drill_order_upper(n - 1, rows[i].p, 0.95) !=
				  n - k);
		}
}
END_TEST

START_TEST(the_lower_bounds_of_p95_are_the_known_ones)
{
	ck_assert_int_eq(drill_order_lower(5, 0.95, 0.95), 4);
	ck_assert_int_eq(drill_order_lower(10, 0.95, 0.95), 8);
	ck_assert_int_eq(drill_order_lower(20, 0.95, 0.95), 17);
	ck_assert_int_eq(drill_order_lower(1, 0.5, 0.95), 0);
	ck_assert_int_eq(drill_order_upper(4, 0.5, 0.95), 0);
	ck_assert_int_eq(drill_order_upper(0, 0.5, 0.95), 0);
}
END_TEST

START_TEST(binomial_sums_and_intervals_are_exact)
{
	double lo, hi;

	ck_assert_double_eq_tol(drill_binomial_cdf(5, 0.5, 4), 31 / 32., 1e-12);
	ck_assert_double_eq_tol(drill_binomial_cdf(10, 0.1, 0), pow(.9, 10),
				1e-12);
	ck_assert_double_eq(drill_binomial_cdf(3, 0.5, -1), 0);
	ck_assert_double_eq(drill_binomial_cdf(3, 0.5, 3), 1);
	drill_binomial_interval(0, 10, 0.95, &lo, &hi);
	ck_assert_double_eq(lo, 0);
	ck_assert_double_eq_tol(hi, 1 - pow(0.025, 0.1), 1e-9);
	drill_binomial_interval(10, 10, 0.95, &lo, &hi);
	ck_assert_double_eq_tol(lo, pow(0.025, 0.1), 1e-9);
	ck_assert_double_eq(hi, 1);
	drill_binomial_interval(7, 20, 0.95, &lo, &hi);
	ck_assert_double_eq_tol(1 - drill_binomial_cdf(20, lo, 6), 0.025, 1e-9);
	ck_assert_double_eq_tol(drill_binomial_cdf(20, hi, 7), 0.025, 1e-9);
}
END_TEST

START_TEST(quantiles_are_type_7_and_take_never)
{
	double x[] = {1, 2, 4, 8, INFINITY};

	ck_assert_double_eq(drill_quantile(x, 4, 0.5), 3);
	ck_assert_double_eq(drill_quantile(x, 5, 0.5), 4);
	ck_assert_double_eq(drill_quantile(x, 5, 0), 1);
	ck_assert_double_eq(drill_quantile(x, 5, 0.75), 8);
	ck_assert(isinf(drill_quantile(x, 5, 0.8)));
	ck_assert(isnan(drill_quantile(x, 0, 0.5)));
}
END_TEST

START_TEST(a_quantile_has_its_bounds_and_says_what_is_missing)
{
	double x[60];
	struct drill_quantile_bound b;
	int i;

	for (i = 0; i < 60; i++)
		x[i] = 60 - i;
	ck_assert_int_eq(drill_quantile_bound(x, 5, 0.5, &b, NULL), 0);
	ck_assert(b.has_lo && b.lo == 56 && b.has_hi && b.hi == 60);
	ck_assert_int_eq(drill_quantile_bound(x, 20, 0.95, &b, NULL), 0);
	ck_assert(!b.has_hi && isinf(b.hi) && b.needed == 39);
	ck_assert_double_eq(b.lo, 57); /* X(17) of 41..60 */
	ck_assert_int_eq(drill_quantile_bound(x, 59, 0.95, &b, NULL), 0);
	ck_assert(b.has_hi && b.hi == 60);
	ck_assert_int_eq(b.needed, 0);
	for (i = 0; i < 6; i++)
		x[i] = i == 5 ? INFINITY : 1;
	ck_assert_int_eq(drill_quantile_bound(x, 6, 0.5, &b, NULL), 0);
	ck_assert(b.has_hi && isinf(b.hi)); /* never is a value */
}
END_TEST

START_TEST(mann_whitney_counts_every_arrangement)
{
	double a[] = {1, 2, 3, 4}, b[] = {5, 6, 7, 8}, t[] = {1, 1, 1, 1};
	double p;

	ck_assert_int_eq(drill_mann_whitney(a, 3, b, 3, &p, NULL), 0);
	ck_assert_double_eq_tol(p, 0.1, 1e-12);
	ck_assert_int_eq(drill_mann_whitney(a, 4, b, 4, &p, NULL), 0);
	ck_assert_double_eq_tol(p, 2 / 70., 1e-12);
	ck_assert_int_eq(drill_mann_whitney(b, 4, a, 4, &p, NULL), 0);
	ck_assert_double_eq_tol(p, 2 / 70., 1e-12);
	ck_assert_int_eq(drill_mann_whitney(t, 4, t, 4, &p, NULL), 0);
	ck_assert_double_eq(p, 1);
	a[3] = 5.5; /* 1 2 3 5.5 | 5 6 7 8: rank sum 11, next to the least */
	ck_assert_int_eq(drill_mann_whitney(a, 4, b, 4, &p, NULL), 0);
	ck_assert_double_eq_tol(p, 4 / 70., 1e-12);
	ck_assert_int_eq(drill_mann_whitney(a, 0, b, 4, &p, NULL), -EINVAL);
}
END_TEST

/* Under the null hypothesis the test rejects no more often than it says. */
START_TEST(mann_whitney_rejects_at_its_level)
{
	struct drill_rng rng = {7};
	double a[60], b[70], p;
	int i, k, exact = 0, wide = 0, n = REPEAT(2000);
	double sigma = sqrt(0.05 * 0.95 * n);

	for (k = 0; k < n; k++) {
		for (i = 0; i < 8; i++) {
			a[i] = drill_rng_unit(&rng);
			b[i] = drill_rng_unit(&rng);
		}
		drill_mann_whitney(a, 8, b, 8, &p, NULL);
		exact += p < 0.05;
	}
	for (k = 0; k < n; k++) {
		for (i = 0; i < 70; i++) {
			a[i % 60] = drill_rng_unit(&rng);
			b[i] = drill_rng_unit(&rng);
		}
		drill_mann_whitney(a, 60, b, 70, &p, NULL);
		wide += p < 0.05;
	}
	/* Of few values the test can only be more careful than it says. */
	ck_assert_double_le(exact, 0.05 * n + 3.1 * sigma);
	ck_assert_double_ge(exact, 0.05 * n - 5.2 * sigma);
	ck_assert_double_le(fabs(wide - 0.05 * n), 3.6 * sigma);
}
END_TEST

START_TEST(the_same_seed_gives_the_same_interval)
{
	double x[] = {1, 2, 3, 4, 10, 1.7, 2.9, 5.3, 6.1, 3.8};
	struct drill_mean_interval a, b, c;

	ck_assert_int_eq(drill_bootstrap_mean(x, 10, 42, &a, NULL), 0);
	ck_assert_int_eq(drill_bootstrap_mean(x, 10, 42, &b, NULL), 0);
	ck_assert_int_eq(drill_bootstrap_mean(x, 10, 43, &c, NULL), 0);
	ck_assert(a.has_interval && a.below_nominal);
	ck_assert(a.lo == b.lo && a.hi == b.hi && a.hi != c.hi);
	ck_assert(a.lo < 4 && a.hi > 4);
	ck_assert_int_eq(drill_bootstrap_mean(x, 4, 42, &a, NULL), 0);
	ck_assert(!a.has_interval);
	x[0] = INFINITY;
	ck_assert_int_eq(drill_bootstrap_mean(x, 5, 42, &a, NULL), 0);
	ck_assert(!a.has_interval);
}
END_TEST

START_TEST(equal_values_have_an_interval_of_no_width)
{
	double x[] = {3, 3, 3, 3, 3, 3};
	struct drill_mean_interval a;

	ck_assert_int_eq(drill_bootstrap_mean(x, 6, 1, &a, NULL), 0);
	ck_assert(a.lo == 3 && a.hi == 3);
}
END_TEST

static double draw(struct drill_rng *rng, bool lognormal)
{
	double u = 1 - drill_rng_unit(rng), v = drill_rng_unit(rng);
	double z = sqrt(-2 * log(u)) * cos(2 * M_PI * v);

	return lognormal ? exp(z) : z;
}

/* Coverage as measured once with 3,000 samples, within Monte-Carlo error. */
START_TEST(studentised_intervals_cover_as_often_as_was_measured)
{
	static const struct {
		int n;
		double normal, lognormal;
	} rows[] = {
		{5, 94.3, 88.9}, {10, 95.0, 90.6}, {20, 94.0, 92.3},
		{40, 94.9, 93.2},
	};
	int n = rows[_i].n, samples = REPEAT(n == 40 ? 1000 : 1500), i, k, d;
	struct drill_rng rng = {1000 + _i};
	struct drill_mean_interval iv;
	double x[40];

	for (d = 0; d < 2; d++) {
		double truth = d ? exp(0.5) : 0, want, got, sigma;
		int covered = 0;

		want = (d ? rows[_i].lognormal : rows[_i].normal) / 100;
		for (k = 0; k < samples; k++) {
			for (i = 0; i < n; i++)
				x[i] = draw(&rng, d);
			ck_assert_int_eq(drill_bootstrap_mean(x, n, k, &iv,
							      NULL), 0);
			covered += iv.lo <= truth && truth <= iv.hi;
		}
		got = (double)covered / samples;
		/* ours and that of the 3,000 samples */
		sigma = sqrt(want * (1 - want) * (1. / samples + 1. / 3000));
		ck_assert_msg(fabs(got - want) < 3.5 * sigma,
			      "n = %d, %s: %.1f%%, not %.1f%%", n,
			      d ? "lognormal" : "normal", 100 * got, 100 * want);
	}
}
END_TEST

START_TEST(a_limit_inside_the_uncertainty_is_not_decided)
{
	struct drill_value v = {.v = 5, .lo = 4.9, .hi = 5.1, .known = true};
	struct drill_value never = {.never = true}, none = {0};
	struct drill_value na = {.not_applicable = true};

	ck_assert_int_eq(drill_value_holds(&v, "<", 5.2), DRILL_HELD_YES);
	ck_assert_int_eq(drill_value_holds(&v, "<", 5.1), DRILL_HELD_UNKNOWN);
	ck_assert_int_eq(drill_value_holds(&v, "<", 4.95), DRILL_HELD_UNKNOWN);
	ck_assert_int_eq(drill_value_holds(&v, "<", 4.9), DRILL_HELD_NO);
	ck_assert_int_eq(drill_value_holds(&v, "<=", 5.1), DRILL_HELD_YES);
	ck_assert_int_eq(drill_value_holds(&v, ">", 4), DRILL_HELD_YES);
	ck_assert_int_eq(drill_value_holds(&v, ">=", 6), DRILL_HELD_NO);
	ck_assert_int_eq(drill_value_holds(&v, "~", 6), DRILL_HELD_UNKNOWN);
	ck_assert_int_eq(drill_value_holds(&never, "<", 1e12), DRILL_HELD_NO);
	ck_assert_int_eq(drill_value_holds(&never, ">", 1e12), DRILL_HELD_YES);
	ck_assert_int_eq(drill_value_holds(&none, "<", 1), DRILL_HELD_UNKNOWN);
	ck_assert_int_eq(drill_value_holds(&na, "<", 0), DRILL_HELD_YES);
	v.hi = INFINITY; /* seen only as "at least" */
	ck_assert_int_eq(drill_value_holds(&v, "<", 4), DRILL_HELD_NO);
	ck_assert_int_eq(drill_value_holds(&v, "<", 100), DRILL_HELD_UNKNOWN);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("stats");
	TCase *tc = tcase_create("exact"), *mc = tcase_create("simulated");

	tcase_add_test(tc, the_table_of_smallest_trial_counts_is_reproduced);
	tcase_add_test(tc, the_lower_bounds_of_p95_are_the_known_ones);
	tcase_add_test(tc, binomial_sums_and_intervals_are_exact);
	tcase_add_test(tc, quantiles_are_type_7_and_take_never);
	tcase_add_test(tc, a_quantile_has_its_bounds_and_says_what_is_missing);
	tcase_add_test(tc, mann_whitney_counts_every_arrangement);
	tcase_add_test(tc, the_same_seed_gives_the_same_interval);
	tcase_add_test(tc, equal_values_have_an_interval_of_no_width);
	tcase_add_test(tc, a_limit_inside_the_uncertainty_is_not_decided);
	suite_add_tcase(s, tc);
	tcase_set_timeout(mc, 120);
	tcase_add_test(mc, mann_whitney_rejects_at_its_level);
	tcase_add_loop_test(
		mc, studentised_intervals_cover_as_often_as_was_measured, 0, 4);
	suite_add_tcase(s, mc);
	return drill_check_main(s);
}
