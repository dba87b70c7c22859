/* lost.c - what a trial cost against the baseline, and who pays for it
 * SPDX-License-Identifier: MIT
 *
 * Each piece of loss is given away once, in equal shares to a set of incidents
 * that may change within the piece; what nobody takes is unattributed.
 */
#include "model.h"

#include <errno.h>
#include <stdlib.h>

VEC_TYPE(doubles, double);
VEC_TYPE(ints, int);
VEC_TYPE(spans, struct span);

struct payers {
	struct trial *t;
	struct doubles turn; /* instants at which a set may change, rising */
	struct ints set;     /* scratch */
	int natural;	     /* whose it is when the set is empty, or -1 */
	struct spans quiet;  /* an idle slot costs nothing then */
	bool no_memory;
};

static void join(struct payers *p, int incident)
{
	int *v;
	size_t i;

	for (i = 0; i < p->set.n; i++)
		if (p->set.v[i] == incident)
			return;
	v = VEC_PUSH(&p->set);
	if (v)
		*v = incident;
	else
		p->no_memory = true;
}

/* Every cause of the outage's closings whose effect is not after @at. */
static void outage_set(struct payers *p, int closing, double at)
{
	const struct trial *t = p->t;
	int outage = t->gen.v[closing].outage, g = closing;
	size_t i;

	while (g && t->gen.v[g - 1].outage == outage)
		g--;
	for (; g < (int)t->gen.n && t->gen.v[g].outage == outage; g++)
		for (i = 0; i < t->gen.v[g].cause.n; i++) {
			int c = t->gen.v[g].cause.v[i];

			if (t->incident.v[c].natural)
				p->natural = c;
			else if (t->incident.v[c].at[AT_EFFECTIVE].t <=
				 at + TIME_EPS)
				join(p, c);
		}
}

static double first_stop(const struct trial *t, int closing)
{
	int g = closing;

	while (g && t->gen.v[g - 1].outage == t->gen.v[closing].outage)
		g--;
	return t->gen.v[g].stop;
}

static void open_set(struct payers *p, double at)
{
	size_t i;

	for (i = 0; i < p->t->incident.n; i++)
		if (!p->t->incident.v[i].natural &&
		    drill_is_open(&p->t->incident.v[i], at))
			join(p, (int)i);
}

static void set_of(struct payers *p, const struct piece *x, double at)
{
	p->set.n = 0;
	p->natural = -1;
	switch (x->why) {
	case WHY_OUTAGE:
		outage_set(p, x->key, at);
		break;
	case WHY_ROLLBACK:
		outage_set(p, x->key, first_stop(p->t, x->key));
		break;
	case WHY_DROPPED:
		if (x->key >= 0)
			outage_set(p, x->key, x->at);
		else
			open_set(p, x->at);
		break;
	case WHY_OPEN:
		open_set(p, at);
		break;
	case WHY_NOBODY:
		break;
	}
}

static void pay(struct incident *in, double s, double whole, enum cat cat)
{
	in->lost += s;
	in->by_cat[cat] += s;
	in->lost_any += whole;
	if (s == whole)
		in->lost_alone += s;
}

static void share(struct payers *p, double s, enum cat cat)
{
	size_t i;

	if (!p->set.n && p->natural >= 0)
		pay(&p->t->incident.v[p->natural], s, s, cat);
	for (i = 0; i < p->set.n; i++)
		pay(&p->t->incident.v[p->set.v[i]], s / p->set.n, s, cat);
}

static size_t first_after(const struct doubles *d, double t)
{
	size_t lo = 0, hi = d->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (d->v[mid] <= t)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static void pay_stretch(struct payers *p, const struct piece *x, double from,
			double to)
{
	size_t i = first_after(&p->turn, from);
	double until;

	for (; from < to; from = until, i++) {
		until = i < p->turn.n ? fmin(p->turn.v[i], to) : to;
		set_of(p, x, from);
		share(p, until - from, x->cat);
	}
}

/* An idle slot costs nothing while the others do what the baseline does. */
static void pay_idle(struct payers *p, const struct piece *x)
{
	double from = x->from;
	size_t i;

	for (i = 0; i < p->quiet.n && from < x->to; i++) {
		const struct span *q = &p->quiet.v[i];

		if (q->to <= from || q->from >= x->to)
			continue;
		if (q->from > from)
			pay_stretch(p, x, from, q->from);
		from = fmin(q->to, x->to);
	}
	if (from < x->to)
		pay_stretch(p, x, from, x->to);
}

/* --- when all that are left are in an ordinary checkpoint, or at the end --- */

struct edge {
	double t;
	int quiet, working; /* slots that begin (+) or end (-) to be so */
};
VEC_TYPE(edges, struct edge);

static int by_time(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;

	return (x->t > y->t) - (x->t < y->t);
}

static bool add_edges(struct edges *e, double from, double to, int quiet,
		      int working)
{
	struct edge *x = VEC_PUSH(e);

	if (!x)
		return false;
	*x = (struct edge){from, quiet, working};
	x = VEC_PUSH(e);
	if (!x)
		return false;
	*x = (struct edge){to, -quiet, -working};
	return true;
}

static bool find_edges(const struct trial *t, struct edges *e, bool *ret_idle)
{
	bool ok = true;
	size_t i, r;
	int s;

	*ret_idle = false;
	for (i = 0; ok && i < t->piece.n; i++) {
		const struct piece *x = &t->piece.v[i];

		*ret_idle |= x->cat == CAT_IDLE;
		if (x->ordinary || x->cat == CAT_IDLE)
			ok = add_edges(e, x->from, x->to, 1, x->ordinary);
	}
	for (s = 0; ok && s < t->n; s++)
		for (r = 0; ok && r < t->slot[s].released.n; r++)
			ok = add_edges(e, t->slot[s].released.v[r].from,
				       fmin(t->slot[s].released.v[r].to, t->j1),
				       1, 0);
	return ok;
}

static void find_quiet(struct payers *p)
{
	struct edges e = {0};
	struct span *q;
	int quiet = 0, working = 0;
	bool idle, ok = find_edges(p->t, &e, &idle);
	size_t i;

	if (ok && idle && e.n)
		qsort(e.v, e.n, sizeof(*e.v), by_time);
	for (i = 0; ok && idle && i + 1 < e.n; i++) {
		quiet += e.v[i].quiet;
		working += e.v[i].working;
		if (quiet < p->t->n || !working || e.v[i + 1].t <= e.v[i].t)
			continue;
		q = VEC_PUSH(&p->quiet);
		ok = q;
		if (q)
			*q = (struct span){e.v[i].t, e.v[i + 1].t};
	}
	if (!ok)
		p->no_memory = true;
	free(e.v);
}

/* --- the sum -------------------------------------------------------------- */

static void set_outages(struct trial *t)
{
	size_t g;

	for (g = 1; g < t->gen.n; g++)
		t->gen.v[g].outage = t->gen.v[g - 1].outage +
				     t->gen.v[g].completes;
}

static int rising(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void add_turn(struct payers *p, double t)
{
	double *v;

	if (isnan(t))
		return;
	v = VEC_PUSH(&p->turn);
	if (v)
		*v = t;
	else
		p->no_memory = true;
}

static void find_turns(struct payers *p)
{
	size_t i;

	for (i = 0; i < p->t->incident.n; i++) {
		add_turn(p, p->t->incident.v[i].at[AT_EFFECTIVE].t);
		add_turn(p, p->t->incident.v[i].at[AT_STEADY].t);
	}
	if (p->turn.n)
		qsort(p->turn.v, p->turn.n, sizeof(*p->turn.v), rising);
}

static int attribute(struct trial *t)
{
	struct payers p = {.t = t};
	size_t i;

	set_outages(t);
	find_turns(&p);
	find_quiet(&p);
	for (i = 0; !p.no_memory && i < t->piece.n; i++) {
		const struct piece *x = &t->piece.v[i];

		if (x->why == WHY_DROPPED)
			pay_idle(&p, x);
		else if (x->why != WHY_NOBODY)
			pay_stretch(&p, x, x->from, x->to);
	}
	free(p.turn.v);
	free(p.set.v);
	free(p.quiet.v);
	return p.no_memory ? -ENOMEM : 0;
}

/* The same loss two ways: by work and the clock, and by the categories. */
static void check(struct trial *t)
{
	double both = t->lost_ledger + t->drift;

	if (fabs(t->lost - both) > 0.001 * t->wall_rank + TIME_EPS)
		drill_reason(t, "lost compute does not balance: %g by work, "
				"%g by the ledger", t->lost, both);
}

int drill_lost(struct trial *t, const struct baseline *b, struct drill_err *err)
{
	size_t i;
	int c, r;

	t->b_mean = b->step_mean;
	r = attribute(t);
	if (r)
		return drill_err_set(err, r, MEASURE_WHO, "no memory");
	t->lost = t->lost_ledger = t->unattributed = NAN;
	if (!t->has_paid)
		return 0;
	t->lost_ledger = 0;
	for (c = 0; c < NCATS; c++)
		if (c != CAT_USEFUL)
			t->lost_ledger += t->ledger[c] - t->paid[c];
	t->drift -= t->paid_drift;
	t->lost = t->unattributed = t->wall_rank - t->paid_total;
	for (i = 0; i < t->incident.n; i++)
		if (!t->incident.v[i].natural)
			t->unattributed -= t->incident.v[i].lost;
	check(t);
	return 0;
}
