/* natural.c - stops that no fault of ours caused
 * SPDX-License-Identifier: MIT
 *
 * When a rank's process ended in the stretch in which a generation broke, and
 * no incident is its cause, that end is an incident of its own. What it cost
 * is printed with it, and stays within "unattributed": only faults of ours
 * share losses.
 */
#include "model.h"

#include <errno.h>
#include <string.h>

static bool died_in(const struct slot *s, double from, double to,
		    struct when *at)
{
	bool found = false;
	size_t i;

	for (i = 0; i < s->life.n; i++) {
		const struct life *l = &s->life.v[i];

		if (l->begins || l->t < from || l->t >= to || l->t >= at->t)
			continue;
		*at = (struct when){l->t, l->u, l->host};
		found = true;
	}
	return found;
}

/* The rank whose process was the first to end, or -1. */
static int first_dead(const struct trial *t, const struct gen *g,
		      struct when *ret)
{
	double from = isnan(g->broken_from) ? g->open : g->broken_from;
	int s, rank = -1;

	*ret = (struct when){.t = INFINITY};
	for (s = 0; s < t->n; s++)
		if (died_in(&t->slot[s], from, g->stop, ret))
			rank = s;
	return rank;
}

static int open_natural(struct trial *t, struct gen *g, int rank,
			const struct when *at)
{
	struct incident *i = VEC_PUSH(&t->incident);
	double *effect;
	int *cause, a;

	if (!i)
		return -ENOMEM;
	for (a = 0; a < NINSTANTS; a++)
		i->at[a].t = NAN;
	i->fault = "natural";
	i->natural = true;
	i->at[AT_EFFECTIVE] = *at;
	i->targets = json_array();
	json_array_append_new(i->targets, json_sprintf("rank %d", rank));
	effect = VEC_PUSH(&i->effects);
	cause = VEC_PUSH(&g->cause);
	if (!effect || !cause)
		return -ENOMEM;
	*effect = at->t;
	*cause = (int)t->incident.n - 1;
	return 0;
}

/* What was said from the end of the process, as far as its instant is known,
 * until the job was stopped. */
static void take_marks(struct trial *t, double stop)
{
	static const enum instant what[] = {
		[MARK_SYMPTOM] = AT_SYMPTOM,
		[MARK_DETECTED] = AT_DETECTED,
		[MARK_BLAMED] = AT_BLAMED,
	};
	struct incident *i = &t->incident.v[t->incident.n - 1];
	struct mark *m;

	for (m = t->mark.v; m < t->mark.v + t->mark.n; m++) {
		if (m->kind < MARK_SYMPTOM || m->kind > MARK_BLAMED ||
		    m->incident >= 0 || m->fault ||
		    m->t + m->u < i->at[AT_EFFECTIVE].t -
					  i->at[AT_EFFECTIVE].u ||
		    m->t > stop)
			continue;
		m->incident = (int)t->incident.n - 1;
		if (isnan(i->at[what[m->kind]].t))
			i->at[what[m->kind]] = (struct when){m->t, m->u, m->host};
	}
}

/* A closing with no completed step since the last one is the same trouble. */
static bool goes_on(const struct trial *t, size_t g)
{
	const struct gen *before = g ? &t->gen.v[g - 1] : NULL;

	return before && !t->gen.v[g].completes && before->cause.n &&
	       t->incident.v[before->cause.v[0]].natural;
}

/* The launcher was told to stop the job: those ends were asked for. */
static bool asked_for(const struct trial *t, const struct gen *g)
{
	size_t a;

	for (a = 0; a < t->attempt.n; a++)
		if (t->attempt.v[a].number == g->attempt)
			return t->attempt.v[a].reason &&
			       !strcmp(t->attempt.v[a].reason, "stopped");
	return false;
}

int drill_natural(struct trial *t, struct drill_err *err)
{
	struct when at;
	size_t g;
	int rank, r = 0;

	for (g = 0; !r && g < t->gen.n; g++) {
		struct gen *gen = &t->gen.v[g];

		if (gen->cause.n || gen->closing == CLOSE_DONE ||
		    (gen->closing == CLOSE_OPEN && !gen->hung) ||
		    gen->planned || goes_on(t, g) || asked_for(t, gen))
			continue;
		rank = first_dead(t, gen, &at);
		if (rank < 0)
			continue;
		r = open_natural(t, gen, rank, &at);
		if (!r)
			take_marks(t, gen->stop);
	}
	drill_instants(t);
	return r ? drill_err_set(err, r, MEASURE_WHO, "no memory") : 0;
}
