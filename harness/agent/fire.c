/* fire.c - the faults of the plan, watched for their triggers
 * SPDX-License-Identifier: MIT
 */
#include "agent.h"

#include "faultdrill/progress.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_host_target(const struct agent *a, const struct drill_fault *f)
{
	const json_t *v;
	size_t i;

	if (json_is_string(f->is))
		return true;
	json_array_foreach(f->is, i, v)
		if (json_is_string(v) && !strcmp(json_string_value(v), a->host))
			return true;
	return false;
}

static struct target *add_target(struct agent *a, struct fault *f, int rank)
{
	struct target *t = &f->targets[f->n_targets++];

	t->fault = f;
	t->rank = rank;
	t->device = -1;
	t->tail = -1;
	if (rank >= 0)
		snprintf(t->name, sizeof(t->name), "rank %d", rank);
	else
		snprintf(t->name, sizeof(t->name), "host %.50s", a->host);
	drill_trigger_init(&t->trigger, f->plan);
	return t;
}

/* Those of "h1/gpu0" that are ours. */
static void add_devices(struct agent *a, struct fault *f)
{
	const char *name;
	struct target *t;
	const json_t *v;
	size_t i, n = strlen(a->host);
	int device;

	json_array_foreach(f->plan->is, i, v) {
		name = json_string_value(v);
		if (!name || strncmp(name, a->host, n) ||
		    sscanf(name + n, "/gpu%d", &device) != 1)
			continue;
		t = add_target(a, f, -1);
		t->device = device;
		snprintf(t->name, sizeof(t->name), "device %.50s", name);
	}
}

/* A rank may come to any host, so every agent has all of them. */
static void add_ranks(struct agent *a, struct fault *f)
{
	const json_t *v;
	size_t i;
	int r;

	if (json_is_string(f->plan->is))
		for (r = 0; r < a->plan.ranks; r++)
			add_target(a, f, r);
	else
		json_array_foreach(f->plan->is, i, v)
			if (json_is_integer(v))
				add_target(a, f, json_integer_value(v));
}

int fire_begin(struct agent *a, struct drill_err *err)
{
	struct fault *f;
	size_t n;
	int i;

	a->faults = calloc(a->plan.n + 1, sizeof(*a->faults));
	if (!a->faults)
		return drill_err_set(err, -ENOMEM, "agent", "out of memory");
	for (i = 0; i < a->plan.n; i++) {
		f = &a->faults[i];
		f->plan = &a->plan.faults[i];
		n = json_is_string(f->plan->is) ? (size_t)a->plan.ranks
						: json_array_size(f->plan->is);
		f->targets = calloc(n + 1, sizeof(*f->targets));
		if (!f->targets)
			return drill_err_set(err, -ENOMEM, "agent",
					     "out of memory");
		if (f->plan->kind == DRILL_TARGET_RANK)
			add_ranks(a, f);
		else if (f->plan->kind == DRILL_TARGET_DEVICE)
			add_devices(a, f);
		else if (is_host_target(a, f->plan))
			add_target(a, f, -1);
	}
	return 0;
}

static void each_target(struct agent *a,
			void (*fn)(struct agent *a, struct target *t))
{
	int i, k;

	for (i = 0; i < a->plan.n; i++)
		for (k = 0; k < a->faults[i].n_targets; k++)
			fn(a, &a->faults[i].targets[k]);
}

static void end_target(struct agent *a, struct target *t)
{
	hold_take_off(a, t);
	agent_timer_free(t->due);
	drill_trigger_done(&t->trigger);
}

void fire_end(struct agent *a)
{
	int i;

	if (!a->faults)
		return;
	each_target(a, end_target);
	for (i = 0; i < a->plan.n; i++)
		free(a->faults[i].targets);
	free(a->faults);
	a->faults = NULL;
}

bool fire_is_here(struct agent *a, const struct target *t)
{
	return t->rank < 0 || ranks_find(a, t->rank);
}

void fire_ready(struct agent *a)
{
	each_target(a, hold_ready);
}

/* ---- firing at a time ---- */

static void schedule_gap(struct agent *a, struct target *t);

static void on_due(uv_timer_t *timer)
{
	struct target *t = timer->data;
	struct agent *a = timer->loop->data;
	json_t *evidence = NULL;
	int64_t now = agent_now(), gap;

	if (t->trigger.at->on == DRILL_ON_POISSON) {
		gap = drill_trigger_gap(&t->trigger, t->due_point);
		evidence = json_pack("{s:f,s:f}", "drawn_gap_s", gap * 1e-9,
				     "achieved_gap_s",
				     (now - t->last_ns) * 1e-9);
		t->last_ns = now;
	}
	t->missed = !fire_is_here(a, t) && t->trigger.at->on == DRILL_ON_TIME;
	if (fire_is_here(a, t) &&
	    drill_trigger_may(&t->trigger, t->due_point, a->attempt))
		fault_fire(a, t, t->due_point, now, evidence, NULL, false);
	else
		json_decref(evidence);
	if (t->trigger.at->on == DRILL_ON_POISSON) {
		t->due_point++;
		schedule_gap(a, t);
	}
}

static void fire_in(struct agent *a, struct target *t, int64_t delay_ns)
{
	if (!t->due)
		t->due = agent_timer(a, t);
	uv_update_time(&a->loop);
	uv_timer_start(t->due, on_due, (delay_ns + 500000) / 1000000, 0);
}

static void schedule_gap(struct agent *a, struct target *t)
{
	int64_t gap = drill_trigger_gap(&t->trigger, t->due_point);

	if (gap >= 0)
		fire_in(a, t, gap);
}

/* Its trigger lies in the process, so it is armed as soon as there is one. */
static void arm_call(struct agent *a, struct target *t)
{
	if (drill_trigger_may(&t->trigger, 0, a->attempt))
		fault_fire(a, t, 0, agent_now(), NULL, NULL, false);
}

static void start_target(struct agent *a, struct target *t)
{
	t->last_ns = agent_now();
	if (agent_in_process(t->fault->plan) && t->rank < 0)
		arm_call(a, t);
	else if (t->trigger.at->on == DRILL_ON_TIME)
		fire_in(a, t, t->trigger.at->ns);
	else
		schedule_gap(a, t);
}

void fire_start(struct agent *a)
{
	if (a->started || !a->planned)
		return;
	a->started = true;
	each_target(a, start_target);
}

/* ---- firing at a step, held there ---- */

static void arm_ring(struct agent *a, struct rank *r)
{
	int64_t step, first = 0;
	struct target *t;
	int i, k;

	for (i = 0; i < a->plan.n; i++)
		for (k = 0; k < a->faults[i].n_targets; k++) {
			t = &a->faults[i].targets[k];
			if (t->trigger.at->where != DRILL_WHERE_STEP ||
			    (t->rank >= 0 && t->rank != r->rank))
				continue;
			step = drill_trigger_next_step(&t->trigger, r->step,
						       r->attempt);
			if (step && (!first || step < first))
				first = step;
		}
	if (r->ring && FAULTDRILL_LOAD(&r->ring->hold_step) != first)
		faultdrill_ring_arm(r->ring, first);
}

void fire_arm(struct agent *a, struct rank *r)
{
	if (a->faults && !a->stopping)
		arm_ring(a, r);
}

/* Its time came before its target did: it fires when that is there. */
static void fire_late(struct agent *a, struct target *t)
{
	t->missed = false;
	if (drill_trigger_may(&t->trigger, t->due_point, a->attempt))
		fault_fire(a, t, t->due_point, agent_now(), NULL, NULL, false);
}

void fire_rank_begin(struct agent *a, struct rank *r)
{
	struct target *t;
	int i, k;

	fire_arm(a, r);
	for (i = 0; i < a->plan.n; i++)
		for (k = 0; k < a->faults[i].n_targets; k++) {
			t = &a->faults[i].targets[k];
			if (ranks_counting(a, t) == r)
				hold_arm(a, t, r);
			if (t->rank == r->rank && t->active)
				fault_follow(a, t);
			if (t->rank == r->rank && t->missed)
				fire_late(a, t);
			if (t->rank == r->rank &&
			    agent_in_process(t->fault->plan))
				arm_call(a, t);
		}
}

void fire_step(struct agent *a, struct rank *r, int64_t step, int64_t t_ns)
{
	struct target *t;
	int i, k;

	for (i = 0; i < a->plan.n; i++)
		for (k = 0; k < a->faults[i].n_targets; k++) {
			t = &a->faults[i].targets[k];
			if (t->trigger.at->where == DRILL_WHERE_STEP &&
			    ranks_counting(a, t) == r &&
			    drill_trigger_step(&t->trigger, step, r->attempt))
				fault_fire(a, t, step, t_ns, NULL, r, false);
		}
}

/* ---- firing at a line of a log ---- */

static void poll_log(struct agent *a, struct target *t)
{
	const struct drill_at *at = t->trigger.at;
	char line[2048];
	FILE *f;

	if (at->on != DRILL_ON_LOG || !drill_trigger_may(&t->trigger, 0,
							 a->attempt))
		return;
	f = fopen(at->of, "re");
	if (!f)
		return;
	if (t->tail < 0) /* what was there before is not news */
		t->tail = a->started ? 0 : (fseek(f, 0, SEEK_END), ftell(f));
	fseek(f, t->tail, SEEK_SET);
	while (fgets(line, sizeof(line), f) && strchr(line, '\n')) {
		t->tail = ftell(f);
		if (!strstr(line, at->match) || !fire_is_here(a, t))
			continue;
		fault_fire(a, t, 0, agent_now(), NULL, NULL, false);
		break;
	}
	fclose(f);
}

static void poll_target(struct agent *a, struct target *t)
{
	hold_poll(a, t);
	poll_log(a, t);
}

/* A rank that waits at a step of which no fault is on its way goes on. */
static void let_go(struct agent *a, struct rank *r)
{
	struct instance *i;

	if (!r->ring || !faultdrill_ring_held(r->ring))
		return;
	for (i = a->instances; i; i = i->next)
		if (i->held == r)
			return;
	faultdrill_ring_release(r->ring);
	fire_arm(a, r);
}

void fire_poll(struct agent *a)
{
	struct rank *r;

	if (!a->faults || a->stopping)
		return;
	each_target(a, poll_target);
	for (r = a->ranks; r; r = r->next)
		let_go(a, r);
}

/* ---- firing at events and by hand ---- */

bool fire_listens(struct agent *a)
{
	int i;

	for (i = 0; i < a->plan.n; i++)
		switch (a->plan.faults[i].at.on) {
		case DRILL_ON_EVENT:
		case DRILL_ON_AFTER:
		case DRILL_ON_SAME:
		case DRILL_ON_LOG:
			return true;
		default:
			break;
		}
	return false;
}

/* Events of ranks are counted on the target's rank, or on the lowest here. */
static bool counts_for(struct agent *a, const struct target *t,
		       const json_t *event)
{
	const json_t *rank = json_object_get(event, "rank");
	const struct rank *r;

	if (!rank)
		return true;
	r = ranks_counting(a, t);
	return r && r->rank == json_integer_value(rank);
}

void fire_event(struct agent *a, json_t *event)
{
	struct target *t;
	int64_t delay;
	int i, k;

	if (!a->faults || a->stopping)
		return;
	for (i = 0; i < a->plan.n; i++)
		for (k = 0; k < a->faults[i].n_targets; k++) {
			t = &a->faults[i].targets[k];
			if (t->trigger.at->on == DRILL_ON_EVENT &&
			    !counts_for(a, t, event))
				continue;
			if (drill_trigger_event(&t->trigger, event, a->attempt,
						&delay))
				/* Through the loop: we may be deep in one. */
				fire_in(a, t, delay);
		}
}

void fire_manual(struct agent *a, const char *name)
{
	struct target *t;
	int i, k;

	for (i = 0; a->faults && i < a->plan.n; i++)
		for (k = 0; k < a->faults[i].n_targets; k++) {
			t = &a->faults[i].targets[k];
			if (strcmp(t->fault->plan->name, name))
				continue;
			/* It may be about to be started again, here or there. */
			t->missed = !fire_is_here(a, t);
			if (!t->missed)
				fault_fire(a, t, 0, agent_now(), NULL, NULL,
					   false);
		}
}

void fire_spent(struct agent *a, json_t *msg)
{
	const char *name = json_string_value(json_object_get(msg, "fault"));
	const char *on = json_string_value(json_object_get(msg, "target"));
	int64_t point = json_integer_value(json_object_get(msg, "point"));
	int attempt = json_integer_value(json_object_get(msg, "attempt"));
	struct target *t;
	int i, k;

	for (i = 0; a->faults && name && i < a->plan.n; i++)
		for (k = 0; k < a->faults[i].n_targets; k++) {
			t = &a->faults[i].targets[k];
			if (strcmp(t->fault->plan->name, name) ||
			    (on && strcmp(on, t->name)))
				continue;
			drill_trigger_spend(&t->trigger, point,
					    attempt ? attempt : a->attempt);
			t->fired++;
			t->missed = false;
			hold_again(a, t);
			t->active = !strcmp(t->fault->plan->follow, "rank");
			t->until_ns = t->fault->plan->duration_ns >= 0
					      ? agent_now() +
						t->fault->plan->duration_ns
					      : 0;
		}
}
