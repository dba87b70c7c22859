/* plan.h - a scenario on a certain lab: targets drawn, triggers fixed, priced
 * SPDX-License-Identifier: MIT
 */
#ifndef DRILL_ENGINE_PLAN_H
#define DRILL_ENGINE_PLAN_H

#include "spec.h"

#include "harness/lab/lab.h"

enum drill_lasts {
	DRILL_LASTS_TIME,  /* the agent counts it, from effective */
	DRILL_LASTS_STEPS, /* these three we watch and then send revert */
	DRILL_LASTS_UNTIL,
	DRILL_LASTS_TRIAL,
};

struct drill_planned_fault {
	const struct drill_spec_fault *spec;
	json_t *fault; /* as plan.h of the agent wants it; ours */
	json_t *null;  /* the same place and time, but null.noop; ours */
	enum drill_lasts lasts;
	int64_t steps;
	const char *until; /* "two.resumed" */
	bool manual;	   /* only the story fires it */
	const char *after; /* "lost.resumed": an instant that no event names, so
			      that we watch for it and fire */
	int64_t after_ns;
	bool irreversible;
};

struct drill_plan_made {
	const struct drill_spec *spec;
	struct drill_planned_fault *faults; /* ours, one a fault of spec */
	int n;
	enum drill_risk risk; /* derived */
	json_t *draws; /* array of {stream, what, value}: for the record */
	json_t *where; /* host names where the ranks start, by rank */
	uint64_t seed;
	const char *skip; /* why this cannot run here; NULL: it can */
	char skip_text[200];
};

/* Devices of each host. A lab that says 0 has as many as ranks. */
int drill_plan_devices(const struct drill_spec *spec,
		       const struct drill_lab_spec *lab);
/* Those of them that ranks are placed on, from 0. */
int drill_plan_used_devices(const struct drill_spec *spec,
			    const struct drill_lab_spec *lab);

/* Where hosts are not up yet: h0, h1, ... as every lab names them. Yours:
 * free(). */
struct drill_lab_host *drill_plan_hosts(const struct drill_lab_spec *lab,
					int *ret_n);

/* -EINVAL for a rank, host or domain that does not exist: the text has file and
 * line. A picker that finds nothing, or needs that are not met, set skip. The
 * plan is yours also after an error: drill_plan_made_done. */
int drill_plan_make(const struct drill_spec *spec,
		    const struct drill_lab_spec *lab,
		    const struct drill_lab_host *hosts, int n_hosts,
		    uint64_t seed, struct drill_plan_made *ret,
		    struct drill_err *err);
void drill_plan_made_done(struct drill_plan_made *plan);

/* What `faultdrill plan` prints: yours. */
json_t *drill_plan_json(const struct drill_plan_made *plan,
			const struct drill_lab_spec *lab);

/* More may be hit than the operator allows? Names what and how to allow it. */
int drill_plan_allowed(const struct drill_plan_made *plan,
		       enum drill_risk allow, struct drill_err *err);

/* compose.c: refuses faults that cannot be in force on one device together. */
int drill_plan_compose(const struct drill_plan_made *p, int devices,
		       struct drill_err *err);

#endif
