/* html_lanes.c - what each rank did: one lane a rank, or a host, over time
 * SPDX-License-Identifier: MIT
 *
 * html_fold.h says which. The exact milliseconds of every stretch stand in
 * data-l (a letter and a number, a mixed run in brackets) for the readout.
 */
#include "html_fold.h"

#include <stdlib.h>
#include <string.h>

#define TOP 18
#define HOSTS_MOST 128 /* lanes of hosts on one page */

struct sheet {
	struct html *h;
	struct drill_lanes l;
	int y;		 /* of the next lane */
	int high, gap;
	FILE *left;	 /* labels in the gutters */
	FILE *body;	 /* the lanes, inside what is zoomed */
	size_t lanes;
};

static void lane_code(FILE *to, const struct drill_lane *lane)
{
	for (size_t i = 0; i < lane->n; i++) {
		const struct drill_run *r = &lane->runs[i];
		double ms = round(r->to * 1000) - round(r->from * 1000);
		bool pure;
		enum drill_cat most = drill_run_most(r, &pure);

		if (pure) {
			fprintf(to, "%c%.0f", drill_cats[most].letter, ms);
			continue;
		}
		putc('[', to);
		for (int c = 0; c < CATS; c++)
			if (r->s[c] >= 0.0005)
				fprintf(to, "%c%.0f", drill_cats[c].letter,
					r->s[c] * 1000);
		putc(']', to);
	}
}

/* A mixed run: the height is split by share, largest loss at the bottom. */
static void split_run(struct sheet *s, const struct drill_run *r, double x,
		      double w)
{
	double total = 0, y = s->y + s->high;
	bool done[CATS] = { [CAT_USEFUL] = true };

	for (int c = 0; c < CATS; c++)
		total += r->s[c];
	for (int k = 1; k < CATS; k++) {
		int most = -1;
		double high;

		for (int c = 0; c < CATS; c++)
			if (!done[c] && (most < 0 || r->s[c] > r->s[most]))
				most = c;
		done[most] = true;
		high = s->high * r->s[most] / total;
		if (high < 0.4)
			return;
		y -= high;
		fprintf(s->body, "<rect class=\"%s\" x=\"%s\" y=\"%.2f\" "
			"width=\"%s\" height=\"%.2f\"/>", drill_cats[most].class,
			pct(s->h, x), y, pct(s->h, w), high);
	}
}

static void lane_runs(struct sheet *s, const struct drill_lane *lane)
{
	double per = 100 / s->h->wall;

	if (lane->n)
		fprintf(s->body, "<rect class=\"u\" x=\"%s\" width=\"%s\" "
			"y=\"%d\" height=\"%d\"/>",
			pct(s->h, lane->runs[0].from * per),
			pct(s->h, (lane->runs[lane->n - 1].to -
				   lane->runs[0].from) * per), s->y, s->high);
	for (size_t i = 0; i < lane->n; i++) {
		const struct drill_run *r = &lane->runs[i];
		double x = r->from * per, w = (r->to - r->from) * per;
		bool pure;
		enum drill_cat most = drill_run_most(r, &pure);

		if (!pure)
			split_run(s, r, x, w);
		else if (most != CAT_USEFUL)
			fprintf(s->body, "<rect class=\"%s\" x=\"%s\" y=\"%d\" "
				"width=\"%s\" height=\"%d\"/>",
				drill_cats[most].class, pct(s->h, x), s->y,
				pct(s->h, w), s->high);
	}
}

static void draw(struct sheet *s, const struct drill_lane *lane,
		 const char *name, const char *host)
{
	fprintf(s->body, "<g class=\"lane\" data-n=\"%s\" data-h=\"%s\" "
		"data-y=\"%d\" data-l=\"", name, host, s->y);
	lane_code(s->body, lane);
	fputs("\">", s->body);
	lane_runs(s, lane);
	fputs("</g>\n", s->body);
	s->y += s->high + s->gap;
	s->lanes++;
}

static double useful_share(struct html *h, const struct drill_lane *lane)
{
	double useful = 0;

	for (size_t i = 0; i < lane->n; i++)
		useful += lane->runs[i].s[CAT_USEFUL];
	return 100 * useful / h->wall;
}

static void rank_lane(struct sheet *s, size_t slot)
{
	const struct drill_lane *lane = &s->l.slot[slot];
	bool hit = drill_slot_hit(s->h, slot);
	const char *style = hit ? " b f" : " m";
	int base = s->y + (s->high > 8 ? s->high - 1 : s->high + 2);

	if (s->l.mode == FOLD_RANK || hit)
		fprintf(s->left, "<text class=\"e sm%s\" x=\"-5\" y=\"%d\">%s"
			"%zu</text>", style, base, hit ? "\u00d7 " : "", slot);
	if (s->l.mode == FOLD_RANK)
		fprintf(s->left, "<text class=\"e sm%s\" x=\"100%%\" dx=\"48\" "
			"y=\"%d\">%s</text>", style, base,
			num(s->h, useful_share(s->h, lane), 1));
	draw(s, lane, drill_html_text(s->h, "rank %zu", slot),
	     esc(s->h, s->l.host[slot]));
}

/* "h0", cut to what fits the gutter left of the rank numbers. */
static void host_label(struct sheet *s, const char *host, size_t first,
		       size_t n, int y)
{
	bool hit = drill_html_host_hit(s->h, host);
	const char *text = *host ? host : drill_html_text(s->h,
		n > 1 ? "ranks %zu\u2013%zu" : "rank %zu", first,
		first + n - 1);

	if (strlen(text) > 16)
		text = drill_html_text(s->h, "\u2026%s",
				       text + strlen(text) - 15);
	fprintf(s->left, "<text class=\"sm%s\" x=\"-128\" y=\"%d\">%s</text>",
		hit ? " b f" : "", y, esc(s->h, text));
}

static void moved_label(struct sheet *s, size_t slot, size_t n, int y)
{
	const char *to = s->l.moved[slot];

	if (!*to || s->l.mode != FOLD_RANK || n < 2)
		return;
	fprintf(s->left, "<text class=\"m sm\" x=\"-128\" y=\"%d\">then %s"
		"</text>", y, esc(s->h, to));
}

static const char *ranks_text(struct html *h, const size_t *slots, size_t n)
{
	if (n == 1)
		return drill_html_text(h, "rank %zu", slots[0]);
	return drill_html_text(h, "ranks %zu\u2013%zu", slots[0],
			       slots[n - 1]);
}

/* One lane for the host's ranks, and one for each that goes its own way. */
static void host_folded(struct sheet *s, const size_t *slots, size_t n)
{
	size_t *odd = calloc(n, sizeof(*odd)), k, m = 0;
	size_t *rest = calloc(n, sizeof(*rest));
	size_t n_odd = odd && rest ? drill_lanes_odd(s->h, &s->l, slots, n, odd)
				   : 0;
	struct drill_lane all = { 0 };

	for (size_t i = 0; rest && i < n; i++) {
		for (k = 0; k < n_odd && odd[k] != slots[i]; k++)
			;
		if (k == n_odd)
			rest[m++] = slots[i];
	}
	if (m)
		drill_lanes_merge(s->h, &s->l, rest, m, &all);
	if (m)
		draw(s, &all, ranks_text(s->h, rest, m),
		     esc(s->h, s->l.host[rest[0]]));
	for (k = 0; k < n_odd; k++)
		rank_lane(s, odd[k]);
	free(all.runs);
	free(odd);
	free(rest);
}

static void host_lanes(struct sheet *s, const size_t *slots, size_t n,
		       bool name)
{
	int y = s->y;

	if (s->l.mode == FOLD_HOST)
		host_folded(s, slots, n);
	for (size_t i = 0; s->l.mode != FOLD_HOST && i < n; i++)
		rank_lane(s, slots[i]);
	if (name || drill_html_host_hit(s->h, s->l.host[slots[0]]) ||
	    s->y - y > 2 * (s->high + s->gap))
		host_label(s, s->l.host[slots[0]], slots[0], n, y + 8);
	moved_label(s, slots[0], n, y + 20);
	s->y += s->l.mode == FOLD_HOST ? 0 : 4;
}

/* The slots from @at on that share a lane group: those of one host, or eight
 * when no host is known. */
static size_t group_size(const struct sheet *s, size_t at)
{
	const char *host = s->l.host[s->l.order[at]];
	size_t n = 1;

	while (at + n < s->l.n && (*host ? 1 : n < 8) &&
	       !strcmp(s->l.host[s->l.order[at + n]], host))
		n++;
	return n;
}

static size_t count_groups(const struct sheet *s)
{
	size_t groups = 0;

	for (size_t at = 0; at < s->l.n; at += group_size(s, at))
		groups++;
	return groups;
}

static void all_lanes(struct sheet *s)
{
	size_t groups = count_groups(s), k = 0;
	size_t together = s->l.mode == FOLD_HOST
		? (groups + HOSTS_MOST - 1) / HOSTS_MOST : 1;
	/* Labels are 11 px apart at least. */
	bool every = s->l.mode != FOLD_HOST;

	s->y = TOP + 4;
	for (size_t at = 0; at < s->l.n; k++) {
		size_t n = 0;

		for (size_t i = 0; i < together && at + n < s->l.n; i++)
			n += group_size(s, at + n);
		host_lanes(s, s->l.order + at, n, every || k % 2 == 0);
		at += n;
	}
}

static void key(struct html *h)
{
	double wall = drill_look_num(h->trial, "ledger.wall_rank_s");

	put(h, "<ul class=\"key\">");
	for (int c = 0; c < CATS; c++) {
		char path[64];
		double v;

		snprintf(path, sizeof(path), "ledger.%s", drill_cats[c].name);
		v = drill_look_num(h->trial, path);
		put(h, "<li>%s%s <span class=\"mute\">%s%s</span></li>",
		    drill_html_swatch(h, (enum drill_cat)c),
		    drill_cats[c].name, isnan(v) ? "" :
		    num(h, 100 * v / wall, 1), isnan(v) ? "" : "&thinsp;%");
	}
	put(h, "</ul>\n");
}

/* What the picture says, for those who do not see it. */
static void in_words(struct html *h, const struct sheet *s)
{
	put(h, "<title id=\"lanes-t\">What each rank did over time</title>"
	    "<desc id=\"lanes-d\">%zu lanes for %zu ranks over %s s. In "
	    "rank-seconds:", s->lanes, s->l.n, num(h, h->wall, 1));
	for (int c = 0; c < CATS; c++) {
		char path[64];
		double v;

		snprintf(path, sizeof(path), "ledger.%s", drill_cats[c].name);
		v = drill_look_num(h->trial, path);
		if (v > 0)
			put(h, " %s %s,", drill_cats[c].name, num(h, v, 1));
	}
	put(h, " as in the ledger below.</desc>");
}

static void page(struct sheet *s, const char *left, const char *body)
{
	struct html *h = s->h;
	int bottom = s->y + 2;

	put(h, "<div class=\"time\" data-lanes tabindex=\"0\" role=\"group\" "
	    "aria-label=\"Rank lanes. Left and right move by stretch, up and "
	    "down by lane.\"><svg class=\"plot\" height=\"%d\" role=\"img\" "
	    "aria-labelledby=\"lanes-t\" aria-describedby=\"lanes-d\">",
	    bottom + 18);
	in_words(h, s);
	put(h, "%s<svg class=\"clip\" width=\"100%%\" height=\"%d\"><svg class="
	    "\"zoom\" width=\"100%%\" height=\"%d\">", left, bottom + 18,
	    bottom + 18);
	drill_html_axis(h, TOP, bottom);
	put(h, "%s", body);
	drill_html_windows(h, 2, bottom);
	put(h, "</svg></svg><line class=\"cross\" y1=\"2\" y2=\"%d\"/><text "
	    "class=\"m e\" x=\"-6\" y=\"%d\">time, s</text></svg></div>\n"
	    "<output aria-live=\"polite\" data-for=\"lanes\">Point at a lane, or "
	    "focus it and use the arrow keys, for exact values.</output>\n",
	    bottom, bottom + 14);
}

static const char *lede(enum drill_fold mode)
{
	switch (mode) {
	case FOLD_RANK:
		return "One lane a rank; times count from the start of the "
		       "job.";
	case FOLD_THIN:
		return "One lane a rank, grouped by host. The ranks that were "
		       "hit are numbered.";
	default:
		return "One lane a host, split by what its ranks did at that "
		       "time. Ranks that went their own way have a lane below "
		       "their host.";
	}
}

static void figure(struct sheet *s)
{
	char *left = NULL, *body = NULL;
	size_t n;

	s->high = s->l.mode == FOLD_RANK ? 10 : s->l.mode == FOLD_THIN ? 5 : 8;
	s->gap = s->l.mode == FOLD_RANK ? 2 : 1;
	s->left = open_memstream(&left, &n);
	s->body = open_memstream(&body, &n);
	if (s->left && s->body) {
		if (s->l.mode == FOLD_RANK)
			fprintf(s->left, "<text class=\"e m sm\" x=\"100%%\" "
				"dx=\"48\" y=\"%d\">useful %%</text>", TOP - 2);
		all_lanes(s);
	}
	if (s->left)
		fclose(s->left);
	if (s->body)
		fclose(s->body);
	if (left && body)
		page(s, left, body);
	free(left);
	free(body);
}

void drill_html_lanes(struct html *h)
{
	struct sheet s = { .h = h };

	if (!h->trial)
		return;
	put(h, "<section id=\"ranks\"><h2>What each rank did</h2>");
	if (drill_look_silent(h->run)) {
		put(h, "<p class=\"lede\">The job tells no steps, so nothing is "
		    "known of what its ranks did.</p>\n");
	} else if (drill_lanes_read(h, &s.l) == 0) {
		put(h, "<p class=\"lede\">%s Where stretches are narrower than a "
		    "pixel, the lane is split by share.</p>\n",
		    lede(s.l.mode));
		drill_html_ranges(h, "range-lanes");
		key(h);
		figure(&s);
		drill_lanes_done(&s.l);
	} else {
		put(h, "<p class=\"lede\">No record of single ranks: the events "
		    "do not tell them apart, or were not kept.</p>\n");
	}
	put(h, "</section>\n");
}
