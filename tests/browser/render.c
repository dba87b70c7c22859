/* render.c - writes the reports of a run.json and its events, for trying
 * SPDX-License-Identifier: MIT
 *
 * usage: render RUN.json EVENTS.jsonl|- OUTDIR     the files into OUTDIR, the
 *                                                  summary to stdout
 */
#include "harness/core/event.h"
#include "reports/reporter.h"

#include <stdlib.h>
#include <string.h>

static int fail(const struct drill_err *err)
{
	char text[600];

	fprintf(stderr, "render: %s\n",
		drill_err_text(err, text, sizeof(text)));
	return EXIT_FAILURE;
}

int main(int argc, char **argv)
{
	struct drill_report r = { .trial = -1 };
	struct drill_err err = { 0 };
	json_error_t bad;
	bool torn;

	if (argc != 4) {
		fprintf(stderr, "usage: render RUN.json EVENTS.jsonl|- OUTDIR\n");
		return 2;
	}
	r.run = json_load_file(argv[1], 0, &bad);
	r.dir = argv[3];
	if (!r.run) {
		drill_err_set(&err, -1, argv[1], "line %d: %s", bad.line,
			      bad.text);
		return fail(&err);
	}
	if (strcmp(argv[2], "-") != 0 &&
	    drill_events_read(argv[2], &r.events, &torn, &err))
		return fail(&err);
	for (int i = 0; drill_reporters()[i]; i++) {
		const struct drill_reporter *w = drill_reporters()[i];

		r.colour = !w->file && drill_report_colour(stdout);
		if (w->file ? drill_report_save(w, &r, &err)
			    : w->write(&r, stdout, &err))
			return fail(&err);
	}
	json_decref(r.events);
	json_decref(r.run);
	return EXIT_SUCCESS;
}
