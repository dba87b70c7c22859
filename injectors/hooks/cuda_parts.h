/* cuda_parts.h - what the mechanism of the CUDA proxy shares among its files
 * SPDX-License-Identifier: MIT
 *
 * Typed wrappers need cuda_proxy.h only.
 */
#ifndef DRILL_CUDA_PARTS_H
#define DRILL_CUDA_PARTS_H

#include "cuda_proxy.h"

#include <stdbool.h>

/* A copy of the proxy is known by this symbol, whatever its file is called. */
#define DRILL_CUDA_MARK "faultdrill_cuda_proxy"

struct drill_cuda_mark {
	uint32_t size;
	_Atomic uint32_t started; /* 1: it speaks for the process */
	char build[64];
};

#pragma GCC visibility push(hidden)

/* Of the trampolines. */
extern void *const drill_cuda_export[DRILL_CUDA_CALLS];
extern void *_Atomic drill_cuda_go[DRILL_CUDA_CALLS];
extern const uint8_t *_Atomic drill_cuda_hot;
extern __thread struct drill_device_lane *drill_cuda_lane;

/* cuda_next.c: opens the next library and fills drill_cuda.next; says on
 * stderr what is wrong. Its path, "" when there is none; lives for ever. */
const char *drill_cuda_next_open(void);
/* What the next library has beside the driver's entries. NULL: it has not. */
void *drill_cuda_next_extra(const char *name);
/* The next library has no such entry. */
bool drill_cuda_is_missing(unsigned int call);
/* The mark of another copy of the proxy in this process that has started. */
const struct drill_cuda_mark *drill_cuda_other_copy(void);
/* Driver libraries in the process besides ours and the next one. */
unsigned int drill_cuda_strangers(void);
/* Cannot be another copy's, as the exported name can. */
extern struct drill_cuda_mark drill_cuda_my_mark;

/* cuda_proxy.c: starts once; any thread, any number of times. */
void drill_cuda_start(void);
/* A child of a process that had called cuInit is an orphan. */
enum { DRILL_CUDA_NOT_STARTED, DRILL_CUDA_STARTED, DRILL_CUDA_ORPHAN };
extern atomic_int drill_cuda_state;
/* The program called cuInit. */
void drill_cuda_saw_init(void);
/* Looks for strangers again. */
void drill_cuda_look_around(void);
void drill_cuda_complain(const char *what, const char *why);

/* cuda_proc.c */
CUresult drill_cuda_proc(const char *symbol, void **pfn, int version,
			 cuuint64_t flags);
CUresult drill_cuda_proc_v2(const char *symbol, void **pfn, int version,
			    cuuint64_t flags,
			    CUdriverProcAddressQueryResult *status);
/* Was our entry given out by cuGetProcAddress? */
bool drill_cuda_was_given(unsigned int call);

/* cuda_before.c: next[call] has changed. */
void drill_cuda_settle_anew(unsigned int call);
/* Before the first thread gets a lane, and before any other one does. */
void drill_cuda_first_thread(void);
void drill_cuda_next_thread(void);

#pragma GCC visibility pop

#endif
