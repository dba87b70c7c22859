/* drill.h - one scenario run on one lab, from the lock to run.json
 * SPDX-License-Identifier: MIT
 */
#ifndef DRILL_DRILL_H
#define DRILL_DRILL_H

#include "plan.h"
#include "story.h"

#include <signal.h>

/* Where the drill is, for whoever shows it. Borrowed for the call. */
struct drill_progress {
	const char *phase; /* "lab", "probe"; of a trial "start", "connect",
			      "restore", "train", "revert" */
	const char *text;  /* a sentence, or NULL: only numbers changed */
	int trial, trials; /* from 1; 0: none yet */
	const char *role;
	int64_t step, steps; /* of the job; 0 unknown */
	int attempt;
	int armed, fired;
	double elapsed_s, expected_s; /* of the drill; expected 0: unknown */
};

struct drill_options {
	const struct drill_lab_ops *ops;
	const struct drill_lab_spec *lab;
	const struct drill_story *story; /* NULL: the default one */
	uint64_t seed;
	enum drill_risk allow;
	bool kmsg;	   /* Xid lines go to the kernel's own log, too */
	const char *out;   /* folder that gets runs; "runs" */
	const char *state; /* journals; NULL: the default place */
	const char *bin;   /* our programs */
	const char *repeat; /* the line that repeats the run */
	const char *operator_, *reason;
	json_t *subject;   /* {"version": "2.4"}; may be NULL */
	const char *direct; /* exec: our own program, which becomes the job's
			       command; no launcher; the output is ours; no
			       folder, all is in the result */
	const char *lab_why; /* which lab and what is then missing */
	void (*progress)(void *ctx, const struct drill_progress *p);
	void *ctx;
};

struct drill_result {
	enum drill_outcome outcome;
	char reason[512];
	int job_code;	/* of the last job: exit status, or -signal */
	int signum;	/* the user's signal that ended it; 0: none */
	json_t *run;	/* run.json; ours: drill_result_done */
	json_t *events; /* array */
	char dir[512];	/* the run's folder; "": none */
	bool deaf;	/* signals are held back: drill_result_hear */
	sigset_t mask;	/* what it was before */
};

/* Always fills @ret. A negative return is an error of ours, also told in it. */
int drill_run(const struct drill_spec *spec, const struct drill_options *o,
	      struct drill_result *ret, struct drill_err *err);
/* From the lab's end on SIGINT, SIGTERM and SIGHUP are held back, for the caller
 * has reports to write. This lets them through again; one that came meanwhile is
 * in signum. drill_result_done does it at the latest. */
void drill_result_hear(struct drill_result *r);
void drill_result_done(struct drill_result *r);

/* A drill that runs holds the lock of this name and its pid; in it stands
 * {"dir", "scenario", "detectors": [names]}, for `mark`. */
#define DRILL_RUNS "drill-"

/* Recomputes a run's numbers and verdicts from its events. */
int drill_remeasure(json_t *run, json_t *events, struct drill_err *err);

#endif
