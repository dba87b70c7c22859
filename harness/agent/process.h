/* process.h - processes that are never trusted by their pid alone
 * SPDX-License-Identifier: MIT
 */
#ifndef DRILL_PROCESS_H
#define DRILL_PROCESS_H

#include "harness/core/err.h"
#include "injectors/injector.h"

/* The running boot's id, 36 characters; "" when it cannot be read. Borrowed. */
const char *drill_boot_id(void);

/* Start time in clock ticks since boot, as the initial time namespace counts
 * them; 0 when there is no such process. */
uint64_t drill_process_start(pid_t pid);

/* Fills @ret with the identity of a living @pid and a pidfd. -ESRCH: gone. */
int drill_process_open(pid_t pid, struct drill_process *ret,
		       struct drill_err *err);
/* The process that @id describes, or -ESRCH when it is gone or the pid now
 * belongs to another, -EUCLEAN when its start time is unknown: then nobody can
 * say. Sets @id->pidfd (yours) when it is -1. */
int drill_process_find(struct drill_process *id, struct drill_err *err);
void drill_process_close(struct drill_process *id);

/* Sends through the pidfd. -ESRCH: gone. */
int drill_process_signal(const struct drill_process *id, int signum,
			 struct drill_err *err);
/* Dead, a zombie included? Asked of the pidfd. */
bool drill_process_dead(const struct drill_process *id);
/* Kills through the pidfd and waits until it is dead. -ETIMEDOUT: it cannot
 * die (frozen, or in the kernel). */
int drill_process_kill(const struct drill_process *id, int64_t timeout_ns,
		       struct drill_err *err);

/* The letter of /proc/PID/stat ('R', 'S', 'T', 'Z'), 0 when gone. */
char drill_process_state(pid_t pid);
/* Is "NAME=VALUE" in its environment, or, not @whole, one that begins so? False
 * also when the environment may not be read. */
bool drill_process_has_env(pid_t pid, const char *want, bool whole);

/* How a dead process ended: wait status as waitpid gives it. -ENODATA: nobody
 * can say (any more), -EAGAIN: perhaps once it is reaped. */
int drill_process_status(const struct drill_process *id, int *ret_status);

#endif
