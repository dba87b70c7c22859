/* provider.h - what providers on this machine share: loop, agents, jobs
 * SPDX-License-Identifier: MIT
 *
 * netns and local differ in where a process is put and which processes may be
 * a job's; the rest of struct drill_lab_ops is the same and lies here.
 */
#ifndef DRILL_PROVIDER_H
#define DRILL_PROVIDER_H

#include "lab.h"

#include "harness/core/spawn.h"

#include <sys/types.h>

struct drill_place {
	/* Puts an agent in its host: fills @s (join, cgroup, ...). */
	void (*agent)(struct drill_lab *lab, int host, struct drill_spawn *s);
	/* The same for the launcher of @job. 0 or negative. */
	int (*job)(struct drill_lab *lab, const char *job,
		   struct drill_spawn *s, struct drill_err *err);
	/* Calls @fn for each process that might be a job's. */
	void (*each)(struct drill_lab *lab, void (*fn)(pid_t pid, void *arg),
		     void *arg);
	/* What the host's agent must know: put into welcome. */
	int (*welcome)(struct drill_lab *lab, int host, json_t *welcome);
};

int drill_provider_new(struct drill_lab *lab, const struct drill_place *place,
		       struct drill_err *err);
/* Ends agents and jobs that still run, then the loop. NULL provider: no-op. */
void drill_provider_free(struct drill_lab *lab);

/* The agent's program: $FAULTDRILL_AGENT, else beside this program, else the
 * installed one. Returns @buf. */
const char *drill_agent_path(char *buf, size_t size);

/* Members of struct drill_lab_ops. */
int drill_provider_agent_start(struct drill_lab *lab, int host,
			       json_t *welcome, struct drill_err *err);
int drill_provider_agent_send(struct drill_lab *lab, int host, json_t *msg,
			      struct drill_err *err);
int drill_provider_agent_stop(struct drill_lab *lab, int host,
			      struct drill_err *err);
int64_t drill_provider_to_local(struct drill_lab *lab, int host, int64_t h_ns,
				int64_t *ret_u_ns);
int drill_provider_job_start(struct drill_lab *lab, const struct drill_job *job,
			     struct drill_err *err);
int drill_provider_job_stop(struct drill_lab *lab, const char *job,
			    struct drill_err *err);
const struct drill_clock *drill_provider_clock(struct drill_lab *lab);
int drill_provider_timer(struct drill_lab *lab, int64_t after_ns,
			 drill_timer_fn *fn, void *arg);
void drill_provider_timer_cancel(struct drill_lab *lab, int id);
int drill_provider_run(struct drill_lab *lab, struct drill_err *err);
void drill_provider_stop(struct drill_lab *lab);

#endif
