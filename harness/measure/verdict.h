/* verdict.h - does a measured value hold against a limit, surely?
 * SPDX-License-Identifier: MIT
 */
#ifndef DRILL_VERDICT_H
#define DRILL_VERDICT_H

#include <stdbool.h>

/* Ordered so that the worse is greater, as outcomes fold. */
enum drill_held {
	DRILL_HELD_YES,
	DRILL_HELD_UNKNOWN, /* the uncertainty straddles the limit, or no value */
	DRILL_HELD_NO,
};

/* A value with the interval that surely holds it. */
struct drill_value {
	double v, lo, hi;    /* hi may be INFINITY: seen only as "at least lo" */
	bool known;	     /* false: nothing was measured */
	bool never;	     /* greater than every duration */
	bool not_applicable; /* nothing to wait for: every limit holds */
};

/* @op: "<" "<=" ">" ">=" "==" "!=". For "<": holds if hi < limit, fails if
 * lo >= limit, else unknown; the others likewise. An unknown @op: unknown. */
enum drill_held drill_value_holds(const struct drill_value *value,
				  const char *op, double limit);

#endif
