/* cuda_call.h - one call of the driver on its way through the faults
 * SPDX-License-Identifier: MIT
 *
 * A typed wrapper fills a struct drill_call with what the faults want to know
 * of its arguments and goes
 *
 *	if (drill_call_enter(&c))
 *		return c.result;
 *	c.result = drill_next(symbol)(arguments);
 *	return drill_call_leave(&c);
 *
 * Calls without a wrapper are entered by drill_effect_before() with nothing but
 * their number. Nothing here is reached while the entry is cold.
 */
#ifndef DRILL_CUDA_CALL_H
#define DRILL_CUDA_CALL_H

#include "cuda_family.h"
#include "cuda_kind.h"
#include "cuda_proxy.h"
#include "hook_ticks.h"

#include <stdbool.h>

#define DRILL_MAX_CANDIDATES 16

/* Memory that a fault may flip bits of: from `at` on, in an allocation. */
struct drill_range {
	uint64_t at, base, size;
};

struct drill_call {
	unsigned int number;
	CUresult result;
	bool streamed; /* `stream` means something */
	bool whole;    /* it waits for all of its context */
	bool blocks;   /* it returns when its work is done */
	CUstream stream;
	CUevent event;
	CUfunction fn; /* launches */
	void **params, **extra;
	uint64_t dst; /* copies; allocations: where the address is put */
	bool to_host;
	size_t bytes;
	/* Filled on the way. */
	int sticky; /* 1 + fault whose error comes after this call */
	struct drill_slow *slow;
	struct drill_flip *flip;
	int waits; /* 1 + fault in whose name it may block */
};

#pragma GCC visibility push(hidden)

/* ---- cuda_effect.c ---- */
/* By entry: the first of its family. */
extern uint16_t drill_family[DRILL_CUDA_CALLS];
/* Is the entry the one that the fault names? */
static inline bool drill_is_named(const struct drill_device_fault *f,
				  unsigned int number)
{
	return f->call == number + 1 ||
	       (f->family && f->call && f->call <= DRILL_CUDA_CALLS &&
		drill_family[f->call - 1] == drill_family[number]);
}
enum drill_kind drill_kind_of(unsigned int number);
bool drill_call_enter(struct drill_call *c);
CUresult drill_call_leave(struct drill_call *c);
/* For a call that is not entered: only what is told to this very entry. */
bool drill_call_is_told(struct drill_call *c);
/* The call says @fault's error, or 600 or nothing in its name. */
void drill_call_says(const struct drill_call *c, unsigned int fault);
/* Is fault @i still the one that had @mark, and in force? */
bool drill_fault_lasts(unsigned int i, uint64_t mark);
/* From its first hit on a lasting fault is in force for every call. */
bool drill_fault_holds(unsigned int i);
/* The same of one that may wait for its own call or launch first. */
bool drill_fault_stands(unsigned int i);
/* At most @ns, and no longer than fault @i lasts. */
void drill_sleep_in_fault(unsigned int i, uint64_t mark, int64_t ns);
static inline struct drill_device_fault *drill_fault(unsigned int i)
{
	return &drill_cuda.page->fault[i];
}

/* ---- cuda_context.c ---- */
/* The sick context's error for this call; c->result is filled. */
bool drill_context_fails(struct drill_call *c);
/* The call's context will say @fault's error: from the next call that looks at
 * its work on, or (@now) with this one. */
void drill_context_breaks(struct drill_call *c, unsigned int fault, bool now);
/* Device (index on the page) of the context that the call works in; -1. */
int drill_context_device(const struct drill_call *c);
CUcontext drill_context_of(const struct drill_call *c);
/* @of_device: it is the device's primary one. */
void drill_context_made(CUcontext ctx, CUdevice dev, bool of_device);
void drill_context_gone(CUcontext ctx);
CUcontext drill_context_primary(CUdevice dev);
/* What a new context on @dev gets. */
CUresult drill_context_refused(const struct drill_call *c, CUdevice dev);
/* Has its error come up? c->result is filled. */
bool drill_context_is_sick(struct drill_call *c, CUcontext ctx);
int drill_context_device_of(CUcontext ctx);
/* These, and their like below, are called in a child, too: only stores. */
void drill_contexts_start(void);

/* ---- cuda_device.c ---- */
/* Index on the page of a device as CUDA numbers it, or -1. */
int drill_device_index(CUdevice dev);
bool drill_peers_refused(unsigned int number, int a, int b);
CUresult drill_init(unsigned int flags);
void drill_init_start(void);

/* ---- cuda_use.c ---- */
/* After the first cuInit: from now on others see what this process does. */
void drill_use_start(void);
/* What is done in a stream stands for a kernel, from the one to the other. */
void drill_use_kernel(int device, bool executes);

/* ---- cuda_kernel.c ---- */
void drill_kernel_is(const void *fn, const char *name);
/* NULL: not known. */
const char *drill_kernel_name(CUfunction fn);
/* The allocations that a launch's arguments point into. */
int drill_kernel_memory(const struct drill_call *c,
			struct drill_range ret[DRILL_MAX_CANDIDATES]);
/* The allocation that @at lies in. */
bool drill_range_of(uint64_t at, struct drill_range *ret);

/* ---- cuda_capture.c ---- */
void drill_captures_start(void);
/* Is the call's stream being captured? */
bool drill_capturing(const struct drill_call *c);
bool drill_anything_captures(void);
/* An error inside a capture is the capture's end. */
void drill_capture_fails(const struct drill_call *c);
/* The call is of a capture that has failed; c->result is filled. */
bool drill_capture_failed(struct drill_call *c);
void drill_capture_begins(void);
CUresult drill_capture_end(struct drill_call *c, CUgraph *graph,
			   CUresult (*end)(CUstream, CUgraph *));
CUresult drill_capture_status(struct drill_call *c,
			      CUstreamCaptureStatus *status);

/* ---- cuda_stream.c: what is done in the order of a stream ---- */
void drill_hangs_start(void);
CUresult drill_enqueue(const struct drill_call *c, CUhostFn fn, void *data);
void drill_hang(struct drill_call *c, unsigned int fault);
bool drill_hangs_already(const struct drill_call *c, unsigned int fault);
void drill_slow_begin(struct drill_call *c, unsigned int fault);
void drill_slow_end(struct drill_call *c);
/* Around a call that may block behind what hangs. */
void drill_wait_begin(struct drill_call *c);
void drill_wait_end(struct drill_call *c);

/* ---- cuda_flip.c ---- */
void drill_flips_start(void);
/* Is there anything to flip bits of in this call? */
bool drill_flip_can(struct drill_call *c, unsigned int fault);
/* After can: it is not this call's turn. */
void drill_flip_cannot(struct drill_call *c);
/* The context has taken its memory along. */
void drill_flip_forget(CUcontext ctx);
void drill_flip_begin(struct drill_call *c, unsigned int fault);
void drill_flip_end(struct drill_call *c);

#pragma GCC visibility pop

#endif
