/* syscalls.h - a forked function whose n-th system call fails or kills it
 * SPDX-License-Identifier: MIT
 */
#ifndef DRILL_SYSCALLS_H
#define DRILL_SYSCALLS_H

#include <stdbool.h>

enum drill_at_call { DRILL_CALL_FAILS, DRILL_CALL_KILLS };

/* Runs @fn in a child. Its @n-th system call, from 1, of those that touch
 * something outside (files, processes, sockets), fails with EIO or is never
 * reached because the child is killed before it. Returns the child's wait
 * status; *ret_reached: whether there was an @n-th. -1: seccomp's notifications
 * cannot be had here. */
int drill_with_call(void (*fn)(void), int n, enum drill_at_call what,
		    bool *ret_reached);

#endif
