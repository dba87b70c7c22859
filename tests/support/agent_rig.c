/* agent_rig.c - an agent, its controller's end, and a job, for tests
 * SPDX-License-Identifier: MIT
 */
#include "agent_rig.h"

#include "harness/agent/agent.h"
#include "harness/agent/heal.h"
#include "harness/agent/process.h"
#include "harness/core/jsonx.h"
#include "harness/core/proto.h"

#include "faultdrill/progress.h"

#include <dirent.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct rig *self; /* of the forked agent */
static struct rig *current; /* started last: goes on being served in waits */

static void must(bool ok, const char *what)
{
	if (ok)
		return;
	perror(what ? what : "rig");
	abort();
}

int64_t rig_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

void rig_init(struct rig *g)
{
	char dir[] = "/tmp/drill-test-XXXXXX";

	memset(g, 0, sizeof(*g));
	if (!mkdtemp(dir))
		abort();
	snprintf(g->dir, sizeof(g->dir), "%s", dir);
	snprintf(g->state, sizeof(g->state), "%s/state", dir);
	snprintf(g->trial, sizeof(g->trial), "%s/trial", dir);
	/* A host of its own, or tests that run at once would meet its lock. */
	snprintf(g->host, sizeof(g->host), "t%s", g->dir + strlen(g->dir) - 6);
	snprintf(g->run, sizeof(g->run), "run");
	g->lease_ns = INT64_C(1500000000);
	g->renew_ns = INT64_C(100000000);
	g->fd = -1;
	g->seen = json_array();
}

static void at_boundary(const char *name)
{
	if (self->boundary && !strcmp(name, self->boundary) &&
	    --self->nth == 0)
		kill(getpid(), self->signum);
}

static int on_message(void *ctx, json_t *msg, struct drill_err *err)
{
	struct rig *g = ctx;

	(void)err;
	json_array_append(g->seen, msg);
	return 0;
}

void rig_start(struct rig *g)
{
	struct drill_agent_opts o = { .host = "unnamed",
				      .boundary = at_boundary };
	int s[2];

	must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, s) == 0,
	     "socketpair");
	fflush(NULL);
	g->agent = fork();
	must(g->agent >= 0, "fork");
	if (g->agent == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(s[0]);
		self = g;
		o.in = s[1];
		o.out = dup(s[1]);
		_exit(drill_agent_run(&o));
	}
	close(s[1]);
	current = g;
	g->fd = s[0];
	g->reader.on_message = on_message;
	g->reader.ctx = g;
	must(rig_wait(g, "hello", NULL, 10000) != NULL, "hello");
}

void rig_send(struct rig *g, json_t *msg)
{
	size_t n;
	char *b = drill_frame_encode(msg, &n, NULL);

	must(b != NULL, "encode");
	/* A closed end may still have something to read: its last words. */
	if (send(g->fd, b, n, MSG_NOSIGNAL) < 0)
		g->silent = true;
	free(b);
	json_decref(msg);
}

void rig_welcome(struct rig *g)
{
	rig_send(g, json_pack("{s:s,s:s,s:s,s:s,s:s,s:I,s:I,s:s}", "kind",
			      "welcome", "build", drill_build_id(), "run",
			      g->run, "host", g->host, "state", g->state,
			      "lease_ns", (json_int_t)g->lease_ns, "renew_ns",
			      (json_int_t)g->renew_ns, "cgroup", g->cgroup));
	g->welcomed = true;
}

void rig_plan(struct rig *g, json_t *faults)
{
	must(mkdir(g->trial, 0755) == 0, g->trial);
	rig_send(g, json_pack("{s:s,s:i,s:s,s:s,s:i,s:o}", "kind", "plan",
			      "trial", 1, "role", "fault", "dir", g->trial,
			      "ranks", 2, "faults", faults));
	must(rig_wait(g, "planned", NULL, 10000) != NULL, "planned");
}

void rig_up(struct rig *g, json_t *faults)
{
	rig_start(g);
	rig_welcome(g);
	rig_plan(g, faults);
}

static bool matches(const json_t *m, const char *kind, const char *fault)
{
	const json_t *e = json_object_get(m, "event");

	if (!strncmp(kind, "event.", 6)) {
		if (!e || strcmp(drill_json_text(e, "kind"), kind + 6))
			return false;
		m = e;
	} else if (strcmp(drill_json_text(m, "kind"), kind)) {
		return false;
	}
	return !fault || !strcmp(drill_json_text(m, "fault"), fault);
}

void rig_pump(struct rig *g, int ms)
{
	struct pollfd p = { .fd = g->fd, .events = POLLIN };
	char buf[65536];
	ssize_t n;

	if (g->welcomed && !g->silent && rig_ms() - g->renewed_ms > 100) {
		g->renewed_ms = rig_ms();
		rig_send(g, json_pack("{s:s}", "kind", "renew"));
	}
	if (ms > 100)
		ms = 100;
	if (g->closed || poll(&p, 1, ms) <= 0)
		return;
	n = recv(g->fd, buf, sizeof(buf), 0);
	if (n <= 0 || drill_frame_feed(&g->reader, buf, n, NULL) < 0)
		g->closed = true;
}

json_t *rig_wait(struct rig *g, const char *kind, const char *fault,
		 int timeout_ms)
{
	int64_t end = rig_ms() + timeout_ms;
	size_t i = 0;

	for (;;) {
		for (; i < json_array_size(g->seen); i++)
			if (matches(json_array_get(g->seen, i), kind, fault))
				return json_array_get(g->seen, i);
		if (g->closed || rig_ms() >= end)
			return NULL;
		rig_pump(g, end - rig_ms());
	}
}

int rig_count(struct rig *g, const char *kind, const char *fault)
{
	const json_t *m;
	size_t i;
	int n = 0;

	json_array_foreach(g->seen, i, m)
		n += matches(m, kind, fault);
	return n;
}

static int reap(pid_t pid, int timeout_ms)
{
	int64_t end = rig_ms() + timeout_ms;
	int status;

	while (waitpid(pid, &status, WNOHANG) == 0) {
		if (rig_ms() >= end)
			return -1000;
		usleep(1000);
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

int rig_agent_end(struct rig *g, int timeout_ms)
{
	int rc = reap(g->agent, timeout_ms);

	if (rc != -1000)
		g->agent = 0;
	return rc;
}

static int remove_one(const char *path, const struct stat *st, int flag,
		      struct FTW *f)
{
	(void)st;
	(void)flag;
	(void)f;
	return remove(path);
}

void rig_down(struct rig *g)
{
	int i;

	if (g->agent > 0)
		rig_end_process(g->agent);
	if (current == g)
		current = NULL;
	if (g->fd >= 0)
		close(g->fd);
	drill_frame_reader_done(&g->reader);
	json_decref(g->seen);
	json_decref(g->before);
	/* A keeper may still be at work in it for a moment. */
	for (i = 0; i < 2000 && access(g->dir, F_OK) == 0; i++) {
		nftw(g->dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
		usleep(i ? 1000 : 0);
	}
}

json_t *rig_fault(const char *name, const char *injector, const char *more)
{
	json_t *f = json_loads(more, 0, NULL);

	must(f != NULL, more);
	json_object_set_new(f, "name", json_string(name));
	json_object_set_new(f, "injector", json_string(injector));
	if (!json_object_get(f, "target"))
		json_object_set_new(f, "target",
				    json_pack("{s:s,s:[i]}", "kind", "rank",
					      "is", 0));
	return f;
}

static void busy_us(int us)
{
	struct timespec t;
	int64_t end;

	clock_gettime(CLOCK_MONOTONIC, &t);
	end = (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000 + us;
	do
		clock_gettime(CLOCK_MONOTONIC, &t);
	while ((int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000 < end);
}

static pid_t child(void)
{
	pid_t parent = getpid(), pid;

	fflush(NULL);
	pid = fork();
	must(pid >= 0, "fork");
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(1);
	}
	return pid;
}

pid_t rig_job(struct rig *g, int rank, int attempt, int steps, int step_us)
{
	char ring[160], wake[160], number[16];
	struct faultdrill_ring *r;
	pid_t pid = child();
	int s;

	if (pid)
		return pid;
	snprintf(ring, sizeof(ring), "%s/rank%d.a%d.ring", g->trial, rank,
		 attempt);
	snprintf(wake, sizeof(wake), "%s/wake", g->trial);
	snprintf(number, sizeof(number), "%d", attempt);
	setenv("FAULTDRILL_RING", ring, 1);
	setenv("FAULTDRILL_WAKE", wake, 1);
	setenv("FAULTDRILL_ATTEMPT", number, 1);
	r = faultdrill_open(rank, rank, 2);
	for (s = 1; s <= steps; s++) {
		faultdrill_step_begin(r, s);
		busy_us(step_us / 2);
		usleep(step_us / 2);
		faultdrill_step_end(r, s, 100, s, 1, 1.0 / s);
	}
	faultdrill_close(r, 0);
	_exit(0);
}

pid_t rig_busy(void)
{
	pid_t pid = child();

	if (pid)
		return pid;
	for (;;)
		busy_us(1000);
}

void rig_end_process(pid_t pid)
{
	if (pid <= 0)
		return;
	kill(pid, SIGKILL);
	kill(pid, SIGCONT);
	waitpid(pid, NULL, 0);
}

bool rig_until(bool (*test)(void *arg), void *arg, int timeout_ms)
{
	int64_t end = rig_ms() + timeout_ms;

	while (!test(arg)) {
		if (rig_ms() >= end)
			return false;
		if (current && !current->closed)
			rig_pump(current, 1);
		else
			usleep(1000);
	}
	return true;
}

static bool has_mark(const char *dir)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	bool found = false;

	while (d && (e = readdir(d)))
		found |= strstr(e->d_name, ".noop") != NULL;
	if (d)
		closedir(d);
	return found;
}

static bool has_open_record(const char *state)
{
	json_t *list = NULL, *r;
	bool found = false;
	size_t i;

	if (drill_heal(state, true, &list, NULL) < 0)
		found = true;
	json_array_foreach(list, i, r)
		found |=
			!strcmp(drill_json_text(r, "state"), "open") ||
			!strcmp(drill_json_text(r, "state"), "held") ||
			!strcmp(drill_json_text(r, "state"), "dirty");
	json_decref(list);
	return found;
}

bool rig_is_clean(struct rig *g, pid_t job)
{
	char state = job > 0 ? drill_process_state(job) : 'S';

	return state != 'T' && !has_mark(g->trial) &&
	       !has_open_record(g->state);
}
