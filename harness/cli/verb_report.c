/* verb_report.c - faultdrill report: a run's numbers again, from its events
 * SPDX-License-Identifier: MIT
 */
#include "verbs.h"

#include "harness/core/event.h"
#include "harness/engine/drill.h"
#include "harness/measure/measure.h"
#include "reports/reporter.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* There is nothing to measure in a file without a trial: it is another file, or
 * of a drill that never began. */
static int has_trial(json_t *events, const char *path, struct drill_err *err)
{
	json_t *e;
	size_t i;

	json_array_foreach(events, i, e) {
		const char *kind = json_string_value(json_object_get(e, "kind"));

		if (kind && strcmp(kind, "trial.begin") == 0)
			return 0;
	}
	return drill_err_set(err, -EINVAL, NULL, "%s: %s", path,
			     i ? "no trial begins in these events"
			       : "no event is in it");
}

static enum drill_outcome from_events(const char *path)
{
	json_t *events = NULL, *measured = NULL;
	struct drill_err err = { 0 };
	bool torn = false;
	int rc = drill_events_read(path, &events, &torn, &err);

	if (rc == 0)
		rc = has_trial(events, path, &err);
	if (rc == 0)
		rc = drill_measure(events, &measured, &err);
	json_decref(events);
	if (rc < 0) {
		err.code = -EINVAL;
		return drill_cli_fail(&err);
	}
	if (torn)
		fprintf(stderr, "faultdrill: %s: the last line is torn\n",
			path);
	drill_cli_print(measured);
	return DRILL_PASS;
}

static int read_run(const char *dir, json_t **run, json_t **events,
		    struct drill_err *err)
{
	char path[600];
	json_error_t e;
	bool torn;

	snprintf(path, sizeof(path), "%s/run.json", dir);
	*run = json_load_file(path, 0, &e);
	if (!*run && e.line < 1) /* not there, or not to be read */
		return drill_err_set(err, -EINVAL, NULL, "%s", e.text);
	if (!*run)
		return drill_err_set(err, -EINVAL, NULL, "%s:%d: %s", path,
				     e.line, e.text);
	snprintf(path, sizeof(path), "%s/events.jsonl", dir);
	if (drill_events_read(path, events, &torn, err) < 0)
		return err->code = -EINVAL; /* a wrong folder was named */
	return 0;
}

/* The file has its right form but not our content: say which file. */
static int remeasure(const char *dir, json_t *run, json_t *events,
		     struct drill_err *err)
{
	struct drill_err why = { 0 };
	int rc = drill_remeasure(run, events, &why);

	return rc < 0 ? drill_err_set(err, rc, NULL, "%.250s/run.json: %s", dir,
				      why.msg)
		      : 0;
}

static enum drill_outcome again(struct drill_cli *cli, const char *dir)
{
	json_t *run = NULL, *events = NULL;
	struct drill_err err = { 0 };
	enum drill_outcome o = DRILL_ERROR;
	struct drill_report report = { .dir = dir, .trial = -1 };
	int rc = read_run(dir, &run, &events, &err);

	if (rc == 0)
		rc = remeasure(dir, run, events, &err);
	if (rc < 0) {
		json_decref(run);
		json_decref(events);
		return drill_cli_fail(&err);
	}
	report.run = run;
	report.events = events;
	report.colour = drill_report_colour(stdout);
	drill_outcome_parse(json_string_value(json_object_get(run, "outcome")),
			    &o);
	if (drill_opt_set(cli, "html") &&
	    drill_report_save_all(&report, &err) < 0)
		o = drill_outcome_worse(o, drill_cli_fail(&err));
	if (drill_cli_json(cli))
		drill_cli_print(json_incref(run));
	else
		drill_report_terminal.write(&report, stdout, &err);
	json_decref(run);
	json_decref(events);
	return o;
}

enum drill_outcome drill_verb_report(struct drill_cli *cli)
{
	const char *path = drill_opt(cli, "from-events");

	if (path && cli->n_args)
		return drill_cli_usage("report: a folder or --from-events, not "
				       "both");
	if (path)
		return from_events(path);
	return again(cli, cli->n_args ? cli->args[0] : "runs/latest");
}
