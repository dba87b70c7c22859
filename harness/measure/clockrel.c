/* clockrel.c - how far apart two stamps are, and how sure that is
 * SPDX-License-Identifier: MIT
 */
#include "model.h"

#include <string.h>

/* A clock may run this much fast or slow. */
#define DRIFT 100e-6

struct interval drill_interval(const struct when *from, const struct when *to)
{
	bool one_clock = from->host && to->host && !strcmp(from->host, to->host);
	double v = to->t - from->t;
	struct interval i = {
		.u = one_clock ? DRIFT * fabs(v) : from->u + to->u,
	};

	i.order = v > i.u ? ORDER_SURE
		: v >= -i.u - TIME_EPS ? ORDER_UNDECIDABLE : ORDER_REVERSED;
	i.v = fmax(0, v);
	i.lo = fmax(0, v - i.u);
	i.hi = fmax(0, v + i.u);
	return i;
}
