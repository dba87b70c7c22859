/* agent_rig.h - an agent, its controller's end, and a job, for tests
 * SPDX-License-Identifier: MIT
 *
 * The agent is drill_agent_run() in a forked child. It can be made to kill or
 * stop itself at the n-th passing of a named boundary (record, fsync, apply,
 * hold, revert).
 */
#ifndef DRILL_AGENT_RIG_H
#define DRILL_AGENT_RIG_H

#include "harness/core/frame.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct rig {
	char dir[64], state[96], trial[96], host[32], run[32];
	char cgroup[256]; /* set before rig_welcome; "" : none */
	int64_t lease_ns, renew_ns;
	const char *boundary; /* where the agent ends or stops; NULL: nowhere */
	int nth, signum;
	int fd; /* the controller's end */
	pid_t agent;
	struct drill_frame_reader reader;
	json_t *seen; /* every message of the agent */
	bool closed;  /* the agent closed its end */
	bool silent;  /* do not renew; else each wait does */
	bool welcomed;
	int64_t renewed_ms;
	json_t *before; /* snapshot */
};

/* A fresh directory below /tmp and defaults; no process yet. */
void rig_init(struct rig *g);
/* Forks the agent, waits for its hello. */
void rig_start(struct rig *g);
void rig_welcome(struct rig *g);
/* Sends the plan (@faults is taken over) and waits until it is held. */
void rig_plan(struct rig *g, json_t *faults);
/* All three at once. */
void rig_up(struct rig *g, json_t *faults);
/* Takes @msg over. */
void rig_send(struct rig *g, json_t *msg);
/* The first message since the start that has this kind and, if not NULL, this
 * fault; for "event.KIND" an event of that kind. Waits for it at most
 * @timeout_ms. Borrowed; NULL: it did not come. */
json_t *rig_wait(struct rig *g, const char *kind, const char *fault,
		 int timeout_ms);
int rig_count(struct rig *g, const char *kind, const char *fault);
/* Reads what has come, at most @ms long. */
void rig_pump(struct rig *g, int ms);
/* Waits until the agent is gone; its exit status, or -signal. */
int rig_agent_end(struct rig *g, int timeout_ms);
/* Ends what is left and removes the directory. */
void rig_down(struct rig *g);

/* A fault for a plan, {name, injector, target, at, ...}: @more is JSON text. */
json_t *rig_fault(const char *name, const char *injector, const char *more);

/* A job's process with a ring: @steps steps of about @step_us, half of it busy.
 * Dies with the caller. */
pid_t rig_job(struct rig *g, int rank, int attempt, int steps, int step_us);
/* A process that is busy for ever and dies with the caller. */
pid_t rig_busy(void);
/* Ends a process of the test and forgets it. */
void rig_end_process(pid_t pid);

/* Waits until @test says yes; false after @timeout_ms. Looks every ms. */
bool rig_until(bool (*test)(void *arg), void *arg, int timeout_ms);
/* Nothing of ours left: no file with a mark in the trial, no journal record
 * open, the process not stopped. */
bool rig_is_clean(struct rig *g, pid_t job);

int64_t rig_ms(void);

#endif
