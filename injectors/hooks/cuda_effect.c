/* cuda_effect.c - what armed faults do to a call of the CUDA driver
 * SPDX-License-Identifier: MIT
 */
#include "cuda_call.h"
#include "cuda_wraps.h"

#include <errno.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* ---- what a call is ---- */

static const bool wrapped[DRILL_CUDA_CALLS] = {
#define WRAPPED(symbol, when) [DRILL_CALL_##symbol] = true,
	DRILL_CUDA_WRAPS(WRAPPED)
};

static uint8_t kind[DRILL_CUDA_CALLS];
uint16_t drill_family[DRILL_CUDA_CALLS];

enum drill_kind drill_kind_of(unsigned int number)
{
	return number < DRILL_CUDA_CALLS ? (enum drill_kind)kind[number] :
					   DRILL_KIND_APART;
}

/* ---- faults in time ---- */

/* Since when a fault holds in this process, by its mark. */
static _Atomic uint64_t holds[DRILL_DEVICE_FAULTS];

bool drill_fault_lasts(unsigned int i, uint64_t mark)
{
	const struct drill_device_fault *f = drill_fault(i);
	uint32_t state = atomic_load_explicit(&f->state, memory_order_acquire);

	return (state == DRILL_DEVICE_ARMED || state == DRILL_DEVICE_FIRED) &&
	       atomic_load_explicit(&f->mark, memory_order_relaxed) == mark;
}

/* A wait is a second at most: a lost wake-up costs no more. */
void drill_sleep_in_fault(unsigned int i, uint64_t mark, int64_t ns)
{
	struct drill_device_fault *f = drill_fault(i);
	int64_t end = hook_raw_ns() + ns, left = ns;
	struct timespec t;
	uint32_t state;
	int e = errno;

	while (left > 0 && drill_fault_lasts(i, mark)) {
		state = atomic_load(&f->state);
		if (state != DRILL_DEVICE_ARMED && state != DRILL_DEVICE_FIRED)
			break;
		left = left < 1000000000 ? left : 1000000000;
		t = (struct timespec){ left / 1000000000, left % 1000000000 };
		syscall(SYS_futex, &f->state, FUTEX_WAIT, state, &t, NULL, 0);
		left = end - hook_raw_ns();
	}
	errno = e;
}

bool drill_fault_holds(unsigned int i)
{
	uint64_t mark = atomic_load_explicit(&drill_fault(i)->mark,
					     memory_order_relaxed);

	if (atomic_load_explicit(&holds[i], memory_order_relaxed) == mark)
		return drill_cuda_concerns(i);
	if (!drill_cuda_met(i))
		return false;
	atomic_store_explicit(&holds[i], mark, memory_order_relaxed);
	return true;
}

/* Does it wait for a call or a launch of its own? */
static bool has_trigger(const struct drill_device_fault *f)
{
	return f->call || f->nth || f->kernel[0];
}

bool drill_fault_stands(unsigned int i)
{
	const struct drill_device_fault *f = drill_fault(i);

	if (!has_trigger(f))
		return drill_fault_holds(i);
	return drill_cuda_concerns(i) &&
	       atomic_load_explicit(&f->state, memory_order_acquire) ==
		       DRILL_DEVICE_FIRED;
}

void drill_call_says(const struct drill_call *c, unsigned int fault)
{
	struct drill_device_fault *f = drill_fault(fault);

	/* Counted first: whoever the stamp wakes reads both. */
	atomic_fetch_add(&f->returned, 1);
	drill_cuda_surfaces(fault, c->number);
}

/* ---- is a fault about this call? ---- */

/* Errors that came while it was away meet a process at once, whatever it calls
 * first that looks at its work. */
static bool meets_old_error(const struct drill_device_fault *f,
			    enum drill_kind k)
{
	return f->nth <= 1 && !f->every && k != DRILL_KIND_APART &&
	       k != DRILL_KIND_OTHER && k != DRILL_KIND_ALLOC &&
	       atomic_load_explicit(&f->state, memory_order_relaxed) ==
		       DRILL_DEVICE_FIRED;
}

static bool is_of_kind(const struct drill_device_fault *f, enum drill_kind k)
{
	return drill_kind_triggers(f, k) ||
	       (f->action == DRILL_DEVICE_STICKY && !f->kernel[0] &&
		meets_old_error(f, k));
}

static bool is_of_kernel(const struct drill_call *c,
			 const struct drill_device_fault *f)
{
	const char *name;

	if (!f->kernel[0])
		return true;
	name = c->fn ? drill_kernel_name(c->fn) : NULL;
	return name && strstr(name, f->kernel);
}

static bool is_of_device(const struct drill_call *c,
			 const struct drill_device_fault *f)
{
	/* Before there is a context there is no device to tell apart. */
	if (f->device < 0 || drill_kind_of(c->number) == DRILL_KIND_APART)
		return true;
	return drill_context_device(c) == f->device;
}

/* What is added to a stream, or comes of its work, is not for a capture. */
static bool capture_forbids(const struct drill_call *c,
			    struct drill_device_fault *f)
{
	if (f->action != DRILL_DEVICE_STICKY && f->action != DRILL_DEVICE_HANG &&
	    f->action != DRILL_DEVICE_SLOW && f->action != DRILL_DEVICE_FLIP)
		return false;
	if (!drill_capturing(c))
		return false;
	atomic_fetch_add(&f->skipped_capture, 1);
	return true;
}

static bool is_about(const struct drill_call *c, struct drill_device_fault *f)
{
	if (f->call ? !drill_is_named(f, c->number) :
		      !is_of_kind(f, drill_kind_of(c->number)))
		return false;
	return is_of_kernel(c, f) && is_of_device(c, f) &&
	       !capture_forbids(c, f);
}

/* ---- what it does ---- */

static bool answer(struct drill_call *c, unsigned int i, int error)
{
	drill_call_says(c, i);
	c->result = (CUresult)error;
	drill_capture_fails(c);
	return true;
}

static void delay(const struct drill_call *c, unsigned int i)
{
	struct drill_device_fault *f = drill_fault(i);
	int64_t t = hook_raw_ns();

	if (f->delay_ns <= 0)
		return;
	drill_cuda_surfaces(i, c->number);
	drill_sleep_in_fault(i, atomic_load(&f->mark), f->delay_ns);
	atomic_fetch_add(&f->added_ns, hook_raw_ns() - t);
}

/* What a launch or a copy that returns at once does, fails later. */
static bool fails_later(const struct drill_call *c)
{
	enum drill_kind k = drill_kind_of(c->number);

	return k == DRILL_KIND_LAUNCH || (k == DRILL_KIND_COPY && !c->blocks);
}

static bool stick(struct drill_call *c, unsigned int i)
{
	/* A call without a wrapper does not come by afterwards. */
	if (fails_later(c) && wrapped[c->number]) {
		c->sticky = 1 + (int)i;
		return false;
	}
	drill_context_breaks(c, i, !fails_later(c));
	if (fails_later(c))
		return false;
	return answer(c, i, drill_fault(i)->error);
}

static bool has_room(const struct drill_call *c, uint64_t limit)
{
	size_t available = 0, total = 0;

	/* What it holds now cannot be asked inside a capture. */
	if (drill_anything_captures() ||
	    drill_next(cuMemGetInfo_v2)(&available, &total))
		return true;
	return total - available + c->bytes <= limit;
}

/* With a limit, what counts is what does not fit. */
static bool is_full(struct drill_call *c, unsigned int i)
{
	uint64_t limit = drill_fault(i)->limit_bytes;

	return (!limit || !has_room(c, limit)) && drill_cuda_met(i);
}

/* What all contexts of a device meet comes from the device once it has fired:
 * a process that starts after a reset must not meet it again. */
static bool comes_from_device(const struct drill_device_fault *f)
{
	if (atomic_load_explicit(&f->state, memory_order_relaxed) !=
	    DRILL_DEVICE_FIRED)
		return false;
	for (uint32_t k = 0; k < f->steps && k < DRILL_DEVICE_STEPS; k++)
		if (f->step[k].running_error)
			return true;
	return false;
}

/* True: the call is answered. */
static bool hit(struct drill_call *c, unsigned int i)
{
	struct drill_device_fault *f = drill_fault(i);

	switch (f->action) {
	case DRILL_DEVICE_STICKY:
		return f->error && !comes_from_device(f) &&
		       drill_cuda_met(i) && stick(c, i);
	case DRILL_DEVICE_RETURN:
		return drill_cuda_met(i) && answer(c, i, f->error);
	case DRILL_DEVICE_OOM:
		return is_full(c, i) && answer(c, i, CUDA_ERROR_OUT_OF_MEMORY);
	case DRILL_DEVICE_NOTHING:
	case DRILL_DEVICE_NO_PEER:
	case DRILL_DEVICE_ABSENT:
		drill_cuda_met(i);
		break;
	case DRILL_DEVICE_DELAY:
		if (drill_cuda_met(i))
			delay(c, i);
		break;
	case DRILL_DEVICE_HANG:
		if (!drill_hangs_already(c, i) && drill_cuda_met(i))
			drill_hang(c, i);
		break;
	case DRILL_DEVICE_SLOW:
		if (drill_fault_holds(i))
			drill_slow_begin(c, i);
		break;
	case DRILL_DEVICE_FLIP:
		if (!drill_flip_can(c, i))
			break;
		if (drill_cuda_met(i))
			drill_flip_begin(c, i);
		else
			drill_flip_cannot(c);
		break;
	}
	return false;
}

/* @named: only faults that name this very entry. */
static bool meets(struct drill_call *c, bool named)
{
	uint32_t armed = atomic_load_explicit(&drill_cuda.page->armed,
					      memory_order_acquire);
	unsigned int i;

	for (; armed; armed &= armed - 1) {
		i = (unsigned int)__builtin_ctz(armed);
		if (i >= DRILL_DEVICE_FAULTS)
			break;
		if (named && !drill_fault(i)->call)
			continue;
		if (drill_cuda_concerns(i) && is_about(c, drill_fault(i)) &&
		    hit(c, i))
			return true;
	}
	return false;
}

bool drill_call_is_told(struct drill_call *c)
{
	return meets(c, true);
}

bool drill_call_enter(struct drill_call *c)
{
	if (drill_capture_failed(c) || drill_context_fails(c) ||
	    meets(c, false))
		return true;
	drill_wait_begin(c);
	return false;
}

CUresult drill_call_leave(struct drill_call *c)
{
	drill_wait_end(c);
	drill_slow_end(c);
	drill_flip_end(c);
	if (c->sticky && !c->result)
		drill_context_breaks(c, (unsigned int)c->sticky - 1, false);
	return c->result;
}

bool drill_effect_before(unsigned int call, CUresult *result)
{
	struct drill_call c = { .number = call };

	if (!drill_call_enter(&c))
		return false;
	*result = c.result;
	return true;
}

void drill_effect_start(void)
{
	drill_cuda_kinds(kind);
	drill_cuda_families(drill_family);
	drill_contexts_start();
}

/* Another thread may have held a lock when its process was copied. */
void drill_effect_child(void)
{
	drill_contexts_start();
	drill_captures_start();
	drill_hangs_start();
	drill_flips_start();
	drill_init_start();
}
