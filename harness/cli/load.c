/* load.c - reads scenario files, with -p, --seed, --lab and --trials applied
 * SPDX-License-Identifier: MIT
 */
#include "load.h"

#include "harness/core/unit.h"
#include "harness/engine/stream.h"
#include "injectors/hooks/devices.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int read_params(struct drill_cli *cli, json_t **ret,
		       struct drill_err *err)
{
	json_t *all = json_object_get(cli->opts, "param"), *v;
	char name[64];
	size_t i;

	*ret = json_object();
	json_array_foreach(all, i, v) {
		const char *s = json_string_value(v), *eq = strchr(s, '=');

		if (!eq || eq == s || eq - s >= (int)sizeof(name))
			return drill_err_set(err, -EINVAL, NULL,
					     "-p %s: write -p NAME=VALUE", s);
		snprintf(name, sizeof(name), "%.*s", (int)(eq - s), s);
		json_object_set_new(*ret, name, json_string(eq + 1));
	}
	return 0;
}

static int read_number(struct drill_cli *cli, const char *name, long least,
		       long *ret, struct drill_err *err)
{
	const char *s = drill_opt(cli, name);
	char *end;

	if (!s)
		return 0;
	errno = 0;
	*ret = strtol(s, &end, 10);
	if (end == s || *end || errno || *ret < least)
		return drill_err_set(err, -EINVAL, NULL, "--%s: '%s' is no "
				     "whole number from %ld on", name, s,
				     least);
	return 1;
}

static int read_allow(struct drill_cli *cli, enum drill_risk *ret,
		      struct drill_err *err)
{
	const char *s = drill_opt(cli, "allow");
	int i;

	*ret = DRILL_RISK_DISRUPTIVE;
	for (i = 0; s && i <= DRILL_RISK_DESTRUCTIVE; i++)
		if (strcmp(s, drill_risk_name((enum drill_risk)i)) == 0) {
			*ret = (enum drill_risk)i;
			return 0;
		}
	return s ? drill_err_set(err, -EINVAL, NULL, "--allow: no risk '%s': "
				 "none, contained, disruptive, destructive", s)
		 : 0;
}

/* A job of one's own on this machine alone has its driver's devices, if it has
 * some and the lab names no number of software devices. */
static void take_driver(struct drill_loaded *l)
{
	int n = drill_devices_of_driver();

	l->lab.driver = n > 0 && l->lab.hosts == 1 && !l->lab.spares &&
			!l->lab.devices_named &&
			json_object_get(l->spec.workload, "command");
	if (l->lab.driver)
		l->lab.devices = n;
}

/* --lab FILE beats the scenario's lab; `auto` keeps its numbers and lets the
 * machine decide. */
static int choose_lab(struct drill_cli *cli, struct drill_loaded *l,
		      struct drill_err *err)
{
	const char *want = drill_opt(cli, "lab");
	struct drill_err why = { 0 };
	json_t *lab = l->spec.lab ? json_incref(l->spec.lab)
				  : json_pack("{s:s s:i}", "provider", "auto",
					      "hosts", 4);
	int rc;

	if (want && strcmp(want, "auto") != 0 && strchr(want, '.') == NULL &&
	    strchr(want, '/') == NULL) {
		json_t *same = json_deep_copy(lab); /* --lab local */

		json_decref(lab);
		lab = same;
		json_object_set_new(lab, "provider", json_string(want));
		want = NULL;
	}
	if (want && strcmp(want, "auto") != 0) {
		rc = drill_lab_spec_read(want, &l->lab, err);
		if (rc < 0)
			err->code = rc = -EINVAL; /* a wrong file was named */
	} else {
		rc = drill_lab_spec_from_json(lab, &l->lab, err);
	}
	json_decref(lab);
	if (rc < 0)
		return rc;
	take_driver(l);
	if (want && strcmp(want, "auto") == 0)
		snprintf(l->lab.provider, sizeof(l->lab.provider), "auto");
	l->ops = drill_lab_find(&l->lab, l->why, sizeof(l->why), err);
	if (!l->ops)
		return -EINVAL;
	if (l->ops->probe(&l->lab, &why) < 0) {
		l->ops = NULL;
		snprintf(l->why, sizeof(l->why), "%.15s: %.480s",
			 l->lab.provider, why.msg);
	}
	return 0;
}

static int load_one(struct drill_cli *cli, struct drill_script *script,
		    size_t i, struct drill_loaded *l, struct drill_err *err)
{
	char culprit[64];
	long n = 0;
	int rc;

	l->script = script;
	l->index = i;
	rc = drill_spec_read(json_array_get(drill_script_scenarios(script), i),
			     &l->spec, culprit, err);
	if (rc == 0)
		rc = choose_lab(cli, l, err);
	if (rc == 0)
		rc = read_allow(cli, &l->allow, err);
	if (rc < 0)
		return rc;
	rc = read_number(cli, "seed", 0, &n, err);
	if (rc < 0)
		return rc;
	l->seed = rc ? (uint64_t)n
		     : l->spec.has_seed ? l->spec.seed
					: drill_stream_fresh_seed();
	rc = read_number(cli, "trials", 0, &n, err);
	if (rc > 0)
		l->spec.trials[DRILL_FAULT_TRIAL] = (int)n;
	return rc < 0 ? rc : 0;
}

static enum drill_outcome complain(struct drill_script *s,
				   const struct drill_err *err)
{
	enum drill_outcome o = drill_cli_fail(err);
	const char *trace = drill_script_trace(s);

	if (trace[0])
		fprintf(stderr, "%s\n", trace);
	return o;
}

static enum drill_outcome each_of_file(
	struct drill_cli *cli, const char *file, json_t *params,
	enum drill_outcome (*each)(struct drill_cli *, struct drill_loaded *,
				   void *), void *arg)
{
	struct drill_err err = { 0 };
	struct drill_script *script = NULL;
	enum drill_outcome worst = DRILL_PASS, o;
	bool first = true;
	size_t i;

	if (drill_script_load(file, params, &script, &err) < 0) {
		o = complain(script, &err);
		drill_script_free(script);
		return o == DRILL_ERROR ? DRILL_USAGE : o;
	}
	for (i = 0; i < json_array_size(drill_script_scenarios(script)); i++) {
		struct drill_loaded l = { 0 };

		memset(&err, 0, sizeof(err));
		o = load_one(cli, script, i, &l, &err) < 0
			    ? drill_cli_fail(&err)
			    : each(cli, &l, arg);
		worst = first ? o : drill_outcome_worse(worst, o);
		first = false;
		drill_lab_spec_done(&l.lab);
		drill_spec_done(&l.spec);
	}
	drill_script_free(script);
	return worst;
}

enum drill_outcome drill_load_each(
	struct drill_cli *cli,
	enum drill_outcome (*each)(struct drill_cli *, struct drill_loaded *,
				   void *), void *arg)
{
	struct drill_err err = { 0 };
	enum drill_outcome worst = DRILL_PASS, o;
	json_t *params = NULL;
	int i;

	if (read_params(cli, &params, &err) < 0) {
		json_decref(params);
		return drill_cli_fail(&err);
	}
	for (i = 0; i < cli->n_args; i++) {
		o = each_of_file(cli, cli->args[i], params, each, arg);
		worst = i ? drill_outcome_worse(worst, o) : o;
	}
	json_decref(params);
	return worst;
}
