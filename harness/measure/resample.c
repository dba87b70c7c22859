/* resample.c - studentised bootstrap intervals of means and differences
 * SPDX-License-Identifier: MIT
 *
 * Percentile intervals under-cover at small n, and recovery times have heavy
 * tails: each resample is divided by its own standard error.
 */
#include "stats.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define WHO "stats"
#define LEAST 5	   /* no interval below */
#define NOMINAL 40 /* coverage is below nominal below */
#define TAIL ((1 - DRILL_CONFIDENCE) / 2)

uint64_t drill_rng_next(struct drill_rng *rng)
{
	uint64_t z = rng->s += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

double drill_rng_unit(struct drill_rng *rng)
{
	return (double)(drill_rng_next(rng) >> 11) * 0x1p-53;
}

size_t drill_rng_below(struct drill_rng *rng, size_t n)
{
	return (size_t)(drill_rng_unit(rng) * (double)n);
}

struct moments {
	double mean, var; /* var of the mean */
};

static struct moments moments_of(double sum, double squares, size_t n)
{
	double mean = sum / n, var = 0;

	if (n > 1)
		var = fmax(0, squares - sum * mean) / (n - 1) / n;
	return (struct moments){mean, var};
}

/* Values are taken from @center, so that squares do not cancel. */
static struct moments resample(const double *x, size_t n, double center,
			       struct drill_rng *rng)
{
	double sum = 0, squares = 0, v;
	size_t i;

	for (i = 0; i < n; i++) {
		v = x[drill_rng_below(rng, n)] - center;
		sum += v;
		squares += v * v;
	}
	return moments_of(sum, squares, n);
}

static struct moments sample(const double *x, size_t n, double center)
{
	double sum = 0, squares = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		sum += x[i] - center;
		squares += (x[i] - center) * (x[i] - center);
	}
	return moments_of(sum, squares, n);
}

static double student(double difference, double var)
{
	if (var > 0)
		return difference / sqrt(var);
	return difference == 0 ? 0 : copysign(INFINITY, difference);
}

/* @b NULL: the mean of @a alone. */
static int bootstrap(const double *a, size_t na, const double *b, size_t nb,
		     struct drill_mean_interval *ret, struct drill_err *err)
{
	double ca = drill_mean(a, na), cb = b ? drill_mean(b, nb) : 0, se;
	struct moments ma = sample(a, na, ca), mb = {0}, ra, rb = {0};
	struct drill_rng rng = {ret->seed};
	double *t = calloc(DRILL_RESAMPLES, sizeof(*t));
	int i;

	if (!t)
		return drill_err_set(err, -ENOMEM, WHO, "no memory");
	if (b)
		mb = sample(b, nb, cb);
	for (i = 0; i < DRILL_RESAMPLES; i++) {
		ra = resample(a, na, ca, &rng);
		if (b)
			rb = resample(b, nb, cb, &rng);
		t[i] = student(ra.mean - rb.mean, ra.var + rb.var);
	}
	drill_sort(t, DRILL_RESAMPLES);
	se = sqrt(ma.var + mb.var);
	if (se > 0) {
		ret->lo -= se * drill_quantile(t, DRILL_RESAMPLES, 1 - TAIL);
		ret->hi -= se * drill_quantile(t, DRILL_RESAMPLES, TAIL);
	}
	free(t);
	return 0;
}

static bool finite_all(const double *x, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!isfinite(x[i]))
			return false;
	return true;
}

static void start(struct drill_mean_interval *ret, double mean, size_t n,
		  bool finite, uint64_t seed)
{
	*ret = (struct drill_mean_interval){
		.mean = mean, .lo = mean, .hi = mean,
		.has_interval = n >= LEAST && finite,
		.below_nominal = n < NOMINAL,
		.seed = seed,
	};
}

int drill_bootstrap_mean(const double *x, size_t n, uint64_t seed,
			 struct drill_mean_interval *ret, struct drill_err *err)
{
	start(ret, drill_mean(x, n), n, finite_all(x, n), seed);
	return ret->has_interval ? bootstrap(x, n, NULL, 0, ret, err) : 0;
}

int drill_bootstrap_difference(const double *a, size_t na, const double *b,
			       size_t nb, uint64_t seed,
			       struct drill_mean_interval *ret,
			       struct drill_err *err)
{
	start(ret, drill_mean(a, na) - drill_mean(b, nb), na < nb ? na : nb,
	      finite_all(a, na) && finite_all(b, nb), seed);
	return ret->has_interval ? bootstrap(a, na, b, nb, ret, err) : 0;
}
