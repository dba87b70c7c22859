/* keeper.c - the small second process that reverts when the agent cannot
 * SPDX-License-Identifier: MIT
 */
#include "keeper.h"

#include "heal.h"
#include "journal_file.h"
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char who[] = "keeper";

#define KILL_NS INT64_C(2000000000)

struct guard {
	struct drill_journal *j;
	struct drill_process agent;
	int sock;
	struct {
		int slot, fd; /* fd -1: free */
		char name[16];
	} held[DRILL_SLOTS * DRILL_HELD];
};

/* The descriptors that were given for a record go back to it. */
static void hand_over(struct guard *g, struct drill_record *r)
{
	unsigned int i;

	for (i = 0; i < sizeof(g->held) / sizeof(g->held[0]); i++) {
		if (g->held[i].fd < 0 || g->held[i].slot != r->slot ||
		    r->n_held == DRILL_HELD)
			continue;
		memcpy(r->held[r->n_held].name, g->held[i].name,
		       sizeof(g->held[i].name));
		r->held[r->n_held++].fd = g->held[i].fd;
		g->held[i].fd = -1;
	}
}

static void mark_all_dirty(struct guard *g, const char *reason)
{
	int i;

	for (i = 1; i < DRILL_SLOTS; i++)
		if (g->j->slot[i] && g->j->slot[i]->state == DRILL_RECORD_OPEN)
			drill_record_end(g->j->slot[i], DRILL_RECORD_DIRTY,
					 reason, NULL);
}

/* The holder cannot die: fence it, say so on disk, and wait for its end as long
 * as it takes; only then may anything be reverted. */
static void wait_for_undead(struct guard *g, const char *why)
{
	struct pollfd p = { .fd = g->agent.pidfd, .events = POLLIN };

	drill_journal_fence(g->j);
	if (drill_journal_read(g->j, NULL) == 0)
		mark_all_dirty(g, why);
	while (poll(&p, 1, -1) < 0 && errno == EINTR)
		;
}

/* Every record that is not closed, dirty ones too: another try harms none. */
static void revert_all(struct guard *g)
{
	struct drill_record *r;
	int i;

	for (i = 1; i < DRILL_SLOTS; i++) {
		r = g->j->slot[i];
		if (!r || r->state == DRILL_RECORD_CLOSED)
			continue;
		hand_over(g, r);
		drill_revert_record(r, NULL);
	}
}

static void take_over(struct guard *g)
{
	struct drill_err err = { 0 };
	bool anything;

	if (drill_process_kill(&g->agent, KILL_NS, &err) < 0)
		wait_for_undead(g, err.msg);
	if (drill_journal_lock(g->j, KILL_NS, NULL) < 0)
		return;
	drill_journal_fence(g->j);
	if (drill_journal_read(g->j, NULL) < 0)
		return;
	anything = drill_journal_has_work(g->j);
	revert_all(g);
	/* Closed records stay for heal to tell; an empty journal goes. */
	if (!anything)
		drill_journal_remove(g->j, NULL);
}

static void keep_fd(struct guard *g, const struct drill_hold_message *m, int fd)
{
	unsigned int i;

	for (i = 0; i < sizeof(g->held) / sizeof(g->held[0]); i++) {
		/* A slot is used again: what an ended record gave can go. */
		if (g->held[i].fd >= 0 && g->held[i].slot == m->slot &&
		    !strncmp(g->held[i].name, m->name, sizeof(m->name))) {
			close(g->held[i].fd);
			g->held[i].fd = -1;
		}
		if (g->held[i].fd < 0) {
			g->held[i].fd = fd;
			g->held[i].slot = m->slot;
			memcpy(g->held[i].name, m->name, sizeof(m->name));
			return;
		}
	}
	close(fd);
}

/* 1: the holder ends in peace; 0 go on; -1 the other end is closed. */
static int hear(struct guard *g)
{
	struct drill_hold_message m;
	union {
		struct cmsghdr h;
		char room[CMSG_SPACE(sizeof(int))];
	} c;
	struct iovec v = { &m, sizeof(m) };
	struct msghdr h = { .msg_iov = &v,
			    .msg_iovlen = 1,
			    .msg_control = &c,
			    .msg_controllen = sizeof(c) };
	struct cmsghdr *got;
	ssize_t n = recvmsg(g->sock, &h, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	int fd;

	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -1;
	if (n != sizeof(m))
		return -1;
	if (m.slot < 0)
		return 1;
	got = CMSG_FIRSTHDR(&h);
	if (got && got->cmsg_type == SCM_RIGHTS) {
		memcpy(&fd, CMSG_DATA(got), sizeof(fd));
		keep_fd(g, &m, fd);
	}
	return 0;
}

static int ms_left(const struct guard *g)
{
	int64_t left = drill_lease_left(g->j->lease);

	return left <= 0 ? 0 : left / 1000000 + 1;
}

static void watch(struct guard *g)
{
	struct pollfd p[2] = {
		{ .fd = g->agent.pidfd, .events = POLLIN },
		{ .fd = g->sock, .events = POLLIN },
	};
	int rc;

	for (;;) {
		if (poll(p, 2, ms_left(g)) < 0 && errno != EINTR)
			return;
		/* Descriptors first: the last one may be of a dead agent. */
		rc = p[1].revents ? hear(g) : 0;
		if (rc > 0)
			return;
		if (rc < 0)
			p[1].fd = -1;
		else if (p[1].revents)
			continue;
		if (p[0].revents || drill_lease_left(g->j->lease) <= 0) {
			take_over(g);
			return;
		}
	}
}

/* Nothing of the agent's stays open here: its pipes must end with it. */
static void let_go(int a, int b, int c)
{
	int null = open("/dev/null", O_RDWR), i, top;

	for (i = 0; i < 3; i++)
		dup2(null, i);
	top = a > b ? a : b;
	top = top > c ? top : c;
	for (i = 3; i < top; i++)
		if (i != a && i != b && i != c)
			close(i);
	syscall(SYS_close_range, top < 2 ? 3 : top + 1, ~0U, 0);
}

/* Another agent's heal looks whether a holder lives by taking this very lock
 * for a moment: that is no keeper. */
static int lock_patiently(struct drill_journal *j, struct drill_err *err)
{
	struct timespec pause = { .tv_nsec = 2000000 };
	int i;

	for (i = 0; i < 1000; i++) {
		if (drill_journal_lock_keeper(j, NULL) != -EBUSY)
			break;
		nanosleep(&pause, NULL);
	}
	return drill_journal_lock_keeper(j, err);
}

static void keeper_main(const char *path, struct drill_process agent, int sock,
			int lock_fd)
{
	static const int deaf[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE,
				    SIGUSR1, SIGUSR2 };
	static struct guard g;
	struct drill_err err = { 0 };
	sigset_t none;
	unsigned int i;

	setsid();
	for (i = 0; i < sizeof(deaf) / sizeof(deaf[0]); i++)
		signal(deaf[i], SIG_IGN);
	signal(SIGCHLD, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	prctl(PR_SET_NAME, "faultdrill-keep");
	let_go(agent.pidfd, sock, lock_fd);
	for (i = 0; i < sizeof(g.held) / sizeof(g.held[0]); i++)
		g.held[i].fd = -1;
	g.agent = agent;
	g.sock = sock;
	if (drill_journal_attach(path, &g.j, &err) == 0 &&
	    lock_patiently(g.j, &err) == 0) {
		g.j->lease->keeper_pid = getpid();
		g.j->lease->keeper_start = drill_process_start(getpid());
	}
	if (send(sock, &err, sizeof(err), MSG_NOSIGNAL) == sizeof(err) &&
	    !err.code)
		watch(&g);
	_exit(0);
}

/* Its first and only message: on guard, or why not. */
static int wait_ready(int sock, struct drill_err *err)
{
	struct pollfd p = { .fd = sock, .events = POLLIN };
	struct drill_err from = { 0 };

	if (poll(&p, 1, 5000) <= 0 || recv(sock, &from, sizeof(from), 0) !=
					      sizeof(from))
		return drill_err_set(err, -ECHILD, who, "did not start");
	return from.code ? drill_err_set(err, from.code, who, "%s", from.msg)
			 : 0;
}

int drill_keeper_start(struct drill_journal *j, int lock_fd,
		       struct drill_keeper *ret, struct drill_err *err)
{
	struct drill_process self;
	int s[2], rc;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, s) < 0)
		return drill_err_errno(err, errno, who, "no socket pair");
	rc = drill_process_open(getpid(), &self, err);
	if (rc < 0)
		return rc;
	fflush(NULL);
	ret->pid = fork();
	if (ret->pid == 0)
		keeper_main(j->path, self, s[1], lock_fd);
	close(s[1]);
	close(self.pidfd);
	if (ret->pid < 0)
		return drill_err_errno(err, errno, who, "cannot fork");
	ret->sock = s[0];
	ret->pidfd = syscall(SYS_pidfd_open, ret->pid, 0);
	rc = wait_ready(s[0], err);
	if (rc == 0)
		j->hold_fd = s[0];
	return rc;
}

void drill_keeper_stop(struct drill_journal *j, struct drill_keeper *k)
{
	struct drill_hold_message bye = { .slot = -1 };
	struct pollfd p = { .fd = k->pidfd, .events = POLLIN };

	if (k->pid <= 0)
		return;
	j->hold_fd = -1;
	if (send(k->sock, &bye, sizeof(bye), MSG_NOSIGNAL) == sizeof(bye))
		poll(&p, 1, 2000);
	close(k->sock);
	if (k->pidfd >= 0)
		close(k->pidfd);
	waitpid(k->pid, NULL, WNOHANG);
	memset(k, 0, sizeof(*k));
}
