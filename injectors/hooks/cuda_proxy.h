/* cuda_proxy.h - the CUDA proxy's parts, and what a typed wrapper may rely on
 * SPDX-License-Identifier: MIT
 *
 * A call's way through the proxy:
 *
 *   the export (cuda_trampoline.S): counts the call in the thread's lane, tests
 *   hot[] and jumps to go[call]: the next library, or the wrapper when that is
 *   ALWAYS called (cuda_wraps.h)
 *
 *   hot: drill_cuda_before() (cuda_before.c) with all argument registers saved;
 *   it asks drill_effect_before(), which may answer in the call's place; else
 *   the call goes on to its wrapper, or to the next library
 *
 * Before the first call everything is hot, and so is everything in a forked
 * child. A wrapper calls the next library by drill_next(symbol)(arguments).
 * Wrappers and effects never call an export of the proxy.
 *
 * Parts: cuda_next.c finds the next library, cuda_proxy.c starts, says hello and
 * obeys fork, cuda_proc.c is cuGetProcAddress, cuda_before.c the slow way and
 * who is hit, cuda_effect.c and cuda_wrap_*.c what a fault does.
 */
#ifndef DRILL_CUDA_PROXY_H
#define DRILL_CUDA_PROXY_H

#include "cuda_symbols.h"
#include "device_step.h"

#include "faultdrill/cuda_api.h"

#define DRILL_CUDA_ENUM(number, symbol, since) DRILL_CALL_##symbol = number,
enum drill_cuda_call { DRILL_CUDA_SYMBOLS(DRILL_CUDA_ENUM) };

#pragma GCC visibility push(hidden)

struct drill_cuda {
	struct drill_device_page *page;	    /* NULL: passive */
	struct drill_device_client *client; /* NULL when page is */
	int32_t index;			    /* of the client */
	int32_t rank, attempt;		    /* -1, 0: not known */
	int32_t pid;
	char comm[16];
	/* Entry points of the next library; one that it lacks is a function
	 * that returns CUDA_ERROR_NOT_SUPPORTED. Never NULL once started. */
	void *next[DRILL_CUDA_CALLS];
};

extern struct drill_cuda drill_cuda;

/* The thread's lane of the client; a private one while passive. */
struct drill_device_lane *drill_cuda_lane_of_thread(void);

/* Needs the symbol's prototype, of cuda_api.h or one's own. */
#define drill_next(symbol)                                                     \
	((__typeof__(&symbol))drill_cuda.next[DRILL_CALL_##symbol])

/* A call that @fault is about has come (its kernel's name and its device are
 * the caller's to check before). Counts it and says whether it is one to hit by
 * state, rank, attempt, nth, every, ppm and count; the first hit fires the
 * fault, so its lines and states are there on return. */
bool drill_cuda_met(unsigned int fault);

/* Is @fault about this process, and armed or fired? */
bool drill_cuda_concerns(unsigned int fault);

/* @call is about to say @fault's error, or to block in its name. */
void drill_cuda_surfaces(unsigned int fault, unsigned int call);

/* What cuda_effect.c has to offer. */

/* In the slow way of each hot call without a wrapper. True: the call returns *result at once. */
bool drill_effect_before(unsigned int call, CUresult *result);
/* Once, when the page is mapped and the client claimed; no CUDA call may be
 * made in it. */
void drill_effect_start(void);
/* In a forked child: what was tracked is the parent's. Only stores; what was
 * locked at the fork is to be made anew. */
void drill_effect_child(void);

#pragma GCC visibility pop

#endif
