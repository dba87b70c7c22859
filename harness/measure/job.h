/* job.h - the running job while events are read: attempts, generations, steps
 * SPDX-License-Identifier: MIT
 */
#ifndef DRILL_MEASURE_JOB_H
#define DRILL_MEASURE_JOB_H

#include "field.h"
#include "model.h"

#define NEST_MAX 16

/* What is open on a slot. */
struct open_slot {
	struct {
		double from;
		enum phase phase;
	} nest[NEST_MAX];
	int depth, beyond; /* beyond: phases nested deeper than NEST_MAX */
	double since;	   /* start of the running leaf */
	double own_stop;   /* first init or restore after its last step event */
	int gen;	   /* of its last execution; -1 none */
	int64_t last_step; /* in that generation */
	bool step_open, dead;
};

struct job {
	struct trial *t;
	struct open_slot *slot; /* t->n, ours */
	int64_t attempt;	/* number of the current one */
	bool running, over;	/* an attempt is open; the final end was seen */
	int gen;		/* current, -1 none */
	size_t cells;		/* slots x generations so far */
};

/* Job events of the current attempt, in order of time. @slot -1: all slots. */
int job_attempt_begin(struct job *j, double at, int64_t number,
		      const char *reason, struct drill_err *err);
int job_attempt_end(struct job *j, double at, const char *reason,
		    struct drill_err *err);
int job_restored(struct job *j, double at, int slot, int64_t step,
		 struct drill_err *err);
int job_step_begin(struct job *j, double at, int slot, int64_t step,
		   const char *stage, struct drill_err *err);
int job_step_end(struct job *j, double at, int slot, int64_t step,
		 double tokens, struct drill_err *err);
int job_phase_begin(struct job *j, double at, int slot, enum phase phase,
		    struct drill_err *err);
int job_phase_end(struct job *j, double at, int slot, enum phase phase,
		  struct drill_err *err);
int job_life(struct job *j, const struct life *life, int slot,
	     struct drill_err *err);
/* The trial is over at @at: what is open stays open. */
int job_over(struct job *j, double at, struct drill_err *err);

#endif
