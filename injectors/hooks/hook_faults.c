/* hook_faults.c - the entries that name a call: hold it, delay it, hang it
 * SPDX-License-Identifier: MIT
 */
#include "draw.h"
#include "hook.h"
#include "mark.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SPIN_NS 60000 /* how late a sleep may wake; the rest is spun */

/* How many matching calls this process has made, for each entry. */
static struct {
	_Atomic uint64_t mark;
	_Atomic uint64_t n;
} seen[DRILL_HOOK_ENTRIES];

static bool is_target(const struct drill_hook_entry *e)
{
	const struct drill_hook_slot *me = drill_hook.me;

	return (e->rank < 0 || e->rank == me->rank) &&
	       (!e->slot || e->slot == (uint32_t)drill_hook.slot + 1) &&
	       (!e->attempt || e->attempt == me->attempt);
}

/* A draw that depends on nothing but seed and occurrence. */
static bool drawn(const struct drill_hook_entry *e, int64_t n)
{
	uint64_t x = (uint64_t)e->seed << 32 ^ (uint64_t)n;

	return e->ppm >= 1000000 ||
	       drill_draw(x + DRILL_DRAW_STEP) % 1000000 < e->ppm;
}

/* Which occurrence this call is for entry @i, from 1; 0: not in its step. */
static int64_t occurrence(int i, const struct drill_hook_entry *e,
			  uint64_t mark)
{
	if (hook_load(&seen[i].mark) != mark &&
	    drill_mark_is_new(&seen[i].mark, &e->mark)) {
		hook_store(&seen[i].n, 0);
		drill_mark_keep(&seen[i].mark, &e->mark);
	}
	if (e->step && drill_hook_step() != e->step) {
		hook_store(&seen[i].n, 0); /* it may come again: a rollback */
		return 0;
	}
	return 1 + (int64_t)hook_count(&seen[i].n, 1);
}

static void consider_one(struct hook_call *c, int i)
{
	struct drill_hook_entry *e = &drill_hook.page->entry[i];
	uint32_t bit = 1u << i;
	uint64_t mark;
	int64_t n;

	if (atomic_load_explicit(&e->state, memory_order_acquire) ==
		    DRILL_HOOK_FREE || e->word != c->word)
		return;
	mark = hook_load(&e->mark);
	if (c->considered & bit && c->mark[i] == mark)
		return;
	c->considered |= bit;
	c->fire &= ~bit;
	c->done &= ~bit;
	c->witness &= ~bit;
	c->mark[i] = mark;
	n = occurrence(i, e, mark);
	if (n < e->nth || (n > e->nth && (!e->every || (n - e->nth) % e->every)))
		return;
	if (is_target(e)) {
		if (drawn(e, n))
			c->fire |= bit;
	} else if (e->action == DRILL_HOOK_HOLD) {
		c->witness |= bit;
	}
}

/* Also after a hold: what the agent armed meanwhile may concern this call. */
static void consider(struct hook_call *c)
{
	uint32_t taken = atomic_load_explicit(&drill_hook.page->taken,
					      memory_order_acquire);

	for (; taken; taken &= taken - 1)
		consider_one(c, __builtin_ctz(taken));
}

static void note_begin(const struct hook_call *c, struct drill_hook_entry *e)
{
	hook_store(&e->by_slot, (uint32_t)drill_hook.slot + 1);
	hook_store(&e->at_step, drill_hook_step());
	hook_store(&e->at_call, (int64_t)c->call);
	hook_store(&e->job_ns, drill_hook_job_ns());
	hook_store(&e->end_ns, 0);
	hook_store(&e->begin_ns, hook_raw_ns());
}

static void note_end(struct drill_hook_entry *e, int64_t begin_ns)
{
	int64_t now = hook_raw_ns();

	hook_add(&e->total_ns, now - begin_ns);
	atomic_store_explicit(&e->end_ns, now, memory_order_release);
}

/* Waits while the entry is ours and in @state, at most until @until_ns. False:
 * the time was up. A wait of at most a second, so that a lost wake-up or an
 * agent that died in the middle costs no more. */
static bool wait_while(struct drill_hook_entry *e, uint64_t mark,
		       uint32_t state, int64_t until_ns)
{
	struct timespec t;
	int64_t left;

	while (atomic_load_explicit(&e->state, memory_order_acquire) == state &&
	       atomic_load(&e->mark) == mark) {
		left = until_ns - hook_raw_ns();
		if (left <= 0)
			return false;
		if (left > 1000000000)
			left = 1000000000;
		t = (struct timespec){ left / 1000000000, left % 1000000000 };
		syscall(SYS_futex, &e->state, FUTEX_WAIT, state, &t, NULL, 0);
	}
	return true;
}

static void hold(struct hook_call *c, struct drill_hook_entry *e,
		 uint64_t mark)
{
	uint32_t state = DRILL_HOOK_ARMED;
	int64_t begin;

	if (!atomic_compare_exchange_strong(&e->state, &state,
					    DRILL_HOOK_CLAIMED))
		return;
	if (atomic_load(&e->mark) != mark) { /* re-armed under our hands */
		atomic_store(&e->state, DRILL_HOOK_ARMED);
		return;
	}
	note_begin(c, e);
	begin = hook_load(&e->begin_ns);
	hook_add(&e->hits, 1);
	hook_add(&e->waiting, 1);
	state = DRILL_HOOK_CLAIMED;
	atomic_compare_exchange_strong(&e->state, &state, DRILL_HOOK_HELD);
	drill_hook_wake_agent();
	if (!wait_while(e, mark, DRILL_HOOK_HELD, begin + e->hold_max_ns)) {
		state = DRILL_HOOK_HELD;
		atomic_compare_exchange_strong(&e->state, &state,
					       DRILL_HOOK_EXPIRED);
	}
	hook_add(&e->waiting, -1u);
	note_end(e, begin);
}

/* Sleeps on the entry, so that taking it off ends the delay at once; the last
 * bit is spun, for a sleep may wake late. */
static void delay(struct hook_call *c, struct drill_hook_entry *e,
		  uint64_t mark)
{
	int64_t begin, until;

	note_begin(c, e);
	begin = hook_load(&e->begin_ns);
	until = begin + e->delay_ns;
	if (wait_while(e, mark, DRILL_HOOK_IN_FORCE, until - SPIN_NS))
		return; /* taken off: the entry may be another's by now */
	while (hook_raw_ns() < until)
		;
	note_end(e, begin);
	hook_add(&e->hits, 1);
}

static void hang(struct hook_call *c, struct drill_hook_entry *e,
		 uint64_t mark)
{
	int64_t begin;

	note_begin(c, e);
	begin = hook_load(&e->begin_ns);
	hook_add(&e->waiting, 1);
	hook_add(&e->hits, 1);
	drill_hook_wake_agent();
	wait_while(e, mark, DRILL_HOOK_IN_FORCE, INT64_MAX);
	/* Another fault may have the entry now: then it is not ours to write. */
	if (atomic_load(&e->mark) != 0 && atomic_load(&e->mark) != mark)
		return;
	hook_add(&e->waiting, -1u);
	note_end(e, begin);
}

static void act(struct hook_call *c, int i)
{
	struct drill_hook_entry *e = &drill_hook.page->entry[i];

	hook_store(&hook_lane->entry, i + 1);
	if (e->action == DRILL_HOOK_HOLD)
		hold(c, e, c->mark[i]);
	else if (e->action == DRILL_HOOK_DELAY)
		delay(c, e, c->mark[i]);
	else if (e->action == DRILL_HOOK_HANG)
		hang(c, e, c->mark[i]);
	hook_store(&hook_lane->entry, 0);
}

/* What fires here: triggers first, then what they let the agent arm. */
static void fire(struct hook_call *c, uint32_t where)
{
	struct drill_hook_entry *e;
	uint32_t due, holds;
	int i, error = errno;

	for (;;) {
		due = holds = 0;
		for (uint32_t f = c->fire & ~c->done; f; f &= f - 1) {
			i = __builtin_ctz(f);
			e = &drill_hook.page->entry[i];
			if (hook_load(&e->mark) != c->mark[i] ||
			    e->where != where)
				continue;
			due |= 1u << i;
			if (e->action == DRILL_HOOK_HOLD)
				holds |= 1u << i;
		}
		if (!due)
			break;
		i = __builtin_ctz(holds ? holds : due);
		c->done |= 1u << i;
		act(c, i);
		consider(c);
	}
	errno = error;
}

void drill_hook_before(struct hook_call *c)
{
	c->considered = c->fire = c->done = c->witness = 0;
	c->call = 1 + hook_load(&c->me->count[c->word].calls);
	consider(c);
	c->slow = c->fire | c->witness;
	if (!c->fire)
		return;
	hook_store(&hook_lane->where, DRILL_HOOK_BEFORE);
	hook_store(&hook_lane->since_ticks, 0);
	hook_store(&hook_lane->word, c->word);
	fire(c, DRILL_HOOK_BEFORE);
	c->slow = c->fire | c->witness; /* a hold may have let more in */
}

void drill_hook_inside(struct hook_call *c)
{
	struct drill_hook_witness *w;

	for (uint32_t bits = c->witness; bits; bits &= bits - 1) {
		w = &c->me->witness[__builtin_ctz(bits)];
		hook_store(&w->left_ns, 0);
		hook_store(&w->entered_ns, hook_raw_ns());
		atomic_store_explicit(&w->mark, c->mark[__builtin_ctz(bits)],
				      memory_order_release);
	}
	if (!c->fire)
		return;
	fire(c, DRILL_HOOK_INSIDE);
	/* What we did to the call is no waiting for its peers. */
	if (c->begin)
		c->begin = hook_ticks(drill_hook.ticks_per_s);
}

void drill_hook_after(struct hook_call *c)
{
	for (uint32_t bits = c->witness; bits; bits &= bits - 1)
		hook_store(&c->me->witness[__builtin_ctz(bits)].left_ns,
			   hook_raw_ns());
	if (!c->fire)
		return;
	hook_store(&hook_lane->where, DRILL_HOOK_AFTER);
	fire(c, DRILL_HOOK_AFTER);
}
