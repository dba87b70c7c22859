/* cuda_stream.c - what a fault does in the order of a stream: hang and slow
 * SPDX-License-Identifier: MIT
 *
 * Both put host functions into the stream. Work behind a function that does not
 * return waits in the driver itself, so queries, events, other streams and the
 * default stream's rules behave as behind a kernel that does not end.
 */
#include "cuda_call.h"

#include <pthread.h>
#include <stdlib.h>

#define HANGS 64
#define A_LONG_TIME INT64_C(3600000000000)

static struct hang {
	CUcontext ctx;
	CUstream stream;
	unsigned int fault;
	int device; /* index on the page, or -1 */
	uint64_t mark;
} hangs[HANGS];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic unsigned int hanging; /* places of hangs[] that were taken */

CUresult drill_enqueue(const struct drill_call *c, CUhostFn fn, void *data)
{
	return drill_next(cuLaunchHostFunc)(c->stream, fn, data);
}

/* ---- hang ---- */

/* The device executes a kernel that does not end: it looks busy. */
static void never_end(void *data)
{
	const struct hang *h = data;

	drill_use_kernel(h->device, true);
	while (drill_fault_lasts(h->fault, h->mark))
		drill_sleep_in_fault(h->fault, h->mark, A_LONG_TIME);
	drill_use_kernel(h->device, false);
}

static struct hang *find(CUcontext ctx, int fault)
{
	unsigned int n = atomic_load_explicit(&hanging, memory_order_acquire);

	for (unsigned int i = 0; i < n && i < HANGS; i++)
		if (hangs[i].ctx == ctx &&
		    (fault < 0 || hangs[i].fault == (unsigned int)fault) &&
		    drill_fault_lasts(hangs[i].fault, hangs[i].mark))
			return &hangs[i];
	return NULL;
}

bool drill_hangs_already(const struct drill_call *c, unsigned int fault)
{
	return atomic_load_explicit(&hanging, memory_order_relaxed) &&
	       find(drill_context_of(c), (int)fault);
}

void drill_hang(struct drill_call *c, unsigned int fault)
{
	struct hang *h = NULL;
	unsigned int n;

	pthread_mutex_lock(&lock);
	n = atomic_load(&hanging);
	if (n < HANGS) {
		h = &hangs[n];
		h->ctx = drill_context_of(c);
		h->device = drill_context_device_of(h->ctx);
		h->stream = c->stream;
		h->fault = fault;
		h->mark = atomic_load(&drill_fault(fault)->mark);
		atomic_store_explicit(&hanging, n + 1, memory_order_release);
	}
	pthread_mutex_unlock(&lock);
	if (h)
		drill_enqueue(c, never_end, h);
}

/* Is the call of what hangs, or does it wait for what does? */
static bool is_behind(const struct drill_call *c, const struct hang *h)
{
	if (c->event)
		return drill_next(cuEventQuery)(c->event) ==
		       CUDA_ERROR_NOT_READY;
	return c->whole || (c->streamed && c->stream == h->stream);
}

void drill_wait_begin(struct drill_call *c)
{
	enum drill_kind k = drill_kind_of(c->number);
	const struct hang *h;

	if (!atomic_load_explicit(&hanging, memory_order_relaxed) ||
	    (k != DRILL_KIND_SYNC && k != DRILL_KIND_QUERY && !c->blocks))
		return;
	h = find(drill_context_of(c), -1);
	if (!h || !is_behind(c, h))
		return;
	c->waits = 1 + (int)h->fault;
	if (k == DRILL_KIND_QUERY)
		return;
	drill_cuda_surfaces(h->fault, c->number);
	atomic_fetch_add(&drill_fault(h->fault)->waiting, 1);
}

void drill_wait_end(struct drill_call *c)
{
	unsigned int fault = (unsigned int)c->waits - 1;

	if (!c->waits)
		return;
	if (drill_kind_of(c->number) != DRILL_KIND_QUERY)
		atomic_fetch_sub(&drill_fault(fault)->waiting, 1);
	else if (c->result == CUDA_ERROR_NOT_READY)
		drill_call_says(c, fault);
}

/* ---- slow ---- */

/* Owned by the stream from the first function on, freed by the second. */
struct drill_slow {
	unsigned int fault;
	int device;
	uint64_t mark;
	int64_t begin_ns;
};

static void begin_slow(void *data)
{
	struct drill_slow *s = data;

	s->begin_ns = hook_raw_ns();
}

/* The factor is read now: a closed loop turns it while we run. */
static void end_slow(void *data)
{
	struct drill_slow *s = data;
	struct drill_device_fault *f = drill_fault(s->fault);
	int64_t took = hook_raw_ns() - s->begin_ns, t = hook_raw_ns();
	uint32_t factor = __atomic_load_n(&f->factor_ppm, __ATOMIC_RELAXED);

	if (factor > 1000000 && drill_fault_lasts(s->fault, s->mark)) {
		drill_use_kernel(s->device, true);
		drill_sleep_in_fault(s->fault, s->mark,
				     (int64_t)((double)took * 1e-6 *
					       (factor - 1000000)));
		drill_use_kernel(s->device, false);
		atomic_fetch_add(&f->added_ns, hook_raw_ns() - t);
	}
	free(s);
}

void drill_slow_begin(struct drill_call *c, unsigned int fault)
{
	struct drill_slow *s = c->slow ? NULL : malloc(sizeof(*s));

	if (!s)
		return;
	s->fault = fault;
	s->device = drill_context_device(c);
	s->mark = atomic_load(&drill_fault(fault)->mark);
	drill_cuda_surfaces(fault, c->number);
	if (drill_enqueue(c, begin_slow, s))
		free(s);
	else
		c->slow = s;
}

void drill_slow_end(struct drill_call *c)
{
	if (c->slow)
		drill_enqueue(c, end_slow, c->slow);
}

void drill_hangs_start(void)
{
	pthread_mutex_init(&lock, NULL);
	atomic_store(&hanging, 0);
}
