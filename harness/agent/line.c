/* line.c - one JSON object written as text, field by field
 * SPDX-License-Identifier: MIT
 *
 * Without printf, which would be most of what an event costs.
 */
#include "line.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define ROOM (sizeof(((struct drill_line *)0)->text) - 2)

void drill_line_begin(struct drill_line *l)
{
	l->text[0] = '{';
	l->n = 1;
}

static bool put(struct drill_line *l, const char *s, size_t n)
{
	if (l->n + n > ROOM)
		return false;
	memcpy(l->text + l->n, s, n);
	l->n += n;
	return true;
}

static bool put_key(struct drill_line *l, const char *key)
{
	return (l->n == 1 || l->text[l->n - 1] == '{' || put(l, ",", 1)) &&
	       put(l, "\"", 1) && put(l, key, strlen(key)) && put(l, "\":", 2);
}

static bool put_int(struct drill_line *l, int64_t v)
{
	char digits[24], *p = digits + sizeof(digits);
	uint64_t u = v < 0 ? -(uint64_t)v : (uint64_t)v;

	do
		*--p = '0' + u % 10;
	while (u /= 10);
	if (v < 0)
		*--p = '-';
	return put(l, p, digits + sizeof(digits) - p);
}

/* All of a field or nothing of it: what did not fit is taken back. */
static void keep_if(struct drill_line *l, bool whole, size_t before)
{
	if (!whole)
		l->n = before;
}

void drill_line_int(struct drill_line *l, const char *key, int64_t v)
{
	size_t before = l->n;

	keep_if(l, put_key(l, key) && put_int(l, v), before);
}

void drill_line_number(struct drill_line *l, const char *key, double v)
{
	size_t before = l->n;
	char text[40];
	int n;

	if (v - v == 0)
		n = snprintf(text, sizeof(text), "%.15g", v);
	else
		n = snprintf(text, sizeof(text), "\"%s\"",
			     v != v  ? "nan"
			     : v < 0 ? "-inf"
				     : "inf");
	keep_if(l, put_key(l, key) && put(l, text, n), before);
}

void drill_line_text(struct drill_line *l, const char *key, const char *s,
		     size_t max)
{
	size_t before = l->n, n = strnlen(s, max), at, i;
	bool whole = put_key(l, key) && put(l, "\"", 1);
	char *p;

	at = l->n;
	whole = whole && put(l, s, n) && put(l, "\"", 1);
	keep_if(l, whole, before);
	for (p = l->text + at, i = 0; whole && i < n; i++)
		if (p[i] < ' ' || p[i] > '~' || p[i] == '"' || p[i] == '\\')
			p[i] = '?';
}

void drill_line_pair(struct drill_line *l, const char *key, const char *ka,
		     int64_t a, const char *kb, int64_t b)
{
	size_t before = l->n;

	keep_if(l, put_key(l, key) && put(l, "{", 1) && put_key(l, ka) &&
			   put_int(l, a) && put_key(l, kb) && put_int(l, b) &&
			   put(l, "}", 1),
		before);
}

void drill_line_end(struct drill_line *l)
{
	l->text[l->n++] = '}';
	l->text[l->n] = 0;
}
