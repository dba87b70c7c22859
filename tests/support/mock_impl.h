/* mock_impl.h - what the files of the mock lab share
 * SPDX-License-Identifier: MIT
 */
#ifndef DRILL_MOCK_IMPL_H
#define DRILL_MOCK_IMPL_H

#include "mock_lab.h"

#include "injectors/injector.h"

#define MOCK_FAULTS 16

struct mock_timer {
	struct mock_timer *next;
	int64_t at;
	int id;
	drill_timer_fn *fn;
	void *arg;
};

struct mock_fault {
	json_t *json; /* of the plan; ours */
	const char *name;
	const struct drill_injector *injector;
	int fired, fired_attempt; /* in all; in the attempt named */
	int last_attempt, seen;	  /* of the event it waits for */
	int gap;		  /* the next of at.poisson */
	bool in_force;
	int end_timer;
};

struct mock {
	struct drill_lab *lab;
	int64_t now, up_ns;
	int ids;
	bool stopped;
	struct mock_timer *queue;
	struct mock_fault faults[MOCK_FAULTS];
	int n_faults;
	int trial;
	/* the job */
	bool running, dead, stalled, half_done;
	int attempt, ranks, steps, checkpoint_every, step, saved, high;
	int without;	 /* attempts without progress */
	int step_timer, dog_timer, next_timer;
	double extra_s;	 /* a delay in force */
	double watchdog_s;
	char victim[32]; /* "rank 3" */
};

extern struct mock mock;

/* Calls @fn after @s virtual seconds. */
int mock_in(double s, drill_timer_fn *fn, void *arg);
void mock_cancel(int *timer);

int mock_agent_start(struct drill_lab *lab, int host, json_t *welcome,
		     struct drill_err *err);
int mock_agent_send(struct drill_lab *lab, int host, json_t *msg,
		    struct drill_err *err);
int mock_agent_stop(struct drill_lab *lab, int host, struct drill_err *err);
void mock_agents_free(void);
void mock_agent_drop(struct mock_timer *t); /* what it would have said */
int mock_job_start(struct drill_lab *lab, const struct drill_job *job,
		   struct drill_err *err);
int mock_job_stop(struct drill_lab *lab, const char *job,
		  struct drill_err *err);

/* An event of host @host's agent, stamped now; takes over @event. */
void mock_agent_event(int host, json_t *event);
/* What the job does makes agents fire. */
void mock_agents_saw(const char *kind, int64_t step);
void mock_agents_start(void); /* the first rank lives: times begin */
/* The act of a fault on the job, and its way back. */
void mock_job_hit(struct mock_fault *f);
void mock_job_heal(struct mock_fault *f);

#endif
