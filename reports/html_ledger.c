/* html_ledger.c - what it cost: the account of every rank-second
 * SPDX-License-Identifier: MIT
 *
 * Both bars have one scale. The baseline's column is what the baseline took
 * for the same work, so that the differences are the cost; the cost is then
 * handed out to the incidents, and the parts add up to the whole.
 */
#include "html_part.h"

#include <string.h>

struct books {
	double wall, base_wall;	      /* rank-seconds; NAN: unknown */
	double now[CATS], base[CATS];
	bool has_base;
	double lost, floor;
};

static double field(json_t *o, const char *of, int cat)
{
	char path[64];

	snprintf(path, sizeof(path), "%s.%s", of, drill_cats[cat].name);
	return drill_look_num(o, path);
}

/* The mean of the finished baseline trials, when measuring gave no cut. */
static bool mean_baseline(struct html *h, struct books *b)
{
	json_t *t;
	size_t i;
	int n = 0;

	json_array_foreach (drill_look(h->run, "trials"), i, t) {
		if (strcmp(drill_look_text(t, "role", ""), "baseline") ||
		    !drill_look(t, "ledger"))
			continue;
		n++;
		for (int c = 0; c < CATS; c++)
			b->base[c] += field(t, "ledger", c);
	}
	for (int c = 0; c < CATS && n; c++)
		b->base[c] /= n;
	return n > 0 && drill_look_true(h->trial, "finished");
}

static void read_books(struct html *h, struct books *b)
{
	*b = (struct books){ .base_wall = 0 };
	b->wall = drill_look_num(h->trial, "ledger.wall_rank_s");
	b->lost = drill_look_num(h->trial, "lost_compute_rank_s");
	b->floor = drill_look_num(h->run, "noise_floor_rank_s");
	b->has_base = drill_look(h->trial, "baseline_cut") != NULL;
	for (int c = 0; c < CATS; c++) {
		b->now[c] = field(h->trial, "ledger", c);
		if (isnan(b->now[c]))
			b->now[c] = 0;
		if (b->has_base)
			b->base[c] = field(h->trial, "baseline_cut", c);
		if (isnan(b->base[c]))
			b->base[c] = 0;
	}
	if (!b->has_base)
		b->has_base = mean_baseline(h, b);
	for (int c = 0; c < CATS; c++)
		b->base_wall += b->base[c];
}

static void bar(struct html *h, const double *v, double scale, int y, int high,
		double *ret_mid)
{
	double x = 0;

	for (int c = 0; c < CATS; c++) {
		double w = 100 * v[c] / scale;

		if (w > 0)
			put(h, "<rect class=\"%s\" x=\"%s\" y=\"%d\" width=\"%s\""
			    " height=\"%d\"/>", drill_cats[c].class, pct(h, x),
			    y, pct(h, w), high);
		if (ret_mid)
			ret_mid[c] = x + w / 2;
		x += w;
	}
}

/* Names under the bar in equal columns, with leaders: none is ever dropped. */
static void names(struct html *h, const struct books *b, const double *mid,
		  int y)
{
	put(h, "<svg y=\"%d\" width=\"100%%\" height=\"30\" viewBox=\"0 0 1000 30"
	    "\" preserveAspectRatio=\"none\"><path class=\"lead\" d=\"", y);
	for (int c = 0; c < CATS; c++)
		put(h, "M%.1f 0V4L%.1f 26V30", 10 * mid[c],
		    (c + 0.5) * 1000 / CATS);
	put(h, "\"/></svg>");
	for (int c = 0; c < CATS; c++) {
		const char *x = pct(h, (c + 0.5) * 100 / CATS);

		put(h, "<text class=\"c\" x=\"%s\" y=\"%d\">%s</text><text "
		    "class=\"c b\" x=\"%s\" y=\"%d\">%s</text><text class=\"c m "
		    "sm\" x=\"%s\" y=\"%d\">%s&#8201;%%</text>", x, y + 43,
		    drill_cats[c].name, x, y + 58, num(h, b->now[c], -1), x,
		    y + 72, num(h, 100 * b->now[c] / b->wall, 1));
	}
}

static void bars(struct html *h, const struct books *b)
{
	double scale = fmax(b->wall, b->base_wall), mid[CATS];
	int y = b->has_base ? 30 : 0;

	put(h, "<div class=\"books\"><svg class=\"plot\" height=\"%d\" role=\"img\""
	    " aria-label=\"The ledger as a bar%s; the table below has every "
	    "number\">", y + 104, b->has_base ? ", with the baseline" : "");
	if (b->has_base) {
		bar(h, b->base, scale, 0, 20, NULL);
		put(h, "<text class=\"e m\" x=\"-6\" y=\"14\">baseline %s"
		    "</text>", num(h, b->base_wall, -1));
	}
	bar(h, b->now, scale, y, 26, mid);
	put(h, "<text class=\"e\" x=\"-6\" y=\"%d\">trial %d: %s</text>", y + 17,
	    h->number, num(h, b->wall, -1));
	names(h, b, mid, y + 27);
	put(h, "</svg></div>\n");
}

static void heading(struct html *h, const struct books *b)
{
	put(h, "<div class=\"scroll\"><table><thead><tr><th>category</th>%s"
	    "<th class=\"n\">trial %d, rank\u00b7s</th><th class=\"n\">share, %%"
	    "</th>", b->has_base ? "<th class=\"n\">baseline, rank\u00b7s</th>"
	    : "", h->number);
	if (b->has_base)
		put(h, "<th class=\"n\">difference, rank\u00b7s</th><th "
		    "class=\"n\">in steps</th>");
	if (b->has_base && !isnan(h->usd))
		put(h, "<th class=\"n\">USD</th>");
	if (b->has_base && !isnan(h->kwh))
		put(h, "<th class=\"n\">kWh</th>");
	put(h, "</tr></thead>");
}

static void figures(struct html *h, const struct books *b, double now,
		    double base)
{
	double d = now - base;

	if (b->has_base)
		put(h, "<td class=\"n\">%s</td>", num(h, base, 1));
	put(h, "<td class=\"n\">%s</td><td class=\"n\">%s</td>", num(h, now, 1),
	    num(h, 100 * now / b->wall, 2));
	if (!b->has_base)
		return;
	put(h, "<td class=\"n\">%s</td><td class=\"n\">%s</td>", num(h, d, 1),
	    num(h, d / (h->ranks * h->step), 1));
	if (!isnan(h->usd))
		put(h, "<td class=\"n\">%s</td>",
		    num(h, d / 3600 * h->usd, 3));
	if (!isnan(h->kwh))
		put(h, "<td class=\"n\">%s</td>",
		    num(h, d / 3600 * h->kwh, 3));
}

static void balance(struct html *h, const struct books *b, double total)
{
	double residual = drill_look_num(h->trial, "ledger.residual");
	bool ok;

	if (isnan(residual))
		residual = b->wall - total;
	ok = fabs(residual) <= 0.001 * b->wall;
	put(h, "<p class=\"small\">%s <b>%s:</b> the sum %s and the residual %s "
	    "make the owned slot-time of %s rank\u00b7s. Residual %s&thinsp;%%; "
	    "allowed 0.1&thinsp;%%.</p>\n", drill_html_outcome(h, ok
	    ? DRILL_PASS : DRILL_INCONCLUSIVE, ok ? "balanced" : "unbalanced",
	    true), ok ? "Balanced" : "Not balanced", num(h, total, 3),
	    num(h, residual, 3), num(h, b->wall, 3),
	    num(h, 100 * residual / b->wall, 4));
}

static void table(struct html *h, const struct books *b)
{
	double total = 0;

	heading(h, b);
	put(h, "<tbody>\n");
	for (int c = 0; c < CATS; c++) {
		put(h, "<tr><th scope=\"row\"><span class=\"swatch\">%s%s</span>"
		    "</th>", drill_html_swatch(h, (enum drill_cat)c),
		    drill_cats[c].name);
		figures(h, b, b->now[c], b->base[c]);
		put(h, "</tr>\n");
		total += b->now[c];
	}
	put(h, "</tbody><tfoot><tr><th scope=\"row\">sum</th>");
	figures(h, b, total, b->base_wall);
	put(h, "</tr></tfoot></table></div>\n");
	balance(h, b, total);
}

/* What can be said beside the balance, only where there is something to say. */
static void beside(struct html *h)
{
	static const struct {
		const char *path, *text, *unit;
		double times;
		int digits;
	} facts[] = {
		{ "goodput", "Goodput (useful / owned slot-time)",
		  "&thinsp;%", 100, 1 },
		{ "ettr_wall", "ETTR by wall time", "&thinsp;%", 100, 1 },
		{ "spare_rank_s", "Spares reserved", " rank\u00b7s", 1, 1 },
		{ "queued_rank_s", "Waiting in a queue", " rank\u00b7s", 1, 1 },
	};
	json_t *collapsed = drill_look(h->trial, "collapsed"), *c;
	const char *gap = "";
	size_t i;

	put(h, "<p class=\"small mute\">");
	for (i = 0; i < sizeof(facts) / sizeof(*facts); i++) {
		double v = drill_look_num(h->trial, facts[i].path);

		if (isnan(v) || (v == 0 && facts[i].times == 1))
			continue;
		put(h, "%s%s: %s%s.", gap, facts[i].text,
		    num(h, v * facts[i].times, facts[i].digits), facts[i].unit);
		gap = " ";
	}
	if (json_array_size(collapsed))
		put(h, "%sNot to be seen in a followed log, so 0 here: ", gap);
	json_array_foreach (collapsed, i, c)
		put(h, "%s%s", i ? ", " : "", esc(h, json_string_value(c)));
	put(h, "%s</p>\n", json_array_size(collapsed) ? "." : "");
}

static void made_of(struct html *h, json_t *inc)
{
	double alone = drill_look_num(inc, "lost_alone_rank_s");
	double any = drill_look_num(inc, "lost_any_rank_s");
	const char *gap = "";

	for (int c = 1; c < CATS; c++) {
		double v = field(inc, "made_of", c);

		if (isnan(v) || fabs(v) < 0.0005)
			continue;
		put(h, "%s%s %s", gap, drill_cats[c].name, num(h, v, -1));
		gap = ", ";
	}
	if (drill_look_true(inc, "shared") || any - alone > 0.1 * fabs(any))
		put(h, "%sshared with other incidents: %s if only what is its "
		    "alone, %s if all that it had a part in", *gap ? "; " : "",
		    num(h, alone, -1), num(h, any, -1));
}

/* Which columns there is anything to say in. */
struct lost_columns {
	bool tokens, money;
};

static void lost_cells(struct html *h, struct lost_columns cols, double v,
		       json_t *cost)
{
	double steps = drill_look_num(cost, "steps");
	double money = drill_look_num(cost, "money");

	if (isnan(steps))
		steps = v / (h->ranks * h->step);
	if (isnan(money))
		money = v / 3600 * h->usd;
	put(h, "<td class=\"n\">%s</td><td class=\"n\">%s</td>", num(h, v, 1),
	    num(h, steps, 1));
	if (cols.tokens)
		put(h, "<td class=\"n\">%s</td>",
		    num(h, drill_look_num(cost, "tokens"), 0));
	if (cols.money)
		put(h, "<td class=\"n\">%s</td>", num(h, money, 3));
}

static struct lost_columns lost_columns(struct html *h)
{
	struct lost_columns cols = { .money = !isnan(h->usd) };
	json_t *inc;
	size_t i;

	json_array_foreach (h->incidents, i, inc) {
		cols.tokens |= !isnan(drill_look_num(inc, "cost.tokens"));
		cols.money |= !isnan(drill_look_num(inc, "cost.money"));
	}
	return cols;
}

static const char *currency(struct html *h)
{
	json_t *inc = json_array_get(h->incidents, 0);

	return esc(h, drill_look_text(inc, "cost.currency", "USD"));
}

static void lost_heading(struct html *h, struct lost_columns cols)
{
	put(h, "<h3>By incident</h3><div class=\"scroll\"><table><thead><tr>"
	    "<th>lost compute</th><th class=\"n\">rank\u00b7s</th><th class=\"n\""
	    ">steps</th>%s", cols.tokens ? "<th class=\"n\">tokens</th>" : "");
	if (cols.money)
		put(h, "<th class=\"n\">%s</th>", currency(h));
	put(h, "<th>how it is made up, rank\u00b7s</th></tr></thead><tbody>\n");
}

/* An incident's cost is made of what follows; the rest is nobody's. */
static void by_incident(struct html *h, const struct books *b)
{
	double rest = drill_look_num(h->trial, "unattributed_rank_s");
	struct lost_columns cols = lost_columns(h);
	json_t *inc;
	size_t i;

	if (isnan(b->lost) || !json_array_size(h->incidents))
		return;
	lost_heading(h, cols);
	json_array_foreach (h->incidents, i, inc) {
		double v = drill_look_num(inc, "lost_compute_rank_s");

		put(h, "<tr><th scope=\"row\">%s</th>",
		    drill_html_incident(h, i));
		if (fabs(v) < b->floor)
			put(h, "<td class=\"n\">below %s</td><td></td>%s%s",
			    num(h, b->floor, -1), cols.tokens ? "<td></td>" : "",
			    cols.money ? "<td></td>" : "");
		else
			lost_cells(h, cols, v, drill_look(inc, "cost"));
		put(h, "<td>");
		made_of(h, inc);
		put(h, "</td></tr>\n");
	}
	if (!isnan(rest)) {
		put(h, "<tr><th scope=\"row\">not attributed</th>");
		lost_cells(h, cols, rest, NULL);
		put(h, "<td>drift and differences from the baseline%s</td></tr>"
		    "\n", isnan(b->floor) ? "" : drill_html_text(h,
		    "; noise floor of the null trials %s",
		    num(h, b->floor, -1)));
	}
	put(h, "</tbody><tfoot><tr><th scope=\"row\">lost compute</th>");
	lost_cells(h, cols, b->lost, NULL);
	put(h, "<td></td></tr></tfoot></table></div>\n");
}

static void two_ways(struct html *h, const struct books *b)
{
	double ledger = drill_look_num(h->trial, "lost_ledger_rank_s");
	double drift = drill_look_num(h->trial, "drift_rank_s");
	bool ok = fabs(b->lost - ledger - drift) <= 0.001 * b->wall;

	if (isnan(b->lost) || isnan(ledger) || isnan(drift))
		return;
	put(h, "<p class=\"small\">%s <b>Two ways:</b> from the work that was "
	    "done %s, from the ledger %s with a drift of %s rank\u00b7s. %s</p>"
	    "\n", drill_html_outcome(h, ok ? DRILL_PASS : DRILL_INCONCLUSIVE,
	    ok ? "agree" : "disagree", true), num(h, b->lost, 3),
	    num(h, ledger, 3), num(h, drift, 3), ok ? "They agree."
	    : "They do not agree: the trial is inconclusive.");
}

void drill_html_ledger(struct html *h)
{
	struct books b;

	if (!h->trial)
		return;
	read_books(h, &b);
	put(h, "<section id=\"ledger\"><h2>What it cost</h2>");
	if (!(b.wall > 0)) {
		put(h, "<p class=\"lede\">There is no ledger for this trial."
		    "</p></section>\n");
		return;
	}
	put(h, "<p class=\"lede\">%s ranks over %s s own %s rank\u00b7s",
	    num(h, h->ranks, 0), num(h, h->wall, -1), num(h, b.wall, 1));
	if (drill_look_silent(h->run)) {
		put(h, ". The job tells no steps, so that time is not split, "
		    "and there is no cost.</p></section>\n");
		return;
	}
	if (b.has_base)
		put(h, "; the baseline took %s for the same work",
		    num(h, b.base_wall, 1));
	put(h, ".</p>\n");
	bars(h, &b);
	table(h, &b);
	beside(h);
	by_incident(h, &b);
	two_ways(h, &b);
	put(h, "</section>\n");
}
