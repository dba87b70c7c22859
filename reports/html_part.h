/* html_part.h - what the parts of report.html share
 * SPDX-License-Identifier: MIT
 *
 * Rules of the page. One file; no network, no library; complete without
 * script, which only adds the readout and the zoom. In plots x is in percent
 * and y in pixels, so text never scales; gutters are overflow. Labels are
 * placed for 660 px of content. An outcome is word, shape and colour; a
 * category is colour, pattern and name; a limit is always the same heavy tick.
 * What failed comes first, nothing that held is hidden. Every string that is
 * not ours goes through esc().
 */
#ifndef DRILL_HTML_PART_H
#define DRILL_HTML_PART_H

#include "look.h"
#include "summary.h"

#include <math.h>

enum drill_cat {
	CAT_USEFUL, CAT_CHECKPOINT, CAT_DATA, CAT_STALLED,
	CAT_REDONE, CAT_RESTART, CAT_DEGRADED, CAT_IDLE, CATS,
};

struct drill_cat_info {
	const char *name;   /* as in the ledger */
	const char *class;  /* of its swatch */
	char letter;	    /* in the lane data that the readout reads */
};

extern const struct drill_cat_info drill_cats[CATS];

struct drill_chunk; /* of the page's scratch text */

struct html {
	FILE *to;
	const struct drill_report *report;
	json_t *run, *events, *trial, *incidents;
	json_t *begins;	    /* the rank.begin events of this trial; ours */
	int shown;	    /* index of @trial in trials[]; -1: there is none */
	int ordinal;	    /* which fault trial that is, from 0 */
	int number;	    /* the trial as people count: from 1 */
	int n_fault;	    /* fault trials in the run */
	double id;	    /* as "trial" in the events */
	double begin, wall; /* J0 and length; NAN when unknown */
	double ranks, step; /* baseline step time; NAN when unknown */
	double usd, kwh;    /* a rank-hour; NAN without rates */
	struct drill_expect *expects;
	size_t n_expects;
	struct drill_chunk *chunks;
};

#define put(h, ...) fprintf((h)->to, __VA_ARGS__)

/* Text for one put(): all live until the page is done. */
const char *drill_html_esc(struct html *h, const char *text);
const char *drill_html_num(struct html *h, double v, int digits);
const char *drill_html_text(struct html *h, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void drill_html_free(struct html *h); /* all of it, when the page is done */
const char *drill_html_capitals(struct html *h, const char *word);
const char *drill_html_pct(struct html *h, double percent);

static inline const char *esc(struct html *h, const char *text)
{
	return drill_html_esc(h, text);
}

/* @digits after the point, -1: three significant ones. */
static inline const char *num(struct html *h, double v, int digits)
{
	return drill_html_num(h, v, digits);
}

/* "12.5%": a place on a plot. */
static inline const char *pct(struct html *h, double percent)
{
	return drill_html_pct(h, percent);
}

/* The word with its shape; @hide leaves only the shape for the eye. */
const char *drill_html_outcome(struct html *h, enum drill_outcome o,
			       const char *text, bool hide);
const char *drill_html_swatch(struct html *h, enum drill_cat cat);

/* A command: one click selects it, an option and its value stay together. */
void drill_html_command(struct html *h, const char *text);

/* The expectation about @metric of this incident, or NULL. */
const struct drill_expect *drill_html_expect(struct html *h, json_t *incident,
					     const char *metric);

/* "1 lost": how an incident is called on this page. */
const char *drill_html_incident(struct html *h, size_t i);
enum drill_outcome drill_html_incident_outcome(struct html *h, json_t *inc);

/* A round step for an axis of @length with about @n ticks. */
double drill_html_tick(double length, int n);

/* Grid and labels of the trial's time axis, from @top to @bottom px; windows
 * of the faults across the same height. */
void drill_html_axis(struct html *h, int top, int bottom);
void drill_html_windows(struct html *h, int top, int bottom);
void drill_html_ranges(struct html *h, const char *name);

/* When a fault was in force, seconds into the trial. False: never. */
bool drill_html_window(struct html *h, json_t *inc, double *from, double *to);

/* The slot that an incident hit, -1 when it is not one rank; and the host. */
int drill_html_slot_hit(json_t *inc);
const char *drill_html_target(struct html *h, json_t *inc); /* not escaped */
const char *drill_html_host_of(struct html *h, int slot, double before);
bool drill_html_host_hit(struct html *h, const char *host);

/* The parts, in order. */
void drill_html_style(struct html *h);
void drill_html_script(struct html *h);
void drill_html_verdict(struct html *h);
void drill_html_story(struct html *h);
void drill_html_lanes(struct html *h);
void drill_html_series(struct html *h);
void drill_html_ledger(struct html *h);
void drill_html_expectations(struct html *h);
void drill_html_blame(struct html *h);
void drill_html_evidence(struct html *h);
void drill_html_hooks(struct html *h);
void drill_html_lab(struct html *h);

#endif
