/* baseline.c - what a step, its data and its checkpoint should take
 * SPDX-License-Identifier: MIT
 */
#include "model.h"
#include "stats.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define WARM_UP 3	 /* steps of each generation that are no samples */
#define SAMPLES_LEAST 20 /* steps a stage needs */
#define SPREAD_MOST 0.05 /* baseline trials may differ by this much */
#define SIGMAS 4
#define BAND_LEAST 0.02	 /* of B */

VEC_TYPE(doubles, double);

/* Samples of one stage, of all trials or of the current one. */
struct samples {
	const char *stage;
	struct doubles time, data, trial;
	double least, most; /* B of single trials */
};

/* What one slot waited for a checkpoint after a step. */
struct blocked {
	int64_t step;
	double s, tokens; /* s: -1 in the record that carries tokens */
};

struct estimate {
	VEC(struct samples) stage;
	VEC(struct blocked) blocked;
	VEC(struct step_norm) seen; /* stage of each step number */
};

static int push(struct doubles *d, double x)
{
	double *v = VEC_PUSH(d);

	if (!v)
		return -ENOMEM;
	*v = x;
	return 0;
}

static struct samples *samples_of(struct estimate *e, const char *stage)
{
	struct samples *s;
	size_t i;

	for (i = 0; i < e->stage.n; i++)
		if (!strcmp(e->stage.v[i].stage, stage))
			return &e->stage.v[i];
	s = VEC_PUSH(&e->stage);
	if (s) {
		s->stage = stage;
		s->least = INFINITY;
		s->most = -INFINITY;
	}
	return s;
}

static double median_of(double *x, size_t n)
{
	drill_sort(x, n);
	return drill_median(x, n);
}

static double tokens_of(const struct gstep *s)
{
	if (!s->counted)
		return NAN;
	return s->tokens * s->began / s->counted;
}

static int add_blocked(struct estimate *e, int64_t step, double s, double tokens)
{
	struct blocked *b = VEC_PUSH(&e->blocked);

	if (!b)
		return -ENOMEM;
	*b = (struct blocked){step, s, tokens};
	return 0;
}

static int add_step(void *ctx, struct step_values *v)
{
	struct estimate *e = ctx;
	struct samples *s = samples_of(e, v->step->stage);
	struct step_norm *seen;
	size_t i;
	int r = s ? 0 : -ENOMEM;

	if (r || !v->step->useful)
		return r;
	r = add_blocked(e, v->step->step, -1, tokens_of(v->step));
	for (i = 0; !r && i < v->n; i++)
		r = add_blocked(e, v->step->step, v->ckpt[i], NAN);
	seen = r ? NULL : VEC_PUSH(&e->seen);
	if (!seen)
		return -ENOMEM;
	seen->step = v->step->step;
	seen->stage = v->step->stage;
	if (!v->n || v->index < WARM_UP || v->index + 1 == v->gen->step.n)
		return 0;
	r = push(&s->trial, median_of(v->time, v->n));
	if (!r)
		r = push(&s->time, drill_median(v->time, v->n));
	return r ? r : push(&s->data, median_of(v->data, v->n));
}

static void end_of_trial(struct estimate *e)
{
	size_t i;

	for (i = 0; i < e->stage.n; i++) {
		struct samples *s = &e->stage.v[i];
		double b = median_of(s->trial.v, s->trial.n);

		if (s->trial.n) {
			s->least = fmin(s->least, b);
			s->most = fmax(s->most, b);
		}
		s->trial.n = 0;
	}
}

static double band(double sigma, double b)
{
	return fmax(SIGMAS * sigma, BAND_LEAST * b);
}

static int set_stage(struct baseline *base, struct samples *s)
{
	struct stage *st = VEC_PUSH(&base->stage);
	double *scratch = calloc(s->time.n + 1, sizeof(double));

	if (!st || !scratch) {
		free(scratch);
		return -ENOMEM;
	}
	st->name = s->stage;
	st->samples = (int)s->time.n;
	if (s->time.n) {
		st->b = median_of(s->time.v, s->time.n);
		st->sigma = drill_sigma_mad(s->time.v, s->time.n, st->b, scratch);
		st->h = st->b + band(st->sigma, st->b);
		st->d = median_of(s->data.v, s->data.n);
		st->d_band = st->d + band(drill_sigma_mad(s->data.v, s->data.n,
							  st->d, scratch),
					  st->b);
		st->spread = st->b > 0 ? (s->most - s->least) / st->b : 0;
	}
	free(scratch);
	return 0;
}

static int by_step(const void *a, const void *b)
{
	const struct blocked *x = a, *y = b;

	if (x->step != y->step)
		return x->step < y->step ? -1 : 1;
	return (x->s > y->s) - (x->s < y->s);
}

static int by_norm(const void *a, const void *b)
{
	const struct step_norm *x = a, *y = b;

	return (x->step > y->step) - (x->step < y->step);
}

/* Records of one step, sorted: those with tokens first, then the waits. */
static void set_norm(struct step_norm *n, const struct blocked *b, size_t count,
		     double *scratch, const struct stage *st)
{
	size_t i, k = 0;

	for (i = 0; i < count && b[i].s < 0; i++)
		if (!isnan(b[i].tokens))
			scratch[k++] = b[i].tokens;
	n->tokens = k ? median_of(scratch, k) : NAN;
	for (k = 0; i < count; i++)
		scratch[k++] = b[i].s;
	if (k) {
		n->ckpt = drill_median(scratch, k);
		n->ckpt_band = drill_sigma_mad(scratch, k, n->ckpt, scratch + k);
	}
	n->ckpt_band = n->ckpt + band(n->ckpt_band, st ? st->b : 0);
}

static int set_norms(struct baseline *base, struct estimate *e)
{
	double *scratch = calloc(2 * e->blocked.n + 2, sizeof(double));
	size_t i, from = 0, to, kept = 0;

	if (!scratch)
		return -ENOMEM;
	if (e->blocked.n)
		qsort(e->blocked.v, e->blocked.n, sizeof(*e->blocked.v), by_step);
	if (e->seen.n)
		qsort(e->seen.v, e->seen.n, sizeof(*e->seen.v), by_norm);
	for (i = 0; i < e->seen.n; i++) {
		if (kept && e->seen.v[kept - 1].step == e->seen.v[i].step)
			continue;
		e->seen.v[kept++] = e->seen.v[i];
	}
	for (i = 0; i < kept; i++, from = to) {
		struct step_norm *n = &e->seen.v[i];

		for (to = from; to < e->blocked.n &&
				e->blocked.v[to].step == n->step; to++)
			;
		set_norm(n, e->blocked.v + from, to - from, scratch,
			 drill_stage(base, n->stage));
	}
	base->step.v = e->seen.v;
	base->step.n = kept;
	base->step.room = e->seen.room;
	e->seen.v = NULL;
	free(scratch);
	return 0;
}

static void set_means(struct baseline *base)
{
	double b = 0, tokens = 0;
	size_t i, counted = 0;

	for (i = 0; i < base->step.n; i++) {
		const struct stage *st = drill_stage(base, base->step.v[i].stage);

		b += st ? st->b : 0;
		if (!isnan(base->step.v[i].tokens)) {
			tokens += base->step.v[i].tokens;
			counted++;
		}
	}
	base->step_mean = base->step.n ? b / base->step.n : NAN;
	base->tokens_mean = counted ? tokens / counted : NAN;
}

const struct stage *drill_stage(const struct baseline *b, const char *name)
{
	size_t i;

	for (i = 0; i < b->stage.n; i++)
		if (b->stage.v[i].samples && !strcmp(b->stage.v[i].name, name))
			return &b->stage.v[i];
	return NULL;
}

const struct step_norm *drill_norm(const struct baseline *b, int64_t step)
{
	const struct step_norm key = {.step = step};

	if (!b->step.n)
		return NULL;
	return bsearch(&key, b->step.v, b->step.n, sizeof(*b->step.v), by_norm);
}

static void estimate_done(struct estimate *e)
{
	size_t i;

	for (i = 0; i < e->stage.n; i++) {
		free(e->stage.v[i].time.v);
		free(e->stage.v[i].data.v);
		free(e->stage.v[i].trial.v);
	}
	free(e->stage.v);
	free(e->blocked.v);
	free(e->seen.v);
}

static void doubt(struct measure *m)
{
	struct baseline *b = &m->base;
	size_t i, k;

	for (i = 0; i < m->trial.n; i++) {
		if (!b->real)
			drill_reason(&m->trial.v[i], "no baseline trial");
		for (k = 0; k < b->stage.n; k++) {
			struct stage *s = &b->stage.v[k];

			if (s->samples < SAMPLES_LEAST)
				drill_reason(&m->trial.v[i],
					     "too few baseline steps in stage "
					     "'%s': %d, at least %d are needed "
					     "(give the job more steps, or "
					     "trials more of baseline)",
					     s->name, s->samples,
					     SAMPLES_LEAST);
			if (s->spread > SPREAD_MOST)
				drill_reason(&m->trial.v[i],
					     "baseline trials differ by %.1f%% "
					     "in stage '%s'", 100 * s->spread,
					     s->name);
		}
	}
}

int drill_baseline(struct measure *m, struct drill_err *err)
{
	struct baseline *base = &m->base;
	struct estimate e = {0};
	size_t i;
	int r = 0;

	for (i = 0; i < m->trial.n; i++)
		base->trials += m->trial.v[i].role == ROLE_BASELINE;
	base->real = base->trials;
	for (i = 0; !r && i < m->trial.n; i++) {
		if (base->real && m->trial.v[i].role != ROLE_BASELINE)
			continue;
		r = drill_each_step(&m->trial.v[i], add_step, &e, err);
		end_of_trial(&e);
	}
	for (i = 0; !r && i < e.stage.n; i++)
		r = set_stage(base, &e.stage.v[i]);
	if (!r)
		r = set_norms(base, &e);
	estimate_done(&e);
	if (r)
		return drill_err_set(err, r, MEASURE_WHO, "no memory");
	set_means(base);
	doubt(m);
	return 0;
}
