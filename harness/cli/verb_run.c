/* verb_run.c - faultdrill run: scenarios run, shown, reported
 * SPDX-License-Identifier: MIT
 */
#include "live.h"
#include "load.h"

#include "harness/agent/heal.h"
#include "bin.h"
#include "harness/engine/drill.h"
#include "harness/lab/lab_record.h"
#include "reports/reporter.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct runs {
	struct drill_live live;
	struct drill_result *results;
	int n;
	json_t *list; /* for --format json */
};

/* Quoted where a shell would see more than a word. */
static void quote(char *buf, size_t size, const char *word)
{
	size_t len = strlen(buf);
	bool plain = word[0] != '\0';
	const char *p;

	for (p = word; *p; p++)
		plain = plain && strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKL"
					"MNOPQRSTUVWXYZ0123456789_-./=:,+", *p);
	if (len < size)
		snprintf(buf + len, size - len, plain ? " %s" : " '%s'", word);
}

static const char *repeat_line(struct drill_cli *cli, struct drill_loaded *l,
			       char *buf, size_t size)
{
	json_t *params = json_object_get(cli->opts, "param"), *v;
	const char *lab = drill_opt(cli, "lab");
	const char *trials = drill_opt(cli, "trials");
	size_t i;

	snprintf(buf, size, "faultdrill run --seed %" PRIu64, l->seed);
	if (lab)
		quote(buf, size, "--lab"), quote(buf, size, lab);
	if (trials)
		quote(buf, size, "--trials"), quote(buf, size, trials);
	if (drill_opt(cli, "allow"))
		quote(buf, size, "--allow"), quote(buf, size,
						   drill_opt(cli, "allow"));
	json_array_foreach(params, i, v) {
		quote(buf, size, "-p");
		quote(buf, size, json_string_value(v));
	}
	quote(buf, size, l->spec.file);
	return buf;
}

static json_t *subject(struct drill_cli *cli)
{
	json_t *all = json_object_get(cli->opts, "subject"), *v;
	json_t *out = json_object();
	char key[64];
	size_t i;

	json_array_foreach(all, i, v) {
		const char *s = json_string_value(v), *eq = strchr(s, '=');

		if (!eq)
			continue;
		snprintf(key, sizeof(key), "%.*s", (int)(eq - s), s);
		json_object_set_new(out, key, json_string(eq + 1));
	}
	return out;
}

/* A result that could not be written is no result: our error. */
static void write_reports(struct drill_result *r)
{
	struct drill_report report = { .run = r->run, .events = r->events,
				       .dir = r->dir, .trial = -1 };
	const struct drill_reporter *const *w;
	struct drill_err err = { 0 };

	for (w = drill_reporters(); r->run && *w; w++) {
		memset(&err, 0, sizeof(err));
		if ((*w)->file && drill_report_save(*w, &report, &err) < 0)
			r->outcome = drill_outcome_worse(r->outcome,
							 DRILL_ERROR);
		if (err.code < 0)
			fprintf(stderr, "faultdrill: %s: %s\n", (*w)->file,
				err.msg);
	}
}

static void print_result(struct drill_cli *cli, struct runs *runs,
			 const struct drill_result *r,
			 const struct drill_loaded *l)
{
	struct drill_report report = { .run = r->run, .events = r->events,
				       .dir = r->dir, .trial = -1,
				       .colour = drill_report_colour(stdout) };
	struct drill_err err = { 0 };

	if (drill_cli_json(cli)) {
		json_array_append_new(
			runs->list,
			json_pack("{s:s s:s s:s s:s s:s}", "scenario",
				  l->spec.name, "file", l->spec.file, "outcome",
				  drill_outcome_name(r->outcome), "reason",
				  r->reason, "dir", r->dir));
		return;
	}
	if (r->run && drill_report_terminal.write(&report, stdout, &err) < 0)
		fprintf(stderr, "faultdrill: %s\n", err.msg);
	if (!r->run && r->outcome == DRILL_SKIP) /* all else is on stderr */
		printf("%s: %s%s%s\n", l->spec.name,
		       drill_outcome_name(r->outcome), r->reason[0] ? ": " : "",
		       r->reason);
	if (r->run)
		printf("%s/report.html\n", r->dir);
	fflush(stdout);
}

static enum drill_outcome run_one(struct drill_cli *cli,
				  struct drill_loaded *l, void *arg)
{
	struct runs *runs = arg;
	char line[1024], state[256], bin[512];
	struct drill_story story;
	struct drill_result *r;
	struct drill_err err = { 0 };
	const char *user = drill_opt(cli, "operator");
	struct drill_options o = {
		.ops = l->ops, .lab = &l->lab, .seed = l->seed,
		.allow = l->allow, .out = drill_opt(cli, "out"),
		.state = drill_state_dir(drill_opt(cli, "state"), state,
					 sizeof(state)),
		.bin = drill_bin_dir(bin, sizeof(bin)),
		.repeat = repeat_line(cli, l, line, sizeof(line)),
		.operator_ = user ? user : getenv("USER"),
		.reason = drill_opt(cli, "reason"), .lab_why = l->why,
	};

	if (!l->ops) {
		printf("%s: skip: %s\n", l->spec.name, l->why);
		return DRILL_SKIP;
	}
	r = realloc(runs->results, (size_t)(runs->n + 1) * sizeof(*r));
	if (!r)
		return DRILL_ERROR;
	runs->results = r;
	r += runs->n++;
	if (drill_script_story(l->script, l->index, &story))
		o.story = &story;
	o.subject = subject(cli);
	drill_live_begin(&runs->live, l->spec.name, line,
			 drill_opt_set(cli, "quiet") || drill_cli_json(cli));
	o.progress = drill_live_show;
	o.ctx = &runs->live;
	if (drill_run(&l->spec, &o, r, &err) < 0 && !r->run)
		drill_cli_fail(&err);
	drill_live_end(&runs->live);
	json_decref(o.subject);
	write_reports(r);
	print_result(cli, runs, r, l);
	return r->outcome;
}

enum drill_outcome drill_verb_run(struct drill_cli *cli)
{
	struct runs runs = { .list = json_array() };
	enum drill_outcome o;
	int i;

	drill_heal_register(drill_lab_revertibles);
	o = drill_load_each(cli, run_one, &runs);
	if (drill_cli_json(cli))
		drill_cli_print(runs.list);
	else
		json_decref(runs.list);
	for (i = 0; i < runs.n; i++)
		drill_result_done(&runs.results[i]);
	free(runs.results);
	return drill_cli_ok(cli, o);
}
