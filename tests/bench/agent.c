/* agent.c - what an agent and its keeper cost a host that trains
 * SPDX-License-Identifier: MIT
 *
 * Two ranks that step every 40 ms, as in the drills, and a fault that is armed
 * and never fires. Memory is the proportional share of both processes, time what
 * the scheduler gave them.
 */
#include "harness/core/frame.h"
#include "harness/core/proto.h"

#include "faultdrill/progress.h"

#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define SECONDS 10

static char dir[] = "/tmp/drill-bench-XXXXXX";
static int answers, events;

static int on_message(void *ctx, json_t *msg, struct drill_err *err)
{
	const char *kind = json_string_value(json_object_get(msg, "kind"));

	(void)ctx;
	(void)err;
	if (kind && !strcmp(kind, "event"))
		events++;
	else
		answers++;
	return 0;
}

static struct drill_frame_reader reader = { .on_message = on_message };

static void die(const char *what)
{
	printf("FAIL the agent's cost: %s\n", what);
	exit(1);
}

static pid_t start_agent(int *ret_fd)
{
	const char *build = getenv("BUILD");
	char path[256];
	int s[2];
	pid_t pid;

	snprintf(path, sizeof(path), "%s/faultdrill-agent",
		 build ? build : "build");
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, s) < 0)
		die("no socket pair");
	pid = fork();
	if (pid == 0) {
		dup2(s[1], 0);
		dup2(s[1], 1);
		execl(path, path, (char *)NULL);
		_exit(127);
	}
	close(s[1]);
	*ret_fd = s[0];
	return pid;
}

static void say(int fd, json_t *msg)
{
	size_t n;
	char *b = drill_frame_encode(msg, &n, NULL);

	if (!b || send(fd, b, n, MSG_NOSIGNAL) != (ssize_t)n)
		die("the agent is gone");
	free(b);
	json_decref(msg);
}

/* Reads until @until answers have come, or for @ms. */
static void hear(int fd, int until, int ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	int64_t end = faultdrill_now() + (int64_t)ms * 1000000;
	static char buf[65536];
	ssize_t n;

	while (answers < until && faultdrill_now() < end) {
		if (poll(&p, 1, 100) <= 0)
			continue;
		n = recv(fd, buf, sizeof(buf), 0);
		if (n <= 0 || drill_frame_feed(&reader, buf, n, NULL) < 0)
			die("the agent is gone");
	}
}

static void prepare(int fd)
{
	char trial[64];
	json_t *fault = json_loads(
		"{\"name\":\"f\",\"injector\":\"host.kill\",\"target\":"
		"{\"kind\":\"rank\",\"is\":[0]},\"at\":{\"on\":\"step\","
		"\"steps\":[1000000]}}", 0, NULL);

	hear(fd, 1, 10000);
	say(fd, json_pack("{s:s,s:s,s:s,s:s,s:s}", "kind", "welcome", "build",
			  drill_build_id(), "run", "bench", "host",
			  dir + strlen("/tmp/"), "state", dir));
	snprintf(trial, sizeof(trial), "%s/trial", dir);
	say(fd, json_pack("{s:s,s:i,s:s,s:s,s:i,s:[o]}", "kind", "plan",
			  "trial", 1, "role", "fault", "dir", trial, "ranks", 2,
			  "faults", fault));
	hear(fd, 2, 10000);
	if (answers < 2)
		die("no plan");
}

static pid_t start_job(int rank)
{
	struct faultdrill_ring *r;
	char ring[96];
	int64_t step;
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	snprintf(ring, sizeof(ring), "%s/trial/rank%d.a1.ring", dir, rank);
	setenv("FAULTDRILL_RING", ring, 1);
	r = faultdrill_open(rank, rank, 2);
	for (step = 1;; step++) {
		faultdrill_step_begin(r, step);
		faultdrill_phase_begin(r, FAULTDRILL_DATA);
		faultdrill_phase_end(r, FAULTDRILL_DATA);
		faultdrill_phase_begin(r, FAULTDRILL_COMM);
		usleep(40000);
		faultdrill_phase_end(r, FAULTDRILL_COMM);
		faultdrill_step_end(r, step, 1000, step, 1, 1.5);
	}
}

/* The number behind @key in /proc/PID/NAME, -1 when there is none. */
static int64_t number_of(int pid, const char *name, const char *key)
{
	char path[64], line[256];
	int64_t v = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	f = fopen(path, "r");
	while (f && v < 0 && fgets(line, sizeof(line), f))
		if (!strncmp(line, key, strlen(key)))
			v = strtoll(line + strlen(key), NULL, 10);
	if (f)
		fclose(f);
	return v;
}

static int64_t pss_kib(int pid)
{
	return number_of(pid, "smaps_rollup", "Pss:");
}

static int64_t cpu_ns(int pid)
{
	return number_of(pid, "schedstat", "");
}

static int keeper_of(int agent)
{
	char name[64];

	snprintf(name, sizeof(name), "task/%d/children", agent);
	return number_of(agent, name, "");
}

static bool judge(const char *what, double value, double limit,
		  const char *unit)
{
	bool ok = value < limit;

	printf("%s %s: %.3g %s, limit %.3g%s\n", ok ? "PASS" : "FAIL", what,
	       value, unit, limit, ok ? "" : ": over it");
	return ok;
}

int main(void)
{
	int fd, agent, keeper, first, job[2];
	int64_t cpu, wall;
	bool ok;
	char cmd[96];

	if (!mkdtemp(dir))
		die("no directory");
	agent = start_agent(&fd);
	prepare(fd);
	keeper = keeper_of(agent);
	job[0] = start_job(0);
	job[1] = start_job(1);
	hear(fd, 100, 1000);
	first = events;
	cpu = cpu_ns(agent) + cpu_ns(keeper);
	wall = faultdrill_now();
	for (int i = 0; i < SECONDS / 2; i++) {
		say(fd, json_pack("{s:s}", "kind", "renew"));
		hear(fd, 100, 2000);
	}
	cpu = cpu_ns(agent) + cpu_ns(keeper) - cpu;
	wall = faultdrill_now() - wall;
	printf("%.0f events a second of two ranks\n",
	       (events - first) * 1e9 / wall);
	ok = judge("agent and keeper, memory", (pss_kib(agent) +
						pss_kib(keeper)) / 1024.0, 6,
		   "MiB PSS");
	ok &= judge("agent and keeper, processor", cpu * 100.0 / wall, 0.2,
		    "% of a core");
	kill(job[0], SIGKILL);
	kill(job[1], SIGKILL);
	close(fd);
	waitpid(agent, NULL, 0);
	snprintf(cmd, sizeof(cmd), "rm -rf '%s'", dir);
	return system(cmd) || !ok;
}
