/* provider_impl.h - the inside of the common provider, for its own files
 * SPDX-License-Identifier: MIT
 */
#ifndef DRILL_PROVIDER_IMPL_H
#define DRILL_PROVIDER_IMPL_H

#include "provider.h"

#include "harness/core/frame.h"

#include <uv.h>

struct agent;
struct job;

/* A child, the pipe that is read from it and, for an agent, one to it. It is
 * over when it is dead and nothing more can be read. */
struct child {
	uv_poll_t death; /* of the pidfd */
	uv_pipe_t out, in;
	int pidfd, status;
	pid_t pid;
	bool dead, ended; /* reaped; nothing more to read */
	int open;	  /* handles not closed yet */
	void (*taken)(struct child *c, const char *data, size_t n);
	void (*over)(struct child *c); /* the handles are closed: free it */
	char buf[16384];
};

struct timer {
	uv_timer_t uv;
	struct drill_lab *lab;
	drill_timer_fn *fn;
	void *arg;
	int id;
	struct timer *next;
};

struct drill_provider {
	struct drill_lab *lab;
	const struct drill_place *place;
	uv_loop_t loop;
	uv_signal_t sigint, sigterm, sighup;
	struct agent **agents; /* by host; NULL where none runs */
	struct job *jobs;
	struct timer *timers;
	int next_timer;
	bool quiet; /* on the way out: no callbacks any more */
};

/* Starts reading from @out (ours now), @in (or -1) is for writing, and watches
 * the process. @c->taken and @c->over are set by the caller. */
int drill_child_watch(struct drill_provider *p, struct child *c, pid_t pid,
		      int pidfd, int out, int in, struct drill_err *err);

/* For drill_provider_free: SIGKILL, without callbacks. */
void drill_agents_kill(struct drill_provider *p);
void drill_jobs_kill(struct drill_provider *p);

#endif
