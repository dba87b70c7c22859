/* measure.c - events in, every number of a drill out
 * SPDX-License-Identifier: MIT
 */
#include "measure.h"

#include "model.h"
#include "print.h"
#include "stats.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* With fewer of each a rank test cannot reject at 5%. */
#define NULL_LEAST 4
#define NULL_P 0.05

static bool took_effect(const struct trial *t, const char *fault)
{
	size_t k;

	for (k = 0; k < t->incident.n; k++)
		if (!strcmp(t->incident.v[k].fault, fault))
			return true;
	return false;
}

/* A fault that never bit fails nobody, and proves nothing. */
static void check_effects(struct trial *t)
{
	json_t *planned = json_object_get(t->begin_event, "faults"), *v;
	size_t k;

	for (k = 0; k < t->mark.n; k++)
		if (t->mark.v[k].kind == MARK_REQUESTED &&
		    !took_effect(t, t->mark.v[k].fault))
			drill_reason(t, "fault '%s' never took effect",
				     t->mark.v[k].fault);
	json_array_foreach(planned, k, v)
		if (json_is_string(v) && !took_effect(t, json_string_value(v)))
			drill_reason(t, "fault '%s' never took effect",
				     json_string_value(v));
	if (!json_is_array(planned) && !t->effective.n &&
	    !json_array_size(t->reasons))
		drill_reason(t, "no fault took effect");
}

static void check_trial(struct trial *t)
{
	if (t->role == ROLE_FAULT)
		check_effects(t);
	if (!isnan(t->j0) && !drill_high_water(t, INFINITY))
		drill_reason(t, "no step was completed");
}

static int measure_trial(struct measure *m, struct trial *t,
			 struct drill_err *err)
{
	int r = drill_paid(m, t, err);

	if (!r)
		r = drill_incidents(t, err);
	if (!r)
		r = drill_lost(t, &m->base, err);
	if (!r)
		check_trial(t);
	return r;
}

/* The walls of the trials of one role. */
static size_t walls(const struct measure *m, enum role role, double *ret)
{
	size_t i, n = 0;

	for (i = 0; i < m->trial.n; i++)
		if (m->trial.v[i].role == role)
			ret[n++] = m->trial.v[i].wall_rank;
	return n;
}

/* Does the harness itself cost something? */
static int test_null(struct measure *m, struct drill_err *err)
{
	double *a = calloc(2 * m->trial.n + 1, sizeof(double));
	double *b = a ? a + m->trial.n : NULL;
	size_t i;
	int r = 0;

	if (!a)
		return drill_err_set(err, -ENOMEM, MEASURE_WHO, "no memory");
	m->n_base = (int)walls(m, ROLE_BASELINE, a);
	m->n_null = (int)walls(m, ROLE_NULL, b);
	if (m->n_base >= NULL_LEAST && m->n_null >= NULL_LEAST)
		r = drill_mann_whitney(a, m->n_base, b, m->n_null, &m->null_p,
				       err);
	for (i = 0; !r && i < m->trial.n; i++)
		if (m->null_p < NULL_P && m->trial.v[i].role != ROLE_BASELINE)
			drill_reason(&m->trial.v[i],
				     "null trials show a cost (p = %.3f)",
				     m->null_p);
	drill_sort(a, m->n_base);
	m->base.wall_rank = drill_median(a, m->n_base);
	free(a);
	return r;
}

static void set_noise(struct measure *m)
{
	size_t i;

	for (i = 0; i < m->trial.n; i++)
		if (m->trial.v[i].role == ROLE_NULL)
			m->noise_floor = fmax(m->noise_floor,
					      fabs(m->trial.v[i].lost));
}

static int measure_all(struct measure *m, struct drill_err *err)
{
	size_t i;
	int r = 0;

	for (i = 0; !r && i < m->trial.n; i++)
		r = drill_kept(&m->trial.v[i], err);
	if (!r)
		r = drill_baseline(m, err);
	for (i = 0; !r && i < m->trial.n; i++) {
		drill_allow(&m->trial.v[i], &m->base);
		r = drill_ledger(&m->trial.v[i], &m->base, err);
	}
	for (i = 0; !r && i < m->trial.n; i++)
		r = measure_trial(m, &m->trial.v[i], err);
	if (!r)
		r = test_null(m, err);
	set_noise(m);
	return r;
}

int drill_measure(json_t *events, json_t **ret, struct drill_err *err)
{
	struct measure m = {.noise_floor = NAN, .null_p = NAN};
	int r = drill_measure_read(&m, events, err);

	if (!r)
		r = measure_all(&m, err);
	if (!r) {
		*ret = drill_measure_print(&m);
		if (!*ret)
			r = drill_err_set(err, -ENOMEM, MEASURE_WHO, "no memory");
	}
	drill_measure_done(&m);
	return r;
}
