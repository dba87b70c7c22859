/* instant.c - when an incident stopped the job, and when it was over
 * SPDX-License-Identifier: MIT
 */
#include "model.h"

#define STEADY_STEPS 3
#define STEADY_SPEED 0.95

const char *const drill_instant_names[NINSTANTS] = {
	"requested", "issued",    "effective", "symptom",
	"detected",  "blamed",    "stopped",   "fenced",
	"allocated", "restarted", "connected", "restored",
	"resumed",   "caught_up", "steady",    "reverted",
};

static void set(struct incident *i, enum instant what, double t)
{
	i->at[what] = (struct when){.t = t};
}

static void find_stop(const struct trial *t, struct incident *i, int me)
{
	int g;

	i->stop_gen = -1;
	i->never_stopped = false;
	for (g = 0; g < (int)t->gen.n; g++) {
		if (!drill_caused(&t->gen.v[g], me))
			continue;
		if (t->gen.v[g].closing == CLOSE_OPEN) {
			i->never_stopped = true;
			return;
		}
		i->stop_gen = g;
		set(i, AT_STOPPED, t->gen.v[g].stop);
		return;
	}
}

static double first_completed_begin(const struct gen *g)
{
	const struct gstep *first = NULL;
	size_t k;

	for (k = 0; k < g->step.n; k++) {
		const struct gstep *s = &g->step.v[k];

		if (s->complete && (!first || s->done < first->done))
			first = s;
	}
	return first ? first->first_begin : NAN;
}

/* The first later generation that completes a step and is not broken by this
 * incident again; a planned closing, as when a spare joins, breaks nothing. */
static void find_resume(const struct trial *t, struct incident *i, int me)
{
	int g;

	i->resume_gen = -1;
	for (g = i->stop_gen + 1; g < (int)t->gen.n; g++) {
		const struct gen *gen = &t->gen.v[g];

		if (!gen->completes || (drill_caused(gen, me) && !gen->planned))
			continue;
		i->resume_gen = g;
		set(i, AT_RESUMED, first_completed_begin(gen));
		return;
	}
}

static void find_restart(const struct trial *t, struct incident *i)
{
	double from = i->at[AT_STOPPED].t, to = i->at[AT_RESUMED].t;
	size_t k;
	int g;

	for (k = 0; k < t->attempt.n; k++)
		if (t->attempt.v[k].from >= from &&
		    !(t->attempt.v[k].from > to))
			set(i, AT_RESTARTED, t->attempt.v[k].from);
	if (i->resume_gen >= 0) {
		set(i, AT_RESTORED, t->gen.v[i->resume_gen].restored);
		return;
	}
	for (g = i->stop_gen + 1; g < (int)t->gen.n; g++)
		if (!isnan(t->gen.v[g].restored))
			set(i, AT_RESTORED, t->gen.v[g].restored);
}

static void find_catch_up(const struct trial *t, struct incident *i)
{
	double resumed = i->at[AT_RESUMED].t, first = NAN;
	int64_t high;
	size_t g, k;

	if (isnan(resumed))
		return;
	high = drill_high_water(t, i->at[AT_STOPPED].t);
	for (g = i->stop_gen + 1; g < t->gen.n; g++)
		for (k = 0; k < t->gen.v[g].step.n; k++) {
			const struct gstep *s = &t->gen.v[g].step.v[k];

			if (s->useful && s->step > high && s->done >= resumed)
				first = fmin(first, s->done);
		}
	set(i, AT_CAUGHT_UP, first);
}

static bool is_steady(const struct steady_step *s)
{
	int k;

	for (k = 0; k < STEADY_STEPS; k++)
		if (s[k].step != s->step + k || !(s[k].ratio >= STEADY_SPEED))
			return false;
	return true;
}

/* Asked for each incident of which there may be thousands: found once. */
static void index_steady(struct trial *t)
{
	size_t k = t->steady.n, next = t->steady.n;

	while (k-- > 0) {
		if (k + STEADY_STEPS <= t->steady.n &&
		    is_steady(&t->steady.v[k]))
			next = k;
		t->steady.v[k].next = next;
	}
}

/* The first that begins at @least or later; the kept steps begin in order. */
static size_t begins_after(const struct trial *t, double least)
{
	size_t lo = 0, hi = t->steady.n, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (t->steady.v[mid].begin < least - TIME_EPS)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static void find_steady(const struct trial *t, struct incident *i)
{
	double least = -INFINITY;
	size_t k;
	int a;

	if (i->never_stopped || (i->stop_gen >= 0 && isnan(i->at[AT_CAUGHT_UP].t)))
		return;
	for (a = AT_EFFECTIVE; a <= AT_CAUGHT_UP; a++)
		least = fmax(least, i->at[a].t);
	k = begins_after(t, least);
	if (k < t->steady.n)
		k = t->steady.v[k].next;
	if (k < t->steady.n)
		set(i, AT_STEADY, t->steady.v[k].begin);
}

void drill_instants(struct trial *t)
{
	int k;

	index_steady(t);
	for (k = 0; k < (int)t->incident.n; k++) {
		struct incident *i = &t->incident.v[k];
		int a;

		for (a = AT_STOPPED; a <= AT_STEADY; a++)
			set(i, a, NAN);
		find_stop(t, i, k);
		if (i->stop_gen >= 0) {
			find_resume(t, i, k);
			find_restart(t, i);
			find_catch_up(t, i);
		}
		find_steady(t, i);
	}
}
