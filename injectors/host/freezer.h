/* freezer.h - the cgroup freezer, version 2 or 1 alike
 * SPDX-License-Identifier: MIT
 */
#ifndef DRILL_FREEZER_H
#define DRILL_FREEZER_H

#include "harness/core/err.h"

#include <stdbool.h>
#include <sys/types.h>

struct drill_freezer {
	int version;	/* 2, or 1 with the freezer controller */
	char root[128]; /* where that hierarchy is mounted */
};

/* Version 2 where both exist: its frozen tasks can still be killed. -ENOENT
 * with the reason when there is neither. */
int drill_freezer_find(struct drill_freezer *ret, struct drill_err *err);

/* The directory of the cgroup that @pid is in. */
int drill_freezer_of(const struct drill_freezer *f, pid_t pid, char *buf,
		     int size, struct drill_err *err);

/* Is it frozen, by its own switch? 1, 0; -ENOENT when there is no such cgroup.
 * @ret_done: and have all its tasks come to rest? */
int drill_freezer_get(int version, const char *dir, bool *ret_done);
/* Sets the switch and waits, at most a second, until all tasks have followed. */
int drill_freezer_set(int version, const char *dir, bool freeze,
		      struct drill_err *err);
/* Moves a process into @dir. -ESRCH: it is gone. */
int drill_freezer_move(const char *dir, pid_t pid, struct drill_err *err);

/* The first process in @dir, 0 when empty. */
pid_t drill_freezer_member(const char *dir);

#endif
