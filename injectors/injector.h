/* injector.h - the contract of every injector: one file, one const struct
 * SPDX-License-Identifier: MIT
 *
 * `link.delay` is injectors/link/link_delay.c, `drill_link_delay`, its test and
 * its page. An injector is always in the table (list.h), never compiled away.
 * It runs in the agent; the controller reads only the data of the struct.
 */
#ifndef DRILL_INJECTOR_H
#define DRILL_INJECTOR_H

#include "harness/core/clock.h"
#include "harness/core/err.h"
#include "harness/core/param.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* What kind of failure a training stack meets. */
enum drill_class {
	DRILL_CLASS_FAIL_STOP,
	DRILL_CLASS_HANG,
	DRILL_CLASS_FAIL_SLOW,
	DRILL_CLASS_CORRUPTION,
	DRILL_CLASS_FALSE_ALARM,
	DRILL_CLASS_CONTROL,
};

/* The lowest layer at which the effect is real. */
enum drill_fidelity {
	DRILL_FIDELITY_TELEMETRY,
	DRILL_FIDELITY_LIBRARY,
	DRILL_FIDELITY_DRIVER,
	DRILL_FIDELITY_PROCESS,
	DRILL_FIDELITY_KERNEL,
	DRILL_FIDELITY_HYPERVISOR,
	DRILL_FIDELITY_HARDWARE,
};

/* What a change outlives if nobody reverts it. */
enum drill_survives {
	DRILL_SURVIVES_NOTHING, /* one act: nothing is held, nothing to revert */
	DRILL_SURVIVES_HOLDER,
	DRILL_SURVIVES_PROCESS,
	DRILL_SURVIVES_BOOT,
	DRILL_SURVIVES_EXTERNAL,
};

enum drill_risk {
	DRILL_RISK_NONE,
	DRILL_RISK_CONTAINED,
	DRILL_RISK_DISRUPTIVE,
	DRILL_RISK_DESTRUCTIVE,
};

/* Bits: what a fault may be aimed at. */
enum drill_target_kind {
	DRILL_TARGET_RANK = 1 << 0,
	DRILL_TARGET_HOST = 1 << 1,
	DRILL_TARGET_DEVICE = 1 << 2,
	DRILL_TARGET_LINK = 1 << 3,
	DRILL_TARGET_DOMAIN = 1 << 4,
	DRILL_TARGET_PATH = 1 << 5,
	DRILL_TARGET_SERVICE = 1 << 6,
	DRILL_TARGET_JOB = 1 << 7,
};

/* A process that is never trusted by its pid alone: pid, start time in the
 * initial time namespace (clock ticks since boot) and boot id. */
struct drill_process {
	pid_t pid;	  /* in the agent's PID namespace */
	uint64_t start;	  /* /proc/PID/stat field 22; 0: unknown */
	char boot_id[37];
	int pidfd;	  /* -1 when not held */
};

/* One target on this host, resolved by the agent at the moment of firing. */
struct drill_target {
	enum drill_target_kind kind;
	char name[64];	/* "rank 3", "host h1" */
	int rank;	/* -1: none */
	struct drill_process process; /* of the rank; pid 0: none */
	char cgroup[256];   /* the host's cgroup of ours, "" without one */
	char hooks[256];    /* the host's hook page, "" without one */
	char devices[256];  /* the host's device page, "" without one */
	int device;	    /* index on its host; of a rank: the one it uses;
			       -1: none, or any of them */
	char dir[256];	    /* the host's directory of this trial */
};

struct drill_record; /* journal.h: one undo record, open for this fault */

/* What the hooks get. Everything is borrowed for the call. */
struct drill_act {
	const void *args;	     /* parsed by .params */
	const struct drill_target *target;
	struct drill_record *record; /* apply: put the way back, then commit */
	json_t *evidence;	     /* object: what was read back and seen */
	const struct drill_clock *clock;
	int64_t before_ns, after_ns; /* apply: bracket of the act itself, raw;
					verify may put the effect's own stamp */
	int attempt;		     /* of the job: ends with it; 0: lasts */
	/* The part of the trigger that lies in the process: there it fires by
	 * itself, at the nth such call. NULL: it is to happen now. */
	const char *call, *kernel;
	int64_t nth;
};

struct drill_injector {
	const char *name; /* "host.kill" */
	const char *doc;  /* one sentence with a full stop */
	enum drill_class class;
	enum drill_fidelity fidelity;
	enum drill_survives survives;
	enum drill_risk risk;
	unsigned int targets;		 /* bits of drill_target_kind */
	bool alone; /* two of it on one device do not compose */
	const char *const *stands_for;	 /* causes, as in failure_rates.csv */
	const char *const *needs;	 /* "cap:kill", "cgroup:freezer", "hook:mpi" */
	const char *missing;		 /* why this build cannot run it, or NULL */
	const struct drill_param *params;
	size_t args_size;

	/* What the table cannot say of the arguments, asked when a scenario is
	 * read. Optional. */
	int (*check)(const void *args, struct drill_err *err);

	/* Is it nothing but an alarm with these arguments, so that no program
	 * can fail of it? Then its layer is telemetry. Optional. */
	bool (*alarm)(const void *args);

	/* Of one that fires by itself in a process: can it fire at that very
	 * call of the driver? Where it cannot, the call is held until it is
	 * armed, and it counts from there. Optional: at any. */
	bool (*meets)(const void *args, const char *call);

	/* Could this work here, now, on this target? Changes nothing. 0 yes;
	 * negative: a skip with the reason in @err. -EAGAIN: not yet, it is
	 * asked again for some seconds (a hook that has not said hello).
	 * Required. */
	int (*probe)(const struct drill_act *act, struct drill_err *err);

	/* Records the way back (drill_record_put ..., drill_record_commit), then
	 * changes, and sets before_ns and after_ns around the act. On failure
	 * leaves nothing, or something that revert can clear. Required. */
	int (*apply)(struct drill_act *act, struct drill_err *err);

	/* Is it in force? 1 yes, 0 no, negative: cannot tell. Reads back every
	 * parameter from the system and measures the effect independently, never
	 * from memory. Run again after revert, expecting 0. @act->args is NULL
	 * when called from heal: the record then says all. Required. */
	int (*verify)(struct drill_act *act, struct drill_err *err);

	/* While in force, after each step of the target's rank: turns what a
	 * closed loop turns. @base_ns: a step before the fault. Optional. */
	void (*pace)(struct drill_act *act, int64_t base_ns, int64_t step_ns);

	/* Goes back, from the record alone. A second call is a no-op. Bounded in
	 * time. A value that is no longer ours is a stranger's: -EUCLEAN. An
	 * irreversible fault returns 0 and says so by `survives`. Required. */
	int (*revert)(const struct drill_record *record, struct drill_err *err);
};

/* All injectors in name order, ends with NULL. Borrowed, lives for ever. */
const struct drill_injector *const *drill_injectors(void);

/* NULL when unknown; then @err names the nearest. */
const struct drill_injector *drill_injector_find(const char *name,
						 struct drill_err *err);

/* Does it need @what, "hook:cuda" say? */
bool drill_injector_needs(const struct drill_injector *in, const char *what);

/* Class and layer of a fault with these arguments (JSON, checked already). */
enum drill_class drill_injector_class(const struct drill_injector *in,
				      json_t *args);
enum drill_fidelity drill_injector_fidelity(const struct drill_injector *in,
					    json_t *args);

const char *drill_class_name(enum drill_class c);
const char *drill_fidelity_name(enum drill_fidelity f);
const char *drill_survives_name(enum drill_survives s);
const char *drill_risk_name(enum drill_risk r);
const char *drill_target_kind_name(enum drill_target_kind k);

#endif
