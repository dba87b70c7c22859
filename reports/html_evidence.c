/* html_evidence.c - that it was broken, and that it is clean again
 * SPDX-License-Identifier: MIT
 *
 * Read from the fault.* events of the trial shown: what was asked, what the
 * system said before, in force and after, and the snapshots around the trial.
 * A difference is listed line by line, never only counted.
 */
#include "html_part.h"

#include <stdlib.h>
#include <string.h>

#define FACTS 48

enum { REQUESTED, ISSUED, IN_FORCE, AFTER, TIMES };

static const char *const kinds[TIMES] = {
	"fault.requested", "fault.issued", "fault.effective", "fault.reverted",
};

struct fact {
	const char *name;
	json_t *at[TIMES];
};

struct proof {
	struct html *h;
	const char *fault;
	json_t *event[TIMES]; /* the first of each kind */
	int times[TIMES];
	struct fact fact[FACTS];
	size_t n;
};

static struct fact *fact_named(struct proof *p, const char *name)
{
	for (size_t i = 0; i < p->n; i++)
		if (!strcmp(p->fact[i].name, name))
			return &p->fact[i];
	if (p->n == FACTS)
		return NULL;
	p->fact[p->n] = (struct fact){ .name = name };
	return &p->fact[p->n++];
}

/* {"qdisc": {"rate": 1}} is "qdisc rate". */
static void flatten(struct proof *p, json_t *evidence, const char *prefix,
		    int at)
{
	json_t *v;
	const char *key;

	json_object_foreach (evidence, key, v) {
		const char *name = drill_html_text(p->h, "%s%s%s", prefix,
						   *prefix ? " " : "", key);
		struct fact *f;

		if (json_is_object(v) && strlen(name) < 60) {
			flatten(p, v, name, at);
			continue;
		}
		f = fact_named(p, name);
		if (f)
			f->at[at] = v;
	}
}

static void read_events(struct proof *p)
{
	json_t *ev;
	size_t i;

	json_array_foreach (p->h->events, i, ev) {
		const char *kind = drill_look_text(ev, "kind", "");

		if (strncmp(kind, "fault.", 6) ||
		    drill_look_num(ev, "trial") != p->h->id ||
		    strcmp(drill_look_text(ev, "fault", ""), p->fault))
			continue;
		for (int k = 0; k < TIMES; k++)
			if (!strcmp(kind, kinds[k])) {
				if (!p->times[k]++)
					p->event[k] = ev;
			}
	}
	for (int k = 0; k < TIMES; k++)
		flatten(p, drill_look(p->event[k], "evidence"), "", k);
}

static const char *shown(struct html *h, json_t *v)
{
	char text[300];

	if (json_is_integer(v))
		return drill_html_text(h, "%" JSON_INTEGER_FORMAT,
				       json_integer_value(v));
	return esc(h, drill_value_text(v, "", false, text, sizeof(text)));
}

/* "Sent at 17.55 s, acted at 17.56 s, in force from 17.60 s, gone at ...". */
static void sequence(struct proof *p)
{
	static const char *const words[TIMES] = { "asked for", "acted",
		"in force from", "reverted" };
	struct html *h = p->h;
	const char *gap = "";

	put(h, "<p class=\"small\">In this trial: ");
	for (int k = 0; k < TIMES; k++) {
		double t = drill_look_num(p->event[k], "t_s") - h->begin;
		const char *host = drill_look_text(p->event[k], "host", "");

		if (isnan(t))
			continue;
		put(h, "%s%s at %s&thinsp;s%s%s%s", gap, words[k], num(h, t, 3),
		    *host ? " on " : "", esc(h, host), p->times[k] > 1 ?
		    drill_html_text(h, " (the first of %d)", p->times[k]) : "");
		gap = ", ";
	}
	put(h, ".</p>\n");
}

static bool any_at(const struct proof *p, int at)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->fact[i].at[at])
			return true;
	return false;
}

static void facts(struct proof *p)
{
	static const char *const heads[TIMES] = { "when asked for", "before",
		"in force", "after" };
	struct html *h = p->h;
	bool show[TIMES];

	if (!p->n) {
		put(h, "<p class=\"small mute\">No reading was recorded.</p>\n");
		return;
	}
	put(h, "<div class=\"scroll\"><table><thead><tr><th>read from the system"
	    "</th>");
	for (int k = 0; k < TIMES; k++) {
		show[k] = any_at(p, k);
		if (show[k])
			put(h, "<th>%s</th>", heads[k]);
	}
	put(h, "</tr></thead><tbody>\n");
	for (size_t i = 0; i < p->n; i++) {
		put(h, "<tr><th scope=\"row\" class=\"wrap\">%s</th>",
		    esc(h, p->fact[i].name));
		for (int k = 0; k < TIMES; k++)
			if (show[k])
				put(h, "<td class=\"wrap\">%s</td>",
				    shown(h, p->fact[i].at[k]));
		put(h, "</tr>\n");
	}
	put(h, "</tbody></table></div>\n");
}

static void asked(struct proof *p, json_t *inc)
{
	json_t *args = drill_look(inc, "args"), *v;
	const char *name, *gap = "";

	if (!json_object_size(args))
		return;
	put(p->h, "<p class=\"small\">Asked: ");
	json_object_foreach (args, name, v) {
		put(p->h, "%s%s <b>%s</b>", gap, esc(p->h, name),
		    shown(p->h, v));
		gap = ", ";
	}
	put(p->h, ".</p>\n");
}

static void ending(struct proof *p, json_t *inc)
{
	const char *state = drill_look_text(p->event[AFTER], "state", "");
	json_t *reverted = drill_look(inc, "reverted");
	enum drill_outcome o = DRILL_PASS;
	const char *text = strcmp(state, "clean") ? "reverted"
						  : "reverted, and proved gone";

	if (!strcmp(state, "irreversible") || (json_is_string(reverted) &&
	    !strcmp(json_string_value(reverted), "irreversible"))) {
		text = "one act: nothing was held, nothing to revert";
	} else if (!strcmp(state, "dirty")) {
		o = DRILL_DIRTY;
		text = "not proved gone";
	} else if (!p->event[AFTER]) {
		o = DRILL_INCONCLUSIVE;
		text = "no revert was recorded";
	}
	put(p->h, "<p class=\"small\">%s", drill_html_outcome(p->h, o, text,
							      false));
	if (*drill_look_text(p->event[AFTER], "reason", ""))
		put(p->h, ": %s", esc(p->h, drill_look_text(p->event[AFTER],
							    "reason", "")));
	put(p->h, "</p>\n");
}

static bool told_before(struct html *h, size_t i)
{
	const char *fault = drill_look_text(json_array_get(h->incidents, i),
					    "fault", "");

	for (size_t k = 0; k < i; k++)
		if (!strcmp(fault, drill_look_text(json_array_get(h->incidents,
				k), "fault", "")))
			return true;
	return false;
}

static void one(struct html *h, size_t i)
{
	json_t *inc = json_array_get(h->incidents, i);
	struct proof *p = calloc(1, sizeof(*p));

	if (!p)
		return;
	p->h = h;
	p->fault = drill_look_text(inc, "fault", "");
	read_events(p);
	put(h, "<div><h3>%s: %s</h3>", drill_html_incident(h, i), esc(h,
	    drill_look_text(inc, "injector", drill_html_target(h, inc))));
	sequence(p);
	asked(p, inc);
	facts(p);
	ending(p, inc);
	put(h, "</div>\n");
	free(p);
}

static void difference(struct html *h, json_t *d)
{
	if (json_is_string(d))
		put(h, "<tr><td colspan=\"4\" class=\"wrap\">%s</td></tr>\n",
		    esc(h, json_string_value(d)));
	else
		put(h, "<tr><td>%s</td><td>%s</td><td class=\"wrap\">%s</td>"
		    "<td class=\"wrap\">%s</td></tr>\n",
		    esc(h, drill_look_text(d, "host", "")),
		    esc(h, drill_look_text(d, "class", "")),
		    esc(h, drill_look_text(d, "before", "nothing")),
		    esc(h, drill_look_text(d, "after", "nothing")));
}

/* Changes that no fault of this lab can make: told, and not ours. */
static void strangers(struct html *h, json_t *list)
{
	json_t *line;
	size_t i;

	if (!json_array_size(list))
		return;
	put(h, "<details><summary>Changed by others meanwhile: %zu lines, on a "
	    "machine that the lab shares</summary><ul class=\"small\">",
	    json_array_size(list));
	json_array_foreach (list, i, line)
		put(h, "<li>%s</li>", esc(h, json_string_value(line)));
	put(h, "</ul></details>\n");
}

static void snapshot(struct html *h)
{
	json_t *snap = drill_look(h->trial, "snapshot"), *v, *d;
	json_t *classes = drill_look(snap, "classes");
	json_t *differences = drill_look(snap, "differences");
	bool equal = drill_look_true(snap, "equal");
	const char *name;
	size_t i;

	if (!snap)
		return;
	put(h, "<h3>Snapshots before and after the trial</h3><p class=\"small\">%s"
	    "</p>\n", drill_html_outcome(h, equal ? DRILL_PASS : DRILL_DIRTY,
	    equal ? "equal" : "different", false));
	if (json_object_size(classes))
		put(h, "<ul class=\"snap\">");
	json_object_foreach (classes, name, v)
		put(h, "<li><span>%s</span><span>%s</span></li>", esc(h, name),
		    shown(h, v));
	if (json_object_size(classes))
		put(h, "</ul>\n");
	strangers(h, drill_look(snap, "strangers"));
	if (!json_array_size(differences))
		return;
	put(h, "<div class=\"scroll\"><table><thead><tr><th>host</th><th>kind"
	    "</th><th>before</th><th>after</th></tr></thead><tbody>\n");
	json_array_foreach (differences, i, d)
		difference(h, d);
	put(h, "</tbody></table></div>\n");
}

static void undo(struct html *h)
{
	double opened = drill_look_num(h->trial, "undo.opened");
	double closed = drill_look_num(h->trial, "undo.closed");

	if (isnan(opened))
		return;
	put(h, "<p class=\"small\">%s Undo records: %s opened, %s closed, %s "
	    "left.</p>\n", drill_html_outcome(h, opened == closed ? DRILL_PASS
	    : DRILL_DIRTY, opened == closed ? "clean" : "dirty", true),
	    num(h, opened, 0), num(h, closed, 0), num(h, opened - closed, 0));
}

void drill_html_evidence(struct html *h)
{
	size_t n = json_array_size(h->incidents), told = 0;

	if (!h->trial)
		return;
	put(h, "<section id=\"evidence\"><h2>Evidence: it was broken, and it is "
	    "clean again</h2>\n<div class=\"%s\">", n > 1 ? "two" : "");
	for (size_t i = 0; i < n; i++)
		if (!told_before(h, i)) {
			one(h, i);
			told++;
		}
	put(h, "</div>\n");
	if (!told)
		put(h, "<p class=\"lede\">No fault took effect in this trial, so "
		    "there is nothing to prove.</p>\n");
	snapshot(h);
	undo(h);
	put(h, "</section>\n");
}
