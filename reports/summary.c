/* summary.c - what a run comes down to: the trial to show, why, what missed
 * SPDX-License-Identifier: MIT
 */
#include "summary.h"

#include "look.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static enum drill_outcome outcome_of(json_t *o)
{
	enum drill_outcome word;

	if (drill_outcome_parse(drill_look_text(o, "outcome", ""), &word))
		return DRILL_ERROR;
	return word;
}

enum drill_outcome drill_run_outcome(json_t *run)
{
	return outcome_of(run);
}

enum drill_outcome drill_trial_outcome(json_t *trial)
{
	return outcome_of(trial);
}

static const struct {
	const char *suffix, *base;
	double times;
} suffixes[] = {
	{ "ns", "s", 1e-9 },	  { "us", "s", 1e-6 },
	{ "ms", "s", 1e-3 },	  { "s", "s", 1 },
	{ "min", "s", 60 },	  { "h", "s", 3600 },
	{ "d", "s", 86400 },	  { "%", "%", 1 },
	{ "rank*s", "rank*s", 1 }, { "rank_s", "rank*s", 1 },
	{ "", "", 1 },
};

/* "5s" is 5 of "s". What needs more than a literal is left to the engine. */
static double literal(const char *text, const char **unit)
{
	char *end;
	double v = strtod(text, &end);

	if (end == text)
		return NAN;
	while (*end == ' ')
		end++;
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++)
		if (!strcmp(end, suffixes[i].suffix)) {
			if (!**unit)
				*unit = suffixes[i].base;
			return v * suffixes[i].times;
		}
	return NAN;
}

static const char *unit_by_metric(const char *metric)
{
	if (strstr(metric, "time_to"))
		return "s";
	return strstr(metric, "lost_compute") ? "rank*s" : "";
}

static double limit_of(json_t *row, json_t *limit, const char **unit)
{
	double v = drill_look_num(row, "limit_value");

	if (isnan(v) && json_is_string(limit))
		v = literal(json_string_value(limit), unit);
	return isnan(v) ? drill_value_num(limit) : v;
}

/* Share of the allowance that @val takes; NAN where there is no such thing. */
static double used(const struct drill_expect *e, double val)
{
	if (isnan(e->lim) || isnan(val) || isinf(e->lim))
		return NAN;
	if (*e->op == '<')
		return e->lim > 0 ? val / e->lim : NAN;
	if (*e->op == '>')
		return e->lim <= 0 ? NAN : val > 0 ? e->lim / val : INFINITY;
	return NAN;
}

static void read_row(json_t *row, struct drill_expect *e)
{
	json_t *held = drill_look(row, "held");

	e->metric = drill_look_text(row, "metric", "?");
	e->op = drill_look_text(row, "op", "");
	e->stat = drill_look_text(row, "stat", "");
	e->unit = drill_look_text(row, "unit", "");
	e->why = drill_look_text(row, "why", "");
	e->limit = drill_look(row, "limit");
	e->value = drill_look(row, "value");
	e->per_trial = drill_look(row, "per_trial");
	/* A flag is written as 0 or 1; a rate of them is a number. */
	if (json_is_boolean(e->limit) && json_is_integer(e->value) && !*e->stat)
		e->value = json_boolean(json_integer_value(e->value));
	e->lim = limit_of(row, e->limit, &e->unit);
	if (!*e->unit)
		e->unit = unit_by_metric(e->metric);
	e->val = drill_value_num(e->value);
	e->used = used(e, e->val);
	e->held = !json_is_boolean(held) ? DRILL_HELD_UNKNOWN
		  : json_is_true(held)	 ? DRILL_HELD_YES
					 : DRILL_HELD_NO;
}

struct order {
	struct drill_expect e;
	size_t at; /* ties keep the scenario's order */
};

static int by_need(const void *x, const void *y)
{
	const struct order *a = x, *b = y;
	double ua = isnan(a->e.used) ? -1 : a->e.used;
	double ub = isnan(b->e.used) ? -1 : b->e.used;

	if (a->e.held != b->e.held)
		return a->e.held > b->e.held ? -1 : 1;
	if (ua != ub)
		return ua > ub ? -1 : 1;
	return a->at < b->at ? -1 : 1;
}

struct drill_expect *drill_expects(json_t *run, size_t *ret_n)
{
	json_t *rows = drill_look(run, "expectations");
	size_t n = json_array_size(rows);
	struct order *o = calloc(n + 1, sizeof(*o));
	struct drill_expect *e = calloc(n + 1, sizeof(*e));

	*ret_n = o && e ? n : 0;
	for (size_t i = 0; i < *ret_n; i++) {
		read_row(json_array_get(rows, i), &o[i].e);
		o[i].at = i;
	}
	qsort(o, *ret_n, sizeof(*o), by_need);
	for (size_t i = 0; i < *ret_n; i++)
		e[i] = o[i].e;
	free(o);
	return e;
}

json_t *drill_expect_in(json_t *run, const struct drill_expect *e, int trial,
			int *ret_index)
{
	size_t n = json_array_size(e->per_trial);
	int at = n == drill_look_size(run, "trials")
		? trial : drill_trial_ordinal(run, trial);
	json_t *v = json_array_get(e->per_trial, (size_t)at);

	if (ret_index)
		*ret_index = at;
	return json_is_null(v) ? NULL : v;
}

enum drill_held drill_expect_held(const struct drill_expect *e, json_t *value)
{
	double v = drill_value_num(value);
	struct drill_value one = { .v = v, .lo = v, .hi = v,
				   .known = !isnan(v), .never = isinf(v) };

	if (!value || json_is_null(value))
		return DRILL_HELD_UNKNOWN;
	if (!isnan(v) && !isnan(e->lim))
		return drill_value_holds(&one, e->op, e->lim);
	if (!strcmp(e->op, "==") && json_is_string(value) &&
	    json_is_string(e->limit) && json_equal(value, e->limit))
		return DRILL_HELD_YES;
	if (!strcmp(e->op, "is") && json_is_string(e->limit) &&
	    !strcmp(json_string_value(e->limit), "finite") && !isnan(v))
		return isfinite(v) ? DRILL_HELD_YES : DRILL_HELD_NO;
	/* "target", "in": the row's word stands where trials agree. */
	if (json_equal(value, e->value))
		return e->held;
	return e->held == DRILL_HELD_NO ? DRILL_HELD_YES : DRILL_HELD_UNKNOWN;
}

int drill_trial_ordinal(json_t *run, int trial)
{
	json_t *all = drill_look(run, "trials");
	const char *role = drill_look_text(
		json_array_get(all, (size_t)trial), "role", "");
	int k = 0;

	for (int i = 0; i < trial; i++)
		k += !strcmp(role, drill_look_text(
			json_array_get(all, (size_t)i), "role", ""));
	return k;
}

int drill_trials_of(json_t *run, const char *role)
{
	json_t *t;
	size_t i;
	int k = 0;

	json_array_foreach (drill_look(run, "trials"), i, t)
		k += !strcmp(role, drill_look_text(t, "role", ""));
	return k;
}

/* How far a fault trial is beyond the limits: the largest share used. */
static double trial_used(json_t *run, int trial)
{
	double worst = 0;
	size_t n, i;
	struct drill_expect *e = drill_expects(run, &n);

	for (i = 0; e && i < n; i++) {
		json_t *v = drill_expect_in(run, &e[i], trial, NULL);
		double u = used(&e[i], drill_value_num(v));

		if (u > worst)
			worst = u;
	}
	free(e);
	return worst;
}

/* Is trial @i worse to look at than trial @best, both fault trials? */
static bool worse(json_t *run, int i, int best)
{
	json_t *all = drill_look(run, "trials");
	enum drill_outcome a =
		drill_trial_outcome(json_array_get(all, (size_t)i));
	enum drill_outcome b =
		drill_trial_outcome(json_array_get(all, (size_t)best));

	if (a != b)
		return drill_outcome_worse(a, b) == a;
	return trial_used(run, i) > trial_used(run, best);
}

int drill_trial_shown(const struct drill_report *report)
{
	json_t *all = drill_look(report->run, "trials");
	int n = (int)json_array_size(all), best = -1;

	if (report->trial >= 0 && report->trial < n)
		return report->trial;
	for (int i = 0; i < n; i++) {
		json_t *t = json_array_get(all, (size_t)i);

		if (strcmp(drill_look_text(t, "role", ""), "fault") != 0)
			continue;
		if (best < 0 || worse(report->run, i, best))
			best = i;
	}
	return best < 0 ? n - 1 : best;
}

const char *drill_expect_text(const struct drill_expect *e, bool plain,
			      char *buf, size_t size)
{
	char value[160], limit[160];

	drill_value_text(e->value, e->unit, plain, value, sizeof(value));
	drill_value_text(e->limit, e->unit, plain, limit, sizeof(limit));
	if (!*value)
		snprintf(value, sizeof(value), "unknown");
	snprintf(buf, size, "%s%s%s%s is %s, must be %s %s", e->stat,
		 *e->stat ? " of " : "", e->metric, "", value, e->op, limit);
	return buf;
}

const char *drill_skip_text(json_t *skip, char *buf, size_t size)
{
	const char *needs = drill_look_text(skip, "needs", NULL);
	const char *host = drill_look_text(skip, "host", NULL);

	if (json_is_string(skip))
		snprintf(buf, size, "%s", json_string_value(skip));
	else if (needs && host)
		snprintf(buf, size, "needs %s on host %s", needs, host);
	else if (needs)
		snprintf(buf, size, "needs %s", needs);
	else
		snprintf(buf, size, "%s", drill_look_text(skip, "what", ""));
	return buf;
}

static void why_missed(json_t *run, bool plain, char *buf, size_t size)
{
	size_t n, held = 0;
	struct drill_expect *e = drill_expects(run, &n);
	char text[400], num[DRILL_NUM];

	for (size_t i = 0; e && i < n; i++)
		held += e[i].held == DRILL_HELD_YES;
	if (!e || !n)
		snprintf(buf, size, "%s.", drill_look_text(run, "reason",
			"nothing was expected, nothing went wrong"));
	else if (e[0].held == DRILL_HELD_NO)
		snprintf(buf, size, "%s. %zu of %zu expectations held.",
			 drill_expect_text(&e[0], plain, text, sizeof(text)),
			 held, n);
	else if (held == n && isnan(e[0].used))
		snprintf(buf, size, n == 1 ? "the one expectation held."
					   : "all %zu expectations held.", n);
	else if (held == n && n == 1)
		snprintf(buf, size, "%s is at %s%% of its limit.", e[0].metric,
			 drill_num_plain(num, 100 * e[0].used,
					 e[0].used < 0.01));
	else if (held == n)
		snprintf(buf, size,
			 "all %zu expectations held; the tightest is %s at "
			 "%s%% of its limit.", n, e[0].metric,
			 drill_num_plain(num, 100 * e[0].used,
					 e[0].used < 0.01));
	else
		snprintf(buf, size, "%zu of %zu expectations held.", held, n);
	free(e);
}

/* The first reason that the run or a trial gives; "" when none does. */
static const char *reason_of(json_t *run)
{
	const char *s = drill_look_text(run, "reason", "");
	json_t *t;
	size_t i;

	json_array_foreach (drill_look(run, "trials"), i, t)
		if (!*s)
			s = drill_look_text(t, "reasons.0", "");
	return s;
}

static const char *full_stop(char *buf, size_t size)
{
	size_t n = strlen(buf);

	if (n && n + 1 < size && buf[n - 1] != '.')
		strcpy(buf + n, ".");
	return buf;
}

const char *drill_verdict_why(json_t *run, bool plain, char *buf, size_t size)
{
	enum drill_outcome o = drill_run_outcome(run);
	char num[DRILL_NUM];

	buf[0] = '\0';
	if (o == DRILL_PASS || o == DRILL_FAIL) {
		why_missed(run, plain, buf, size);
		return buf;
	}
	if (o == DRILL_DIRTY && drill_look(run, "dirty.0"))
		snprintf(buf, size, "%s could not be proven clean: %s",
			 drill_look_size(run, "dirty") == 1 ? "one thing" :
			 drill_num_plain(num, (double)drill_look_size(run,
				"dirty"), 0),
			 drill_look_text(run, "dirty.0.what", "unnamed"));
	else if (o == DRILL_SKIP && drill_look(run, "skips.0"))
		drill_skip_text(drill_look(run, "skips.0"), buf, size);
	else
		snprintf(buf, size, "%s", reason_of(run));
	if (!*buf)
		snprintf(buf, size, "no reason was recorded");
	return full_stop(buf, size);
}
