/* lab.c - a lab of 16 namespace hosts: up with agents, agents alone, down
 * SPDX-License-Identifier: MIT
 *
 * Up is until the last of 16 agents has said hello and was welcomed; down is
 * from there until the lab is proven gone. Memory (by proportional share) and
 * processor time are those of the first host's agent and keeper, the latter
 * over some seconds in which nothing is asked of them. It runs ahead of other
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
#define IDLE_NS INT64_C(6000000000)

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

static long run_us(pid_t pid)
{
	char path[64];
	long long ns = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/schedstat", (int)pid);
	f = fopen(path, "r");
	if (f && fscanf(f, "%lld", &ns) != 1)
		ns = 0;
	if (f)
		fclose(f);
	return (long)(ns / 1000);
}

/* @of the agent and what it has started: its keeper. */
static long both(pid_t agent, long (*of)(pid_t), int *ret_children)
{
	long sum = of(agent);
	char path[64];
	int child;
	FILE *f;

	*ret_children = 0;
	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)agent,
		 (int)agent);
	f = fopen(path, "r");
	while (f && fscanf(f, "%d", &child) == 1) {
		sum += of(child);
		++*ret_children;
	}
	if (f)
		fclose(f);
	return sum;
}

static void stop(void *arg)
{
	struct round *r = arg;

	r->lab.ops->stop(&r->lab);
}

static void pass(struct round *r, int64_t ns)
{
	r->lab.ops->timer(&r->lab, ns, stop, r);
	r->lab.ops->run(&r->lab, NULL);
}

/* Returns false when the agent has no keeper to be counted. */
static bool look(struct round *r, double *mib, double *percent)
{
	int children;
	long us;

	pass(r, INT64_C(500000000)); /* the keeper starts after welcome */
	*mib = (double)both(r->agent, pss_kib, &children) / 1024;
	us = both(r->agent, run_us, &children);
	pass(r, IDLE_NS);
	us = both(r->agent, run_us, &children) - us;
	*percent = (double)us * 1000 / (double)IDLE_NS * 100;
	return children == 1;
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

/* @idle: look at the idle agent too, in the first round only. */
static bool measure(const char *state, bool idle, double *up, double *down)
{
	double mib, percent;
	bool good = true;
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
	if (idle) {
		if (!look(&r, &mib, &percent))
			good = false, puts("FAIL the agent has one keeper");
		good &= bench_verdict("agent and keeper of a host", mib, 6,
				      "MiB PSS");
		good &= bench_verdict("agent and keeper, idle", percent, 0.2,
				      "% of a core");
	}
	t = bench_ns();
	if (!end(&r, &err))
		return false;
	*down = (double)(bench_ns() - t) / 1e9;
	return good;
}

int main(void)
{
	struct drill_lab_spec spec = {.hosts = HOSTS};
	char state[] = "/tmp/drill-bench.XXXXXX", clean[64];
	struct sched_param ahead = {.sched_priority = 10};
	double up[ROUNDS], down[ROUNDS];
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
		good = measure(state, i == 0, &up[i], &down[i]);
	snprintf(clean, sizeof(clean), "rm -rf %s", state);
	if (system(clean) || !good)
		return 1;
	good &= bench_verdict("lab of 16 hosts with agents up",
			      bench_median(up, ROUNDS), 0.6, "s");
	good &= bench_verdict("lab of 16 hosts down",
			      bench_median(down, ROUNDS), 0.3, "s");
	return good ? 0 : 1;
}
