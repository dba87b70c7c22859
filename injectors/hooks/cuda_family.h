/* cuda_family.h - which entries of the driver are one call to who writes programs
 * SPDX-License-Identifier: MIT
 *
 * cuMemcpyDtoH, cuMemcpyDtoH_v2 and cuMemcpyDtoH_v2_ptds are: which of them a
 * program comes by was settled when it was built.
 */
#ifndef DRILL_CUDA_FAMILY_H
#define DRILL_CUDA_FAMILY_H

#include "cuda_symbols.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline bool drill_cuda_ends_in(const char *s, size_t n, const char *tail)
{
	size_t k = strlen(tail);

	return n > k && !memcmp(s + n - k, tail, k);
}

/* Length of the name that @symbol goes by; *thread: it is the twin for streams
 * of each thread. */
static inline size_t drill_cuda_base(const char *symbol, bool *thread)
{
	size_t n = strlen(symbol);

	*thread = drill_cuda_ends_in(symbol, n, "_ptsz") ||
		  drill_cuda_ends_in(symbol, n, "_ptds");
	if (*thread)
		n -= strlen("_ptsz");
	if (n > 3 && symbol[n - 3] == '_' && symbol[n - 2] == 'v' &&
	    symbol[n - 1] >= '0' && symbol[n - 1] <= '9')
		n -= strlen("_v2");
	return n;
}

static inline uint32_t drill_cuda_hash(const char *name, size_t n)
{
	uint32_t h = 2166136261u;

	for (size_t i = 0; i < n; i++)
		h = (h ^ (unsigned char)name[i]) * 16777619u;
	return h ^ h >> 15;
}

/* By entry: the first one of its family. */
static inline void drill_cuda_families(uint16_t ret[DRILL_CUDA_CALLS])
{
	static const char *const symbols[DRILL_CUDA_CALLS] = {
#define DRILL_CUDA_NAME(number, symbol, since) [number] = #symbol,
		DRILL_CUDA_SYMBOLS(DRILL_CUDA_NAME)
#undef DRILL_CUDA_NAME
	};
	enum { SLOTS = 2048 };
	uint16_t first[SLOTS] = { 0 }; /* 1 + entry */
	size_t length[DRILL_CUDA_CALLS];
	uint32_t at;
	bool thread;

	_Static_assert(2 * DRILL_CUDA_CALLS < SLOTS, "half of them stay free");
	for (unsigned int i = 0; i < DRILL_CUDA_CALLS; i++) {
		length[i] = drill_cuda_base(symbols[i], &thread);
		at = drill_cuda_hash(symbols[i], length[i]) % SLOTS;
		while (first[at] &&
		       (length[first[at] - 1] != length[i] ||
			memcmp(symbols[first[at] - 1], symbols[i], length[i])))
			at = (at + 1) % SLOTS;
		if (!first[at])
			first[at] = (uint16_t)(i + 1);
		ret[i] = (uint16_t)(first[at] - 1);
	}
}

#endif
