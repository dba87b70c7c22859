/* mock_lab.c - the virtual clock, its queue, and the functions of a lab
 * SPDX-License-Identifier: MIT
 */
#include "mock_impl.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct drill_mock drill_mock;
struct mock mock;

/* ---- time ---- */

static int64_t virtual_ns(void *ctx)
{
	(void)ctx;
	return mock.now;
}

static int64_t wall_ns(void *ctx)
{
	(void)ctx;
	return INT64_C(1700000000000000000) + mock.now +
	       drill_mock.wall_steps++ * drill_mock.wall_step_ns;
}

static const struct drill_clock virtual_clock = { virtual_ns, virtual_ns,
						  wall_ns, NULL };

int mock_in(double s, drill_timer_fn *fn, void *arg)
{
	struct mock_timer *t = calloc(1, sizeof(*t)), **p = &mock.queue;

	t->at = mock.now + (int64_t)(s * 1e9);
	t->fn = fn;
	t->arg = arg;
	t->id = ++mock.ids;
	while (*p && (*p)->at <= t->at)
		p = &(*p)->next;
	t->next = *p;
	*p = t;
	return t->id;
}

static int timer(struct drill_lab *lab, int64_t ns, drill_timer_fn *fn,
		 void *arg)
{
	(void)lab;
	return mock_in((double)ns / 1e9, fn, arg);
}

static void timer_cancel(struct drill_lab *lab, int id)
{
	struct mock_timer **p = &mock.queue, *t;

	(void)lab;
	while (*p && (*p)->id != id)
		p = &(*p)->next;
	t = *p;
	if (t) {
		*p = t->next;
		free(t);
	}
}

static int run(struct drill_lab *lab, struct drill_err *err)
{
	(void)lab;
	mock.stopped = false;
	while (!mock.stopped) {
		struct mock_timer *t = mock.queue;

		if (!t)
			return drill_err_set(err, -EDEADLK, "mock",
					     "nothing is left to wait for");
		mock.queue = t->next;
		mock.now = t->at;
		drill_mock.events++;
		t->fn(t->arg);
		free(t);
	}
	return 0;
}

static void stop(struct drill_lab *lab)
{
	(void)lab;
	mock.stopped = true;
}

static const struct drill_clock *clock_of(struct drill_lab *lab)
{
	(void)lab;
	return &virtual_clock;
}

static int64_t to_local(struct drill_lab *lab, int host, int64_t h_ns,
			int64_t *ret_u_ns)
{
	(void)lab;
	(void)host;
	*ret_u_ns = 0;
	return h_ns;
}

/* ---- up and down ---- */

static int probe(const struct drill_lab_spec *spec, struct drill_err *err)
{
	(void)spec;
	(void)err;
	return 0;
}

static void user_signal(void *arg)
{
	(void)arg;
	mock.lab->cb.on_signal(mock.lab->cb.ctx,
			       drill_mock.signum ? drill_mock.signum : SIGINT);
}

static int up(struct drill_lab *lab, struct drill_err *err)
{
	int i;

	(void)err;
	memset(&mock, 0, sizeof(mock));
	mock.lab = lab;
	mock.now = 1000000000;
	mock.up_ns = mock.now;
	drill_mock.ups++;
	lab->n_hosts = lab->spec.hosts + lab->spec.spares;
	lab->hosts = calloc((size_t)lab->n_hosts + 1, sizeof(*lab->hosts));
	for (i = 0; i < lab->n_hosts; i++) {
		snprintf(lab->hosts[i].name, sizeof(lab->hosts[i].name), "h%d",
			 i);
		lab->hosts[i].spare = i >= lab->spec.hosts;
	}
	snprintf(lab->dir, sizeof(lab->dir), "/tmp/faultdrill-mock-XXXXXX");
	if (!mkdtemp(lab->dir))
		return -errno;
	snprintf(lab->store, sizeof(lab->store), "%s", lab->dir);
	if (drill_mock.sigint_s > 0)
		mock_in(drill_mock.sigint_s, user_signal, NULL);
	if (drill_mock.sigint2_s > 0)
		mock_in(drill_mock.sigint2_s, user_signal, NULL);
	return 0;
}

static void remove_tree(const char *dir)
{
	char cmd[300];

	snprintf(cmd, sizeof(cmd), "rm -rf '%s'", dir);
	if (strncmp(dir, "/tmp/faultdrill-mock-", 21) == 0 && system(cmd) != 0)
		perror(dir);
}

static int down(struct drill_lab *lab, struct drill_err *err)
{
	struct mock_timer *t;

	(void)err;
	drill_mock.downs++;
	while ((t = mock.queue)) {
		mock.queue = t->next;
		mock_agent_drop(t);
		free(t);
	}
	mock_agents_free();
	remove_tree(lab->dir);
	free(lab->hosts);
	lab->hosts = NULL;
	return 0;
}

const struct drill_lab_ops drill_lab_mock = {
	.name = "mock",
	.doc = "A model on a virtual clock, for tests.",
	.probe = probe,
	.up = up,
	.down = down,
	.agent_start = mock_agent_start,
	.agent_send = mock_agent_send,
	.agent_stop = mock_agent_stop,
	.to_local = to_local,
	.job_start = mock_job_start,
	.job_stop = mock_job_stop,
	.clock = clock_of,
	.timer = timer,
	.timer_cancel = timer_cancel,
	.run = run,
	.stop = stop,
};
