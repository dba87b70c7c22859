/* hook_ticks.h - the cheapest clock there is: the processor's own counter
 * SPDX-License-Identifier: MIT
 *
 * Only where the counter runs at one rate on all cores; else ticks are
 * CLOCK_MONOTONIC_RAW in ns. The agent decides once and writes the rate into
 * the page, so that hooks and agent agree.
 */
#ifndef DRILL_HOOK_TICKS_H
#define DRILL_HOOK_TICKS_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#define DRILL_RAW_TICKS UINT64_C(1000000000)

static inline int64_t hook_raw_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static inline uint64_t hook_counter(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	uint64_t v;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(v));
	return v;
#else
	return (uint64_t)hook_raw_ns();
#endif
}

static inline uint64_t hook_ticks(uint64_t ticks_per_s)
{
	return ticks_per_s == DRILL_RAW_TICKS ? (uint64_t)hook_raw_ns() :
						hook_counter();
}

#endif
