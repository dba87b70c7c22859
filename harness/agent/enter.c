/* enter.c - runs a command inside a namespace host, as ssh would elsewhere
 * SPDX-License-Identifier: MIT
 *
 * mpirun calls it as its remote shell. The host is found by the lab's own file
 * and believed only when our mark lies inside its mount namespace: pids and
 * namespace numbers are reused.
 */
#include "host_init.h"

#include "harness/core/err.h"
#include "harness/core/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define CANNOT 255 /* as ssh says it */

static const char who[] = "enter";

/* What the lab's file says about one host; borrowed from the file's JSON. */
struct host {
	json_t *lab;
	const char *name, *mark, *cgroup;
	pid_t pid;
};

static json_t *find_host(json_t *lab, const char *name)
{
	json_t *host;
	size_t i;

	json_array_foreach (json_object_get(lab, "hosts"), i, host) {
		const char *s =
			json_string_value(json_object_get(host, "name"));

		if (s && strcmp(s, name) == 0)
			return host;
	}
	return NULL;
}

static int read_lab(const char *dir, struct host *h, struct drill_err *err)
{
	char path[PATH_MAX];
	json_error_t why;
	json_t *host;

	snprintf(path, sizeof(path), "%s/lab.json", dir);
	h->lab = json_load_file(path, JSON_REJECT_DUPLICATES, &why);
	if (!h->lab)
		return drill_err_set(err, -ENOENT, who, "no lab in '%s': %s",
				     dir, why.text);
	host = find_host(h->lab, h->name);
	if (!host)
		return drill_err_set(err, -ENOENT, who, "no host '%s' in '%s'",
				     h->name, dir);
	h->mark = json_string_value(json_object_get(h->lab, "mark"));
	h->cgroup = json_string_value(json_object_get(host, "cgroup"));
	h->pid = (pid_t)json_integer_value(json_object_get(host, "pid"));
	if (!h->mark || !h->cgroup || h->pid <= 0)
		return drill_err_set(err, -EINVAL, who,
				     "'%s' says too little about host '%s'",
				     path, h->name);
	return 0;
}

/* Through /proc/PID/root: the mark is read where it lies, nothing is entered
 * yet. The pidfd was opened before, so it is the same process. */
static int check_mark(const char *dir, const struct host *h,
		      struct drill_err *err)
{
	char path[PATH_MAX], want[160], got[160] = "";
	ssize_t n = -1;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/root%s/" DRILL_INSIDE "/mark",
		 (int)h->pid, dir);
	snprintf(want, sizeof(want), "%s %s\n", h->mark, h->name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, got, sizeof(got) - 1);
		close(fd);
	}
	if (n > 0 && strcmp(got, want) == 0)
		return 0;
	return drill_err_set(err, -ESRCH, who,
			     "host '%s' is down: process %d is not of this lab",
			     h->name, (int)h->pid);
}

/* ssh's way: the words with blanks between, for a shell to read. */
static char *join_words(char **words)
{
	size_t len = 1;
	char *text;
	int i;

	for (i = 0; words[i]; i++)
		len += strlen(words[i]) + 1;
	text = calloc(1, len);
	for (i = 0; text && words[i]; i++) {
		if (i)
			strcat(text, " ");
		strcat(text, words[i]);
	}
	return text;
}

static void set_environment(const char *dir, const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s/tmp", dir, name);
	setenv("FAULTDRILL_ENTERED", name, 1);
	setenv("TMPDIR", path, 1);
}

/* The pidfd came first and the mark was read after: it is this lab's host. */
static int go_in(const char *dir, const struct host *h, struct drill_err *err)
{
	int fd = drill_pidfd_open(h->pid), rc;
	char cwd[PATH_MAX], *here = getcwd(cwd, sizeof(cwd));

	if (fd < 0)
		return drill_err_set(err, -ESRCH, who, "host '%s' is down",
				     h->name);
	rc = check_mark(dir, h, err);
	if (rc == 0 && setns(fd, CLONE_NEWNET | CLONE_NEWNS | CLONE_NEWUTS |
					 CLONE_NEWPID) < 0)
		rc = drill_err_errno(err, errno, who,
				     "cannot enter host '%s'", h->name);
	close(fd);
	if (rc == 0 && here && chdir(here) < 0)
		rc = chdir("/");
	return rc;
}

static int start(const struct host *h, char **words, pid_t *ret_pid,
		 int *ret_pidfd, struct drill_err *err)
{
	char sh[] = "/bin/sh", c[] = "-c", *text = join_words(words);
	char *shell = getenv("SHELL");
	char *command[] = {sh, c, text, NULL};
	char *interactive[] = {shell && *shell ? shell : sh, NULL};
	struct drill_spawn s;
	int i, rc;

	drill_spawn_init(&s);
	s.argv = words[0] ? command : interactive;
	for (i = 0; i < 3; i++)
		s.fd[i] = i;
	s.cgroup = h->cgroup;
	s.deathsig = SIGKILL;
	rc = text ? drill_spawn(&s, ret_pid, ret_pidfd, err)
		  : drill_err_set(err, -ENOMEM, who, "no memory");
	free(text);
	return rc;
}

/* What a terminal sends it sends to the command too. */
static void pass_on(int signals, int pidfd)
{
	struct signalfd_siginfo info;

	while (read(signals, &info, sizeof(info)) == (ssize_t)sizeof(info))
		if (info.ssi_code != SI_KERNEL)
			drill_pidfd_kill(pidfd, (int)info.ssi_signo);
}

static int wait_for(int signals, int pidfd, pid_t pid)
{
	struct pollfd p[2] = {{.fd = pidfd, .events = POLLIN},
			      {.fd = signals, .events = POLLIN}};
	int status = 0;

	while (!p[0].revents) {
		if (poll(p, 2, -1) < 0 && errno != EINTR)
			break;
		if (p[1].revents)
			pass_on(signals, pidfd);
	}
	if (waitpid(pid, &status, 0) < 0)
		return CANNOT;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status)
				   : WEXITSTATUS(status);
}

/* Blocked before the command starts, so that none is lost. */
static int take_signals(void)
{
	static const int all[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1,
				  SIGUSR2, SIGCONT, SIGWINCH};
	sigset_t set;
	size_t i;

	sigemptyset(&set);
	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		sigaddset(&set, all[i]);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

static int enter(const char *dir, struct host *h, char **words,
		 struct drill_err *err)
{
	int signals = take_signals(), pidfd, rc;
	pid_t pid;

	rc = read_lab(dir, h, err);
	if (rc == 0)
		rc = go_in(dir, h, err);
	if (rc < 0)
		return CANNOT;
	set_environment(dir, h->name);
	if (start(h, words, &pid, &pidfd, err) < 0)
		return CANNOT;
	return wait_for(signals, pidfd, pid);
}

int drill_enter_main(int argc, char **argv)
{
	struct host h = {.name = argc > 2 ? argv[2] : ""};
	struct drill_err err = {0};
	char text[600];
	int rc;

	if (argc < 3) {
		fputs("usage: faultdrill-agent enter LABDIR HOST [COMMAND...]\n",
		      stderr);
		return 2;
	}
	rc = enter(argv[1], &h, argv + 3, &err);
	if (err.code)
		fprintf(stderr, "%s\n",
			drill_err_text(&err, text, sizeof(text)));
	/* Not by exit(): what a sanitizer starts there would be born in the
	 * host's PID namespace and wait for ever. */
	_exit(rc);
}
