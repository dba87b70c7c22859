/* cuda_before.c - the slow way of a call, and who is hit by a fault
 * SPDX-License-Identifier: MIT
 */
#include "cuda_call.h"
#include "cuda_launches.h"
#include "cuda_parts.h"
#include "cuda_wraps.h"
#include "draw.h"
#include "hook_ticks.h"
#include "mark.h"

#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Where a call goes on: @go, or nowhere, with @result. In rax and rdx. */
struct way {
	void *go;
	int64_t result;
};

#pragma GCC visibility push(hidden)
struct way drill_cuda_before(uint32_t call);
#define DECLARE(symbol, when) void drill_wrap_##symbol(void);
DRILL_CUDA_WRAPS(DECLARE)
#pragma GCC visibility pop

enum { ALWAYS = 1, HOT };

#define load(p) atomic_load_explicit((p), memory_order_relaxed)

static const struct {
	void *fn;
	int when;
} wraps[DRILL_CUDA_CALLS] = {
#define ROW(symbol, when) [DRILL_CALL_##symbol] = { drill_wrap_##symbol, when },
	DRILL_CUDA_WRAPS(ROW)
	[DRILL_CALL_cuGetProcAddress] = { drill_cuda_proc, ALWAYS },
	[DRILL_CALL_cuGetProcAddress_v2] = { drill_cuda_proc_v2, ALWAYS },
};

/* A wrapper asks what faults there are by itself, and knows its arguments. */
static const bool asks_itself[DRILL_CUDA_CALLS] = {
#define ASKS(symbol, when) [DRILL_CALL_##symbol] = true,
	DRILL_CUDA_WRAPS(ASKS)
};

/* By entry: it has been called, and where it goes on when it is hot. */
static atomic_bool settled[DRILL_CUDA_CALLS];
static void *_Atomic hot_go[DRILL_CUDA_CALLS];

/* What this process counted for a fault since it was armed. */
static struct {
	_Atomic uint64_t mark;
	_Atomic int64_t n, told;
} met[DRILL_DEVICE_FAULTS];

static void *target(unsigned int call, int when)
{
	if (drill_cuda.page && wraps[call].fn && wraps[call].when <= when)
		return wraps[call].fn;
	return drill_cuda.next[call];
}

/* The entry's first call: from now on its export jumps without asking us. */
static void settle(unsigned int call)
{
	struct drill_device_client *c = drill_cuda.client;

	hot_go[call] = target(call, HOT);
	atomic_store(&drill_cuda_go[call], target(call, ALWAYS));
	if (atomic_exchange(&settled[call], true))
		return;
	if (c && !drill_cuda_was_given(call))
		atomic_fetch_add(&c->linked, 1);
	drill_cuda_look_around();
}

void drill_cuda_settle_anew(unsigned int call)
{
	if (atomic_load(&settled[call]))
		settle(call);
}

/* What a driver answers in the child of a process that used it, too. */
static bool needs_no_init(unsigned int call)
{
	return call == DRILL_CALL_cuDriverGetVersion ||
	       call == DRILL_CALL_cuGetErrorName ||
	       call == DRILL_CALL_cuGetErrorString ||
	       call == DRILL_CALL_cuGetExportTable ||
	       call == DRILL_CALL_cuGetProcAddress ||
	       call == DRILL_CALL_cuGetProcAddress_v2;
}

static const bool launches[DRILL_CUDA_CALLS] = {
#define LAUNCHES(symbol) [DRILL_CALL_##symbol] = true,
	DRILL_CUDA_LAUNCHES(LAUNCHES)
};

static void count_first(uint32_t call)
{
	struct drill_device_lane *lane;

	if (drill_cuda_lane)
		return; /* the export has counted */
	lane = drill_cuda_lane_of_thread();
	if (!lane)
		return;
	atomic_fetch_add(&lane->calls, 1);
	if (launches[call])
		atomic_fetch_add(&lane->launches, 1);
}

/* The process's, the thread's or the entry's first call, or a child's. False:
 * it ends here, if *way says no other. */
static __attribute__((noinline)) bool begin(uint32_t call, struct way *way)
{
	drill_cuda_start();
	way->go = NULL;
	way->result = CUDA_ERROR_NOT_INITIALIZED;
	if (load(&drill_cuda_state) == DRILL_CUDA_ORPHAN && needs_no_init(call))
		way->go = target(call, ALWAYS);
	if (load(&drill_cuda_state) != DRILL_CUDA_STARTED)
		return false;
	count_first(call);
	if (call == DRILL_CALL_cuInit)
		drill_cuda_saw_init();
	if (!load(&settled[call]))
		settle(call);
	way->go = load(&drill_cuda_go[call]);
	return drill_cuda.page && load(&drill_cuda.page->hot[call]);
}

static inline bool concerns(const struct drill_device_fault *f)
{
	uint32_t state = atomic_load_explicit(&f->state, memory_order_acquire);

	return (state == DRILL_DEVICE_ARMED || state == DRILL_DEVICE_FIRED) &&
	       (f->rank == -1 || f->rank == drill_cuda.rank) &&
	       (f->attempt == 0 || f->attempt == drill_cuda.attempt);
}

bool drill_cuda_concerns(unsigned int fault)
{
	return concerns(&drill_cuda.page->fault[fault]);
}

/* One in a row of draws that a seed repeats. */
static uint32_t draw(const struct drill_device_fault *f, int64_t n)
{
	uint64_t x = (uint64_t)f->seed << 32 ^
		     (uint64_t)(uint32_t)drill_cuda.rank << 20 ^ (uint64_t)n;

	return (uint32_t)(drill_draw(x) % 1000000);
}

static inline bool is_its_turn(const struct drill_device_fault *f, int64_t n)
{
	int64_t nth = f->nth > 0 ? f->nth : 1;

	if (n < nth || (n > nth && f->every <= 0))
		return false;
	if (n > nth && (n - nth) % f->every)
		return false;
	return !f->ppm || f->ppm >= 1000000 || draw(f, n) < f->ppm;
}

/* The shared count is told in lots: an atomic add for each call would cost more
 * than all the rest. */
static void tell(struct drill_device_fault *f, unsigned int fault, int64_t n)
{
	int64_t told = atomic_exchange(&met[fault].told, n);

	if (n > told)
		atomic_fetch_add(&f->matched, (uint64_t)(n - told));
}

static void count_anew(const struct drill_device_fault *f, unsigned int fault)
{
	if (!drill_mark_is_new(&met[fault].mark, &f->mark))
		return;
	atomic_store(&met[fault].n, 0);
	atomic_store(&met[fault].told, 0);
	drill_mark_keep(&met[fault].mark, &f->mark);
}

/* While one thread only has called, it counts without the price of a lock
 * prefix: between alone() and done(). Neither has a fence, for the second
 * thread's first call makes all others' processors have one (membarrier) and
 * then waits until the first is done. Where a process may not ask for that it is
 * held to have many threads from the start. */
static atomic_bool threaded, counting;

static int membarrier(int command)
{
	return (int)syscall(SYS_membarrier, command, 0, 0);
}

void drill_cuda_first_thread(void)
{
	/* In a child what was counted, or about to be, is the parent's. */
	for (int i = 0; i < DRILL_DEVICE_FAULTS; i++)
		atomic_store(&met[i].mark, 0);
	atomic_store(&counting, false);
	atomic_store(&threaded,
		     membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED));
}

void drill_cuda_next_thread(void)
{
	atomic_store(&threaded, true);
	membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
	while (atomic_load(&counting))
		sched_yield();
}

static inline bool alone(void)
{
	if (load(&threaded))
		return false;
	atomic_store_explicit(&counting, true, memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst);
	if (!load(&threaded))
		return true;
	atomic_store_explicit(&counting, false, memory_order_release);
	return false;
}

static inline void done(void)
{
	atomic_store_explicit(&counting, false, memory_order_release);
}

static inline int64_t count_call(unsigned int fault)
{
	int64_t n;

	if (!alone())
		return 1 + atomic_fetch_add_explicit(&met[fault].n, 1,
						     memory_order_relaxed);
	n = 1 + load(&met[fault].n);
	atomic_store_explicit(&met[fault].n, n, memory_order_relaxed);
	done();
	return n;
}

/* Fires at the first hit; @count hits over all processes are the limit. */
static bool hit(struct drill_device_fault *f, unsigned int fault)
{
	drill_device_fire(drill_cuda.page, fault, drill_cuda.pid,
			  drill_cuda.comm);
	if (atomic_fetch_add(&f->hits, 1) >= (uint64_t)f->count &&
	    f->count > 0) {
		atomic_fetch_sub(&f->hits, 1);
		return false;
	}
	atomic_store(&f->last_hit_ns, hook_raw_ns());
	atomic_store(&f->by_client, drill_cuda.index + 1);
	return true;
}

bool drill_cuda_met(unsigned int fault)
{
	struct drill_device_fault *f = &drill_cuda.page->fault[fault];
	bool turn;
	int64_t n;

	if (!concerns(f))
		return false;
	if (load(&f->mark) != load(&met[fault].mark))
		count_anew(f, fault);
	n = count_call(fault);
	turn = is_its_turn(f, n);
	if (turn || n % 64 == 0)
		tell(f, fault, n);
	return turn && hit(f, fault);
}

/* Counts one more call, unless it is its turn. */
static bool counts_on(const struct drill_device_fault *f, unsigned int fault,
		      int64_t *n)
{
	bool plainly = alone(), turn;

	*n = load(&met[fault].n);
	do {
		turn = is_its_turn(f, *n + 1);
	} while (!turn && !plainly &&
		 !atomic_compare_exchange_weak(&met[fault].n, n, *n + 1));
	if (plainly) {
		if (!turn)
			atomic_store_explicit(&met[fault].n, *n + 1,
					      memory_order_relaxed);
		done();
	}
	++*n;
	return !turn;
}

/* A call of the one fault about this entry that is not its turn yet. False: it
 * may be, or what was counted is of an older fault. */
static bool counts_past(struct drill_device_fault *f, unsigned int fault)
{
	int64_t n;

	if (!concerns(f))
		return true;
	if (load(&f->mark) != load(&met[fault].mark) ||
	    !counts_on(f, fault, &n))
		return false;
	if (n % 64 == 0)
		tell(f, fault, n);
	return true;
}

/* What needs no more than its count: the entry is named, any device will do. */
static bool is_plain(const struct drill_device_fault *f)
{
	return (f->action == DRILL_DEVICE_RETURN ||
		f->action == DRILL_DEVICE_DELAY ||
		f->action == DRILL_DEVICE_NOTHING) &&
	       f->device < 0 && !f->kernel[0];
}

/* The short way of a hot call: nothing has happened yet, and all that can
 * happen to it is that its turn comes. */
static inline bool only_waits(unsigned int call)
{
	struct drill_device_page *p = drill_cuda.page;
	struct drill_device_fault *f, *about = NULL;
	unsigned int i, which = 0;

	if (load(&p->hot[call]) != DRILL_HOT_NAMED)
		return false;
	for (uint32_t armed = load(&p->armed); armed; armed &= armed - 1) {
		i = (unsigned int)__builtin_ctz(armed);
		if (i >= DRILL_DEVICE_FAULTS)
			return false;
		f = &p->fault[i];
		if (!f->call)
			continue; /* then the entry is not of its kind */
		if (load(&f->state) != DRILL_DEVICE_ARMED)
			return false;
		if (!drill_is_named(f, call))
			continue;
		if (about || !is_plain(f))
			return false;
		about = f;
		which = i;
	}
	return !about || counts_past(about, which);
}

/* A thread with a lane comes here with an entry that was called before because
 * the entry is hot; a child's only thread has no lane. */
struct way drill_cuda_before(uint32_t call)
{
	struct way way = { NULL, 0 };
	CUresult result;

	if (__builtin_expect(!drill_cuda_lane || !load(&settled[call]), 0) &&
	    !begin(call, &way))
		return way;
	if (only_waits(call))
		return (struct way){ load(&drill_cuda_go[call]), 0 };
	if (!asks_itself[call] && drill_effect_before(call, &result))
		return (struct way){ NULL, result };
	return (struct way){ load(&hot_go[call]), 0 };
}

void drill_cuda_surfaces(unsigned int fault, unsigned int call)
{
	struct drill_device_fault *f = &drill_cuda.page->fault[fault];
	int64_t never = 0;

	if (atomic_load(&f->surfaced_ns) ||
	    !atomic_compare_exchange_strong(&f->surfaced_ns, &never,
					    hook_raw_ns()))
		return;
	atomic_store(&f->surfaced_call, call + 1);
	drill_device_wake();
}
