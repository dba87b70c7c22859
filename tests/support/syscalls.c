/* syscalls.c - a forked function whose n-th system call fails or kills it
 * SPDX-License-Identifier: MIT
 *
 * The child asks the kernel to be asked (seccomp user notification); the parent
 * answers each call.
 */
#include "syscalls.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SECCOMP_USER_NOTIF_FLAG_CONTINUE
#define SECCOMP_USER_NOTIF_FLAG_CONTINUE 1
#endif

static const int watched[] = {
	SYS_openat, SYS_read, SYS_pread64, SYS_write, SYS_pwrite64,
	SYS_fdatasync, SYS_fsync, SYS_close, SYS_fcntl, SYS_ioctl,
	SYS_pidfd_open, SYS_pidfd_send_signal, SYS_ppoll, SYS_sendmsg,
	SYS_newfstatat, SYS_fstat, SYS_mkdirat, SYS_unlinkat, SYS_linkat,
	SYS_faccessat, SYS_ftruncate, SYS_getdents64, SYS_dup, SYS_flock,
#ifdef SYS_poll
	SYS_poll, SYS_mkdir, SYS_rmdir, SYS_unlink, SYS_access, SYS_stat,
	SYS_link,
#endif
};

#define N (sizeof(watched) / sizeof(watched[0]))

struct shared {
	_Atomic int listener; /* -1 not yet, -2 cannot */
	_Atomic int go;
};

static int install(void)
{
	struct sock_filter f[N + 3];
	struct sock_fprog prog = { .len = N + 3, .filter = f };
	unsigned int i;

	f[0] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
					    offsetof(struct seccomp_data, nr));
	for (i = 0; i < N; i++)
		f[1 + i] = (struct sock_filter)BPF_JUMP(
			BPF_JMP | BPF_JEQ | BPF_K, watched[i], N - i, 0);
	f[N + 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K,
						SECCOMP_RET_ALLOW);
	f[N + 2] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K,
						SECCOMP_RET_USER_NOTIF);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -2;
	i = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
		    SECCOMP_FILTER_FLAG_NEW_LISTENER, &prog);
	return (int)i < 0 ? -2 : (int)i;
}

static void child(struct shared *s, void (*fn)(void))
{
	int fd;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	fd = install();
	atomic_store(&s->listener, fd);
	while (fd >= 0 && !atomic_load(&s->go))
		sched_yield();
	if (fd >= 0)
		fn();
	_exit(0);
}

static int take_listener(struct shared *s, pid_t pid)
{
	int pidfd, fd, there;

	while ((there = atomic_load(&s->listener)) == -1)
		sched_yield();
	if (there < 0)
		return -1;
	pidfd = syscall(SYS_pidfd_open, pid, 0);
	fd = syscall(SYS_pidfd_getfd, pidfd, there, 0);
	close(pidfd);
	return fd;
}

/* Answers until the child is gone. */
static bool answer(int fd, pid_t pid, int n, enum drill_at_call what)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	struct seccomp_notif req;
	struct seccomp_notif_resp resp;
	int count = 0;

	while (poll(&p, 1, -1) > 0 && !(p.revents & POLLHUP)) {
		memset(&req, 0, sizeof(req));
		if (ioctl(fd, SECCOMP_IOCTL_NOTIF_RECV, &req) < 0)
			continue;
		memset(&resp, 0, sizeof(resp));
		resp.id = req.id;
		if (++count != n)
			resp.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
		else if (what == DRILL_CALL_FAILS)
			resp.error = -EIO;
		else
			kill(pid, SIGKILL);
		ioctl(fd, SECCOMP_IOCTL_NOTIF_SEND, &resp);
	}
	return count >= n;
}

int drill_with_call(void (*fn)(void), int n, enum drill_at_call what,
		    bool *ret_reached)
{
	struct shared *s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status = -1, fd;
	pid_t pid;

	*ret_reached = false;
	if (s == MAP_FAILED)
		return -1;
	atomic_store(&s->listener, -1);
	fflush(NULL);
	pid = fork();
	if (pid == 0)
		child(s, fn);
	fd = pid < 0 ? -1 : take_listener(s, pid);
	if (fd >= 0) {
		atomic_store(&s->go, 1);
		*ret_reached = answer(fd, pid, n, what);
		close(fd);
	} else if (pid > 0) {
		kill(pid, SIGKILL);
	}
	if (pid > 0)
		waitpid(pid, &status, 0);
	munmap(s, sizeof(*s));
	return fd < 0 ? -1 : status;
}
