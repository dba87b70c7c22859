/* heal.h - reverts what dead runs left behind, from their journals alone
 * SPDX-License-Identifier: MIT
 *
 * Works with no controller, no agent and no scenario. The same revert serves
 * the agent, its keeper and `faultdrill heal`.
 */
#ifndef DRILL_HEAL_H
#define DRILL_HEAL_H

#include "journal.h"

/* A kind of record that is not an injector's: a lab object, say. */
struct drill_revertible {
	const char *name; /* "lab.netns" */
	/* Still there? 1 yes, 0 no, negative: cannot tell. */
	int (*verify)(const struct drill_record *record, struct drill_err *err);
	/* As drill_injector.revert: idempotent, bounded, from the record alone. */
	int (*revert)(const struct drill_record *record, struct drill_err *err);
};

/* Adds kinds besides the injectors; @kinds ends with a NULL name, must live for
 * ever. Call before drill_heal. A kind nobody registered is left alone and
 * named, so an agent does not trip over the records of a lab. */
void drill_heal_register(const struct drill_revertible *kinds);

/* Goes through STATE/journal. With @list_only nothing is changed. *ret gets an
 * array (yours: json_decref) of one object a record:
 *
 *   {id, kind, fault, target, run, host, state, reason, holder}
 *
 * state: "held" (a live holder has it: skipped, @holder names it), "open" (list
 * only), "reverted", "gone" (nothing to do), "kept" (of `lab up`), "foreign"
 * (its kind belongs to another program of ours), "torn", "dirty".
 * Returns 0, or -EUCLEAN when something is torn or dirty (text in @err). */
int drill_heal(const char *state_dir, bool list_only, json_t **ret,
	       struct drill_err *err);

/* Drops a dirty or torn record that a person has dealt with. -ENOENT: none. */
int drill_heal_forget(const char *state_dir, const char *id,
		      struct drill_err *err);

/* One record: revert, prove by verify, end it (CLOSED or DIRTY). For whoever
 * holds the record's lock. @ret_target_gone may be NULL. Returns 0, or -EUCLEAN
 * with the reason. */
int drill_revert_record(struct drill_record *r, struct drill_err *err);

#endif
