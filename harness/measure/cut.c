/* cut.c - what the baseline paid to reach the work of a trial
 * SPDX-License-Identifier: MIT
 */
#include "model.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Work is a sum of shares of 1/n: this close to a whole step is that step. */
#define WORK_EPS 1e-6

static int by_step(const void *a, const void *b)
{
	const struct cut_row *x = a, *y = b;

	return (x->step > y->step) - (x->step < y->step);
}

/* A row for each step that the baseline kept. */
int drill_cut_make(struct trial *t)
{
	struct cut_row *row;
	size_t g, i;

	for (g = 0; g < t->gen.n; g++)
		for (i = 0; i < t->gen.v[g].step.n; i++) {
			const struct gstep *s = &t->gen.v[g].step.v[i];

			if (s->discarded_by >= 0 || !s->ended)
				continue;
			row = VEC_PUSH(&t->cut);
			if (!row)
				return -ENOMEM;
			row->step = s->step;
		}
	if (t->cut.n)
		qsort(t->cut.v, t->cut.n, sizeof(*t->cut.v), by_step);
	return 0;
}

struct cut_row *drill_cut_row(const struct trial *t, int64_t step)
{
	const struct cut_row key = {.step = step};

	if (!t->cut.n)
		return NULL;
	return bsearch(&key, t->cut.v, t->cut.n, sizeof(key), by_step);
}

struct paid {
	double by_cat[NCATS], total, drift;
};

static void add(struct paid *p, const double *cats, double share)
{
	int c;

	for (c = 0; c < NCATS; c++) {
		p->by_cat[c] += share * cats[c];
		p->total += share * cats[c];
	}
}

/* Everything up to the end of the window of step @work, linear inside a step;
 * for a job that is done also from its last step to the end. */
static void cut_at(const struct trial *base, double work, bool done,
		   struct paid *p)
{
	size_t whole = (size_t)(work + WORK_EPS), i;
	double part = work - whole;

	memset(p, 0, sizeof(*p));
	for (i = 0; i < base->cut.n && i < whole; i++) {
		add(p, base->cut.v[i].before, 1);
		add(p, base->cut.v[i].within, 1);
		p->drift += base->cut.v[i].drift;
	}
	if (i < base->cut.n && (part > WORK_EPS || !whole)) {
		part = fmax(0, part);
		add(p, base->cut.v[i].before, 1);
		add(p, base->cut.v[i].within, part);
		p->drift += part * base->cut.v[i].drift;
	}
	if (done && base->finished)
		add(p, base->cut_tail, 1);
}

static int by_total(const void *a, const void *b)
{
	const struct paid *x = a, *y = b;

	return (x->total > y->total) - (x->total < y->total);
}

static size_t reach(const struct measure *m)
{
	size_t most = 0, i;

	for (i = 0; i < m->trial.n; i++)
		if (m->trial.v[i].role == ROLE_BASELINE &&
		    m->trial.v[i].cut.n > most)
			most = m->trial.v[i].cut.n;
	return most;
}

static void set_paid(struct trial *t, const struct paid *p, size_t n)
{
	const struct paid *lo = &p[(n - 1) / 2], *hi = &p[n / 2];
	int c;

	for (c = 0; c < NCATS; c++)
		t->paid[c] = (lo->by_cat[c] + hi->by_cat[c]) / 2;
	t->paid_total = (lo->total + hi->total) / 2;
	t->paid_drift = (lo->drift + hi->drift) / 2;
	t->has_paid = true;
}

/* The median baseline trial of those that got as far as @t, else as any. */
int drill_paid(struct measure *m, struct trial *t, struct drill_err *err)
{
	size_t i, n = 0, far = reach(m);
	struct paid *p;

	if (!far || isnan(t->j0))
		return 0;
	p = calloc(m->trial.n, sizeof(*p));
	if (!p)
		return drill_err_set(err, -ENOMEM, MEASURE_WHO, "no memory");
	if (t->work > far + WORK_EPS)
		drill_reason(t, "work beyond the baseline's: %g of %zu steps",
			     t->work, far);
	for (i = 0; i < m->trial.n; i++) {
		const struct trial *b = &m->trial.v[i];

		if (b->role == ROLE_BASELINE &&
		    b->cut.n + WORK_EPS >= fmin(t->work, far))
			cut_at(b, t->work, t->finished, &p[n++]);
	}
	qsort(p, n, sizeof(*p), by_total);
	set_paid(t, p, n);
	free(p);
	return 0;
}
