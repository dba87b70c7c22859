/* ranktest.c - the exact Mann-Whitney test, and Holm's correction
 * SPDX-License-Identifier: MIT
 */
#include "stats.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define WHO "stats"
#define EXACT_MOST 120 /* values in all; beyond, the normal approximation */

struct item {
	double x;
	bool of_a;
	int rank2; /* twice the mid-rank, so that it is whole */
};

static int by_value(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	return (x->x > y->x) - (x->x < y->x);
}

/* Twice the mid-ranks of all values, and twice the rank sum of @a. */
static struct item *rank_all(const double *a, size_t na, const double *b,
			     size_t nb, int *ret_sum2)
{
	size_t n = na + nb, i, k, m;
	struct item *v = calloc(n + 1, sizeof(*v));

	*ret_sum2 = 0;
	for (i = 0; v && i < n; i++)
		v[i] = (struct item){i < na ? a[i] : b[i - na], i < na, 0};
	if (v)
		qsort(v, n, sizeof(*v), by_value);
	for (i = 0; v && i < n; i = k) {
		for (k = i + 1; k < n && v[k].x == v[i].x; k++)
			;
		for (m = i; m < k; m++) {
			v[m].rank2 = (int)(i + k + 1);
			if (v[m].of_a)
				*ret_sum2 += v[m].rank2;
		}
	}
	return v;
}

/* ways[k * (most+1) + s]: choices of k values whose doubled ranks sum to s. */
static double *count_ways(const struct item *v, size_t n, size_t na, int most)
{
	size_t width = (size_t)most + 1, i, k;
	double *ways = calloc((na + 1) * width, sizeof(*ways));
	int s;

	if (!ways)
		return NULL;
	ways[0] = 1;
	for (i = 0; i < n; i++)
		for (k = na < i + 1 ? na : i + 1; k >= 1; k--)
			for (s = most; s >= v[i].rank2; s--)
				ways[k * width + s] +=
					ways[(k - 1) * width + s - v[i].rank2];
	return ways;
}

static double exact_p(const double *ways, int most, int sum2)
{
	double low = 0, high = 0, all = 0;
	int s;

	for (s = 0; s <= most; s++) {
		all += ways[s];
		low += s <= sum2 ? ways[s] : 0;
		high += s >= sum2 ? ways[s] : 0;
	}
	return fmin(1, 2 * fmin(low, high) / all);
}

static double normal_p(const struct item *v, size_t na, size_t nb, int sum2)
{
	double n = (double)(na + nb), ties = 0, sd, z;
	size_t i, k;

	for (i = 0; i < na + nb; i = k) {
		for (k = i + 1; k < na + nb && v[k].x == v[i].x; k++)
			;
		ties += pow((double)(k - i), 3) - (double)(k - i);
	}
	sd = sqrt(na * nb / 12.0 * (n + 1 - ties / (n * (n - 1))));
	z = fabs(sum2 / 2.0 - na * (n + 1) / 2) - 0.5;
	return sd > 0 ? fmin(1, erfc(fmax(0, z) / sd / sqrt(2))) : 1;
}

int drill_mann_whitney(const double *a, size_t na, const double *b, size_t nb,
		       double *ret_p, struct drill_err *err)
{
	int sum2, most = 0;
	size_t i, n = na + nb;
	struct item *v;
	double *ways;

	if (!na || !nb)
		return drill_err_set(err, -EINVAL, WHO,
				     "a rank test needs values on both sides");
	v = rank_all(a, na, b, nb, &sum2);
	if (!v)
		return drill_err_set(err, -ENOMEM, WHO, "no memory");
	if (n > EXACT_MOST) {
		*ret_p = normal_p(v, na, nb, sum2);
		free(v);
		return 0;
	}
	for (i = n - na; i < n; i++)
		most += v[i].rank2;
	ways = count_ways(v, n, na, most);
	free(v);
	if (!ways)
		return drill_err_set(err, -ENOMEM, WHO, "no memory");
	*ret_p = exact_p(ways + na * ((size_t)most + 1), most, sum2);
	free(ways);
	return 0;
}
