/* ledger.c - one category for every instant of every slot
 * SPDX-License-Identifier: MIT
 */
#include "ledger.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct loss nobody = {.why = WHY_NOBODY, .key = -1};

static bool is_dropped_by(const struct gen *g, const struct exec *e, double died)
{
	size_t i;

	for (i = g->step.n; i-- > 0 && g->step.v[i].step > e->step;)
		if (g->step.v[i].complete && g->step.v[i].done > died)
			return true;
	return false;
}

static double death_of(const struct slot *s, const struct exec *e)
{
	size_t i;

	for (i = 0; e->dead && i < s->life.n; i++)
		if (!s->life.v[i].begins && s->life.v[i].t >= e->begin)
			return s->life.v[i].t;
	return NAN;
}

/* --- outside windows ------------------------------------------------------ */

static double next_begin(const struct slot *s, double from, double to)
{
	size_t i;

	for (i = 0; i < s->life.n && s->life.v[i].t <= to; i++)
		if (s->life.v[i].begins && s->life.v[i].t >= from)
			return s->life.v[i].t;
	return NAN;
}

static void drop(struct book *k, int key, double at)
{
	if (k->dropped)
		return;
	k->dropped = true;
	k->drop_key = key;
	k->drop_at = at;
}

static void enter_idle(struct book *k, double from, double to)
{
	book_enter(k, from, to, CAT_IDLE,
		   (struct loss){WHY_DROPPED, k->drop_key, k->drop_at, false});
}

static void enter_restart(struct book *k, double from, double to, int key)
{
	const struct loss outage = {.why = WHY_OUTAGE, .key = key};

	book_enter(k, from, to, CAT_RESTART, key >= 0 ? outage : nobody);
}

/* A dropped slot is idle until a process of it begins; one that joins
 * restarts, and is dropped again if it dies. */
static void enter_absent(struct book *k, double from, double to, int key)
{
	const struct slot *s = k->slot;
	size_t i;

	for (i = 0; i < s->life.n && s->life.v[i].t <= to; i++) {
		const struct life *l = &s->life.v[i];

		if (l->t < from || l->begins != k->dropped)
			continue;
		if (k->dropped)
			enter_idle(k, from, l->t);
		else
			enter_restart(k, from, l->t, key);
		k->dropped = !k->dropped;
		k->drop_key = -1;
		k->drop_at = from = l->t;
	}
	if (k->dropped)
		enter_idle(k, from, to);
	else
		enter_restart(k, from, to, key);
}

/* Before the slot's first window of generation @g, or all of @g. The slot is
 * dropped if the others began to train before a process of it was there. */
static void enter_outside(struct book *k, double from, double to, int g,
			  bool takes_part)
{
	const struct gen *gen = &k->t->gen.v[g];
	double joined = next_begin(k->slot, from, to);
	bool began = !isnan(gen->first_begin);

	if (k->t->log || (takes_part && isnan(joined)))
		k->dropped = false;
	else if (began && !(joined <= gen->first_begin))
		drop(k, g - 1, from);
	if (k->dropped || (began && !takes_part && !k->t->log))
		enter_absent(k, from, to, g - 1);
	else
		enter_restart(k, from, to, g - 1);
}

/* --- the last window of a generation -------------------------------------- */

static enum fate fate_of(const struct trial *t, const struct exec *e,
			 struct loss *loss)
{
	const struct gstep *s = drill_gstep((struct gen *)&t->gen.v[e->gen],
					    e->step);
	int by = s->discarded_by, last = (int)t->gen.n - 1;

	*loss = (struct loss){.why = WHY_OPEN, .key = -1};
	if (by >= 0) {
		loss->why = WHY_ROLLBACK;
		loss->key = by - 1;
		if (by > last && t->gen.v[last].closing == CLOSE_OPEN)
			loss->key = last - 1;
		return FATE_DISCARDED;
	}
	return isnan(e->end) ? FATE_UNFINISHED : FATE_KEPT;
}

/* Where the stall of a broken window begins. */
static double stall_begin(const struct book *k, const struct exec *e, double b,
			  double stop, double died)
{
	const struct trial *t = k->t;
	double allowance = drill_gstep(&k->t->gen.v[e->gen], e->step)->a;
	double s0 = !isnan(e->end) ? b : b + allowance;
	size_t i;

	for (i = 0; i < t->effective.n && t->effective.v[i] < b; i++)
		s0 = b;
	if (i < t->effective.n && t->effective.v[i] < stop)
		s0 = t->effective.v[i];
	if (!isnan(died))
		s0 = fmin(s0, died);
	return fmax(b, fmin(s0, stop));
}

static double broken_from(const struct exec *e, double stop)
{
	double b = e->begin;

	if (!isnan(e->end))
		b = e->ckpt_end > e->end ? e->ckpt_end : e->end;
	return fmin(b, stop);
}

static void enter_broken(struct book *k, struct exec *e, double stop)
{
	struct gen *g = &k->t->gen.v[e->gen];
	double b = broken_from(e, stop);
	double s0 = stall_begin(k, e, b, stop, death_of(k->slot, e));
	struct loss loss;
	enum fate fate = fate_of(k->t, e, &loss);

	g->broken_from = fmin(g->broken_from, b);
	if (g->closing == CLOSE_OPEN)
		g->hung = true;
	if (fate == FATE_UNFINISHED)
		loss = (struct loss){.why = WHY_ROLLBACK, .key = e->gen};
	e->window_end = s0;
	book_window(k, e, e->begin, s0, fate, loss);
	book_enter(k, s0, stop, CAT_STALLED,
		   (struct loss){.why = WHY_OUTAGE, .key = e->gen});
}

/* The slot died, the others went on without it. */
static void enter_left_behind(struct book *k, struct exec *e, double died,
			      double stop)
{
	double b = isnan(e->end) ? died : broken_from(e, stop);
	struct loss loss;
	enum fate fate = fate_of(k->t, e, &loss);

	e->window_end = b;
	book_window(k, e, e->begin, b, fate, loss);
	drop(k, -1, died);
	enter_absent(k, b, stop, e->gen - 1);
}

/* Work under way when the trial was cut off: a step, or the wait after one. */
static bool enter_running(struct book *k, struct exec *e)
{
	struct gstep *s = drill_gstep(&k->t->gen.v[e->gen], e->step);
	double j1 = k->t->j1, b = broken_from(e, j1);
	double elapsed = j1 - b - drill_phases(k->slot, b, j1).ckpt;

	if (elapsed > s->h + TIME_EPS)
		return false;
	if (!isnan(e->end)) {
		e->window_end = b;
		book_window(k, e, e->begin, b, FATE_KEPT, nobody);
	}
	book_running(k, b, j1);
	if (s->a > 0 && isfinite(s->a))
		k->t->fractions += elapsed / s->a * s->w / s->began;
	return true;
}

static void enter_last(struct book *k, struct exec *e, double stop)
{
	struct gen *g = &k->t->gen.v[e->gen];
	double died = death_of(k->slot, e);
	struct loss loss;

	if (!isnan(died) && is_dropped_by(g, e, died)) {
		enter_left_behind(k, e, died, stop);
	} else if (g->closing == CLOSE_DONE && !isnan(e->end)) {
		book_window(k, e, e->begin, e->end, fate_of(k->t, e, &loss),
			    loss);
		book_tail(k, e, e->end, k->t->j1);
	} else if (g->closing != CLOSE_OPEN || !isnan(died) ||
		   !enter_running(k, e)) {
		enter_broken(k, e, stop);
	}
}

/* --- a slot, a trial ------------------------------------------------------ */

static void enter_windows(struct book *k, size_t first, size_t last, double stop)
{
	struct exec *e = k->slot->exec.v + first;
	struct exec *end = k->slot->exec.v + last - 1;
	struct loss loss;
	enum fate fate;

	k->dropped = false;
	for (; e < end; e++) {
		fate = fate_of(k->t, e, &loss);
		book_window(k, e, e->begin, e->window_end, fate, loss);
	}
	enter_last(k, end, stop);
}

static void enter_slot(struct book *k)
{
	struct trial *t = k->t;
	double at = t->j0, stop;
	size_t first, last = 0;
	int g;

	for (g = 0; g < (int)t->gen.n; g++) {
		const struct gen *gen = &t->gen.v[g];

		stop = gen->slot_stop ? gen->slot_stop[k->s] : gen->stop;
		drill_exec_range(k->slot, g, &first, &last);
		if (first == last) {
			enter_outside(k, at, stop, g, false);
		} else {
			enter_outside(k, at, k->slot->exec.v[first].begin, g,
				      true);
			enter_windows(k, first, last, stop);
		}
		at = stop;
	}
	if (t->gen.n && at < t->j1)
		enter_absent(k, at, t->j1, (int)t->gen.n - 1);
}

static double released_in(const struct trial *t, const struct slot *s)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < s->released.n; i++) {
		const struct span *r = &s->released.v[i];

		sum += fmax(0, fmin(r->to, t->j1) - fmax(r->from, t->j0));
	}
	return sum;
}

static void check_balance(struct trial *t)
{
	double sum = 0;
	int c;

	for (c = 0; c < NCATS; c++)
		sum += t->ledger[c];
	if (fabs(t->wall_rank - sum) > 0.001 * t->wall_rank + TIME_EPS)
		drill_reason(t, "the ledger does not balance: %g of %g rank-s",
			     sum, t->wall_rank);
	if (t->overlap)
		drill_reason(t, "pieces of a slot overlap");
}

static int write_slot(struct trial *t, const struct baseline *b, int s)
{
	struct book k = {.t = t, .b = b, .slot = &t->slot[s], .s = s,
			 .written = -INFINITY};
	double comm = t->comm_s;
	int c;

	enter_slot(&k);
	for (c = 0; c < NCATS; c++)
		t->cut_tail[c] += k.pending[c];
	comm = t->comm_s - comm;
	t->transfer_s = s ? fmin(t->transfer_s, comm) : comm;
	free(k.part.v);
	return k.no_memory ? -ENOMEM : 0;
}

int drill_ledger(struct trial *t, const struct baseline *b, struct drill_err *err)
{
	int s, r = 0;

	if (isnan(t->j0)) {
		drill_reason(t, "the job never began");
		return 0;
	}
	t->j1 = fmax(t->j1, t->j0);
	t->wall = t->j1 - t->j0;
	if (t->role == ROLE_BASELINE)
		r = drill_cut_make(t);
	for (s = 0; !r && s < t->n; s++) {
		t->queued += released_in(t, &t->slot[s]);
		r = write_slot(t, b, s);
	}
	t->wall_rank = t->n * t->wall - t->queued;
	t->work += t->fractions;
	check_balance(t);
	return r ? drill_err_set(err, r, MEASURE_WHO, "no memory") : 0;
}
