/* options.c - a command line read by the tables of verbs.c
 * SPDX-License-Identifier: MIT
 */
#include "verbs.h"

#include "harness/agent/journal.h"
#include "harness/core/unit.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct drill_verb *find_verb(const char *name,
					  struct drill_err *err)
{
	const struct drill_verb *v;
	const char *names[32], *near;
	int n = 0;

	for (v = drill_verbs(); v->name; v++) {
		names[n++] = v->name;
		if (strcmp(v->name, name) == 0)
			return v;
	}
	names[n] = NULL;
	near = drill_nearest(name, names);
	drill_err_set(err, -EINVAL, NULL, "no verb '%s'%s%s%s", name,
		      near ? " (did you mean '" : "", near ? near : "",
		      near ? "'?)" : "");
	return NULL;
}

static const struct drill_option *in_table(const struct drill_option *o,
					   const char *name, size_t len,
					   char letter)
{
	for (; o && o->name; o++)
		if (letter ? o->letter == letter
			   : strlen(o->name) == len &&
				     strncmp(o->name, name, len) == 0)
			return o;
	return NULL;
}

static const struct drill_option *find_option(const struct drill_verb *v,
					      const char *name, size_t len,
					      char letter)
{
	const struct drill_option *o = in_table(v->options, name, len, letter);

	return o ? o : in_table(drill_common_options(), name, len, letter);
}

static int unknown_option(const struct drill_verb *v, const char *arg,
			  struct drill_err *err)
{
	const struct drill_option *o;
	const char *names[32], *near;
	char name[64];
	int n = 0;

	for (o = v->options; o->name; o++)
		names[n++] = o->name;
	for (o = drill_common_options(); o->name; o++)
		names[n++] = o->name;
	names[n] = NULL;
	arg += strspn(arg, "-");
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(arg, "="), arg);
	near = drill_nearest(name, names);
	return drill_err_set(err, -EINVAL, NULL, "%s: no option '%s'%s%s%s",
			     v->name, name, near ? " (did you mean --" : "",
			     near ? near : "", near ? "?)" : "");
}

static int keep(struct drill_cli *cli, const struct drill_option *o,
		const char *value, struct drill_err *err)
{
	json_t *was = json_object_get(cli->opts, o->name);

	if (!o->arg) {
		json_object_set_new(cli->opts, o->name, json_true());
		return 0;
	}
	if (!value)
		return drill_err_set(err, -EINVAL, NULL, "--%s wants %s",
				     o->name, o->arg);
	if (!o->many) {
		json_object_set_new(cli->opts, o->name, json_string(value));
		return 0;
	}
	if (!was) {
		was = json_array();
		json_object_set_new(cli->opts, o->name, was);
	}
	json_array_append_new(was, json_string(value));
	return 0;
}

/* argv[*i] is an option; takes its value from behind = or the next word. */
static int read_option(struct drill_cli *cli, char **argv, int argc, int *i,
		       struct drill_err *err)
{
	const char *arg = argv[*i], *value = NULL;
	const struct drill_option *o;
	const char *eq = strchr(arg, '=');

	if (arg[1] == '-') {
		size_t len = eq ? (size_t)(eq - arg - 2) : strlen(arg + 2);

		o = find_option(cli->verb, arg + 2, len, 0);
		value = eq ? eq + 1 : NULL;
	} else {
		o = find_option(cli->verb, NULL, 0, arg[1]);
		value = o && o->arg && arg[2] ? arg + 2 : NULL;
		if (o && !o->arg && arg[2])
			o = NULL;
	}
	if (!o)
		return unknown_option(cli->verb, arg, err);
	if (!o->arg && value)
		return drill_err_set(err, -EINVAL, NULL, "--%s takes no value",
				     o->name);
	if (o->arg && !value && *i + 1 < argc)
		value = argv[++*i];
	return keep(cli, o, value, err);
}

static int check_format(struct drill_cli *cli, struct drill_err *err)
{
	const char *f = drill_opt(cli, "format");

	if (!f || strcmp(f, "text") == 0)
		return 0;
	if (strcmp(f, "json") != 0)
		return drill_err_set(err, -EINVAL, NULL, "--format: 'text' or "
				     "'json', not '%s'", f);
	if (!cli->verb->json)
		return drill_err_set(err, -EINVAL, NULL, "%s prints text only",
				     cli->verb->name);
	return 0;
}

static int check_count(struct drill_cli *cli, struct drill_err *err)
{
	const struct drill_verb *v = cli->verb;

	if (drill_opt_set(cli, "help"))
		return 0;
	if (cli->n_args < v->min_args)
		return drill_err_set(err, -EINVAL, NULL,
				     "%s: nothing to work on: faultdrill %s %s",
				     v->name, v->name, v->args);
	if (cli->n_args > v->max_args)
		return drill_err_set(err, -EINVAL, NULL, "%s: '%s' is one too "
				     "many%s", v->name,
				     cli->args[v->max_args],
				     strncmp(v->args, "-- ", 3) == 0
					     ? ": write -- before the command"
					     : "");
	return 0;
}

/* The outcomes that --ok may name. */
static const char *const oks[] = { "skip", "inconclusive", NULL };

static int check_ok(const struct drill_cli *cli, struct drill_err *err)
{
	const char *p = drill_opt(cli, "ok"), *near;
	char word[64];
	int i;

	for (; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) {
		snprintf(word, sizeof(word), "%.*s", (int)strcspn(p, ","), p);
		for (i = 0; oks[i] && strcmp(oks[i], word) != 0; i++)
			;
		if (oks[i])
			continue;
		near = drill_nearest(word, oks);
		return drill_err_set(err, -EINVAL, NULL, "--ok: no outcome "
				     "'%s'%s%s%s: skip, inconclusive", word,
				     near ? " (did you mean '" : "",
				     near ? near : "", near ? "'?)" : "");
	}
	return 0;
}

static bool takes(const struct drill_verb *v, const char *option)
{
	const struct drill_option *o;

	for (o = v->options; o->name; o++)
		if (strcmp(o->name, option) == 0)
			return true;
	return false;
}

static int fits(const char *path, size_t max, const char *what,
		struct drill_err *err)
{
	return strlen(path) <= max
		       ? 0
		       : drill_err_set(err, -EINVAL, NULL, "%s: the path has "
				       "%zu characters, at most %zu fit", what,
				       strlen(path), max);
}

/* The names below them must fit too: a path cut short is another folder. */
static int check_dirs(const struct drill_cli *cli, struct drill_err *err)
{
	const char *state = drill_opt(cli, "state");
	const char *run = getenv("XDG_RUNTIME_DIR");
	char path[PATH_MAX];
	int rc = 0;

	if (!takes(cli->verb, "state"))
		return 0;
	drill_state_dir(state, path, sizeof(path));
	rc = fits(path, 200, state ? "--state"
				   : "$XDG_STATE_HOME, $HOME (or give --state)",
		  err);
	if (rc == 0 && run && geteuid() != 0)
		rc = fits(run, 100, "$XDG_RUNTIME_DIR", err);
	return rc;
}

int drill_cli_read(int argc, char **argv, struct drill_cli *cli,
		   struct drill_err *err)
{
	int i, rc = 0;

	memset(cli, 0, sizeof(*cli));
	cli->opts = json_object();
	cli->args = calloc((size_t)argc + 1, sizeof(*cli->args));
	if (!cli->opts || !cli->args)
		return drill_err_set(err, -ENOMEM, NULL, "no memory");
	cli->verb = find_verb(argv[1], err);
	if (!cli->verb)
		return -EINVAL;
	for (i = 2; i < argc && rc == 0; i++) {
		if (strcmp(argv[i], "--") == 0) {
			cli->rest = argv + i + 1;
			cli->n_rest = argc - i - 1;
			break;
		}
		if (argv[i][0] == '-' && argv[i][1])
			rc = read_option(cli, argv, argc, &i, err);
		else
			cli->args[cli->n_args++] = argv[i];
	}
	if (rc == 0)
		rc = check_format(cli, err);
	if (rc == 0)
		rc = check_dirs(cli, err);
	if (rc == 0)
		rc = check_ok(cli, err);
	return rc < 0 ? rc : check_count(cli, err);
}

void drill_cli_done(struct drill_cli *cli)
{
	json_decref(cli->opts);
	free(cli->args);
	memset(cli, 0, sizeof(*cli));
}

const char *drill_opt(const struct drill_cli *cli, const char *name)
{
	return json_string_value(json_object_get(cli->opts, name));
}

bool drill_opt_set(const struct drill_cli *cli, const char *name)
{
	return json_object_get(cli->opts, name) != NULL;
}

bool drill_cli_json(const struct drill_cli *cli)
{
	const char *f = drill_opt(cli, "format");

	return f && strcmp(f, "json") == 0;
}

enum drill_outcome drill_cli_fail(const struct drill_err *err)
{
	char text[600];

	fprintf(stderr, "faultdrill: %s\n",
		err->who ? drill_err_text(err, text, sizeof(text)) : err->msg);
	return err->code == -EINVAL ? DRILL_USAGE
	       : err->code == -EUCLEAN ? DRILL_DIRTY : DRILL_ERROR;
}

enum drill_outcome drill_cli_usage(const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "faultdrill: ");
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, "\n");
	return DRILL_USAGE;
}

void drill_cli_print(json_t *v)
{
	json_dumpf(v, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(12));
	putchar('\n');
	json_decref(v);
}

enum drill_outcome drill_cli_ok(const struct drill_cli *cli,
				enum drill_outcome o)
{
	const char *ok = drill_opt(cli, "ok");
	char copy[64], *save = NULL, *word;

	if (!ok || (o != DRILL_SKIP && o != DRILL_INCONCLUSIVE))
		return o;
	snprintf(copy, sizeof(copy), "%s", ok);
	for (word = strtok_r(copy, ",", &save); word;
	     word = strtok_r(NULL, ",", &save))
		if (strcmp(word, drill_outcome_name(o)) == 0)
			return DRILL_PASS;
	return o;
}
