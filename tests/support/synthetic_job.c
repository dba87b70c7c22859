/* synthetic_job.c - a job with random known delays, and what it truly cost
 * SPDX-License-Identifier: MIT
 */
#include "synthetic_job.h"

#include "harness/measure/stats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEPS_MAX 200

enum { USEFUL, CHECKPOINT, DATA, STALLED, REDONE, RESTART, DEGRADED, IDLE };

/* One executed step, the same on every rank. */
struct step {
	double took, data_more, slow_more, ckpt, ckpt_more;
	double begin, end; /* of rank 0 */
	int ranks;
};

struct plan {
	struct synthetic_incident *in;
	int step;      /* it strikes in this step */
	int steps;     /* gray: for so many */
	double where;  /* share of the step that has passed */
	double more;   /* seconds more a step */
	double detect, stop, start, restore, first;
	bool fired;
};

struct sim {
	struct synthetic_job *job;
	struct drill_rng rng;
	int trial, ranks, alive, steps, every, attempt;
	double t, j0, skew;
	double step_s, data_s, ckpt_s, commit_s, launch_s, end_s;
	double jitter;
	struct step done[STEPS_MAX];
	int committed, pending;
	double pending_at;
	struct plan plan[SYNTHETIC_INCIDENTS];
	int plans;
	double stopped; /* when the lost rank became idle; NAN */
	double ledger[SYNTHETIC_CATS];
	double useful_time; /* of kept steps without excess, rank-seconds */
};

static double uniform(struct sim *s, double lo, double hi)
{
	return lo + (hi - lo) * drill_rng_unit(&s->rng);
}

static int whole(struct sim *s, int lo, int hi)
{
	return lo + (int)drill_rng_below(&s->rng, hi - lo + 1);
}

/* --- events --------------------------------------------------------------- */

static json_t *emit(struct sim *s, double t, const char *kind)
{
	json_t *e = json_pack("{sf si ss}", "t_s", t, "trial", s->trial, "kind",
			      kind);

	json_array_append_new(s->job->events, e);
	return e;
}

static json_t *emit_job(struct sim *s, double t, const char *kind)
{
	json_t *e = emit(s, t, kind);

	json_object_set_new(e, "attempt", json_integer(s->attempt));
	return e;
}

static json_t *emit_step(struct sim *s, double t, const char *kind, int step)
{
	json_t *e = emit_job(s, t, kind);

	json_object_set_new(e, "step", json_integer(step));
	return e;
}

static double at_rank(const struct sim *s, double t, int rank)
{
	return t + s->skew * rank;
}

static void all_steps(struct sim *s, double t, const char *kind, int step)
{
	json_t *e;
	int r;

	for (r = 0; r < s->alive; r++) {
		e = emit_step(s, at_rank(s, t, r), kind, step);
		json_object_set_new(e, "rank", json_integer(r));
		if (!strcmp(kind, "step.end"))
			json_object_set_new(e, "tokens", json_real(
						1000.0 * s->ranks / s->alive));
	}
}

static void all_phases(struct sim *s, double from, double to, const char *phase,
		       double skew, double cut)
{
	json_t *e;
	int r;

	for (r = 0; r < s->alive; r++) {
		e = emit_job(s, from + skew * r, "phase.begin");
		json_object_set_new(e, "rank", json_integer(r));
		json_object_set_new(e, "phase", json_string(phase));
		if (to + skew * r > cut)
			continue;
		e = emit_job(s, to + skew * r, "phase.end");
		json_object_set_new(e, "rank", json_integer(r));
		json_object_set_new(e, "phase", json_string(phase));
	}
}

static void emit_fault(struct sim *s, const struct plan *p, double t,
		       const char *what)
{
	json_t *e = emit(s, t, what);
	char target[32];

	json_object_set_new(e, "fault", json_string(p->in->fault));
	if (!strcmp(what, "fault.requested")) {
		snprintf(target, sizeof(target), "rank %d", s->ranks - 1);
		json_object_set_new(e, "target", json_string(target));
	}
}

static void emit_detected(struct sim *s, const struct plan *p, double t)
{
	json_t *e = emit(s, t, "detected");
	char target[32];

	snprintf(target, sizeof(target), "rank %d", s->ranks - 1);
	json_object_set_new(e, "by", json_string("launcher"));
	json_object_set_new(e, "what", json_string(target));
	p->in->detected = t;
}

static void strike(struct sim *s, struct plan *p, double t)
{
	p->fired = true;
	p->in->effective = t;
	emit_fault(s, p, t - 0.002, "fault.requested");
	emit_fault(s, p, t - 0.001, "fault.issued");
	emit_fault(s, p, t, "fault.effective");
}

static void revert(struct sim *s, struct plan *p, double t)
{
	emit_fault(s, p, t, "fault.reverted");
	p->in->reverted = t;
}

/* --- the job -------------------------------------------------------------- */

static void commit_until(struct sim *s, double t)
{
	if (!s->pending || s->pending_at > t)
		return;
	emit_step(s, s->pending_at, "checkpoint.committed", s->pending);
	s->committed = s->pending;
	s->pending = 0;
}

static double step_time(struct sim *s)
{
	double t = s->step_s * s->ranks / s->alive;

	return t * (1 + uniform(s, -s->jitter, s->jitter));
}

/* What gray faults add to this step. */
static void add_gray(struct sim *s, int step, struct step *x)
{
	struct plan *p;

	for (p = s->plan; p < s->plan + s->plans; p++) {
		bool on = step >= p->step && step < p->step + p->steps;

		if (p->in->kind < SYNTHETIC_SLOW || p->in->kind > SYNTHETIC_STORE)
			continue;
		if (on && !p->fired)
			strike(s, p, s->t);
		if (!on)
			continue;
		if (p->in->kind == SYNTHETIC_SLOW)
			x->slow_more = p->more;
		else if (p->in->kind == SYNTHETIC_DATA)
			x->data_more = p->more;
		else if (step % s->every == 0)
			x->ckpt_more = p->more;
	}
}

static struct plan *plan_of(struct sim *s, int step)
{
	struct plan *p;

	for (p = s->plan; p < s->plan + s->plans; p++)
		if (!p->fired && p->step == step)
			return p;
	return NULL;
}

static void run_step(struct sim *s, int step)
{
	struct step x = {.took = step_time(s), .ranks = s->alive};

	add_gray(s, step, &x);
	x.took += x.slow_more + x.data_more;
	x.begin = s->t;
	x.end = s->t + x.took;
	all_steps(s, x.begin, "step.begin", step);
	all_phases(s, x.begin, x.begin + s->data_s + x.data_more, "data",
		   s->skew, INFINITY);
	all_steps(s, x.end, "step.end", step);
	s->t = x.end;
	if (step % s->every == 0) {
		x.ckpt = s->ckpt_s + x.ckpt_more;
		all_phases(s, s->t, s->t + x.ckpt, "checkpoint", s->skew,
			   INFINITY);
		s->t += x.ckpt;
		s->pending = step;
		s->pending_at = s->t + s->commit_s;
	}
	s->done[step] = x;
}

/* The end of a gray fault, where its last step ends; half of them are seen. */
static void end_gray(struct sim *s, int step)
{
	struct plan *p;

	for (p = s->plan; p < s->plan + s->plans; p++) {
		if (!p->fired || !isnan(p->in->reverted) ||
		    step + 1 != p->step + p->steps)
			continue;
		revert(s, p, s->t);
		if (p->detect > 0.5)
			emit_detected(s, p, (p->in->effective + s->t) / 2);
	}
}

/* Sum of the skews of @n ranks: that much less before an instant that is the
 * same for all ranks, and more after it. */
static double skews(const struct sim *s, int n)
{
	return s->skew * n * (n - 1) / 2;
}

/* A step that the victim never ends. Returns when it struck. */
static double break_step(struct sim *s, struct plan *p, int step)
{
	double at = s->t + fmax(p->where * s->step_s, 0.003);
	double data = s->t + s->data_s;

	commit_until(s, at);
	all_steps(s, s->t, "step.begin", step);
	all_phases(s, s->t, data, "data", s->skew, at);
	strike(s, p, at);
	s->ledger[REDONE] += s->ranks * (at - s->t) - skews(s, s->ranks);
	p->in->lost += s->ranks * (at - s->t) - skews(s, s->ranks);
	return at;
}

static void roll_back(struct sim *s, struct plan *p, int step)
{
	int k;

	for (k = s->committed + 1; k < step; k++) {
		double all = s->ranks * (s->done[k].took + s->done[k].ckpt);

		s->ledger[REDONE] += all;
		p->in->lost += all;
		s->done[k].ranks = 0;
	}
	s->pending = 0;
}

static int restart(struct sim *s, struct plan *p, int step)
{
	double at = break_step(s, p, step), stop = at + p->detect + p->stop;
	double gap = p->start + p->restore + p->first;
	json_t *e;

	if (p->in->kind == SYNTHETIC_KILL) {
		e = emit_job(s, at, "rank.end");
		json_object_set_new(e, "rank", json_integer(s->ranks - 1));
		revert(s, p, at);
		emit_detected(s, p, at + p->detect);
	}
	e = emit_job(s, stop, "attempt.end");
	json_object_set_new(e, "reason", json_string("failed"));
	roll_back(s, p, step);
	s->attempt++;
	e = emit_job(s, stop + p->start, "attempt.begin");
	json_object_set_new(e, "reason", json_string("restart"));
	if (p->in->kind == SYNTHETIC_HANG)
		revert(s, p, stop);
	emit_step(s, stop + p->start + p->restore, "restore.done", s->committed);
	s->t = stop + gap;
	s->ledger[STALLED] += s->ranks * (stop - at);
	s->ledger[RESTART] += s->ranks * gap + skews(s, s->ranks);
	p->in->lost += s->ranks * (stop - at + gap) + skews(s, s->ranks);
	p->in->stopped = stop;
	p->in->restarted = stop + p->start;
	p->in->restored = stop + p->start + p->restore;
	p->in->resumed = s->t;
	return s->committed + 1;
}

static int shrink(struct sim *s, struct plan *p, int step)
{
	double at = break_step(s, p, step), stop = at + p->detect;
	double gap = p->restore + p->first;
	json_t *e = emit_job(s, at, "rank.end");

	json_object_set_new(e, "rank", json_integer(s->ranks - 1));
	revert(s, p, at);
	emit_detected(s, p, at + p->detect / 2);
	s->alive--;
	all_phases(s, stop, stop + p->restore, "restore", 0, INFINITY);
	emit_step(s, stop + p->restore, "restore.done", step - 1);
	s->t = stop + gap;
	s->stopped = stop;
	s->ledger[STALLED] += s->ranks * (stop - at);
	s->ledger[RESTART] += s->alive * gap + skews(s, s->alive);
	p->in->lost += s->ranks * (stop - at) + s->alive * gap +
		       skews(s, s->alive);
	p->in->stopped = stop;
	p->in->restored = stop + p->restore;
	p->in->resumed = s->t;
	return step;
}

/* What the lost rank cost: nothing while the others do what they would have
 * done anyway, all at once. */
static void add_idle(struct sim *s, double j1)
{
	double idle = j1 - s->stopped, quiet, spread;
	struct plan *p;
	int k;

	if (isnan(s->stopped))
		return;
	p = &s->plan[s->plans - 1]; /* the shrink comes last */
	spread = s->skew * (s->alive - 1);
	s->ledger[IDLE] += idle;
	quiet = fmax(0, s->end_s - spread);
	if (s->done[s->steps].ckpt > 0) /* runs into the end */
		quiet += s->done[s->steps].ckpt;
	for (k = p->step; k < s->steps; k++)
		quiet += fmax(0, s->done[k].ckpt - spread);
	p->in->lost += idle - quiet;
}

static void begin_trial(struct sim *s, const char *role)
{
	json_t *e = emit(s, s->t - 0.5, "trial.begin");
	int r;

	json_object_set_new(e, "role", json_string(role));
	json_object_set_new(e, "ranks", json_integer(s->ranks));
	s->j0 = s->t;
	s->attempt = 1;
	e = emit_job(s, s->t, "attempt.begin");
	json_object_set_new(e, "reason", json_string("start"));
	for (r = 0; r < s->ranks; r++) {
		e = emit_job(s, s->t + s->launch_s / 2, "rank.begin");
		json_object_set_new(e, "rank", json_integer(r));
	}
	s->t += s->launch_s;
}

static double end_trial(struct sim *s)
{
	double j1 = s->t + s->end_s;
	json_t *e;

	commit_until(s, j1);
	e = emit_job(s, j1, "attempt.end");
	json_object_set_new(e, "reason", json_string("done"));
	e = emit(s, j1 + 0.5, "trial.end");
	json_object_set_new(e, "outcome", json_string("pass"));
	return j1;
}

/* The steps that were kept, category by category. */
static void add_kept(struct sim *s)
{
	int k;

	for (k = 1; k <= s->steps; k++) {
		const struct step *x = &s->done[k];
		double more = x->slow_more + x->data_more;

		s->ledger[USEFUL] += x->ranks * (x->took - more);
		s->ledger[DEGRADED] += x->ranks * x->slow_more;
		s->ledger[DATA] += x->ranks * x->data_more;
		s->ledger[CHECKPOINT] += x->ranks * x->ckpt;
		s->useful_time += x->ranks * (x->took - more);
	}
	s->ledger[RESTART] += s->ranks * s->launch_s + s->alive * s->end_s +
			      skews(s, s->ranks) - skews(s, s->alive);
}

static double run_trial(struct sim *s, const char *role)
{
	struct plan *p;
	double j1;
	int k = 1;

	begin_trial(s, role);
	while (k <= s->steps) {
		p = plan_of(s, k);
		commit_until(s, s->t);
		if (p && p->in->kind <= SYNTHETIC_HANG) {
			k = restart(s, p, k);
			continue;
		}
		if (p && p->in->kind == SYNTHETIC_SHRINK) {
			k = shrink(s, p, k);
			continue;
		}
		run_step(s, k);
		end_gray(s, k++);
	}
	j1 = end_trial(s);
	add_kept(s);
	add_idle(s, j1);
	return j1;
}

/* --- truths that need the whole trial ------------------------------------- */

static void set_end(struct sim *s, struct plan *p)
{
	struct synthetic_incident *in = p->in;
	double last = s->skew * (s->alive - 1), from;
	int k = p->step;

	if (in->kind <= SYNTHETIC_HANG || in->kind == SYNTHETIC_SHRINK) {
		in->caught_up = s->done[k].end + last;
		from = in->caught_up;
	} else {
		in->lost = 0;
		for (; k < p->step + p->steps; k++)
			in->lost += s->ranks * (s->done[k].slow_more +
						s->done[k].data_more +
						s->done[k].ckpt_more);
		from = isnan(in->detected) ? in->effective : in->detected;
		k = p->step;
		if (in->kind != SYNTHETIC_STORE)
			k += p->steps;
	}
	if (in->kind == SYNTHETIC_SHRINK)
		return; /* never steady */
	while (s->done[k].begin < from - 1e-9)
		k++;
	in->steady = s->done[k].begin;
}

static struct sim make_sim(uint64_t seed, bool jitter, struct synthetic_job *job)
{
	struct sim s = {.job = job, .rng = {seed * 0x9e3779b97f4a7c15u + 1}};

	s.ranks = s.alive = whole(&s, 3, 9);
	s.steps = whole(&s, 60, 120);
	s.every = whole(&s, 5, 12);
	s.step_s = uniform(&s, 0.2, 2);
	s.data_s = uniform(&s, 0.02, 0.2) * s.step_s;
	s.ckpt_s = uniform(&s, 0.05, 0.5) * s.step_s;
	s.commit_s = uniform(&s, 0.1, 3) * s.step_s;
	s.launch_s = uniform(&s, 0.5, 5);
	s.end_s = uniform(&s, 0.1, 1);
	s.skew = whole(&s, 0, 1) ? uniform(&s, 0, 5e-5) : 0;
	s.jitter = jitter ? 0.005 : 0;
	s.stopped = NAN;
	s.t = 1;
	return s;
}

static void plan_one(struct sim *s, struct plan *p, int number, int step,
		     enum synthetic_kind kind)
{
	struct synthetic_incident *in = &s->job->incident[number];

	*in = (struct synthetic_incident){
		.kind = kind, .effective = NAN, .detected = NAN, .stopped = NAN,
		.restarted = NAN, .restored = NAN, .resumed = NAN,
		.caught_up = NAN, .steady = NAN, .reverted = NAN,
	};
	snprintf(in->fault, sizeof(in->fault), "f%d", number);
	*p = (struct plan){.in = in, .step = step, .steps = 1};
	p->where = uniform(s, 0.05, 0.95);
	p->detect = uniform(s, 0.01, 3);
	p->stop = uniform(s, 0.01, 1);
	p->start = uniform(s, 0.1, 2);
	p->restore = uniform(s, 0.1, 2);
	p->first = uniform(s, 0.01, 0.5);
	p->more = uniform(s, 0.2, 2) * s->step_s;
	if (kind == SYNTHETIC_SLOW || kind == SYNTHETIC_DATA)
		p->steps = whole(s, 1, 6);
	if (kind == SYNTHETIC_STORE) { /* unseen it would be steady at once */
		p->step -= p->step % s->every;
		p->detect = 1;
	}
}

/* Far enough from each other that each is over when the next strikes. */
static void plan_faults(struct sim *s)
{
	int number = 0, step = whole(s, 13, 20);
	enum synthetic_kind last = s->jitter > 0 ? SYNTHETIC_HANG
						 : SYNTHETIC_STORE;

	while (number < SYNTHETIC_INCIDENTS - 1 && step + 25 < s->steps) {
		plan_one(s, &s->plan[number], number, step, whole(s, 0, last));
		number++;
		step += whole(s, 22, 30);
	}
	if (step + 5 < s->steps && whole(s, 0, 1)) {
		plan_one(s, &s->plan[number], number, step, SYNTHETIC_SHRINK);
		number++;
	}
	s->plans = s->job->incidents = number;
}

void synthetic_job(uint64_t seed, bool jitter, struct synthetic_job *ret)
{
	struct sim s = make_sim(seed, jitter, ret), base;
	double base_wall, base_useful;
	int k;

	memset(ret, 0, sizeof(*ret));
	ret->events = json_array();
	ret->ranks = s.ranks;
	ret->step_s = s.step_s;
	base = s;
	base_wall = run_trial(&base, "baseline") - base.j0;
	base_useful = base.useful_time;
	s.rng = base.rng;
	s.trial = 1;
	s.t = base.t + 100;
	plan_faults(&s);
	ret->wall = run_trial(&s, "fault");
	ret->wall -= s.j0;
	for (k = 0; k < s.plans; k++)
		set_end(&s, &s.plan[k]);
	memcpy(ret->ledger, s.ledger, sizeof(ret->ledger));
	ret->drift = s.useful_time - base_useful;
	ret->lost = s.ranks * (ret->wall - base_wall);
}

json_t *synthetic_large(int trials, int ranks, int steps)
{
	struct synthetic_job job = {.events = json_array()};
	struct sim s = {.job = &job};
	json_t *e;
	int t, k;

	s.ranks = s.alive = ranks;
	s.step_s = 1;
	for (t = 0; t < trials; t++) {
		s.trial = t;
		s.t += 10;
		begin_trial(&s, t ? "null" : "baseline");
		for (k = 1; k <= steps; k++) {
			all_steps(&s, s.t, "step.begin", k);
			s.t += 1;
			all_steps(&s, s.t, "step.end", k);
		}
		e = emit_job(&s, s.t, "attempt.end");
		json_object_set_new(e, "reason", json_string("done"));
		emit(&s, s.t, "trial.end");
	}
	return job.events;
}
