/* plan.h - the plan of a trial as the agent holds it: faults and their triggers
 * SPDX-License-Identifier: MIT
 *
 * "at" of a fault is an object whose "on" says which trigger it is:
 *
 *   {"on": "time", "ns": N}                 after plan.start: N ns
 *   {"on": "step", "steps": [37, 203]}      step.begin, held until in force
 *   {"on": "step", "steps": [120], "where": "before"|"inside"|"after",
 *    "collective": "allreduce", "nth": 1}   nth of that collective in the step
 *   {"on": "every", "from": a, "to": b, "steps": k, "draws": [bool, ...]}
 *                                           draws (optional): one a point
 *   {"on": "event", "kind": "checkpoint.writing", "nth": 1}
 *   {"on": "after", "of": "lost.restarted", "delay_ns": N}
 *   {"on": "same", "of": "lost"}            when that fault is issued
 *   {"on": "log", "file": PATH, "match": TEXT}   a line that contains TEXT
 *   {"on": "poisson", "gaps_ns": [N, ...]}  drawn by the controller, both shown
 *   {"on": "call", "call": "cuLaunchKernel", "nth": 1, "kernel": TEXT}
 *                                           in the process itself: its nth such
 *                                           call since the arming, of a kernel
 *                                           whose name contains TEXT (optional);
 *                                           held there if it is not the process
 *                                           in which the fault fires
 *   {"on": "manual"}                        by a `fire` message only
 *
 * "of" of `after` is FAULT.INSTANT with requested, issued, effective, reverted,
 * or an event kind that names the fault (detected, stopped, restarted, ...).
 * refire: "once" | "every_attempt" | {"times": n}; counted for each point (each
 * step of a list is one) and target, over all attempts of the job.
 * A device is named "HOST/gpuN". "devices" of the plan says how many software
 * devices a host has; 0: those of the real driver. "kmsg": true asks for Xid
 * lines in the machine's own kernel log, too.
 * follow: null | "rank" | "host" | "device". duration_ns: N or null; instead of it
 * duration_steps: N, counted on the target's rank.
 */
#ifndef DRILL_PLAN_H
#define DRILL_PLAN_H

#include "harness/core/err.h"
#include "injectors/injector.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum drill_on {
	DRILL_ON_TIME,
	DRILL_ON_STEP,
	DRILL_ON_EVERY,
	DRILL_ON_EVENT,
	DRILL_ON_AFTER,
	DRILL_ON_SAME,
	DRILL_ON_LOG,
	DRILL_ON_POISSON,
	DRILL_ON_MANUAL,
	DRILL_ON_CALL,
	DRILL_ON_N
};

enum drill_where {
	DRILL_WHERE_STEP, /* at the begin of the step */
	DRILL_WHERE_BEFORE,
	DRILL_WHERE_INSIDE,
	DRILL_WHERE_AFTER,
};

/* Strings and arrays are borrowed from the fault's JSON. */
struct drill_at {
	enum drill_on on;
	int64_t ns;	  /* TIME: since the plan starts; AFTER: delay */
	const json_t *list; /* STEP: steps; EVERY: draws; POISSON: gaps */
	int64_t from, to, every;
	enum drill_where where;
	const char *collective;
	int64_t nth;
	const char *kind; /* EVENT: kind; AFTER: instant; */
	const char *of;	  /* AFTER, SAME: fault; LOG: file */
	const char *match;
	const char *call, *kernel; /* CALL; kernel may be NULL */
};

struct drill_fault {
	json_t *json; /* ours; everything below borrows from it */
	const char *name;
	const struct drill_injector *injector;
	void *args; /* ours, parsed by the injector's table */
	enum drill_target_kind kind;
	const json_t *is; /* names or numbers */
	struct drill_at at;
	int64_t duration_ns; /* -1: until the story or the trial ends */
	int64_t duration_steps; /* 0: not counted in steps */
	int64_t refire;	     /* 1: once; 0: every attempt; n */
	const char *follow;  /* "", "rank", "host", "device" */
};

struct drill_plan {
	int64_t trial;
	char role[16];
	char dir[256];	  /* TRIALDIR/HOST */
	int ranks;
	int devices;	   /* of each host */
	bool kmsg;	   /* Xid lines to the kernel's own log, too */
	bool real_devices; /* those that the driver shows */
	struct drill_fault *faults; /* ours */
	int n;
};

/* Checks everything; the text names the fault and the field. The plan is
 * yours: drill_plan_done, also after an error. */
int drill_plan_read(json_t *msg, struct drill_plan *ret, struct drill_err *err);
void drill_plan_done(struct drill_plan *plan);

/* One fault, as in plan and probe messages. */
int drill_fault_read(json_t *obj, struct drill_fault *ret,
		     struct drill_err *err);
void drill_fault_done(struct drill_fault *f);

#endif
