/* stream.c - splitmix64, seeded by the run's seed and the stream's name
 * SPDX-License-Identifier: MIT
 */
#include "stream.h"

#include <math.h>
#include <sys/random.h>
#include <time.h>

uint64_t drill_stream_next(struct drill_stream *r)
{
	uint64_t z = r->state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

void drill_stream_init(struct drill_stream *r, uint64_t seed, const char *name)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (; *name; name++)
		h = (h ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
	r->state = seed;
	r->state = drill_stream_next(r) ^ h;
	drill_stream_next(r);
}

double drill_stream_unit(struct drill_stream *r)
{
	return (double)(drill_stream_next(r) >> 11) * 0x1p-53;
}

uint64_t drill_stream_below(struct drill_stream *r, uint64_t n)
{
	uint64_t limit = UINT64_MAX - UINT64_MAX % n, x;

	do {
		x = drill_stream_next(r);
	} while (x >= limit);
	return x % n;
}

double drill_stream_exponential(struct drill_stream *r, double mean)
{
	return -mean * log1p(-drill_stream_unit(r));
}

uint64_t drill_stream_fresh_seed(void)
{
	uint64_t seed = 0;

	if (getrandom(&seed, sizeof(seed), 0) != sizeof(seed))
		seed = (uint64_t)time(NULL);
	return seed % 1000000000;
}
