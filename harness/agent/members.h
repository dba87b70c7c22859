/* members.h - which process of a cgroup calls itself by a given pid
 * SPDX-License-Identifier: MIT
 */
#ifndef DRILL_MEMBERS_H
#define DRILL_MEMBERS_H

#include <sys/types.h>

/* The process in @cgroup, or in a cgroup one level below it, whose own getpid()
 * is @inner; its pid as seen here. 0: none. */
pid_t drill_member_by_inner(const char *cgroup, pid_t inner);

#endif
