/* table.c - phases of a slot, and the values of a step across slots
 * SPDX-License-Identifier: MIT
 */
#include "model.h"

#include <errno.h>
#include <stdlib.h>

size_t drill_leaf_at(const struct slot *s, double t)
{
	size_t lo = 0, hi = s->leaf.n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (s->leaf.v[mid].to <= t)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

struct phase_sums drill_phases(const struct slot *s, double from, double to)
{
	struct phase_sums sum = {0};
	size_t i;

	for (i = drill_leaf_at(s, from);
	     i < s->leaf.n && s->leaf.v[i].from < to; i++) {
		const struct leaf *l = &s->leaf.v[i];
		double length = fmin(l->to, to) - fmax(l->from, from);

		if (l->phase == PHASE_CHECKPOINT)
			sum.ckpt += length;
		else if (l->phase == PHASE_DATA)
			sum.data += length;
		else if (l->phase == PHASE_COMM)
			sum.comm += length;
	}
	return sum;
}

/* The values of one generation, step after step. */
struct columns {
	double *time, *data, *ckpt;
	size_t *offset, *filled;
};

static void columns_done(struct columns *c)
{
	free(c->time);
	free(c->data);
	free(c->ckpt);
	free(c->offset);
	free(c->filled);
}

static int columns_init(struct columns *c, const struct gen *g)
{
	size_t total = 0, i, n = g->step.n;

	c->offset = calloc(n + 1, sizeof(size_t));
	c->filled = calloc(n + 1, sizeof(size_t));
	for (i = 0; c->offset && i < n; i++) {
		c->offset[i] = total;
		total += g->step.v[i].began;
	}
	c->time = calloc(total + 1, sizeof(double));
	c->data = calloc(total + 1, sizeof(double));
	c->ckpt = calloc(total + 1, sizeof(double));
	return c->offset && c->filled && c->time && c->data && c->ckpt
		       ? 0 : -ENOMEM;
}

static void put(struct trial *t, struct columns *c, struct gen *g,
		const struct slot *s, const struct exec *e, bool last)
{
	size_t i = drill_gstep(g, e->step) - g->step.v;
	struct phase_sums in = drill_phases(s, e->begin, e->window_end);
	size_t at = c->offset[i] + c->filled[i]++;

	c->time[at] = e->window_end - e->begin - in.ckpt;
	c->data[at] = in.data;
	c->ckpt[at] = in.ckpt;
	if (last && g->closing == CLOSE_DONE)
		c->ckpt[at] += drill_phases(s, e->window_end, t->j1).ckpt;
}

static int each_in_gen(struct trial *t, int gi, size_t *cursor,
		       int (*fn)(void *ctx, struct step_values *v), void *ctx)
{
	struct gen *g = &t->gen.v[gi];
	struct columns c = {0};
	size_t i, first;
	int s, r = columns_init(&c, g);

	for (s = 0; !r && s < t->n; s++) {
		struct slot *slot = &t->slot[s];

		drill_exec_range(slot, gi, &first, &cursor[s]);
		for (i = first; i < cursor[s]; i++)
			if (!isnan(slot->exec.v[i].window_end) &&
			    !isnan(slot->exec.v[i].end))
				put(t, &c, g, slot, &slot->exec.v[i],
				    i + 1 == cursor[s]);
	}
	for (i = 0; !r && i < g->step.n; i++) {
		struct step_values v = {
			.gen = g,
			.step = &g->step.v[i],
			.index = i,
			.time = c.time + c.offset[i],
			.data = c.data + c.offset[i],
			.ckpt = c.ckpt + c.offset[i],
			.n = c.filled[i],
		};
		r = fn(ctx, &v);
	}
	columns_done(&c);
	return r;
}

int drill_each_step(struct trial *t,
		    int (*fn)(void *ctx, struct step_values *v), void *ctx,
		    struct drill_err *err)
{
	size_t *cursor = calloc(t->n ? t->n : 1, sizeof(size_t));
	int g, r = cursor ? 0 : -ENOMEM;

	for (g = 0; !r && g < (int)t->gen.n; g++)
		if (t->gen.v[g].step.n)
			r = each_in_gen(t, g, cursor, fn, ctx);
	free(cursor);
	return r ? drill_err_set(err, r, MEASURE_WHO, "no memory") : 0;
}
