/* job.h - the job as the launcher sees it: hosts, ranks, attempts
 * SPDX-License-Identifier: MIT
 *
 *   launch.c   command line, signals, exit status
 *   job.c      one attempt after the other: run, settle, stop, fence, go on
 *   watch.c    what counts as trouble while it runs
 *   crew.c     the TCP side: a connection a rank starter
 *   mpirun.c   how the ranks are started
 *   watcher.c  a watcher of the devices on each host; health.c what follows
 *              from its word, policy.c what the word means
 *   fence.c    proof that an attempt is gone from every host
 *   recover.c  where the next attempt runs
 *   tell.c     events for the controller, lines for people
 */
#ifndef LAUNCH_JOB_H
#define LAUNCH_JOB_H

#include "blame.h"
#include "child.h"
#include "options.h"
#include "wire.h"

#include <jansson.h>
#include <uv.h>

#define LAUNCH_MS INT64_C(1000000)

struct launch_host {
	char name[64];
	bool used; /* ran ranks of some attempt */
	bool lost; /* could not be fenced: not used until it can be */
	bool bad;  /* a device of it is: not used any more */
	char bad_why[128];
	int bad_starts; /* in a row: its device failed before any step */
	struct launch_health *health; /* health.h; NULL: not watched */
	struct launch_child fence;
	bool asked, fenced; /* in the fence under way */
	struct launch_job *job;
};

struct launch_rank {
	struct launch_report report;
	struct crew_member *member; /* its connection; NULL: none */
	int64_t run_ns, run_at_ns;  /* early in the collective it is in */
	bool mute;		    /* did not answer when it was asked */
};

enum launch_phase {
	LAUNCH_IDLE,
	LAUNCH_RUNNING,
	LAUNCH_SETTLING, /* trouble: wait for the evidence */
	LAUNCH_STOPPING,
	LAUNCH_FENCING,
	LAUNCH_MENDING, /* devices are reset */
	LAUNCH_WAITING, /* for a lost host to come back */
	LAUNCH_OVER,
};

struct launch_recovery; /* recover.h */

struct launch_job {
	const struct launch_options *o;
	const struct launch_recovery *recovery;
	uv_loop_t loop;
	uv_tcp_t server;
	uv_timer_t tick;
	uv_signal_t term, intr;
	int port;
	char starter[4096];	     /* path of launch-rank */
	char id[LAUNCH_TOKEN + 1];    /* marks all processes of the job */
	char token[LAUNCH_TOKEN + 1]; /* of this attempt */

	struct launch_host *hosts; /* those of the job, then the spares */
	int n_hosts;
	int *place; /* place[k]: host of ranks k * ppn and following */
	int n_places;
	struct launch_rank *ranks;
	struct launch_report *table; /* for launch_blame() */
	int n_ranks;

	struct launch_child mpirun;
	int mpirun_status;
	bool mpirun_asked; /* to end */
	bool blamed;	   /* somebody was, in this attempt */
	enum launch_phase phase;
	int attempt;
	int64_t begun_ns, phase_ns, asked_ns, ranks_end_ns, mpirun_end_ns;
	int64_t wait_ns; /* since when a host is waited for; 0: not */
	const char *reason; /* for attempt.end: done, failed, timeout, ... */
	int64_t high_water;
	int no_progress;
	int stop_signal; /* 0, or what a user sent */
	int status;	 /* of the launcher's exit */
	int events_fd;	 /* -1: nobody listens */
};

/* job.c */
int launch_job_run(struct launch_job *j, struct drill_err *err);
/* The first trouble of an attempt: says so and begins to settle. @blame may be
 * NULL; @reason is for attempt.end, @detail for people. */
void launch_job_trouble(struct launch_job *j, const char *by, const char *what,
			const char *blame, const char *reason,
			const char *detail);
/* The same when it has been told already. */
void launch_job_settle(struct launch_job *j, const char *reason);
/* A user's signal. */
void launch_job_stop(struct launch_job *j, int signum);
void launch_job_fenced(struct launch_job *j);
void launch_job_ended(struct launch_job *j);
int64_t launch_now(void);

/* watch.c */
void launch_watch(struct launch_job *j);
void launch_watch_exit(struct launch_job *j, int rank);

/* crew.c */
int launch_crew_open(struct launch_job *j, struct drill_err *err);
/* To all connected starters. */
void launch_crew_say(struct launch_job *j, const char *line);
void launch_crew_close(struct launch_job *j);
/* Closes strangers and all else that the loop holds, and the loop. */
void launch_crew_end(struct launch_job *j);

/* mpirun.c: starts the attempt; launch_job_ended() follows. */
int launch_mpirun(struct launch_job *j, struct drill_err *err);

/* fence.c: on all hosts that ran an attempt; launch_job_fenced() follows, and
 * then .lost says of each host whether it may be used. */
void launch_fence(struct launch_job *j);
void launch_fence_tick(struct launch_job *j);

/* tell.c: takes @event; kind, attempt and h_ns are added. */
void launch_tell(struct launch_job *j, const char *kind, json_t *event);
/* Our own failure, for both. */
void launch_error(struct launch_job *j, const struct drill_err *err);
void launch_say(const struct launch_job *j, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static inline const char *launch_host_of(const struct launch_job *j, int rank)
{
	return j->hosts[j->place[rank / j->o->ppn]].name;
}

#endif
