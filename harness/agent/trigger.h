/* trigger.h - when one fault on one target fires, and how often it may
 * SPDX-License-Identifier: MIT
 *
 * No clock and no descriptor in here: it is told what happens and answers. A
 * point is what fires on its own: a step of a list, an index into the gaps of a
 * Poisson process, else 0. Its count outlives the attempts of the job.
 */
#ifndef DRILL_TRIGGER_H
#define DRILL_TRIGGER_H

#include "plan.h"

struct drill_trigger {
	const struct drill_at *at; /* borrowed */
	int64_t refire;
	int64_t seen;  /* events of the kind so far, in this attempt */
	int seen_attempt;
	struct drill_spent {
		int64_t point;
		int64_t count;
		int attempt; /* of the last time; 0: none */
	} *spent; /* ours */
	int n_spent;
};

void drill_trigger_init(struct drill_trigger *t, const struct drill_fault *f);
void drill_trigger_done(struct drill_trigger *t);

/* May this point still fire in this attempt? */
bool drill_trigger_may(const struct drill_trigger *t, int64_t point,
		       int attempt);
/* It has fired, here or on another host. */
void drill_trigger_spend(struct drill_trigger *t, int64_t point, int attempt);

/* The next step above @after at which it may fire, so that it can be held
 * there; 0: none, or not a trigger of steps. */
int64_t drill_trigger_next_step(const struct drill_trigger *t, int64_t after,
				int attempt);

/* Is @step one of its points, now? */
bool drill_trigger_step(const struct drill_trigger *t, int64_t step,
			int attempt);

/* An event, here or on another host. True: it fires, *ret_delay_ns after it. */
bool drill_trigger_event(struct drill_trigger *t, const json_t *event,
			 int attempt, int64_t *ret_delay_ns);

/* The gap before firing number @n (from 0) of a Poisson process; -1: no more. */
int64_t drill_trigger_gap(const struct drill_trigger *t, int64_t n);

#endif
