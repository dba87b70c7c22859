/* seen.c - what the hooks in the job saw, as trials[].hooks tells it
 * SPDX-License-Identifier: MIT
 */
#include "seen.h"

#include "look.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Hosts that speak of the same moment do so within this, seconds. */
#define TOGETHER 0.25
/* A main thread that lives shows it much more often. */
#define SILENT 0.5

static double num(json_t *from, const char *key)
{
	return drill_look_num(from, key);
}

static struct drill_seen_wait read_wait(json_t *w, const char *host)
{
	struct drill_seen_wait r = {
		.rank = (int)num(w, "rank"),
		.host = host,
		.word = drill_look_text(w, "word", ""),
		.where = drill_look_text(w, "where", ""),
		.step = num(w, "step"),
		.collective = num(w, "collective"),
		.call = num(w, "call"),
		.waits_s = num(w, "collective_s"),
		.silent_s = num(w, "silent_s"),
	};

	/* A test returns at once: what is polled for is the collective. */
	if (!strcmp(r.word, "test"))
		r.word = r.where = "";
	if (*r.word && isnan(r.waits_s))
		r.waits_s = num(w, "call_s");
	return r;
}

static int by_rank(const void *a, const void *b)
{
	const struct drill_seen_wait *x = a, *y = b;

	return (x->rank > y->rank) - (x->rank < y->rank);
}

/* The most common count of collectives is how far they should all be. */
static double usual(const struct drill_seen_moment *m)
{
	double best = NAN;
	size_t i, k, n, most = 0;

	for (i = 0; i < m->n; i++) {
		for (k = n = 0; k < m->n; k++)
			n += m->rank[k].collective == m->rank[i].collective;
		if (n > most) {
			most = n;
			best = m->rank[i].collective;
		}
	}
	return best;
}

static void mark_odd(struct drill_seen_moment *m)
{
	double most = usual(m);
	size_t i, waiting = 0;

	for (i = 0; i < m->n; i++)
		waiting += !isnan(m->rank[i].waits_s);
	for (i = 0; i < m->n; i++) {
		struct drill_seen_wait *w = &m->rank[i];

		w->odd = w->silent_s > SILENT ||
			 (!isnan(most) && w->collective < most) ||
			 (2 * waiting > m->n && isnan(w->waits_s));
	}
}

static bool add_host(struct drill_seen_moment *m, json_t *said)
{
	json_t *list = drill_look(said, "waits"), *w;
	size_t n = json_array_size(list), i;
	struct drill_seen_wait *v;

	v = realloc(m->rank, (m->n + n + 1) * sizeof(*v));
	if (!v)
		return false;
	m->rank = v;
	json_array_foreach (list, i, w)
		if (num(w, "rank") >= 0)
			v[m->n++] = read_wait(w, drill_look_text(said, "host",
								 ""));
	return true;
}

struct drill_seen_moment *drill_seen_moments(json_t *trial, size_t *ret_n)
{
	json_t *list = drill_look(trial, "hooks.waits"), *said;
	struct drill_seen_moment *m, *last = NULL;
	size_t i, n = 0;

	*ret_n = 0;
	m = calloc(json_array_size(list) + 1, sizeof(*m));
	if (!m)
		return NULL;
	json_array_foreach (list, i, said) {
		const char *at = drill_look_text(said, "at", "");
		double t = num(said, "t_s");

		if (!last || strcmp(last->at, at) ||
		    !(t - last->t_s < TOGETHER)) {
			last = &m[n++];
			last->at = at;
			last->t_s = t;
		}
		if (!add_host(last, said))
			break;
	}
	for (i = 0; i < n; i++) {
		qsort(m[i].rank, m[i].n, sizeof(*m[i].rank), by_rank);
		mark_odd(&m[i]);
	}
	*ret_n = n;
	return m;
}

void drill_seen_free(struct drill_seen_moment *m, size_t n)
{
	size_t i;

	for (i = 0; m && i < n; i++)
		free(m[i].rank);
	free(m);
}

const char *drill_seen_wait_text(const struct drill_seen_wait *w, char *buf,
				 size_t size)
{
	char s[DRILL_NUM], at[DRILL_NUM];
	size_t n = 0;

	if (isnan(w->waits_s))
		n = (size_t)snprintf(buf, size, "in no call");
	else if (*w->word)
		n = (size_t)snprintf(buf, size, "%s %.20s %s for %s s",
				     strcmp(w->where, "inside") ? w->where
								: "in",
				     w->word, drill_num_plain(at, w->call, 0),
				     drill_num_plain(s, w->waits_s, -1));
	else
		n = (size_t)snprintf(buf, size, "in collective %s for %s s",
				     drill_num_plain(at, w->collective, 0),
				     drill_num_plain(s, w->waits_s, -1));
	if (w->silent_s > SILENT && n < size)
		snprintf(buf + n, size - n, ", no sign of life for %s s",
			 drill_num_plain(s, w->silent_s, -1));
	return buf;
}

static void add(double *sum, json_t *process, const char *key)
{
	double v = num(process, key);

	if (v > 0)
		*sum += v;
}

void drill_seen_proxies(json_t *trial, struct drill_seen_proxies *ret)
{
	json_t *list = drill_look(trial, "hooks.cuda"), *p;
	size_t i;

	memset(ret, 0, sizeof(*ret));
	json_array_foreach (list, i, p) {
		ret->processes++;
		add(&ret->linked, p, "linked");
		add(&ret->remapped, p, "remapped");
		add(&ret->passed, p, "passed");
		add(&ret->bypassed, p, "bypassed");
		add(&ret->launches, p, "launches");
	}
}
