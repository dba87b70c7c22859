/* trial.c - the events of one trial, each handed to what it speaks of
 * SPDX-License-Identifier: MIT
 */
#include "field.h"
#include "job.h"
#include "model.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define RANKS_MAX 131072
#define STEP_MAX ((int64_t)1 << 40)

struct reader {
	struct job job;
	struct trial *t;
	struct field_event e;
	double at;
};

typedef int handler(struct reader *r, int arg, struct drill_err *err);

/* --- the slot an event speaks of ------------------------------------------ */

static int get_slot(struct reader *r, bool needed, int *ret,
		    struct drill_err *err)
{
	int64_t slot = -1;
	const char *name = json_object_get(r->e.o, "slot") ? "slot" : "rank";
	int e = field_count(&r->e, name, needed, 0, r->t->n - 1, &slot, err);

	*ret = (int)slot;
	return e;
}

/* In a log a line without rank speaks for all slots. */
static int slots_of(struct reader *r, int *first, int *last,
		    struct drill_err *err)
{
	int e = get_slot(r, !r->t->log, first, err);

	*last = *first;
	if (!e && *first < 0) {
		*first = 0;
		*last = r->t->n - 1;
	}
	return e;
}

static int get_step(struct reader *r, int64_t *ret, struct drill_err *err)
{
	return field_count(&r->e, "step", true, 0, STEP_MAX, ret, err);
}

/* --- events of the job ---------------------------------------------------- */

static int on_attempt_begin(struct reader *r, int arg, struct drill_err *err)
{
	int64_t number = r->job.attempt + 1;
	const char *reason = NULL;
	int e = field_count(&r->e, "attempt", false, 0, 1 << 30, &number, err);

	(void)arg;
	if (!e)
		e = field_string(&r->e, "reason", false, &reason, err);
	return e ? e : job_attempt_begin(&r->job, r->at, number, reason, err);
}

static int on_attempt_end(struct reader *r, int arg, struct drill_err *err)
{
	const char *reason = NULL;
	int e = field_string(&r->e, "reason", true, &reason, err);

	(void)arg;
	return e ? e : job_attempt_end(&r->job, r->at, reason, err);
}

static int on_life(struct reader *r, int begins, struct drill_err *err)
{
	struct life l = {.t = r->at, .begins = begins};
	int64_t device = -1;
	int slot, e = get_slot(r, true, &slot, err);

	if (!e)
		e = field_string(&r->e, "host", false, &l.host, err);
	if (!e)
		e = field_number(&r->e, "u_s", false, FIELD_TIME_MAX, &l.u, err);
	if (!e)
		e = field_count(&r->e, "device", false, 0, 1023, &device, err);
	l.device = (int)device;
	return e ? e : job_life(&r->job, &l, slot, err);
}

static int on_step_begin(struct reader *r, int arg, struct drill_err *err)
{
	const char *stage = NULL;
	int64_t step = 0;
	int s, last, e = slots_of(r, &s, &last, err);

	(void)arg;
	if (!e)
		e = get_step(r, &step, err);
	if (!e)
		e = field_string(&r->e, "stage", false, &stage, err);
	for (; !e && s <= last; s++)
		e = job_step_begin(&r->job, r->at, s, step, stage, err);
	return e;
}

static int on_step_end(struct reader *r, int arg, struct drill_err *err)
{
	double tokens = NAN;
	int64_t step = 0;
	int s, last, e = slots_of(r, &s, &last, err);
	int share = 1;

	(void)arg;
	if (!e)
		e = get_step(r, &step, err);
	if (!e)
		e = field_number(&r->e, "tokens", false, FIELD_COUNT_MAX,
				 &tokens, err);
	if (!e && last > s) /* a line of a log counts the tokens of all */
		share = last - s + 1;
	for (; !e && s <= last; s++)
		e = job_step_end(&r->job, r->at, s, step, tokens / share, err);
	return e;
}

static int get_phase(struct reader *r, enum phase *ret, struct drill_err *err)
{
	static const char *const names[] = {
		[PHASE_INIT] = "init", [PHASE_CONNECT] = "connect",
		[PHASE_DATA] = "data", [PHASE_COMPUTE] = "compute",
		[PHASE_COMM] = "comm", [PHASE_CHECKPOINT] = "checkpoint",
		[PHASE_RESTORE] = "restore",
	};
	const char *name = NULL;
	int i, e = field_string(&r->e, "phase", true, &name, err);

	*ret = PHASE_OTHER;
	for (i = PHASE_INIT; !e && i <= PHASE_RESTORE; i++)
		if (!strcmp(name, names[i]))
			*ret = i;
	return e;
}

static int on_phase(struct reader *r, int begins, struct drill_err *err)
{
	enum phase phase;
	int slot = -1, e;

	if (r->t->log) /* collapsed into the step time */
		return 0;
	e = get_slot(r, true, &slot, err);
	if (!e)
		e = get_phase(r, &phase, err);
	if (e)
		return e;
	if (begins)
		return job_phase_begin(&r->job, r->at, slot, phase, err);
	return job_phase_end(&r->job, r->at, slot, phase, err);
}

static int on_committed(struct reader *r, int arg, struct drill_err *err)
{
	struct gen *g;
	int64_t step = 0;
	int e = get_step(r, &step, err);

	(void)arg;
	if (e)
		return e;
	g = &r->t->gen.v[r->job.gen];
	g->committed = step > g->committed ? step : g->committed;
	if (step > r->t->committed)
		r->t->committed = step;
	return 0;
}

static int on_restored(struct reader *r, int arg, struct drill_err *err)
{
	int64_t step = 0;
	int slot, e = get_slot(r, false, &slot, err);

	(void)arg;
	if (!e)
		e = get_step(r, &step, err);
	return e ? e : job_restored(&r->job, r->at, slot, step, err);
}

static int on_state(struct reader *r, int arg, struct drill_err *err)
{
	struct state_mark m = {0};
	int64_t rank = -1;
	int e = get_step(r, &m.step, err);
	struct state_mark *s;

	(void)arg;
	if (!e)
		e = field_count(&r->e, "rank", false, 0, RANKS_MAX, &rank, err);
	if (!e)
		e = field_string(&r->e, "of", true, &m.of, err);
	if (!e)
		e = field_string(&r->e, "hash", true, &m.hash, err);
	if (e)
		return e;
	m.rank = (int)rank;
	s = VEC_PUSH(&r->t->state);
	if (!s)
		return drill_err_set(err, -ENOMEM, MEASURE_WHO, "no memory");
	*s = m;
	return 0;
}

/* --- events around the job ------------------------------------------------ */

static int took_effect(struct reader *r, double u, struct drill_err *err)
{
	double *at = VEC_PUSH(&r->t->effective);

	if (!at)
		return drill_err_set(err, -ENOMEM, MEASURE_WHO, "no memory");
	*at = r->at;
	r->t->u_max = fmax(r->t->u_max, u);
	return 0;
}

static int on_mark(struct reader *r, int kind, struct drill_err *err)
{
	struct mark m = {.kind = kind, .t = r->at, .incident = -1};
	bool is_fault = kind <= MARK_REVERTED;
	struct mark *v;
	int e = field_string(&r->e, "fault", is_fault, &m.fault, err);

	m.event = r->e.o;
	if (!e)
		e = field_number(&r->e, "u_s", false, FIELD_TIME_MAX, &m.u, err);
	if (!e)
		e = field_string(&r->e, "host", false, &m.host, err);
	if (!e)
		e = field_string(&r->e, "by", false, &m.by, err);
	if (!e)
		e = field_string(&r->e, "what", false, &m.what, err);
	if (!e)
		e = field_string(&r->e, "blame", false, &m.blame, err);
	if (e)
		return e;
	m.u = fabs(m.u);
	v = VEC_PUSH(&r->t->mark);
	if (!v)
		return drill_err_set(err, -ENOMEM, MEASURE_WHO, "no memory");
	*v = m;
	return kind == MARK_EFFECTIVE ? took_effect(r, m.u, err) : 0;
}

static int on_released(struct reader *r, int back, struct drill_err *err)
{
	struct slot *s;
	struct span *last;
	int slot, e = get_slot(r, true, &slot, err);

	if (e)
		return e;
	s = &r->t->slot[slot];
	last = s->released.n ? &s->released.v[s->released.n - 1] : NULL;
	if (last && isinf(last->to)) {
		if (back)
			last->to = r->at;
		return 0;
	}
	if (back)
		return 0;
	last = VEC_PUSH(&s->released);
	if (!last)
		return drill_err_set(err, -ENOMEM, MEASURE_WHO, "no memory");
	*last = (struct span){r->at, INFINITY};
	return 0;
}

static int get_role(struct reader *r, struct drill_err *err)
{
	static const char *const names[] = {"baseline", "null", "fault"};
	const char *role = NULL;
	int i, e = field_string(&r->e, "role", true, &role, err);

	for (i = 0; !e && i < 3; i++)
		if (!strcmp(role, names[i])) {
			r->t->role = i;
			return 0;
		}
	return e ? e : drill_err_set(err, -EINVAL, MEASURE_WHO,
				     "line %zu: role is baseline, null or "
				     "fault, not '%s'", r->e.line, role);
}

static int start_slots(struct reader *r, struct drill_err *err)
{
	struct trial *t = r->t;
	int s;

	t->slot = calloc(t->n, sizeof(*t->slot));
	r->job.slot = calloc(t->n, sizeof(*r->job.slot));
	if (!t->slot || !r->job.slot)
		return drill_err_set(err, -ENOMEM, MEASURE_WHO, "no memory");
	r->job.t = t;
	for (s = 0; s < t->n; s++) {
		r->job.slot[s].gen = -1;
		r->job.slot[s].own_stop = NAN;
	}
	r->job.gen = -1;
	return 0;
}

static int on_trial_begin(struct reader *r, int arg, struct drill_err *err)
{
	struct trial *t = r->t;
	int64_t n = 0, spares = 0;
	const char *follow = "events";
	int e;

	(void)arg;
	if (t->begun)
		return drill_err_set(err, -EINVAL, MEASURE_WHO,
				     "line %zu: trial %d begins twice",
				     r->e.line, t->id);
	t->begun = true;
	t->begin_event = r->e.o;
	e = get_role(r, err);
	if (!e)
		e = field_count(&r->e, "ranks", true, 1, RANKS_MAX, &n, err);
	if (!e)
		e = field_count(&r->e, "spares", false, 0, RANKS_MAX, &spares,
				err);
	if (!e)
		e = field_string(&r->e, "follow", false, &follow, err);
	if (!e)
		e = field_string(&r->e, "workload", false, &t->workload, err);
	if (e)
		return e;
	t->n = (int)n;
	t->spares = (int)spares;
	t->log = !strcmp(follow, "log");
	return start_slots(r, err);
}

static int on_trial_end(struct reader *r, int arg, struct drill_err *err)
{
	int e = field_string(&r->e, "outcome", false, &r->t->outcome, err);

	(void)arg;
	if (!e && !r->t->ended) {
		r->t->ended = true;
		if (isnan(r->t->j1))
			r->t->j1 = r->at;
		e = job_over(&r->job, r->t->j1, err);
		r->job.running = false;
		r->job.over = true;
	}
	return e;
}

/* --- dispatch ------------------------------------------------------------- */

enum scope { OF_TRIAL, OF_ATTEMPT, OF_JOB };

static const struct kind {
	const char *name;
	handler *fn;
	int arg;
	enum scope scope;
} kinds[] = {
	/* sorted by name */
	{"allocated", on_mark, MARK_ALLOCATED, OF_TRIAL},
	{"attempt.begin", on_attempt_begin, 0, OF_ATTEMPT},
	{"attempt.end", on_attempt_end, 0, OF_JOB},
	{"blamed", on_mark, MARK_BLAMED, OF_TRIAL},
	{"checkpoint.committed", on_committed, 0, OF_JOB},
	{"detected", on_mark, MARK_DETECTED, OF_TRIAL},
	{"fault.effective", on_mark, MARK_EFFECTIVE, OF_TRIAL},
	{"fault.issued", on_mark, MARK_ISSUED, OF_TRIAL},
	{"fault.requested", on_mark, MARK_REQUESTED, OF_TRIAL},
	{"fault.reverted", on_mark, MARK_REVERTED, OF_TRIAL},
	{"fenced", on_mark, MARK_FENCED, OF_TRIAL},
	{"phase.begin", on_phase, true, OF_JOB},
	{"phase.end", on_phase, false, OF_JOB},
	{"rank.begin", on_life, true, OF_JOB},
	{"rank.end", on_life, false, OF_JOB},
	{"restore.done", on_restored, 0, OF_JOB},
	{"slot.acquired", on_released, true, OF_TRIAL},
	{"slot.released", on_released, false, OF_TRIAL},
	{"state", on_state, 0, OF_JOB},
	{"step.begin", on_step_begin, 0, OF_JOB},
	{"step.end", on_step_end, 0, OF_JOB},
	{"symptom", on_mark, MARK_SYMPTOM, OF_TRIAL},
	{"trial.begin", on_trial_begin, 0, OF_TRIAL},
	{"trial.end", on_trial_end, 0, OF_TRIAL},
};

static int by_name(const void *key, const void *item)
{
	return strcmp(key, ((const struct kind *)item)->name);
}

/* Of an attempt that has ended, or is not the newest: a zombie's. */
static int is_late(struct reader *r, bool *ret, struct drill_err *err)
{
	int64_t attempt = r->job.attempt;
	int e = field_count(&r->e, "attempt", false, 0, 1 << 30, &attempt, err);

	*ret = !r->job.running || attempt != r->job.attempt;
	return e;
}

static int take(struct reader *r, const struct ref *ref, struct drill_err *err)
{
	const struct kind *k;
	bool late = false;
	int e = 0;

	r->e = (struct field_event){
		.o = ref->o,
		.kind = json_string_value(json_object_get(ref->o, "kind")),
		.line = ref->line,
	};
	r->at = ref->t;
	r->t->last_t = ref->t;
	k = bsearch(r->e.kind, kinds, sizeof(kinds) / sizeof(*kinds),
		    sizeof(*kinds), by_name);
	if (!k)
		return 0;
	if (!r->t->begun && k->fn != on_trial_begin)
		return k->scope == OF_TRIAL ? 0 : drill_err_set(
			err, -EINVAL, MEASURE_WHO,
			"line %zu: %s before trial.begin of trial %d",
			ref->line, r->e.kind, r->t->id);
	if (k->scope == OF_JOB)
		e = is_late(r, &late, err);
	if (late) {
		r->t->late++;
		return e;
	}
	return e ? e : k->fn(r, k->arg, err);
}

static int end_of_events(struct reader *r, struct drill_err *err)
{
	struct trial *t = r->t;

	if (!t->begun)
		return drill_err_set(err, -EINVAL, MEASURE_WHO,
				     "trial %d has no trial.begin", t->id);
	if (!t->ended)
		return job_over(&r->job, t->last_t, err);
	return 0;
}

int drill_trial_read(struct trial *t, const struct ref *ref, size_t n,
		     struct drill_err *err)
{
	struct reader r = {.t = t};
	size_t i;
	int e = 0;

	for (i = 0; !e && i < n; i++)
		e = take(&r, &ref[i], err);
	if (!e)
		e = end_of_events(&r, err);
	free(r.job.slot);
	return e;
}
