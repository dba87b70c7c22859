/* host_init.c - the first process of a namespace host: sets it up, then reaps
 * SPDX-License-Identifier: MIT
 *
 * Killing it is how a host crashes: the kernel ends everything in the host's
 * PID namespace with it. libc only and a few hundred KiB, for there is one on
 * every host.
 */
#include "host_init.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define STATUS_FD 3
#define LIFE_FD 4

struct place {
	const char *dir, *name, *mark;
	bool head; /* the launcher's place: the caller's processes are seen */
};

static int failed(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

static int failed(const char *fmt, ...)
{
	int errnum = errno;
	va_list ap;

	va_start(ap, fmt);
	vdprintf(STATUS_FD, fmt, ap);
	va_end(ap);
	dprintf(STATUS_FD, ": %s\n", strerror(errnum));
	return -1;
}

static int put_mark(const struct place *p)
{
	char path[320];
	int fd;

	snprintf(path, sizeof(path), "%s/" DRILL_INSIDE, p->dir);
	if (mount("faultdrill", path, "tmpfs", MS_NOSUID | MS_NODEV,
		  "mode=755,size=64k") < 0)
		return failed("cannot mount a tmpfs on '%s'", path);
	snprintf(path, sizeof(path), "%s/" DRILL_INSIDE "/mark", p->dir);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444);
	if (fd < 0 || dprintf(fd, "%s %s\n", p->mark, p->name) < 0)
		return failed("cannot write '%s'", path);
	close(fd);
	return 0;
}

/* The names of the lab's hosts; a machine without the file goes without. */
static int put_names(const struct place *p)
{
	char path[320];

	snprintf(path, sizeof(path), "%s/hosts", p->dir);
	if (access("/etc/hosts", F_OK) < 0)
		return 0;
	if (mount(path, "/etc/hosts", NULL, MS_BIND, NULL) < 0)
		return failed("cannot bind '%s' over /etc/hosts", path);
	return 0;
}

/* Private first: nothing of ours may reach the machine's mounts. Then shared
 * among those who later look into this host (its agent). */
static int set_mounts(const struct place *p)
{
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return failed("cannot make mounts private");
	if (mount(NULL, "/", NULL, MS_REC | MS_SHARED, NULL) < 0)
		return failed("cannot share mounts inside the host");
	if (!p->head && mount("proc", "/proc", "proc",
			      MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0)
		return failed("cannot mount /proc");
	if (mount("tmpfs", "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, NULL) < 0)
		return failed("cannot mount /dev/shm");
	if (put_names(p) < 0)
		return -1;
	return put_mark(p);
}

static int set_up(const struct place *p)
{
	setsid();
	if (sethostname(p->name, strlen(p->name)) < 0)
		return failed("cannot set the host name");
	return set_mounts(p);
}

static void reap(int fd)
{
	struct signalfd_siginfo info;

	while (read(fd, &info, sizeof(info)) == (ssize_t)sizeof(info))
		;
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
}

/* Ends when the run that made the lab is gone; for ever when it has no such
 * descriptor. */
static void live(void)
{
	bool bound = fcntl(LIFE_FD, F_GETFD) >= 0;
	struct pollfd p[2] = {
		{.events = POLLIN},
		{.fd = bound ? LIFE_FD : -1, .events = POLLIN},
	};
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	p[0].fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	while (!p[1].revents) {
		if (poll(p, 2, -1) < 0 && errno != EINTR)
			return;
		if (p[0].revents)
			reap(p[0].fd);
	}
}

int drill_host_init_main(int argc, char **argv)
{
	struct place p;

	if (argc != 5)
		return 2;
	p = (struct place){.dir = argv[1],
			   .name = argv[2],
			   .mark = argv[3],
			   .head = strcmp(argv[4], "head") == 0};
	if (set_up(&p) < 0)
		return 3;
	dprintf(STATUS_FD, "ready\n");
	close(STATUS_FD);
	live();
	return 0;
}
