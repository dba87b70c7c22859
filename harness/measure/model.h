/* model.h - a trial as measuring sees it: slots, generations, steps, incidents
 * SPDX-License-Identifier: MIT
 *
 * Filled in this order, each from what stands before it:
 *   events.c trial.c job.c  what the events say  slot gen exec leaf mark
 *   kept.c             which steps count         gstep.complete .useful ...
 *   baseline.c allow.c what a step should take   baseline, gstep.a .h
 *   ledger.c window.c  every instant's category  piece ledger work drift
 *   cut.c              what the baseline paid    cut, paid
 *   incident.c marks.c cause.c instant.c natural.c
 *                      who caused what, when     incident, gen.cause
 *   lost.c             who pays                  incident.lost
 * Strings are borrowed from the events. Times are t_s; NAN means "not there".
 */
#ifndef DRILL_MEASURE_MODEL_H
#define DRILL_MEASURE_MODEL_H

#include "harness/core/err.h"

#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MEASURE_WHO "measure"
#define TIME_EPS 1e-9

enum cat {
	CAT_USEFUL,
	CAT_CHECKPOINT,
	CAT_DATA,
	CAT_STALLED,
	CAT_REDONE,
	CAT_RESTART,
	CAT_DEGRADED,
	CAT_IDLE,
	NCATS,
};
extern const char *const drill_cat_names[NCATS];

enum phase {
	PHASE_OTHER,
	PHASE_INIT,
	PHASE_CONNECT,
	PHASE_DATA,
	PHASE_COMPUTE,
	PHASE_COMM,
	PHASE_CHECKPOINT,
	PHASE_RESTORE,
};

/* A growing array: items, count, room. */
#define VEC(type)                                                              \
	struct {                                                               \
		type *v;                                                       \
		size_t n, room;                                                \
	}
#define VEC_TYPE(name, type)                                                   \
	struct name {                                                          \
		type *v;                                                       \
		size_t n, room;                                                \
	}

/* Makes room for one more item and zeroes it. NULL: no memory, @v still good. */
void *drill_grow(void *v, size_t n, size_t *room, size_t item);
#define VEC_PUSH(vec)                                                          \
	({                                                                     \
		void *grown_ = drill_grow((vec)->v, (vec)->n, &(vec)->room,    \
					  sizeof(*(vec)->v));                  \
		if (grown_)                                                    \
			(vec)->v = grown_;                                     \
		grown_ ? &(vec)->v[(vec)->n++] : NULL;                         \
	})

struct span {
	double from, to;
};

/* What the innermost phase of a slot was, from when to when. */
struct leaf {
	double from, to;
	enum phase phase;
};

/* One execution of a step by a slot in a generation. */
struct exec {
	double begin, end;
	double ckpt_end;   /* of the last finished checkpoint phase after end */
	double window_end; /* next begin, own end, or where the stall begins */
	double tokens;
	int64_t step;
	int gen;
	bool dead;	   /* the process died in it */
};

struct life {
	double t, u;
	bool begins;
	const char *host;
	int device; /* of that host; -1: unknown */
};

struct slot {
	VEC(struct exec) exec;
	VEC(struct leaf) leaf;
	VEC(struct life) life;
	VEC(struct span) released;
};

enum closing {
	CLOSE_OPEN, /* still running at the end of the trial */
	CLOSE_DONE,
	CLOSE_ATTEMPT,
	CLOSE_IN_JOB,
};

/* One step in one generation. */
struct gstep {
	int64_t step;
	const char *stage;
	double first_begin, done; /* done: when the last slot ended it */
	double tokens;		  /* of the slots that ended it and said so */
	double w, a, h;		  /* baseline.c: tokens ratio, allowance, band */
	double b;		  /* the baseline's step time of its stage */
	int began, ended, counted, dead;
	int discarded_by;	  /* -1 kept, a generation, or ngens: the end */
	bool complete, useful;
};

struct gen {
	double open, stop;
	double first_begin;  /* earliest step begun in it */
	double restored;     /* its last restore.done */
	double broken_from;  /* earliest b of its broken windows */
	double *slot_stop;   /* CLOSE_IN_JOB: of each slot, ours */
	int64_t restore_step, resume_step; /* -1: none */
	int64_t committed;   /* largest step committed in it, 0: none */
	VEC(struct gstep) step;
	enum closing closing;
	int attempt;
	int outage;
	bool completes;	     /* a step was completed in it */
	bool planned;	     /* in-job closing with every begun step ended */
	bool hung;	     /* open, and broken until the end of the trial */
	VEC(int) cause;	     /* the incidents that closed it, rising */
};

struct attempt {
	double from, to;
	const char *reason;
	int64_t high_before, high_after;
	int number;
};

enum mark_kind {
	MARK_REQUESTED,
	MARK_ISSUED,
	MARK_EFFECTIVE,
	MARK_REVERTED,
	MARK_SYMPTOM,
	MARK_DETECTED,
	MARK_BLAMED,
	MARK_FENCED,
	MARK_ALLOCATED,
};

/* An event that has to do with faults. */
struct mark {
	enum mark_kind kind;
	double t, u;
	const char *host, *fault, *by, *what, *blame;
	json_t *event;
	int incident; /* -1: of none */
};

enum instant {
	AT_REQUESTED,
	AT_ISSUED,
	AT_EFFECTIVE,
	AT_SYMPTOM,
	AT_DETECTED,
	AT_BLAMED,
	AT_STOPPED,
	AT_FENCED,
	AT_ALLOCATED,
	AT_RESTARTED,
	AT_CONNECTED,
	AT_RESTORED,
	AT_RESUMED,
	AT_CAUGHT_UP,
	AT_STEADY,
	AT_REVERTED,
	NINSTANTS,
};
extern const char *const drill_instant_names[NINSTANTS];

struct when {
	double t, u;
	const char *host;
};

struct incident {
	const char *fault;
	json_t *request; /* its fault.requested event, NULL when there is none */
	json_t *targets; /* names, without doubles; ours */
	json_t *devices; /* "device h1/gpu0": those that it broke, and the
			    ranks on one that it was aimed at; ours */
	struct when at[NINSTANTS];
	VEC(double) effects;
	int stop_gen;	   /* the closing it caused first, -1: none */
	int resume_gen;
	bool never_stopped; /* the job hung in it until the trial ended */
	bool natural;	    /* no fault of ours; its loss stays unattributed */
	double lost, lost_alone, lost_any;
	double by_cat[NCATS];
};

/* Why a piece of the ledger is lost, and so who pays for it. */
enum why {
	WHY_NOBODY,
	WHY_OUTAGE,   /* .key: the closing that ended or began the outage */
	WHY_ROLLBACK, /* .key: the closing whose rollback discarded it */
	WHY_DROPPED,  /* .key: the closing that dropped the slot, or -1: .at */
	WHY_OPEN,     /* incidents open at that instant */
};

struct piece {
	double from, to, at;
	int slot, key;
	enum cat cat;
	enum why why;
	bool ordinary; /* a checkpoint or an end that the baseline pays too */
};

/* A useful step, for "steady". */
struct steady_step {
	int64_t step;
	double begin, ratio;
	size_t next; /* from here on: where steady ones begin; n: nowhere */
};

/* What the baseline paid up to the end of its k-th kept step. */
struct cut_row {
	double before[NCATS], within[NCATS];
	double drift;
	int64_t step;
};

struct state_mark {
	int64_t step;
	int rank;
	const char *of, *hash;
};

/* clockrel.c: how far apart two stamps are, and how sure that is */
enum order { ORDER_SURE, ORDER_UNDECIDABLE, ORDER_REVERSED };
struct interval {
	double v, u, lo, hi;
	enum order order;
};
struct interval drill_interval(const struct when *from, const struct when *to);

enum role { ROLE_BASELINE, ROLE_NULL, ROLE_FAULT };

struct trial {
	int id, n, spares, attempts, no_progress, late, false_alarms;
	enum role role;
	bool log, begun, ended, finished, truncated, livelock;
	double j0, j1;
	json_t *begin_event;
	const char *outcome, *workload;
	int64_t committed; /* largest step of a checkpoint.committed, 0: none */

	struct slot *slot;
	VEC(struct gen) gen;
	VEC(struct attempt) attempt;
	VEC(struct mark) mark;
	VEC(struct state_mark) state;
	VEC(double) effective; /* of every fault.effective, rising */
	double last_t, u_max;

	/* what is computed */
	VEC(struct piece) piece;
	double ledger[NCATS];
	double wall, wall_rank, queued, work, fractions, drift;
	double useful_seconds; /* sum of the allowances of useful steps */
	double useful_tokens;
	VEC(struct cut_row) cut;
	double cut_tail[NCATS];
	double paid[NCATS], paid_total, paid_drift; /* the baseline's, up to work */
	bool has_paid;
	VEC(struct incident) incident;
	VEC(struct steady_step) steady; /* rising */
	double lost, lost_ledger, unattributed;
	double comm_s, useful_window_s, transfer_s;
	double b_mean;
	bool overlap;
	json_t *reasons; /* ours; empty: conclusive */
};

struct stage {
	const char *name;
	double b, sigma, h;
	double d, d_band;
	int samples;
	double spread; /* (largest - least) / b, over the baseline trials */
};

/* What baseline trials said about one step number. */
struct step_norm {
	int64_t step;
	double tokens;	  /* of all ranks, NAN unknown */
	double ckpt;	  /* C(s) */
	double ckpt_band; /* above which it counts as excess */
	const char *stage;
};

struct baseline {
	VEC(struct stage) stage;
	VEC(struct step_norm) step;
	double wall_rank, step_mean, tokens_mean;
	int trials;
	bool real; /* from baseline trials; else guessed from all trials */
};

struct measure {
	VEC(struct trial) trial;
	struct baseline base;
	double noise_floor; /* NAN: no null trials */
	double null_p;	    /* NAN: too few */
	int n_null, n_base;
};

/* trial.c: one event on its way to its trial, then all of a trial */
struct ref {
	double t;
	json_t *o;
	size_t line;
};
int drill_trial_read(struct trial *t, const struct ref *ref, size_t n,
		     struct drill_err *err);

/* events.c */
int drill_measure_read(struct measure *m, json_t *events, struct drill_err *err);
void drill_measure_done(struct measure *m);
struct gstep *drill_gstep(struct gen *g, int64_t step);
/* Adds a reason for which @t is inconclusive, once. */
void drill_reason(struct trial *t, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* kept.c */
int drill_kept(struct trial *t, struct drill_err *err);
/* The largest step completed by time @at. */
int64_t drill_high_water(const struct trial *t, double at);

/* baseline.c */
int drill_baseline(struct measure *m, struct drill_err *err);
const struct stage *drill_stage(const struct baseline *b, const char *name);
const struct step_norm *drill_norm(const struct baseline *b, int64_t step);

/* allow.c: where the steps of a log began; w, a, h of every step of @t. */
void drill_allow(struct trial *t, const struct baseline *b);

/* table.c: phases and steps across slots */
struct phase_sums {
	double ckpt, data, comm;
};
/* Time of each kind in [from, to). */
struct phase_sums drill_phases(const struct slot *s, double from, double to);
/* First leaf that ends after @t. */
size_t drill_leaf_at(const struct slot *s, double t);
/* One step of a generation with its values, one a slot that has a window. The
 * arrays may be sorted. For the last step of a job that is done, the
 * checkpoint after it counts. */
struct step_values {
	struct gen *gen;
	struct gstep *step;
	size_t index; /* in gen->step */
	double *time; /* window less checkpoint */
	double *data, *ckpt;
	size_t n;
};
int drill_each_step(struct trial *t,
		    int (*fn)(void *ctx, struct step_values *v), void *ctx,
		    struct drill_err *err);

/* ledger.c, window.c */
int drill_ledger(struct trial *t, const struct baseline *b, struct drill_err *err);
/* The range of @s's executions in generation @g: [*first, *last). */
void drill_exec_range(const struct slot *s, int g, size_t *first, size_t *last);

/* cut.c: rows are made before the ledger is, which fills them */
int drill_cut_make(struct trial *t);
struct cut_row *drill_cut_row(const struct trial *t, int64_t step);
int drill_paid(struct measure *m, struct trial *t, struct drill_err *err);

/* marks.c, cause.c, instant.c: with only what happened up to @horizon known.
 * @open_too: also by rules that ask which incidents are still open. */
void drill_marks(struct trial *t, double horizon, bool open_too);
int drill_causes(struct trial *t, double horizon, bool open_too,
		 struct drill_err *err);
void drill_instants(struct trial *t);
bool drill_caused(const struct gen *g, int incident);
bool drill_is_open(const struct incident *i, double at);
/* Does @name (of a detection or blame) mean the incident's target? */
bool drill_is_target(const struct incident *i, const char *name);
/* Or the device that was broken under it. */
bool drill_is_right(const struct incident *i, const char *name);

/* natural.c: after the incidents of our own faults */
int drill_natural(struct trial *t, struct drill_err *err);

/* incident.c */
int drill_incidents(struct trial *t, struct drill_err *err);

/* lost.c: after it, trial.drift is less the baseline's */
int drill_lost(struct trial *t, const struct baseline *b, struct drill_err *err);

#endif
