/* html_progress.h - which steps a trial did, and when: for the curves
 * SPDX-License-Identifier: MIT
 *
 * A picture, not a measurement: what counts as useful is decided by measuring.
 * Here a step is new when its number is above all that were done before.
 */
#ifndef DRILL_HTML_PROGRESS_H
#define DRILL_HTML_PROGRESS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct drill_step {
	double begin, end; /* seconds after the trial's first attempt.begin */
	double tokens;	   /* of all ranks; 0: unknown */
	long step;
	int generation;	   /* counts starts and restores inside the job */
	int begun, ended;  /* ranks */
	bool fresh;	   /* above all done before */
};

struct drill_progress {
	struct drill_step *steps; /* complete ones, by end */
	size_t n;
	double begin, wall; /* J0 on the drill's clock; NAN: nothing known */
	bool tokens;	    /* every step has them */
};

/* Reads the events of trial @id. Yours: free ret->steps. */
int drill_progress_read(json_t *events, double id, struct drill_progress *ret);

/* Work a second (tokens, or steps when @tokens is false) over the @window
 * seconds before @t; each step counts evenly over its own duration. */
double drill_progress_rate(const struct drill_progress *p, bool fresh,
			   bool tokens, double t, double window);

/* The highest step done by @t; 0 when none is. */
long drill_progress_high(const struct drill_progress *p, double t);

#endif
