/* window.c - one step window: useful, checkpoint, data, degraded or redone
 * SPDX-License-Identifier: MIT
 */
#include "ledger.h"

static bool same_piece(const struct piece *a, const struct piece *b)
{
	return a->slot == b->slot && a->cat == b->cat && a->why == b->why &&
	       a->key == b->key && a->at == b->at &&
	       a->ordinary == b->ordinary && fabs(a->to - b->from) <= TIME_EPS;
}

static void push_piece(struct book *k, const struct piece *p)
{
	struct trial *t = k->t;
	struct piece *v = t->piece.n ? &t->piece.v[t->piece.n - 1] : NULL;

	if (v && same_piece(v, p)) {
		v->to = p->to;
		return;
	}
	v = VEC_PUSH(&t->piece);
	if (v)
		*v = *p;
	else
		k->no_memory = true;
}

static void enter(struct book *k, double from, double to, enum cat cat,
		  struct loss loss)
{
	struct piece p = {
		.from = from, .to = to, .at = loss.at, .slot = k->s,
		.key = loss.key, .cat = cat, .why = loss.why,
		.ordinary = loss.ordinary,
	};

	if (!(to > from))
		return;
	if (from < k->written - TIME_EPS)
		k->t->overlap = true;
	k->written = to;
	k->t->ledger[cat] += to - from;
	(k->row ? k->row->within : k->pending)[cat] += to - from;
	push_piece(k, &p);
}

void book_enter(struct book *k, double from, double to, enum cat cat,
		struct loss loss)
{
	size_t i;

	from = fmax(from, k->t->j0);
	to = fmin(to, k->t->j1);
	for (i = 0; i < k->slot->released.n && from < to; i++) {
		const struct span *r = &k->slot->released.v[i];

		if (r->to <= from || r->from >= to)
			continue;
		enter(k, from, r->from, cat, loss);
		from = fmin(r->to, to);
	}
	enter(k, from, to, cat, loss);
}

/* What of a window is too much, and still to be placed from its end. */
struct excess {
	double data, slow, ckpt;
};

static void add_part(struct book *k, double from, double to, int is)
{
	struct part *p;

	if (!(to > from))
		return;
	p = VEC_PUSH(&k->part);
	if (p)
		*p = (struct part){from, to, is};
	else
		k->no_memory = true;
}

/* The last *left seconds of [from, to) are @is. Returns what remains before. */
static double take(struct book *k, double from, double to, double *left, int is)
{
	double n = fmin(*left, to - from);

	if (!(n > 0))
		return to;
	add_part(k, to - n, to, is);
	*left -= n;
	return to - n;
}

/* Parts are found from the end of a stretch to its begin. */
static void split(struct book *k, double from, double to, enum phase phase,
		  struct excess *x)
{
	if (!(to > from))
		return;
	if (phase == PHASE_CHECKPOINT) {
		to = take(k, from, to, &x->ckpt, PART_CKPT_MORE);
		add_part(k, from, to, PART_CKPT);
		return;
	}
	if (phase == PHASE_DATA)
		to = take(k, from, to, &x->data, PART_DATA);
	to = take(k, from, to, &x->slow, PART_SLOW);
	add_part(k, from, to, PART_USEFUL);
}

static void split_window(struct book *k, double from, double to,
			 struct excess *x)
{
	const struct slot *s = k->slot;
	size_t lo = drill_leaf_at(s, from), hi = lo;
	double at = to;

	k->part.n = 0;
	while (hi < s->leaf.n && s->leaf.v[hi].from < to)
		hi++;
	for (; hi > lo; hi--) {
		const struct leaf *l = &s->leaf.v[hi - 1];
		double f = fmax(l->from, from), t = fmin(l->to, at);

		split(k, t, at, PHASE_OTHER, x);
		split(k, f, t, l->phase, x);
		at = fmin(at, f);
	}
	split(k, from, at, PHASE_OTHER, x);
}

static void enter_part(struct book *k, const struct part *p, enum fate fate,
		       struct loss loss)
{
	static const enum cat cats[] = {
		[PART_USEFUL] = CAT_USEFUL, [PART_CKPT] = CAT_CHECKPOINT,
		[PART_CKPT_MORE] = CAT_CHECKPOINT, [PART_DATA] = CAT_DATA,
		[PART_SLOW] = CAT_DEGRADED,
	};
	bool slow = p->is == PART_DATA || p->is == PART_SLOW;
	const struct loss open = {.why = WHY_OPEN, .key = -1};

	if (fate != FATE_KEPT) {
		book_enter(k, p->from, p->to, CAT_REDONE, slow ? open : loss);
		return;
	}
	loss = (struct loss){.why = WHY_NOBODY, .key = -1,
			     .ordinary = p->is == PART_CKPT};
	book_enter(k, p->from, p->to, cats[p->is],
		   slow || p->is == PART_CKPT_MORE ? open : loss);
}

/* The slot's share of the time a step took more than its allowance. */
static void find_slow(struct book *k, const struct gstep *s, double d,
		      double data, struct excess *x)
{
	const struct stage *st = drill_stage(k->b, s->stage);
	double e = d - s->a;

	if (!(d > s->h + TIME_EPS) || !isfinite(s->a))
		return;
	if (st && data > st->d_band)
		x->data = fmin(e, data - st->d);
	x->slow = e - x->data;
}

static double ckpt_excess(struct book *k, const struct gstep *s, double blocked)
{
	const struct step_norm *n = drill_norm(k->b, s->step);

	if (!n)
		return blocked;
	return blocked > n->ckpt_band + TIME_EPS ? blocked - n->ckpt : 0;
}

/* The time of checkpoints after the last step, until the job is done. */
static double tail_ckpt(const struct book *k, const struct exec *e, double to)
{
	bool last = e + 1 == k->slot->exec.v + k->slot->exec.n;

	if (!last || k->t->gen.v[e->gen].closing != CLOSE_DONE)
		return 0;
	return drill_phases(k->slot, to, k->t->j1).ckpt;
}

/* From here to the end of the window everything belongs to that row. */
static void open_row(struct book *k, int64_t step, double drift)
{
	int c;

	k->row = drill_cut_row(k->t, step);
	for (c = 0; k->row && c < NCATS; c++) {
		k->row->before[c] += k->pending[c];
		k->pending[c] = 0;
	}
	if (k->row)
		k->row->drift += drift;
}

static void count_work(struct book *k, const struct gstep *s,
		       const struct phase_sums *in, double from, double to,
		       bool slow)
{
	double d = to - from - in->ckpt, drift = 0;

	if (!slow && isfinite(s->a))
		drift = d - s->a;
	k->t->work += s->w / s->began;
	k->t->drift += drift;
	k->t->comm_s += in->comm;
	k->t->useful_window_s += to - from;
	open_row(k, s->step, drift);
}

void book_window(struct book *k, struct exec *e, double from, double to,
		 enum fate fate, struct loss loss)
{
	struct gstep *s = drill_gstep(&k->t->gen.v[e->gen], e->step);
	struct phase_sums in = drill_phases(k->slot, from, to);
	struct excess x = {0};
	double tail;
	size_t i;

	find_slow(k, s, to - from - in.ckpt, in.data, &x);
	if (fate == FATE_KEPT) {
		tail = tail_ckpt(k, e, to);
		x.ckpt = fmax(0, ckpt_excess(k, s, in.ckpt + tail) - tail);
		count_work(k, s, &in, from, to, x.data + x.slow > 0);
	}
	split_window(k, from, to, &x);
	for (i = k->part.n; i-- > 0;)
		enter_part(k, &k->part.v[i], fate, loss);
	k->row = NULL;
}

void book_running(struct book *k, double from, double to)
{
	const struct loss none = {.why = WHY_NOBODY, .key = -1};
	struct excess x = {0};
	size_t i;

	split_window(k, from, to, &x);
	for (i = k->part.n; i-- > 0;)
		enter_part(k, &k->part.v[i], FATE_KEPT, none);
}

void book_tail(struct book *k, const struct exec *e, double from, double to)
{
	struct gstep *s = drill_gstep(&k->t->gen.v[e->gen], e->step);
	const struct loss end = {.why = WHY_NOBODY, .key = -1, .ordinary = true};
	const struct loss open = {.why = WHY_OPEN, .key = -1};
	double tail = drill_phases(k->slot, from, to).ckpt;
	double before = drill_phases(k->slot, e->begin, from).ckpt;
	struct excess x = {.ckpt = tail > 0 ? ckpt_excess(k, s, tail + before) : 0};
	size_t i;

	split_window(k, from, to, &x);
	for (i = k->part.n; i-- > 0;) {
		const struct part *p = &k->part.v[i];
		bool more = p->is == PART_CKPT_MORE;

		book_enter(k, p->from, p->to,
			   more || p->is == PART_CKPT ? CAT_CHECKPOINT
						      : CAT_RESTART,
			   more ? open : end);
	}
}
