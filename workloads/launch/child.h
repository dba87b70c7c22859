/* child.h - a process that ends with us, watched through its pidfd
 * SPDX-License-Identifier: MIT
 */
#ifndef LAUNCH_CHILD_H
#define LAUNCH_CHILD_H

#include "harness/core/err.h"

#include <stdbool.h>
#include <uv.h>

struct launch_child {
	pid_t pid; /* also its process group; 0: none */
	int pidfd;
	int status; /* as of waitpid, once it has ended */
	bool ended;
	int io; /* becomes its standard input and output; 0: none */
	uv_poll_t poll;
	/* Called once, from the loop. Then the child may be started again. */
	void (*on_end)(struct launch_child *c);
	void *ctx; /* the caller's */
};

/* Starts @argv in a process group of its own with @env ("K=V", ends with NULL)
 * added; stdin is empty unless @c->io says another. @c must stay where it is until on_end. */
int launch_child_start(struct launch_child *c, uv_loop_t *loop,
		       char *const *argv, char *const *env,
		       struct drill_err *err);

/* Signals its whole group. Nothing happens when it has ended. */
void launch_child_kill(struct launch_child *c, int signum);

/* Parts @text at its blanks, as mpirun does with a remote shell; at most @max
 * words, which lie in @text. Returns their number. */
int launch_child_words(char *text, char **argv, int max);

static inline bool launch_child_runs(const struct launch_child *c)
{
	return c->pid != 0 && !c->ended;
}

#endif
