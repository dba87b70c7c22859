/* clock.h - time as everything here sees it: injectable, in nanoseconds
 * SPDX-License-Identifier: MIT
 *
 * Intervals are measured on CLOCK_MONOTONIC_RAW, which no time daemon slews.
 * Deadlines that must survive suspend are on CLOCK_BOOTTIME. The wall clock is
 * for people only and never takes part in an interval.
 */
#ifndef DRILL_CLOCK_H
#define DRILL_CLOCK_H

#include <stdint.h>

struct drill_clock {
	int64_t (*raw_ns)(void *ctx);  /* CLOCK_MONOTONIC_RAW */
	int64_t (*boot_ns)(void *ctx); /* CLOCK_BOOTTIME */
	int64_t (*wall_ns)(void *ctx); /* CLOCK_REALTIME */
	void *ctx;
};

/* The machine's clocks. Borrowed, lives for ever. */
const struct drill_clock *drill_clock_system(void);

static inline int64_t drill_raw_ns(const struct drill_clock *c)
{
	return c->raw_ns(c->ctx);
}

/* The offset of another host's clock by round trips:
 * the midpoint of the round trip of least RTT among the last 64, its error
 * bounded by RTT/2 + 100 ppm x age + read time. */
struct drill_offset {
	struct { int64_t local_ns, offset_ns, rtt_ns; } trip[64];
	unsigned int n; /* trips seen, also beyond 64 */
};

/* One round trip: sent and received on our clock, @remote_ns read between. */
void drill_offset_add(struct drill_offset *o, int64_t sent_ns,
		      int64_t received_ns, int64_t remote_ns);

/* Converts a remote stamp to our clock; @ret_u_ns gets the bound of the error.
 * Before the first trip: returns @remote_ns and an uncertainty of INT64_MAX. */
int64_t drill_offset_local(const struct drill_offset *o, int64_t remote_ns,
			   int64_t now_ns, int64_t *ret_u_ns);

#endif
