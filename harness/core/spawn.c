/* spawn.c - starts a program somewhere else: namespaces, cgroup, descriptors
 * SPDX-License-Identifier: MIT
 *
 * clone3 rather than fork: the child is born in its cgroup, which saves the
 * machine-wide pause of moving a living process, and in its namespaces.
 */
#include "spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const char who[] = "spawn";

/* What the child says when it fails before it is the program. */
struct failure {
	int errnum;
	char step[60];
};

void drill_spawn_init(struct drill_spawn *s)
{
	int i;

	memset(s, 0, sizeof(*s));
	for (i = 0; i < DRILL_SPAWN_FDS; i++)
		s->fd[i] = -1;
	s->join = -1;
}

int drill_pidfd_open(pid_t pid)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);

	return fd < 0 ? -errno : fd;
}

int drill_pidfd_kill(int pidfd, int signum)
{
	return syscall(SYS_pidfd_send_signal, pidfd, signum, NULL, 0) < 0
		       ? -errno
		       : 0;
}

int drill_pidfd_wait(int pidfd, int timeout_ms)
{
	struct pollfd p = {.fd = pidfd, .events = POLLIN};
	int rc;

	do
		rc = poll(&p, 1, timeout_ms);
	while (rc < 0 && errno == EINTR);
	return rc > 0 ? 0 : -ETIMEDOUT;
}

static void fail(int status, const char *step)
{
	struct failure f = {.errnum = errno};

	snprintf(f.step, sizeof(f.step), "%s", step);
	if (write(status, &f, sizeof(f)) != sizeof(f))
		_exit(126);
	_exit(127);
}

/* Handlers and the mask would be inherited, SIGPIPE ignored too. */
static void plain_signals(void)
{
	sigset_t none;
	int i;

	for (i = 1; i < 32; i++)
		signal(i, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Mounts made by the host are seen, those made here are not the host's. */
static void put_proc(int status, int tree)
{
	if (unshare(CLONE_NEWNS) < 0)
		fail(status, "cannot have a mount namespace");
	if (mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0)
		fail(status, "cannot make mounts private");
	if (syscall(SYS_move_mount, tree, "", AT_FDCWD, "/proc",
		    MOVE_MOUNT_F_EMPTY_PATH) < 0)
		fail(status, "cannot mount /proc");
}

static void take_place(int status, const struct drill_spawn *s, int procs)
{
	int proc = -1;

	if (s->our_proc)
		proc = (int)syscall(SYS_open_tree, AT_FDCWD, "/proc",
				    OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
	if (procs >= 0 && write(procs, "0", 1) != 1)
		fail(status, "cannot enter the cgroup");
	if (s->join >= 0 && setns(s->join, s->join_ns) < 0)
		fail(status, "cannot enter the namespaces");
	if (s->our_proc)
		put_proc(status, proc);
	if (s->session)
		setsid();
	if (s->cwd && chdir(s->cwd) < 0)
		fail(status, "cannot change the directory");
}

/* Out of the way of the targets first, then into them. */
static void take_fds(int *status, const struct drill_spawn *s)
{
	int fd[DRILL_SPAWN_FDS], i, null;

	for (i = 0; i < DRILL_SPAWN_FDS; i++) {
		fd[i] = s->fd[i] < 0 ? -1
				     : fcntl(s->fd[i], F_DUPFD_CLOEXEC, 16);
		if (s->fd[i] >= 0 && fd[i] < 0)
			fail(*status, "no descriptors");
	}
	null = fcntl(open("/dev/null", O_RDWR | O_CLOEXEC), F_DUPFD_CLOEXEC, 16);
	*status = fcntl(*status, F_DUPFD_CLOEXEC, 16);
	for (i = 0; i < DRILL_SPAWN_FDS; i++) {
		if (fd[i] < 0 && i < 3)
			fd[i] = null;
		if (fd[i] < 0)
			close(i);
		else
			dup2(fd[i], i);
	}
	syscall(SYS_close_range, DRILL_SPAWN_FDS, ~0u, CLOSE_RANGE_CLOEXEC);
}

static void child(const struct drill_spawn *s, int status, int procs,
		  pid_t parent)
{
	plain_signals();
	take_place(status, s, procs);
	take_fds(&status, s);
	/* Last, and then a look: the parent may be gone already. A living one
	 * outside of our PID namespace is seen as 0. */
	if (s->deathsig) {
		prctl(PR_SET_PDEATHSIG, s->deathsig);
		if (getppid() != parent && getppid() != 0)
			_exit(125);
	}
	if (s->env)
		execvpe(s->argv[0], s->argv, s->env);
	else
		execvp(s->argv[0], s->argv);
	fail(status, "cannot run it");
}

static int born(const struct drill_spawn *s, int cgroup, int *pidfd)
{
	struct clone_args a = {
		.flags = (uint64_t)(unsigned int)s->new_ns | CLONE_PIDFD,
		.pidfd = (uint64_t)(uintptr_t)pidfd,
		.exit_signal = SIGCHLD,
	};

	if (cgroup >= 0) {
		a.flags |= CLONE_INTO_CGROUP;
		a.cgroup = (uint64_t)cgroup;
	}
	return (int)syscall(SYS_clone3, &a, sizeof(a));
}

/* v2: the directory; v1: only by writing to its list. */
static int open_cgroup(const char *path, int *ret_dir, int *ret_procs)
{
	char name[300];

	*ret_dir = *ret_procs = -1;
	if (!path)
		return 0;
	snprintf(name, sizeof(name), "%s/cgroup.type", path);
	if (access(name, F_OK) == 0) {
		*ret_dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		return *ret_dir < 0 ? -errno : 0;
	}
	snprintf(name, sizeof(name), "%s/cgroup.procs", path);
	*ret_procs = open(name, O_WRONLY | O_CLOEXEC);
	return *ret_procs < 0 ? -errno : 0;
}

/* Nothing comes: it is the program now. */
static int outcome(int status, pid_t pid, const struct drill_spawn *s,
		   struct drill_err *err)
{
	struct failure f;
	ssize_t n;

	do
		n = read(status, &f, sizeof(f));
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return 0;
	waitpid(pid, NULL, 0);
	if (n != sizeof(f))
		return drill_err_set(err, -EIO, who, "'%s' did not start",
				     s->argv[0]);
	return drill_err_errno(err, f.errnum, who, "'%s': %s", s->argv[0],
			       f.step);
}

static int start(const struct drill_spawn *s, int dir, int procs,
		 pid_t *ret_pid, int *ret_pidfd, struct drill_err *err)
{
	int status[2], pidfd = -1, rc;
	pid_t parent = getpid();

	if (pipe2(status, O_CLOEXEC) < 0)
		return drill_err_errno(err, errno, who, "no pipe");
	*ret_pid = born(s, dir, &pidfd);
	if (*ret_pid == 0)
		child(s, status[1], procs, parent);
	rc = errno;
	close(status[1]);
	if (*ret_pid < 0)
		rc = drill_err_errno(err, rc, who, "cannot start '%s'",
				     s->argv[0]);
	else
		rc = outcome(status[0], *ret_pid, s, err);
	close(status[0]);
	if (rc == 0 && ret_pidfd)
		*ret_pidfd = pidfd;
	else if (pidfd >= 0)
		close(pidfd);
	return rc;
}

int drill_spawn(const struct drill_spawn *s, pid_t *ret_pid, int *ret_pidfd,
		struct drill_err *err)
{
	int dir, procs, rc;

	rc = open_cgroup(s->cgroup, &dir, &procs);
	if (rc < 0)
		return drill_err_errno(err, rc, who, "cannot open cgroup '%s'",
				       s->cgroup);
	rc = start(s, dir, procs, ret_pid, ret_pidfd, err);
	if (dir >= 0)
		close(dir);
	if (procs >= 0)
		close(procs);
	return rc;
}

void drill_stdio_open(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}
