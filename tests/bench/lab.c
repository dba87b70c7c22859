/* lab.c - a lab of 16 namespace hosts: up with agents, agents alone, down
 * SPDX-License-Identifier: MIT
 *
 * Up is until the last of 16 agents has said hello and was welcomed; down is
 * from there until the lab is proven gone. The memory is that of the first
 * host's agent and keeper, by their proportional share. It runs ahead of other
 * processes where it may: what else the machine does is not the lab's cost.
 */
#include "bench.h"

#include "harness/lab/lab.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#define HOSTS 16
#define ROUNDS 7

struct round {
	struct drill_lab lab;
	int greeted, gone;
	pid_t agent;
};

static void on_agent(void *ctx, int host, json_t *msg)
{
	const char *kind = json_string_value(json_object_get(msg, "kind"));
	struct round *r = ctx;

	if (strcmp(kind, "error") == 0)
		printf("agent %d: %s\n", host,
		       json_string_value(json_object_get(msg, "reason")));
	if (strcmp(kind, "hello") != 0)
		return;
	if (host == 0)
		r->agent = (pid_t)json_integer_value(
			json_object_get(msg, "pid"));
	if (++r->greeted == HOSTS)
		r->lab.ops->stop(&r->lab);
}

static void on_agent_gone(void *ctx, int host, const char *reason)
{
	struct round *r = ctx;

	if (strcmp(reason, "it ended") != 0)
		printf("agent %d: %s\n", host, reason);
	if (++r->gone == HOSTS || r->greeted < HOSTS)
		r->lab.ops->stop(&r->lab);
}

static json_t *welcome(const struct drill_lab *lab)
{
	return json_pack("{s:s, s:s, s:s, s:I, s:I}", "run", lab->spec.name,
			 "state", lab->state, "provider", "netns", "lease_ns",
			 (json_int_t)10000000000, "renew_ns",
			 (json_int_t)2000000000);
}

static long pss_kib(pid_t pid)
{
	char path[64], line[256];
	long kib = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", (int)pid);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f))
		sscanf(line, "Pss: %ld", &kib);
	if (f)
		fclose(f);
	return kib;
}

/* The agent and what it has started: its keeper. */
static double mib_of_a_host(pid_t agent)
{
	char path[64];
	long kib = pss_kib(agent);
	int child;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)agent,
		 (int)agent);
	f = fopen(path, "r");
	while (f && fscanf(f, "%d", &child) == 1)
		kib += pss_kib(child);
	if (f)
		fclose(f);
	return (double)kib / 1024;
}

static bool fail(const char *what, const struct drill_err *err)
{
	printf("FAIL %s: %s\n", what, err->msg);
	return false;
}

static bool start(struct round *r, struct drill_err *err)
{
	json_t *w;
	int i, rc = r->lab.ops->up(&r->lab, err);

	if (rc < 0)
		return fail("a lab of 16 hosts", err);
	w = welcome(&r->lab);
	for (i = 0; i < HOSTS && rc == 0; i++)
		rc = r->lab.ops->agent_start(&r->lab, i, w, err);
	json_decref(w);
	if (rc == 0)
		rc = r->lab.ops->run(&r->lab, err);
	if (rc == 0 && r->gone)
		rc = drill_err_set(err, -ENOTCONN, "bench", "one has ended");
	return rc == 0 || fail("16 agents", err);
}

static bool end(struct round *r, struct drill_err *err)
{
	int i;

	for (i = 0; i < HOSTS; i++)
		r->lab.ops->agent_stop(&r->lab, i, err);
	r->lab.ops->run(&r->lab, err);
	return r->lab.ops->down(&r->lab, err) == 0 ||
	       fail("down", err);
}

static bool measure(const char *state, double *up, double *down, double *mib)
{
	struct round r = {.lab = {.ops = &drill_lab_netns,
				  .spec = {.hosts = HOSTS, .devices = 1},
				  .cb = {.on_agent = on_agent,
					 .on_agent_gone = on_agent_gone}}};
	struct drill_err err = {0};
	int64_t t = bench_ns();

	r.lab.cb.ctx = &r;
	snprintf(r.lab.state, sizeof(r.lab.state), "%s", state);
	if (!start(&r, &err)) {
		r.lab.ops->down(&r.lab, NULL);
		return false;
	}
	*up = (double)(bench_ns() - t) / 1e9;
	*mib = mib_of_a_host(r.agent);
	t = bench_ns();
	if (!end(&r, &err))
		return false;
	*down = (double)(bench_ns() - t) / 1e9;
	return true;
}

int main(void)
{
	struct drill_lab_spec spec = {.hosts = HOSTS};
	char state[] = "/tmp/drill-bench.XXXXXX", clean[64];
	struct sched_param ahead = {.sched_priority = 10};
	double up[ROUNDS], down[ROUNDS], mib[ROUNDS];
	struct drill_err err = {0};
	bool good = true;
	int i;

	if (drill_lab_netns.probe(&spec, &err) < 0) {
		printf("SKIP a lab of 16 hosts: %s\n", err.msg);
		return 0;
	}
	if (!mkdtemp(state))
		return 3;
	if (sched_setscheduler(0, SCHED_FIFO, &ahead) < 0)
		printf("a busy machine counts: no real-time priority\n");
	for (i = 0; i < ROUNDS && good; i++)
		good = measure(state, &up[i], &down[i], &mib[i]);
	snprintf(clean, sizeof(clean), "rm -rf %s", state);
	if (system(clean) || !good)
		return 1;
	good &= bench_verdict("lab of 16 hosts with agents up",
			      bench_median(up, ROUNDS), 0.6, "s");
	good &= bench_verdict("lab of 16 hosts down",
			      bench_median(down, ROUNDS), 0.3, "s");
	good &= bench_verdict("agent and keeper of a host",
			      bench_median(mib, ROUNDS), 6, "MiB PSS");
	return good ? 0 : 1;
}
