/* process.c - processes that are never trusted by their pid alone
 * SPDX-License-Identifier: MIT
 */
#include "process.h"

#include "harness/core/environ.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static const char who[] = "process";

/* linux/pidfd.h of a kernel that can tell how a process ended (6.15). */
struct pidfd_exit_info {
	uint64_t mask, cgroupid;
	uint32_t pid, tgid, ppid;
	uint32_t ruid, rgid, euid, egid, suid, sgid, fsuid, fsgid;
	int32_t exit_code;
};
#define PIDFD_GET_EXIT _IOWR(0xff, 11, struct pidfd_exit_info)
#define PIDFD_EXIT_BIT (UINT64_C(1) << 3)

/* The inode number of the initial time namespace, fixed by the kernel. */
#define INITIAL_TIME_NS 0xeffffffaU

static int read_file(const char *path, char *buf, int size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = read(fd, buf, size - 1);
	if (n < 0)
		n = -errno;
	close(fd);
	if (n >= 0)
		buf[n] = 0;
	return n;
}

const char *drill_boot_id(void)
{
	static char id[37];

	if (!id[0] &&
	    read_file("/proc/sys/kernel/random/boot_id", id, sizeof(id)) < 36)
		id[0] = 0;
	return id;
}

/* Seconds that this time namespace adds to the time since boot. */
static int64_t boottime_offset(void)
{
	char buf[256], *p;
	struct stat st;

	if (stat("/proc/self/ns/time", &st) < 0 ||
	    st.st_ino == INITIAL_TIME_NS ||
	    read_file("/proc/self/timens_offsets", buf, sizeof(buf)) < 0)
		return 0;
	p = strstr(buf, "boottime");
	return p ? strtoll(p + strlen("boottime"), NULL, 10) : 0;
}

/* Field @n (from 3) of /proc/PID/stat in @buf, or NULL. The name before may
 * hold spaces and parentheses, so counting starts at its last one. */
static const char *stat_field(pid_t pid, int n, char *buf, int size)
{
	char path[64], *p;
	int i;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if (pid <= 0 || read_file(path, buf, size) <= 0)
		return NULL;
	p = strrchr(buf, ')');
	for (i = 2; p && i < n; i++)
		p = strchr(p + 1, ' ');
	return p ? p + 1 : NULL;
}

uint64_t drill_process_start(pid_t pid)
{
	char buf[1024];
	const char *p = stat_field(pid, 22, buf, sizeof(buf));

	if (!p)
		return 0;
	return strtoull(p, NULL, 10) -
	       boottime_offset() * sysconf(_SC_CLK_TCK);
}

char drill_process_state(pid_t pid)
{
	char buf[1024];
	const char *p = stat_field(pid, 3, buf, sizeof(buf));

	return p ? *p : 0;
}

bool drill_process_has_env(pid_t pid, const char *want, bool whole)
{
	size_t size, n = strlen(want) + whole;
	char *env = drill_environ(pid, &size);
	bool found = false;

	for (char *p = env; env && p < env + size; p += strlen(p) + 1)
		found |= !strncmp(p, want, n);
	free(env);
	return found;
}

int drill_process_open(pid_t pid, struct drill_process *ret,
		       struct drill_err *err)
{
	memset(ret, 0, sizeof(*ret));
	ret->pid = pid;
	ret->pidfd = syscall(SYS_pidfd_open, pid, 0);
	if (ret->pidfd < 0)
		return drill_err_errno(err, errno, who, "pid %d", (int)pid);
	ret->start = drill_process_start(pid);
	snprintf(ret->boot_id, sizeof(ret->boot_id), "%s", drill_boot_id());
	/* Between the two calls the pid may have been given away. */
	if (!ret->start || drill_process_dead(ret)) {
		drill_process_close(ret);
		return drill_err_set(err, -ESRCH, who, "pid %d has ended",
				     (int)pid);
	}
	return 0;
}

int drill_process_find(struct drill_process *id, struct drill_err *err)
{
	struct drill_process now;
	int rc;

	if (strcmp(id->boot_id, drill_boot_id()))
		return drill_err_set(err, -ESRCH, who,
				     "pid %d was of another boot", (int)id->pid);
	if (!id->start)
		return drill_err_set(err, -EUCLEAN, who,
				     "start time of pid %d is unknown",
				     (int)id->pid);
	if (id->pidfd >= 0)
		return drill_process_dead(id)
			       ? drill_err_set(err, -ESRCH, who,
					       "pid %d has ended", (int)id->pid)
			       : 0;
	rc = drill_process_open(id->pid, &now, err);
	if (rc < 0)
		return rc;
	if (now.start != id->start) {
		drill_process_close(&now);
		return drill_err_set(err, -ESRCH, who,
				     "pid %d belongs to another process now",
				     (int)id->pid);
	}
	id->pidfd = now.pidfd;
	return 0;
}

void drill_process_close(struct drill_process *id)
{
	if (id->pidfd >= 0)
		close(id->pidfd);
	id->pidfd = -1;
}

int drill_process_signal(const struct drill_process *id, int signum,
			 struct drill_err *err)
{
	if (syscall(SYS_pidfd_send_signal, id->pidfd, signum, NULL, 0) < 0)
		return drill_err_errno(err, errno, who, "signal %d to pid %d",
				       signum, (int)id->pid);
	return 0;
}

bool drill_process_dead(const struct drill_process *id)
{
	struct pollfd p = { .fd = id->pidfd, .events = POLLIN };

	return poll(&p, 1, 0) > 0;
}

int drill_process_kill(const struct drill_process *id, int64_t timeout_ns,
		       struct drill_err *err)
{
	struct pollfd p = { .fd = id->pidfd, .events = POLLIN };
	struct drill_err gone = { 0 };
	int rc = drill_process_signal(id, SIGKILL, &gone);

	if (rc == -ESRCH)
		return 0;
	if (rc < 0)
		return drill_err_set(err, rc, who, "%s", gone.msg);
	if (poll(&p, 1, timeout_ns / 1000000) > 0)
		return 0;
	return drill_err_set(err, -ETIMEDOUT, who, "pid %d does not die",
			     (int)id->pid);
}

int drill_process_status(const struct drill_process *id, int *ret_status)
{
	struct pidfd_exit_info info = { .mask = PIDFD_EXIT_BIT };
	char buf[1024];
	const char *p;
	bool known;

	if (id->pidfd < 0)
		return -ENODATA;
	if (ioctl(id->pidfd, PIDFD_GET_EXIT, &info) == 0 &&
	    (info.mask & PIDFD_EXIT_BIT)) {
		*ret_status = info.exit_code;
		return 0;
	}
	known = errno != ENOTTY && errno != EINVAL;
	/* A zombie's stat still has it; it reads 0 without the permission. */
	p = stat_field(id->pid, 3, buf, sizeof(buf));
	if (p && *p == 'Z' && drill_process_start(id->pid) == id->start) {
		p = stat_field(id->pid, 52, buf, sizeof(buf));
		if (p && strtol(p, NULL, 10)) {
			*ret_status = strtol(p, NULL, 10);
			return 0;
		}
		return -EAGAIN;
	}
	return known ? -EAGAIN : -ENODATA;
}
