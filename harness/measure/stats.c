/* stats.c - order statistics, exact binomials, quantiles and their bounds
 * SPDX-License-Identifier: MIT
 */
#include "stats.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WHO "stats"

static double log_choose(int n, int k)
{
	return lgamma(n + 1.0) - lgamma(k + 1.0) - lgamma(n - k + 1.0);
}

static double binomial_mass(int n, double p, int k)
{
	if (p <= 0)
		return k == 0;
	if (p >= 1)
		return k == n;
	return exp(log_choose(n, k) + k * log(p) + (n - k) * log1p(-p));
}

double drill_binomial_cdf(int n, double p, int k)
{
	double sum = 0;
	int i;

	if (k >= n)
		return 1;
	for (i = 0; i <= k; i++)
		sum += binomial_mass(n, p, i);
	return fmin(sum, 1);
}

/* The p at which P(Bin(n,p) <= k) is @want; the cdf falls as p rises. */
static double binomial_inverse(int n, int k, double want)
{
	double lo = 0, hi = 1;
	int i;

	for (i = 0; i < 100; i++) {
		double mid = (lo + hi) / 2;

		if (drill_binomial_cdf(n, mid, k) > want)
			lo = mid;
		else
			hi = mid;
	}
	return (lo + hi) / 2;
}

void drill_binomial_interval(int k, int n, double confidence, double *ret_lo,
			     double *ret_hi)
{
	double tail = (1 - confidence) / 2;

	*ret_lo = k > 0 ? binomial_inverse(n, k - 1, 1 - tail) : 0;
	*ret_hi = k < n ? binomial_inverse(n, k, tail) : 1;
}

int drill_order_upper(int n, double p, double confidence)
{
	double below = 0;
	int r;

	for (r = 1; r <= n; r++) {
		below += binomial_mass(n, p, r - 1);
		if (below >= confidence)
			return r;
	}
	return 0;
}

int drill_order_lower(int n, double p, double confidence)
{
	double above = 0;
	int r;

	for (r = n; r >= 1; r--) {
		above += binomial_mass(n, p, r);
		if (above >= confidence)
			return r;
	}
	return 0;
}

int drill_order_needed(double p, int k, double confidence)
{
	int n, j;

	if (!(p > 0) || !(p < 1) || k < 1)
		return 0;
	for (n = k;; n++) {
		double above = 0; /* P(Bin(n,p) > n - k) */

		for (j = 0; j < k; j++)
			above += binomial_mass(n, p, n - j);
		if (1 - above >= confidence)
			return n;
	}
}

static int rising(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

void drill_sort(double *x, size_t n)
{
	size_t i;

	for (i = 1; i < n && x[i - 1] <= x[i]; i++)
		;
	if (i < n)
		qsort(x, n, sizeof(*x), rising);
}

double drill_mean(const double *x, size_t n)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < n; i++)
		sum += x[i];
	return n ? sum / n : NAN;
}

double drill_quantile(const double *sorted, size_t n, double p)
{
	double at, part;
	size_t i;

	if (!n)
		return NAN;
	at = p * (n - 1);
	i = (size_t)at;
	part = at - i;
	if (i + 1 >= n || part == 0) /* never 0 x INFINITY */
		return sorted[i < n ? i : n - 1];
	return sorted[i] + part * (sorted[i + 1] - sorted[i]);
}

double drill_median(const double *sorted, size_t n)
{
	return drill_quantile(sorted, n, 0.5);
}

double drill_sigma_mad(const double *x, size_t n, double center, double *scratch)
{
	size_t i;

	for (i = 0; i < n; i++)
		scratch[i] = fabs(x[i] - center);
	drill_sort(scratch, n);
	return n ? 1.4826 * drill_median(scratch, n) : 0;
}

int drill_quantile_bound(const double *x, size_t n, double p,
			 struct drill_quantile_bound *ret, struct drill_err *err)
{
	double *s = calloc(n + 1, sizeof(*s));
	int up, low, enough;

	if (!s)
		return drill_err_set(err, -ENOMEM, WHO, "no memory");
	if (n)
		memcpy(s, x, n * sizeof(*s));
	drill_sort(s, n);
	up = drill_order_upper((int)n, p, DRILL_CONFIDENCE);
	low = drill_order_lower((int)n, p, DRILL_CONFIDENCE);
	enough = drill_order_needed(p, 1, DRILL_CONFIDENCE);
	*ret = (struct drill_quantile_bound){
		.estimate = drill_quantile(s, n, p),
		.lo = low ? s[low - 1] : -INFINITY,
		.hi = up ? s[up - 1] : INFINITY,
		.has_lo = low,
		.has_hi = up,
		.needed = (int)n < enough ? enough - (int)n : 0,
	};
	free(s);
	return 0;
}
