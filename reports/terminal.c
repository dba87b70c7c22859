/* terminal.c - the summary at the end of a run, in 80 columns
 * SPDX-License-Identifier: MIT
 *
 * The verdict comes first, then what failed first, then what it cost. The last
 * lines are where the page lies and how to run it again.
 */
#include "look.h"
#include "seen.h"
#include "summary.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS 80
#define LABEL 15 /* of a "label  text" line, from column 2 */

static const char *colour_of(enum drill_outcome o)
{
	switch (o) {
	case DRILL_PASS:
		return "32";
	case DRILL_SKIP:
		return "2";
	case DRILL_INCONCLUSIVE:
		return "33";
	default:
		return "31";
	}
}

static void painted(const struct drill_report *r, FILE *to,
		    enum drill_outcome o, const char *text)
{
	if (r->colour)
		fprintf(to, "\033[1;%sm%s\033[0m", colour_of(o), text);
	else
		fputs(text, to);
}

/* Breaks @text between words at 80 columns, later lines start at @indent, those
 * before end with @mark. Blanks within a line are kept, they align columns. */
static void broken(FILE *to, const char *text, int at, int indent,
		   const char *mark)
{
	int columns = COLUMNS - (int)strlen(mark);
	char word[COLUMNS * 4 + 1];
	int blanks = 0;

	while (*text) {
		size_t n = strcspn(text, " \t\n");
		int len = (int)(n < COLUMNS ? n : COLUMNS);

		snprintf(word, sizeof(word), "%.*s",
			 (int)(n < sizeof(word) ? n : sizeof(word) - 1), text);
		if (at > indent && at + blanks + len > columns &&
		    at + blanks + (int)strlen(text) > COLUMNS) {
			fprintf(to, "%s\n%*s", mark, indent, "");
			at = indent;
		} else {
			at += fprintf(to, "%*s", blanks, "");
		}
		at += drill_print_text(to, word, 0);
		text += n;
		blanks = (int)strspn(text, " \t\n");
		text += blanks;
	}
	putc('\n', to);
}

static void wrapped(FILE *to, const char *text, int at, int indent)
{
	broken(to, text, at, indent, "");
}

static void line(FILE *to, const char *label, const char *text)
{
	fprintf(to, "  %-*s", LABEL, label);
	wrapped(to, text, LABEL + 2, LABEL + 2);
}

/* A command: pasted into a shell it is one. */
static void command_line(FILE *to, const char *label, const char *command)
{
	fprintf(to, "  %-*s", LABEL, label);
	broken(to, command, LABEL + 2, LABEL + 2, " \\");
}

static void verdict(const struct drill_report *r, FILE *to)
{
	enum drill_outcome o = drill_run_outcome(r->run);
	const char *name = drill_outcome_name(o);
	char word[32], why[900];
	int i;

	for (i = 0; name[i] && i < 31; i++)
		word[i] = (char)(name[i] - ('a' <= name[i] && name[i] <= 'z') * 32);
	word[i] = '\0';
	painted(r, to, o, word);
	fputs("  ", to);
	wrapped(to, drill_look_text(r->run, "scenario", "unnamed"), i + 2,
		i + 2);
	fprintf(to, "%*s", i + 2, "");
	wrapped(to, drill_verdict_why(r->run, true, why, sizeof(why)), i + 2,
		i + 2);
}

/* What must be done before anything else. */
static void to_do(const struct drill_report *r, FILE *to)
{
	json_t *d;
	size_t i;

	if (drill_look_size(r->run, "dirty"))
		putc('\n', to);
	json_array_foreach (drill_look(r->run, "dirty"), i, d) {
		line(to, "left dirty", drill_look_text(d, "what",
			json_is_string(d) ? json_string_value(d) : "unnamed"));
		line(to, "finish with",
		     drill_look_text(d, "command", "faultdrill heal"));
	}
	json_array_foreach (drill_look(r->run, "skips"), i, d) {
		char why[300];

		/* The first one is the verdict's reason. */
		if (i)
			line(to, "and", drill_skip_text(d, why, sizeof(why)));
	}
}

/* "after 1.00 s", or why there is none. */
static void time_text(json_t *inc, const char *what, char *buf, size_t size)
{
	char key[64], num[DRILL_NUM];
	const char *why;
	double hi = drill_look_num(inc, "time_to_detect_hi_s"), v;

	snprintf(key, sizeof(key), "time_to_%s_s", what);
	v = drill_look_num(inc, key);
	snprintf(key, sizeof(key), "time_to_%s_why", what);
	why = drill_look_text(inc, key, "never");
	if (!strcmp(what, "detect") && isfinite(hi) &&
	    !strcmp(drill_look_text(inc, "detect_order", ""), "undecidable"))
		snprintf(buf, size, "within %s s",
			 drill_num_plain(num, hi, -1));
	else if (isfinite(v))
		snprintf(buf, size, "after %s s",
			 drill_num_plain(num, v, -1));
	else if (!strcmp(why, "not_applicable"))
		snprintf(buf, size, "never stopped");
	else
		snprintf(buf, size, "never");
}

static bool control(json_t *inc)
{
	return !strcmp(drill_look_text(inc, "class", ""), "control");
}

static void noticed(FILE *to, json_t *inc)
{
	char t[64], text[200], num[DRILL_NUM];
	double lower = drill_look_num(inc, "time_to_detect_lower_s");

	time_text(inc, "detect", t, sizeof(t));
	if (control(inc))
		snprintf(text, sizeof(text), "%s",
			 drill_look(inc, "time_to_detect_s")
			 ? "though there was nothing to notice"
			 : "by nobody: there was nothing to notice");
	else if (isfinite(drill_look_num(inc, "time_to_detect_s")))
		snprintf(text, sizeof(text), "%-16s by %s", t,
			 drill_look_text(inc, "detected_by", "unknown"));
	else if (isfinite(lower))
		snprintf(text, sizeof(text), "by nobody in %s s",
			 drill_num_plain(num, lower, -1));
	else
		snprintf(text, sizeof(text), "by nobody");
	line(to, "  noticed", text);
}

static void blamed(FILE *to, json_t *inc)
{
	json_t *correct = drill_look(inc, "blame_correct");
	char t[64], text[200];

	time_text(inc, "blame", t, sizeof(t));
	if (!correct)
		snprintf(text, sizeof(text), "nobody");
	else
		snprintf(text, sizeof(text), "%-16s %s", t,
			 json_is_true(correct) ? "the right part"
					       : "the wrong part");
	line(to, "  blamed", text);
}

static void moved(FILE *to, json_t *run, json_t *inc)
{
	char t[64], caught[64], text[200];

	time_text(inc, "resume", t, sizeof(t));
	time_text(inc, "catch_up", caught, sizeof(caught));
	if (!strncmp(t, "after", 5))
		snprintf(text, sizeof(text), "%-16s caught up %s", t, caught);
	else if (!strcmp(t, "never stopped"))
		snprintf(text, sizeof(text), "training %s", t);
	else if (drill_look_silent(run))
		snprintf(text, sizeof(text), "unknown: the job tells no steps");
	else
		snprintf(text, sizeof(text), "never");
	line(to, "  moved again", text);
}

static void cost(FILE *to, json_t *run, json_t *inc)
{
	double lost = drill_look_num(inc, "lost_compute_rank_s");
	double noise = drill_look_num(run, "noise_floor_rank_s");
	double steps = drill_look_num(inc, "cost.steps");
	char a[DRILL_NUM], b[DRILL_NUM], text[200], t[64];

	if (isnan(lost))
		snprintf(text, sizeof(text), "unknown");
	else if (fabs(lost) < noise)
		snprintf(text, sizeof(text), "below %s rank*s, the noise floor",
			 drill_num_plain(a, noise, -1));
	else if (isnan(steps))
		snprintf(text, sizeof(text), "%s rank*s",
			 drill_num_plain(a, lost, -1));
	else {
		snprintf(t, sizeof(t), "%s rank*s",
			 drill_num_plain(a, lost, -1));
		snprintf(text, sizeof(text), "%-16s %s steps", t,
			 drill_num_plain(b, steps, -1));
	}
	line(to, "  cost", text);
}

static void incidents(const struct drill_report *r, FILE *to, json_t *trial)
{
	json_t *inc;
	size_t i;

	json_array_foreach (drill_look(trial, "incidents"), i, inc) {
		char head[300], target[200];
		const char *with = drill_look_text(inc, "injector", "");

		snprintf(head, sizeof(head), "%s%s%s on %s",
			 drill_look_text(inc, "fault", "natural"),
			 *with ? ": " : "", with,
			 drill_target_text(inc, target, sizeof(target)));
		fputs("\n  ", to);
		wrapped(to, head, 2, 4);
		noticed(to, inc);
		blamed(to, inc);
		moved(to, r->run, inc);
		cost(to, r->run, inc);
	}
}

static const char *held_word(const struct drill_expect *e)
{
	return e->held == DRILL_HELD_NO	    ? "missed"
	       : e->held == DRILL_HELD_UNKNOWN ? "unsure"
					    : "held";
}

static void expectation(const struct drill_report *r, FILE *to,
			const struct drill_expect *e)
{
	char value[160], limit[160], text[64];
	static const enum drill_outcome as[] = {
		[DRILL_HELD_YES] = DRILL_PASS,
		[DRILL_HELD_UNKNOWN] = DRILL_INCONCLUSIVE,
		[DRILL_HELD_NO] = DRILL_FAIL,
	};

	drill_value_text(e->value, e->unit, true, value, sizeof(value));
	drill_value_text(e->limit, e->unit, true, limit, sizeof(limit));
	fputs("  ", to);
	snprintf(text, sizeof(text), "%-8s", held_word(e));
	painted(r, to, as[e->held], text);
	for (int n = drill_print_text(to, e->metric, 30); n < 31; n++)
		putc(' ', to);
	fprintf(to, "%-3s", e->op);
	for (int n = drill_print_text(to, limit, 17); n < 18; n++)
		putc(' ', to);
	drill_print_text(to, *value ? value : "unknown", 18);
	putc('\n', to);
}

static void expectations(const struct drill_report *r, FILE *to)
{
	size_t n, i;
	struct drill_expect *e = drill_expects(r->run, &n);

	if (!drill_look_size(r->run, "trials"))
		n = 0;
	if (n)
		fprintf(to, "\n  %-8s%-31s%-3s%-18s%s\n", "", "expected", "",
			"limit", "value");
	for (i = 0; e && i < n; i++)
		expectation(r, to, &e[i]);
	free(e);
}

static void trials(FILE *to, json_t *run, int shown)
{
	char text[1024] = "";
	size_t n = 0, i;
	json_t *t;

	json_array_foreach (drill_look(run, "trials"), i, t)
		if (n < sizeof(text) - 64)
			n += (size_t)snprintf(text + n, sizeof(text) - n,
				"%s%.16s %s%s", i ? ", " : "",
				drill_look_text(t, "role", "?"),
				drill_outcome_name(drill_trial_outcome(t)),
				(int)i == shown ? " (above)" : "");
	if (n)
		line(to, "trials", text);
}

static void ledger(FILE *to, json_t *run, json_t *trial)
{
	static const char *const cats[] = { "useful", "checkpoint", "data",
		"stalled", "redone", "restart", "degraded", "idle" };
	json_t *l = drill_look(trial, "ledger");
	char text[400], num[DRILL_NUM];
	size_t n, start;

	if (isnan(drill_look_num(l, "wall_rank_s")))
		return;
	n = (size_t)snprintf(text, sizeof(text), "%s rank*s%s",
		drill_num_plain(num, drill_look_num(l, "wall_rank_s"), 1),
		drill_look_silent(run) ? ", not split: the job tells no steps" : " =");
	start = n;
	for (size_t i = 0; i < sizeof(cats) / sizeof(*cats); i++) {
		double v = drill_look_silent(run) ? 0 : drill_look_num(l, cats[i]);

		if (v > 0 && n < sizeof(text))
			n += (size_t)snprintf(text + n, sizeof(text) - n,
				"%s %s %s", n > start ? "," : "",
				cats[i],
				drill_num_plain(num, v, 1));
	}
	line(to, "ledger", text);
}

/* Those that were not as the others when somebody first noticed. */
static void waited(FILE *to, json_t *trial)
{
	size_t n, i, odd = 0;
	struct drill_seen_moment *m = drill_seen_moments(trial, &n);
	char text[400], where[160];

	for (i = 0; m && n && i < m->n; i++) {
		if (!m->rank[i].odd || ++odd > 3)
			continue;
		drill_seen_wait_text(&m->rank[i], where, sizeof(where));
		snprintf(text, sizeof(text), "rank %d %s, when it was %.60s",
			 m->rank[i].rank, where, m->at);
		line(to, odd == 1 ? "stood out" : "", text);
	}
	drill_seen_free(m, n);
}

static void hooks(FILE *to, json_t *trial)
{
	size_t mpi = drill_look_size(trial, "hooks.mpi");
	struct drill_seen_proxies p;
	char text[300], a[DRILL_NUM], b[DRILL_NUM], c[DRILL_NUM], d[DRILL_NUM];

	drill_seen_proxies(trial, &p);
	if (!p.processes)
		return; /* MPI's alone is in the page */
	snprintf(text, sizeof(text), "CUDA in %zu processes (MPI in %zu): %s "
		 "entry points linked, %s remapped, %s passed through, %s "
		 "bypassed", p.processes, mpi, drill_num_plain(a, p.linked, 0),
		 drill_num_plain(b, p.remapped, 0),
		 drill_num_plain(c, p.passed, 0),
		 drill_num_plain(d, p.bypassed, 0));
	line(to, "hooks", text);
}

static void clean(FILE *to, json_t *run, json_t *trial)
{
	double open = drill_look_num(trial, "undo.opened");
	double closed = drill_look_num(trial, "undo.closed");
	json_t *equal = drill_look(trial, "snapshot.equal");
	char text[200], a[DRILL_NUM], b[DRILL_NUM];

	if (!equal && isnan(open) && !drill_look_size(run, "dirty"))
		return;
	snprintf(text, sizeof(text), "%s%s%s%s%s%s",
		 drill_look_size(run, "dirty") ? "no" : "yes",
		 isnan(open) ? "" : ", ", drill_num_plain(a, closed, 0),
		 isnan(open) ? "" : " of ", drill_num_plain(b, open, 0),
		 isnan(open) ? "" : " undo records closed");
	if (equal)
		strcat(text, json_is_true(equal) ? ", snapshots equal"
						 : ", snapshots differ");
	line(to, "left clean", text);
}

static void ending(const struct drill_report *r, FILE *to)
{
	char text[1200], seed[64];

	drill_value_text(drill_look(r->run, "seed"), "", true, seed,
			 sizeof(seed));
	if (json_is_integer(drill_look(r->run, "seed")))
		snprintf(seed, sizeof(seed), "%" JSON_INTEGER_FORMAT,
			 json_integer_value(drill_look(r->run, "seed")));
	if (*seed)
		line(to, "seed", seed);
	if (r->dir) {
		snprintf(text, sizeof(text), "%s/report.html", r->dir);
		line(to, "report", text);
	}
	if (*drill_look_text(r->run, "repeat", ""))
		command_line(to, "repeat", drill_look_text(r->run, "repeat", ""));
}

static int write_terminal(const struct drill_report *report, FILE *to,
			  struct drill_err *err)
{
	int shown = drill_trial_shown(report);
	json_t *trial = json_array_get(drill_look(report->run, "trials"),
				       (size_t)shown);

	verdict(report, to);
	to_do(report, to);
	incidents(report, to, trial);
	expectations(report, to);
	putc('\n', to);
	trials(to, report->run, shown);
	ledger(to, report->run, trial);
	waited(to, trial);
	hooks(to, trial);
	clean(to, report->run, trial);
	ending(report, to);
	return ferror(to) ? drill_err_set(err, -EIO, "report.terminal",
					  "cannot write") : 0;
}

const struct drill_reporter drill_report_terminal = {
	.name = "terminal",
	.doc = "The summary at the end of a run.",
	.write = write_terminal,
};
