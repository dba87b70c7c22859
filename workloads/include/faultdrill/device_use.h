/* device_use.h - what a process uses of a device: it writes, monitors read
 * SPDX-License-Identifier: MIT
 *
 * The software device fills one for each of its devices, at changes only, and
 * in memory that a monitor maps where it is told to (softcuda_show() of
 * softcuda.h). Time is counted by periods as NVML counts it: a reader asks for
 * the last one that is complete, and needs no reading of its own before that.
 * What has not ended, a kernel that hangs say, counts up to now. Clock:
 * CLOCK_MONOTONIC_RAW. libc only.
 */
#ifndef FAULTDRILL_DEVICE_USE_H
#define FAULTDRILL_DEVICE_USE_H

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* NVML's lies between 1/6 s and 1 s. */
#define FAULTDRILL_USE_PERIOD_NS INT64_C(250000000)

enum faultdrill_use_bits {
	FAULTDRILL_USE_KERNEL = 1, /* a kernel executes */
	FAULTDRILL_USE_MEMORY = 2, /* its memory is read or written */
};

struct faultdrill_use_time {
	_Atomic int64_t since_ns; /* something goes on; 0: nothing does */
	_Atomic int64_t period;	  /* number of the one that ns[0] or [1] is of */
	_Atomic int64_t ns[2];	  /* of it and the one before it, by parity */
	_Atomic int64_t going_on; /* streams */
};

struct faultdrill_device_use {
	_Atomic uint32_t seq;	   /* odd: `time` is being written */
	_Atomic uint32_t device_1; /* 1 + index on the host's page; 0: none */
	_Atomic uint64_t used_bytes;
	struct faultdrill_use_time time[2]; /* by bit */
};

static inline int64_t faultdrill_use_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

#define FAULTDRILL_USE_GET(x) atomic_load_explicit(&(x), memory_order_relaxed)
#define FAULTDRILL_USE_SET(x, v)                                               \
	atomic_store_explicit(&(x), (v), memory_order_relaxed)

/* What lies of @from to @to in that period. */
static inline int64_t faultdrill_use_within(int64_t from, int64_t to,
					    int64_t period)
{
	int64_t begin = period * FAULTDRILL_USE_PERIOD_NS;
	int64_t end = begin + FAULTDRILL_USE_PERIOD_NS;

	from = from > begin ? from : begin;
	to = to < end ? to : end;
	return to > from ? to - from : 0;
}

static inline void faultdrill_use_add(struct faultdrill_use_time *t,
				      int64_t from, int64_t to)
{
	int64_t k = to / FAULTDRILL_USE_PERIOD_NS;
	int64_t was = FAULTDRILL_USE_GET(t->period);
	_Atomic int64_t *now = &t->ns[k & 1], *last = &t->ns[~k & 1];

	if (was != k)
		FAULTDRILL_USE_SET(*now, 0);
	if (was != k && was != k - 1)
		FAULTDRILL_USE_SET(*last, 0);
	FAULTDRILL_USE_SET(t->period, k);
	FAULTDRILL_USE_SET(*now, FAULTDRILL_USE_GET(*now) +
				 faultdrill_use_within(from, to, k));
	FAULTDRILL_USE_SET(*last, FAULTDRILL_USE_GET(*last) +
				  faultdrill_use_within(from, to, k - 1));
}

static inline void faultdrill_use_turn(struct faultdrill_use_time *t, int by,
				       int64_t now)
{
	int64_t n = FAULTDRILL_USE_GET(t->going_on) + by;

	FAULTDRILL_USE_SET(t->going_on, n);
	if (by > 0 && n == 1) {
		FAULTDRILL_USE_SET(t->since_ns, now);
	} else if (by < 0 && !n) {
		faultdrill_use_add(t, FAULTDRILL_USE_GET(t->since_ns), now);
		FAULTDRILL_USE_SET(t->since_ns, 0);
	}
}

/* A stream's work goes over from bits @from to bits @to; any thread. */
static inline void faultdrill_use_change(struct faultdrill_device_use *u,
					 unsigned int from, unsigned int to)
{
	int64_t now = faultdrill_use_now();
	uint32_t seq;

	for (;;) {
		seq = FAULTDRILL_USE_GET(u->seq) & ~1u;
		if (atomic_compare_exchange_weak_explicit(
			    &u->seq, &seq, seq + 1, memory_order_acquire,
			    memory_order_relaxed))
			break;
		sched_yield();
	}
	atomic_thread_fence(memory_order_release);
	for (unsigned int i = 0; i < 2; i++)
		if ((from ^ to) >> i & 1)
			faultdrill_use_turn(&u->time[i], to >> i & 1 ? 1 : -1,
					    now);
	atomic_store_explicit(&u->seq, seq + 2, memory_order_release);
}

static inline int64_t faultdrill_use_sum(const struct faultdrill_use_time *t,
					 int64_t now)
{
	int64_t k = now / FAULTDRILL_USE_PERIOD_NS - 1, ns = 0;
	int64_t of = FAULTDRILL_USE_GET(t->period);
	int64_t since = FAULTDRILL_USE_GET(t->since_ns);

	if (of == k || of == k + 1)
		ns = FAULTDRILL_USE_GET(t->ns[k & 1]);
	return since > 0 ? ns + faultdrill_use_within(since, now, k) : ns;
}

/* Nanoseconds of the last complete period at @now in which @bit went on. What a
 * damaged or abandoned record says stays within the period. */
static inline int64_t faultdrill_use_ns(const struct faultdrill_device_use *u,
					enum faultdrill_use_bits bit,
					int64_t now)
{
	const struct faultdrill_use_time *t = &u->time[bit >> 1];
	int64_t ns = 0;
	uint32_t seq;

	for (int tries = 0; tries < 1000; tries++) {
		seq = atomic_load_explicit(&u->seq, memory_order_acquire);
		ns = faultdrill_use_sum(t, now);
		atomic_thread_fence(memory_order_acquire);
		if (!(seq & 1) && seq == FAULTDRILL_USE_GET(u->seq))
			break;
	}
	if (ns < 0)
		return 0;
	return ns < FAULTDRILL_USE_PERIOD_NS ? ns : FAULTDRILL_USE_PERIOD_NS;
}

#endif
