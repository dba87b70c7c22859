/* job.c - the running job while events are read: attempts, generations, steps
 * SPDX-License-Identifier: MIT
 */
#include "job.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Hostile input must not cost more than this many slot x generation cells. */
#define CELLS_MAX ((size_t)1 << 26)

static int no_memory(struct drill_err *err)
{
	return drill_err_set(err, -ENOMEM, MEASURE_WHO, "no memory");
}

static struct exec *last_exec(struct slot *s)
{
	return s->exec.n ? &s->exec.v[s->exec.n - 1] : NULL;
}

/* Ends the running leaf of a slot at @at; the phase stays open. */
static int cut_leaf(struct job *j, int slot, double at, struct drill_err *err)
{
	struct open_slot *o = &j->slot[slot];
	struct leaf *l;

	if (o->depth && at > o->since) {
		l = VEC_PUSH(&j->t->slot[slot].leaf);
		if (!l)
			return no_memory(err);
		l->from = o->since;
		l->to = at;
		l->phase = o->nest[o->depth - 1].phase;
	}
	o->since = at;
	return 0;
}

/* A log says when steps end, not when they begin: what follows the last line
 * is the next step, unfinished. */
static int add_unseen_step(struct job *j, int slot, struct drill_err *err)
{
	struct open_slot *o = &j->slot[slot];
	struct exec *last = last_exec(&j->t->slot[slot]);

	if (!j->t->log || !last || o->gen != j->gen || o->step_open)
		return 0;
	return job_step_begin(j, last->end, slot, o->last_step + 1, NULL, err);
}

static int settle_slots(struct job *j, double at, bool ends, bool done,
			struct drill_err *err)
{
	int s, r;

	for (s = 0; s < j->t->n; s++) {
		r = cut_leaf(j, s, at, err);
		if (!r && !done)
			r = add_unseen_step(j, s, err);
		if (r)
			return r;
		if (ends)
			j->slot[s].depth = j->slot[s].beyond = 0;
	}
	return 0;
}

/* Inside the job each survivor stops at its own time, the job at the last. */
static int stop_slots(struct job *j, struct gen *g, double at,
		      struct drill_err *err)
{
	double job_stop = -INFINITY, own;
	int s;

	g->slot_stop = calloc(j->t->n, sizeof(double));
	if (!g->slot_stop)
		return no_memory(err);
	for (s = 0; s < j->t->n; s++) {
		struct open_slot *o = &j->slot[s];

		g->slot_stop[s] = NAN;
		if (o->gen != j->gen || o->dead)
			continue;
		own = isnan(o->own_stop) || o->own_stop > at ? at : o->own_stop;
		g->slot_stop[s] = own;
		job_stop = fmax(job_stop, own);
	}
	g->stop = isfinite(job_stop) ? job_stop : at;
	for (s = 0; s < j->t->n; s++)
		if (isnan(g->slot_stop[s]))
			g->slot_stop[s] = g->stop;
	return 0;
}

static int close_gen(struct job *j, double at, enum closing closing,
		     struct drill_err *err)
{
	struct gen *g;
	int r;

	if (j->gen < 0)
		return 0;
	r = settle_slots(j, at, closing != CLOSE_IN_JOB, closing == CLOSE_DONE,
			 err);
	if (r)
		return r;
	g = &j->t->gen.v[j->gen];
	g->closing = closing;
	g->stop = at;
	return closing == CLOSE_IN_JOB ? stop_slots(j, g, at, err) : 0;
}

static int open_gen(struct job *j, double at, struct drill_err *err)
{
	struct gen *g;

	j->cells += j->t->n;
	if (j->cells > CELLS_MAX)
		return drill_err_set(err, -E2BIG, MEASURE_WHO,
				     "trial %d: too many restarts to account "
				     "for", j->t->id);
	g = VEC_PUSH(&j->t->gen);
	if (!g)
		return no_memory(err);
	j->gen = (int)j->t->gen.n - 1;
	g->open = at;
	g->stop = g->first_begin = g->restored = g->broken_from = NAN;
	g->restore_step = g->resume_step = -1;
	g->attempt = (int)j->t->attempt.n - 1;
	return 0;
}

static int reopen_gen(struct job *j, double at, struct drill_err *err)
{
	int r = close_gen(j, at, CLOSE_IN_JOB, err);

	return r ? r : open_gen(j, at, err);
}

static void end_attempt(struct job *j, double at, const char *reason)
{
	struct attempt *a = &j->t->attempt.v[j->t->attempt.n - 1];

	a->to = at;
	a->reason = reason;
	j->running = false;
}

int job_attempt_begin(struct job *j, double at, int64_t number,
		      const char *reason, struct drill_err *err)
{
	struct attempt *a;
	int s, r = 0;

	(void)reason;
	if (j->over || (j->t->attempt.n && number <= j->attempt)) {
		j->t->late++;
		return 0;
	}
	if (j->running) {
		r = close_gen(j, at, CLOSE_ATTEMPT, err);
		end_attempt(j, at, "unknown");
	} else if (isnan(j->t->j0)) {
		j->t->j0 = at;
	}
	a = r ? NULL : VEC_PUSH(&j->t->attempt);
	if (!a)
		return r ? r : no_memory(err);
	a->from = at;
	a->to = NAN;
	a->number = (int)number;
	j->attempt = number;
	j->running = true;
	j->t->attempts++;
	for (s = 0; s < j->t->n; s++) {
		j->slot[s].dead = j->slot[s].step_open = false;
		j->slot[s].gen = -1;
	}
	return open_gen(j, at, err);
}

int job_attempt_end(struct job *j, double at, const char *reason,
		    struct drill_err *err)
{
	bool done = !strcmp(reason, "done");
	int r = close_gen(j, at, done ? CLOSE_DONE : CLOSE_ATTEMPT, err);

	end_attempt(j, at, reason);
	j->gen = -1;
	if (done || !strcmp(reason, "gave_up")) {
		j->over = true;
		j->t->finished = done;
		j->t->j1 = at;
	}
	return r;
}

/* Ranks report one restore each: what comes after the first, from a slot that
 * has not trained since, is the same restore. */
static bool same_restore(const struct job *j, const struct gen *g, int slot,
			 int64_t step)
{
	return slot >= 0 && j->slot[slot].gen != j->gen &&
	       g->restore_step == step;
}

int job_restored(struct job *j, double at, int slot, int64_t step,
		 struct drill_err *err)
{
	struct gen *g = &j->t->gen.v[j->gen];
	int r;

	if (g->step.n && !same_restore(j, g, slot, step)) {
		r = reopen_gen(j, at, err);
		if (r)
			return r;
		g = &j->t->gen.v[j->gen];
	}
	g->restored = at;
	g->restore_step = step;
	return 0;
}

struct gstep *drill_gstep(struct gen *g, int64_t step)
{
	size_t lo = 0, hi = g->step.n;

	if (hi && g->step.v[hi - 1].step == step)
		return &g->step.v[hi - 1];
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (g->step.v[mid].step < step)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo < g->step.n && g->step.v[lo].step == step)
		return &g->step.v[lo];
	return NULL;
}

/* The step's record, made where its number belongs. */
static struct gstep *make_gstep(struct gen *g, int64_t step, const char *stage)
{
	struct gstep *s = drill_gstep(g, step);
	size_t i;

	if (s)
		return s;
	if (!VEC_PUSH(&g->step))
		return NULL;
	for (i = g->step.n - 1; i && g->step.v[i - 1].step > step; i--)
		g->step.v[i] = g->step.v[i - 1];
	s = &g->step.v[i];
	*s = (struct gstep){
		.step = step,
		.stage = stage ? stage : "main",
		.first_begin = NAN,
		.done = NAN,
		.w = 1,
		.discarded_by = -1,
	};
	return s;
}

static int push_exec(struct job *j, double at, int slot, int64_t step,
		     const char *stage, struct drill_err *err)
{
	struct open_slot *o = &j->slot[slot];
	struct gen *g = &j->t->gen.v[j->gen];
	struct gstep *s = make_gstep(g, step, stage);
	struct exec *e = s ? VEC_PUSH(&j->t->slot[slot].exec) : NULL;

	if (!e)
		return no_memory(err);
	*e = (struct exec){
		.begin = at, .end = NAN, .ckpt_end = NAN, .window_end = NAN,
		.tokens = NAN, .step = step, .gen = j->gen,
	};
	s->began++;
	s->first_begin = fmin(s->first_begin, at);
	g->first_begin = fmin(g->first_begin, at);
	o->gen = j->gen;
	o->last_step = step;
	o->step_open = true;
	o->own_stop = NAN;
	return 0;
}

/* Phases that were open when the slot was rolled back will never end. */
static int drop_stale_phases(struct job *j, double at, int slot,
			     struct drill_err *err)
{
	struct open_slot *o = &j->slot[slot];
	double opened = j->t->gen.v[j->gen].open;
	int r = 0;

	if (o->depth && o->nest[0].from < opened) {
		r = cut_leaf(j, slot, at, err);
		o->depth = o->beyond = 0;
	}
	return r;
}

int job_step_begin(struct job *j, double at, int slot, int64_t step,
		   const char *stage, struct drill_err *err)
{
	struct open_slot *o = &j->slot[slot];
	int r = 0;

	if (o->gen == j->gen && step <= o->last_step)
		r = reopen_gen(j, at, err);
	if (!r && o->gen != j->gen)
		r = drop_stale_phases(j, at, slot, err);
	return r ? r : push_exec(j, at, slot, step, stage, err);
}

static void end_exec(struct job *j, double at, int slot, double tokens)
{
	struct exec *e = last_exec(&j->t->slot[slot]);
	struct gstep *s = drill_gstep(&j->t->gen.v[j->gen], e->step);

	e->end = at;
	e->tokens = tokens;
	s->ended++;
	s->done = fmax(s->done, at);
	if (!isnan(tokens)) {
		s->tokens += tokens;
		s->counted++;
	}
	j->slot[slot].step_open = false;
	j->slot[slot].own_stop = NAN;
}

/* A line of a log: the step began where the last one ended; where the first
 * one began is found when the baseline is known. */
static int end_unseen(struct job *j, double at, int slot, int64_t step,
		      struct drill_err *err)
{
	struct open_slot *o = &j->slot[slot];
	double begin = NAN;
	int r = 0;

	if (o->gen == j->gen && step <= o->last_step)
		r = reopen_gen(j, at, err);
	else if (o->gen == j->gen)
		begin = last_exec(&j->t->slot[slot])->end;
	return r ? r : push_exec(j, begin, slot, step, NULL, err);
}

int job_step_end(struct job *j, double at, int slot, int64_t step,
		 double tokens, struct drill_err *err)
{
	struct open_slot *o = &j->slot[slot];
	bool open = o->gen == j->gen && o->step_open && o->last_step == step;
	int r;

	if (!open && !j->t->log) {
		j->t->late++;
		return 0;
	}
	if (!open) {
		r = end_unseen(j, at, slot, step, err);
		if (r)
			return r;
	}
	end_exec(j, at, slot, tokens);
	return 0;
}

int job_phase_begin(struct job *j, double at, int slot, enum phase phase,
		    struct drill_err *err)
{
	struct open_slot *o = &j->slot[slot];
	int r = cut_leaf(j, slot, at, err);

	if (r)
		return r;
	if ((phase == PHASE_INIT || phase == PHASE_RESTORE) &&
	    isnan(o->own_stop))
		o->own_stop = at;
	if (o->depth == NEST_MAX) {
		o->beyond++;
		return 0;
	}
	o->nest[o->depth].from = at;
	o->nest[o->depth].phase = phase;
	o->depth++;
	return 0;
}

int job_phase_end(struct job *j, double at, int slot, enum phase phase,
		  struct drill_err *err)
{
	struct open_slot *o = &j->slot[slot];
	struct exec *e = last_exec(&j->t->slot[slot]);
	int r, i;

	if (o->beyond) {
		o->beyond--;
		return 0;
	}
	for (i = o->depth - 1; i >= 0 && o->nest[i].phase != phase; i--)
		;
	if (i < 0) { /* its begin was lost, or rolled back */
		j->t->late++;
		return 0;
	}
	r = cut_leaf(j, slot, at, err);
	o->depth = i;
	if (phase == PHASE_CHECKPOINT && o->gen == j->gen && e && !o->step_open)
		e->ckpt_end = at;
	return r;
}

int job_life(struct job *j, const struct life *life, int slot,
	     struct drill_err *err)
{
	struct life *l = VEC_PUSH(&j->t->slot[slot].life);
	struct exec *e = last_exec(&j->t->slot[slot]);

	if (!l)
		return no_memory(err);
	*l = *life;
	j->slot[slot].dead = !l->begins;
	if (!l->begins && e && j->slot[slot].gen == j->gen)
		e->dead = true;
	return 0;
}

int job_over(struct job *j, double at, struct drill_err *err)
{
	struct trial *t = j->t;

	t->j1 = isnan(t->j1) ? at : t->j1;
	t->truncated = !j->over && t->attempts;
	if (!j->running)
		return 0;
	t->attempt.v[t->attempt.n - 1].to = t->j1;
	t->gen.v[j->gen].stop = t->j1;
	return settle_slots(j, t->j1, true, false, err);
}
