/* incident.c - from the events of faults to incidents
 * SPDX-License-Identifier: MIT
 */
#include "model.h"
#include "stats.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Causes, marks and the end of incidents depend on each other: they are found
 * anew until nothing moves, or this often. */
#define ROUNDS 12

/* A trial with more is no drill. */
#define EFFECTS_MAX 2000
#define MARKS_MAX 50000

static int add_steady(void *ctx, struct step_values *v)
{
	struct trial *t = ctx;
	struct steady_step *s;
	size_t i;

	if (!v->step->useful || !v->n)
		return 0;
	for (i = 0; i < v->n; i++)
		v->time[i] = v->step->b * v->step->w / v->time[i];
	drill_sort(v->time, v->n);
	s = VEC_PUSH(&t->steady);
	if (!s)
		return -ENOMEM;
	*s = (struct steady_step){v->step->step, v->step->first_begin,
				  drill_median(v->time, v->n), 0};
	return 0;
}

static double steady_sum(const struct trial *t)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < t->incident.n; i++) {
		double at = t->incident.v[i].at[AT_STEADY].t;

		sum += isnan(at) ? (double)(i + 1) * 1e7 : at;
	}
	return sum;
}

static int settle(struct trial *t, double horizon, struct drill_err *err)
{
	double before, after = NAN;
	int round, r = 0;

	for (round = 0; !r && round < ROUNDS; round++) {
		before = after;
		drill_marks(t, horizon, round);
		r = drill_causes(t, horizon, round, err);
		drill_instants(t);
		after = steady_sum(t);
		if (round > 1 && before == after)
			break;
	}
	return r;
}

static int last_of_fault(const struct trial *t, const char *fault)
{
	int i;

	for (i = (int)t->incident.n - 1; i >= 0; i--)
		if (!strcmp(t->incident.v[i].fault, fault))
			return i;
	return -1;
}

/* The latest request and issue up to the effect; those of an earlier incident
 * still say what the target is. */
static void find_request(const struct trial *t, struct incident *i,
			 const struct incident *earlier)
{
	double after = earlier ? earlier->at[AT_EFFECTIVE].t : -INFINITY;
	size_t k;

	i->request = earlier ? earlier->request : NULL;
	for (k = 0; k < t->mark.n; k++) {
		const struct mark *m = &t->mark.v[k];
		bool request = m->kind == MARK_REQUESTED;

		if ((!request && m->kind != MARK_ISSUED) ||
		    strcmp(m->fault, i->fault) || m->t <= after ||
		    m->t > i->at[AT_EFFECTIVE].t + i->at[AT_EFFECTIVE].u)
			continue;
		i->at[request ? AT_REQUESTED : AT_ISSUED] =
			(struct when){m->t, m->u, m->host};
		if (request)
			i->request = m->event;
	}
}

static void add_name(struct incident *i, json_t *name)
{
	if (json_is_string(name) && !drill_is_target(i, json_string_value(name)))
		json_array_append(i->targets, name);
}

static void add_device(struct incident *i, json_t *event)
{
	const char *host = json_string_value(json_object_get(event, "host"));
	json_t *index = json_object_get(event, "device");
	json_t *name;

	if (!host || !json_is_integer(index))
		return;
	name = json_sprintf("device %s/gpu%d", host,
			    (int)json_integer_value(index));
	if (name && !drill_is_right(i, json_string_value(name)))
		json_array_append(i->devices, name);
	json_decref(name);
}

/* Did rank @slot run on that device when the fault took effect? */
static bool ran_on(const struct trial *t, int slot, const char *device,
		   double at)
{
	const struct life *now = NULL;
	char name[160];
	size_t k;

	for (k = 0; k < t->slot[slot].life.n; k++) {
		const struct life *l = &t->slot[slot].life.v[k];

		if (l->begins && l->t <= at)
			now = l;
	}
	if (!now || !now->host || now->device < 0)
		return false;
	snprintf(name, sizeof(name), "device %s/gpu%d", now->host, now->device);
	return strcmp(name, device) == 0;
}

/* Who blames a rank that runs on the device that was hit is right, too. */
static void add_ranks(const struct trial *t, struct incident *i)
{
	double at = i->at[AT_EFFECTIVE].t;
	json_t *target, *name;
	size_t k;
	int s;

	json_array_foreach(i->targets, k, target)
		for (s = 0; s < t->n; s++) {
			if (!ran_on(t, s, json_string_value(target), at))
				continue;
			name = json_sprintf("rank %d", s);
			if (name && !drill_is_right(i, json_string_value(name)))
				json_array_append(i->devices, name);
			json_decref(name);
		}
}

/* A fault that hits several takes effect on each, and each event names one. */
static void add_targets(const struct trial *t, struct incident *i,
			json_t *event)
{
	json_t *target = json_object_get(event, "target"), *v;
	size_t k;

	add_name(i, target);
	json_array_foreach(target, k, v)
		add_name(i, v);
	add_device(i, event);
	add_ranks(t, i);
}

static int open_incident(struct trial *t, const struct mark *m, int earlier)
{
	struct incident *i = VEC_PUSH(&t->incident);
	double *effect;
	int a;

	if (!i)
		return -ENOMEM;
	for (a = 0; a < NINSTANTS; a++)
		i->at[a].t = NAN;
	i->fault = m->fault;
	i->at[AT_EFFECTIVE] = (struct when){m->t, m->u, m->host};
	i->stop_gen = i->resume_gen = -1;
	i->targets = json_array();
	i->devices = json_array();
	find_request(t, i, earlier < 0 ? NULL : &t->incident.v[earlier]);
	add_targets(t, i, i->request);
	add_targets(t, i, m->event);
	effect = VEC_PUSH(&i->effects);
	if (!effect)
		return -ENOMEM;
	*effect = m->t;
	return 0;
}

/* The same fault again: before the job is steady it is the same incident. */
static int take_effect(struct trial *t, const struct mark *m,
		       struct drill_err *err)
{
	int old = last_of_fault(t, m->fault), r;
	double *effect;

	if (old >= 0) {
		r = settle(t, m->t, err);
		if (r)
			return r;
		if (!(t->incident.v[old].at[AT_STEADY].t <= m->t)) {
			add_targets(t, &t->incident.v[old], m->event);
			effect = VEC_PUSH(&t->incident.v[old].effects);
			if (effect)
				*effect = m->t;
			return effect ? 0 : -ENOMEM;
		}
	}
	return open_incident(t, m, old);
}

static void find_revert(struct trial *t, int me)
{
	struct incident *i = &t->incident.v[me];
	double until = INFINITY;
	size_t k;

	for (k = me + 1; k < t->incident.n; k++)
		if (!strcmp(t->incident.v[k].fault, i->fault)) {
			until = t->incident.v[k].at[AT_EFFECTIVE].t;
			break;
		}
	for (k = 0; k < t->mark.n; k++) {
		const struct mark *m = &t->mark.v[k];

		if (m->kind == MARK_REVERTED && !strcmp(m->fault, i->fault) &&
		    m->t >= i->at[AT_EFFECTIVE].t && m->t < until)
			i->at[AT_REVERTED] = (struct when){m->t, m->u, m->host};
	}
}

static void last_mark(const struct trial *t, struct incident *i,
		      enum mark_kind kind, enum instant what)
{
	double to = i->at[AT_RESUMED].t;
	size_t k;

	for (k = 0; k < t->mark.n; k++) {
		const struct mark *m = &t->mark.v[k];

		if (m->kind == kind && m->t >= i->at[AT_STOPPED].t &&
		    !(m->t > to))
			i->at[what] = (struct when){m->t, m->u, m->host};
	}
}

/* When the last slot left its connect phase. */
static void find_connect(const struct trial *t, struct incident *i)
{
	double from = i->at[AT_STOPPED].t, to = i->at[AT_RESUMED].t, at = NAN;
	size_t k;
	int s;

	for (s = 0; s < t->n; s++)
		for (k = drill_leaf_at(&t->slot[s], from);
		     k < t->slot[s].leaf.n && t->slot[s].leaf.v[k].to <= to; k++)
			if (t->slot[s].leaf.v[k].phase == PHASE_CONNECT)
				at = fmax(at, t->slot[s].leaf.v[k].to);
	i->at[AT_CONNECTED].t = at;
}

static void finish(struct trial *t)
{
	int k;

	for (k = 0; k < (int)t->incident.n; k++) {
		struct incident *i = &t->incident.v[k];

		find_revert(t, k);
		if (i->stop_gen < 0)
			continue;
		last_mark(t, i, MARK_FENCED, AT_FENCED);
		last_mark(t, i, MARK_ALLOCATED, AT_ALLOCATED);
		find_connect(t, i);
	}
}

/* Detections of nothing; one that names a fault before it took effect says
 * that some clock or event lies. */
static void count_alarms(struct trial *t)
{
	size_t k;

	for (k = 0; k < t->mark.n; k++) {
		const struct mark *m = &t->mark.v[k];

		if (m->kind < MARK_SYMPTOM || m->kind > MARK_BLAMED ||
		    m->incident >= 0)
			continue;
		t->false_alarms++;
		if (m->fault && last_of_fault(t, m->fault) >= 0)
			drill_reason(t, "'%s' was detected before it took "
					"effect", m->fault);
	}
}

int drill_incidents(struct trial *t, struct drill_err *err)
{
	size_t k;
	int r;

	if (t->effective.n > EFFECTS_MAX || t->mark.n > MARKS_MAX)
		return drill_err_set(err, -E2BIG, MEASURE_WHO,
				     "trial %d: %zu effects in %zu events of "
				     "faults are too many", t->id,
				     t->effective.n, t->mark.n);
	r = drill_each_step(t, add_steady, t, err);
	for (k = 0; !r && k < t->mark.n; k++)
		if (t->mark.v[k].kind == MARK_EFFECTIVE)
			r = take_effect(t, &t->mark.v[k], err);
	if (!r)
		r = settle(t, INFINITY, err);
	if (!r)
		r = drill_natural(t, err);
	if (r)
		return drill_err_set(err, r, MEASURE_WHO, "no memory");
	finish(t);
	count_alarms(t);
	return 0;
}
