/* html_story.c - what happened, instant by instant, for every incident
 * SPDX-License-Identifier: MIT
 *
 * On top the instants in columns of equal width, below them the same instants
 * to scale, with leaders between: nothing is ever too crowded to read.
 * Instants that never came share one dashed cell that says why. Under the
 * scale lie the phases, how long the fault was in force, and one bar a time
 * that was measured, with its limit.
 */
#include "html_part.h"

#include <string.h>

enum {
	EFFECTIVE, SYMPTOM, DETECTED, BLAMED, STOPPED, RESTARTED, RESTORED,
	RESUMED, CAUGHT_UP, STEADY, COLUMNS,
};

static const char *const columns[COLUMNS][2] = {
	[EFFECTIVE] = { "effective", "effective" },
	[SYMPTOM] = { "symptom", "symptom" },
	[DETECTED] = { "detected", "detected" },
	[BLAMED] = { "blamed", "blamed" },
	[STOPPED] = { "stopped", "stopped" },
	[RESTARTED] = { "restarted", "restarted" },
	[RESTORED] = { "restored", "restored" },
	[RESUMED] = { "resumed", "resumed" },
	[CAUGHT_UP] = { "caught_up", "caught up" },
	[STEADY] = { "steady", "steady" },
};

struct strip {
	json_t *inc;
	size_t number;	     /* of the incident, from 1 */
	double te;	     /* effective, on the drill's clock */
	double at[COLUMNS];  /* seconds after effective, NAN: never */
	double reverted;     /* the same; NAN: never or irreversible */
	double left;	     /* from effective to the end of the trial */
	double end;	     /* of the scale */
};

static bool control(const struct strip *s)
{
	return !strcmp(drill_look_text(s->inc, "class", ""), "control");
}

static bool stopped(const struct strip *s)
{
	return !isnan(s->at[STOPPED]);
}

/* Why an instant is absent; neighbours with the same reason share a cell. */
static const char *absent(const struct strip *s, int col)
{
	switch (col) {
	case SYMPTOM:
		return "no symptom seen";
	case DETECTED:
		return "nobody noticed";
	case BLAMED:
		return "nobody blamed";
	case STOPPED:
	case RESTARTED:
	case RESTORED:
	case RESUMED:
		if (!stopped(s))
			return "training never stopped: no stop, restart or "
			       "restore";
		if (col == RESUMED)
			return "never moved again";
		if (isnan(s->at[RESUMED]))
			return "never restored";
		return col == RESTARTED ? "inside the job" : "nothing restored";
	case CAUGHT_UP:
		return stopped(s) ? "never caught up" :
			"training never stopped: no stop, restart or restore";
	default:
		return "never steady again";
	}
}

static const char *at_host(struct strip *s, int col)
{
	json_t *in = json_object_get(drill_look(s->inc, "instants"),
				     columns[col][0]);

	return drill_look_text(in, "host", "");
}

/* The small line under an instant: who, or on which host. */
static const char *note(struct html *h, struct strip *s, int col)
{
	json_t *correct = drill_look(s->inc, "blame_correct");

	if (col == DETECTED && *drill_look_text(s->inc, "detected_by", ""))
		return drill_html_text(h, "by %s", esc(h,
			drill_look_text(s->inc, "detected_by", "")));
	if (col == BLAMED && correct)
		return json_is_true(correct) ? "right" : "wrong";
	if (col == STEADY)
		return "95&thinsp;% of baseline";
	return *at_host(s, col) ? drill_html_text(h, "on %s", esc(h,
		at_host(s, col))) : "";
}

static bool late(struct html *h, struct strip *s, int col)
{
	static const char *const metric[COLUMNS] = {
		[DETECTED] = "time_to_detect", [BLAMED] = "time_to_blame",
		[RESUMED] = "time_to_resume", [CAUGHT_UP] = "time_to_catch_up",
		[STEADY] = "time_to_steady",
	};
	const struct drill_expect *e = metric[col]
		? drill_html_expect(h, s->inc, metric[col]) : NULL;

	return e && !isnan(e->lim) && s->at[col] >= e->lim && *e->op == '<';
}

/* Before or after cannot be told within the uncertainty: then at most. */
static const char *when(struct html *h, struct strip *s, int col)
{
	double hi = drill_look_num(s->inc, "time_to_detect_hi_s");

	if (col == EFFECTIVE)
		return num(h, s->te - h->begin, 2);
	if (col == DETECTED && isfinite(hi) && !strcmp("undecidable",
	    drill_look_text(s->inc, "detect_order", "")))
		return drill_html_text(h, "\u2264\u2009%s", num(h, hi, -1));
	return drill_html_text(h, "+%s", num(h, s->at[col], -1));
}

static void column(struct html *h, struct strip *s, int col, int prev)
{
	put(h, "<li%s><span class=\"nm\">%s</span><span class=\"at\">%s&thinsp;s"
	    "</span><span class=\"by\">%s</span>", late(h, s, col)
	    ? " class=\"hi\"" : "", columns[col][1], when(h, s, col),
	    note(h, s, col));
	if (prev >= 0)
		put(h, "<span class=\"gap\" style=\"left:%d%%;width:%d%%\">"
		    "<span>%s&thinsp;s</span></span>", 50 - 100 * (col - prev),
		    100 * (col - prev), num(h, s->at[col] - s->at[prev], -1));
	put(h, "</li>");
}

static void strip_top(struct html *h, struct strip *s)
{
	int prev = -1;

	put(h, "<ol class=\"strip\" aria-label=\"Instants of incident %s, seconds "
	    "after effective\">", drill_html_incident(h, s->number - 1));
	for (int col = 0; col < COLUMNS;) {
		int next = col + 1;

		if (!isnan(s->at[col])) {
			column(h, s, col, prev);
			prev = col++;
			continue;
		}
		while (next < COLUMNS && isnan(s->at[next]) &&
		       !strcmp(absent(s, next), absent(s, col)))
			next++;
		put(h, "<li class=\"none\" style=\"grid-column:span %d\"><span>"
		    "%s</span></li>", next - col, absent(s, col));
		col = next;
	}
	put(h, "</ol>\n");
}

static double x_of(struct strip *s, double t)
{
	return 100 * fmax(0, fmin(t / s->end, 1));
}

static void leaders(struct html *h, struct strip *s)
{
	put(h, "<svg width=\"100%%\" height=\"40\" viewBox=\"0 0 1000 40\" "
	    "preserveAspectRatio=\"none\"><path class=\"lead\" d=\"");
	for (int col = 0; col < COLUMNS; col++)
		if (!isnan(s->at[col]))
			put(h, "M%d 0V6L%.1f 34V40", col * 100 + 50,
			    10 * x_of(s, s->at[col]));
	put(h, "\"/></svg>");
	for (int col = 0; col < COLUMNS; col++)
		if (!isnan(s->at[col]))
			put(h, "<line class=\"ink\" x1=\"%s\" x2=\"%s\" y1=\"38\""
			    " y2=\"58\"/>", pct(h, x_of(s, s->at[col])),
			    pct(h, x_of(s, s->at[col])));
}

static void stretch(struct html *h, struct strip *s, double a, double b,
		    enum drill_cat cat, const char *label)
{
	double x = x_of(s, a), w = x_of(s, b) - x;

	if (isnan(a) || isnan(b) || !(w > 0))
		return;
	put(h, "<rect class=\"%s\" x=\"%s\" y=\"40\" width=\"%s\" height=\"16\""
	    "/>", drill_cats[cat].class, pct(h, x), pct(h, w));
	/* A label must fit on the narrowest page: 6.6 px a percent. */
	if (6.6 * w < 6 * (double)strlen(label))
		label = drill_cats[cat].name;
	if (6.6 * w > 6 * (double)strlen(label))
		put(h, "<text class=\"sm m\" x=\"%s\" dx=\"2\" y=\"69\">%s"
		    "</text>", pct(h, x), label);
}

/* The bar to scale, in the colours of the ledger. */
static void scale_bar(struct html *h, struct strip *s)
{
	double open = fmin(s->left, s->end);
	double stop = s->at[STOPPED], resume = s->at[RESUMED];
	double caught = s->at[CAUGHT_UP], steady = s->at[STEADY];

	if (!stopped(s)) {
		stretch(h, s, 0, isnan(steady) ? open : steady,
			control(s) ? CAT_USEFUL : CAT_DEGRADED,
			isnan(steady) ? "never steady again" :
			control(s) ? "nothing breaks, so nothing changes" :
			"until steady again");
		return;
	}
	stretch(h, s, 0, stop, CAT_STALLED, "until stopped");
	stretch(h, s, stop, isnan(resume) ? open : resume, CAT_RESTART,
		isnan(resume) ? "never moved again" : "until moved again");
	if (isnan(resume))
		return;
	stretch(h, s, resume, isnan(caught) ? open : caught, CAT_REDONE,
		"doing again what was lost");
	if (!isnan(caught))
		stretch(h, s, caught, isnan(steady) ? open : steady,
			isnan(steady) ? CAT_DEGRADED : CAT_USEFUL,
			isnan(steady) ? "never steady again" : "settling");
}

static void in_force(struct html *h, struct strip *s)
{
	const char *state = drill_look_text(s->inc, "reverted", "");
	bool one_act = !strcmp(state, "irreversible") || s->reverted == 0;
	double x = x_of(s, isnan(s->reverted) ? s->left : s->reverted);
	const char *label = one_act ? "one act: nothing stays in force" :
		isnan(s->reverted) ? "fault in force until the end" :
		drill_html_text(h, "fault in force until +%s s",
				num(h, s->reverted, -1));
	bool right = x > 60;

	if (one_act)
		x = 0;
	put(h, "<rect class=\"shade\" x=\"0\" y=\"74\" width=\"%s\" "
	    "height=\"10\"/><line class=\"edge\" x1=\"%s\" x2=\"%s\" y1=\"72\" "
	    "y2=\"86\"/><text class=\"f sm%s\" x=\"%s\" dx=\"%d\" y=\"83\">%s"
	    "</text>", pct(h, x), pct(h, x), pct(h, x), right ? " e" : "",
	    pct(h, x), right ? -4 : 4, label);
}

struct bar {
	const char *metric, *key;
};

static const struct bar bars[] = {
	{ "time_to_detect", "time_to_detect_s" },
	{ "time_to_blame", "time_to_blame_s" },
	{ "time_to_resume", "time_to_resume_s" },
	{ "time_to_catch_up", "time_to_catch_up_s" },
	{ "time_to_steady", "time_to_steady_s" },
};

#define BARS (sizeof(bars) / sizeof(*bars))

static const char *why_null(struct strip *s, const struct bar *b)
{
	char key[64];

	snprintf(key, sizeof(key), "%s_why", b->metric);
	return drill_look_text(s->inc, key, "never");
}

static const char *verdict_text(struct html *h, const struct drill_expect *e,
				double v, bool apply)
{
	char limit[160];
	bool ms = e && !isnan(e->lim);

	if (!e)
		return ", no limit set";
	drill_value_text(e->limit, e->unit, false, limit, sizeof(limit));
	if (!apply)
		return drill_html_text(h, ", limit %s: held, there was nothing "
			"to wait for", esc(h, limit));
	if (!ms || v < e->lim)
		return drill_html_text(h, ", limit %s: held", esc(h, limit));
	return drill_html_text(h, ", limit %s: <tspan class=\"f b\">missed%s%s"
		"</tspan>", esc(h, limit), isfinite(v) ? " by " : "",
		isfinite(v) ? drill_html_text(h, "%s s", num(h, v - e->lim, -1))
			    : "");
}

static void one_bar(struct html *h, struct strip *s, const struct bar *b,
		    const struct drill_expect *e, int y)
{
	double v = drill_look_num(s->inc, b->key);
	bool apply = strcmp(why_null(s, b), "not_applicable") || !isnan(v);
	bool bad;

	if (isnan(v) && apply)
		v = INFINITY;
	bad = e && apply && v >= e->lim;
	put(h, "<text class=\"sm\" x=\"0\" y=\"%d\">%s <tspan class=\"b\">%s%s"
	    "</tspan>%s</text>", y + 4, b->metric, !apply ? "not applicable" :
	    isfinite(v) ? num(h, v, -1) : "never", isfinite(v) && apply ? " s"
	    : "", verdict_text(h, e, v, apply));
	if (apply)
		put(h, "<rect class=\"mbar%s\" x=\"0\" y=\"%d\" width=\"%s\" "
		    "height=\"5\"/>", bad ? " f" : "", y + 9,
		    pct(h, x_of(s, v)));
	if (apply && isinf(v))
		put(h, "<text class=\"f sm\" x=\"100%%\" dx=\"1\" y=\"%d\">"
		    "\u203a</text>", y + 15);
	if (e && e->lim > v)
		put(h, "<line class=\"axis\" x1=\"%s\" x2=\"%s\" y1=\"%d.5\" "
		    "y2=\"%d.5\"/>", pct(h, x_of(s, v)),
		    pct(h, x_of(s, e->lim)), y + 11, y + 11);
	if (e && !isnan(e->lim))
		put(h, "<line class=\"lim%s\" x1=\"%s\" x2=\"%s\" y1=\"%d\" "
		    "y2=\"%d\"/>", bad ? " f" : "", pct(h, x_of(s, e->lim)),
		    pct(h, x_of(s, e->lim)), y + 7, y + 17);
}

/* Only what was measured, or asked for; that nobody noticed nothing is no
 * news. */
static bool wanted(struct html *h, struct strip *s, const struct bar *b)
{
	return isfinite(drill_look_num(s->inc, b->key)) ||
	       drill_html_expect(h, s->inc, b->metric) ||
	       (!control(s) && !strcmp(why_null(s, b), "never"));
}

static void scale_grid(struct html *h, struct strip *s, int bottom)
{
	double tick = drill_html_tick(s->end, 8);
	int digits = tick < 0.1 ? 2 : tick < 1 ? 1 : 0;

	for (int k = 0; k * tick <= s->end; k++) {
		double x = x_of(s, k * tick);

		put(h, "<line class=\"grid\" x1=\"%s\" x2=\"%s\" y1=\"88\" "
		    "y2=\"%d\"/><text class=\"m sm%s\" x=\"%s\" y=\"%d\">%s"
		    "</text>", pct(h, x), pct(h, x), bottom, k ? " c" : "",
		    pct(h, x), bottom + 13, num(h, k * tick, digits));
	}
	put(h, "<text class=\"m sm e\" x=\"100%%\" y=\"%d\">seconds after "
	    "effective</text>", bottom + 27);
}

static void to_scale(struct html *h, struct strip *s)
{
	int y = 104, n = 0;

	for (size_t i = 0; i < BARS; i++)
		n += wanted(h, s, &bars[i]);
	put(h, "<svg class=\"plot\" height=\"%d\" role=\"img\" aria-label=\""
	    "Incident %s to scale; the same numbers stand in the list above and "
	    "in the table below\">", y + n * 26 + 32,
	    drill_html_incident(h, s->number - 1));
	scale_grid(h, s, y + n * 26 + 2);
	scale_bar(h, s);
	leaders(h, s);
	in_force(h, s);
	for (size_t i = 0; i < BARS; i++)
		if (wanted(h, s, &bars[i])) {
			one_bar(h, s, &bars[i], drill_html_expect(h, s->inc,
				bars[i].metric), y);
			y += 26;
		}
	put(h, "</svg>\n");
}

/* "detect 1.00 + blame 0.10 + ... = 11.4 s to steady". */
static void phases(struct html *h, struct strip *s)
{
	static const char *const names[][2] = {
		{ "detect", "detect" }, { "blame", "blame" },
		{ "stop", "stop" }, { "allocate", "allocate" },
		{ "start", "start" }, { "connect", "connect" },
		{ "restore", "restore" }, { "first_step", "first step" },
		{ "redo", "redo" }, { "settle", "settle" },
	};
	json_t *p = drill_look(s->inc, "phases");
	bool any = false;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		double v = drill_look_num(p, names[i][0]);

		if (isnan(v))
			continue;
		put(h, "%s%s <b>%s</b>", any ? " + " : "<p class=\"small\">"
		    "Phases, seconds: ", names[i][1], num(h, v, -1));
		any = true;
	}
	if (any)
		put(h, " = <b>%s</b> to steady.</p>\n", num(h,
		    drill_look_num(s->inc, "time_to_steady_s"), -1));
}

static void sub(struct html *h, struct strip *s)
{
	static const char *const facts[][2] = {
		{ "fidelity", "fidelity" }, { "class", "class" },
		{ "outcome", "outcome" },
	};
	double times = drill_look_num(s->inc, "occurrences");

	put(h, "<p class=\"lede small\">%s on %s", esc(h, drill_look_text(s->inc,
	    "injector", "a fault")), esc(h, drill_html_target(h, s->inc)));
	if (times > 1)
		put(h, ", %s times before it was steady again", num(h, times, 0));
	for (size_t i = 0; i < 3; i++)
		if (*drill_look_text(s->inc, facts[i][0], ""))
			put(h, "; %s: %s", facts[i][1], esc(h,
			    drill_look_text(s->inc, facts[i][0], "")));
	put(h, ".</p>\n");
}

static void read_strip(struct html *h, size_t i, struct strip *s)
{
	double last = 0;

	*s = (struct strip){ .inc = json_array_get(h->incidents, i),
			     .number = i + 1 };
	s->te = drill_instant(s->inc, "effective");
	s->left = h->begin + h->wall - s->te;
	s->reverted = drill_instant(s->inc, "reverted") - s->te;
	if (isnan(s->left))
		s->left = 0;
	for (int col = 0; col < COLUMNS; col++) {
		s->at[col] = drill_instant(s->inc, columns[col][0]) - s->te;
		last = fmax(last, s->at[col]);
	}
	if (isnan(s->at[STEADY]) || isnan(s->at[DETECTED]))
		last = fmax(last, isnan(s->at[STEADY]) ? s->left : 0);
	for (size_t k = 0; k < BARS; k++) {
		const struct drill_expect *e =
			drill_html_expect(h, s->inc, bars[k].metric);

		if (e && isfinite(e->lim))
			last = fmax(last, e->lim);
	}
	s->end = last > 0 ? last * 1.04 : 1;
}

static void one(struct html *h, size_t i)
{
	struct strip s;

	read_strip(h, i, &s);
	put(h, "<div class=\"story\" id=\"s-%zu\"><div class=\"storyhead\"><h3>%s"
	    "</h3>%s</div>", i + 1, drill_html_incident(h, i),
	    drill_html_outcome(h, drill_html_incident_outcome(h, s.inc), NULL,
			       false));
	sub(h, &s);
	if (isnan(s.te)) {
		put(h, "<p>It never took effect.</p></div>\n");
		return;
	}
	strip_top(h, &s);
	to_scale(h, &s);
	phases(h, &s);
	put(h, "</div>\n");
}

static void instant_row(struct html *h, json_t *inc, size_t i, const char *name,
			double *prev)
{
	double t = drill_instant(inc, name);
	double te = drill_instant(inc, "effective");
	json_t *in = json_object_get(drill_look(inc, "instants"), name);
	double u = drill_look_num(in, "uncertainty_s");

	if (isnan(t))
		return;
	put(h, "<tr><td>%s</td><td>%s</td><td class=\"n\">%s</td><td class=\"n\">"
	    "%s</td><td class=\"n\">%s</td><td>%s</td><td class=\"n\">%s</td>"
	    "</tr>\n", drill_html_incident(h, i), name, num(h, t - h->begin, 3),
	    num(h, t - te, 3), num(h, !strcmp(name, "reverted") ? NAN :
				   t - *prev, 3), esc(h,
	    drill_look_text(in, "host", "")), isnan(u) ? "" :
	    drill_html_text(h, "\u00b1%s", num(h, u * 1000, 3)));
	*prev = t;
}

static void all_instants(struct html *h)
{
	static const char *const names[] = { "requested", "issued", "effective",
		"symptom", "detected", "blamed", "stopped", "fenced",
		"allocated", "restarted", "connected", "restored", "resumed",
		"caught_up", "steady", "reverted" };
	size_t i;
	json_t *inc;

	put(h, "<details><summary>All instants, with host and clock uncertainty"
	    "</summary><div class=\"scroll\"><table><thead><tr><th>incident</th>"
	    "<th>instant</th><th class=\"n\">in the trial, s</th><th class=\"n\">"
	    "after effective, s</th><th class=\"n\">since the one above, s</th>"
	    "<th>seen on</th><th class=\"n\">uncertainty, ms</th></tr></thead>"
	    "<tbody>\n");
	json_array_foreach (h->incidents, i, inc) {
		double prev = NAN;

		for (size_t k = 0; k < sizeof(names) / sizeof(*names); k++)
			instant_row(h, inc, i, names[k], &prev);
	}
	put(h, "</tbody></table></div></details>\n");
}

void drill_html_story(struct html *h)
{
	size_t n = json_array_size(h->incidents);

	if (!h->trial)
		return;
	put(h, "<section id=\"story\"><h2>What happened</h2>");
	if (n) {
		put(h, "<p class=\"lede\">Trial %d. Times count from the moment "
		    "the fault took effect. Above, equal columns; below, the "
		    "same instants to scale. Bars run from effective to the "
		    "instant; the heavy tick is the limit.</p>\n", h->number);
		for (size_t i = 0; i < n; i++)
			one(h, i);
		all_instants(h);
	} else {
		put(h, "<p>Nothing: no fault took effect in trial %d.</p>",
		    h->number);
	}
	put(h, "</section>\n");
}
