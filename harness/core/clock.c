/* clock.c - the machine's clocks, and the offset of another host's
 * SPDX-License-Identifier: MIT
 */
#include "clock.h"

#include <time.h>

/* What reading a clock may take, with a cold cache and a page fault. */
#define READ_NS 1000
/* Two crystals drift apart by no more than this: 100 ppm. */
#define DRIFT_DIVISOR 10000

static int64_t read_clock(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static int64_t raw_ns(void *ctx)
{
	(void)ctx;
	return read_clock(CLOCK_MONOTONIC_RAW);
}

static int64_t boot_ns(void *ctx)
{
	(void)ctx;
	return read_clock(CLOCK_BOOTTIME);
}

static int64_t wall_ns(void *ctx)
{
	(void)ctx;
	return read_clock(CLOCK_REALTIME);
}

const struct drill_clock *drill_clock_system(void)
{
	static const struct drill_clock system_clock = {
		.raw_ns = raw_ns,
		.boot_ns = boot_ns,
		.wall_ns = wall_ns,
	};

	return &system_clock;
}

#define TRIPS (sizeof(((struct drill_offset *)0)->trip) / \
	       sizeof(((struct drill_offset *)0)->trip[0]))

/* A stamp comes from another program: one that cannot be true is no trip. */
void drill_offset_add(struct drill_offset *o, int64_t sent_ns,
		      int64_t received_ns, int64_t remote_ns)
{
	unsigned int i = o->n % TRIPS;
	int64_t rtt, middle, offset;

	if (__builtin_sub_overflow(received_ns, sent_ns, &rtt) || rtt < 0)
		return;
	middle = sent_ns + rtt / 2;
	if (__builtin_sub_overflow(remote_ns, middle, &offset))
		return;
	o->trip[i].local_ns = middle;
	o->trip[i].offset_ns = offset;
	o->trip[i].rtt_ns = rtt;
	o->n++;
	if (o->n >= 1000 * TRIPS) /* keeps n % TRIPS and "full" right */
		o->n -= 500 * TRIPS;
}

static unsigned int best(const struct drill_offset *o)
{
	unsigned int i, b = 0, n = o->n < TRIPS ? o->n : TRIPS;

	for (i = 1; i < n; i++)
		if (o->trip[i].rtt_ns < o->trip[b].rtt_ns)
			b = i;
	return b;
}

static int64_t distance(int64_t a, int64_t b)
{
	int64_t d;

	if (__builtin_sub_overflow(a, b, &d))
		return INT64_MAX;
	if (d == INT64_MIN)
		return INT64_MAX;
	return d < 0 ? -d : d;
}

int64_t drill_offset_local(const struct drill_offset *o, int64_t remote_ns,
			   int64_t now_ns, int64_t *ret_u_ns)
{
	int64_t local, u;
	unsigned int b;

	*ret_u_ns = INT64_MAX;
	if (!o->n)
		return remote_ns;
	b = best(o);
	if (__builtin_sub_overflow(remote_ns, o->trip[b].offset_ns, &local))
		return remote_ns;
	u = distance(now_ns, o->trip[b].local_ns) / DRIFT_DIVISOR;
	u += o->trip[b].rtt_ns / 2 + READ_NS; /* each far below the maximum */
	*ret_u_ns = u;
	return local;
}
