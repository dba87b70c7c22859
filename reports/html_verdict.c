/* html_verdict.c - the banner: the verdict, why, and the four answers
 * SPDX-License-Identifier: MIT
 *
 * For every incident: who noticed, who was blamed, when training moved again,
 * what it cost. No cell stays empty: what did not happen is said. What must be
 * cleaned up by hand stands above everything.
 */
#include "html_part.h"

#include <string.h>

#define ROWS 3 /* incidents in the table; the story has them all */

static const char *limit_text(struct html *h, const struct drill_expect *e)
{
	char text[160];

	if (!e)
		return "";
	drill_value_text(e->limit, e->unit, false, text, sizeof(text));
	return drill_html_text(h, "limit %s", esc(h, text));
}

/* "a; b", leaving out what is empty. */
static const char *joined(struct html *h, const char *a, const char *b)
{
	return drill_html_text(h, "%s%s%s", a, *a && *b ? "; " : "", b);
}

static void cell(struct html *h, const struct drill_expect *e, const char *big,
		 const char *small)
{
	bool bad = e && e->held == DRILL_HELD_NO;

	put(h, "<td><span class=\"big%s\">%s</span><br><span class=\"mute\">%s"
	    "</span></td>", bad ? " o-fail" : "", big, small);
}

static void broken(struct html *h, json_t *inc)
{
	const char *target = drill_html_target(h, inc);
	int slot = drill_html_slot_hit(inc);
	const char *host = slot < 0 ? "" : drill_html_host_of(h, slot,
		drill_instant(inc, "effective"));
	json_t *args = drill_look(inc, "args"), *v;
	const char *name;

	put(h, "<td class=\"wrap\">%s", esc(h, target));
	if (*host)
		put(h, " (%s)", esc(h, host));
	put(h, "<br><span class=\"mute\">%s", esc(h,
	    drill_look_text(inc, "injector", "")));
	json_object_foreach (args, name, v) {
		char text[160];

		drill_value_text(v, "", false, text, sizeof(text));
		put(h, ", %s %s", esc(h, name), esc(h, text));
	}
	put(h, "</span></td>");
}

static bool control(json_t *inc)
{
	return !strcmp(drill_look_text(inc, "class", ""), "control");
}

static const char *by_text(struct html *h, json_t *inc)
{
	const char *by = drill_look_text(inc, "detected_by", "unknown");
	const char *or = drill_look_text(inc, "detected_by_or.0", "");

	if (*or && strcmp(or, by))
		return drill_html_text(h, "by %s or %s", esc(h, by),
				       esc(h, or));
	return drill_html_text(h, "by %s", esc(h, by));
}

static void noticed(struct html *h, json_t *inc)
{
	const struct drill_expect *e =
		drill_html_expect(h, inc, "time_to_detect");
	double v = drill_look_num(inc, "time_to_detect_s");
	double hi = drill_look_num(inc, "time_to_detect_hi_s");
	double lower = drill_look_num(inc, "time_to_detect_lower_s");
	const char *limit = limit_text(h, e), *big;

	if (isfinite(v)) {
		big = !strcmp(drill_look_text(inc, "detect_order", ""),
			      "undecidable") && isfinite(hi)
			? drill_html_text(h, "\u2264 %s\u00a0s", num(h, hi, -1))
			: drill_html_text(h, "%s\u00a0s", num(h, v, -1));
		cell(h, e, big, joined(h, by_text(h, inc), limit));
	} else if (control(inc)) {
		cell(h, e, "nobody", "and there was nothing to notice");
	} else {
		big = isfinite(lower)
			? drill_html_text(h, "in %s\u00a0s", num(h, lower, -1)) : "";
		cell(h, e, "not noticed", joined(h, big, limit));
	}
}

static void blamed(struct html *h, json_t *inc)
{
	json_t *correct = drill_look(inc, "blame_correct");
	double after = drill_look_num(inc, "time_to_blame_s");
	const char *what = drill_look_text(inc, "blame", "");
	const char *when = isfinite(after)
		? drill_html_text(h, "after %s\u00a0s", num(h, after, -1)) : "";

	if (!*what && correct && json_is_true(correct))
		what = drill_html_target(h, inc);
	if (!correct) {
		put(h, "<td><span class=\"big\">nobody</span><br>"
		    "<span class=\"mute\">%s</span></td>", control(inc)
		    ? "rightly" : "was blamed");
		return;
	}
	put(h, "<td class=\"wrap\">%s<br><span class=\"mute\">%s%s%s</span>"
	    "</td>", drill_html_outcome(h, json_is_true(correct) ? DRILL_PASS
	    : DRILL_FAIL, json_is_true(correct) ? "right" : "wrong", false),
	    esc(h, what), *what && *when ? ", " : "", when);
}

static const char *after(struct html *h, json_t *inc, const char *key,
			 const char *word)
{
	double v = drill_look_num(inc, key);

	return isfinite(v) ? drill_html_text(h, "%s %s\u00a0s", word,
					     num(h, v, -1)) : "";
}

static void moved(struct html *h, json_t *inc)
{
	const struct drill_expect *e =
		drill_html_expect(h, inc, "time_to_resume");
	double v = drill_look_num(inc, "time_to_resume_s");
	const char *caught = after(h, inc, "time_to_catch_up_s",
				   "caught up after");
	const char *steady = after(h, inc, "time_to_steady_s", "steady after");

	if (isfinite(v))
		cell(h, e, drill_html_text(h, "%s\u00a0s", num(h, v, -1)),
		     joined(h, limit_text(h, e), *caught ? caught
							 : "never caught up"));
	else if (!strcmp(drill_look_text(inc, "time_to_resume_why", ""),
			 "not_applicable") ||
		 !strcmp(drill_look_text(inc, "stop", ""), "none"))
		cell(h, e, "never stopped", *steady ? steady
						    : "never steady again");
	else
		cell(h, e, "never", joined(h, drill_look_true(h->trial,
			"livelock") ? drill_html_text(h, "livelock: %s "
			"attempts without progress", num(h,
			drill_look_num(h->trial, "attempts_without_progress"),
			0)) : "training did not move again",
			limit_text(h, e)));
}

static const char *also(struct html *h, json_t *inc)
{
	double steps = drill_look_num(inc, "cost.steps");
	double money = drill_look_num(inc, "cost.money");
	const char *a = isnan(steps) ? "" :
		drill_html_text(h, "%s\u00a0steps", num(h, steps, -1));
	const char *b = isnan(money) ? "" :
		drill_html_text(h, "%s\u00a0%s", num(h, money, 2), esc(h,
			drill_look_text(inc, "cost.currency", "USD")));

	return drill_html_text(h, "%s%s%s", a, *a && *b ? ", " : "", b);
}

static void cost(struct html *h, json_t *inc)
{
	const struct drill_expect *e =
		drill_html_expect(h, inc, "lost_compute");
	double v = drill_look_num(inc, "lost_compute_rank_s");
	double noise = drill_look_num(h->run, "noise_floor_rank_s");
	const char *limit = limit_text(h, e);

	if (isnan(v))
		cell(h, e, "unknown", drill_look_true(h->trial, "conclusive")
		     ? "not measured" : "the trial is inconclusive");
	else if (fabs(v) < noise)
		cell(h, e, drill_html_text(h, "below %s\u00a0rank\u00b7s",
			num(h, noise, -1)), joined(h, "the noise floor",
						   limit));
	else
		cell(h, e, drill_html_text(h, "%s\u00a0rank\u00b7s",
			num(h, v, -1)), joined(h, joined(h, limit,
			drill_look_true(inc, "shared") ? "shared" : ""),
			also(h, inc)));
}

static void row(struct html *h, size_t i)
{
	json_t *inc = json_array_get(h->incidents, i);

	put(h, "<tr><th scope=\"row\" class=\"wrap\"><a href=\"#s-%zu\">%s</a>"
	    "<br>%s</th>", i + 1, drill_html_incident(h, i),
	    drill_html_outcome(h, drill_html_incident_outcome(h, inc), NULL,
			       false));
	broken(h, inc);
	noticed(h, inc);
	blamed(h, inc);
	moved(h, inc);
	cost(h, inc);
	put(h, "</tr>\n");
}

static void answers(struct html *h)
{
	static const enum drill_outcome worst_first[] = { DRILL_FAIL,
		DRILL_INCONCLUSIVE, DRILL_PASS };
	size_t n = json_array_size(h->incidents), done = 0;

	if (!n)
		return;
	put(h, "<div class=\"scroll\"><table class=\"answers\"><caption "
	    "class=\"vh\">The incidents in short</caption><thead><tr>"
	    "<th>incident</th><th>what was broken</th><th>who noticed, after"
	    "</th><th>who was blamed</th><th>training moved again, after</th>"
	    "<th>cost</th></tr></thead><tbody>\n");
	for (size_t w = 0; w < 3; w++)
		for (size_t i = 0; i < n && done < ROWS; i++)
			if (drill_html_incident_outcome(h, json_array_get(
				h->incidents, i)) == worst_first[w]) {
				row(h, i);
				done++;
			}
	if (n > done)
		put(h, "<tr><td colspan=\"6\" class=\"mute\">and %zu more in "
		    "<a href=\"#story\">the story</a></td></tr>", n - done);
	put(h, "</tbody></table></div>\n");
}

static void trials(struct html *h)
{
	json_t *all = drill_look(h->run, "trials"), *t;
	size_t i;

	if (!json_array_size(all))
		return;
	put(h, "<dt>trials</dt><dd>");
	json_array_foreach (all, i, t)
		put(h, "%s%zu&thinsp;%s&thinsp;%s%s ", i ? "&nbsp; " : "", i + 1,
		    esc(h, drill_look_text(t, "role", "")),
		    drill_html_outcome(h, drill_trial_outcome(t), NULL, false),
		    (int)i == h->shown ? " <b>(shown)</b>" : "");
	put(h, "<span class=\"mute\">%s</span></dd>\n", h->n_fault > 1
	    && h->report->trial < 0 ? "shown: the worst one; the drill is as "
	    "bad as its worst trial" : "");
}

static void clean(struct html *h)
{
	double opened = drill_look_num(h->trial, "undo.opened");
	double closed = drill_look_num(h->trial, "undo.closed");
	json_t *equal = drill_look(h->trial, "snapshot.equal");
	bool dirty = drill_look_size(h->run, "dirty") > 0;

	if (!dirty && !equal && isnan(opened))
		return;
	put(h, "<dt>left clean</dt><dd>%s ", drill_html_outcome(h, dirty
	    ? DRILL_DIRTY : DRILL_PASS, dirty ? "no" : "yes", false));
	if (!isnan(opened))
		put(h, "%s of %s undo records closed%s", num(h, closed, 0),
		    num(h, opened, 0), equal ? ", " : "");
	if (equal)
		put(h, "snapshots before and after %s", json_is_true(equal)
		    ? "equal" : "differ");
	put(h, "</dd>\n");
}

static void facts(struct html *h)
{
	json_t *seed = drill_look(h->run, "seed");
	const char *repeat = drill_look_text(h->run, "repeat", "");

	put(h, "<dl class=\"kv\">");
	trials(h);
	clean(h);
	if (json_is_integer(seed))
		put(h, "<dt>seed</dt><dd class=\"mono\">%" JSON_INTEGER_FORMAT
		    "</dd>", json_integer_value(seed));
	else if (json_is_string(seed))
		put(h, "<dt>seed</dt><dd class=\"mono\">%s</dd>",
		    esc(h, json_string_value(seed)));
	if (*repeat) {
		put(h, "<dt>repeat</dt><dd>");
		drill_html_command(h, repeat);
		put(h, "</dd>");
	}
	put(h, "</dl></div>\n");
}

static void must(struct html *h)
{
	json_t *d;
	size_t i;

	json_array_foreach (drill_look(h->run, "dirty"), i, d) {
		put(h, "<div class=\"must\"><b>%s</b> %s<br>Finish with ",
		    drill_html_outcome(h, DRILL_DIRTY, "left dirty:", false),
		    esc(h, json_is_string(d) ? json_string_value(d)
			   : drill_look_text(d, "what", "unnamed")));
		drill_html_command(h, drill_look_text(d, "command",
						      "faultdrill heal"));
		put(h, "</div>\n");
	}
}

static void contents(struct html *h)
{
	/* The first ones tell of a trial and are there only with one. */
	static const struct {
		const char *id, *name;
		bool trial;
	} parts[] = {
		{ "story", "Story", true }, { "ranks", "Ranks", true },
		{ "progress", "Throughput", true },
		{ "ledger", "Ledger", true },
		{ "expect", "Expectations", false },
		{ "blame", "Blame", true }, { "evidence", "Evidence", true },
		{ "hooks", "Hooks", true },
		{ "lab", "Where it ran", false }, { "files", "Files", false },
	};

	put(h, "<nav aria-label=\"Sections\">");
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if ((h->trial || !parts[i].trial) &&
		    (strcmp(parts[i].id, "hooks") != 0 ||
		     drill_look_size(h->trial, "hooks")))
			put(h, "<a href=\"#%s\">%s</a>", parts[i].id,
			    parts[i].name);
	put(h, "</nav>\n");
}

void drill_html_verdict(struct html *h)
{
	enum drill_outcome o = drill_run_outcome(h->run);
	const char *word = drill_outcome_name(o);
	char why[900];
	json_t *skip;
	size_t i;

	drill_verdict_why(h->run, false, why, sizeof(why));
	put(h, "<div class=\"banner b-%s\" role=\"region\" aria-label="
	    "\"Verdict\">", word);
	must(h);
	put(h, "<div class=\"head\"><div class=\"word o-%s\"><svg aria-hidden="
	    "\"true\"><use href=\"#o-%s\"/></svg>%s</div><div><h1>%s</h1>"
	    "<p class=\"why\"><b>Why:</b> %s</p>", word, word,
	    drill_html_capitals(h, word),
	    esc(h, drill_look_text(h->run, "scenario", "unnamed scenario")),
	    esc(h, why));
	json_array_foreach (drill_look(h->run, "skips"), i, skip)
		if (i)
			put(h, "<p>%s</p>", esc(h, drill_skip_text(skip, why,
				sizeof(why))));
	put(h, "</div></div>\n");
	answers(h);
	facts(h);
	contents(h);
}
