/* verdict.c - does a measured value hold against a limit, surely?
 * SPDX-License-Identifier: MIT
 */
#include "verdict.h"

#include <math.h>
#include <string.h>

static enum drill_held from(bool holds, bool fails)
{
	return holds ? DRILL_HELD_YES : fails ? DRILL_HELD_NO
					      : DRILL_HELD_UNKNOWN;
}

enum drill_held drill_value_holds(const struct drill_value *value,
				  const char *op, double limit)
{
	double lo = value->never ? INFINITY : value->lo;
	double hi = value->never ? INFINITY : value->hi;
	bool point = lo == hi;

	if (value->not_applicable)
		return DRILL_HELD_YES;
	if ((!value->known && !value->never) || isnan(lo) || isnan(hi) ||
	    isnan(limit))
		return DRILL_HELD_UNKNOWN;
	if (!strcmp(op, "<"))
		return from(hi < limit, lo >= limit);
	if (!strcmp(op, "<="))
		return from(hi <= limit, lo > limit);
	if (!strcmp(op, ">"))
		return from(lo > limit, hi <= limit);
	if (!strcmp(op, ">="))
		return from(lo >= limit, hi < limit);
	if (!strcmp(op, "=="))
		return from(point && lo == limit, lo > limit || hi < limit);
	if (!strcmp(op, "!="))
		return from(lo > limit || hi < limit, point && lo == limit);
	return DRILL_HELD_UNKNOWN;
}
