/* collective.h - what the faults of collectives share: an entry of a hook page
 * SPDX-License-Identifier: MIT
 *
 * Such a fault is one entry of the host's hook page, bound to the slot of one
 * process, so that it ends with that process. The record holds page, slot,
 * entry and mark; nothing else is needed to take it off.
 */
#ifndef DRILL_COLLECTIVE_H
#define DRILL_COLLECTIVE_H

#include "harness/agent/journal.h"
#include "injectors/hooks/hooks.h"

/* Is a page there, and if the rank runs, its hook? @op is what the user wrote. */
int drill_collective_probe(const struct drill_act *act, const char *op,
			   struct drill_err *err);

/* Fills rank, slot and word of @order from the target and @op, then records,
 * commits and arms, with the bracket of the act in @act. */
int drill_collective_apply(struct drill_act *act, const char *op,
			   struct drill_hook_order *order,
			   struct drill_err *err);

/* An entry as verify finds it. */
struct drill_collective {
	struct drill_hooks hooks; /* yours: drill_hooks_close */
	struct drill_hook_armed armed;
	struct drill_hook_seen seen;
	int slot;
	bool held; /* its process is held at a call that will meet the entry */
	pid_t pid; /* of the rank, as the agent sees it; 0: gone */
};

/* 1: the entry is there as it was armed and its process lives; 0: it is not,
 * or nothing was ever armed; negative: cannot tell. What was read back goes
 * into the evidence. Close the hooks in every case. */
int drill_collective_see(struct drill_act *act, struct drill_collective *ret,
			 struct drill_err *err);

/* What the kernel says of the threads of the rank: does one wait for the futex
 * of this entry? 1 yes, 0 no, negative: not readable. */
int drill_collective_blocked(const struct drill_collective *c);

/* After the entry has been taken off: is a thread still caught in it? Gives it
 * half a second to leave. 1 yes, 0 no. */
int drill_collective_lingers(const struct drill_collective *c);

/* The revert of all of them. */
int drill_collective_revert(const struct drill_record *record,
			    struct drill_err *err);

#endif
