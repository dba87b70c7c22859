/* toy.c - the toy driver's cuGetProcAddress, a real one's rules in few lines
 * SPDX-License-Identifier: MIT
 *
 * Beside the entries of toy.S there is "cuTomorrow", which no list knows, and
 * what TOY_HIDE names is given out at an address that is not the export's.
 */
#include "toy.h"

#include "faultdrill/cuda_api.h"

#include <stdlib.h>
#include <string.h>

#define DECLARE(number, symbol, since)                                         \
	extern const char toy_##number[] __asm__(#symbol);
DRILL_CUDA_SYMBOLS(DECLARE)

static const struct entry {
	const char *symbol;
	int since;
	const void *fn;
} entries[] = {
#define ROW(number, symbol, since) { #symbol, since, toy_##number },
	DRILL_CUDA_SYMBOLS(ROW)
};

static CUresult hidden(void)
{
	return TOY_ANSWER - 1;
}

static int rank_of(const char *symbol, const char *name, cuuint64_t flags)
{
	const char *rest = symbol + strlen(name);

	if (strncmp(symbol, name, strlen(name)))
		return 0;
	if (!strncmp(rest, "_v", 2) && rest[2])
		rest += 3;
	if (!*rest)
		return 1;
	return flags == 2 && (!strcmp(rest, "_ptsz") || !strcmp(rest, "_ptds")) ?
		2 : 0;
}

static void *find(const char *name, int version, cuuint64_t flags)
{
	const char *hide = getenv("TOY_HIDE");
	int best = -1, best_rank = 0, r;

	if (!strcmp(name, "cuTomorrow") || (hide && !strcmp(name, hide)))
		return (void *)hidden;
	for (int i = 0; i < DRILL_CUDA_CALLS; i++) {
		r = entries[i].since <= version ?
			rank_of(entries[i].symbol, name, flags) : 0;
		if (!r || r < best_rank ||
		    (r == best_rank && entries[i].since < entries[best].since))
			continue;
		best = i;
		best_rank = r;
	}
	return best < 0 ? NULL : (void *)entries[best].fn;
}

CUresult cuGetProcAddress_v2(const char *symbol, void **pfn, int version,
			     cuuint64_t flags,
			     CUdriverProcAddressQueryResult *status)
{
	void *fn = symbol && *symbol ? find(symbol, version, flags) : NULL;

	*pfn = fn;
	if (status)
		*status = fn ? CU_GET_PROC_ADDRESS_SUCCESS : 77;
	return fn || (status && version > 12000) ? CUDA_SUCCESS :
						   CUDA_ERROR_NOT_FOUND;
}

CUresult cuGetProcAddress(const char *symbol, void **pfn, int version,
			  cuuint64_t flags)
{
	return cuGetProcAddress_v2(symbol, pfn, version, flags, NULL);
}
