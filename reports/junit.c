/* junit.c - writes JUnit XML: a suite is a scenario, a case an expectation
 * SPDX-License-Identifier: MIT
 *
 * CI servers read this. What could not run here is <skipped> with its reason,
 * never a silent pass; what is our own fault, or left dirty, is <error>. A run
 * without expectations has one case, the drill itself.
 */
#include "look.h"
#include "summary.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct count {
	size_t tests, failures, errors, skipped;
};

static enum drill_outcome case_outcome(enum drill_outcome run,
				       const struct drill_expect *e)
{
	if (run == DRILL_SKIP || run == DRILL_ERROR)
		return run;
	if (!e)
		return run;
	return e->held == DRILL_HELD_NO	    ? DRILL_FAIL
	       : e->held == DRILL_HELD_UNKNOWN ? DRILL_INCONCLUSIVE
					    : DRILL_PASS;
}

static void count(struct count *n, enum drill_outcome o)
{
	n->tests++;
	n->failures += o == DRILL_FAIL;
	n->skipped += o == DRILL_SKIP || o == DRILL_INCONCLUSIVE;
	n->errors += o == DRILL_ERROR || o == DRILL_DIRTY || o == DRILL_USAGE;
}

/* The drill itself is a case when no expectation tells the run's outcome. */
static bool drill_is_case(json_t *run)
{
	enum drill_outcome word = drill_run_outcome(run);
	size_t rows, i;
	struct drill_expect *e = drill_expects(run, &rows);
	bool told = false;

	for (i = 0; e && i < rows; i++)
		told = told || word == DRILL_PASS ||
		       case_outcome(word, &e[i]) == word;
	free(e);
	return !told;
}

static struct count count_run(json_t *run)
{
	struct count n = { 0 };
	size_t rows, i;
	struct drill_expect *e = drill_expects(run, &rows);

	for (i = 0; e && i < rows; i++)
		count(&n, case_outcome(drill_run_outcome(run), &e[i]));
	if (drill_is_case(run))
		count(&n, drill_run_outcome(run));
	free(e);
	return n;
}

static void attr(FILE *to, const char *name, const char *value)
{
	fprintf(to, " %s=\"", name);
	drill_escape(to, value);
	putc('"', to);
}

static void result(FILE *to, enum drill_outcome o, const char *why)
{
	const char *tag = o == DRILL_FAIL ? "failure" :
		o == DRILL_SKIP || o == DRILL_INCONCLUSIVE ? "skipped" : "error";

	fprintf(to, ">\n      <%s", tag);
	if (o != DRILL_SKIP && o != DRILL_INCONCLUSIVE)
		attr(to, "type", drill_outcome_name(o));
	attr(to, "message", why);
	fputs("/>\n    </testcase>\n", to);
}

static void one_case(FILE *to, json_t *run, const char *name, double seconds,
		     enum drill_outcome o, const char *why)
{
	char num[DRILL_NUM];

	fputs("    <testcase", to);
	attr(to, "name", name);
	attr(to, "classname", drill_look_text(run, "scenario", "unnamed"));
	if (!isnan(seconds))
		attr(to, "time", drill_num_plain(num, seconds, 3));
	if (o == DRILL_PASS)
		fputs("/>\n", to);
	else
		result(to, o, why);
}

static void expect_case(FILE *to, json_t *run, const struct drill_expect *e)
{
	char name[512], limit[160], why[700];
	enum drill_outcome o = case_outcome(drill_run_outcome(run), e);
	bool time = !strcmp(e->unit, "s") && isfinite(e->val);

	drill_value_text(e->limit, e->unit, true, limit, sizeof(limit));
	snprintf(name, sizeof(name), "%s %s %s%s%s", e->metric, e->op, limit,
		 *e->stat ? " " : "", e->stat);
	if (o == DRILL_FAIL)
		drill_expect_text(e, true, why, sizeof(why));
	else if (o == DRILL_INCONCLUSIVE)
		snprintf(why, sizeof(why), "inconclusive: %s", *e->why ? e->why
			 : drill_look_text(run, "reason", "not enough data"));
	else
		drill_verdict_why(run, true, why, sizeof(why));
	one_case(to, run, name, time ? e->val : NAN, o, why);
}

/* Wall time of all trials: what the suite took. */
static double wall(json_t *run)
{
	double sum = 0;
	json_t *t;
	size_t i;

	json_array_foreach (drill_look(run, "trials"), i, t) {
		double w = drill_look_num(t, "wall_s");

		sum += isnan(w) ? 0 : w;
	}
	return sum;
}

static void property(FILE *to, const char *name, const char *value)
{
	if (!*value)
		return;
	fputs("      <property", to);
	attr(to, "name", name);
	attr(to, "value", value);
	fputs("/>\n", to);
}

static void properties(FILE *to, json_t *run)
{
	char seed[64];

	fputs("    <properties>\n", to);
	property(to, "id", drill_look_text(run, "id", ""));
	property(to, "outcome", drill_outcome_name(drill_run_outcome(run)));
	property(to, "seed", drill_value_text(drill_look(run, "seed"), "",
					      true, seed, sizeof(seed)));
	property(to, "repeat", drill_look_text(run, "repeat", ""));
	property(to, "faultdrill",
		 drill_look_text(run, "faultdrill.version", ""));
	fputs("    </properties>\n", to);
}

static void counts(FILE *to, struct count n)
{
	fprintf(to, " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\""
		" skipped=\"%zu\"", n.tests, n.failures, n.errors, n.skipped);
}

static void suite(FILE *to, json_t *run)
{
	size_t rows, i;
	struct drill_expect *e = drill_expects(run, &rows);
	char num[DRILL_NUM], why[700];

	fputs("  <testsuite", to);
	attr(to, "name", drill_look_text(run, "scenario", "unnamed"));
	counts(to, count_run(run));
	attr(to, "time", drill_num_plain(num, wall(run), 3));
	if (*drill_look_text(run, "started", ""))
		attr(to, "timestamp", drill_look_text(run, "started", ""));
	fputs(">\n", to);
	properties(to, run);
	if (drill_is_case(run))
		one_case(to, run, "drill", wall(run), drill_run_outcome(run),
			 drill_verdict_why(run, true, why, sizeof(why)));
	for (i = 0; e && i < rows; i++)
		expect_case(to, run, &e[i]);
	fputs("  </testsuite>\n", to);
	free(e);
}

int drill_junit_write(const struct drill_report *reports, int n, FILE *to,
		      struct drill_err *err)
{
	struct count all = { 0 };

	for (int i = 0; i < n; i++) {
		struct count one = count_run(reports[i].run);

		all.tests += one.tests;
		all.failures += one.failures;
		all.errors += one.errors;
		all.skipped += one.skipped;
	}
	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites"
	      " name=\"faultdrill\"", to);
	counts(to, all);
	fputs(">\n", to);
	for (int i = 0; i < n; i++)
		suite(to, reports[i].run);
	fputs("</testsuites>\n", to);
	return ferror(to) ? drill_err_set(err, -EIO, "report.junit",
					  "cannot write") : 0;
}

static int write_junit(const struct drill_report *report, FILE *to,
		       struct drill_err *err)
{
	return drill_junit_write(report, 1, to, err);
}

const struct drill_reporter drill_report_junit = {
	.name = "junit",
	.doc = "JUnit XML: a suite is a scenario, a case an expectation.",
	.file = "junit.xml",
	.write = write_junit,
};
