/* hooks.h - the agent's side of a hook page: arm, see, release
 * SPDX-License-Identifier: MIT
 *
 * hook_page.h holds the format and the states. One agent writes a page at a
 * time (a second one only after the first is dead and fenced); hooks may do
 * what they like with it, so everything read here is bounded and checked.
 */
#ifndef DRILL_HOOKS_H
#define DRILL_HOOKS_H

#include "hook_page.h"

#include "harness/core/err.h"

#include <stdbool.h>

struct drill_hooks {
	struct drill_hook_page *page; /* mapped; drill_hooks_close */
	uint64_t ticks_per_s;	      /* as checked when it was opened */
};

/* Makes @path (must not exist) and maps it. */
int drill_hooks_create(struct drill_hooks *h, const char *path,
		       struct drill_err *err);

/* Maps an existing page after checking type, owner, size, magic and version.
 * -ENOENT when there is none. */
int drill_hooks_open(struct drill_hooks *h, const char *path,
		     struct drill_err *err);
void drill_hooks_close(struct drill_hooks *h);

/* "allreduce", "MPI_Iallreduce", "ncclAllReduce" -> DRILL_WORD_ALLREDUCE.
 * -EINVAL names the nearest. */
int drill_word_parse(const char *name, enum drill_word *ret,
		     struct drill_err *err);
/* "allreduce"; "none" for 0; "?" beyond. Borrowed, lives for ever. */
const char *drill_word_name(unsigned int word);
/* All words as a NULL-terminated list, for DRILL_ENUM and help. */
extern const char *const drill_word_names[];
/* "before", "inside", "after"; "?" beyond. Lives for ever. */
const char *drill_hook_where_name(unsigned int where);

/* A process of this host that said hello. */
struct drill_hello_seen {
	int slot; /* of the page */
	bool here; /* false: it has said bye (MPI_Finalize) */
	int rank, world, pid, place, attempt, thread_level;
	bool fortran;
	int64_t hello_ns;
	char build[64], host[64], library[256], transport[64];
};

/* Those that said hello, in order of their coming; returns their number, at
 * most @max. */
int drill_hooks_hellos(const struct drill_hooks *h,
		       struct drill_hello_seen *ret, int max);
/* The slot of the newest attempt's process of @rank, or -ENOENT. */
int drill_hooks_slot(const struct drill_hooks *h, int rank,
		     struct drill_err *err);

/* What to arm. Zero means the default said at each field of the entry. */
struct drill_hook_order {
	enum drill_hook_action action;
	enum drill_word word;
	enum drill_hook_where where; /* 0: inside */
	int rank;	  /* -1: every process on this page */
	int slot;	  /* -1: whichever process has that rank */
	int attempt;	  /* 0: any */
	int64_t step;	  /* 0: any */
	int64_t nth;	  /* 0: the first */
	int64_t every;	  /* DELAY, HANG: 0: only the nth */
	int64_t delay_ns;
	uint32_t ppm;	  /* 0: all */
	uint32_t seed;
	int64_t hold_max_ns; /* 0: 10 s */
};

/* Where an armed entry lies, and whose it is: goes into a journal record. */
struct drill_hook_armed {
	int entry;
	uint64_t mark;
};

/* -ENOSPC when all entries are taken. */
int drill_hooks_arm(struct drill_hooks *h, const struct drill_hook_order *o,
		    struct drill_hook_armed *ret, struct drill_err *err);

/* The same in two steps, for a record that must be durable in between: pick
 * changes nothing, arm_at is -EBUSY when the entry is no longer free. */
int drill_hooks_pick(const struct drill_hooks *h, struct drill_hook_armed *ret,
		     struct drill_err *err);
int drill_hooks_arm_at(struct drill_hooks *h, const struct drill_hook_order *o,
		       const struct drill_hook_armed *a, struct drill_err *err);

/* Is the process of @slot held before or inside a call of @word, so that this
 * very call will meet what is armed now? */
bool drill_hooks_holds(const struct drill_hooks *h, int slot,
		       enum drill_word word);

/* What is there, read back from the page. */
struct drill_hook_seen {
	enum drill_hook_state state;
	struct drill_hook_order order;
	uint32_t hits, waiting;
	int by_slot, by_rank; /* -1: nobody yet */
	int64_t at_step, at_call;
	int64_t begin_ns, end_ns, total_ns, job_ns;
	/* Peers on this page: other processes here of the same attempt that
	 * have entered that same call, those of them still in it, and all. */
	int entered, inside, peers;
};

/* -ESTALE when the entry carries another mark (then it is not ours any more),
 * -ENOENT when it is free. */
int drill_hooks_read(const struct drill_hooks *h,
		     const struct drill_hook_armed *a,
		     struct drill_hook_seen *ret, struct drill_err *err);

/* Lets what is held go on. 0 also when nothing is held any more. */
int drill_hooks_release(struct drill_hooks *h,
			const struct drill_hook_armed *a,
			struct drill_err *err);
/* Takes the entry off: held and hanging calls go on. Twice is a no-op. -ESTALE
 * as above. */
int drill_hooks_disarm(struct drill_hooks *h,
		       const struct drill_hook_armed *a,
		       struct drill_err *err);

/* Point-to-point bytes that the process of @slot sent, by peer. */
struct drill_hook_sent {
	int peer; /* rank in MPI_COMM_WORLD */
	uint64_t messages, bytes;
};

int drill_hooks_peers(const struct drill_hooks *h, int slot,
		      struct drill_hook_sent *ret, int max);

/* What the process of @slot called, by word; those that it did not are left
 * out. */
struct drill_hook_calls {
	enum drill_word word;
	uint64_t calls, bytes; /* of its own part; 0 where that is not known */
	int64_t ns; /* spent in them, less what was injected; while waits is on */
};

int drill_hooks_calls(const struct drill_hooks *h, int slot,
		      struct drill_hook_calls *ret, int max);

/* Stamps at entry and exit of every call (10 ns each) on or off. */
void drill_hooks_waits(struct drill_hooks *h, bool on);

/* Who is in which call since when. */
struct drill_hook_wait {
	int slot, rank, tid;
	enum drill_word word;
	enum drill_hook_where where;
	int64_t call;	  /* how-manieth of that word */
	int64_t since_ns; /* CLOCK_MONOTONIC_RAW; 0: not stamped */
	int entry;	  /* held by this entry; -1: by its peers */
};

int drill_hooks_in_calls(const struct drill_hooks *h,
			 struct drill_hook_wait *ret, int max);

#endif
