/* event.h - the events of a drill: their kinds, their fields, their file
 * SPDX-License-Identifier: MIT
 *
 * events.jsonl holds one JSON object a line (event_kinds.c). Every report
 * and every number is computed from these lines alone.
 */
#ifndef DRILL_EVENT_H
#define DRILL_EVENT_H

#include "err.h"

#include <jansson.h>
#include <stdio.h>

/* Fields are written "name:type", separated by blanks. Types: i integer, n
 * number, f number or "nan", "inf", "-inf", s string, b boolean, t boolean or
 * null, l string or list of strings, o object, a list, x anything; longer than
 * one letter: one of these words, "baseline|null|fault". Fields that are not in
 * the table may be there and are kept. */
struct drill_event_kind {
	const char *name;    /* "step.begin" */
	const char *needs;   /* "step:i rank:i": fields it must carry, typed */
	const char *may;     /* fields it may carry besides the common ones */
	const char *doc;     /* one sentence */
};

/* Ends with a NULL name. Borrowed, lives for ever. */
const struct drill_event_kind *drill_event_kinds(void);

/* The fields that every kind may carry; kind and t_s it must. Borrowed. */
const char *drill_event_common(void);

/* 0, or -EINVAL with what is wrong: unknown kind, missing or ill-typed field. */
int drill_event_check(json_t *event, struct drill_err *err);

struct drill_event_log {
	FILE *f;
	unsigned long lines;
};

/* Creates @path (must not exist). Lines are flushed when written, so that a
 * killed controller loses at most the line it was writing. */
int drill_event_log_open(struct drill_event_log *log, const char *path,
			 struct drill_err *err);
int drill_event_log_write(struct drill_event_log *log, json_t *event,
			  struct drill_err *err);
int drill_event_log_close(struct drill_event_log *log, struct drill_err *err);

/* Reads a file line by line; errors name file and line. A last line without
 * newline that does not parse is a torn write: *ret_torn is set, no error.
 * The array is yours: json_decref. */
int drill_events_read(const char *path, json_t **ret, bool *ret_torn,
		      struct drill_err *err);

#endif
