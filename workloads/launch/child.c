/* child.c - a process that ends with us, watched through its pidfd
 * SPDX-License-Identifier: MIT
 *
 * Not uv_spawn: it knows no PDEATHSIG, and a launcher that is killed must take
 * mpirun with it.
 */
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void on_closed(uv_handle_t *h)
{
	struct launch_child *c = h->data;

	close(c->pidfd);
	c->pid = 0;
	c->on_end(c);
}

static void on_readable(uv_poll_t *h, int status, int events)
{
	struct launch_child *c = h->data;

	(void)status;
	(void)events;
	if (waitpid(c->pid, &c->status, WNOHANG) != c->pid)
		return;
	c->ended = true;
	uv_poll_stop(h);
	uv_close((uv_handle_t *)h, on_closed);
}

static _Noreturn void become(char *const *argv, char *const *env, int io,
			     pid_t parent)
{
	int null = open("/dev/null", O_RDONLY);
	sigset_t none;

	setpgid(0, 0);
	dup2(io ? io : null, 0);
	if (io)
		dup2(io, 1);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	for (; env && *env; env++)
		putenv(*env);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(125);
	execvp(argv[0], argv);
	dprintf(2, "launch: cannot run '%s': %s\n", argv[0], strerror(errno));
	_exit(127);
}

int launch_child_start(struct launch_child *c, uv_loop_t *loop,
		       char *const *argv, char *const *env,
		       struct drill_err *err)
{
	pid_t self = getpid();

	c->ended = false;
	c->pid = fork();
	if (c->pid == 0)
		become(argv, env, c->io, self);
	if (c->pid < 0) {
		c->pid = 0;
		return drill_err_errno(err, errno, "launch", "fork");
	}
	setpgid(c->pid, c->pid);
	c->pidfd = (int)syscall(SYS_pidfd_open, c->pid, 0);
	if (c->pidfd < 0) {
		kill(c->pid, SIGKILL);
		waitpid(c->pid, NULL, 0);
		c->pid = 0;
		return drill_err_errno(err, errno, "launch", "pidfd_open");
	}
	uv_poll_init(loop, &c->poll, c->pidfd);
	c->poll.data = c;
	uv_poll_start(&c->poll, UV_READABLE, on_readable);
	return 0;
}

void launch_child_kill(struct launch_child *c, int signum)
{
	if (launch_child_runs(c))
		kill(-c->pid, signum);
}

int launch_child_words(char *text, char **argv, int max)
{
	char *save, *word = strtok_r(text, " ", &save);
	int n = 0;

	for (; word && n < max; word = strtok_r(NULL, " ", &save))
		argv[n++] = word;
	return n;
}
