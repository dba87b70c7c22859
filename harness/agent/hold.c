/* hold.c - a target is held at the very point of its trigger until its fault
 * is in force: in a collective, or before a call of the CUDA driver
 * SPDX-License-Identifier: MIT
 */
#include "agent.h"
#include "peers.h"

#include "injectors/device/cuda_calls.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How long a hold waits for the other ranks to enter the call. */
#define PEERS_NS INT64_C(1000000000)
/* How long a driver call waits for us, should we be dead. */
#define CALL_NS INT64_C(10000000000)

static bool is_at_call(const struct target *t)
{
	return t->trigger.at->on == DRILL_ON_CALL &&
	       !agent_in_process(t->fault->plan);
}

static bool is_at_collective(const struct target *t)
{
	return t->trigger.at->where != DRILL_WHERE_STEP;
}

void hold_take_off(struct agent *a, struct target *t)
{
	struct hold *h = &t->hold;

	if (h->armed && is_at_call(t) && a->deviced)
		drill_devices_disarm(&a->devices, &h->call, NULL);
	else if (h->armed && is_at_collective(t) && a->hooked)
		drill_hooks_disarm(&a->hooks, &h->collective, NULL);
	h->armed = false;
	h->since_ns = 0;
}

/* ---- at a call of the driver ---- */

/* A delay of one call, which ends as soon as it is taken off. */
static int order_call(struct agent *a, struct target *t, int attempt,
		      struct drill_device_fault *o, struct drill_err *err)
{
	const struct drill_at *at = t->trigger.at;
	int call = drill_cuda_call(at->call, err), rc;

	if (call < 0)
		return call;
	o->action = DRILL_DEVICE_DELAY;
	o->delay_ns = CALL_NS;
	o->count = 1;
	o->nth = at->nth;
	o->device = t->device;
	o->rank = t->rank;
	o->attempt = attempt;
	if (at->kernel)
		snprintf(o->kernel, sizeof(o->kernel), "%s", at->kernel);
	if (strcmp(at->call, "cuLaunchKernel")) /* it has many entries */
		o->call = 1 + (uint32_t)call;
	o->family = drill_cuda_call_any(at->call);
	rc = drill_devices_pick(&a->devices, &t->hold.call, err);
	return rc ? rc : drill_devices_arm_at(&a->devices, o, &t->hold.call,
					      err);
}

/* @attempt: the one in which it is to be met; 0: in any. */
static void arm_call(struct agent *a, struct target *t, int attempt)
{
	struct drill_device_fault *o = calloc(1, sizeof(*o));
	struct drill_err err = { 0 };

	hold_take_off(a, t);
	if (!o)
		abort();
	if (order_call(a, t, attempt, o, &err))
		agent_error(a, err.msg);
	else
		t->hold.armed = true;
	t->hold.attempt = attempt;
	free(o);
}

void hold_ready(struct agent *a, struct target *t)
{
	if (is_at_call(t))
		arm_call(a, t, 0);
}

void hold_again(struct agent *a, struct target *t)
{
	if (!is_at_call(t) || t->hold.since_ns < 0)
		return;
	if (drill_trigger_may(&t->trigger, 0, a->attempt + 1))
		arm_call(a, t, a->attempt + 1);
	else
		hold_take_off(a, t);
}

static void fire_at_call(struct agent *a, struct target *t,
			 const struct drill_device_fault *f)
{
	const struct drill_at *at = t->trigger.at;
	json_t *e = json_pack("{s:s,s:I,s:i}", "call",
			      drill_cuda_call_name(f->surfaced_call - 1),
			      "nth", (json_int_t)at->nth, "by_pid", f->by_pid);

	if (at->kernel)
		json_object_set_new(e, "kernel", json_string(at->kernel));
	t->hold.since_ns = -1;
	fault_fire(a, t, 0, f->surfaced_ns, e, NULL, true);
}

/* A process may call before we have seen it begin. */
static void poll_call(struct agent *a, struct target *t)
{
	struct drill_device_fault f;
	char text[200];

	if (!t->hold.armed || t->hold.since_ns < 0 ||
	    drill_devices_read(&a->devices, &t->hold.call, &f, NULL) ||
	    !f.surfaced_ns)
		return;
	if (fire_is_here(a, t)) {
		fire_at_call(a, t, &f);
	} else if (agent_now() - f.surfaced_ns > CALL_NS) {
		snprintf(text, sizeof(text), "%.60s was held at %.40s, and its "
			 "process (pid %d there) never said that it begins",
			 t->name, t->trigger.at->call, f.by_pid);
		hold_take_off(a, t);
		agent_error(a, text);
	}
}

/* ---- in a collective ---- */

/* The next one in which @t is to be held, on the hook's page. */
static void arm_collective(struct agent *a, struct target *t, struct rank *r)
{
	const struct drill_at *at = t->trigger.at;
	struct drill_hook_order o = { .action = DRILL_HOOK_HOLD,
				      .where = DRILL_HOOK_BEFORE + at->where -
					       DRILL_WHERE_BEFORE,
				      .rank = r->rank,
				      .slot = -1,
				      .attempt = r->attempt,
				      .nth = at->nth };
	struct hold *h = &t->hold;
	struct drill_err err = { 0 };
	int64_t step = drill_trigger_next_step(&t->trigger,
					       r->step ? r->step - 1 : 0,
					       r->attempt);

	if (h->armed && h->step == step)
		return;
	hold_take_off(a, t);
	if (!step)
		return;
	o.step = step;
	if (drill_word_parse(at->collective, &o.word, &err) < 0 ||
	    drill_hooks_arm(&a->hooks, &o, &h->collective, &err) < 0) {
		agent_error(a, err.msg);
		return;
	}
	h->armed = true;
	h->step = step;
}

static void fire_in_collective(struct agent *a, struct target *t,
			       const struct drill_hook_seen *s,
			       const struct drill_peers *p)
{
	bool before = s->order.where == DRILL_HOOK_BEFORE;
	json_t *e = json_pack("{s:s,s:s,s:I,s:I,s:b,s:b,s:i,s:i,s:i}",
			      "collective", t->trigger.at->collective, "where",
			      drill_hook_where_name(s->order.where), "step",
			      (json_int_t)t->hold.step, "call",
			      (json_int_t)s->at_call, "entered", !before,
			      "left", s->order.where == DRILL_HOOK_AFTER,
			      "peers_entered", p->entered, "peers_inside",
			      p->inside, "peers_seen", p->seen);

	fault_fire(a, t, t->hold.step, s->begin_ns, e, NULL, true);
}

static void poll_collective(struct agent *a, struct target *t)
{
	struct hold *h = &t->hold;
	struct drill_hook_seen s;
	struct drill_peers p;
	int64_t now = agent_now();
	struct rank *r;

	if (!h->armed || drill_hooks_read(&a->hooks, &h->collective, &s, NULL))
		return;
	if (s.state == DRILL_HOOK_EXPIRED || s.state == DRILL_HOOK_RELEASED) {
		hold_take_off(a, t);
		r = ranks_counting(a, t);
		if (r)
			arm_collective(a, t, r);
		return;
	}
	if (s.state != DRILL_HOOK_HELD || h->since_ns < 0)
		return;
	if (!h->since_ns)
		h->since_ns = now;
	drill_peers_look(a->plan.dir, s.by_rank, s.order.attempt, s.order.word,
			 s.at_call, &p);
	/* Peers that are still on their way get a moment to come in. */
	a->impatient = s.order.where == DRILL_HOOK_INSIDE &&
		       p.entered < p.seen && now - h->since_ns < PEERS_NS;
	if (a->impatient)
		return;
	h->since_ns = -1;
	fire_in_collective(a, t, &s, &p);
}

/* ---- in either ---- */

void hold_arm(struct agent *a, struct target *t, struct rank *r)
{
	if (is_at_collective(t))
		arm_collective(a, t, r);
	else if (is_at_call(t) && t->hold.since_ns >= 0 &&
		 drill_trigger_may(&t->trigger, 0, r->attempt) &&
		 t->hold.attempt && t->hold.attempt < r->attempt)
		arm_call(a, t, r->attempt);
}

void hold_poll(struct agent *a, struct target *t)
{
	if (is_at_collective(t))
		poll_collective(a, t);
	else if (is_at_call(t))
		poll_call(a, t);
}

bool hold_hinders(const struct target *t)
{
	const struct drill_injector *in = t->fault->plan->injector;

	return drill_injector_needs(in, "hook:cuda") ||
	       (drill_injector_needs(in, "hook:mpi") && !is_at_collective(t));
}

void hold_release(struct agent *a, struct target *t)
{
	if (!t->hold.armed)
		return;
	if (is_at_collective(t))
		drill_hooks_release(&a->hooks, &t->hold.collective, NULL);
	hold_take_off(a, t);
	hold_again(a, t);
}
