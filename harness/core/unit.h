/* unit.h - values with units, read and printed: "80ms", "5%", "4KiB"
 * SPDX-License-Identifier: MIT
 *
 * A unit is part of the value. A bare number where a unit belongs is an error
 * whose text says what to write.
 */
#ifndef DRILL_UNIT_H
#define DRILL_UNIT_H

#include "err.h"

#include <stddef.h>
#include <stdint.h>

enum drill_unit {
	DRILL_UNIT_DURATION, /* nanoseconds: ns us ms s min h d */
	DRILL_UNIT_SIZE,     /* bytes: B KiB MiB GiB TiB kB MB GB TB */
	DRILL_UNIT_RATE,     /* bits a second: bit/s kbit/s Mbit/s Gbit/s */
	DRILL_UNIT_PERCENT,  /* parts per million: "5%" is 50000 */
};

/* Returns 0 and the value in the base unit named above, or -EINVAL. */
int drill_unit_parse(const char *text, enum drill_unit unit, int64_t *ret,
		     struct drill_err *err);

/* Prints with the largest unit that keeps it exact. Returns @buf. */
const char *drill_unit_print(int64_t value, enum drill_unit unit, char *buf,
			     size_t size);

/* The name in the NULL-terminated @names nearest to @name by edit distance, or
 * NULL when none is near enough to be what was meant. Borrowed from @names. */
const char *drill_nearest(const char *name, const char *const *names);

#endif
