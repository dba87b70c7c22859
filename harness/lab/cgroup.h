/* cgroup.h - cgroups of ours below the caller's own
 * SPDX-License-Identifier: MIT
 *
 * v2 where it is mounted (also beside v1), else the v1 freezer hierarchy.
 */
#ifndef DRILL_CGROUP_H
#define DRILL_CGROUP_H

#include "harness/core/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* The caller's own cgroup as an absolute path. -ENOENT: no hierarchy that can
 * stop processes. */
int drill_cgroup_own(char *buf, size_t size, struct drill_err *err);

int drill_cgroup_make(const char *path, struct drill_err *err);

/* Calls @fn for each process in @path and below it. */
void drill_cgroup_each(const char *path, void (*fn)(pid_t pid, void *arg),
		       void *arg);

/* Kills all in @path and below, thaws where a frozen one would not die, waits
 * until none is left, removes the cgroups. Absent: 0. -EBUSY: could not. */
int drill_cgroup_remove(const char *path, int timeout_ms,
			struct drill_err *err);

#endif
