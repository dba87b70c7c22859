/* hook.h - what every hook does around a call: count, stamp, hold, delay, hang
 * SPDX-License-Identifier: MIT
 *
 * Knows no library: the MPI layer (mpi_*.c) and its twins to come bracket each
 * call with hook_enter and hook_leave. Armed and idle that is a handful of
 * relaxed loads and one relaxed add; no lock, no system call, no clock unless
 * `waits` is set. Everything is hidden inside the shared object.
 */
#ifndef DRILL_HOOK_H
#define DRILL_HOOK_H

#include "hook_page.h"
#include "hook_ticks.h"

#include <stdbool.h>

#pragma GCC visibility push(hidden)

struct hook {
	struct drill_hook_page *page;
	struct drill_hook_slot *me; /* NULL: passive, calls go straight through */
	uint64_t ticks_per_s;
	int slot;
	bool threaded; /* several threads may call at once */
};

extern struct hook drill_hook;

/* Built with -ftls-model=initial-exec: an object that is there from the start
 * may use the static TLS block, one instruction instead of a call. */
extern __thread struct drill_hook_lane *hook_lane;

struct hook_call {
	struct drill_hook_slot *me;
	uint64_t call, begin;
	uint32_t word;
	uint32_t slow; /* an entry concerns this call: what follows is set */
	uint32_t considered, fire, done, witness; /* bits of entries */
	uint64_t mark[DRILL_HOOK_ENTRIES];
};

struct hook_hello {
	int rank, world, thread_level;
	bool fortran, threaded;
	unsigned int abi;
	const char *library;
};

/* Maps the page that FAULTDRILL_HOOKS names and says hello. Without the
 * variable nothing happens; a bad page is named on stderr and nothing happens
 * either. Only the first call counts. */
void drill_hook_hello(const struct hook_hello *hello);
/* Says bye: from now on passive. */
void drill_hook_bye(void);

/* The calling thread's lane, taken at its first call. */
struct drill_hook_lane *drill_hook_lane_take(void);

/* The slow ways: an entry names the word of this call. */
void drill_hook_before(struct hook_call *c);
void drill_hook_inside(struct hook_call *c);
void drill_hook_after(struct hook_call *c);
/* The step the rank is in, from its ring; 0: no ring. */
int64_t drill_hook_step(void);
/* The job's stamp of the collective it is in, from its ring; 0: none. */
int64_t drill_hook_job_ns(void);
void drill_hook_wake_agent(void);

#pragma GCC visibility pop

#define hook_load(p) atomic_load_explicit((p), memory_order_relaxed)
#define hook_store(p, v) atomic_store_explicit((p), (v), memory_order_relaxed)
#define hook_add(p, v) atomic_fetch_add_explicit((p), (v), memory_order_relaxed)

/* Counts. While only one thread calls at a time no lock prefix is paid. */
static inline uint64_t hook_count(_Atomic uint64_t *p, uint64_t v)
{
	uint64_t before;

	if (drill_hook.threaded)
		return hook_add(p, v);
	before = hook_load(p);
	hook_store(p, before + v);
	return before;
}

static inline void hook_enter(struct hook_call *c, uint32_t word)
{
	struct drill_hook_lane *lane;

	c->me = drill_hook.me;
	if (__builtin_expect(!c->me, 0))
		return;
	lane = hook_lane;
	if (__builtin_expect(!lane, 0))
		lane = drill_hook_lane_take();
	c->word = word;
	c->slow = hook_load(&drill_hook.page->armed) & 1u << word;
	if (__builtin_expect(c->slow, 0))
		drill_hook_before(c);
	c->call = 1 + hook_count(&c->me->count[word].calls, 1);
	hook_store(&lane->call, c->call);
	hook_store(&lane->where, DRILL_HOOK_INSIDE);
	c->begin = 0;
	if (__builtin_expect(hook_load(&drill_hook.page->waits), 0))
		c->begin = hook_ticks(drill_hook.ticks_per_s);
	hook_store(&lane->since_ticks, c->begin);
	atomic_store_explicit(&lane->word, word, memory_order_release);
	if (__builtin_expect(c->slow, 0))
		drill_hook_inside(c);
}

static inline void hook_leave(struct hook_call *c)
{
	if (__builtin_expect(!c->me, 0))
		return;
	if (__builtin_expect(c->begin != 0, 0))
		hook_count(&c->me->count[c->word].ticks,
			   hook_ticks(drill_hook.ticks_per_s) - c->begin);
	if (__builtin_expect(c->slow, 0))
		drill_hook_after(c);
	hook_store(&hook_lane->word, 0);
}

static inline void hook_bytes(const struct hook_call *c, uint64_t bytes)
{
	if (c->me)
		hook_count(&c->me->count[c->word].bytes, bytes);
}

#endif
