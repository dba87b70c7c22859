/* resample.c - studentised bootstrap intervals of means
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

static int bootstrap(const double *x, size_t n, struct drill_mean_interval *ret,
		     struct drill_err *err)
{
	struct moments m = sample(x, n, ret->mean), r;
	struct drill_rng rng = {ret->seed};
	double *t = calloc(DRILL_RESAMPLES, sizeof(*t)), se = sqrt(m.var);
	int i;

	if (!t)
		return drill_err_set(err, -ENOMEM, WHO, "no memory");
	for (i = 0; i < DRILL_RESAMPLES; i++) {
		r = resample(x, n, ret->mean, &rng);
		t[i] = student(r.mean, r.var);
	}
	drill_sort(t, DRILL_RESAMPLES);
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

int drill_bootstrap_mean(const double *x, size_t n, uint64_t seed,
			 struct drill_mean_interval *ret, struct drill_err *err)
{
	double mean = drill_mean(x, n);

	*ret = (struct drill_mean_interval){
		.mean = mean, .lo = mean, .hi = mean,
		.has_interval = n >= LEAST && finite_all(x, n),
		.below_nominal = n < NOMINAL,
		.seed = seed,
	};
	return ret->has_interval ? bootstrap(x, n, ret, err) : 0;
}
