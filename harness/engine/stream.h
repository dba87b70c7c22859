/* stream.h - named random streams: a draw more in one does not shift the others
 * SPDX-License-Identifier: MIT
 */
#ifndef DRILL_STREAM_H
#define DRILL_STREAM_H

#include <stdint.h>

struct drill_stream {
	uint64_t state;
};

/* The stream @name of the run with @seed, always the same. */
void drill_stream_init(struct drill_stream *r, uint64_t seed, const char *name);
uint64_t drill_stream_next(struct drill_stream *r);
/* [0, 1) */
double drill_stream_unit(struct drill_stream *r);
/* [0, n), without bias; n > 0. */
uint64_t drill_stream_below(struct drill_stream *r, uint64_t n);
/* Exponentially distributed with that mean. */
double drill_stream_exponential(struct drill_stream *r, double mean);
/* A seed from the system, small enough to type. */
uint64_t drill_stream_fresh_seed(void);

#endif
