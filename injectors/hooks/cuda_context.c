/* cuda_context.c - contexts that have failed, and say so at every call
 * SPDX-License-Identifier: MIT
 *
 * An error is the context's own: it comes up at the next call that looks at the
 * context's work (a launch, a copy, a query, a synchronisation, a free), and
 * from then on at every call but those that need no context. Errors of a device
 * (running_error on the page) come to all its contexts in the same way. A reset
 * heals the device for contexts to come, never those that were there.
 */
#include "cuda_call.h"

#include <pthread.h>
#include <string.h>

#define CONTEXTS 256

static struct context {
	_Atomic(CUcontext) ctx; /* NULL: free */
	_Atomic int device;	/* index on the page, or -1 */
	_Atomic uint32_t generation;
	_Atomic int pending, error;
	_Atomic int by; /* 1 + fault */
	_Atomic uint64_t by_mark;
} contexts[CONTEXTS];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic unsigned int used; /* places that were ever taken */
static _Atomic bool any_sick;
/* Errors after which CUDA wants the process relaunched, by device. */
static _Atomic int process_error[DRILL_DEVICES];
static uint32_t first_generation[DRILL_DEVICES];
static _Atomic(CUcontext) primary[DRILL_DEVICES];

/* As the driver's header says of them: "the process must be terminated". */
static bool ends_process(int error)
{
	return error == CUDA_ERROR_ILLEGAL_ADDRESS ||
	       error == CUDA_ERROR_LAUNCH_TIMEOUT ||
	       (error >= CUDA_ERROR_HARDWARE_STACK_ERROR &&
		error <= CUDA_ERROR_LAUNCH_FAILED) ||
	       error == CUDA_ERROR_TENSOR_MEMORY_LEAK ||
	       error == CUDA_ERROR_EXTERNAL_DEVICE;
}

static struct context *find(CUcontext ctx)
{
	unsigned int n = atomic_load_explicit(&used, memory_order_acquire);

	for (unsigned int i = 0; i < n; i++)
		if (atomic_load_explicit(&contexts[i].ctx,
					 memory_order_acquire) == ctx)
			return &contexts[i];
	return NULL;
}

static struct context *place(void)
{
	unsigned int n = atomic_load(&used), i = 0;

	while (i < n && atomic_load(&contexts[i].ctx))
		i++;
	return i < CONTEXTS ? &contexts[i] : NULL;
}

static struct context *add(CUcontext ctx, int device, uint32_t generation)
{
	struct context *e;

	pthread_mutex_lock(&lock);
	e = find(ctx);
	if (!e) {
		e = place();
		if (e) {
			atomic_store(&e->device, device);
			atomic_store(&e->generation, generation);
			atomic_store(&e->pending, 0);
			atomic_store(&e->error, 0);
			atomic_store(&e->by, 0);
			atomic_store_explicit(&e->ctx, ctx,
					      memory_order_release);
			if (e == &contexts[atomic_load(&used)])
				atomic_fetch_add(&used, 1);
		}
	}
	pthread_mutex_unlock(&lock);
	return e;
}

static uint32_t generation_of(int device)
{
	return device < 0 ? 0 :
	       atomic_load(&drill_cuda.page->device[device].generation);
}

int drill_context_device_of(CUcontext ctx)
{
	struct context *e = ctx ? find(ctx) : NULL;
	CUcontext current = NULL, popped;
	CUdevice dev = -1;
	int device;

	if (e)
		return atomic_load(&e->device);
	if (!ctx || drill_next(cuCtxGetCurrent)(&current))
		return -1;
	if (current == ctx) {
		drill_next(cuCtxGetDevice)(&dev);
	} else if (!drill_next(cuCtxPushCurrent_v2)(ctx)) {
		drill_next(cuCtxGetDevice)(&dev);
		drill_next(cuCtxPopCurrent_v2)(&popped);
	}
	device = dev < 0 ? -1 : drill_device_index(dev);
	/* Who made it, and when, was not seen: at the process's begin. */
	add(ctx, device, device < 0 ? 0 : first_generation[device]);
	return device;
}

CUcontext drill_context_of(const struct drill_call *c)
{
	CUcontext ctx = NULL;

	if (c->streamed && c->stream > CU_STREAM_PER_THREAD &&
	    atomic_load_explicit(&used, memory_order_relaxed) > 1 &&
	    !drill_next(cuStreamGetCtx)(c->stream, &ctx) && ctx)
		return ctx;
	if (drill_next(cuCtxGetCurrent)(&ctx))
		return NULL;
	return ctx;
}

int drill_context_device(const struct drill_call *c)
{
	return drill_context_device_of(drill_context_of(c));
}

static struct context *of_call(const struct drill_call *c)
{
	CUcontext ctx = drill_context_of(c);

	if (!ctx)
		return NULL;
	drill_context_device_of(ctx);
	return find(ctx);
}

/* ---- failing ---- */

static void blame(struct context *e, unsigned int fault)
{
	atomic_store(&e->by_mark, atomic_load(&drill_fault(fault)->mark));
	atomic_store(&e->by, 1 + (int)fault);
}

/* The fault one of whose steps gave the device this error. */
static int who_broke(int device, int error, bool fresh)
{
	const struct drill_device_fault *f;

	for (int i = 0; i < DRILL_DEVICE_FAULTS; i++) {
		f = drill_fault((unsigned int)i);
		if (atomic_load(&f->state) != DRILL_DEVICE_FIRED)
			continue;
		for (uint32_t k = 0; k < f->steps && k < DRILL_DEVICE_STEPS; k++)
			if (f->step[k].device == (uint32_t)device &&
			    (fresh ? f->step[k].context_error :
				     f->step[k].running_error) == error)
				return i;
	}
	return -1;
}

static void break_with_device(struct context *e)
{
	int device = atomic_load(&e->device), error, by, none = 0;

	if (device < 0)
		return;
	error = atomic_load(&drill_cuda.page->device[device].running_error);
	if (!error && atomic_load(&e->generation) != generation_of(device))
		error = CUDA_ERROR_UNKNOWN; /* reset under its feet */
	if (!error || !atomic_compare_exchange_strong(&e->pending, &none, error))
		return;
	by = who_broke(device, error, false);
	if (by >= 0)
		blame(e, (unsigned int)by);
}

static bool looks_at_work(enum drill_kind k)
{
	return k != DRILL_KIND_APART && k != DRILL_KIND_OTHER &&
	       k != DRILL_KIND_ALLOC;
}

static void say(const struct drill_call *c, const struct context *e)
{
	int by = atomic_load(&e->by);

	if (by && atomic_load(&drill_fault((unsigned int)by - 1)->mark) ==
			  atomic_load(&e->by_mark))
		drill_call_says(c, (unsigned int)by - 1);
}

bool drill_context_fails(struct drill_call *c)
{
	enum drill_kind k = drill_kind_of(c->number);
	struct context *e;
	int error;

	if (k == DRILL_KIND_APART ||
	    (!(drill_cuda.page->hot[c->number] & DRILL_HOT_SICK) &&
	     !atomic_load_explicit(&any_sick, memory_order_relaxed)))
		return false;
	e = of_call(c);
	if (!e)
		return false;
	error = atomic_load(&e->error);
	if (!error && !atomic_load(&e->pending))
		break_with_device(e);
	if (!error && looks_at_work(k)) {
		error = atomic_load(&e->pending);
		atomic_store(&e->error, error);
	}
	if (!error)
		return false;
	say(c, e);
	c->result = (CUresult)error;
	return true;
}

void drill_context_breaks(struct drill_call *c, unsigned int fault, bool now)
{
	int error = drill_fault(fault)->error, none = 0, device;
	struct context *e = of_call(c);

	if (!e || !error ||
	    !atomic_compare_exchange_strong(&e->pending, &none, error))
		return;
	blame(e, fault);
	if (now)
		atomic_store(&e->error, error);
	device = atomic_load(&e->device);
	if (ends_process(error) && device >= 0)
		atomic_store(&process_error[device], error);
	atomic_store(&any_sick, true);
	drill_device_sicken(drill_cuda.page);
}

/* ---- coming and going ---- */

static int of_health(uint32_t health)
{
	switch (health) {
	case DRILL_DEVICE_LOST:
		return CUDA_ERROR_UNKNOWN;
	case DRILL_DEVICE_RESET_REQUIRED:
		return CUDA_ERROR_DEVICE_UNAVAILABLE;
	case DRILL_DEVICE_GONE:
		return CUDA_ERROR_NO_DEVICE;
	default:
		return CUDA_SUCCESS;
	}
}

CUresult drill_context_refused(const struct drill_call *c, CUdevice dev)
{
	int i = drill_device_index(dev), error, by;
	const struct drill_device *d;

	if (i < 0)
		return CUDA_SUCCESS;
	d = &drill_cuda.page->device[i];
	error = atomic_load(&d->context_error);
	if (!error)
		error = of_health(atomic_load(&d->health));
	if (!error)
		error = atomic_load(&process_error[i]);
	by = error ? who_broke(i, error, true) : -1;
	if (by >= 0)
		drill_call_says(c, (unsigned int)by);
	return (CUresult)error;
}

void drill_context_made(CUcontext ctx, CUdevice dev, bool of_device)
{
	struct drill_device_client *client = drill_cuda.client;
	int device = drill_device_index(dev);

	if (of_device && dev >= 0 && dev < DRILL_DEVICES)
		atomic_store(&primary[dev], ctx);
	if (find(ctx))
		return;
	add(ctx, device, generation_of(device));
	if (!client)
		return;
	atomic_fetch_add(&client->contexts, 1);
	if (device >= 0)
		atomic_fetch_or(&client->devices, UINT64_C(1) << device);
}

void drill_context_gone(CUcontext ctx)
{
	struct context *e = ctx ? find(ctx) : NULL;

	if (!e)
		return;
	atomic_store(&e->ctx, NULL);
	drill_flip_forget(ctx);
}

CUcontext drill_context_primary(CUdevice dev)
{
	return dev >= 0 && dev < DRILL_DEVICES ? atomic_load(&primary[dev]) :
						 NULL;
}

bool drill_context_is_sick(struct drill_call *c, CUcontext ctx)
{
	struct context *e = ctx ? find(ctx) : NULL;
	int error = e ? atomic_load(&e->error) : 0;

	if (!error)
		return false;
	say(c, e);
	c->result = (CUresult)error;
	return true;
}

void drill_contexts_start(void)
{
	pthread_mutex_init(&lock, NULL);
	for (int i = 0; i < CONTEXTS; i++)
		atomic_store(&contexts[i].ctx, NULL);
	atomic_store(&used, 0);
	atomic_store(&any_sick, false);
	for (int i = 0; i < DRILL_DEVICES; i++) {
		atomic_store(&process_error[i], 0);
		atomic_store(&primary[i], NULL);
		if (drill_cuda.page)
			first_generation[i] = generation_of(i);
	}
}
