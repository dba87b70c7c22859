/* html.c - writes report.html: one self-contained page about one run
 * SPDX-License-Identifier: MIT
 *
 * This file sets the page up and puts its parts in order; each part is a file
 * of its own, html_*.c. html_part.h holds the rules.
 */
#include "html_part.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char defs[] =
"<svg width=\"0\" height=\"0\" class=\"defs\" aria-hidden=\"true\" "
"focusable=\"false\"><defs>\n"
"<pattern id=\"p-d\" width=\"4\" height=\"4\" patternUnits=\"userSpaceOnUse\">"
"<rect class=\"pd\" width=\"4\" height=\"4\"/>"
"<circle class=\"pd2\" cx=\"2\" cy=\"2\" r=\".9\"/></pattern>\n"
"<pattern id=\"p-r\" width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\">"
"<rect class=\"pr\" width=\"5\" height=\"5\"/>"
"<path class=\"pr2\" d=\"M-1 1 1-1M0 5 5 0M4 6 6 4\"/></pattern>\n"
"<pattern id=\"p-t\" width=\"4\" height=\"4\" patternUnits=\"userSpaceOnUse\">"
"<rect class=\"pt\" width=\"4\" height=\"4\"/>"
"<path class=\"pt2\" d=\"M1 0V4\"/></pattern>\n"
"<pattern id=\"p-g\" width=\"4\" height=\"4\" patternUnits=\"userSpaceOnUse\">"
"<rect class=\"pg\" width=\"4\" height=\"4\"/>"
"<path class=\"pg2\" d=\"M0 2H4\"/></pattern>\n"
"<symbol id=\"o-pass\" viewBox=\"0 0 16 16\"><circle cx=\"8\" cy=\"8\" "
"r=\"7.5\" class=\"oc\"/><path class=\"ol\" d=\"M4.400 8.300 7 10.900 11.700 "
"5.500\"/></symbol>\n"
"<symbol id=\"o-fail\" viewBox=\"0 0 16 16\"><rect x=\"1\" y=\"1\" "
"width=\"14\" height=\"14\" rx=\"2\" class=\"oc\"/><path class=\"ol\" "
"d=\"M4.800 4.800l6.400 6.400m0-6.400l-6.400 6.400\"/></symbol>\n"
"<symbol id=\"o-inconclusive\" viewBox=\"0 0 16 16\"><circle cx=\"8\" "
"cy=\"8\" r=\"6.7\" class=\"os\" stroke-dasharray=\"3 2\"/><path class=\"os\" "
"d=\"M4.200 9c1.300-2.800 2.700-2.800 3.800-1s2.500 1.800 3.800-1\"/>"
"</symbol>\n"
"<symbol id=\"o-skip\" viewBox=\"0 0 16 16\"><circle cx=\"8\" cy=\"8\" "
"r=\"6.7\" class=\"os\"/><path class=\"os\" d=\"M4.600 8h6.800\"/></symbol>\n"
"<symbol id=\"o-error\" viewBox=\"0 0 16 16\"><path class=\"oc\" "
"d=\"M8 1 15.500 15H.5z\"/><path class=\"ol\" d=\"M8 5.600v4.600m0 1.500v1.500"
"\"/></symbol>\n"
"<symbol id=\"o-dirty\" viewBox=\"0 0 16 16\"><path class=\"oc\" "
"d=\"M8 .4 15.600 8 8 15.600.4 8z\"/><path class=\"ol\" d=\"M8 4v4.800m0 1.600"
"v1.600\"/></symbol>\n"
"<symbol id=\"o-usage\" viewBox=\"0 0 16 16\"><path class=\"oc\" "
"d=\"M8 1 15.500 15H.5z\"/></symbol>\n"
"</defs></svg>\n";

/* The times of the trial shown: from what was measured, else from the events
 * else from what was measured. */
static void trial_times(struct html *h)
{
	double end = drill_look_num(h->trial, "end_s");
	json_t *ev;
	size_t i;

	h->begin = drill_look_num(h->trial, "begin_s");
	h->wall = drill_look_num(h->trial, "wall_s");
	if (!isnan(end) && isnan(h->wall))
		h->wall = end - h->begin;
	json_array_foreach (h->events, i, ev) {
		const char *kind = drill_look_text(ev, "kind", "");

		if (drill_look_num(ev, "trial") != h->id)
			continue;
		if (isnan(h->begin) && !strcmp(kind, "attempt.begin"))
			h->begin = drill_look_num(ev, "t_s");
		if (!strcmp(kind, "rank.begin"))
			json_array_append(h->begins, ev);
	}
}

static void trial_facts(struct html *h)
{
	json_t *stages = drill_look(h->run, "baseline.stages"), *stage;
	const char *name;

	h->ranks = drill_look_num(h->trial, "ranks");
	if (isnan(h->ranks))
		h->ranks = drill_look_num(h->run, "scope.ranks");
	h->step = NAN;
	json_object_foreach (stages, name, stage)
		if (isnan(h->step) || !strcmp(name, "main"))
			h->step = drill_look_num(stage, "step_s");
	h->usd = drill_look_num(h->run, "lab.rates.usd_per_rank_hour");
	h->kwh = drill_look_num(h->run, "lab.rates.kwh_per_rank_hour");
}

static void init(struct html *h, const struct drill_report *report, FILE *to)
{
	*h = (struct html){ .to = to, .report = report, .run = report->run,
			    .events = report->events };
	h->begins = json_array();
	h->shown = drill_trial_shown(report);
	if (h->shown >= 0)
		h->trial = json_array_get(drill_look(h->run, "trials"),
					  (size_t)h->shown);
	h->incidents = drill_look(h->trial, "incidents");
	h->id = drill_look_num(h->trial, "trial");
	if (isnan(h->id))
		h->id = h->shown;
	h->ordinal = h->trial ? drill_trial_ordinal(h->run, h->shown) : 0;
	h->number = h->shown + 1;
	h->n_fault = drill_trials_of(h->run, "fault");
	h->expects = drill_expects(h->run, &h->n_expects);
	trial_times(h);
	trial_facts(h);
}

static void done(struct html *h)
{
	free(h->expects);
	json_decref(h->begins);
	drill_html_free(h);
}

static void head(struct html *h)
{
	put(h, "<!doctype html>\n<html lang=\"en\">\n<head>\n"
	    "<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
	    "content=\"width=device-width,initial-scale=1\">\n"
	    "<meta name=\"color-scheme\" content=\"light dark\">\n"
	    "<link rel=\"icon\" href=\"data:,\">\n"
	    "<title>%s: %s (faultdrill)</title>\n<style>",
	    drill_html_capitals(h, drill_outcome_name(drill_run_outcome(h->run))),
	    esc(h, drill_look_text(h->run, "scenario", "unnamed")));
	drill_html_style(h);
	put(h, "</style>\n</head>\n<body>\n%s"
	    "<a class=\"skiplink\" href=\"#main\">Skip to the verdict</a>\n"
	    "<main id=\"main\">\n", defs);
}

static int write_html(const struct drill_report *report, FILE *to,
		      struct drill_err *err)
{
	struct html h;

	init(&h, report, to);
	head(&h);
	drill_html_verdict(&h);
	drill_html_story(&h);
	drill_html_lanes(&h);
	drill_html_series(&h);
	drill_html_ledger(&h);
	drill_html_expectations(&h);
	drill_html_blame(&h);
	drill_html_evidence(&h);
	drill_html_hooks(&h);
	drill_html_lab(&h);
	drill_html_script(&h);
	put(&h, "</body>\n</html>\n");
	done(&h);
	return ferror(to) ? drill_err_set(err, -EIO, "report.html",
					  "cannot write") : 0;
}

const struct drill_reporter drill_report_html = {
	.name = "html",
	.doc = "One self-contained page with the whole story.",
	.file = "report.html",
	.write = write_html,
};
