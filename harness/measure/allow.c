/* allow.c - what each step of a trial may take, by the baseline
 * SPDX-License-Identifier: MIT
 */
#include "model.h"

/* The first step of a generation began B before its end, where a log gave only
 * the end; a retry thereby began before the line that showed it. */
static void set_log_begins(struct trial *t, struct slot *s, int slot, double b)
{
	size_t i;

	for (i = 0; i < s->exec.n; i++) {
		struct exec *e = &s->exec.v[i];
		struct gen *g = &t->gen.v[e->gen];
		struct gstep *step = drill_gstep(g, e->step);
		double least = i ? e[-1].begin : t->j0;

		if (isnan(e->begin))
			e->begin = fmax(e->end - b, least);
		if (e->begin < g->open) {
			g->open = e->begin;
			g[-1].stop = fmin(g[-1].stop, e->begin);
			if (g[-1].slot_stop)
				g[-1].slot_stop[slot] = e->begin;
		}
		step->first_begin = fmin(step->first_begin, e->begin);
		g->first_begin = fmin(g->first_begin, step->first_begin);
	}
}

static void allow_step(const struct trial *t, struct gstep *s,
		       const struct baseline *base, const struct stage *st)
{
	const struct step_norm *norm = drill_norm(base, s->step);
	double tokens = s->counted ? s->tokens * s->began / s->counted : NAN;

	s->w = 1;
	if (norm && norm->tokens > 0 && !isnan(tokens))
		s->w = tokens / norm->tokens;
	s->b = st->b;
	s->a = st->b * t->n / s->began * s->w;
	s->h = st->b > 0 ? s->a * st->h / st->b : s->a;
}

void drill_allow(struct trial *t, const struct baseline *b)
{
	static const struct stage none = {.b = INFINITY, .h = INFINITY};
	const struct stage *fallback = &none;
	size_t g, i;
	int s;

	for (i = 0; i < b->stage.n && fallback == &none; i++)
		if (b->stage.v[i].samples)
			fallback = &b->stage.v[i];
	for (s = 0; t->log && s < t->n; s++)
		set_log_begins(t, &t->slot[s], s,
			       isfinite(fallback->b) ? fallback->b : 0);
	for (g = 0; g < t->gen.n; g++)
		for (i = 0; i < t->gen.v[g].step.n; i++) {
			struct gstep *gs = &t->gen.v[g].step.v[i];
			const struct stage *st = drill_stage(b, gs->stage);

			if (!st && fallback != &none)
				drill_reason(t, "no baseline for stage '%s'",
					     gs->stage);
			allow_step(t, gs, b, st ? st : fallback);
			if (gs->useful && isfinite(gs->a)) {
				t->useful_seconds += gs->b * t->n * gs->w;
				t->useful_tokens += gs->counted ? gs->tokens : 0;
			}
		}
}
