/* rng.h - named random streams: one draw more in one does not shift the others
 * SPDX-License-Identifier: MIT
 */
#ifndef DRILL_RNG_H
#define DRILL_RNG_H

#include <stdint.h>

struct drill_rng {
	uint64_t state;
};

/* The stream @name of the run with @seed, always the same. */
void drill_rng_init(struct drill_rng *r, uint64_t seed, const char *name);
uint64_t drill_rng_next(struct drill_rng *r);
/* [0, 1) */
double drill_rng_unit(struct drill_rng *r);
/* [0, n), without bias; n > 0. */
uint64_t drill_rng_below(struct drill_rng *r, uint64_t n);
/* Exponentially distributed with that mean. */
double drill_rng_exponential(struct drill_rng *r, double mean);
/* A seed from the system, small enough to type. */
uint64_t drill_rng_fresh_seed(void);

#endif
