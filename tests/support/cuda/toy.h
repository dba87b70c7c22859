/* toy.h - what the toy driver library writes down of the calls it gets
 * SPDX-License-Identifier: MIT
 */
#ifndef DRILL_TOY_H
#define DRILL_TOY_H

#include "injectors/hooks/cuda_symbols.h"

#include <stdint.h>

#define TOY_ANSWER 10000

struct toy_record {
	uint64_t reg[6], stack[5];
	double xmm0, xmm1, xmm7;
};

#endif
