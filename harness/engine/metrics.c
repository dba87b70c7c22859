/* metrics.c - the table behind `faultdrill help metrics`
 * SPDX-License-Identifier: MIT
 */
#include "metrics.h"
#include "workload.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define JOB DRILL_SUPPLIES_JOB
#define STEPS DRILL_SUPPLIES_STEPS
#define F DRILL_OF_FAULT
#define W DRILL_OF_WORKLOAD

static const struct drill_metric table[] = {
	{ "time_to_detect", F, DRILL_Q_DURATION, JOB, false, "time_to_detect_s",
	  "From effective to the first detection." },
	{ "time_to_blame", F, DRILL_Q_DURATION, JOB, false, "time_to_blame_s",
	  "From effective until some part was blamed." },
	{ "time_to_resume", F, DRILL_Q_DURATION, STEPS, true,
	  "time_to_resume_s",
	  "From effective to the first step that completes again." },
	{ "time_to_catch_up", F, DRILL_Q_DURATION, STEPS, true,
	  "time_to_catch_up_s",
	  "From effective until lost steps are done again." },
	{ "time_to_steady", F, DRILL_Q_DURATION, STEPS, true,
	  "time_to_steady_s",
	  "From effective until the step time is the baseline's again." },
	{ "lost_compute", F, DRILL_Q_RANK_S, STEPS, true,
	  "lost_compute_rank_s", "What the incident cost, shared causes "
				 "shared equally." },
	{ "lost_alone", F, DRILL_Q_RANK_S, STEPS, true, "lost_alone_rank_s",
	  "What it cost with no other incident taking part." },
	{ "lost_any", F, DRILL_Q_RANK_S, STEPS, true, "lost_any_rank_s",
	  "All that was lost in which it took part." },
	{ "blame", F, DRILL_Q_WORD, JOB, false, "blame_correct",
	  "Who was blamed: target, other, none." },
	{ "detected_by", F, DRILL_Q_WORD, JOB, false, "detected_by",
	  "The first detector: launcher, watchdog, heartbeat, framework, "
	  "health.nvml, ...; or none." },
	{ "outcome", F, DRILL_Q_WORD, STEPS, true, "outcome",
	  "tolerated, recovered, degraded, livelock, lost or silent." },
	{ "stop", F, DRILL_Q_WORD, STEPS, true, "stop",
	  "How the job stopped: none, restart, in_job, never_stopped." },
	{ "occurrences", F, DRILL_Q_COUNT, JOB, false, "occurrences",
	  "How often it took effect in the incident." },
	{ "count", F, DRILL_Q_COUNT, JOB, false, NULL,
	  "Incidents of this fault in the trial." },
	{ "final_state", W, DRILL_Q_WORD, DRILL_SUPPLIES_STATE, true,
	  "workload.final_state", "Hash of parameters, optimizer and sampler at the "
			 "end." },
	{ "loss", W, DRILL_Q_NUMBER, DRILL_SUPPLIES_LOSS, true, "loss",
	  "Training loss of the last step." },
	{ "wall", W, DRILL_Q_DURATION, JOB, true, "wall_s",
	  "From the job's first start to its end." },
	{ "wall_compute", W, DRILL_Q_RANK_S, JOB, true, "ledger.wall_rank_s",
	  "Slot-time that the job owned." },
	{ "useful", W, DRILL_Q_RANK_S, STEPS, true, "ledger.useful",
	  "Ledger: steps that counted." },
	{ "checkpoint", W, DRILL_Q_RANK_S, STEPS, true, "ledger.checkpoint",
	  "Ledger: blocked by a checkpoint." },
	{ "data", W, DRILL_Q_RANK_S, STEPS, true, "ledger.data",
	  "Ledger: waiting for data beyond the baseline's." },
	{ "stalled", W, DRILL_Q_RANK_S, STEPS, true, "ledger.stalled",
	  "Ledger: stopped and nobody acted yet." },
	{ "redone", W, DRILL_Q_RANK_S, STEPS, true, "ledger.redone",
	  "Ledger: steps that were rolled back." },
	{ "restart", W, DRILL_Q_RANK_S, STEPS, true, "ledger.restart",
	  "Ledger: launch, connect and restore." },
	{ "degraded", W, DRILL_Q_RANK_S, STEPS, true, "ledger.degraded",
	  "Ledger: slower than the baseline." },
	{ "idle", W, DRILL_Q_RANK_S, STEPS, true, "ledger.idle",
	  "Ledger: slots that the job did without." },
	{ "lost_compute", W, DRILL_Q_RANK_S, STEPS, true,
	  "lost_compute_rank_s", "What the trial cost against the baseline." },
	{ "lost_steps", W, DRILL_Q_STEPS, STEPS, true, "lost_steps",
	  "The same in steps." },
	{ "goodput", W, DRILL_Q_RATIO, STEPS, true, "goodput",
	  "Useful slot-time by slot-time owned." },
	{ "attempts", W, DRILL_Q_COUNT, JOB, true, "attempts",
	  "How often the job was started." },
	{ "attempts_without_progress", W, DRILL_Q_COUNT, STEPS, true,
	  "attempts_without_progress", "Starts that got no further." },
	{ "livelock", W, DRILL_Q_FLAG, STEPS, true, "livelock",
	  "Three starts in a row without progress." },
	{ "finished", W, DRILL_Q_FLAG, JOB, true, "finished",
	  "The job came to its end." },
	{ "work", W, DRILL_Q_STEPS, STEPS, true, "work_steps",
	  "Steps done that counted." },
	{ "false_alarms", W, DRILL_Q_COUNT, JOB, false, "false_alarms",
	  "Detections with no fault in force." },
	{ "throughput", W, DRILL_Q_NUMBER, STEPS, true, "workload.throughput",
	  "Tokens a second over the whole trial." },
	{ NULL, W, DRILL_Q_NUMBER, 0, false, NULL, NULL },
};

const struct drill_metric *drill_metrics(void)
{
	return table;
}

const struct drill_metric *drill_metric_find(const char *name,
					     enum drill_metric_of of)
{
	const struct drill_metric *m;

	for (m = table; m->name; m++)
		if (m->of == of && strcmp(m->name, name) == 0)
			return m;
	return NULL;
}

const char *const *drill_metric_words(const struct drill_metric *m)
{
	static const char *const blame[] = { "target", "other", "none", NULL };
	static const char *const outcome[] = { "tolerated", "recovered",
					       "degraded", "livelock", "lost",
					       "silent", NULL };
	static const char *const stop[] = { "none", "restart", "in_job",
					    "never_stopped", NULL };

	if (m->quantity != DRILL_Q_WORD)
		return NULL;
	if (strcmp(m->name, "blame") == 0)
		return blame;
	if (strcmp(m->name, "outcome") == 0)
		return outcome;
	return strcmp(m->name, "stop") == 0 ? stop : NULL;
}

const char *drill_quantity_unit(enum drill_quantity q)
{
	static const char *const units[] = {
		[DRILL_Q_DURATION] = "s",  [DRILL_Q_RANK_S] = "rank*s",
		[DRILL_Q_STEPS] = "steps", [DRILL_Q_COUNT] = "count",
		[DRILL_Q_RATIO] = "share", [DRILL_Q_NUMBER] = "number",
		[DRILL_Q_WORD] = "word",   [DRILL_Q_FLAG] = "true/false",
	};

	return units[q];
}

const char *drill_metric_supplier(const struct drill_metric *m)
{
	if (m->supplies & DRILL_SUPPLIES_STATE)
		return "state events";
	if (m->supplies & DRILL_SUPPLIES_LOSS)
		return "loss in step events";
	return m->supplies & STEPS ? "step events" : "any job";
}

/* "ledger.useful" */
static json_t *dig(json_t *obj, const char *path)
{
	char key[32];
	const char *dot = strchr(path, '.');

	if (!dot)
		return json_object_get(obj, path);
	snprintf(key, sizeof(key), "%.*s", (int)(dot - path), path);
	return dig(json_object_get(obj, key), dot + 1);
}

static void read_word(const struct drill_metric *m, json_t *v,
		      struct drill_value *ret)
{
	ret->type = DRILL_V_WORD;
	if (strcmp(m->name, "blame") == 0)
		snprintf(ret->word, sizeof(ret->word), "%s",
			 json_is_true(v) ? "target"
					 : json_is_false(v) ? "other" : "none");
	else
		snprintf(ret->word, sizeof(ret->word), "%s",
			 json_is_string(v) ? json_string_value(v) : "none");
}

/* The bounds that stand beside a duration, "time_to_detect_lo_s"; without them
 * the value is its own bound. */
static void read_bounds(const char *field, json_t *from,
			struct drill_value *ret)
{
	char name[64];
	int len = (int)strlen(field) - 2;
	json_t *lo, *hi;

	ret->lo = ret->hi = ret->v;
	if (len < 1 || strcmp(field + len, "_s") != 0)
		return;
	snprintf(name, sizeof(name), "%.*s_lo_s", len, field);
	lo = json_object_get(from, name);
	snprintf(name, sizeof(name), "%.*s_hi_s", len, field);
	hi = json_object_get(from, name);
	if (json_is_number(lo) && json_is_number(hi)) {
		ret->lo = json_number_value(lo);
		ret->hi = json_number_value(hi);
	}
}

static void read_null(const char *field, json_t *from, struct drill_value *ret)
{
	char name[64];
	const char *why;

	snprintf(name, sizeof(name), "%.*s_why",
		 (int)(strlen(field) > 2 ? strlen(field) - 2 : 0), field);
	why = json_string_value(json_object_get(from, name));
	if (why && strcmp(why, "not_applicable") == 0)
		ret->type = DRILL_V_NA;
	else if (strncmp(field, "time_to_", 8) == 0)
		ret->type = DRILL_V_NEVER;
	else
		snprintf(ret->why, sizeof(ret->why), "not measured");
}

void drill_metric_read(const struct drill_metric *m, json_t *trial,
		       json_t *incident, struct drill_value *ret)
{
	json_t *from = m->of == DRILL_OF_FAULT ? incident : trial;
	json_t *v = m->field ? dig(from, m->field) : NULL;

	memset(ret, 0, sizeof(*ret));
	if (!from) {
		snprintf(ret->why, sizeof(ret->why),
			 "the fault had no incident");
	} else if (m->quantity == DRILL_Q_WORD) {
		read_word(m, v, ret);
	} else if (json_is_boolean(v) || json_is_number(v)) {
		ret->type = DRILL_V_NUMBER;
		ret->v = json_is_number(v) ? json_number_value(v)
					   : json_is_true(v);
		read_bounds(m->field, from, ret);
	} else {
		read_null(m->field ? m->field : "", from, ret);
	}
}

json_t *drill_metric_json(const struct drill_value *v)
{
	switch (v->type) {
	case DRILL_V_NUMBER:
		if (v->v == rint(v->v) && fabs(v->v) < 1e15)
			return json_integer((json_int_t)v->v);
		return isfinite(v->v) ? json_real(v->v) : json_null();
	case DRILL_V_NEVER:
		return json_string("never");
	case DRILL_V_NA:
		return json_string("not_applicable");
	case DRILL_V_WORD:
		return json_string(v->word);
	default:
		return json_null();
	}
}

const char *drill_metric_text(const struct drill_value *v,
			     enum drill_quantity q, char *buf, int size)
{
	const char *unit = drill_quantity_unit(q);

	switch (v->type) {
	case DRILL_V_NUMBER:
		if (q == DRILL_Q_FLAG)
			snprintf(buf, (size_t)size, "%s",
				 v->v != 0 ? "true" : "false");
		else
			snprintf(buf, (size_t)size, "%.4g%s%s", v->v,
				 q <= DRILL_Q_STEPS ? " " : "",
				 q <= DRILL_Q_STEPS ? unit : "");
		break;
	case DRILL_V_NEVER:
		snprintf(buf, (size_t)size, "never");
		break;
	case DRILL_V_NA:
		snprintf(buf, (size_t)size, "not applicable");
		break;
	case DRILL_V_WORD:
		snprintf(buf, (size_t)size, "%s", v->word);
		break;
	default:
		snprintf(buf, (size_t)size, "unknown (%s)", v->why);
	}
	return buf;
}
