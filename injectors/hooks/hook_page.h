/* hook_page.h - the page through which agent and hooks speak: one file a host
 * SPDX-License-Identifier: MIT
 *
 * TRIALDIR/<host>/hooks.page, made by the host's agent before the job starts:
 * a regular file of exactly sizeof(struct drill_hook_page) bytes, mode 0600,
 * owned by the user the job runs as, allocated in full. A hook
 * finds it by FAULTDRILL_HOOKS, checks owner, mode, size and version, and maps
 * it shared. Anything wrong: the hook says so once on stderr, stays passive,
 * and the program runs as without it. The FIFO `wake` beside the page gets one
 * byte when a hook starts to hold, so that the agent need not poll.
 *
 * Layout, in the byte order of the machine (the page never leaves it):
 *   0      header, 4096 bytes: magic, version, sizes, build id, switches
 *   4096   32 entries of 256 bytes: what is armed (written by the agent, the
 *          part behind `state` by hooks)
 *   12288  128 slots of 8192 bytes: one for each process that said hello, in
 *          order of their coming, never used twice
 *
 * An entry is written while it is FREE and published by `state`:
 *
 *   HOLD   FREE > ARMED > CLAIMED > HELD (the hook, at the exact point; it
 *          wakes the agent) > RELEASED (the agent, once the fault is in force) or
 *          EXPIRED (nobody released within hold_max_ns)
 *   DELAY  FREE > IN_FORCE > FREE: each matching call takes delay_ns longer
 *   HANG   FREE > IN_FORCE > FREE: a matching call does not return until then
 *
 * Where: `before` holds before the call counts as entered; `inside` holds after
 * it is marked entered and before the rank contributes, so that its peers are
 * in the call and cannot leave; `after` holds when the call has completed.
 * Every other process that makes the same call stamps the entry's witness in
 * its slot: when it entered, when it left.
 *
 * All times are CLOCK_MONOTONIC_RAW in ns, except those named ticks, which are
 * `ticks_per_s` of the header (TSC, read only while `waits` is set).
 */
#ifndef DRILL_HOOK_PAGE_H
#define DRILL_HOOK_PAGE_H

#include "hello.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define DRILL_HOOK_MAGIC UINT64_C(0x314b4f4f48444c46) /* "FLDHOOK1" */
#define DRILL_HOOK_VERSION 1u
#define DRILL_HOOK_ENTRIES 32
#define DRILL_HOOK_SLOTS 128
#define DRILL_HOOK_LANES 8   /* threads of one process told apart */
#define DRILL_HOOK_PEERS 128 /* peers of one process told apart */

/* What is called, whatever library calls it: one word for MPI_Allreduce,
 * MPI_Iallreduce, ncclAllReduce, c10d allreduce (table in hook_words.c). */
enum drill_word {
	DRILL_WORD_NONE,
	DRILL_WORD_BARRIER,
	DRILL_WORD_BCAST,
	DRILL_WORD_REDUCE,
	DRILL_WORD_ALLREDUCE,
	DRILL_WORD_REDUCE_SCATTER,
	DRILL_WORD_ALLGATHER,
	DRILL_WORD_GATHER,
	DRILL_WORD_SCATTER,
	DRILL_WORD_ALLTOALL,
	DRILL_WORD_SCAN,
	DRILL_WORD_NEIGHBOR,
	DRILL_WORD_SEND,
	DRILL_WORD_RECV,
	DRILL_WORD_SENDRECV,
	DRILL_WORD_WAIT,
	DRILL_WORD_TEST,
	DRILL_WORD_PROBE,
	DRILL_WORDS,
	DRILL_WORDS_ROOM = 32,
};

enum drill_hook_action {
	DRILL_HOOK_HOLD = 1,
	DRILL_HOOK_DELAY,
	DRILL_HOOK_HANG,
};

enum drill_hook_where {
	DRILL_HOOK_BEFORE = 1,
	DRILL_HOOK_INSIDE,
	DRILL_HOOK_AFTER,
};

enum drill_hook_state {
	DRILL_HOOK_FREE,
	DRILL_HOOK_ARMED,
	DRILL_HOOK_CLAIMED, /* for the moment until HELD */
	DRILL_HOOK_HELD,
	DRILL_HOOK_RELEASED,
	DRILL_HOOK_EXPIRED,
	DRILL_HOOK_IN_FORCE,
};

struct drill_hook_entry {
	/* Written by the agent while FREE. */
	_Atomic uint64_t mark; /* drawn anew for each arming: whose it is */
	uint32_t action, word, where;
	int32_t rank;	  /* in MPI_COMM_WORLD; -1: every process of the page */
	uint32_t slot;	  /* 1 + the slot it is bound to; 0: any of that rank */
	int32_t attempt;  /* 0: any */
	int64_t step;	  /* of the rank's ring; 0: any */
	int64_t nth;	  /* occurrence within the step, or since arming; from 1 */
	int64_t every;	  /* DELAY, HANG: then each every-th; 0: that one only */
	uint32_t ppm;	  /* of those, this share; 1000000: all */
	uint32_t seed;
	int64_t delay_ns;
	int64_t hold_max_ns;
	uint8_t agent_room[32];
	/* A futex: hooks wait on it, the agent wakes. */
	_Alignas(64) _Atomic uint32_t state;
	_Atomic uint32_t hits;	   /* calls that matched */
	_Atomic uint32_t waiting;  /* threads that are held or hang now */
	_Atomic uint32_t by_slot;  /* 1 + slot of the last process hit */
	_Atomic int64_t at_step;   /* its step then; 0: no ring */
	_Atomic int64_t at_call;   /* its how-manieth call of that word */
	_Atomic int64_t begin_ns;  /* last hit: held, delayed, hung since */
	_Atomic int64_t end_ns;	   /* 0: still */
	_Atomic int64_t total_ns;  /* over all hits that ended */
	_Atomic int64_t job_ns;	   /* the job's own stamp of that call, from its
				      ring (collective_since_ns); 0: none */
	uint8_t hook_room[56];
};

struct drill_hook_count {
	_Atomic uint64_t calls;
	_Atomic uint64_t bytes; /* of its own part; recv, neighbor, *w: 0 */
	_Atomic uint64_t ticks; /* spent in the calls less what an entry did to
				   them; only while waits is set */
};

struct drill_hook_lane { /* one thread's present call */
	_Atomic uint32_t word; /* 0: in none */
	_Atomic uint32_t where; /* enum drill_hook_where */
	_Atomic uint64_t call;	/* how-manieth of that word */
	_Atomic uint64_t since_ticks; /* 0: waits was not set */
	_Atomic int32_t tid;	/* as the process sees it */
	_Atomic int32_t entry;	/* 1 + the entry it is held by; 0: none */
	uint8_t room[32];
};

/* What was sent to one peer. What was received lies with the senders. Messages
 * of persistent requests are not counted. */
struct drill_hook_peer {
	_Atomic uint32_t peer; /* 1 + rank in MPI_COMM_WORLD; 0: unused */
	_Atomic uint32_t messages;
	_Atomic uint64_t bytes;
	uint8_t room[16];
};

struct drill_hook_witness {
	_Atomic uint64_t mark; /* of the entry it speaks of */
	_Atomic int64_t entered_ns;
	_Atomic int64_t left_ns; /* 0: still in; -1: non-blocking, not known */
};

struct drill_hook_slot {
	_Atomic uint32_t claimed; /* 1: somebody's, the rest follows */
	_Atomic uint32_t hello;	  /* enum drill_hello, published last */
	int32_t rank, world, pid; /* pid as the process sees it */
	int32_t place, attempt;	  /* FAULTDRILL_SLOT, FAULTDRILL_ATTEMPT; -1 */
	int32_t thread_level;	  /* MPI_THREAD_* that MPI_Init gave */
	uint32_t fortran;	  /* 1: started through the Fortran entry */
	uint32_t abi;		  /* size of MPI_Comm: 8 Open MPI, 4 MPICH */
	int64_t hello_ns;
	uint64_t base;		  /* where the page is mapped there */
	char build[64];
	char host[64];
	char library[256];	  /* MPI_Get_library_version, first line */
	char transport[64];	  /* OMPI_MCA_btl, OMPI_MCA_pml or "" */
	_Alignas(64) _Atomic int64_t step; /* as last looked at; 0: no ring */
	_Atomic uint32_t threads; /* lanes taken; may exceed LANES */
	_Atomic uint64_t other_bytes; /* to peers beyond PEERS */
	_Alignas(1024) struct drill_hook_count count[DRILL_WORDS_ROOM];
	struct drill_hook_lane lane[DRILL_HOOK_LANES];
	struct drill_hook_witness witness[DRILL_HOOK_ENTRIES];
	_Alignas(4096) struct drill_hook_peer peer[DRILL_HOOK_PEERS];
};

struct drill_hook_page {
	_Atomic uint64_t magic; /* published last */
	uint32_t version, size;
	uint32_t entries, entry_size, slots, slot_size;
	uint64_t ticks_per_s;	/* TSC; 1000000000: ticks are raw ns */
	int64_t created_ns;
	char build[64];		/* of the agent */
	_Alignas(64) _Atomic uint32_t armed; /* bits of words with an entry */
	_Atomic uint32_t taken;	  /* bits of entries that are not FREE */
	_Atomic uint32_t waits;	  /* hooks stamp entry and exit of each call */
	_Atomic uint32_t refused; /* processes that found no slot */
	_Alignas(4096) struct drill_hook_entry entry[DRILL_HOOK_ENTRIES];
	_Alignas(4096) struct drill_hook_slot slot[DRILL_HOOK_SLOTS];
};

_Static_assert(sizeof(struct drill_hook_entry) == 256, "entry");
_Static_assert(sizeof(struct drill_hook_slot) == 8192, "slot");
_Static_assert(offsetof(struct drill_hook_page, entry) == 4096, "entries");
_Static_assert(offsetof(struct drill_hook_page, slot) == 12288, "slots");

#endif
