/* revert.c - one record back to where it was, and the proof
 * SPDX-License-Identifier: MIT
 *
 * The only way back: agent, keeper and heal all come through here.
 */
#include "revert.h"

#include "journal_file.h"

#include <errno.h>
#include <string.h>

static const char who[] = "revert";

static const struct drill_revertible *registered[8];

void drill_heal_register(const struct drill_revertible *kinds)
{
	unsigned int i;

	for (i = 0; i < sizeof(registered) / sizeof(registered[0]); i++) {
		if (registered[i] == kinds)
			return;
		if (!registered[i]) {
			registered[i] = kinds;
			return;
		}
	}
}

const struct drill_revertible *drill_revertible_find(const char *kind)
{
	const struct drill_revertible *k;
	unsigned int i;

	for (i = 0; i < sizeof(registered) / sizeof(registered[0]); i++)
		for (k = registered[i]; k && k->name; k++)
			if (!strcmp(k->name, kind))
				return k;
	return NULL;
}

/* Verify as heal can call it: no arguments, all from the record. */
static int verify_injector(const struct drill_injector *in,
			   struct drill_record *r, struct drill_err *err)
{
	struct drill_target target = { .rank = -1 };
	struct drill_act act = { .target = &target,
				 .record = r,
				 .evidence = json_object(),
				 .clock = drill_clock_system() };
	struct drill_record_info info;
	int rc;

	drill_record_info(r, &info);
	target.process = info.process;
	rc = in->verify(&act, err);
	json_decref(act.evidence);
	return rc;
}

static int verify(struct drill_record *r, const char *kind,
		  struct drill_err *err)
{
	const struct drill_injector *in = drill_injector_find(kind, NULL);

	if (in)
		return verify_injector(in, r, err);
	return drill_revertible_find(kind)->verify(r, err);
}

static int revert(struct drill_record *r, const char *kind,
		  struct drill_err *err)
{
	const struct drill_injector *in = drill_injector_find(kind, NULL);

	if (in)
		return in->revert(r, err);
	return drill_revertible_find(kind)->revert(r, err);
}

/* After a reboot a change that cannot have survived it is not replayed: the
 * names and pids in the record belong to other things now. */
static bool may_replay(const struct drill_record *r,
		       const struct drill_record_info *info)
{
	return drill_record_this_boot(r) ||
	       info->survives >= DRILL_SURVIVES_BOOT;
}

static int prove(struct drill_record *r, const struct drill_record_info *info,
		 struct drill_err *err)
{
	struct drill_err why = { 0 };
	int rc = 0;

	if (may_replay(r, info))
		rc = revert(r, info->kind, &why);
	if (rc == -EUCLEAN)
		return drill_err_set(err, rc, who, "%s", why.msg);
	if (rc < 0)
		return drill_err_set(err, -EUCLEAN, who, "revert failed: %s",
				     why.msg);
	if (info->survives == DRILL_SURVIVES_NOTHING)
		return 0;
	rc = verify(r, info->kind, &why);
	if (rc > 0)
		return drill_err_set(err, -EUCLEAN, who, "still in force");
	if (rc < 0)
		return drill_err_set(err, -EUCLEAN, who,
				     "cannot tell whether it is gone: %s",
				     why.msg);
	return 0;
}

int drill_revert_record(struct drill_record *r, struct drill_err *err)
{
	struct drill_record_info info;
	struct drill_err why = { 0 };
	char id[sizeof(r->id)];
	int rc;

	if (!r->doc)
		return drill_err_set(err, -EUCLEAN, who, "record '%s': %s",
				     r->id, drill_record_reason(r));
	memcpy(id, r->id, sizeof(id));
	drill_record_info(r, &info);
	if (!drill_injector_find(info.kind, NULL) &&
	    !drill_revertible_find(info.kind))
		return drill_err_set(err, -EOPNOTSUPP, who,
				     "record '%s' is of kind '%s', which this "
				     "program cannot revert",
				     id, info.kind);
	rc = prove(r, &info, &why);
	if (r->journal->boundary)
		r->journal->boundary("revert");
	if (rc == 0)
		return drill_record_end(r, DRILL_RECORD_CLOSED, "reverted", err);
	drill_record_end(r, DRILL_RECORD_DIRTY, why.msg, NULL);
	return drill_err_set(err, -EUCLEAN, who, "record '%s': %s", id,
			     why.msg);
}
