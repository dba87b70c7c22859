/* bench.h - rounds of A and B in one run, medians, and one verdict a line
 * SPDX-License-Identifier: MIT
 *
 * Machines drift, so what is compared is measured in turns within one process
 * and one number is made of the rounds by their median. A program prints one
 * line "PASS what: value" or "FAIL what: value" for each limit.
 */
#ifndef DRILL_BENCH_H
#define DRILL_BENCH_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static inline int64_t bench_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static inline int bench_order(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Sorts @v. */
static inline double bench_median(double *v, int n)
{
	qsort(v, (size_t)n, sizeof(*v), bench_order);
	return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

/* How far from the middle the ends of a distribution-free 95% interval of the
 * median of n values lie: 0.98 sqrt(n), rounded up. */
static inline int bench_half(int n)
{
	int m = 0;

	while (m * m < n)
		m++;
	return m < n / 2 ? m : n / 2;
}

/* Its ends, of values in order. */
static inline double bench_lower(const double *v, int n)
{
	return v[n / 2 - bench_half(n)];
}

static inline double bench_upper(const double *v, int n)
{
	return v[n - 1 - (n / 2 - bench_half(n))];
}

static inline bool bench_verdict(const char *what, double value, double limit,
				 const char *unit)
{
	bool good = value < limit;

	printf("%s %s%s%.2f %s (limit %.2f)\n", good ? "PASS" : "FAIL", what,
	       good ? ", " : ": ", value, unit, limit);
	return good;
}

#endif
