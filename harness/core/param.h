/* param.h - typed parameter tables: one row is parser, help, docs and bounds
 * SPDX-License-Identifier: MIT
 *
 * A table is an array of rows that ends with { 0 }. Values come as JSON (from
 * Lua, YAML or a frame), are checked once, and land in a plain C struct.
 */
#ifndef DRILL_PARAM_H
#define DRILL_PARAM_H

#include "err.h"

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

enum drill_type {
	DRILL_NONE,
	DRILL_STRING,	/* const char *: borrowed from the JSON object parsed */
	DRILL_INT,	/* int64_t */
	DRILL_BOOL,	/* bool */
	DRILL_NUMBER,	/* double */
	DRILL_DURATION, /* int64_t, ns */
	DRILL_SIZE,	/* int64_t, bytes */
	DRILL_RATE,	/* int64_t, bit/s */
	DRILL_PERCENT,	/* int64_t, parts per million */
	DRILL_ENUM,	/* int: index into .values */
};

struct drill_param {
	const char *name; /* one lower-case word */
	enum drill_type type;
	size_t offset;		   /* in the args struct */
	const char *def;	   /* as a user would type it; NULL: required */
	int64_t min, max;	   /* in base units; max 0: no upper bound */
	const char *const *values; /* DRILL_ENUM: NULL-terminated */
	const char *doc;	   /* one sentence with a full stop */
};

/* Fills @args (of the caller's struct, zeroed here row by row) from @obj, with
 * defaults. Strings stay borrowed from @obj or from the table. Errors name the
 * parameter, the value, the bounds and the nearest spelling. */
int drill_params_parse(const struct drill_param *table, const char *who,
		       json_t *obj, void *args, struct drill_err *err);

#endif
