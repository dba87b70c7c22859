/* verb_heal.c - faultdrill heal: what dead runs left, reverted from journals
 * SPDX-License-Identifier: MIT
 */
#include "verbs.h"

#include "harness/agent/heal.h"
#include "harness/core/jsonx.h"
#include "harness/lab/lab_record.h"
#include "harness/lab/lab_sweep.h"

#include <errno.h>
#include <stdio.h>

static void print_records(json_t *list)
{
	json_t *r;
	size_t i;

	json_array_foreach(list, i, r) {
		const char *more = drill_json_text(r, "holder");

		if (!more[0])
			more = drill_json_text(r, "reason");
		printf("%-9s %-18s %-24s %s%s%s\n",
		       drill_json_text(r, "state"), drill_json_text(r, "kind"),
		       drill_json_text(r, "target"), drill_json_text(r, "id"),
		       more[0] ? "  " : "", more);
	}
	if (json_array_size(list) == 0)
		printf("nothing to heal\n");
}

static enum drill_outcome forget(const char *state, const char *id)
{
	struct drill_err err = { 0 };
	int rc = drill_heal_forget(state, id, &err);

	if (rc == 0)
		return DRILL_PASS;
	if (rc == -ENOENT)
		return drill_cli_usage("heal: no record '%s' in %s", id, state);
	return drill_cli_fail(&err);
}

/* Records first: they know more than what lies in a lab. */
static int heal(const char *state, bool list_only, json_t **ret,
		struct drill_err *err)
{
	struct drill_err swept = { 0 };
	int rc = drill_heal(state, list_only, ret, err);

	if (drill_lab_sweep(list_only, *ret, &swept) == 0 || rc < 0)
		return rc;
	return drill_err_set(err, swept.code, swept.who, "%s", swept.msg);
}

enum drill_outcome drill_verb_heal(struct drill_cli *cli)
{
	struct drill_err err = { 0 };
	char buf[256];
	const char *state = drill_state_dir(drill_opt(cli, "state"), buf,
					    sizeof(buf));
	json_t *list = NULL;
	int rc;

	drill_heal_register(drill_lab_revertibles);
	if (drill_opt(cli, "forget"))
		return forget(state, drill_opt(cli, "forget"));
	rc = heal(state, drill_opt_set(cli, "list"), &list, &err);
	if (drill_cli_json(cli))
		drill_cli_print(list ? json_incref(list) : json_array());
	else if (list)
		print_records(list);
	json_decref(list);
	return rc < 0 ? drill_cli_fail(&err) : DRILL_PASS;
}
