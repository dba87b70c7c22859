/* stats.h - the statistics over trials: few, exact, and honest at small n
 * SPDX-License-Identifier: MIT
 *
 * Values may be INFINITY ("never") wherever only their order counts. Every
 * interval is 95% unless a confidence is passed. Nothing allocates for the
 * caller; -ENOMEM and -EINVAL are the only errors.
 */
#ifndef DRILL_STATS_H
#define DRILL_STATS_H

#include "harness/core/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DRILL_CONFIDENCE 0.95
#define DRILL_RESAMPLES 2000

/* P(Bin(n, p) <= k); 0 for k < 0. */
double drill_binomial_cdf(int n, double p, int k);

/* The exact (Clopper-Pearson) interval of a rate, @k of @n seen. */
void drill_binomial_interval(int k, int n, double confidence, double *ret_lo,
			     double *ret_hi);

/* Bounds of the p-quantile by order statistics: X(r), the r-th smallest of n.
 * Upper: r least with P(Bin(n,p) <= r-1) >= confidence; lower: r greatest with
 * P(Bin(n,p) >= r) >= confidence. 0 when no such r exists. */
int drill_order_upper(int n, double p, double confidence);
int drill_order_lower(int n, double p, double confidence);

/* Smallest n whose upper bound is the @k-th largest value (1: the largest). */
int drill_order_needed(double p, int k, double confidence);

/* Sorts ascending, INFINITY last. */
void drill_sort(double *x, size_t n);
double drill_mean(const double *x, size_t n);

/* Of sorted @x, type 7 (linear between order statistics). NAN for n = 0. */
double drill_quantile(const double *sorted, size_t n, double p);
double drill_median(const double *sorted, size_t n);

/* 1.4826 x the median absolute deviation from @center. @scratch holds n. */
double drill_sigma_mad(const double *x, size_t n, double center,
		       double *scratch);

/* A p-quantile and its 95% bounds: a limit is met by the bound, never by the
 * estimate. */
struct drill_quantile_bound {
	double estimate;       /* type 7 */
	double lo, hi;	       /* -INFINITY, INFINITY where no bound exists */
	bool has_lo, has_hi;   /* without has_hi print "estimate" */
	int needed;	       /* trials still missing for an upper bound */
};

/* @x need not be sorted. */
int drill_quantile_bound(const double *x, size_t n, double p,
			 struct drill_quantile_bound *ret, struct drill_err *err);

/* A studentised bootstrap interval of a mean. */
struct drill_mean_interval {
	double mean, lo, hi;
	bool has_interval;   /* never below n = 5 */
	bool below_nominal;  /* n < 40: print "coverage below nominal" */
	uint64_t seed;
};

int drill_bootstrap_mean(const double *x, size_t n, uint64_t seed,
			 struct drill_mean_interval *ret, struct drill_err *err);

/* Two-sided p of the exact Mann-Whitney test, ties by mid-ranks. */
int drill_mann_whitney(const double *a, size_t na, const double *b, size_t nb,
		       double *ret_p, struct drill_err *err);

/* A generator for resampling: the same seed gives the same numbers anywhere. */
struct drill_rng {
	uint64_t s;
};
uint64_t drill_rng_next(struct drill_rng *rng);
double drill_rng_unit(struct drill_rng *rng); /* [0, 1) */
size_t drill_rng_below(struct drill_rng *rng, size_t n);

#endif
