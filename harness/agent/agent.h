/* agent.h - the process on each host that applies, verifies and reverts
 * SPDX-License-Identifier: MIT
 *
 * One thread, one libuv loop. It has its whole plan before the trial starts and
 * goes on alone; when its controller or its keeper is gone it stops injecting
 * and reverts.
 */
#ifndef DRILL_AGENT_H
#define DRILL_AGENT_H

#include "journal.h"
#include "keeper.h"
#include "plan.h"
#include "trigger.h"

#include "harness/core/frame.h"
#include "injectors/hooks/devices.h"
#include "injectors/hooks/xid_log.h"
#include "injectors/hooks/hooks.h"

#include <jansson.h>
#include <uv.h>

struct faultdrill_ring;
struct drill_line;
struct agent;

struct drill_agent_opts {
	int in, out;	  /* frames from and to the controller */
	const char *host; /* for hello, until welcome names it */
	/* For tests of crash points: called at record, fsync, apply, hold and
	 * revert. */
	void (*boundary)(const char *name);
};

/* Runs until bye, the end of @in, or a signal. Returns the exit status: 0,
 * DRILL_DIRTY, or DRILL_ERROR. */
int drill_agent_run(const struct drill_agent_opts *opts);

/* ---- what the files of the agent share ---- */

#define RANK_STEPS 9

/* A process of the job on this host, with its ring. */
struct rank {
	struct rank *next;
	struct agent *agent;
	char file[64]; /* name of the ring in the trial's directory */
	struct faultdrill_ring *ring;
	int rank, slot, attempt;
	int64_t step; /* begun last */
	int64_t step_at_ns, step_ns; /* its begin; how long the last one took */
	int64_t took_ns[RANK_STEPS]; /* the last ones, in a ring */
	unsigned int n_took;
	struct drill_process process; /* as seen here; pid 0: not found */
	bool begun, ended, broken;
	bool has_code; /* its own word on how it ended */
	int code;
	int64_t end_ns, end_u_ns;
	uint64_t lost;
	uv_poll_t *watch; /* of its pidfd */
	int patience;	  /* looks left for its exit status */
};

/* A fault aimed at one thing, which may or may not be on this host. */
struct target {
	struct fault *fault;
	int rank; /* -1: this host, or one of its devices */
	int device; /* -1: none */
	char name[64];
	struct drill_trigger trigger;
	uv_timer_t *due; /* a firing that is to come */
	int64_t due_point;
	bool missed; /* `time`: it was due and the target not there yet */
	struct hold {
		bool armed;
		struct drill_hook_armed collective;
		int64_t step;
		struct drill_device_armed call;
		int attempt;	  /* of the call; 0: any */
		int64_t since_ns; /* when we saw it held; 0: not; -1: fired */
	} hold;
	int64_t fired;	 /* firings, also those on other hosts */
	int64_t last_ns; /* of the last firing here, raw */
	int64_t tail;	 /* `log`: read up to here; -1: not opened yet */
	/* follow: in force until then, wherever the target comes up again */
	bool active;
	int64_t until_ns; /* raw; 0: no end known */
};

struct fault {
	struct drill_fault *plan; /* borrowed from the plan */
	struct target *targets;
	int n_targets;
	int64_t count;
};

enum instance_state { WAITING, BITING, IN_FORCE };

/* A fault in force, or about to be. */
struct instance {
	struct instance *next;
	struct agent *agent;
	struct target *target;
	struct drill_record *record;
	struct drill_target where;
	json_t *evidence;
	enum instance_state state;
	int attempt, slot, rank;
	bool in_call; /* its trigger lies in the process: it fires there */
	bool armed;   /* it lies there and has not been met yet */
	int64_t asked_ns; /* WAITING since: its probe says not yet */
	int64_t before_ns, after_ns;
	int64_t last_no_ns;    /* last reading without the effect */
	int64_t effective_ns;
	int64_t base_step_ns;  /* a step before it */
	int64_t end_step;      /* duration in steps: ends there; 0: none */
	int64_t lost_ns;       /* a later reading found it gone; 0: not */
	struct rank *held;     /* waits at its ring until we are in force */
	bool hook_held;	       /* waits in a collective */
	uv_timer_t *timer;
};

struct agent {
	uv_loop_t loop;
	uv_pipe_t in, out;
	uv_signal_t sigint, sigterm;
	uv_timer_t renew, tick;
	uv_poll_t keeper_gone;
	const struct drill_agent_opts *opts;
	struct drill_frame_reader reader;
	uv_prepare_t flush;
	char *ready; /* frames that go out before the loop waits again; ours */
	size_t n_ready, ready_room;
	size_t queued; /* bytes that the controller has not taken yet */

	bool welcomed, stopping, keeper_watched;
	int exit_code;
	char run[64], host[64], state[256], cgroup[256];
	char mark[128]; /* how the variable of the lab's processes begins */
	int64_t lease_ns, renew_ns;
	int64_t heard_ns; /* last word of the controller, boot time */
	int lock_fd;
	char lock_name[256];
	struct drill_journal *journal;
	struct drill_keeper keeper;
	int dirty; /* records that could not be closed */

	bool planned, started;
	bool impatient; /* a hold waits for its peers: look again soon */
	bool listens; /* some fault waits for an event */
	int tick_ms; /* between looks at the rings while a rank lives */
	int attempt;
	struct drill_plan plan;
	struct fault *faults;
	struct rank *ranks;
	struct instance *instances;
	struct drill_hooks hooks;
	bool hooked;
	struct drill_devices devices;
	bool deviced;
	struct drill_xid_log kernel_log;
	uint64_t lines; /* of the device page, taken so far */
	uint32_t health[DRILL_DEVICES]; /* as told last */
	uint32_t generation[DRILL_DEVICES]; /* a job may reset them, too */
	uv_timer_t *step_timer;
	json_t *worn; /* devices that the last trial left not as new */
	int wake_fd;
	uv_poll_t *wake;
	uv_fs_event_t *dir_watch;
};

int64_t agent_now(void); /* CLOCK_MONOTONIC_RAW */

/* wire.c: to the controller. Takes @msg over; NULL is a lack of memory. */
void agent_send(struct agent *a, json_t *msg);
void agent_flush(struct agent *a);
/* An event; takes it over, adds host and source, and shows it to the triggers. */
void agent_event(struct agent *a, json_t *event);
/* The same for an event of the job, host and source in it already. */
void agent_line(struct agent *a, struct drill_line *event);
/* Ours; the trial is lost. */
void agent_error(struct agent *a, const char *text);
uv_timer_t *agent_timer(struct agent *a, void *data);
void agent_timer_free(uv_timer_t *t);

/* ranks.c */
int ranks_begin(struct agent *a, struct drill_err *err);
void ranks_drain(struct agent *a);
void ranks_end(struct agent *a);
/* The living process of @rank here, or NULL. */
struct rank *ranks_find(struct agent *a, int rank);
/* How long its steps take: the median of the last ones; 0: none yet. */
int64_t ranks_usual_step(const struct rank *r);
/* Whose steps count for @t: its own rank, else the host's lowest; or NULL. */
struct rank *ranks_counting(struct agent *a, const struct target *t);

/* evidence.c: what the MPI hook saw here. Yours. */
json_t *evidence_hooks(struct agent *a);
/* Tells now who waits in which call since when; @why as the controller said. */
void evidence_waits(struct agent *a, const char *why);
/* devices.c */
int devices_begin(struct agent *a, struct drill_err *err);
void devices_drain(struct agent *a);
/* The device that process @pid uses; -1: not known. */
int devices_of(struct agent *a, pid_t pid);
/* The lowest rank that uses the device now, or NULL. */
struct rank *devices_user(struct agent *a, int device);
/* "reset" or "replace", as on hardware: what was in force there is over. */
int devices_renew(struct agent *a, const char *how, int device,
		  struct drill_err *err);
/* Is @fault in force on that device of this host? */
bool devices_have(struct agent *a, const char *fault, int device);
/* Who loaded a proxy, with its counters; yours. */
json_t *devices_clients(struct agent *a);
/* Processes that found no place on the page: no fault reaches them. */
int devices_refused(const struct agent *a);
/* What the last trial left on devices; NULL: nothing. Borrowed. */
json_t *devices_worn(const struct agent *a);
void devices_end(struct agent *a);

/* fire.c */
int fire_begin(struct agent *a, struct drill_err *err);
void fire_end(struct agent *a);
void fire_start(struct agent *a); /* the job starts: times count from now */
/* Does any fault here wait for an event or a line of a log? */
bool fire_listens(struct agent *a);
void fire_event(struct agent *a, json_t *event);
void fire_rank_begin(struct agent *a, struct rank *r);
void fire_step(struct agent *a, struct rank *r, int64_t step, int64_t t_ns);
void fire_poll(struct agent *a); /* holds, logs; after each drain */
void fire_manual(struct agent *a, const char *fault);
void fire_spent(struct agent *a, json_t *msg);
void fire_arm(struct agent *a, struct rank *r);
/* Before any process of the job is there. */
void fire_ready(struct agent *a);
/* Is the target here now? Ranks of a fault on another host are not ours. */
bool fire_is_here(struct agent *a, const struct target *t);

/* hold.c: each does nothing for targets with another trigger */
/* Before any process is there: it may call as soon as it is. */
void hold_ready(struct agent *a, struct target *t);
/* @r, which counts for @t, has begun. */
void hold_arm(struct agent *a, struct target *t, struct rank *r);
/* It has fired, here or elsewhere: in the next attempt again, or no more. */
void hold_again(struct agent *a, struct target *t);
/* Fires what is held. */
void hold_poll(struct agent *a, struct target *t);
/* Does its fault come only with a call that follows: held, it would never? */
bool hold_hinders(const struct target *t);
/* Its fault is in force, or has failed: it goes on. */
void hold_release(struct agent *a, struct target *t);
void hold_take_off(struct agent *a, struct target *t);

/* fault_aim.c */
/* Does its trigger lie in the process, where its device fault fires itself? */
bool agent_in_process(const struct drill_fault *f);
void fault_resolve(struct agent *a, const struct target *t,
		   struct drill_target *ret);
/* For the injector's hooks; borrows from @i. */
struct drill_act fault_act(const struct instance *i, json_t *evidence);
int fault_probe(struct agent *a, struct drill_fault *f, struct drill_err *err);

/* fault.c */
void fault_fire(struct agent *a, struct target *t, int64_t point,
		int64_t requested_ns, json_t *evidence, struct rank *held,
		bool hook_held);
void fault_step(struct agent *a, struct rank *r, int64_t step);
/* A hook has something to say: those that wait for their effect look. */
void fault_woken(struct agent *a);
/* What is in force is taken off for good. Negative: dirty. */
int fault_over(struct agent *a, struct instance *i);
/* Its target has come up again, here: a fault that follows it is put in force
 * once more, for what is left of its time. */
void fault_follow(struct agent *a, struct target *t);
/* Reverts those of @fault (NULL: all). Returns how many are dirty. */
int fault_revert(struct agent *a, const char *fault);

#endif
