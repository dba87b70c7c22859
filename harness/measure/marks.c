/* marks.c - which incident a symptom, a detection or a blame belongs to
 * SPDX-License-Identifier: MIT
 */
#include "model.h"

#include <string.h>

static enum order order_of(const struct incident *i, const struct mark *m)
{
	const struct when at = {m->t, m->u, m->host};

	return drill_interval(&i->at[AT_EFFECTIVE], &at).order;
}

static bool has_name(json_t *names, const char *name)
{
	size_t k;
	json_t *v;

	json_array_foreach(names, k, v)
		if (name && !strcmp(json_string_value(v), name))
			return true;
	return false;
}

bool drill_is_target(const struct incident *i, const char *name)
{
	return has_name(i->targets, name);
}

bool drill_is_right(const struct incident *i, const char *name)
{
	return drill_is_target(i, name) || has_name(i->devices, name);
}

bool drill_is_open(const struct incident *i, double at)
{
	return i->at[AT_EFFECTIVE].t <= at + TIME_EPS &&
	       !(i->at[AT_STEADY].t <= at);
}

static bool same_fault(const struct incident *i, const struct mark *m)
{
	return m->fault && !strcmp(i->fault, m->fault);
}

static bool same_target(const struct incident *i, const struct mark *m)
{
	return drill_is_right(i, m->what) || drill_is_right(i, m->blame);
}

/* The latest incident that @m may be of by @rule; a reversed one is not. */
static int latest(const struct trial *t, const struct mark *m,
		  bool (*rule)(const struct incident *, const struct mark *))
{
	int i;

	for (i = (int)t->incident.n - 1; i >= 0; i--)
		if (rule(&t->incident.v[i], m) &&
		    order_of(&t->incident.v[i], m) != ORDER_REVERSED)
			return i;
	return -1;
}

static const enum instant instant_of[] = {
	[MARK_SYMPTOM] = AT_SYMPTOM,
	[MARK_DETECTED] = AT_DETECTED,
	[MARK_BLAMED] = AT_BLAMED,
};

/* The latest open incident that lacks one of these; when none lacks one, a
 * later word about the latest: while a fault is in force no detection is a
 * false alarm. */
static int latest_open(const struct trial *t, const struct mark *m)
{
	int i, later = -1;

	for (i = (int)t->incident.n - 1; i >= 0; i--) {
		const struct incident *in = &t->incident.v[i];

		if (order_of(in, m) == ORDER_REVERSED ||
		    in->at[AT_STEADY].t <= m->t)
			continue;
		if (isnan(in->at[instant_of[m->kind]].t))
			return i;
		later = later < 0 ? i : later;
	}
	return later;
}

static int find(const struct trial *t, const struct mark *m, bool open_too)
{
	int i = m->fault ? latest(t, m, same_fault) : -1;

	if (i < 0 && m->fault) /* it says which, and is wrong or early */
		return -1;
	if (i < 0)
		i = latest(t, m, same_target);
	if (i < 0 && open_too)
		i = latest_open(t, m);
	return i;
}

void drill_marks(struct trial *t, double horizon, bool open_too)
{
	struct incident *in;
	size_t k;
	int i;

	for (k = 0; k < t->incident.n; k++)
		for (i = MARK_SYMPTOM; i <= MARK_BLAMED; i++)
			t->incident.v[k].at[instant_of[i]].t = NAN;
	for (k = 0; k < t->mark.n; k++) {
		struct mark *m = &t->mark.v[k];

		if (m->kind < MARK_SYMPTOM || m->kind > MARK_BLAMED)
			continue;
		m->incident = m->t <= horizon ? find(t, m, open_too) : -1;
		if (m->incident < 0)
			continue;
		in = &t->incident.v[m->incident];
		if (isnan(in->at[instant_of[m->kind]].t))
			in->at[instant_of[m->kind]] =
				(struct when){m->t, m->u, m->host};
	}
}
