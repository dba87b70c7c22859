/* kept.c - which executions of a step count, and which a rollback discarded
 * SPDX-License-Identifier: MIT
 */
#include "model.h"

#include <errno.h>
#include <stdlib.h>

/* Three attempts in a row without a new step are a livelock. */
#define LIVELOCK 3

void drill_exec_range(const struct slot *s, int g, size_t *first, size_t *last)
{
	size_t i = *last; /* generations are asked for in rising order */

	while (i < s->exec.n && s->exec.v[i].gen < g)
		i++;
	*first = i;
	while (i < s->exec.n && s->exec.v[i].gen == g)
		i++;
	*last = i;
}

/* A window lasts until the slot's next begin in the generation; the last one
 * of a job that is done until its own end. */
static void set_windows(const struct trial *t, struct slot *s)
{
	size_t i;

	for (i = 0; i < s->exec.n; i++) {
		struct exec *e = &s->exec.v[i];

		if (i + 1 < s->exec.n && e[1].gen == e->gen)
			e->window_end = e[1].begin;
		else if (t->gen.v[e->gen].closing == CLOSE_DONE)
			e->window_end = e->end;
	}
}

static void count_dead(struct trial *t)
{
	struct exec *e;
	int s;

	for (s = 0; s < t->n; s++) {
		set_windows(t, &t->slot[s]);
		for (e = t->slot[s].exec.v;
		     e < t->slot[s].exec.v + t->slot[s].exec.n; e++)
			if (e->dead && isnan(e->end))
				drill_gstep(&t->gen.v[e->gen], e->step)->dead++;
	}
}

/* Every slot that began it ended it; one that died is not waited for if
 * another went on. */
static void set_complete(struct gen *g)
{
	size_t i;

	g->planned = g->closing == CLOSE_IN_JOB;
	for (i = 0; i < g->step.n; i++) {
		struct gstep *s = &g->step.v[i];
		int dead = i + 1 < g->step.n ? s->dead : 0;

		s->complete = s->ended && s->ended + dead >= s->began;
		if (s->ended < s->began)
			g->planned = false;
		if (s->complete)
			g->completes = true;
	}
}

static void set_resume_step(struct gen *g)
{
	if (g->step.n)
		g->resume_step = g->step.v[0].step;
	else if (g->restore_step >= 0)
		g->resume_step = g->restore_step + 1;
}

/* Of each generation: the next one that resumes at all, and the next one that
 * resumes lower than it. So discards are found without looking at every pair. */
struct later {
	int any, lower;
};

static struct later *find_later(const struct trial *t)
{
	int n = (int)t->gen.n, g, i, any = -1;
	struct later *l = calloc(n ? n : 1, sizeof(*l));

	for (g = n - 1; l && g >= 0; g--) {
		int64_t f = t->gen.v[g].resume_step;

		l[g].any = any;
		for (i = any; i >= 0 && t->gen.v[i].resume_step >= f;)
			i = l[i].lower;
		l[g].lower = i;
		if (f >= 0)
			any = g;
	}
	return l;
}

static void discard_rolled_back(struct trial *t, const struct later *l, int g)
{
	struct gen *gen = &t->gen.v[g];
	int by = l[g].any;
	size_t i;

	for (i = gen->step.n; i-- > 0;) {
		while (by >= 0 && t->gen.v[by].resume_step > gen->step.v[i].step)
			by = l[by].lower;
		if (by < 0)
			return;
		gen->step.v[i].discarded_by = by;
	}
}

/* A job that began with the fresh state restored nothing: what it committed
 * since then is there. */
static int64_t surviving_state(const struct trial *t, const struct gen *last)
{
	if (last->restore_step > 0)
		return last->restore_step;
	return last->restore_step < 0 ? t->committed : last->committed;
}

/* When the trial ends and nobody can go on, only the surviving state counts. */
static void discard_at_end(struct trial *t)
{
	struct gen *last = t->gen.n ? &t->gen.v[t->gen.n - 1] : NULL;
	int64_t survives;
	size_t g, i;

	if (!last || last->closing == CLOSE_DONE ||
	    (last->closing == CLOSE_OPEN && last->step.n))
		return;
	survives = surviving_state(t, last);
	for (g = 0; g < t->gen.n; g++)
		for (i = 0; i < t->gen.v[g].step.n; i++) {
			struct gstep *s = &t->gen.v[g].step.v[i];

			if (s->discarded_by < 0 && s->step > survives)
				s->discarded_by = (int)t->gen.n;
		}
}

static void set_useful(struct gen *g)
{
	size_t i;

	for (i = 0; i < g->step.n; i++)
		g->step.v[i].useful = g->step.v[i].complete &&
				      g->step.v[i].discarded_by < 0;
}

static int64_t highest(const struct gen *g)
{
	size_t i;

	for (i = g->step.n; i-- > 0;)
		if (g->step.v[i].complete)
			return g->step.v[i].step;
	return 0;
}

static void count_progress(struct trial *t)
{
	int64_t high = 0;
	size_t a, g = 0;
	int run = 0;

	for (a = 0; a < t->attempt.n; a++) {
		t->attempt.v[a].high_before = high;
		for (; g < t->gen.n && t->gen.v[g].attempt == (int)a; g++)
			if (highest(&t->gen.v[g]) > high)
				high = highest(&t->gen.v[g]);
		t->attempt.v[a].high_after = high;
		run = high > t->attempt.v[a].high_before ? 0 : run + 1;
		if (run)
			t->no_progress++;
		if (run >= LIVELOCK)
			t->livelock = true;
	}
}

int64_t drill_high_water(const struct trial *t, double at)
{
	int64_t high = 0;
	size_t g, i;

	for (g = 0; g < t->gen.n; g++)
		for (i = 0; i < t->gen.v[g].step.n; i++) {
			const struct gstep *s = &t->gen.v[g].step.v[i];

			if (s->complete && s->done <= at && s->step > high)
				high = s->step;
		}
	return high;
}

int drill_kept(struct trial *t, struct drill_err *err)
{
	struct later *later;
	int g;

	count_dead(t);
	for (g = 0; g < (int)t->gen.n; g++) {
		set_complete(&t->gen.v[g]);
		set_resume_step(&t->gen.v[g]);
	}
	later = find_later(t);
	if (!later)
		return drill_err_set(err, -ENOMEM, MEASURE_WHO, "no memory");
	for (g = 0; g < (int)t->gen.n; g++)
		discard_rolled_back(t, later, g);
	free(later);
	discard_at_end(t);
	for (g = 0; g < (int)t->gen.n; g++)
		set_useful(&t->gen.v[g]);
	count_progress(t);
	return 0;
}
