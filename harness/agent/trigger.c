/* trigger.c - when one fault on one target fires, and how often it may
 * SPDX-License-Identifier: MIT
 */
#include "trigger.h"

#include "harness/core/jsonx.h"

#include <stdlib.h>
#include <string.h>

void drill_trigger_init(struct drill_trigger *t, const struct drill_fault *f)
{
	memset(t, 0, sizeof(*t));
	t->at = &f->at;
	t->refire = f->refire;
}

void drill_trigger_done(struct drill_trigger *t)
{
	free(t->spent);
	memset(t, 0, sizeof(*t));
}

static struct drill_spent *find(const struct drill_trigger *t, int64_t point)
{
	int i;

	for (i = 0; i < t->n_spent; i++)
		if (t->spent[i].point == point)
			return &t->spent[i];
	return NULL;
}

bool drill_trigger_may(const struct drill_trigger *t, int64_t point,
		       int attempt)
{
	const struct drill_spent *s = find(t, point);

	if (!s)
		return true;
	if (s->attempt == attempt) /* a rollback inside the job repeats it */
		return false;
	return t->refire == 0 || s->count < t->refire;
}

void drill_trigger_spend(struct drill_trigger *t, int64_t point, int attempt)
{
	struct drill_spent *s = find(t, point);

	if (!s) {
		s = realloc(t->spent, (t->n_spent + 1) * sizeof(*s));
		if (!s)
			abort(); /* a fault that forgets it fired is worse */
		t->spent = s;
		s += t->n_spent++;
		memset(s, 0, sizeof(*s));
		s->point = point;
	}
	s->count++;
	s->attempt = attempt;
}

static int64_t next_of_list(const struct drill_trigger *t, int64_t after,
			    int attempt)
{
	int64_t step, best = 0;
	const json_t *v;
	size_t i;

	json_array_foreach(t->at->list, i, v) {
		step = json_integer_value(v);
		if (step > after && (!best || step < best) &&
		    drill_trigger_may(t, step, attempt))
			best = step;
	}
	return best;
}

/* Was this point of `every` drawn? Without draws: all are. */
static bool drawn(const struct drill_at *at, int64_t step)
{
	return !at->list ||
	       json_is_true(json_array_get(at->list,
					   (step - at->from) / at->every));
}

static int64_t next_of_every(const struct drill_trigger *t, int64_t after,
			     int attempt)
{
	const struct drill_at *at = t->at;
	int64_t step = at->from;

	if (after >= step)
		step += ((after - step) / at->every + 1) * at->every;
	for (; step <= at->to; step += at->every)
		if (drawn(at, step) && drill_trigger_may(t, step, attempt))
			return step;
	return 0;
}

int64_t drill_trigger_next_step(const struct drill_trigger *t, int64_t after,
				int attempt)
{
	if (t->at->on == DRILL_ON_STEP)
		return next_of_list(t, after, attempt);
	if (t->at->on == DRILL_ON_EVERY)
		return next_of_every(t, after, attempt);
	return 0;
}

bool drill_trigger_step(const struct drill_trigger *t, int64_t step,
			int attempt)
{
	return drill_trigger_next_step(t, step - 1, attempt) == step;
}

/* Instants that are not an event kind of their own, by the event that starts
 * them. What needs all ranks (resumed, caught_up, steady) is the controller's
 * to see; it sends `fire`. */
static bool is_instant(const char *instant, const char *kind)
{
	static const char *const table[][2] = {
		{ "requested", "fault.requested" },
		{ "issued", "fault.issued" },
		{ "effective", "fault.effective" },
		{ "reverted", "fault.reverted" },
		{ "restarted", "attempt.begin" },
		{ "restored", "restore.done" },
	};
	unsigned int i;

	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (!strcmp(instant, table[i][0]))
			return !strcmp(kind, table[i][1]);
	return !strcmp(instant, kind);
}

/* "lost.restarted" after the fault took effect, whoever tells it. */
static bool is_after(struct drill_trigger *t, const json_t *event)
{
	const char *dot = strrchr(t->at->of, '.');
	const char *kind = drill_json_text(event, "kind"),
		   *fault = drill_json_text(event, "fault");
	size_t n = dot - t->at->of;
	bool same = strlen(fault) == n && !strncmp(fault, t->at->of, n);

	if (same && !strcmp(kind, "fault.effective"))
		t->seen = 1;
	if (!is_instant(dot + 1, kind))
		return false;
	return same || (!fault[0] && t->seen);
}

bool drill_trigger_event(struct drill_trigger *t, const json_t *event,
			 int attempt, int64_t *ret_delay_ns)
{
	const struct drill_at *at = t->at;

	*ret_delay_ns = 0;
	switch (at->on) {
	case DRILL_ON_EVENT:
		if (strcmp(drill_json_text(event, "kind"), at->kind))
			return false;
		if (t->seen_attempt != attempt)
			t->seen = 0;
		t->seen_attempt = attempt;
		return ++t->seen == at->nth && drill_trigger_may(t, 0, attempt);
	case DRILL_ON_AFTER:
		*ret_delay_ns = at->ns;
		return is_after(t, event) && drill_trigger_may(t, 0, attempt);
	case DRILL_ON_SAME:
		return !strcmp(drill_json_text(event, "kind"),
			       "fault.issued") &&
		       !strcmp(drill_json_text(event, "fault"), at->of) &&
		       drill_trigger_may(t, 0, attempt);
	default:
		return false;
	}
}

int64_t drill_trigger_gap(const struct drill_trigger *t, int64_t n)
{
	if (t->at->on != DRILL_ON_POISSON ||
	    n >= (int64_t)json_array_size(t->at->list))
		return -1;
	return json_integer_value(json_array_get(t->at->list, n));
}
