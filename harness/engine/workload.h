/* workload.h - the kinds of job a scenario can put under test
 * SPDX-License-Identifier: MIT
 */
#ifndef DRILL_WORKLOAD_H
#define DRILL_WORKLOAD_H

#include "harness/core/param.h"
#include "harness/lab/lab.h"

/* What a workload tells of itself: which metrics it can supply. */
enum drill_supplies {
	DRILL_SUPPLIES_JOB = 1 << 0,   /* begins, ends, restarts: every job */
	DRILL_SUPPLIES_STEPS = 1 << 1, /* step and phase events */
	DRILL_SUPPLIES_STATE = 1 << 2, /* hashes of the final state */
	DRILL_SUPPLIES_LOSS = 1 << 3,
};

struct drill_workload_kind {
	const char *name; /* "train" */
	const char *doc;
	unsigned int supplies;
	const struct drill_param *params;
};

/* Ends with a NULL name. Borrowed, lives for ever. */
const struct drill_workload_kind *drill_workload_kinds(void);
const struct drill_workload_kind *drill_workload_kind(json_t *workload);
unsigned int drill_workload_supplies(json_t *workload);

/* 0 or -EINVAL; @culprit names the field at fault, or is "". */
int drill_workload_check(json_t *workload, char culprit[64],
			 struct drill_err *err);

int drill_workload_ranks(json_t *workload);
/* Training steps it will do, 0 unknown. */
int64_t drill_workload_steps(json_t *workload);
/* About how long one undisturbed run takes, start included; 0 unknown. */
double drill_workload_expected_s(json_t *workload);
/* The subject's named time-outs: "watchdog", "heartbeat". -1: none such. */
int64_t drill_workload_timeout_ns(json_t *workload, const char *name);

/* What the launcher gets: an argv that ends with NULL. Free with
 * drill_workload_argv_free. @dir is the trial's, @bin the folder of our
 * programs; @cuda puts the proxies in front of its devices. */
char **drill_workload_argv(json_t *workload, const struct drill_lab *lab,
			   const char *dir, const char *bin, bool cuda,
			   struct drill_err *err);
void drill_workload_argv_free(char **argv);

#endif
