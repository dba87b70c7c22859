/* field.h - typed fields of an event, each missing or wrong one named
 * SPDX-License-Identifier: MIT
 */
#ifndef DRILL_MEASURE_FIELD_H
#define DRILL_MEASURE_FIELD_H

#include "harness/core/err.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* An event with its place, so that messages can name the line. */
struct field_event {
	json_t *o;
	const char *kind;
	size_t line;
};

/* Times and counts beyond these are garbage, not data. */
#define FIELD_TIME_MAX 1e10
#define FIELD_COUNT_MAX 1e15

/* Each returns 0 or -EINVAL. A missing optional field leaves *ret alone. */
int field_number(const struct field_event *e, const char *name, bool needed,
		 double max, double *ret, struct drill_err *err);
int field_count(const struct field_event *e, const char *name, bool needed,
		int64_t least, int64_t most, int64_t *ret, struct drill_err *err);
int field_string(const struct field_event *e, const char *name, bool needed,
		 const char **ret, struct drill_err *err);

#endif
