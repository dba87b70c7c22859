/* html_blame.c - who was blamed for what: broken parts against blamed parts
 * SPDX-License-Identifier: MIT
 *
 * A row is what was broken, a column what was blamed in any trial; what is on
 * the right spot is outlined. Zero is printed, quietly.
 */
#include "html_part.h"

#include <stdlib.h>
#include <string.h>

#define MOST 9 /* columns; what comes later counts as "others" */

struct table {
	const char *row[64]; /* "kill: rank 3" */
	const char *part[64]; /* its target; "" for nothing broken */
	size_t rows;
	const char *col[MOST + 1];
	size_t cols;
	int n[64][MOST + 1];
	int right, all, false_alarms, controls;
};

static size_t column(struct table *t, const char *what)
{
	size_t c = 0;

	while (c < t->cols && strcmp(t->col[c], what) != 0)
		c++;
	if (c < t->cols)
		return c;
	if (t->cols == MOST)
		return MOST - 1;
	t->col[t->cols] = t->cols == MOST - 1 ? "others" : what;
	return t->cols++;
}

static size_t add_row(struct table *t, const char *name, const char *part)
{
	size_t r = 0;

	while (r < t->rows && strcmp(t->row[r], name) != 0)
		r++;
	if (r == t->rows && r < 63) {
		t->row[r] = name;
		t->part[r] = part;
		t->rows++;
	}
	return r;
}

/* What was blamed for an incident; "" for nobody. */
static const char *blamed(struct html *h, json_t *inc)
{
	const char *what = drill_look_text(inc, "blame", "");
	json_t *correct = drill_look(inc, "blame_correct"), *d;
	size_t i;

	json_array_foreach (drill_look(inc, "detections"), i, d)
		if (!*what)
			what = drill_look_text(d, "blame", "");
	if (!*what && json_is_true(correct))
		return drill_html_target(h, inc);
	return *what ? what : correct ? "another part" : "";
}

static void count_incident(struct html *h, struct table *t, json_t *inc,
			   bool control)
{
	const char *target = drill_html_target(h, inc);
	const char *what = blamed(h, inc);
	bool right = json_is_true(drill_look(inc, "blame_correct"));
	size_t r;

	if (control) {
		r = add_row(t, "nothing (a fault that does nothing)", "");
		right = !*what;
		t->controls++;
	} else {
		r = add_row(t, drill_html_text(h, "%s: %s", drill_look_text(inc,
			"fault", "natural"), target), target);
		t->all++;
		t->right += right;
		column(t, target); /* there even if nobody ever blamed it */
	}
	/* Other words for the right part count on its own spot. */
	if (right && !control)
		what = target;
	t->n[r][column(t, *what ? what : "nobody")]++;
}

static void count(struct html *h, struct table *t)
{
	json_t *trial, *inc;
	size_t i, k;

	json_array_foreach (drill_look(h->run, "trials"), i, trial) {
		bool null = !strcmp(drill_look_text(trial, "role", ""), "null");
		double alarms = drill_look_num(trial, "false_alarms");

		json_array_foreach (drill_look(trial, "incidents"), k, inc)
			count_incident(h, t, inc, null || !strcmp("control",
				drill_look_text(inc, "class", "")));
		t->false_alarms += alarms > 0 ? (int)alarms : 0;
	}
}

static void cell(struct html *h, const struct table *t, size_t r, size_t c)
{
	int n = t->n[r][c];
	bool spot = *t->part[r] ? !strcmp(t->col[c], t->part[r])
				: !strcmp(t->col[c], "nobody");

	put(h, "<td class=\"%s\"><b>%d</b>%s</td>", !n ? "zero" : spot ? "hit"
	    : "miss", n, !n ? "" : spot ? " right" :
	    !strcmp(t->col[c], "nobody") ? " missed" : " wrong");
}

static void matrix(struct html *h, const struct table *t)
{
	put(h, "<p class=\"lede\">Rows: what was broken, in all trials. Columns: "
	    "what the stack blamed. Outlined and marked: right.</p>\n<div "
	    "class=\"scroll\"><table class=\"mx\"><thead><tr><th>broken</th>");
	for (size_t c = 0; c < t->cols; c++)
		put(h, "<th class=\"wrap\">%s</th>", esc(h, t->col[c]));
	put(h, "</tr></thead><tbody>\n");
	for (size_t r = 0; r < t->rows; r++) {
		put(h, "<tr><th scope=\"row\" class=\"wrap\">%s</th>",
		    esc(h, t->row[r]));
		for (size_t c = 0; c < t->cols; c++)
			cell(h, t, r, c);
		put(h, "</tr>\n");
	}
	put(h, "</tbody></table></div>\n");
}

void drill_html_blame(struct html *h)
{
	struct table *t = h->trial ? calloc(1, sizeof(*t)) : NULL;

	if (!t)
		return;
	count(h, t);
	put(h, "<section id=\"blame\"><h2>Blame</h2>");
	if (t->rows)
		matrix(h, t);
	put(h, "<p class=\"small\">");
	if (t->all)
		put(h, "Right in %d of %d incident%s. ", t->right, t->all,
		    t->all == 1 ? "" : "s");
	else
		put(h, "Nothing was broken, so nobody was to blame. ");
	put(h, t->false_alarms ? "<b class=\"o-fail\">%d false alarm%s.</b>"
	    : "No false alarm.", t->false_alarms,
	    t->false_alarms == 1 ? "" : "s");
	put(h, "</p></section>\n");
	free(t);
}
