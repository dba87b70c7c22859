/* unit.c - values with units, read and printed exactly
 * SPDX-License-Identifier: MIT
 *
 * All arithmetic is in integers: "0.1s" is 100000000 ns, never nearly so. What
 * cannot be held exactly in the base unit is refused.
 */
#include "unit.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char who[] = "unit";

struct suffix {
	const char *name;
	int64_t factor;
};

/* Smallest first: the printer walks down from the end. */
static const struct suffix durations[] = {
	{"ns", 1},
	{"us", 1000},
	{"ms", 1000000},
	{"s", 1000000000},
	{"min", INT64_C(60) * 1000000000},
	{"h", INT64_C(3600) * 1000000000},
	{"d", INT64_C(86400) * 1000000000},
	{NULL, 0},
};

static const struct suffix sizes[] = {
	{"B", 1},
	{"kB", 1000},
	{"KiB", 1024},
	{"MB", 1000000},
	{"MiB", 1 << 20},
	{"GB", 1000000000},
	{"GiB", 1 << 30},
	{"TB", INT64_C(1000000000000)},
	{"TiB", INT64_C(1) << 40},
	{NULL, 0},
};

static const struct suffix rates[] = {
	{"bit/s", 1},
	{"kbit/s", 1000},
	{"Mbit/s", 1000000},
	{"Gbit/s", 1000000000},
	{NULL, 0},
};

static const struct suffix percents[] = {
	{"%", 10000},
	{NULL, 0},
};

static const struct family {
	const char *what;
	const char *example;
	const struct suffix *suffixes;
	const char *zero; /* nothing of it, as a user would type it */
} families[] = {
	[DRILL_UNIT_DURATION] = {"duration", "80ms", durations, "0s"},
	[DRILL_UNIT_SIZE] = {"size", "4KiB", sizes, "0B"},
	[DRILL_UNIT_RATE] = {"rate", "10Gbit/s", rates, "0bit/s"},
	[DRILL_UNIT_PERCENT] = {"percentage", "5%", percents, "0%"},
};

/* A decimal number as digits x 10^-scale. */
struct decimal {
	int64_t digits;
	int scale;
};

static int push_digit(struct decimal *d, char c)
{
	return __builtin_mul_overflow(d->digits, 10, &d->digits) ||
	       __builtin_add_overflow(d->digits, c - '0', &d->digits);
}

/* Returns where the number ends, NULL when there is none or it is too long. */
static const char *read_decimal(const char *p, struct decimal *ret)
{
	const char *start = p;

	*ret = (struct decimal){0, 0};
	for (; isdigit((unsigned char)*p); p++)
		if (push_digit(ret, *p))
			return NULL;
	if (p == start)
		return NULL;
	if (*p != '.')
		return p;
	start = ++p;
	for (; isdigit((unsigned char)*p); p++, ret->scale++)
		if (push_digit(ret, *p))
			return NULL;
	return p == start ? NULL : p;
}

/* digits x factor / 10^scale, or -1 when that is no int64_t, -2 when inexact. */
static int scale(struct decimal d, int64_t factor, int64_t *ret)
{
	for (; d.scale > 0; d.scale--) {
		if (d.digits % 10 == 0)
			d.digits /= 10;
		else if (factor % 10 == 0)
			factor /= 10;
		else if (factor % 2 == 0 && d.digits % 5 == 0)
			factor /= 2, d.digits /= 5;
		else if (factor % 5 == 0 && d.digits % 2 == 0)
			factor /= 5, d.digits /= 2;
		else
			return -2;
	}
	return __builtin_mul_overflow(d.digits, factor, ret) ? -1 : 0;
}

static const struct suffix *find_suffix(const struct suffix *s, const char *name)
{
	for (; s->name; s++)
		if (strcmp(s->name, name) == 0)
			return s;
	return NULL;
}

static int bad_suffix(const struct family *f, const char *text,
		      const char *name, struct drill_err *err)
{
	const struct suffix *s;
	char known[128] = "";
	size_t len = 0;

	for (s = f->suffixes; s->name; s++)
		len += (size_t)snprintf(known + len, sizeof(known) - len,
					" %s", s->name);
	if (!*name)
		return drill_err_set(err, -EINVAL, who,
				     "'%.40s' has no unit; write a %s like "
				     "\"%s\" (units:%s)",
				     text, f->what, f->example, known);
	return drill_err_set(err, -EINVAL, who,
			     "'%.40s' is no %s: unknown unit '%.20s' (units:%s)",
			     text, f->what, name, known);
}

int drill_unit_parse(const char *text, enum drill_unit unit, int64_t *ret,
		     struct drill_err *err)
{
	const struct family *f = &families[unit];
	const struct suffix *s;
	struct decimal d;
	const char *p;
	int rc;

	p = read_decimal(text, &d);
	if (!p)
		return drill_err_set(err, -EINVAL, who,
				     "'%.40s' is no %s; write it like \"%s\"",
				     text, f->what, f->example);
	if (*p == ' ')
		p++;
	s = find_suffix(f->suffixes, p);
	if (!s)
		return bad_suffix(f, text, p, err);
	rc = scale(d, s->factor, ret);
	if (rc)
		return drill_err_set(err, -EINVAL, who, "'%.40s' is too %s",
				     text, rc == -1 ? "large" : "fine");
	return 0;
}

/* Percent has one unit only, so it prints the fraction. */
static const char *print_percent(int64_t ppm, char *buf, size_t size)
{
	int64_t whole = ppm / 10000, rest = ppm % 10000;
	int digits = 4;

	if (!rest) {
		snprintf(buf, size, "%" PRId64 "%%", whole);
		return buf;
	}
	for (; rest % 10 == 0; rest /= 10)
		digits--;
	snprintf(buf, size, "%" PRId64 ".%0*" PRId64 "%%", whole, digits, rest);
	return buf;
}

const char *drill_unit_print(int64_t value, enum drill_unit unit, char *buf,
			     size_t size)
{
	const struct family *f = &families[unit];
	const struct suffix *s, *best = f->suffixes;

	if (value == 0) {
		snprintf(buf, size, "%s", f->zero);
		return buf;
	}
	if (unit == DRILL_UNIT_PERCENT)
		return print_percent(value, buf, size);
	for (s = f->suffixes; s->name; s++)
		if (value % s->factor == 0)
			best = s;
	snprintf(buf, size, "%" PRId64 "%s", value / best->factor, best->name);
	return buf;
}
