/* html_expect.c - what was expected: margins, and every trial as a dot
 * SPDX-License-Identifier: MIT
 *
 * All rows share the scale value / limit (limit / value for > and >=), so the
 * limits stand on one vertical line. Intervals are order statistics: exact for
 * any distribution, and "never" is a value like any other. Below five trials
 * there is none, and the page says so.
 */
#include "html_part.h"

#include "harness/measure/stats.h"

#include <stdlib.h>
#include <string.h>

#define SCALE 1.5 /* the right edge, in limits */
#define DOTS 8	  /* trials that get a height of their own */

static double x_of(double used)
{
	return fmax(0, fmin(100 * used / SCALE, 99.3));
}

static double used_by(const struct drill_expect *e, double v)
{
	if (isnan(v) || !(e->lim > 0))
		return NAN;
	return *e->op == '>' ? (v > 0 ? e->lim / v : INFINITY) : v / e->lim;
}

/* The value of the trial shown; the drill's own without one. */
static json_t *shown_value(struct html *h, const struct drill_expect *e)
{
	json_t *v = drill_expect_in(h->run, e, h->shown, NULL);

	return v ? v : e->value;
}

static void margin(struct html *h, const struct drill_expect *e)
{
	json_t *value = shown_value(h, e);
	double used = used_by(e, drill_value_num(value));
	bool bad = drill_expect_held(e, value) == DRILL_HELD_NO;

	put(h, "<td class=\"wide\">");
	if (!isnan(used))
		put(h, "<svg width=\"100%%\" height=\"24\" role=\"img\" "
		    "aria-label=\"%s percent of the limit\"><rect class=\"mbar%s"
		    "\" y=\"8\" width=\"%s\" height=\"8\"/><line class=\"lim%s\" "
		    "x1=\"66.667%%\" x2=\"66.667%%\" y1=\"3\" y2=\"21\"/></svg>",
		    num(h, 100 * used, 0), bad ? " f" : "", pct(h, x_of(used)),
		    bad ? " f" : "");
	put(h, "</td>");
}

/* Trials from above; many of them at heights that repeat for every page. */
static double height(size_t i, size_t n)
{
	if (n <= DOTS)
		return 3 + 3.1 * (double)i;
	return 3 + (double)((i * 2654435761u >> 7) % 190) / 10;
}

static size_t numbers(const struct drill_expect *e, double *ret)
{
	json_t *v;
	size_t i, n = 0;

	json_array_foreach (e->per_trial, i, v)
		if (!isnan(drill_value_num(v)))
			ret[n++] = drill_value_num(v);
	return n;
}

static void dots(struct html *h, const struct drill_expect *e,
		 const struct drill_quantile_bound *q)
{
	json_t *v;
	size_t i, n = json_array_size(e->per_trial);
	int shown;

	drill_expect_in(h->run, e, h->shown, &shown);
	put(h, "<svg width=\"100%%\" height=\"30\" role=\"img\" aria-label=\"one "
	    "dot a trial, on the scale of the limit\"><line class=\"grid\" "
	    "x1=\"0\" x2=\"100%%\" y1=\"25\" y2=\"25\"/><line class=\"lim\" "
	    "x1=\"66.667%%\" x2=\"66.667%%\" y1=\"0\" y2=\"29\"/>");
	if (q->has_hi && q->has_lo)
		put(h, "<line class=\"band\" x1=\"%s\" x2=\"%s\" y1=\"25\" "
		    "y2=\"25\"/>", pct(h, x_of(used_by(e, q->lo))),
		    pct(h, x_of(used_by(e, q->hi))));
	put(h, "<line class=\"ink\" x1=\"%s\" x2=\"%s\" y1=\"21\" y2=\"29\"/>",
	    pct(h, x_of(used_by(e, q->estimate))),
	    pct(h, x_of(used_by(e, q->estimate))));
	json_array_foreach (e->per_trial, i, v) {
		double used = used_by(e, drill_value_num(v));
		bool miss = drill_expect_held(e, v) == DRILL_HELD_NO;
		const char *x = pct(h, x_of(used));

		if (isnan(used))
			continue;
		put(h, "<circle class=\"dot%s\" cx=\"%s\" cy=\"%.1f\" r=\"2.4\"/>",
		    miss ? " miss" : "", x, height(i, n));
		if ((int)i == shown && n > 1)
			put(h, "<circle class=\"ring\" cx=\"%s\" cy=\"%.1f\" "
			    "r=\"5\"/>", x, height(i, n));
		if (used > SCALE)
			put(h, "<text class=\"sm f\" x=\"100%%\" dx=\"1\" "
			    "y=\"%.1f\">\u203a</text>", height(i, n) + 4);
	}
	put(h, "</svg>");
}

/* Yes or no in every trial: a dot, or a cross where it did not hold. */
static void marks(struct html *h, const struct drill_expect *e)
{
	json_t *v;
	size_t i, n = json_array_size(e->per_trial);
	double apart = n > 12 ? 200.0 / (double)n : 18;
	int shown;

	drill_expect_in(h->run, e, h->shown, &shown);
	put(h, "<svg width=\"100%%\" height=\"24\" role=\"img\" aria-label=\"one "
	    "mark a trial\">");
	json_array_foreach (e->per_trial, i, v) {
		double x = 9 + apart * (double)i;
		enum drill_held held = drill_expect_held(e, v);

		if (held == DRILL_HELD_NO)
			put(h, "<path class=\"xm\" d=\"M%.1f 8l8 8m0-8l-8 8\"/>",
			    x - 4);
		else
			put(h, "<circle class=\"%s\" cx=\"%.1f\" cy=\"12\" "
			    "r=\"3\"/>", held == DRILL_HELD_YES ? "dot"
			    : "dev off", x);
		if ((int)i == shown && n > 1)
			put(h, "<circle class=\"ring\" cx=\"%.1f\" cy=\"12\" "
			    "r=\"6\"/>", x);
	}
	put(h, "</svg>");
}

static size_t held_in(const struct drill_expect *e)
{
	json_t *v;
	size_t i, held = 0;

	json_array_foreach (e->per_trial, i, v)
		held += drill_expect_held(e, v) == DRILL_HELD_YES;
	return held;
}

static void median_cell(struct html *h, const struct drill_expect *e,
			const struct drill_quantile_bound *q, size_t n)
{
	int digits = isfinite(q->estimate) ? drill_num_digits(q->estimate) : 1;

	put(h, "<td class=\"n\">");
	if (n < 2)
		put(h, "<span class=\"mute\">one trial</span>");
	else if (q->has_hi && q->has_lo)
		put(h, "%s [%s, %s]", num(h, q->estimate, digits),
		    num(h, q->lo, digits), num(h, q->hi, digits));
	else
		put(h, "%s <span class=\"mute\">estimate</span>",
		    num(h, q->estimate, digits));
	put(h, "</td>");
	(void)e;
}

static void rate_cell(struct html *h, size_t held, size_t n)
{
	double lo, hi;

	put(h, "<td class=\"n\">");
	if (n < 2) {
		put(h, "<span class=\"mute\">one trial</span></td>");
		return;
	}
	put(h, "%s&thinsp;%%", num(h, 100.0 * (double)held / (double)n, 0));
	if (n >= 5) {
		drill_binomial_interval((int)held, (int)n, DRILL_CONFIDENCE, &lo,
					&hi);
		put(h, " [%s, %s]", num(h, 100 * lo, 0), num(h, 100 * hi, 0));
	}
	put(h, "</td>");
}

static void over_trials(struct html *h, const struct drill_expect *e)
{
	size_t n = json_array_size(e->per_trial), held = held_in(e), k;
	double *x = calloc(n + 1, sizeof(*x));
	struct drill_quantile_bound q = { 0 };

	k = x ? numbers(e, x) : 0;
	put(h, "<td>");
	if (k && k == n && e->lim > 0 && (*e->op == '<' || *e->op == '>') &&
	    !drill_quantile_bound(x, k, 0.5, &q, NULL)) {
		dots(h, e, &q);
		put(h, "</td>");
		median_cell(h, e, &q, k);
	} else if (n) {
		marks(h, e);
		put(h, "</td>");
		rate_cell(h, held, n);
	} else {
		put(h, "</td><td></td>");
	}
	free(x);
	if (n)
		put(h, "<td class=\"n\">%s%zu of %zu%s</td>", held < n ?
		    "<b class=\"o-fail\">" : "", held, n, held < n ? "</b>"
		    : "");
	else
		put(h, "<td></td>");
}

static void value_cells(struct html *h, const struct drill_expect *e)
{
	char limit[160], value[160];
	bool numeric = json_is_number(e->value) || isinf(e->val);
	const char *unit = !strcmp(e->unit, "rank*s") ? "rank\u00b7s" : e->unit;

	drill_value_text(e->limit, e->unit, false, limit, sizeof(limit));
	drill_value_text(e->value, e->unit, false, value, sizeof(value));
	put(h, "<td>%s</td><td class=\"n\">%s</td>", esc(h, e->op),
	    esc(h, limit));
	if (numeric)
		put(h, "<td class=\"n\"><b>%s</b></td><td class=\"unit\">%s</td>",
		    num(h, e->val, -1), isinf(e->val) ? "" : esc(h, unit));
	else
		put(h, "<td class=\"text\" colspan=\"2\"><b>%s</b></td>",
		    *value ? esc(h, value) : "unknown");
}

/* Long names may break after a point or an underscore, and only there. */
static void metric(struct html *h, const char *name)
{
	put(h, "<code>");
	while (*name) {
		size_t n = strcspn(name, "._");

		n += name[n] != 0;
		put(h, "%s<wbr>", esc(h, drill_html_text(h, "%.*s", (int)n,
							 name)));
		name += n;
	}
	put(h, "</code>");
}

static void row(struct html *h, const struct drill_expect *e)
{
	static const enum drill_outcome as[] = {
		[DRILL_HELD_YES] = DRILL_PASS,
		[DRILL_HELD_UNKNOWN] = DRILL_INCONCLUSIVE,
		[DRILL_HELD_NO] = DRILL_FAIL,
	};
	static const char *const words[] = {
		[DRILL_HELD_YES] = "held",
		[DRILL_HELD_UNKNOWN] = "undecided",
		[DRILL_HELD_NO] = "missed",
	};

	put(h, "<tr%s><td>%s</td><th scope=\"row\" class=\"name\">",
	    e->held == DRILL_HELD_NO ? " class=\"bad\"" : "",
	    drill_html_outcome(h, as[e->held], words[e->held], false));
	metric(h, e->metric);
	if (*e->stat)
		put(h, " <span class=\"mute\">%s</span>", esc(h, e->stat));
	if (*e->why)
		put(h, "<br><span class=\"mute small\">%s</span>",
		    esc(h, e->why));
	put(h, "</th>");
	value_cells(h, e);
	margin(h, e);
	over_trials(h, e);
	put(h, "</tr>\n");
}

static void explain(struct html *h)
{
	put(h, "<p class=\"small mute\">The drill's value is its worst trial "
	    "unless the row names another statistic. ");
	if (h->n_fault < 2)
		put(h, "One trial shows what can happen, not how often: run more "
		    "for an interval.");
	else if (h->n_fault < 5)
		put(h, "Medians of fewer than 5 trials are estimates without an "
		    "interval.");
	else
		put(h, "Medians stand with their 95&thinsp;%% bounds on each side "
		    "by order statistics, exact for any distribution; yes/no "
		    "rows with the exact binomial 95&thinsp;%% interval.");
	put(h, "</p>\n");
}

/* Nothing ran: what would have been asked is still worth knowing. */
static void unjudged(struct html *h)
{
	put(h, "<p class=\"lede\">Not judged: no trial ran.</p>\n<div class=\""
	    "scroll\"><table><thead><tr><th>metric</th><th>op</th><th>limit"
	    "</th></tr></thead><tbody>\n");
	for (size_t i = 0; i < h->n_expects; i++) {
		const struct drill_expect *e = &h->expects[i];
		char limit[160];

		drill_value_text(e->limit, e->unit, false, limit,
				 sizeof(limit));
		put(h, "<tr><th scope=\"row\" class=\"name\">");
		metric(h, e->metric);
		put(h, "</th><td>%s</td><td>%s</td></tr>\n", esc(h, e->op),
		    esc(h, limit));
	}
	put(h, "</tbody></table></div></section>\n");
}

void drill_html_expectations(struct html *h)
{
	put(h, "<section id=\"expect\"><h2>Expectations</h2>");
	if (!h->n_expects) {
		put(h, "<p class=\"lede\">Nothing was expected of this drill."
		    "</p></section>\n");
		return;
	}
	if (!h->trial) {
		unjudged(h);
		return;
	}
	put(h, "<p class=\"lede\">Missed ones first. Margin: the value of the "
	    "trial shown as a share of its limit, the heavy tick.");
	if (h->n_fault > 1)
		put(h, " Over trials: one dot a trial, the one shown ringed, "
		    "open or crossed where missed; short tick: the median%s.",
		    h->n_fault >= 5 ? ", grey band: its bounds" : "");
	put(h, "</p>\n<div class=\"scroll\"><table class=\"mid\"><thead><tr>"
	    "<th>held</th><th>metric</th><th>op</th><th class=\"n\">limit</th>"
	    "<th class=\"n\">value</th><th></th><th class=\"wide\" "
	    "style=\"width:15%%\">margin, trial %d</th><th style=\"width:21%%\">"
	    "%s, 0 to 1.5 \u00d7 limit</th><th class=\"n\">median%s</th>"
	    "<th class=\"n\">held in</th></tr></thead><tbody>\n", h->number,
	    h->n_fault == 1 ? "one trial" : drill_html_text(h, "%d trials",
	    h->n_fault), h->n_fault >= 5 ? " [95&thinsp;% bounds]" : "");
	for (size_t i = 0; i < h->n_expects; i++)
		row(h, &h->expects[i]);
	put(h, "</tbody></table></div>\n");
	explain(h);
	put(h, "</section>\n");
}
