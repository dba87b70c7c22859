/* lab.h - what the engine knows of a lab: one struct of functions
 * SPDX-License-Identifier: MIT
 *
 * Providers: netns, local (here), mock (tests, virtual clock); libvirt, ssh,
 * slurm, sim later. All calls come from one thread. Callbacks never run inside
 * the call that registered them, only inside run().
 */
#ifndef DRILL_LAB_H
#define DRILL_LAB_H

#include "harness/core/clock.h"
#include "harness/core/err.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* What the scenario or a YAML file says; both spell the fields alike. */
struct drill_lab_spec {
	char provider[16]; /* "netns", "local", "mock"; "auto" is resolved before */
	char name[32];	   /* "" : a fresh one for this run */
	int hosts;	   /* those the job starts on */
	int spares;	   /* further ones, named after them */
	int devices;	   /* software or real devices a host */
	bool devices_named; /* their number is not the default */
	bool driver;	   /* they are those that the host's driver shows */
	int64_t watchdog_ns; /* 0: the workload's default */
	json_t *domains;   /* {"rack": {"a": ["h0","h1"]}}; may be NULL; ours */
	json_t *rates;	   /* {"usd_per_rank_hour": x, "kwh_per_rank_hour": y} */
};

struct drill_lab_host {
	char name[32]; /* "h0", "h1", ...; spares go on counting */
	bool spare;
	char cgroup[256]; /* absolute path, "" without one */
};

/* The job under test or beside it: the launcher's argv, ready to run. */
struct drill_job {
	const char *name;     /* of the workload in the scenario */
	char *const *argv;    /* ends with NULL; borrowed for the call */
	char *const *env;     /* additions "K=V"; ends with NULL; may be NULL */
	const char *log_path; /* stdout and stderr go there; NULL: ours */
};

struct drill_lab_callbacks {
	void *ctx;
	/* A frame of an agent (proto.h), after the lab checked hello. Borrowed. */
	void (*on_agent)(void *ctx, int host, json_t *msg);
	/* The agent is gone; @reason borrowed. */
	void (*on_agent_gone)(void *ctx, int host, const char *reason);
	/* A line of the launcher on its event pipe, parsed; has h_ns. Borrowed. */
	void (*on_job)(void *ctx, const char *job, json_t *event);
	/* The launcher ended: code >= 0, or -signal. */
	void (*on_job_exit)(void *ctx, const char *job, int code);
	/* A user's signal: SIGINT, SIGTERM, SIGHUP. */
	void (*on_signal)(void *ctx, int signum);
};

struct drill_lab {
	const struct drill_lab_ops *ops;
	struct drill_lab_spec spec;
	struct drill_lab_callbacks cb;
	struct drill_lab_host *hosts; /* hosts + spares, owned by the provider */
	int n_hosts;
	char dir[256];	 /* the lab's directory: trials, rings, sockets */
	char store[256]; /* the shared store: corpus and checkpoints */
	char mark[40];	 /* our mark, lies inside everything we make */
	char head[64];	 /* host name or address for the launcher's --head */
	char enter[512]; /* the remote shell for mpirun; "" : none needed */
	char data_if[16]; /* the job's network interface on every host */
	char mgmt_if[16]; /* the launcher's, also on the head */

	/* Set by the caller before up(). */
	char state[256]; /* where its undo record lies; "": drill_state_dir */
	char run[64];    /* of the record; "": the lab's name */
	bool keep;	 /* `lab up`: stays when we are gone */

	struct drill_provider *provider; /* the loop, agents and jobs */
	void *impl;
};

typedef void drill_timer_fn(void *arg);

struct drill_lab_ops {
	const char *name;
	const char *doc;
	/* Its hosts are this machine itself, which others use too. */
	bool shared;

	/* Could such a lab come up here? 0, or negative with the reason. */
	int (*probe)(const struct drill_lab_spec *spec, struct drill_err *err);
	/* Brings hosts up, journaled; fills the fields of @lab. */
	int (*up)(struct drill_lab *lab, struct drill_err *err);
	/* Takes everything down that up made, and proves it gone. */
	int (*down)(struct drill_lab *lab, struct drill_err *err);

	/* Starts the agent of host @host and says welcome (@welcome borrowed). */
	int (*agent_start)(struct drill_lab *lab, int host, json_t *welcome,
			   struct drill_err *err);
	int (*agent_send)(struct drill_lab *lab, int host, json_t *msg,
			  struct drill_err *err);
	/* Says bye, waits bounded, then ends it; on_agent_gone follows. */
	int (*agent_stop)(struct drill_lab *lab, int host, struct drill_err *err);

	/* A stamp of that host as t on our clock, with its uncertainty. */
	int64_t (*to_local)(struct drill_lab *lab, int host, int64_t h_ns,
			    int64_t *ret_u_ns);

	int (*job_start)(struct drill_lab *lab, const struct drill_job *job,
			 struct drill_err *err);
	/* TERM, then KILL of all that belongs to it; on_job_exit follows. */
	int (*job_stop)(struct drill_lab *lab, const char *job,
			struct drill_err *err);

	/* The loop. run() returns when stop() was called, 0 or negative. */
	const struct drill_clock *(*clock)(struct drill_lab *lab);
	int (*timer)(struct drill_lab *lab, int64_t after_ns, drill_timer_fn *fn,
		     void *arg); /* > 0: an id for timer_cancel */
	void (*timer_cancel)(struct drill_lab *lab, int id);
	int (*run)(struct drill_lab *lab, struct drill_err *err);
	void (*stop)(struct drill_lab *lab); /* no loop: does nothing */
};

extern const struct drill_lab_ops drill_lab_netns;
extern const struct drill_lab_ops drill_lab_local;

/* "netns", "local", or "auto": netns if it can, else local. @ret_why gets a
 * sentence that says which and what is then missing. */
const struct drill_lab_ops *drill_lab_find(const struct drill_lab_spec *spec,
					   char *ret_why, int why_size,
					   struct drill_err *err);

/* Reads a lab from YAML (scenarios/labs/), or from the same fields as JSON. */
int drill_lab_spec_read(const char *path, struct drill_lab_spec *ret,
			struct drill_err *err);
int drill_lab_spec_from_json(json_t *obj, struct drill_lab_spec *ret,
			     struct drill_err *err);
void drill_lab_spec_done(struct drill_lab_spec *spec);

#endif
