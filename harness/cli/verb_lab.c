/* verb_lab.c - faultdrill lab up|down|status|shell
 * SPDX-License-Identifier: MIT
 */
#include "verbs.h"

#include "harness/core/jsonx.h"
#include "harness/lab/lab_admin.h"
#include "harness/lab/spec.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int count(struct drill_cli *cli, const char *name, int *ret,
		 struct drill_err *err)
{
	const char *s = drill_opt(cli, name);
	char *end;
	long n = s ? strtol(s, &end, 10) : *ret;

	if (s && (end == s || *end || n < 0 || n > DRILL_LAB_HOSTS))
		return drill_err_set(err, -EINVAL, NULL, "--%s: '%s' is no "
				     "number of hosts from 0 to %d", name, s,
				     DRILL_LAB_HOSTS);
	*ret = (int)n;
	return 0;
}

static int read_spec(struct drill_cli *cli, struct drill_lab_spec *spec,
		     struct drill_err *err)
{
	const char *lab = drill_opt(cli, "lab"), *name = drill_opt(cli, "name");
	int rc = 0;

	drill_lab_spec_init(spec);
	if (lab && strcmp(lab, "netns") != 0 && strcmp(lab, "local") != 0 &&
	    strcmp(lab, "auto") != 0)
		rc = drill_lab_spec_read(lab, spec, err);
	else if (lab)
		snprintf(spec->provider, sizeof(spec->provider), "%s", lab);
	if (rc == 0)
		rc = count(cli, "hosts", &spec->hosts, err);
	if (rc == 0)
		rc = count(cli, "spares", &spec->spares, err);
	if (rc == 0)
		rc = drill_lab_spec_check(spec, err);
	if (name)
		snprintf(spec->name, sizeof(spec->name), "%s", name);
	return rc;
}

static void print_lab(json_t *lab)
{
	json_t *h;
	size_t i;

	printf("%s  %s  %s\n", drill_json_text(lab, "name"),
	       drill_json_text(lab, "provider"), drill_json_text(lab, "state"));
	json_array_foreach(json_object_get(lab, "hosts"), i, h)
		printf("  %-6s %s%s\n", drill_json_text(h, "name"),
		       drill_json_text(h, "state"),
		       json_is_true(json_object_get(h, "spare")) ? "  spare"
								 : "");
}

static enum drill_outcome up(struct drill_cli *cli)
{
	struct drill_lab_spec spec;
	struct drill_err err = { 0 };
	json_t *lab = NULL;
	int rc = read_spec(cli, &spec, &err);

	if (rc == 0)
		rc = drill_lab_admin_up(&spec, drill_opt(cli, "state") ?: "",
					&lab, &err);
	drill_lab_spec_done(&spec);
	if (rc == 0 && drill_cli_json(cli))
		drill_cli_print(json_incref(lab));
	else if (rc == 0)
		print_lab(lab);
	json_decref(lab);
	return rc < 0 ? drill_cli_fail(&err) : DRILL_PASS;
}

static enum drill_outcome down(struct drill_cli *cli)
{
	const char *name = drill_opt(cli, "name");
	struct drill_err err = { 0 };
	int rc;

	if (!name && cli->n_args > 1)
		name = cli->args[1];
	rc = drill_lab_admin_down(name ? name : "lab", &err);
	if (rc == -ENOENT)
		err.code = -EINVAL;
	return rc < 0 ? drill_cli_fail(&err) : DRILL_PASS;
}

static enum drill_outcome status(struct drill_cli *cli)
{
	struct drill_err err = { 0 };
	json_t *list = NULL, *lab;
	size_t i;

	if (drill_lab_admin_status(drill_opt(cli, "name"), &list, &err) < 0) {
		json_decref(list);
		return drill_cli_fail(&err);
	}
	if (drill_cli_json(cli)) {
		drill_cli_print(list);
		return DRILL_PASS;
	}
	json_array_foreach(list, i, lab)
		print_lab(lab);
	if (json_array_size(list) == 0)
		printf("no lab is up\n");
	json_decref(list);
	return DRILL_PASS;
}

static enum drill_outcome shell(struct drill_cli *cli)
{
	struct drill_err err = { 0 };

	if (cli->n_args < 2)
		return drill_cli_usage("lab shell HOST: which host?");
	drill_lab_admin_shell(drill_opt(cli, "name"), cli->args[1], cli->rest,
			      &err);
	return drill_cli_fail(&err);
}

enum drill_outcome drill_verb_lab(struct drill_cli *cli)
{
	static const struct {
		const char *name;
		enum drill_outcome (*run)(struct drill_cli *cli);
	} words[] = { { "up", up }, { "down", down }, { "status", status },
		      { "shell", shell } };
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(words[i].name, cli->args[0]) == 0)
			return words[i].run(cli);
	return drill_cli_usage("lab: up, down, status or shell, not '%s'",
			       cli->args[0]);
}
