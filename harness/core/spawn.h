/* spawn.h - starts a program somewhere else: namespaces, cgroup, descriptors
 * SPDX-License-Identifier: MIT
 *
 * libc only. The child changes nothing but itself before it is the program, so
 * a caller with threads is safe.
 */
#ifndef DRILL_SPAWN_H
#define DRILL_SPAWN_H

#include "err.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define DRILL_SPAWN_FDS 5

struct drill_spawn {
	char *const *argv; /* argv[0] is searched in PATH unless it has a '/' */
	char *const *env;  /* whole environment; NULL: ours */
	int fd[DRILL_SPAWN_FDS]; /* what becomes 0 to 4; -1: /dev/null for 0 to
				  * 2, closed above; all others are closed */
	int new_ns;   /* CLONE_NEW*: namespaces that are born with it */
	int join;     /* pidfd of a process whose namespaces are joined, or -1 */
	int join_ns;  /* CLONE_NEW*: which of them */
	bool our_proc; /* a mount namespace of its own, below the joined one,
			* in which /proc shows the processes that we see */
	const char *cgroup; /* directory to be born in; NULL: ours */
	const char *cwd;    /* after joining; NULL: as it is */
	int deathsig; /* when the calling thread ends; 0: none */
	bool session; /* a session of its own */
};

/* Descriptors of @s set to -1, all else zero. */
void drill_spawn_init(struct drill_spawn *s);

/* Returns when the program runs, or negative with the step that failed. The
 * child is the caller's to wait for; @ret_pidfd (may be NULL) to close. */
int drill_spawn(const struct drill_spawn *s, pid_t *ret_pid, int *ret_pidfd,
		struct drill_err *err);

int drill_pidfd_open(pid_t pid);
int drill_pidfd_kill(int pidfd, int signum);
/* Waits until the process is dead: 0, or -ETIMEDOUT. */
int drill_pidfd_wait(int pidfd, int timeout_ms);

/* What the caller has closed of descriptors 0 to 2 becomes /dev/null: else the
 * next file opened would be taken for standard output. First thing in main. */
void drill_stdio_open(void);

#endif
