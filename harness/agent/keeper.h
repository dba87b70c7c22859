/* keeper.h - the small second process that reverts when the agent cannot
 * SPDX-License-Identifier: MIT
 *
 * Forked by the agent into a session of its own, so it outlives agent and
 * controller. It waits on the agent's pidfd and on the lease. When the agent is
 * dead, or has not renewed in time, it kills the agent, waits for its end, takes
 * the locks, raises the epoch and reverts every open record.
 */
#ifndef DRILL_KEEPER_H
#define DRILL_KEEPER_H

#include "journal.h"

#include <sys/types.h>

struct drill_keeper {
	pid_t pid;
	int pidfd; /* readable: the keeper is gone */
	int sock;
};

/* Starts the keeper of @j and waits until it is on guard. It inherits
 * @lock_fd (-1: none) and holds that lock to its end. */
int drill_keeper_start(struct drill_journal *j, int lock_fd,
		       struct drill_keeper *ret, struct drill_err *err);
/* Says that all is closed, waits for its end, and forgets it. A keeper that is
 * gone already is fine. */
void drill_keeper_stop(struct drill_journal *j, struct drill_keeper *k);

#endif
