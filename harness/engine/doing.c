/* doing.c - what a trial does at the moment, for whoever watches it
 * SPDX-License-Identifier: MIT
 */
#include "drill_impl.h"

#include "harness/core/jsonx.h"

#include <string.h>

/* A job of whose steps nothing is known does not train but runs. */
const char *drill_doing_name(const struct drill_trial *t)
{
	static const char *const names[] = { "start", "connect", "restore",
					     "train", "revert" };

	if (t->doing == DRILL_TRAINS && !t->step)
		return "run";
	return names[t->doing];
}

static enum drill_doing begun(const struct drill_trial *t, json_t *e)
{
	const char *kind = drill_json_text(e, "kind");
	const char *phase = drill_json_text(e, "phase");

	if (strcmp(kind, "step.begin") == 0 ||
	    (strcmp(kind, "rank.begin") == 0 &&
	     !drill_workload_steps(t->d->spec->workload)))
		return DRILL_TRAINS;
	if (strcmp(kind, "restore.reading") == 0)
		return DRILL_RESTORES;
	if (strcmp(kind, "phase.begin") != 0)
		return DRILL_STARTS;
	return strcmp(phase, "connect") == 0   ? DRILL_CONNECTS
	       : strcmp(phase, "restore") == 0 ? DRILL_RESTORES
					       : DRILL_STARTS;
}

/* Ranks tell of it one after another: only an attempt leads back. */
void drill_doing_event(struct drill_trial *t, json_t *e)
{
	enum drill_doing to = begun(t, e);

	if (t->doing != DRILL_REVERTS &&
	    strcmp(drill_json_text(e, "kind"), "attempt.begin") == 0)
		t->doing = DRILL_STARTS;
	if (to <= t->doing)
		return;
	t->doing = to;
	drill_show(t->d);
}
