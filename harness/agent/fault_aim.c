/* fault_aim.c - what a fault's target is on this host, now
 * SPDX-License-Identifier: MIT
 */
#include "agent.h"
#include "process.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool agent_in_process(const struct drill_fault *f)
{
	return f->at.on == DRILL_ON_CALL &&
	       drill_injector_needs(f->injector, "hook:cuda") &&
	       (!f->injector->meets ||
		f->injector->meets(f->args, f->at.call));
}

void fault_resolve(struct agent *a, const struct target *t,
		   struct drill_target *ret)
{
	struct rank *r = t->rank >= 0 ? ranks_find(a, t->rank) : NULL;

	memset(ret, 0, sizeof(*ret));
	ret->kind = t->rank >= 0     ? DRILL_TARGET_RANK
		    : t->device >= 0 ? DRILL_TARGET_DEVICE
				     : DRILL_TARGET_HOST;
	ret->rank = t->rank;
	ret->device = t->device;
	ret->process.pidfd = -1;
	if (r && r->process.pid) {
		ret->process = r->process;
		ret->process.pidfd = -1; /* the rank keeps its own */
		ret->device = devices_of(a, r->process.pid);
	}
	/* Whoever uses the device feels it, and the log names him. */
	if (t->device >= 0 && (r = devices_user(a, t->device)))
		ret->process = r->process;
	ret->process.pidfd = -1;
	snprintf(ret->name, sizeof(ret->name), "%s", t->name);
	snprintf(ret->cgroup, sizeof(ret->cgroup), "%s", a->cgroup);
	snprintf(ret->dir, sizeof(ret->dir), "%s", a->plan.dir);
	if (a->hooked)
		snprintf(ret->hooks, sizeof(ret->hooks), "%.240s/hooks.page",
			 a->plan.dir);
	if (a->deviced)
		snprintf(ret->devices, sizeof(ret->devices),
			 "%.240s/devices.page", a->plan.dir);
	if (!strcmp(t->fault->plan->follow, "host"))
		ret->rank = ret->device = -1; /* whoever is there */
}

struct drill_act fault_act(const struct instance *i, json_t *evidence)
{
	const struct drill_fault *f = i->target->fault->plan;
	bool lasts = f->follow[0] && strcmp(f->follow, "rank");

	return (struct drill_act){ .args = f->args,
				   .target = &i->where,
				   .record = i->record,
				   .evidence = evidence,
				   .clock = drill_clock_system(),
				   .attempt = lasts ? 0 : i->attempt,
				   .call = i->in_call ? f->at.call : NULL,
				   .kernel = i->in_call ? f->at.kernel : NULL,
				   .nth = i->in_call ? f->at.nth : 0 };
}

/* Before the job runs there is no rank to look at: any process of ours tells
 * whether such a thing could be done here. */
int fault_probe(struct agent *a, struct drill_fault *f, struct drill_err *err)
{
	struct drill_target where = { .kind = f->kind, .rank = -1,
				      .device = -1 };
	struct drill_act act = { .args = f->args,
				 .target = &where,
				 .clock = drill_clock_system() };
	int rc = 0;

	if (f->injector->missing)
		return drill_err_set(err, -EOPNOTSUPP, f->injector->name, "%s",
				     f->injector->missing);
	where.process.pidfd = -1;
	if (f->kind == DRILL_TARGET_RANK)
		rc = drill_process_open(getpid(), &where.process, err);
	snprintf(where.name, sizeof(where.name), "%s",
		 f->kind == DRILL_TARGET_RANK ? "a rank" : a->host);
	snprintf(where.cgroup, sizeof(where.cgroup), "%s", a->cgroup);
	snprintf(where.dir, sizeof(where.dir), "%s",
		 a->planned ? a->plan.dir : a->state);
	act.evidence = json_object();
	if (rc == 0)
		rc = f->injector->probe(&act, err);
	json_decref(act.evidence);
	drill_process_close(&where.process);
	return rc;
}
