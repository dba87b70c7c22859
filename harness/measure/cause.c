/* cause.c - which incidents closed a generation
 * SPDX-License-Identifier: MIT
 */
#include "model.h"

#include <errno.h>
#include <string.h>

bool drill_caused(const struct gen *g, int incident)
{
	size_t i;

	for (i = 0; i < g->cause.n; i++)
		if (g->cause.v[i] == incident)
			return true;
	return false;
}

static bool add(struct gen *g, int incident)
{
	int *v;

	if (drill_caused(g, incident))
		return true;
	v = VEC_PUSH(&g->cause);
	if (v)
		*v = incident;
	return v;
}

/* The stretch in which whatever closed the generation must have happened. */
static struct span stretch(const struct trial *t, const struct gen *g)
{
	struct span s = {g->broken_from, g->stop};

	if (!g->step.n)
		s.from = g > t->gen.v ? g[-1].stop : t->j0;
	else if (isnan(s.from))
		s.from = g->stop;
	s.from -= TIME_EPS;
	s.to += TIME_EPS;
	return s;
}

static bool in(const struct span *s, double t)
{
	return t >= s->from && t <= s->to;
}

static bool had_effect(const struct incident *i, const struct span *s)
{
	size_t k;

	for (k = 0; k < i->effects.n; k++)
		if (in(s, i->effects.v[k]))
			return true;
	return false;
}

static bool by_effect(struct trial *t, struct gen *g, const struct span *s)
{
	bool ok = true;
	size_t i;

	for (i = 0; i < t->incident.n; i++)
		if (had_effect(&t->incident.v[i], s))
			ok = ok && add(g, (int)i);
	return ok;
}

static bool by_mark(struct trial *t, struct gen *g, const struct span *s)
{
	bool ok = true;
	size_t k;

	for (k = 0; k < t->mark.n; k++) {
		const struct mark *m = &t->mark.v[k];

		if (m->kind >= MARK_SYMPTOM && m->kind <= MARK_BLAMED &&
		    m->incident >= 0 && in(s, m->t))
			ok = ok && add(g, m->incident);
	}
	return ok;
}

/* One that is steady with the next generation was not so before. */
static bool by_open(struct trial *t, struct gen *g)
{
	double before = g->stop - TIME_EPS;
	bool ok = true;
	size_t i;

	for (i = 0; i < t->incident.n; i++)
		if (drill_is_open(&t->incident.v[i], before))
			ok = ok && add(g, (int)i);
	return ok;
}

int drill_causes(struct trial *t, double horizon, bool open_too,
		 struct drill_err *err)
{
	bool ok = true;
	size_t i;

	for (i = 0; ok && i < t->gen.n; i++) {
		struct gen *g = &t->gen.v[i];
		struct span s = stretch(t, g);

		g->cause.n = 0;
		if (g->closing == CLOSE_DONE || g->stop > horizon ||
		    (g->closing == CLOSE_OPEN && !g->hung))
			continue;
		ok = by_effect(t, g, &s);
		if (ok && !g->cause.n)
			ok = by_mark(t, g, &s);
		if (ok && !g->cause.n && open_too)
			ok = by_open(t, g);
	}
	return ok ? 0 : drill_err_set(err, -ENOMEM, MEASURE_WHO, "no memory");
}
