/* line.c - one JSON object written as text, field by field
 * SPDX-License-Identifier: MIT
 */
#include "line.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void drill_line_begin(struct drill_line *l)
{
	l->text[0] = '{';
	l->n = 1;
}

/* All of it or nothing; the last byte stays free for the closing brace. */
static void put(struct drill_line *l, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static void put(struct drill_line *l, const char *fmt, ...)
{
	size_t comma = l->n > 1, room = sizeof(l->text) - 2 - l->n - comma;
	va_list ap;
	int n;

	if (l->n + comma + 2 >= sizeof(l->text))
		return;
	va_start(ap, fmt);
	n = vsnprintf(l->text + l->n + comma, room, fmt, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= room)
		return;
	if (comma)
		l->text[l->n] = ',';
	l->n += comma + n;
}

void drill_line_int(struct drill_line *l, const char *key, int64_t v)
{
	put(l, "\"%s\":%" PRId64, key, v);
}

void drill_line_number(struct drill_line *l, const char *key, double v)
{
	if (v != v)
		put(l, "\"%s\":\"nan\"", key);
	else if (v - v != 0)
		put(l, "\"%s\":\"%sinf\"", key, v < 0 ? "-" : "");
	else
		put(l, "\"%s\":%.15g", key, v);
}

void drill_line_text(struct drill_line *l, const char *key, const char *s,
		     size_t max)
{
	char safe[256];
	size_t n = 0;

	for (; n < max && n < sizeof(safe) - 1 && s[n]; n++)
		safe[n] = s[n] < ' ' || s[n] > '~' || s[n] == '"' ||
					  s[n] == '\\'
				  ? '?'
				  : s[n];
	safe[n] = 0;
	put(l, "\"%s\":\"%s\"", key, safe);
}

void drill_line_pair(struct drill_line *l, const char *key, const char *ka,
		     int64_t a, const char *kb, int64_t b)
{
	put(l, "\"%s\":{\"%s\":%" PRId64 ",\"%s\":%" PRId64 "}", key, ka, a, kb,
	    b);
}

void drill_line_end(struct drill_line *l)
{
	l->text[l->n++] = '}';
	l->text[l->n] = 0;
}
