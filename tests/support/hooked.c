/* hooked.c - a rank for tests: calls collectives through the hook, without MPI
 * SPDX-License-Identifier: MIT
 */
#include "hooked.h"

#include "injectors/hooks/hook.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void be_a_rank(const char *page, int rank, int attempt,
		      enum drill_word word)
{
	struct hook_hello hello = { .rank = rank, .world = 4, .abi = 8,
				    .library = "none: a test" };
	const struct timespec t = { .tv_nsec = 1000000 };
	struct hook_call c;
	char text[16];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	snprintf(text, sizeof(text), "%d", attempt);
	setenv("FAULTDRILL_HOOKS", page, 1);
	setenv("FAULTDRILL_ATTEMPT", text, 1);
	drill_hook_hello(&hello);
	for (;;) {
		hook_enter(&c, word);
		hook_leave(&c);
		nanosleep(&t, NULL);
	}
}

static bool said_hello(const struct drill_hooks *h, int rank, int attempt)
{
	int slot = drill_hooks_slot(h, rank, NULL);

	return slot >= 0 && h->page->slot[slot].attempt == attempt;
}

pid_t drill_hooked_start(const char *page, int rank, int attempt,
			 enum drill_word word)
{
	const struct timespec t = { .tv_nsec = 1000000 };
	struct drill_hooks h;
	pid_t pid = fork();

	if (!pid) {
		be_a_rank(page, rank, attempt, word);
		_exit(1);
	}
	if (pid < 0 || drill_hooks_open(&h, page, NULL))
		return -1;
	while (!said_hello(&h, rank, attempt) &&
	       waitpid(pid, NULL, WNOHANG) == 0)
		nanosleep(&t, NULL);
	drill_hooks_close(&h);
	return pid;
}
