/* events.c - all events, sorted by trial and time
 * SPDX-License-Identifier: MIT
 */
#include "field.h"
#include "model.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void *drill_grow(void *v, size_t n, size_t *room, size_t item)
{
	size_t want = *room;
	void *bigger = v;

	if (n == want) {
		want = want ? want * 2 : 8;
		bigger = realloc(v, want * item);
		if (!bigger)
			return NULL;
		*room = want;
	}
	memset((char *)bigger + n * item, 0, item);
	return bigger;
}

void drill_reason(struct trial *t, const char *fmt, ...)
{
	json_t *text, *v;
	size_t i;
	va_list ap;

	va_start(ap, fmt);
	text = json_vsprintf(fmt, ap);
	va_end(ap);
	json_array_foreach(t->reasons, i, v)
		if (json_equal(v, text)) {
			json_decref(text);
			return;
		}
	json_array_append_new(t->reasons, text);
}

VEC_TYPE(refs, struct ref);

struct bucket {
	int64_t id;
	struct refs ref;
	bool sorted;
};

VEC_TYPE(buckets, struct bucket);

static struct bucket *bucket_of(struct buckets *all, int64_t id)
{
	struct bucket *b;
	size_t i;

	for (i = all->n; i-- > 0;)
		if (all->v[i].id == id)
			return &all->v[i];
	b = VEC_PUSH(all);
	if (b) {
		b->id = id;
		b->sorted = true;
	}
	return b;
}

static int check_event(struct field_event *e, struct drill_err *err)
{
	if (!json_is_object(e->o))
		return drill_err_set(err, -EINVAL, MEASURE_WHO,
				     "line %zu: not an object", e->line);
	e->kind = "event";
	return field_string(e, "kind", true, &e->kind, err);
}

static int file_event(struct buckets *all, json_t *o, size_t line,
		      struct drill_err *err)
{
	struct field_event e = {.o = o, .line = line};
	int64_t id = -1;
	double t = 0;
	struct bucket *b;
	struct ref *ref;
	int r = check_event(&e, err);

	if (!r)
		r = field_count(&e, "trial", false, 0, 1 << 30, &id, err);
	if (r || id < 0)
		return r;
	r = field_number(&e, "t_s", true, FIELD_TIME_MAX, &t, err);
	if (r)
		return r;
	b = bucket_of(all, id);
	ref = b ? VEC_PUSH(&b->ref) : NULL;
	if (!ref)
		return drill_err_set(err, -ENOMEM, MEASURE_WHO, "no memory");
	*ref = (struct ref){t, o, line};
	if (b->ref.n > 1 && ref[-1].t > t)
		b->sorted = false;
	return 0;
}

static int by_time(const void *a, const void *b)
{
	const struct ref *x = a, *y = b;

	if (x->t != y->t)
		return x->t < y->t ? -1 : 1;
	return (x->line > y->line) - (x->line < y->line);
}

static int read_trial(struct measure *m, struct bucket *b, struct drill_err *err)
{
	struct trial *t = VEC_PUSH(&m->trial);

	if (!t)
		return drill_err_set(err, -ENOMEM, MEASURE_WHO, "no memory");
	t->id = (int)b->id;
	t->j0 = t->j1 = NAN;
	t->reasons = json_array();
	if (!b->sorted)
		qsort(b->ref.v, b->ref.n, sizeof(*b->ref.v), by_time);
	return drill_trial_read(t, b->ref.v, b->ref.n, err);
}

static int by_id(const void *a, const void *b)
{
	const struct bucket *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

int drill_measure_read(struct measure *m, json_t *events, struct drill_err *err)
{
	struct buckets all = {0};
	size_t i;
	json_t *o;
	int r = 0;

	if (!json_is_array(events))
		return drill_err_set(err, -EINVAL, MEASURE_WHO,
				     "events must be an array");
	json_array_foreach(events, i, o) {
		r = file_event(&all, o, i + 1, err);
		if (r)
			break;
	}
	if (all.n)
		qsort(all.v, all.n, sizeof(*all.v), by_id);
	for (i = 0; !r && i < all.n; i++)
		r = read_trial(m, &all.v[i], err);
	for (i = 0; i < all.n; i++)
		free(all.v[i].ref.v);
	free(all.v);
	return r;
}

static void gen_done(struct gen *g)
{
	free(g->step.v);
	free(g->slot_stop);
	free(g->cause.v);
}

static void slot_done(struct slot *s)
{
	free(s->exec.v);
	free(s->leaf.v);
	free(s->life.v);
	free(s->released.v);
}

static void incident_done(struct incident *i)
{
	free(i->effects.v);
	json_decref(i->targets);
	json_decref(i->devices);
}

static void trial_done(struct trial *t)
{
	size_t i;

	for (i = 0; t->slot && i < (size_t)t->n; i++)
		slot_done(&t->slot[i]);
	for (i = 0; i < t->gen.n; i++)
		gen_done(&t->gen.v[i]);
	for (i = 0; i < t->incident.n; i++)
		incident_done(&t->incident.v[i]);
	free(t->slot);
	free(t->gen.v);
	free(t->attempt.v);
	free(t->mark.v);
	free(t->state.v);
	free(t->effective.v);
	free(t->steady.v);
	free(t->piece.v);
	free(t->cut.v);
	free(t->incident.v);
	json_decref(t->reasons);
}

void drill_measure_done(struct measure *m)
{
	size_t i;

	for (i = 0; i < m->trial.n; i++)
		trial_done(&m->trial.v[i]);
	free(m->trial.v);
	free(m->base.stage.v);
	free(m->base.step.v);
}
