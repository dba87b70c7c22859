/* json.c - writes run.json: every field in one fixed order, whoever made it
 * SPDX-License-Identifier: MIT
 *
 * Two runs with the same numbers give the same bytes. Known names come in the
 * order of the table below, unknown ones after them as they were put in. What
 * is only for drawing (segments, throughput) stays out: it is made again
 * from the events.
 */
#include "reporter.h"

#include "look.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *const order[] = {
	/* the run */
	"schema", "id", "scenario", "file", "doc", "seed", "outcome", "reason",
	"started", "repeat", "operator", "ticket", "tags", "hypothesis",
	"owner", "runbook", "faultdrill", "version", "build", "lab",
	"provider", "mode", "hosts", "devices", "rates", "scope", "workload",
	"device", "transport", "subject", "framework", "launcher", "config",
	"runner", "cores", "kernel", "load", "skips", "needs", "dirty",
	/* measured over trials */
	"baseline", "stages", "step_s", "sigma_s", "band_s", "data_s",
	"data_band_s", "samples", "tokens_per_step",
	"noise_floor_rank_s", "null_test", "p", "n_null", "n_baseline",
	/* a trial */
	"trials", "trial", "role", "ranks", "begin_s", "end_s", "wall_s", "finished", "truncated",
	"conclusive", "reasons", "ledger", "wall_rank_s", "useful",
	"checkpoint", "data", "stalled", "redone", "restart", "degraded",
	"idle", "residual", "collapsed", "work_steps", "lost_compute_rank_s",
	"lost_ledger_rank_s", "drift_rank_s", "lost_steps", "lost_tokens",
	"unattributed_rank_s", "attempts", "attempts_without_progress",
	"livelock", "late_events", "false_alarms", "spare_rank_s",
	"queued_rank_s", "boundary_u_s", "goodput", "ettr_wall",
	"ettr_with_queue", "step_commit_ratio", "checkpoint_overhead",
	"data_stall_share", "communication_share", "transfer_share", "mfu",
	"baseline_cut", "attempt_list", "attempt", "false_alarm_list",
	"final_state", "baseline_state", "state_equal", "snapshot",
	"equal", "classes", "differences", "strangers", "undo", "opened", "closed",
	/* an incident */
	"incidents", "fault", "injector", "args", "class", "fidelity",
	"target", "natural", "occurrences", "instants", "requested", "issued",
	"effective", "symptom", "detected", "blamed", "stopped", "fenced",
	"allocated", "restarted", "connected", "restored", "resumed",
	"caught_up", "steady", "reverted", "t_s", "host", "uncertainty_s",
	"stop", "detected_by", "detected_by_or", "detectors", "detections", "by", "what",
	"blame", "level", "correct", "first", "blame_level", "blame_correct", "phases",
	"cost", "rank_s", "steps", "tokens", "money", "currency", "kwh",
	"kwh_from", "made_of",
	"time_to_detect_s", "time_to_detect_why", "time_to_detect_u_s",
	"time_to_detect_lo_s", "time_to_detect_hi_s",
	"time_to_detect_lower_s", "detect_order", "time_to_blame_s",
	"time_to_blame_why",
	"time_to_blame_u_s", "time_to_blame_lo_s", "time_to_blame_hi_s",
	"time_to_resume_s", "time_to_resume_why",
	"time_to_resume_u_s", "time_to_resume_lo_s", "time_to_resume_hi_s",
	"time_to_catch_up_s", "time_to_catch_up_why",
	"time_to_catch_up_u_s", "time_to_catch_up_lo_s", "time_to_catch_up_hi_s",
	"time_to_steady_s",
	"time_to_steady_why",
	"time_to_steady_u_s", "time_to_steady_lo_s", "time_to_steady_hi_s",
	"lost_alone_rank_s", "lost_any_rank_s",
	"shared", "below_noise",
	/* an expectation */
	"expectations", "metric", "op", "limit", "limit_value", "unit", "stat",
	"value", "per_trial", "n", "held", "why",
};

#define KNOWN (sizeof(order) / sizeof(*order))

struct field {
	const char *name;
	json_t *value;
	size_t rank, at;
};

static size_t rank_of(const char *name)
{
	size_t i = 0;

	while (i < KNOWN && strcmp(order[i], name) != 0)
		i++;
	return i;
}

static int by_rank(const void *x, const void *y)
{
	const struct field *a = x, *b = y;

	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return a->at < b->at ? -1 : 1;
}

static bool drawn(const char *name)
{
	return !strcmp(name, "segments") || !strcmp(name, "throughput");
}

static json_t *ordered(json_t *v, bool trial);

static json_t *ordered_object(json_t *v, bool trial)
{
	size_t n = json_object_size(v), i = 0;
	struct field *f = calloc(n + 1, sizeof(*f));
	json_t *ret = f ? json_object() : NULL, *value;
	const char *name;

	if (!ret)
		goto out;
	json_object_foreach (v, name, value) {
		f[i] = (struct field){ name, value, rank_of(name), i };
		i++;
	}
	qsort(f, n, sizeof(*f), by_rank);
	for (i = 0; i < n; i++)
		if (!trial || !drawn(f[i].name))
			json_object_set_new(ret, f[i].name,
				ordered(f[i].value, false));
out:
	free(f);
	return ret;
}

static json_t *ordered(json_t *v, bool trial)
{
	json_t *ret, *item;
	size_t i;

	if (json_is_object(v))
		return ordered_object(v, trial);
	if (!json_is_array(v))
		return json_incref(v);
	ret = json_array();
	json_array_foreach (v, i, item)
		json_array_append_new(ret, ordered(item, trial));
	return ret;
}

static int write_json(const struct drill_report *report, FILE *to,
		      struct drill_err *err)
{
	json_t *run = ordered(report->run, false);
	json_t *trials = drill_look(report->run, "trials");
	int r = run ? 0 : -ENOMEM;

	if (run && trials)
		json_object_set_new(run, "trials", ordered(trials, true));
	/* Twelve digits: microseconds over days, and no noise of the last. */
	if (run)
		r = json_dumpf(run, to, JSON_INDENT(1) | JSON_PRESERVE_ORDER |
			       JSON_REAL_PRECISION(12)) ? -EIO : 0;
	json_decref(run);
	if (r || putc('\n', to) == EOF)
		return drill_err_set(err, r ? r : -EIO, "report.json",
				     "cannot write the run");
	return 0;
}

const struct drill_reporter drill_report_json = {
	.name = "json",
	.doc = "All results of a run, schema faultdrill.run/1.",
	.file = "run.json",
	.write = write_json,
};
