/* draw.h - numbers that a seed repeats: who is hit, which bits flip
 * SPDX-License-Identifier: MIT
 *
 * The last steps of splitmix64 (Steele, Lea, Flood 2014), which is public
 * domain: each bit of @x moves about half of the result's.
 */
#ifndef DRILL_DRAW_H
#define DRILL_DRAW_H

#include <stdint.h>

#define DRILL_DRAW_STEP UINT64_C(0x9e3779b97f4a7c15)

static inline uint64_t drill_draw(uint64_t x)
{
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

#endif
