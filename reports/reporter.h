/* reporter.h - the writers of reports, and what they read
 * SPDX-License-Identifier: MIT
 *
 * A reporter turns one finished run into one file or one page of text. It
 * measures nothing: run.json (harness/engine/result.c; its measured part,
 * harness/measure/measure.h) says all, events.jsonl gives evidence and host
 * names. Whatever is absent is left out or named as unknown, never guessed.
 *
 * Beyond what measure.h names these are used where present:
 *   run.repeat               the command line that repeats the run
 *   run.skips[]              {needs, host}: "needs X on host Y"
 *   run.dirty[]              {what, command}: what finishes the job
 *   run.expectations[]       unit, limit_value (the limit in that unit, when
 *                            it is more than a literal), why (not judged)
 *   run.lab.hosts            a number, or [{name, spare, domains {..}}, ..]
 *   run.lab.rates            {usd_per_rank_hour, kwh_per_rank_hour}
 *   trials[].snapshot        {equal, classes {name: n}, differences [..]}
 *   trials[].undo            {opened, closed}
 *   incidents[].args         {parameter: as asked}
 */
#ifndef DRILL_REPORTER_H
#define DRILL_REPORTER_H

#include "harness/core/err.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* One finished run. All borrowed for the call. */
struct drill_report {
	json_t *run;	 /* object, schema faultdrill.run/1 */
	json_t *events;	 /* array; NULL when there are none */
	const char *dir; /* the run's folder, to name its files; may be NULL */
	int trial;	 /* index in trials[] to show; -1: the worst */
	bool colour;	 /* terminal only: see drill_report_colour */
};

struct drill_reporter {
	const char *name; /* "html" */
	const char *doc;  /* one sentence with a full stop */
	const char *file; /* in the run's folder: "report.html"; NULL: none */
	int (*write)(const struct drill_report *report, FILE *to,
		     struct drill_err *err);
};

/* Ends with NULL; borrowed, lives for ever. */
const struct drill_reporter *const *drill_reporters(void);

/* Writes the reporter's file into report->dir: beside it first, then renamed,
 * so that a reader never sees half a page. */
int drill_report_save(const struct drill_reporter *reporter,
		      const struct drill_report *report, struct drill_err *err);

/* The files of all reporters. One that fails does not keep the others from
 * being written; @err has the first that did, with the file's name. */
int drill_report_save_all(const struct drill_report *report,
			  struct drill_err *err);

/* Several scenarios as one JUnit file; @reports has @n finished runs. */
int drill_junit_write(const struct drill_report *reports, int n, FILE *to,
		      struct drill_err *err);
/* The same as DIR/junit.xml. */
int drill_junit_save(const struct drill_report *reports, int n, const char *dir,
		     struct drill_err *err);

/* Colour goes to a terminal only, never with NO_COLOR set or TERM=dumb. */
bool drill_report_colour(FILE *to);

extern const struct drill_reporter drill_report_terminal;
extern const struct drill_reporter drill_report_json;
extern const struct drill_reporter drill_report_junit;
extern const struct drill_reporter drill_report_html;

#endif
