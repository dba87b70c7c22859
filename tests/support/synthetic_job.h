/* synthetic_job.h - a job with random known delays, and what it truly cost
 * SPDX-License-Identifier: MIT
 *
 * The truth is summed while the job is made up, from the delays that were
 * drawn, never from its events: so measuring can be proven against it.
 */
#ifndef DRILL_TEST_SYNTHETIC_JOB_H
#define DRILL_TEST_SYNTHETIC_JOB_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#define SYNTHETIC_INCIDENTS 4
#define SYNTHETIC_CATS 8

enum synthetic_kind {
	SYNTHETIC_KILL,	  /* detected, stopped, restarted from a checkpoint */
	SYNTHETIC_HANG,	  /* the same, never detected */
	SYNTHETIC_SLOW,	  /* steps take longer for a while */
	SYNTHETIC_DATA,	  /* data comes late for a while */
	SYNTHETIC_STORE,  /* one checkpoint blocks longer */
	SYNTHETIC_SHRINK, /* recovery inside the job, one rank fewer; last */
};

struct synthetic_incident {
	enum synthetic_kind kind;
	char fault[16];
	/* NAN: there is none */
	double effective, detected, stopped, restarted, restored, resumed;
	double caught_up, steady, reverted;
	double lost; /* rank-seconds */
};

struct synthetic_job {
	json_t *events; /* yours */
	int ranks;
	double step_s;
	double wall;	/* of trial 1 */
	/* in the order of the ledger: useful checkpoint data stalled redone
	 * restart degraded idle */
	double ledger[SYNTHETIC_CATS];
	double drift, lost;
	struct synthetic_incident incident[SYNTHETIC_INCIDENTS];
	int incidents;
};

/* Trial 0 is a baseline, trial 1 the same job with random faults. With
 * @jitter every step is up to 0.5% faster or slower, and no fault is gray. */
void synthetic_job(uint64_t seed, bool jitter, struct synthetic_job *ret);

/* A healthy job, as events of @trials trials (the first the baseline): for
 * measuring how fast measuring is. Yours. */
json_t *synthetic_large(int trials, int ranks, int steps);

#endif
