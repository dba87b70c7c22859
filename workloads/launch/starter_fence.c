/* starter_fence.c - ends what is left of older attempts, and proves it
 * SPDX-License-Identifier: MIT
 *
 * A process is of an attempt when the environment it was started with says so;
 * a child inherits the mark. Nothing else is ever signalled.
 */
#include "starter.h"
#include "wire.h"

#include "harness/core/environ.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static bool is_of(pid_t pid, const char *job, int attempt)
{
	const char *its_job = NULL, *its_attempt = NULL;
	size_t size;
	char *env = drill_environ(pid, &size);
	bool is;

	if (env) {
		its_job = drill_environ_find(env, size, LAUNCH_ENV_JOB);
		its_attempt = drill_environ_find(env, size,
						 LAUNCH_ENV_ATTEMPT);
	}
	is = its_job && !strcmp(its_job, job) && its_attempt &&
	     atoi(its_attempt) <= attempt;
	free(env);
	return is;
}

/* The mark is read again once the pidfd is held: the pid may be another's. */
static bool kill_if(pid_t pid, const char *job, int attempt)
{
	int fd;

	if (!is_of(pid, job, attempt))
		return false;
	fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (fd < 0)
		return errno != ESRCH;
	if (is_of(pid, job, attempt)) {
		syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0);
		syscall(SYS_pidfd_send_signal, fd, SIGCONT, NULL, 0);
	}
	close(fd);
	return true;
}

static int scan(const char *job, int attempt)
{
	DIR *d = opendir("/proc");
	const struct dirent *e;
	int left = 0;

	if (!d)
		return -errno;
	while ((e = readdir(d)))
		if (isdigit((unsigned char)e->d_name[0]) &&
		    atoi(e->d_name) != getpid())
			left += kill_if(atoi(e->d_name), job, attempt);
	closedir(d);
	return left;
}

int starter_fence(const char *job, int attempt, int limit_ms, int *ret_left)
{
	const struct timespec pause = {.tv_nsec = 2000000};
	int64_t until = starter_raw_ns() + limit_ms * INT64_C(1000000);
	int clean = 0;

	/* A process that forks while we look is seen by the second scan. */
	while (clean < 2) {
		*ret_left = scan(job, attempt);
		if (*ret_left < 0)
			return *ret_left;
		clean = *ret_left ? 0 : clean + 1;
		if (clean == 2)
			break;
		if (starter_raw_ns() > until)
			return -ETIMEDOUT;
		nanosleep(&pause, NULL);
	}
	return 0;
}
