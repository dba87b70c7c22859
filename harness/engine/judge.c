/* judge.c - expectations against what was measured, trial by trial
 * SPDX-License-Identifier: MIT
 */
#include "drill_impl.h"

#include "harness/core/jsonx.h"
#include "harness/measure/measure.h"
#include "harness/measure/stats.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct judge {
	const struct drill_spec *spec;
	json_t *trials;	  /* measured */
	double step_s;	  /* of the baseline; 0 unknown */
	json_t *baseline; /* a measured trial of that role, or NULL */
};

static bool has_role(json_t *trial, const char *role)
{
	return strcmp(drill_json_text(trial, "role"), role) == 0;
}

static double timeout_s(void *ctx, const char *name)
{
	const struct drill_spec *spec = ctx;
	int64_t ns = drill_workload_timeout_ns(spec->workload, name);

	return ns < 0 ? -1 : (double)ns / 1e9;
}

static void judge_init(struct judge *j, const struct drill_spec *spec,
		       json_t *measured)
{
	json_t *t;
	size_t i;

	memset(j, 0, sizeof(*j));
	j->spec = spec;
	j->trials = json_object_get(measured, "trials");
	j->step_s = json_number_value(json_object_get(
		json_object_get(json_object_get(json_object_get(measured,
								"baseline"),
						"stages"), "main"), "step_s"));
	json_array_foreach(j->trials, i, t)
		if (!j->baseline && has_role(t, "baseline"))
			j->baseline = t;
}

/* ---- one expectation in one trial ---- */

static enum drill_verdict judge_value(const struct judge *j,
				      const struct drill_expect *e,
				      const struct drill_value *v, char *why,
				      int size)
{
	struct drill_limit_context c = { .step_s = j->step_s,
					 .timeout_s = timeout_s,
					 .ctx = (void *)(uintptr_t)j->spec };

	if (e->metric->of == DRILL_OF_WORKLOAD)
		drill_metric_read(e->metric, j->baseline, NULL, &c.baseline);
	return drill_limit_judge(&e->limit, v, &c, why, size);
}

/* Worse: broken before undecided before held. */
static bool is_worse(enum drill_verdict a, enum drill_verdict b)
{
	static const int rank[] = { [DRILL_HELD] = 0, [DRILL_UNDECIDED] = 1,
				    [DRILL_BROKEN] = 2 };

	return rank[a] > rank[b];
}

static enum drill_verdict judge_count(const struct judge *j,
				      const struct drill_expect *e, int count,
				      struct drill_value *v, char *why,
				      int size)
{
	v->type = DRILL_V_NUMBER;
	v->v = v->lo = v->hi = count;
	return judge_value(j, e, v, why, size);
}

static enum drill_verdict judge_fault(const struct judge *j,
				      const struct drill_expect *e,
				      json_t *trial, struct drill_value *ret,
				      char *why, int size)
{
	enum drill_verdict worst = DRILL_UNDECIDED, verdict;
	const char *name = j->spec->faults[e->fault].name;
	char reason[200];
	struct drill_value v;
	json_t *inc;
	int n = 0;
	size_t i;

	json_array_foreach(json_object_get(trial, "incidents"), i, inc) {
		if (strcmp(drill_json_text(inc, "fault"), name) != 0 ||
		    (++n != e->nth && e->nth))
			continue;
		drill_metric_read(e->metric, trial, inc, &v);
		verdict = judge_value(j, e, &v, reason, sizeof(reason));
		if (ret->type != DRILL_V_ABSENT && !is_worse(verdict, worst))
			continue;
		worst = verdict;
		*ret = v;
		snprintf(why, (size_t)size, "%s", reason);
	}
	if (!e->metric->field)
		return judge_count(j, e, n, ret, why, size);
	if (n == 0 || (e->nth && n < e->nth)) {
		drill_metric_read(e->metric, trial, NULL, ret);
		snprintf(why, (size_t)size, "'%s' had no incident", name);
	}
	return worst;
}

static enum drill_verdict judge_one(const struct judge *j,
				    const struct drill_expect *e, json_t *trial,
				    struct drill_value *ret, char *why,
				    int size)
{
	memset(ret, 0, sizeof(*ret));
	why[0] = '\0';
	if (e->fault >= 0)
		return judge_fault(j, e, trial, ret, why, size);
	drill_metric_read(e->metric, trial, NULL, ret);
	return judge_value(j, e, ret, why, size);
}

enum drill_verdict drill_judge_now(struct drill_trial *t,
				   const struct drill_expect *e,
				   struct drill_value *ret, char *why,
				   int size)
{
	json_t *trial = drill_trial_measured(t, false);
	struct judge j;

	if (!trial) {
		memset(ret, 0, sizeof(*ret));
		snprintf(why, (size_t)size, "nothing measured yet");
		return DRILL_UNDECIDED;
	}
	judge_init(&j, t->d->spec, t->measured);
	return judge_one(&j, e, trial, ret, why, size);
}

/* ---- over all trials ---- */

struct tally {
	double *x;
	int n, k; /* values; of flags: how many are true */
};

static void add(struct tally *t, const struct drill_value *v)
{
	if (v->type == DRILL_V_NUMBER)
		t->x[t->n++] = v->hi;
	else if (v->type == DRILL_V_NEVER)
		t->x[t->n++] = INFINITY;
	else
		return;
	t->k += v->type == DRILL_V_NUMBER && v->v != 0;
}

/* A bounded statistic: both ends have to stand on one side of the limit. */
static void bounds(const struct drill_expect *e, const struct tally *t,
		   struct drill_value *v)
{
	struct drill_quantile_bound q;
	struct drill_mean_interval m;

	v->type = DRILL_V_NUMBER;
	v->lo = -INFINITY;
	v->hi = INFINITY;
	if (strcmp(e->stat, "rate") == 0) {
		v->v = t->n ? (double)t->k / t->n : NAN;
		drill_binomial_interval(t->k, t->n, 0.95, &v->lo, &v->hi);
	} else if (strcmp(e->stat, "mean") == 0) {
		if (drill_bootstrap_mean(t->x, (size_t)t->n, 1, &m, NULL) < 0)
			return;
		v->v = m.mean;
		v->lo = m.has_interval ? m.lo : -INFINITY;
		v->hi = m.has_interval ? m.hi : INFINITY;
	} else {
		if (drill_quantile_bound(t->x, (size_t)t->n,
					 strcmp(e->stat, "p50") ? 0.9 : 0.5, &q,
					 NULL) < 0)
			return;
		v->v = q.estimate;
		v->lo = q.lo;
		v->hi = q.hi;
		snprintf(v->why, sizeof(v->why), "%d more trials needed for a "
			 "95%% bound", q.needed);
	}
}

static enum drill_verdict judge_stat(const struct judge *j,
				     const struct drill_expect *e,
				     const struct tally *t,
				     struct drill_value *v, char *why,
				     int size)
{
	enum drill_verdict verdict;

	memset(v, 0, sizeof(*v));
	if (t->n == 0) {
		snprintf(why, (size_t)size, "no values");
		return DRILL_UNDECIDED;
	}
	bounds(e, t, v);
	verdict = judge_value(j, e, v, why, size);
	if (verdict == DRILL_UNDECIDED && v->why[0])
		snprintf(why, (size_t)size, "%s", v->why);
	else if (verdict == DRILL_UNDECIDED)
		snprintf(why, (size_t)size, "%d trials are too few for a 95%% "
			 "bound", t->n);
	return verdict;
}

static json_t *held_json(enum drill_verdict v)
{
	return v == DRILL_UNDECIDED ? json_null()
				    : json_boolean(v == DRILL_HELD);
}

static void find(json_t *trial, enum drill_outcome o, const char *what)
{
	json_t *reasons = json_object_get(trial, "reasons"), *v;
	enum drill_outcome was = DRILL_PASS, now;
	size_t i;

	json_array_foreach(reasons, i, v)
		if (strcmp(json_string_value(v), what) == 0)
			return; /* measuring repeats what it read */
	drill_outcome_parse(drill_json_text(trial, "outcome"), &was);
	now = was == DRILL_PASS ? o : drill_outcome_in_trial(was, o);
	json_object_set_new(trial, "outcome",
			    json_string(drill_outcome_name(now)));
	/* What made the outcome stands first. */
	json_array_insert_new(reasons, now != was ? 0 : json_array_size(reasons),
			      json_string(what));
}

static void find_verdict(json_t *trial, const struct drill_expect *e,
			 enum drill_verdict verdict,
			 const struct drill_value *v, const char *why)
{
	char *limit = json_dumps(json_array_get(e->triple, 2), JSON_ENCODE_ANY);
	char value[160], what[500];

	drill_metric_text(v, e->metric->quantity, value, sizeof(value));
	if (verdict == DRILL_BROKEN)
		snprintf(what, sizeof(what), "%s is %s, wanted %s %s", e->text,
			 value, drill_op_text(e->limit.op), limit ? limit : "?");
	else
		snprintf(what, sizeof(what), "%s: %s", e->text, why);
	if (verdict != DRILL_HELD)
		find(trial, verdict == DRILL_BROKEN ? DRILL_FAIL
						    : DRILL_INCONCLUSIVE, what);
	free(limit);
}

static bool skipped(json_t *trial)
{
	return json_is_true(json_object_get(trial, "skipped"));
}

/* @always: in every trial that can know the metric, not only fault trials. */
static json_t *judge_all(const struct judge *j, const struct drill_expect *e,
			 bool always)
{
	struct tally tally = { calloc(json_array_size(j->trials) + 1,
				      sizeof(double)), 0, 0 };
	enum drill_verdict worst = DRILL_HELD, verdict;
	struct drill_value v, value = { 0 };
	json_t *per = json_array(), *out, *t;
	char why[200], reason[200] = "";
	bool first = true;
	size_t i;

	json_array_foreach(j->trials, i, t) {
		if (skipped(t) || (!has_role(t, "fault") &&
				   (!always || e->fault >= 0)))
			continue;
		verdict = judge_one(j, e, t, &v, why, sizeof(why));
		json_array_append_new(per, drill_metric_json(&v));
		if (tally.x)
			add(&tally, &v);
		if (!e->stat)
			find_verdict(t, e, verdict, &v, why);
		if (first || is_worse(verdict, worst)) {
			worst = verdict;
			value = v;
			snprintf(reason, sizeof(reason), "%s", why);
		}
		first = false;
	}
	if (first) {
		worst = DRILL_UNDECIDED;
		snprintf(reason, sizeof(reason), "no trial to judge it in");
	} else if (e->stat) {
		worst = judge_stat(j, e, &tally, &value, reason,
				   sizeof(reason));
	}
	free(tally.x);
	out = json_pack("{s:s s:s s:O s:s? s:o s:o s:i s:o}", "metric", e->text,
			"op", drill_op_text(e->limit.op), "limit",
			json_array_get(e->triple, 2), "stat", e->stat, "value",
			drill_metric_json(&value), "per_trial", per, "n",
			(int)json_array_size(per), "held", held_json(worst));
	if (always)
		json_object_set_new(out, "always", json_true());
	if (reason[0])
		json_object_set_new(out, "why", json_string(reason));
	return out;
}

/* ---- what stands beside the numbers ---- */

/* A loss that is absent after it was there was not finite: JSON has no NaN. */
static void put_loss(json_t *trial, json_t *events)
{
	json_int_t index = json_integer_value(json_object_get(trial, "trial"));
	json_t *e, *loss, *last = NULL;
	bool hole = false;
	size_t i;

	json_array_foreach(events, i, e) {
		if (strcmp(drill_json_text(e, "kind"), "step.end") != 0 ||
		    json_integer_value(json_object_get(e, "trial")) != index)
			continue;
		loss = json_object_get(e, "loss");
		if (json_is_number(loss))
			last = loss;
		else if (last)
			hole = true;
	}
	if (last)
		json_object_set(trial, "loss", hole ? json_null() : last);
}

static json_t *info_of(json_t *infos, json_t *trial)
{
	json_t *info;
	size_t i;

	json_array_foreach(infos, i, info)
		if (json_equal(json_object_get(info, "trial"),
			       json_object_get(trial, "trial")))
			return info;
	return NULL;
}

static bool asserts(const struct drill_spec *spec, const char *metric)
{
	int i;

	for (i = 0; i < spec->expect.n; i++)
		if (strcmp(spec->expect.v[i].metric->name, metric) == 0)
			return true;
	return false;
}

/* Findings of the engine, then of measuring. */
static void begin_trial(const struct judge *j, json_t *trial, json_t *info)
{
	json_t *why = json_incref(json_object_get(trial, "reasons")), *v;
	enum drill_outcome o;
	size_t i;

	json_object_set_new(trial, "outcome", json_string("pass"));
	json_object_set_new(trial, "reasons", json_array());
	json_array_foreach(json_object_get(info, "findings"), i, v) {
		if (drill_outcome_parse(drill_json_text(v, "outcome"), &o) == 0)
			find(trial, o, drill_json_text(v, "text"));
	}
	if (json_is_true(json_object_get(info, "skipped")))
		json_object_set_new(trial, "skipped", json_true());
	json_object_set(trial, "expects", json_object_get(info, "expects"));
	json_object_set(trial, "draws", json_object_get(info, "draws"));
	/* A job without step events has no ledger; only what any job can supply
	 * may be asserted of it, and that can be known all the same. */
	if (!(drill_workload_supplies(j->spec->workload) &
	      DRILL_SUPPLIES_STEPS)) {
		json_object_set(trial, "notes", why);
	} else if (json_is_false(json_object_get(trial, "conclusive")) &&
		   !skipped(trial)) {
		json_array_foreach(why, i, v)
			find(trial, DRILL_INCONCLUSIVE, json_string_value(v));
		if (json_array_size(why) == 0)
			find(trial, DRILL_INCONCLUSIVE, "inconclusive");
	}
	if (json_is_true(json_object_get(trial, "livelock")) &&
	    !asserts(j->spec, "livelock"))
		find(trial, DRILL_FAIL, "livelock: attempt after attempt "
					"without progress");
	json_decref(why);
}

static void set_outcome(json_t *run, json_t *trials)
{
	enum drill_outcome worst = DRILL_PASS, o;
	const char *reason = NULL;
	bool first = true;
	json_t *t;
	size_t i;

	json_array_foreach(trials, i, t) {
		if (drill_outcome_parse(drill_json_text(t, "outcome"), &o) < 0)
			continue;
		if (o != DRILL_PASS &&
		    (first || !reason || drill_outcome_worse(worst, o) != worst))
			reason = json_string_value(json_array_get(
				json_object_get(t, "reasons"), 0));
		worst = first ? o : drill_outcome_worse(worst, o);
		first = false;
	}
	if (first) {
		worst = DRILL_INCONCLUSIVE;
		reason = "no trial was run";
	}
	json_object_set_new(run, "outcome",
			    json_string(drill_outcome_name(worst)));
	json_object_set_new(run, "reason", reason ? json_string(reason)
						  : json_null());
}

/* A statistic over trials belongs to none of them, nor does an expectation for
 * which there was no trial. */
static void fold_stats(json_t *run, json_t *expectations)
{
	enum drill_outcome was = DRILL_PASS, o;
	json_t *e, *held;
	size_t i;

	json_array_foreach(expectations, i, e) {
		held = json_object_get(e, "held");
		if (json_is_true(held) ||
		    (!json_is_string(json_object_get(e, "stat")) &&
		     json_integer_value(json_object_get(e, "n")) > 0))
			continue;
		o = json_is_null(held) ? DRILL_INCONCLUSIVE : DRILL_FAIL;
		drill_outcome_parse(drill_json_text(run, "outcome"), &was);
		if (drill_outcome_worse(was, o) == was)
			continue;
		json_object_set_new(run, "outcome",
				    json_string(drill_outcome_name(o)));
		json_object_set_new(
			run, "reason",
			json_sprintf("%s%s%s: %s", drill_json_text(e, "metric"),
				     drill_json_text(e, "stat")[0] ? " " : "",
				     drill_json_text(e, "stat"),
				     json_is_null(held)
					     ? drill_json_text(e, "why")
					     : "does not hold"));
	}
}

int drill_judge(const struct drill_spec *spec, json_t *infos, json_t *events,
		json_t *run, struct drill_err *err)
{
	json_t *measured = NULL, *expectations = json_array(), *t;
	struct judge j;
	size_t k;
	int i, rc = drill_measure(events, &measured, err);

	if (rc < 0) {
		json_decref(expectations);
		return rc;
	}
	judge_init(&j, spec, measured);
	json_array_foreach(j.trials, k, t) {
		put_loss(t, events);
		drill_evidence_put(t, events);
		begin_trial(&j, t, info_of(infos, t));
	}
	for (i = 0; i < spec->expect.n; i++)
		json_array_append_new(expectations,
				      judge_all(&j, &spec->expect.v[i], false));
	for (i = 0; i < spec->always.n; i++)
		json_array_append_new(expectations,
				      judge_all(&j, &spec->always.v[i], true));
	json_object_update(run, measured);
	json_object_set_new(run, "expectations", expectations);
	set_outcome(run, j.trials);
	fold_stats(run, expectations);
	json_decref(measured);
	return 0;
}

/* What the events cannot say: that the drill could not run, or left a mess. */
static bool is_beyond_events(enum drill_outcome o)
{
	return o == DRILL_DIRTY || o == DRILL_ERROR || o == DRILL_SKIP;
}

int drill_remeasure(json_t *run, json_t *events, struct drill_err *err)
{
	json_t *infos = json_object_get(run, "findings");
	json_t *was = json_incref(json_object_get(run, "outcome"));
	json_t *reason = json_incref(json_object_get(run, "reason"));
	enum drill_outcome o = DRILL_PASS;
	struct drill_spec spec;
	char culprit[64];
	int rc = drill_spec_read(json_object_get(run, "spec"), &spec, culprit,
				 err);

	if (rc == 0)
		rc = drill_judge(&spec, infos, events, run, err);
	drill_spec_done(&spec);
	if (was && drill_outcome_parse(json_string_value(was), &o) == 0 &&
	    is_beyond_events(o)) {
		json_object_set(run, "outcome", was);
		json_object_set(run, "reason", reason);
	}
	json_decref(was);
	json_decref(reason);
	return rc;
}
