/* starter_fence.c - ends what is left of older attempts, and proves it
 * SPDX-License-Identifier: MIT
 *
 * A process is of an attempt when the environment it was started with says so;
 * a child inherits the mark. Nothing else is ever signalled.
 */
#include "starter.h"
#include "wire.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Environments are small; what lies beyond this is not ours. */
#define ENV_MAX (1 << 18)

static ssize_t read_environ(const char *pid, char *buf, size_t size)
{
	char path[64];
	ssize_t n, len = 0;
	int fd;

	snprintf(path, sizeof(path), "/proc/%.20s/environ", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	while ((n = read(fd, buf + len, size - 1 - (size_t)len)) > 0)
		len += n;
	close(fd);
	buf[len] = '\0';
	return len;
}

static const char *env_find(const char *env, ssize_t len, const char *name)
{
	size_t n = strlen(name);
	const char *p;

	for (p = env; p < env + len; p += strlen(p) + 1)
		if (strncmp(p, name, n) == 0 && p[n] == '=')
			return p + n + 1;
	return NULL;
}

static bool is_of(const char *pid, const char *job, int attempt)
{
	static char env[ENV_MAX];
	ssize_t len = read_environ(pid, env, sizeof(env));
	const char *its_job, *its_attempt;

	if (len <= 0)
		return false;
	its_job = env_find(env, len, LAUNCH_ENV_JOB);
	its_attempt = env_find(env, len, LAUNCH_ENV_ATTEMPT);
	return its_job && strcmp(its_job, job) == 0 && its_attempt &&
	       atoi(its_attempt) <= attempt;
}

/* The mark is read again once the pidfd is held: the pid may be another's. */
static bool kill_if(const char *pid, const char *job, int attempt)
{
	int fd;

	if (!is_of(pid, job, attempt))
		return false;
	fd = (int)syscall(SYS_pidfd_open, atoi(pid), 0);
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
			left += kill_if(e->d_name, job, attempt);
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
