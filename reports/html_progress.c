/* html_progress.c - which steps a trial did, and when: for the curves
 * SPDX-License-Identifier: MIT
 */
#include "html_progress.h"

#include "look.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct stamp {
	double t;
	size_t at;
	json_t *ev;
};

static int by_time(const void *x, const void *y)
{
	const struct stamp *a = x, *b = y;

	if (a->t != b->t)
		return a->t < b->t ? -1 : 1;
	return a->at < b->at ? -1 : 1;
}

static bool of_interest(const char *kind)
{
	static const char *const kinds[] = { "step.begin", "step.end",
		"attempt.begin", "attempt.end", "restore.done" };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strcmp(kinds[i], kind))
			return true;
	return false;
}

static struct stamp *pick(json_t *events, double id, size_t *ret_n)
{
	size_t n = json_array_size(events), i;
	struct stamp *s = calloc(n + 1, sizeof(*s));
	json_t *ev;

	*ret_n = 0;
	json_array_foreach (events, i, ev) {
		double t = drill_look_num(ev, "t_s");

		if (s && isfinite(t) && drill_look_num(ev, "trial") == id &&
		    of_interest(drill_look_text(ev, "kind", "")))
			s[(*ret_n)++] = (struct stamp){ t, i, ev };
	}
	if (s)
		qsort(s, *ret_n, sizeof(*s), by_time);
	return s;
}

struct reader {
	struct drill_progress *p;
	size_t room;
	int generation;
	bool begun;	/* a step began in this generation */
	bool running;	/* between attempt.begin and attempt.end */
	double last_end;
};

static struct drill_step *find(struct reader *r, long step)
{
	for (size_t i = r->p->n; i-- > 0;) {
		struct drill_step *s = &r->p->steps[i];

		if (s->generation != r->generation)
			return NULL;
		if (s->step == step)
			return s;
	}
	return NULL;
}

static struct drill_step *get(struct reader *r, long step, double t)
{
	struct drill_step *s = find(r, step);

	if (s)
		return s;
	if (r->p->n == r->room) {
		size_t room = r->room ? 2 * r->room : 256;
		void *p = realloc(r->p->steps, room * sizeof(*s));

		if (!p)
			return NULL;
		r->p->steps = p;
		r->room = room;
	}
	s = &r->p->steps[r->p->n++];
	*s = (struct drill_step){ .begin = t, .step = step,
				  .generation = r->generation };
	return s;
}

static void step_event(struct reader *r, json_t *ev, double t, bool begin)
{
	double step = drill_look_num(ev, "step");
	double tokens = drill_look_num(ev, "tokens");
	struct drill_step *s;

	if (!r->running || !(step >= 0 && step < 1e15))
		return;
	r->begun = true;
	/* A followed log has no begins: a step begins where the last ended. */
	s = get(r, (long)step, begin ? t : r->last_end);
	if (!s)
		return;
	if (begin) {
		s->begun++;
		return;
	}
	s->ended++;
	s->end = t;
	s->tokens += isnan(tokens) ? 0 : tokens;
	r->last_end = t;
}

static void read_one(struct reader *r, const struct stamp *s)
{
	const char *kind = drill_look_text(s->ev, "kind", "");
	struct drill_progress *p = r->p;

	if (!strcmp(kind, "attempt.begin")) {
		if (isnan(p->begin))
			p->begin = s->t;
		r->generation++;
		r->begun = false;
		r->running = true;
		r->last_end = s->t - p->begin;
	} else if (!strcmp(kind, "attempt.end")) {
		r->running = false;
		p->wall = s->t - p->begin;
	} else if (!strcmp(kind, "restore.done")) {
		r->generation += r->begun;
		r->begun = false;
	} else {
		step_event(r, s->ev, s->t - p->begin,
			   !strcmp(kind, "step.begin"));
	}
}

static int by_end(const void *x, const void *y)
{
	const struct drill_step *a = x, *b = y;

	return a->end < b->end ? -1 : a->end > b->end;
}

/* Keeps what was completed: all that began it ended it, or the job went on. */
static void complete(struct drill_progress *p)
{
	size_t n = 0;
	long high = -1;

	for (size_t i = 0; i < p->n; i++) {
		struct drill_step *s = &p->steps[i];
		bool on = i + 1 < p->n &&
			  p->steps[i + 1].generation == s->generation;

		if (s->ended && (s->ended >= s->begun || on))
			p->steps[n++] = *s;
	}
	p->n = n;
	if (n)
		qsort(p->steps, n, sizeof(*p->steps), by_end);
	p->tokens = n > 0;
	for (size_t i = 0; i < n; i++) {
		p->steps[i].fresh = p->steps[i].step > high;
		if (p->steps[i].fresh)
			high = p->steps[i].step;
		p->tokens = p->tokens && p->steps[i].tokens > 0;
	}
}

int drill_progress_read(json_t *events, double id, struct drill_progress *ret)
{
	size_t n;
	struct stamp *s = pick(events, id, &n);
	struct reader r = { .p = ret };

	*ret = (struct drill_progress){ .begin = NAN, .wall = NAN };
	if (!s)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		read_one(&r, &s[i]);
	if (isnan(ret->wall) && n)
		ret->wall = s[n - 1].t - ret->begin;
	free(s);
	complete(ret);
	return ret->n ? 0 : -ENOENT;
}

double drill_progress_rate(const struct drill_progress *p, bool fresh,
			   bool tokens, double t, double window)
{
	double from = fmax(0, t - window), done = 0;

	for (size_t i = 0; i < p->n; i++) {
		const struct drill_step *s = &p->steps[i];
		double a = fmax(s->begin, from), z = fmin(s->end, t);
		double work = tokens ? s->tokens : 1;

		if (s->fresh == fresh && z > a)
			done += work * (z - a) / (s->end - s->begin);
	}
	return t > from ? done / (t - from) : 0;
}

long drill_progress_high(const struct drill_progress *p, double t)
{
	long high = 0;

	for (size_t i = 0; i < p->n && p->steps[i].end <= t; i++)
		if (p->steps[i].step > high)
			high = p->steps[i].step;
	return high;
}
