/* fault.c - the life of one fault: requested, issued, effective, reverted
 * SPDX-License-Identifier: MIT
 */
#include "agent.h"
#include "heal.h"
#include "journal_file.h"
#include "process.h"

#include "faultdrill/progress.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BITE_NS INT64_C(10000000000)	/* longest wait for the effect */
#define READY_NS INT64_C(10000000000)	/* and for a hook that says hello */
#define FIRES_NS INT64_C(20000000)	/* between looks for what fires by itself */
#define LOOK_AGAIN_NS INT64_C(2000000000) /* between readings while in force */

static const struct drill_injector *injector(const struct instance *i)
{
	return i->target->fault->plan->injector;
}

static const char *name(const struct instance *i)
{
	return i->target->fault->plan->name;
}

static json_t *new_event(const struct instance *i, const char *kind,
			 int64_t t_ns, int64_t u_ns)
{
	json_t *e = json_pack("{s:s,s:I,s:I,s:i,s:s,s:s}", "kind", kind, "h_ns",
			      (json_int_t)t_ns, "u_ns", (json_int_t)u_ns,
			      "attempt", i->attempt, "fault", name(i), "target",
			      i->target->name);

	/* Who blames the device of a rank blames the right part. */
	if (e && i->where.device >= 0 &&
	    !strncmp(injector(i)->name, "device.", 7))
		json_object_set_new(e, "device",
				    json_integer(i->where.device));
	if (e && i->rank >= 0) {
		json_object_set_new(e, "rank", json_integer(i->rank));
		json_object_set_new(e, "slot", json_integer(i->slot));
	}
	return e;
}

static void boundary(struct agent *a, const char *where)
{
	if (a->opts->boundary)
		a->opts->boundary(where);
}

/* ---- its end ---- */

static void unlink_instance(struct agent *a, struct instance *i)
{
	struct instance **p = &a->instances;

	while (*p && *p != i)
		p = &(*p)->next;
	if (*p)
		*p = i->next;
}

static void release(struct agent *a, struct instance *i)
{
	struct rank *r = i->held;

	i->held = NULL;
	if (r && r->ring && faultdrill_ring_held(r->ring))
		faultdrill_ring_release(r->ring);
	if (r)
		fire_arm(a, r);
	if (i->hook_held)
		hold_release(a, i->target);
	i->hook_held = false;
}

static void free_instance(struct agent *a, struct instance *i)
{
	unlink_instance(a, i);
	release(a, i);
	agent_timer_free(i->timer);
	json_decref(i->evidence);
	free(i);
}

/* It went out of force between @begin_ns and now. */
static void tell_reverted(struct agent *a, struct instance *i, int64_t begin_ns,
			  const char *state, const char *reason)
{
	int64_t end_ns = agent_now(), now = begin_ns + (end_ns - begin_ns) / 2;
	json_t *e = new_event(i, "fault.reverted", now,
			      (end_ns - begin_ns + 1) / 2);
	json_t *evidence;

	evidence = json_pack("{s:b,s:f}", "held_throughout", !i->lost_ns,
			     "in_force_s",
			     ((i->lost_ns ? i->lost_ns : now) -
			      i->effective_ns) * 1e-9);
	json_object_set_new(evidence, "target",
			    json_string(i->where.process.pid &&
						drill_process_start(
						    i->where.process.pid) !=
						    i->where.process.start
					    ? "gone"
					    : "same"));
	json_object_set_new(e, "evidence", evidence);
	json_object_set_new(e, "state", json_string(state));
	if (reason[0])
		json_object_set_new(e, "reason", json_string(reason));
	agent_event(a, e);
}

static void tell_state(struct agent *a, struct instance *i, const char *state,
		       const char *reason)
{
	agent_send(a, json_pack("{s:s,s:s,s:s,s:s,s:s}", "kind", "reverted",
				"fault", name(i), "target", i->target->name,
				"state", state, "reason", reason));
}

/* Takes it off and forgets it. Told only when it had been in force. */
static int take_off(struct agent *a, struct instance *i)
{
	struct drill_err err = { 0 };
	bool told = i->state == IN_FORCE;
	int64_t begin_ns = agent_now();
	int rc;

	drill_lease_renew(a->journal->lease);
	rc = i->record ? drill_revert_record(i->record, &err) : 0;
	if (rc == -ESTALE) /* fenced: the one who took over tells */
		_exit(3);
	if (rc < 0)
		a->dirty++;
	if (told)
		tell_reverted(a, i, begin_ns, rc < 0 ? "dirty" : "clean", err.msg);
	if (told || rc < 0)
		tell_state(a, i, rc < 0 ? "dirty" : "clean", err.msg);
	free_instance(a, i);
	return rc;
}

static void failed(struct agent *a, struct instance *i, const char *reason)
{
	agent_send(a, json_pack("{s:s,s:s,s:s,s:s}", "kind", "failed", "fault",
				name(i), "target", i->target->name, "reason",
				reason));
	if (i->record)
		take_off(a, i);
	else
		free_instance(a, i);
}

/* ---- in force ---- */

static void on_timer(uv_timer_t *timer);

static void wake_in(struct instance *i, int64_t ns)
{
	uv_update_time(&i->agent->loop);
	uv_timer_start(i->timer, on_timer, ns <= 0 ? 0 : (ns + 999999) / 1000000,
		       0);
}

static void wait_for_end(struct agent *a, struct instance *i)
{
	struct target *t = i->target;
	int64_t left = LOOK_AGAIN_NS, now = agent_now();

	(void)a;
	if (t->until_ns && t->until_ns - now < left)
		left = t->until_ns - now;
	wake_in(i, left);
}

static void in_force(struct agent *a, struct instance *i, int64_t t_ns,
		     int64_t u_ns)
{
	struct drill_fault *f = i->target->fault->plan;
	json_t *e = new_event(i, "fault.effective", t_ns, u_ns);

	i->state = IN_FORCE;
	i->effective_ns = t_ns;
	/* Time counts from the effect, not from the act. One that follows its
	 * target goes on with what was left. */
	if (f->duration_ns >= 0 && !i->target->until_ns)
		i->target->until_ns = t_ns + f->duration_ns;
	if (f->duration_steps && i->rank >= 0) {
		struct rank *r = ranks_find(a, i->rank);

		i->end_step = (r ? r->step : 0) + f->duration_steps;
	}
	json_object_set(e, "evidence", i->evidence);
	agent_event(a, e);
	boundary(a, "hold");
	release(a, i);
	if (injector(i)->survives == DRILL_SURVIVES_NOTHING) {
		drill_record_end(i->record, DRILL_RECORD_CLOSED, "irreversible",
				 NULL);
		/* One act: it was over as soon as it had happened. */
		e = new_event(i, "fault.reverted", t_ns, u_ns);
		json_object_set_new(e, "state", json_string("irreversible"));
		agent_event(a, e);
		tell_state(a, i, "irreversible", "");
		i->target->until_ns = 0;
		free_instance(a, i);
		return;
	}
	i->target->active = f->follow[0] != 0;
	wait_for_end(a, i);
}

/* What fires by itself in a process says so in its page, and what is there for
 * whoever asks, that nobody has. */
static bool is_armed(const struct instance *i)
{
	const char *state = json_string_value(json_object_get(
		json_object_get(i->evidence, "read_back"), "state"));

	return (state && !strcmp(state, "armed")) ||
	       json_is_false(json_object_get(i->evidence, "met"));
}

/* A reading. The effect lies in the bracket of the act if the first reading
 * shows it, else between the last reading without and the first with it. */
static bool bites(struct agent *a, struct instance *i, struct drill_err *err)
{
	struct drill_act act = fault_act(i, i->evidence);
	int64_t begin = agent_now(), from, to;

	if (injector(i)->verify(&act, err) <= 0)
		return false;
	from = act.before_ns   ? act.before_ns
	       : i->last_no_ns ? i->last_no_ns
			       : i->before_ns;
	to = act.before_ns ? act.after_ns
	     : i->last_no_ns ? begin
			     : i->after_ns;
	in_force(a, i, from + (to - from) / 2, (to - from + 1) / 2);
	return true;
}

static void look(struct agent *a, struct instance *i)
{
	struct drill_err err = { 0 };
	int64_t begin = agent_now();

	if (bites(a, i, &err))
		return;
	i->last_no_ns = begin;
	if (hold_hinders(i->target))
		release(a, i);
	i->armed = is_armed(i);
	if (i->armed && !a->stopping) {
		i->after_ns = begin; /* its time to bite begins when it is met */
		wake_in(i, FIRES_NS);
		return;
	}
	if (begin - i->after_ns < BITE_NS && !a->stopping) {
		wake_in(i, 1000000);
		return;
	}
	failed(a, i, err.code ? err.msg : "it has no effect");
}

/* Still in force? A target that died took the effect with it. */
static void look_again(struct agent *a, struct instance *i)
{
	json_t *evidence = json_object();
	struct drill_act act = fault_act(i, evidence);
	int rc = injector(i)->verify(&act, NULL);

	json_decref(evidence);
	if (rc == 0 && !i->lost_ns)
		i->lost_ns = agent_now();
	wait_for_end(a, i);
}

static void go(struct agent *a, struct instance *i);

static void on_timer(uv_timer_t *timer)
{
	struct instance *i = timer->data;
	struct agent *a = i->agent;
	struct target *t = i->target;

	if (i->state == WAITING) {
		fault_resolve(a, t, &i->where);
		go(a, i);
	} else if (i->state == BITING) {
		look(a, i);
	} else if (t->until_ns && agent_now() >= t->until_ns) {
		t->active = false;
		t->until_ns = 0;
		take_off(a, i);
	} else {
		look_again(a, i);
	}
}

/* ---- its beginning ---- */

static int open_record(struct agent *a, struct instance *i,
		       struct drill_err *err)
{
	const struct drill_clock *c = drill_clock_system();
	struct drill_fault *f = i->target->fault->plan;
	struct drill_record_info info = {
		.kind = injector(i)->name,
		.fault = f->name,
		.target = i->target->name,
		.process = i->where.process,
		.survives = injector(i)->survives,
	};

	if (f->duration_ns >= 0)
		info.deadline_boot_ns = c->boot_ns(c->ctx) + BITE_NS +
					f->duration_ns;
	return drill_record_new(a->journal, &info, &i->record, err);
}

static int act(struct agent *a, struct instance *i, struct drill_err *err)
{
	struct drill_act act;
	int rc;

	act = fault_act(i, i->evidence);
	rc = injector(i)->probe(&act, err);
	if (rc == 0)
		rc = open_record(a, i, err);
	if (rc < 0)
		return rc;
	act = fault_act(i, i->evidence);
	rc = injector(i)->apply(&act, err);
	boundary(a, "apply");
	if (rc == -ESTALE)
		_exit(3);
	i->before_ns = act.before_ns ? act.before_ns : agent_now();
	i->after_ns = act.after_ns ? act.after_ns : i->before_ns;
	return rc;
}

static struct instance *new_instance(struct agent *a, struct target *t,
				     json_t *evidence)
{
	struct instance *i = calloc(1, sizeof(*i));
	struct rank *r = ranks_counting(a, t);

	if (!i)
		abort();
	i->agent = a;
	i->target = t;
	i->evidence = evidence ? evidence : json_object();
	i->attempt = r ? r->attempt : a->attempt;
	i->rank = t->rank;
	i->in_call = agent_in_process(t->fault->plan);
	i->base_step_ns = r ? ranks_usual_step(r) : 0;
	i->slot = r && t->rank >= 0 ? r->slot : -1;
	i->timer = agent_timer(a, i);
	i->next = a->instances;
	a->instances = i;
	fault_resolve(a, t, &i->where);
	return i;
}

static void tell_fired(struct agent *a, const struct instance *i, int64_t point)
{
	agent_send(a, json_pack("{s:s,s:s,s:s,s:I,s:i,s:I}", "kind", "fired",
				"fault", name(i), "target", i->target->name,
				"point", (json_int_t)point, "attempt",
				i->attempt, "count",
				(json_int_t)++i->target->fault->count));
}

/* A hook says hello some time after its process has begun. What is held does
 * not wait: it is past that. */
static bool not_yet(struct agent *a, struct instance *i, int rc)
{
	int64_t now = agent_now();

	if (rc != -EAGAIN || i->record || i->held || i->hook_held ||
	    a->stopping)
		return false;
	if (!i->asked_ns)
		i->asked_ns = now;
	return now - i->asked_ns < READY_NS;
}

/* What it was to act in never came. */
static void never_ready(struct agent *a, struct instance *i)
{
	char text[300];

	if (drill_injector_needs(injector(i), "hook:cuda"))
		snprintf(text, sizeof(text), "no process of %.60s has opened "
			 "the CUDA driver through the proxy", i->target->name);
	else
		snprintf(text, sizeof(text), "its target never became ready: "
			 "the hook has not said hello");
	failed(a, i, text);
}

/* From the record to the first reading. */
static void go(struct agent *a, struct instance *i)
{
	struct drill_err err = { 0 };
	int rc = act(a, i, &err);

	if (not_yet(a, i, rc)) {
		i->state = WAITING;
		wake_in(i, 2000000);
		return;
	}
	i->state = BITING;
	if (rc == -ESRCH && i->asked_ns) { /* it ended while we waited */
		never_ready(a, i);
		return;
	}
	if (rc < 0) {
		failed(a, i, err.msg);
		return;
	}
	agent_event(a, new_event(i, "fault.issued", i->before_ns, 0));
	look(a, i);
}

void fault_fire(struct agent *a, struct target *t, int64_t point,
		int64_t requested_ns, json_t *evidence, struct rank *held,
		bool hook_held)
{
	struct instance *i = new_instance(a, t, evidence);
	json_t *e, *args;

	i->held = held;
	i->hook_held = hook_held;
	drill_trigger_spend(&t->trigger, point, i->attempt);
	t->fired++;
	e = new_event(i, "fault.requested", requested_ns, 0);
	json_object_set_new(e, "injector", json_string(injector(i)->name));
	args = json_object_get(t->fault->plan->json, "args");
	json_object_set_new(e, "class", json_string(drill_class_name(
				    drill_injector_class(injector(i), args))));
	json_object_set_new(e, "fidelity", json_string(drill_fidelity_name(
				    drill_injector_fidelity(injector(i),
							    args))));
	agent_event(a, e);
	tell_fired(a, i, point);
	if (a->stopping)
		failed(a, i, "the agent is stopping");
	else
		go(a, i);
}

static bool in_force_at(struct agent *a, const struct target *t, int attempt)
{
	struct instance *i;

	for (i = a->instances; i; i = i->next)
		if (i->target == t && i->attempt == attempt)
			return true;
	return false;
}

void fault_follow(struct agent *a, struct target *t)
{
	struct instance *i;
	struct rank *r = ranks_counting(a, t);

	if (a->stopping || !r || in_force_at(a, t, r->attempt) ||
	    (t->until_ns && agent_now() >= t->until_ns))
		return;
	/* What was in force on the process before goes with it. */
	for (i = a->instances; i && i->target != t; i = i->next)
		;
	if (i)
		take_off(a, i);
	t->active = true;
	go(a, new_instance(a, t, NULL));
}

int fault_over(struct agent *a, struct instance *i)
{
	i->target->active = false;
	i->target->until_ns = 0;
	return take_off(a, i);
}

static void pace(struct instance *i, const struct rank *r)
{
	json_t *evidence = json_object();
	struct drill_act act = fault_act(i, evidence);

	injector(i)->pace(&act, i->base_step_ns, r->step_ns);
	json_decref(evidence);
}

void fault_step(struct agent *a, struct rank *r, int64_t step)
{
	struct instance *i, *next;

	for (i = a->instances; i; i = next) {
		next = i->next;
		if (i->state == IN_FORCE && injector(i)->pace &&
		    ranks_counting(a, i->target) == r && r->step_ns)
			pace(i, r);
		if (i->end_step && i->rank == r->rank && step >= i->end_step &&
		    i->state == IN_FORCE)
			fault_over(a, i);
	}
}

void fault_woken(struct agent *a)
{
	struct instance *i, *next;

	for (i = a->instances; i; i = next) {
		next = i->next;
		if (i->state == BITING && i->armed)
			look(a, i);
	}
}

static void never_met(struct agent *a, struct instance *i)
{
	const struct drill_fault *f = i->target->fault->plan;
	const char *call = f->at.call, *kernel = f->at.kernel;
	char text[300];

	if (!i->in_call || !call)
		snprintf(text, sizeof(text), "armed on host %.40s, and no call "
			 "of %.60s met it there", a->host, i->target->name);
	else if (kernel && kernel[0])
		snprintf(text, sizeof(text), "it waits for launch %lld of a "
			 "kernel with '%.60s' in its name, and %.60s never came "
			 "to it", (long long)f->at.nth, kernel,
			 i->target->name);
	else
		snprintf(text, sizeof(text), "it waits for call %lld of %.60s, "
			 "and %.60s never came to it", (long long)f->at.nth,
			 call, i->target->name);
	failed(a, i, text);
}

/* What it did may lie behind the last reading, in a program that has ended
 * since: before it is taken off one more is due. */
static int end_bite(struct agent *a, struct instance *i)
{
	bool gone = injector(i)->survives == DRILL_SURVIVES_NOTHING;

	if (bites(a, i, NULL))
		return gone ? 0 : take_off(a, i);
	if (!is_armed(i))
		return take_off(a, i);
	never_met(a, i);
	return 0;
}

int fault_revert(struct agent *a, const char *fault)
{
	struct instance *i, *next;
	int dirty = 0;

	devices_drain(a); /* nobody may have woken us for the last lines */
	for (i = a->instances; i; i = next) {
		next = i->next;
		if (fault && strcmp(name(i), fault))
			continue;
		i->target->active = false;
		i->target->until_ns = 0;
		if (i->state == WAITING)
			never_ready(a, i);
		else if (i->state == BITING)
			dirty += end_bite(a, i) < 0;
		else
			dirty += take_off(a, i) < 0;
	}
	return dirty;
}
