/* drill_impl.h - what the files of the engine share
 * SPDX-License-Identifier: MIT
 *
 *   drill.c   the whole: lab up, agents, trials in turn, verdict, lab down
 *   hosts.c   agents: started, planned, asked, gone
 *   intake.c  every event on its way into events.jsonl
 *   trial.c   one trial: plan, job, story, end
 *   doing.c   what a trial does at the moment
 *   stage.c   what a story may do and wait for
 *   instant.c has an instant come
 *   marks.c   what people noticed
 *   evidence.c what the hooks in the job saw
 *   judge.c   expectations against what was measured
 *   result.c  run.json
 */
#ifndef DRILL_DRILL_IMPL_H
#define DRILL_DRILL_IMPL_H

#include "drill.h"
#include "stream.h"

#include "harness/core/event.h"

#define DRILL_MS INT64_C(1000000)
#define DRILL_S INT64_C(1000000000)
#define DRILL_ANSWER_NS (30 * DRILL_S) /* an agent answers by then */

/* What an agent has said; one a host. */
struct drill_host_state {
	bool gone, planned, ended, greeted;
	char gone_why[200];
	char said[200]; /* its last error: most often why it ended */
	int probes; /* answers awaited */
	json_t *before, *after; /* snapshots */
};

struct drill_fault_state {
	bool armed;	 /* in the plan of this trial */
	bool asked;	 /* the story fired it */
	int requested, issued, effective, reverted; /* events so far */
	int64_t effective_step; /* for durations in steps */
	int64_t effective_ns;
	bool revert_sent, dirty, irreversible;
	char last_state[16];
	int after_timer; /* at.after an instant that only we can see */
	bool after_seen;
	struct drill_trial *trial;
};

enum drill_wait_kind {
	DRILL_WAIT_NONE,
	DRILL_WAIT_TIME,
	DRILL_WAIT_INSTANT,
	DRILL_WAIT_METRIC,
};

struct drill_wait {
	enum drill_wait_kind kind;
	int64_t until_ns; /* TIME; METRIC: the last moment */
	char what[96];	  /* INSTANT */
	json_t *triple;	  /* METRIC; ours */
	char where[300];
	int timer;
};

/* What a trial does, for whoever watches it; in an attempt it only goes on. */
enum drill_doing {
	DRILL_STARTS,
	DRILL_CONNECTS,
	DRILL_RESTORES,
	DRILL_TRAINS,
	DRILL_REVERTS,
};

struct drill_trial {
	struct drill *d;
	int index;
	enum drill_role role;
	char dir[400];
	size_t first_event; /* in d->events */
	struct drill_fault_state *faults; /* n_faults */
	int64_t begin_ns;
	bool started, running; /* the job */
	enum drill_doing doing;
	int job_code, attempt;
	int64_t step;	 /* highest begun */
	int64_t first_step, ended_step; /* of this attempt; 0 none */
	bool done;	 /* attempt.end done */
	bool story_on;	 /* a story is being told */
	bool story_over;
	bool in_story;	 /* inside begin or resume */
	struct drill_wait wait;
	bool deadline, aborted, skipped, hook_needed, proxy_needed;
	bool *hello;	 /* by rank: the hook said hello */
	bool *began;	 /* by rank: it lived */
	struct drill_proxied *proxied; /* by rank */
	int looks;	 /* that agents were asked for */
	int64_t looked_ns;
	int64_t lost_records;
	int deadline_timer;
	int64_t measured_ns; /* when the trial so far was measured last */
	json_t *measured;    /* and what came out; ours */
	struct drill_stream random; /* the stream drawn from last */
	json_t *randoms;  /* {name: draws so far} */
	json_t *expects;  /* t:expect: [{metric, ..., held}] */
	enum drill_outcome outcome;
	json_t *reasons;  /* array of text */
	bool judged;	  /* outcome holds at least one finding */
};

/* What the CUDA proxies in the processes of a rank said. */
struct drill_proxied {
	bool hello;
	int64_t bypassed; /* second driver libraries seen */
	int64_t launches; /* of kernels */
};

typedef bool drill_ready_fn(struct drill *d);

struct drill {
	const struct drill_spec *spec;
	const struct drill_options *o;
	struct drill_plan_made plan;
	struct drill_lab lab;
	struct drill_result *ret;
	struct drill_event_log log;
	bool log_open, lab_up, trial_on;
	char id[64];
	int64_t start_ns; /* t_s = 0, on the lab's clock */
	struct drill_host_state *hosts;
	int n_hosts; /* of them: the lab forgets its own when it is down */
	int lock_fd;
	json_t *skips, *dirty, *trial_infos, *snapshots;
	json_t *transports; /* {"tcp": true}: found by the hooks */
	json_t *head; /* run.json as far as known while the lab is up */
	struct drill_trial *trial; /* the present one, or NULL */
	int trials_total, trial_number;
	bool no_baseline; /* one did not finish: nothing to compare with */
	double trial_s; /* how long a trial takes, as far as known */
	drill_ready_fn *ready;
	bool timed_out;
	int signals, signum;
	bool unproven; /* somebody left before all was seen reverted: at the
			  end the journals tell */
	bool failed; /* an error of ours that ends the drill */
	struct drill_err failure;
	int renew_timer, marks_timer;
	long marks_read; /* bytes of the file of marks */
	int marks_fd;	 /* of the lock that says that we run */
	double shown_s;
};

int64_t drill_now(struct drill *d);
double drill_t_s(struct drill *d, int64_t ns);

/* Runs the loop until @ready, at most @ns. 0, -ETIMEDOUT (text names @what),
 * -EINTR after a user's signal, or the drill's failure. */
int drill_await(struct drill *d, drill_ready_fn *ready, int64_t ns,
		const char *what, struct drill_err *err);
/* Ends the present await if its condition holds now. Call after a change. */
void drill_poke(struct drill *d);
/* Keeps the first failure and ends every await. */
void drill_give_up(struct drill *d, const struct drill_err *err);
void drill_say(struct drill *d, const char *phase, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Numbers changed; shown at most ten times a second. */
void drill_show(struct drill *d);

/* hosts.c */
int drill_hosts_up(struct drill *d, struct drill_err *err);
int drill_hosts_probe(struct drill *d, struct drill_err *err);
int drill_hosts_plan(struct drill *d, struct drill_trial *t,
		     struct drill_err *err);
int drill_hosts_snapshot(struct drill *d, const char *when,
			 struct drill_err *err);
int drill_hosts_end_trial(struct drill *d, struct drill_trial *t,
			  struct drill_err *err);
void drill_hosts_send(struct drill *d, json_t *msg); /* to all; takes it over */
void drill_hosts_down(struct drill *d);
void drill_on_agent(void *ctx, int host, json_t *msg);
void drill_on_agent_gone(void *ctx, int host, const char *reason);
void drill_hosts_free(struct drill *d);
/* Whether an agent on a host of this fault's targets still speaks. */
bool drill_hosts_hear(const struct drill *d, int fault);

/* intake.c: takes over @event, which has kind and, if not ours, h_ns. */
void drill_intake(struct drill *d, int host, json_t *event);
/* One of ours: {"kind": ...} stamped now. */
void drill_note(struct drill *d, json_t *event);
void drill_on_job(void *ctx, const char *job, json_t *event);

/* marks.c */
void drill_marks_begin(struct drill *d);
void drill_marks_end(struct drill *d);

/* trial.c */
int drill_trial_run(struct drill *d, enum drill_role role,
		    struct drill_err *err);
void drill_trial_event(struct drill_trial *t, json_t *event);
void drill_on_job_exit(void *ctx, const char *job, int code);
/* Adds a finding: the trial's outcome becomes the worse of both. */
void drill_trial_find(struct drill_trial *t, enum drill_outcome o,
		      const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
int drill_fault_index(const struct drill *d, const char *name);
void drill_trial_revert(struct drill_trial *t, int fault);

/* doing.c */
const char *drill_doing_name(const struct drill_trial *t);
void drill_doing_event(struct drill_trial *t, json_t *event);

/* evidence.c */
/* Something was noticed: has the agents tell who waits for whom. */
void drill_evidence_look(struct drill_trial *t, json_t *event);
/* What the hooks on a host saw in the trial, as the agent's last word. */
void drill_evidence_ended(struct drill *d, int host, json_t *msg);
/* Findings: processes that the hooks did not see, or not all of. */
void drill_evidence_find(struct drill_trial *t);
/* Why a fault of @in that was fired may not have been felt, as ": ..."; "" when
 * the hooks do not know. */
const char *drill_evidence_unfelt(const struct drill_trial *t,
				  const struct drill_injector *in);
/* trials[].hooks, from the events alone. */
void drill_evidence_put(json_t *trial, json_t *events);

/* stage.c: something happened; resumes the story when its wait is over. */
void drill_stage_tick(struct drill_trial *t);
void drill_stage_begin(struct drill_trial *t);
void drill_stage_done(struct drill_trial *t);

/* instant.c: 1 reached, 0 not yet, negative: cannot come any more. */
int drill_instant_reached(struct drill_trial *t, const char *what,
			  struct drill_err *err);

/* The present trial as measured so far, at most four times a second. Borrowed
 * until the next call; NULL when it cannot be measured yet. */
json_t *drill_trial_measured(struct drill_trial *t, bool now);

/* judge.c */
/* Fills @run: baseline, noise_floor_rank_s, trials, expectations, outcome,
 * reason. A function of its arguments alone, so that `report` does it again;
 * @infos is what the engine found in each trial beside the numbers. */
int drill_judge(const struct drill_spec *spec, json_t *infos, json_t *events,
		json_t *run, struct drill_err *err);
/* One expectation in the trial so far. */
enum drill_verdict drill_judge_now(struct drill_trial *t,
				   const struct drill_expect *e,
				   struct drill_value *ret, char *why,
				   int why_size);

/* result.c */
int drill_result_open(struct drill *d, struct drill_err *err);
json_t *drill_result_head(struct drill *d); /* while the lab is up */
int drill_result_write(struct drill *d, struct drill_err *err);

/* last_words.c: of a job that did not finish; "" when it wrote nothing. */
void drill_last_words(struct drill_trial *t, char *ret, size_t size);

#endif
