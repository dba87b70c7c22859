/* spec.h - a scenario as the engine knows it: plain C over a JSON object
 * SPDX-License-Identifier: MIT
 *
 * The object is what the Lua face makes of scenario { ... }; its fields are
 * spelt as in the scenario. Faults carry {name, injector, args, target, at,
 * duration, refire, follow, line}, triggers stand as in agent/plan.h except that
 * draws (every, poisson, pickers) are still to be made.
 */
#ifndef DRILL_SPEC_H
#define DRILL_SPEC_H

#include "harness/core/outcome.h"
#include "limit.h"
#include "workload.h"

enum drill_role { DRILL_BASELINE, DRILL_NULL, DRILL_FAULT_TRIAL, DRILL_ROLES };

const char *drill_role_name(enum drill_role r);

struct drill_spec_fault {
	const char *name;
	json_t *json; /* borrowed */
	const struct drill_injector *injector;
	int line;
};

struct drill_expect {
	json_t *triple; /* borrowed: [metric, op, limit, stat?] */
	const char *text; /* the metric as written */
	const struct drill_metric *metric;
	int fault;	/* index, -1: of the workload */
	int nth;	/* "flap[2]": 2; 0: the worst */
	struct drill_limit limit;
	const char *stat; /* NULL, "p50", "p90", "mean", "rate" */
};

struct drill_expect_list {
	struct drill_expect *v; /* ours */
	int n;
};

struct drill_need {
	char what[16];
	int least;
};

struct drill_spec {
	json_t *json; /* a reference of ours */
	const char *name, *file;
	json_t *lab;	  /* borrowed; may be NULL: auto */
	json_t *workload; /* the job under test; borrowed */
	const char *job;  /* its name */
	struct drill_spec_fault *faults; /* ours, in name order */
	int n_faults;
	int trials[DRILL_ROLES];
	int64_t deadline_ns; /* of one trial */
	bool has_risk;
	enum drill_risk risk; /* the ceiling */
	bool has_seed;
	uint64_t seed;
	bool has_run; /* tells a story of its own */
	bool run_starts; /* and starts the job itself */
	struct drill_expect_list expect, always, abort;
	struct drill_need needs[8];
	int n_needs;
};

/* Checks everything that can be checked without a lab. On -EINVAL @culprit is
 * the word the scenario's author should look for, or "". The spec is yours
 * also after an error: drill_spec_done. */
int drill_spec_read(json_t *scenario, struct drill_spec *ret, char culprit[64],
		    struct drill_err *err);
void drill_spec_done(struct drill_spec *spec);

/* One triple, as t:expect and t:eventually give it. */
int drill_expect_read(const struct drill_spec *spec, json_t *triple,
		      struct drill_expect *ret, char culprit[64],
		      struct drill_err *err);

/* "lost.detected", "job.steady": -EINVAL when there is no such instant. @fault is
 * -1 for the job's; @name borrows from @what. */
int drill_instant_check(const struct drill_spec *spec, const char *what,
			int *fault, const char **name, struct drill_err *err);

/* Does some fault need @what, "hook:cuda" say? */
bool drill_spec_needs(const struct drill_spec *spec, const char *what);

/* -1 when unknown. */
int drill_spec_fault_index(const struct drill_spec *spec, const char *name);

/* " (did you mean 'lost'?)" of the faults, and of the job if @job_too; "" where
 * nothing is near. Returns @buf. */
const char *drill_spec_nearest(const struct drill_spec *spec, const char *name,
			       bool job_too, char *buf, size_t size);

#endif
