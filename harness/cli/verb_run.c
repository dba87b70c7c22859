/* verb_run.c - faultdrill run: scenarios run, shown, reported
 * SPDX-License-Identifier: MIT
 */
#include "bin.h"
#include "live.h"
#include "load.h"

#include "harness/agent/heal.h"
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
	json_t *subject; /* of --subject */
	bool interrupted;
};

/* Quoted where a shell would see more than a word. */
static void quote(FILE *to, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz0123456789"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ_-./=:,+";
	const char *p;

	if (*word && !word[strspn(word, plain)]) {
		fprintf(to, " %s", word);
		return;
	}
	fputs(" '", to);
	for (p = word; *p; p++)
		fputs(*p == '\'' ? "'\\''" : (char[2]){ *p, '\0' }, to);
	putc('\'', to);
}

static void quote_option(FILE *to, struct drill_cli *cli, const char *name)
{
	if (!drill_opt(cli, name))
		return;
	fprintf(to, " --%s", name);
	quote(to, drill_opt(cli, name));
}

/* Yours: free. NULL: no memory. */
static char *repeat_line(struct drill_cli *cli, struct drill_loaded *l)
{
	json_t *params = json_object_get(cli->opts, "param"), *v;
	char *line = NULL;
	size_t size, i;
	FILE *to = open_memstream(&line, &size);

	if (!to)
		return NULL;
	fprintf(to, "faultdrill run --seed %" PRIu64, l->seed);
	quote_option(to, cli, "lab");
	quote_option(to, cli, "trials");
	quote_option(to, cli, "allow");
	if (drill_opt_set(cli, "kmsg"))
		fputs(" --kmsg", to);
	json_array_foreach(params, i, v) {
		fputs(" -p", to);
		quote(to, json_string_value(v));
	}
	quote(to, l->spec.file);
	fclose(to);
	return line;
}

/* "KEY=VALUE" again and again, as one object. */
static int read_subject(struct drill_cli *cli, json_t **ret,
			struct drill_err *err)
{
	json_t *all = json_object_get(cli->opts, "subject"), *v;
	size_t i;

	*ret = json_object();
	json_array_foreach(all, i, v) {
		const char *s = json_string_value(v), *eq = strchr(s, '=');

		if (!eq || eq == s)
			return drill_err_set(err, -EINVAL, NULL, "--subject "
					     "%s: write --subject KEY=VALUE",
					     s);
		json_object_setn_new(*ret, s, (size_t)(eq - s),
				     json_string(eq + 1));
	}
	return 0;
}

/* A result that could not be written is no result: our error. */
static bool write_reports(struct drill_result *r)
{
	struct drill_report report = { .run = r->run, .events = r->events,
				       .dir = r->dir, .trial = -1 };
	struct drill_err err = { 0 };

	if (!r->run || drill_report_save_all(&report, &err) == 0)
		return true;
	r->outcome = drill_outcome_worse(r->outcome, drill_cli_fail(&err));
	return false;
}

static void print_json(struct runs *runs, const char *dir, const char *reason,
		       enum drill_outcome o, const struct drill_loaded *l)
{
	json_array_append_new(runs->list,
			      json_pack("{s:s s:s s:s s:s s:s}", "scenario",
					l->spec.name, "file", l->spec.file,
					"outcome", drill_outcome_name(o),
					"reason", reason, "dir", dir));
}

static void print_result(struct drill_cli *cli, struct runs *runs,
			 const struct drill_result *r,
			 const struct drill_loaded *l, bool written)
{
	struct drill_report report = { .run = r->run, .events = r->events,
				       .dir = written ? r->dir : NULL,
				       .trial = -1,
				       .colour = drill_report_colour(stdout) };
	struct drill_err err = { 0 };

	if (drill_cli_json(cli)) {
		print_json(runs, r->dir, r->reason, r->outcome, l);
		return;
	}
	if (r->run && drill_report_terminal.write(&report, stdout, &err) < 0)
		fprintf(stderr, "faultdrill: %s\n", err.msg);
	if (!r->run && r->outcome == DRILL_SKIP) /* all else is on stderr */
		printf("%s: %s%s%s\n", l->spec.name,
		       drill_outcome_name(r->outcome), r->reason[0] ? ": " : "",
		       r->reason);
	if (r->run && written)
		printf("%s/report.html\n", r->dir);
	fflush(stdout);
}

static struct drill_result *new_result(struct runs *runs)
{
	struct drill_result *r = realloc(runs->results, (size_t)(runs->n + 1) *
							       sizeof(*r));

	if (!r)
		return NULL;
	runs->results = r;
	return &r[runs->n++];
}

static void run_it(struct drill_cli *cli, struct drill_loaded *l,
		   struct runs *runs, struct drill_result *r, const char *line)
{
	char state[256], bin[512];
	struct drill_story story;
	struct drill_err err = { 0 };
	const char *user = drill_opt(cli, "operator");
	struct drill_options o = {
		.ops = l->ops, .lab = &l->lab, .seed = l->seed,
		.allow = l->allow, .kmsg = drill_opt_set(cli, "kmsg"),
		.out = drill_opt(cli, "out"),
		.state = drill_state_dir(drill_opt(cli, "state"), state,
					 sizeof(state)),
		.bin = drill_bin_dir(bin, sizeof(bin)), .repeat = line,
		.operator_ = user ? user : getenv("USER"),
		.reason = drill_opt(cli, "reason"), .lab_why = l->why,
		.subject = runs->subject, .progress = drill_live_show,
		.ctx = &runs->live,
	};

	if (drill_script_story(l->script, l->index, &story))
		o.story = &story;
	drill_live_begin(&runs->live, l->spec.name, line,
			 drill_opt_set(cli, "quiet") || drill_cli_json(cli));
	if (drill_run(&l->spec, &o, r, &err) < 0 && !r->run)
		drill_cli_fail(&err);
	drill_live_end(&runs->live);
}

/* Why this scenario does not run at all; NULL: it does. */
static const char *not_run(const struct runs *runs, const struct drill_loaded *l,
			   enum drill_outcome *ret)
{
	*ret = runs->interrupted ? DRILL_INCONCLUSIVE : DRILL_SKIP;
	return runs->interrupted ? "interrupted before it began"
	       : l->ops		 ? NULL
				 : l->why;
}

static enum drill_outcome run_one(struct drill_cli *cli,
				  struct drill_loaded *l, void *arg)
{
	struct runs *runs = arg;
	enum drill_outcome o;
	const char *why = not_run(runs, l, &o);
	struct drill_result *r;
	char *line;

	if (why && drill_cli_json(cli))
		print_json(runs, "", why, o, l);
	else if (why)
		printf("%s: %s: %s\n", l->spec.name, drill_outcome_name(o),
		       why);
	if (why)
		return o;
	line = repeat_line(cli, l);
	r = line ? new_result(runs) : NULL;
	if (!r) {
		free(line);
		return DRILL_ERROR;
	}
	run_it(cli, l, runs, r, line);
	free(line);
	print_result(cli, runs, r, l, write_reports(r));
	drill_result_hear(r);
	runs->interrupted |= r->signum != 0;
	return r->outcome;
}

/* A CI server takes one file for all scenarios of one call. */
static enum drill_outcome write_junit(struct drill_cli *cli, struct runs *runs)
{
	struct drill_report *all = calloc((size_t)runs->n + 1, sizeof(*all));
	const char *out = drill_opt(cli, "out") ?: "runs";
	struct drill_err err = { 0 };
	int i, n = 0, rc;

	for (i = 0; all && i < runs->n; i++)
		if (runs->results[i].run)
			all[n++].run = runs->results[i].run;
	rc = n > 1 ? drill_junit_save(all, n, out, &err) : 0;
	free(all);
	if (rc < 0)
		return drill_cli_fail(&err);
	if (n > 1 && !drill_cli_json(cli))
		printf("%s/junit.xml\n", out);
	return DRILL_PASS;
}

enum drill_outcome drill_verb_run(struct drill_cli *cli)
{
	struct runs runs = { .list = json_array() };
	struct drill_err err = { 0 };
	enum drill_outcome o;
	int i;

	drill_heal_register(drill_lab_revertibles);
	if (read_subject(cli, &runs.subject, &err) < 0)
		o = drill_cli_fail(&err);
	else
		o = drill_load_each(cli, run_one, &runs);
	o = drill_outcome_worse(o, write_junit(cli, &runs));
	if (drill_cli_json(cli))
		drill_cli_print(json_incref(runs.list));
	json_decref(runs.list);
	json_decref(runs.subject);
	for (i = 0; i < runs.n; i++)
		drill_result_done(&runs.results[i]);
	free(runs.results);
	return drill_cli_ok(cli, o);
}
