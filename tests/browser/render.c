/* render.c - writes the reports of a run, for looking at them
 * SPDX-License-Identifier: MIT
 *
 * usage: render run RUN.json EVENTS.jsonl|- OUTDIR   of a finished run
 *        render events EVENTS.jsonl OUTDIR           measured from its events
 *        render sample RANKS OUTDIR                  of a made-up drill
 *
 * Files go into OUTDIR, which must exist; the summary goes to stdout.
 */
#include "harness/core/event.h"
#include "harness/measure/measure.h"
#include "reports/look.h"
#include "reports/reporter.h"
#include "tests/support/sample_events.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int read_json(const char *path, json_t **ret, struct drill_err *err)
{
	json_error_t bad;

	*ret = json_load_file(path, 0, &bad);
	return *ret ? 0 : drill_err_set(err, -EINVAL, path, "line %d: %s",
					bad.line, bad.text);
}

static int read_events(const char *path, json_t **ret, struct drill_err *err)
{
	bool torn;

	if (!strcmp(path, "-"))
		return 0;
	return drill_events_read(path, ret, &torn, err);
}

/* Limits that the first incident misses or holds, so that there is something
 * to draw. */
static json_t *expect(json_t *run)
{
	json_t *rows = json_array(), *trial, *inc;
	size_t i, k;

	json_array_foreach (drill_look(run, "trials"), i, trial)
		json_array_foreach (drill_look(trial, "incidents"), k, inc) {
			double v = drill_look_num(inc, "time_to_detect_s");
			char metric[80];

			snprintf(metric, sizeof(metric), "%.40s.time_to_detect",
				 drill_look_text(inc, "fault", "natural"));
			json_array_append_new(rows, json_pack(
				"{s:s,s:s,s:s,s:o,s:[o],s:b}", "metric", metric,
				"op", "<", "limit", "5s", "value", isnan(v)
				? json_string("never") : json_real(v),
				"per_trial", isnan(v) ? json_string("never")
				: json_real(v), "held", v < 5));
		}
	return rows;
}

static int measured(json_t *events, const char *name, json_t **ret,
		    struct drill_err *err)
{
	json_t *row;
	size_t i;
	int missed = 0, rc = drill_measure(events, ret, err);

	if (rc)
		return rc;
	json_object_set_new(*ret, "schema", json_string("faultdrill.run/1"));
	json_object_set_new(*ret, "scenario", json_string(name));
	json_object_set_new(*ret, "seed", json_integer(1));
	json_object_set_new(*ret, "expectations", expect(*ret));
	json_array_foreach (json_object_get(*ret, "expectations"), i, row)
		missed += json_is_false(json_object_get(row, "held"));
	json_object_set_new(*ret, "outcome", json_string(missed ? "fail"
								: "pass"));
	return 0;
}

static int load(int argc, char **argv, struct drill_report *r,
		struct drill_err *err)
{
	char name[80];
	int rc, n;

	r->dir = argv[argc - 1];
	if (argc == 5 && !strcmp(argv[1], "run")) {
		rc = read_json(argv[2], &r->run, err);
		return rc ? rc : read_events(argv[3], &r->events, err);
	}
	if (argc == 4 && !strcmp(argv[1], "events")) {
		rc = read_events(argv[2], &r->events, err);
		return rc ? rc : measured(r->events, argv[2], &r->run, err);
	}
	if (argc == 4 && !strcmp(argv[1], "sample") && (n = atoi(argv[2])) > 1) {
		r->events = sample_events(n, n > 16 ? 8 : n > 8 ? 4 : 2);
		snprintf(name, sizeof(name), "a kill, then a slow link, with "
			 "%d ranks", n);
		return measured(r->events, name, &r->run, err);
	}
	return drill_err_set(err, -EINVAL, "render", "usage: render run "
			     "RUN.json EVENTS.jsonl|- OUTDIR | events "
			     "EVENTS.jsonl OUTDIR | sample RANKS OUTDIR");
}

static int write_all(struct drill_report *r, struct drill_err *err)
{
	for (int i = 0; drill_reporters()[i]; i++) {
		const struct drill_reporter *w = drill_reporters()[i];
		int rc;

		r->colour = !w->file && drill_report_colour(stdout);
		rc = w->file ? drill_report_save(w, r, err)
			     : w->write(r, stdout, err);
		if (rc)
			return rc;
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct drill_report r = { .trial = -1 };
	struct drill_err err = { 0 };
	char text[600];
	int rc = load(argc, argv, &r, &err);

	if (!rc)
		rc = write_all(&r, &err);
	if (rc)
		fprintf(stderr, "render: %s\n",
			drill_err_text(&err, text, sizeof(text)));
	json_decref(r.events);
	json_decref(r.run);
	return rc ? EXIT_FAILURE : EXIT_SUCCESS;
}
