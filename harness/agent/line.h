/* line.h - one JSON object written as text, field by field
 * SPDX-License-Identifier: MIT
 *
 * For what a job tells a hundred times a second: no tree is built for it. A
 * field that does not fit is left out whole, so the text stays JSON.
 */
#ifndef DRILL_LINE_H
#define DRILL_LINE_H

#include <stddef.h>
#include <stdint.h>

struct drill_line {
	char text[1024];
	size_t n;
};

void drill_line_begin(struct drill_line *l);
/* Keys are ours and need no escapes. */
void drill_line_int(struct drill_line *l, const char *key, int64_t v);
/* What JSON has no number for becomes "nan", "inf", "-inf". */
void drill_line_number(struct drill_line *l, const char *key, double v);
/* At most @max bytes, ended early by a zero; what is not printable ASCII
 * becomes '?'. */
void drill_line_text(struct drill_line *l, const char *key, const char *s,
		     size_t max);
/* {"first": a, "count": b} */
void drill_line_pair(struct drill_line *l, const char *key, const char *ka,
		     int64_t a, const char *kb, int64_t b);
void drill_line_end(struct drill_line *l);

#endif
