/* param.c - typed parameter tables: one row is parser, help, docs and bounds
 * SPDX-License-Identifier: MIT
 *
 * A value comes as JSON (script, file, frame) or as the text of a default. Both
 * go through one function a type, so that what help prints can be typed.
 */
#include "param.h"

#include "jsonx.h"
#include "unit.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is being read, for the messages. */
struct reading {
	const struct drill_param *row;
	const char *who;
	struct drill_err *err;
};

static int wrong(const struct reading *r, const json_t *value, const char *want)
{
	char *text = value ? json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT)
			   : NULL;

	drill_err_set(r->err, -EINVAL, r->who, "'%s' must be %s, not %.60s",
		      r->row->name, want, text ? text : "nothing");
	free(text);
	return -EINVAL;
}

static bool is_unit(enum drill_type type)
{
	return type == DRILL_DURATION || type == DRILL_SIZE ||
	       type == DRILL_RATE || type == DRILL_PERCENT;
}

static enum drill_unit unit_of(enum drill_type type)
{
	switch (type) {
	case DRILL_SIZE:
		return DRILL_UNIT_SIZE;
	case DRILL_RATE:
		return DRILL_UNIT_RATE;
	case DRILL_PERCENT:
		return DRILL_UNIT_PERCENT;
	default:
		return DRILL_UNIT_DURATION;
	}
}

/* A bound as a user would type it. */
static const char *bound(enum drill_type type, int64_t v, char *buf, size_t n)
{
	if (is_unit(type))
		return drill_unit_print(v, unit_of(type), buf, n);
	snprintf(buf, n, "%" PRId64, v);
	return buf;
}

static int in_bounds(const struct reading *r, double v)
{
	const struct drill_param *row = r->row;
	bool open = row->max == 0 && row->min >= 0;
	char lo[32], hi[32];

	if (open && (row->min == 0 || v >= (double)row->min))
		return 0;
	if (!open && v >= (double)row->min && v <= (double)row->max)
		return 0;
	if (open)
		return drill_err_set(r->err, -ERANGE, r->who,
				     "'%s' must be at least %s", row->name,
				     bound(row->type, row->min, lo, sizeof(lo)));
	return drill_err_set(r->err, -ERANGE, r->who,
			     "'%s' must be from %s to %s", row->name,
			     bound(row->type, row->min, lo, sizeof(lo)),
			     bound(row->type, row->max, hi, sizeof(hi)));
}

static int read_string(const struct reading *r, json_t *value, void *to)
{
	if (!json_is_string(value))
		return wrong(r, value, "a string");
	*(const char **)to = json_string_value(value);
	return 0;
}

static int text_to_int(const char *text, int64_t *ret)
{
	char *end;

	errno = 0;
	*ret = strtoll(text, &end, 0);
	return errno || end == text || *end ? -EINVAL : 0;
}

/* Text too: a command line knows no other type. 1e3 is an integer as well. */
static int read_int(const struct reading *r, json_t *value, void *to)
{
	double d = json_is_real(value) ? json_real_value(value) : 0.5;
	int64_t v;

	if (json_is_integer(value))
		v = json_integer_value(value);
	else if (json_is_string(value)) {
		if (text_to_int(json_string_value(value), &v) < 0)
			return wrong(r, value, "an integer");
	} else if (d > -9e15 && d < 9e15 && d == (double)(int64_t)d)
		v = (int64_t)d;
	else
		return wrong(r, value, "an integer");
	*(int64_t *)to = v;
	return in_bounds(r, (double)v);
}

static int read_bool(const struct reading *r, json_t *value, void *to)
{
	const char *s = json_string_value(value);

	if (json_is_boolean(value))
		*(bool *)to = json_is_true(value);
	else if (s && (!strcmp(s, "true") || !strcmp(s, "false")))
		*(bool *)to = *s == 't';
	else
		return wrong(r, value, "true or false");
	return 0;
}

static int read_number(const struct reading *r, json_t *value, void *to)
{
	const char *s = json_string_value(value);
	char *end;
	double v;

	if (json_is_number(value))
		v = json_number_value(value);
	else if (!s)
		return wrong(r, value, "a number");
	else {
		v = strtod(s, &end);
		if (end == s || *end)
			return wrong(r, value, "a number");
	}
	if (!isfinite(v))
		return wrong(r, value, "a finite number");
	*(double *)to = v;
	return in_bounds(r, v);
}

static int bare_number(const struct reading *r, json_t *value)
{
	static const char *const want[] = {
		[DRILL_UNIT_DURATION] = "a duration with its unit like \"80ms\"",
		[DRILL_UNIT_SIZE] = "a size with its unit like \"4KiB\"",
		[DRILL_UNIT_RATE] = "a rate with its unit like \"10Gbit/s\"",
		[DRILL_UNIT_PERCENT] = "a percentage like \"5%\"",
	};

	return wrong(r, value, want[unit_of(r->row->type)]);
}

static int read_unit(const struct reading *r, json_t *value, void *to)
{
	struct drill_err inner = {0};
	int64_t v;

	if (!json_is_string(value))
		return bare_number(r, value);
	if (drill_unit_parse(json_string_value(value), unit_of(r->row->type),
			     &v, &inner) < 0)
		return drill_err_set(r->err, -EINVAL, r->who, "'%s': %s",
				     r->row->name, inner.msg);
	*(int64_t *)to = v;
	return in_bounds(r, (double)v);
}

static void join(const char *const *values, char *buf, size_t size)
{
	size_t len = 0;

	buf[0] = '\0';
	for (; *values && len < size; values++)
		len += (size_t)snprintf(buf + len, size - len, "%s%s",
					len ? ", " : "", *values);
}

static int read_enum(const struct reading *r, json_t *value, void *to)
{
	const char *const *v = r->row->values, *near;
	const char *s = json_string_value(value);
	char all[160];
	int i;

	join(v, all, sizeof(all));
	if (!s)
		return wrong(r, value, all);
	for (i = 0; v[i]; i++) {
		if (strcmp(v[i], s) == 0) {
			*(int *)to = i;
			return 0;
		}
	}
	near = drill_nearest(s, v);
	return drill_err_set(r->err, -EINVAL, r->who,
			     "'%s' has no value '%.40s'%s%s%s (one of: %s)",
			     r->row->name, s, near ? ", did you mean '" : "",
			     near ? near : "", near ? "'?" : "", all);
}

static int read_value(const struct reading *r, json_t *value, void *args)
{
	static int (*const readers[])(const struct reading *, json_t *,
				      void *) = {
		[DRILL_STRING] = read_string, [DRILL_INT] = read_int,
		[DRILL_BOOL] = read_bool,     [DRILL_NUMBER] = read_number,
		[DRILL_DURATION] = read_unit, [DRILL_SIZE] = read_unit,
		[DRILL_RATE] = read_unit,     [DRILL_PERCENT] = read_unit,
		[DRILL_ENUM] = read_enum,
	};

	return readers[r->row->type](r, value, (char *)args + r->row->offset);
}

static int read_default(const struct reading *r, void *args)
{
	const char *def = r->row->def;
	json_t *value;
	int rc;

	if (!def)
		return drill_err_set(r->err, -EINVAL, r->who,
				     "'%s' is missing: %s", r->row->name,
				     r->row->doc);
	if (r->row->type == DRILL_STRING) { /* borrowed from the table */
		*(const char **)((char *)args + r->row->offset) = def;
		return 0;
	}
	value = json_string(def);
	if (!value)
		return drill_err_set(r->err, -ENOMEM, r->who, "no memory");
	rc = read_value(r, value, args);
	json_decref(value);
	return rc;
}

#define MAX_ROWS 64

static const struct drill_param *find_row(const struct drill_param *table,
					  const char *name)
{
	for (; table->name; table++)
		if (strcmp(table->name, name) == 0)
			return table;
	return NULL;
}

static int unknown(const struct drill_param *table, const char *who,
		   const char *name, struct drill_err *err)
{
	const char *names[MAX_ROWS + 1] = {NULL}, *near;
	char all[200];
	int i;

	for (i = 0; i < MAX_ROWS && table[i].name; i++)
		names[i] = table[i].name;
	if (!names[0])
		return drill_err_set(err, -EINVAL, who,
				     "no parameter '%.40s': it takes none",
				     name);
	near = drill_nearest(name, names);
	if (near)
		return drill_err_set(err, -EINVAL, who,
				     "no parameter '%.40s', did you mean '%s'?",
				     name, near);
	join(names, all, sizeof(all));
	return drill_err_set(err, -EINVAL, who,
			     "no parameter '%.40s' (there are: %s)", name, all);
}

int drill_params_parse(const struct drill_param *table, const char *who,
		       json_t *obj, void *args, struct drill_err *err)
{
	struct reading r = {.who = who, .err = err};
	const char *key;
	json_t *value;
	int rc = 0;

	if (obj && !json_is_object(obj))
		return drill_err_set(err, -EINVAL, who,
				     "parameters must be named, not %s",
				     drill_json_type(obj));
	json_object_foreach (obj, key, value)
		if (!find_row(table, key))
			return unknown(table, who, key, err);
	for (r.row = table; r.row->name && rc == 0; r.row++) {
		value = json_object_get(obj, r.row->name);
		if (value && !json_is_null(value))
			rc = read_value(&r, value, args);
		else
			rc = read_default(&r, args);
	}
	return rc;
}
