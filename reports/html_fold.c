/* html_fold.c - what each slot did, read once and folded to what can be drawn
 * SPDX-License-Identifier: MIT
 */
#include "html_fold.h"

#include <stdlib.h>
#include <string.h>

#define BINS 450
#define NARROW 0.001 /* of the trial */
#define ODD 0.01     /* of the trial */

static int cat_of(const char *name)
{
	for (int c = 0; c < CATS; c++)
		if (!strcmp(drill_cats[c].name, name))
			return c;
	return -1;
}

static double sum(const struct drill_run *r)
{
	double s = 0;

	for (int c = 0; c < CATS; c++)
		s += r->s[c];
	return s;
}

enum drill_cat drill_run_most(const struct drill_run *run, bool *ret_pure)
{
	enum drill_cat most = CAT_USEFUL;

	for (int c = 0; c < CATS; c++)
		if (run->s[c] > run->s[most])
			most = (enum drill_cat)c;
	*ret_pure = run->s[most] >= sum(run) * 0.999999;
	return most;
}

static struct drill_run *last(struct drill_lane *lane)
{
	return lane->n ? &lane->runs[lane->n - 1] : NULL;
}

static struct drill_run *add(struct drill_lane *lane, double from, double to)
{
	if (lane->n == lane->room) {
		size_t room = lane->room ? lane->room * 2 : 16;
		void *p = realloc(lane->runs, room * sizeof(*lane->runs));

		if (!p)
			return NULL;
		lane->runs = p;
		lane->room = room;
	}
	lane->runs[lane->n] = (struct drill_run){ .from = from, .to = to };
	return &lane->runs[lane->n++];
}

/* Joins what follows directly and is of the same kind, or too narrow. */
static void append(struct drill_lane *lane, double from, double to,
		   enum drill_cat cat, double narrow)
{
	struct drill_run *r = last(lane);
	bool pure = false;
	bool joins = r && from - r->to < narrow / 10 &&
		     drill_run_most(r, &pure) == cat && pure;

	if (!joins && r && to - from < narrow && (!pure ||
	    r->to - r->from < narrow) && r->to - r->from < 10 * narrow)
		joins = from - r->to < narrow / 10;
	if (!joins)
		r = add(lane, from, to);
	if (!r)
		return;
	r->to = to;
	r->s[cat] += to - from;
}

static void read_segment(struct html *h, struct drill_lanes *l, json_t *seg)
{
	double slot = drill_look_num(seg, "slot");
	double from = drill_look_num(seg, "from_s") - h->begin;
	double to = drill_look_num(seg, "to_s") - h->begin;
	int cat = cat_of(drill_look_text(seg, "category", ""));

	if (!(slot >= 0 && slot < (double)l->n) || cat < 0 || !(to > from))
		return;
	append(&l->slot[(size_t)slot], fmax(0, from), fmin(to, h->wall),
	       (enum drill_cat)cat, h->wall * NARROW);
}

/* Slots in the order in which their hosts first appear. */
static void by_host(struct drill_lanes *l)
{
	size_t done = 0;
	bool *taken = calloc(l->n, sizeof(*taken));

	for (size_t i = 0; taken && i < l->n; i++)
		for (size_t k = i; !taken[i] && k < l->n; k++)
			if (k == i || (!taken[k] &&
				       !strcmp(l->host[k], l->host[i]))) {
				l->order[done++] = k;
				taken[k] = k != i;
			}
	free(taken);
}

/* Where a slot was before anything happened to it. */
static const char *first_host(struct html *h, size_t slot)
{
	json_t *ev;
	size_t i;

	json_array_foreach (h->begins, i, ev) {
		double s = drill_look_num(ev, "slot");

		if ((isnan(s) ? drill_look_num(ev, "rank") : s) == (double)slot)
			return drill_look_text(ev, "host", "");
	}
	return "";
}

static void read_hosts(struct html *h, struct drill_lanes *l)
{
	for (size_t i = 0; i < l->n; i++) {
		const char *end = drill_html_host_of(h, (int)i, INFINITY);

		l->host[i] = first_host(h, i);
		l->moved[i] = strcmp(end, l->host[i]) ? end : "";
	}
	by_host(l);
}

int drill_lanes_read(struct html *h, struct drill_lanes *l)
{
	json_t *segs = drill_look(h->trial, "segments"), *seg;
	size_t i;

	*l = (struct drill_lanes){ 0 };
	if (!json_array_size(segs) || !(h->ranks >= 1) || !(h->wall > 0))
		return -1;
	l->n = (size_t)h->ranks;
	l->mode = l->n <= 32 ? FOLD_RANK : l->n <= 128 ? FOLD_THIN : FOLD_HOST;
	l->slot = calloc(l->n, sizeof(*l->slot));
	l->order = calloc(l->n, sizeof(*l->order));
	l->host = calloc(l->n, sizeof(*l->host));
	l->moved = calloc(l->n, sizeof(*l->moved));
	if (!l->slot || !l->order || !l->host || !l->moved) {
		drill_lanes_done(l);
		return -1;
	}
	json_array_foreach (segs, i, seg)
		read_segment(h, l, seg);
	read_hosts(h, l);
	return 0;
}

void drill_lanes_done(struct drill_lanes *l)
{
	for (size_t i = 0; l->slot && i < l->n; i++)
		free(l->slot[i].runs);
	free(l->slot);
	free(l->order);
	free(l->host);
	free(l->moved);
}

/* Adds the seconds of @lane to the bins that they lie in. */
static void spread(const struct drill_lane *lane, double width,
		   double (*bins)[CATS])
{
	for (size_t i = 0; i < lane->n; i++) {
		const struct drill_run *r = &lane->runs[i];
		double len = r->to - r->from;
		int b = (int)(r->from / width);

		for (; len > 0 && b < BINS && b * width < r->to; b++) {
			double a = fmax(r->from, b * width);
			double z = fmin(r->to, (b + 1) * width);

			for (int c = 0; z > a && c < CATS; c++)
				bins[b][c] += r->s[c] * (z - a) / len;
		}
	}
}

/* To eighths, so that neighbours that look alike are one rectangle. */
static void round_bin(double *bin)
{
	double total = 0;

	for (int c = 0; c < CATS; c++)
		total += bin[c];
	for (int c = 0; total > 0 && c < CATS; c++)
		bin[c] = round(8 * bin[c] / total);
}

void drill_lanes_merge(struct html *h, const struct drill_lanes *l,
		       const size_t *slots, size_t n, struct drill_lane *ret)
{
	double (*bins)[CATS] = calloc(BINS, sizeof(*bins));
	double width = h->wall / BINS;

	*ret = (struct drill_lane){ 0 };
	for (size_t i = 0; bins && i < n; i++)
		spread(&l->slot[slots[i]], width, bins);
	for (int b = 0; bins && b < BINS; b++) {
		struct drill_run *r = last(ret);

		round_bin(bins[b]);
		if (!r || memcmp(bins[b], bins[b - 1], sizeof(*bins)) != 0)
			r = add(ret, b * width, b * width);
		if (!r)
			break;
		r->to = (b + 1) * width;
		memcpy(r->s, bins[b], sizeof(*bins));
	}
	free(bins);
	/* Shares become seconds. */
	for (size_t i = 0; i < ret->n; i++) {
		double total = sum(&ret->runs[i]);
		double len = ret->runs[i].to - ret->runs[i].from;

		for (int c = 0; total > 0 && c < CATS; c++)
			ret->runs[i].s[c] *= len / total;
	}
}

static int most(const double *bin)
{
	int m = 0;

	for (int c = 1; c < CATS; c++)
		if (bin[c] > bin[m])
			m = c;
	return m;
}

bool drill_slot_hit(struct html *h, size_t slot)
{
	json_t *inc;
	size_t i;

	json_array_foreach (h->incidents, i, inc)
		if (drill_html_slot_hit(inc) == (int)slot)
			return true;
	return false;
}

static bool differs(const struct drill_lane *lane, double width,
		    double (*all)[CATS], double (*own)[CATS])
{
	int odd = 0;

	memset(own, 0, BINS * sizeof(*own));
	spread(lane, width, own);
	for (int b = 0; b < BINS; b++)
		odd += most(own[b]) != most(all[b]);
	return odd > ODD * BINS;
}

size_t drill_lanes_odd(struct html *h, const struct drill_lanes *l,
		       const size_t *slots, size_t n, size_t *ret)
{
	double (*all)[CATS] = calloc(BINS, sizeof(*all));
	double (*own)[CATS] = calloc(BINS, sizeof(*own));
	double width = h->wall / BINS;
	size_t found = 0;

	for (size_t i = 0; all && i < n; i++)
		spread(&l->slot[slots[i]], width, all);
	for (size_t i = 0; all && own && i < n; i++)
		if (drill_slot_hit(h, slots[i]) ||
		    differs(&l->slot[slots[i]], width, all, own))
			ret[found++] = slots[i];
	free(all);
	free(own);
	return found;
}
