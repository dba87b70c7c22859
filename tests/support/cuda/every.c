/* every.c - a driver library that has every entry point and no device
 * SPDX-License-Identifier: MIT
 *
 * Stands behind the proxy where there is no driver, so that one can see what the
 * CUDA runtime asks for. cuInit says that there is no device (100). At the end
 * of the process the file that EVERY_LOG names gets the line
 *
 *   asked N resolved N distinct N tables N
 *
 * of cuGetProcAddress and cuGetExportTable. What every.S defines is replaced by
 * what is defined here.
 */
#include "injectors/hooks/cuda_symbols.h"

#include <faultdrill/cuda_api.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define S(number, symbol, since) \
	extern const char entry_##symbol[] __asm__(#symbol);
DRILL_CUDA_SYMBOLS(S)
#undef S

static const struct entry {
	const char *symbol;
	int since;
	const void *fn;
} entries[] = {
#define S(number, symbol, since) { #symbol, since, entry_##symbol },
	DRILL_CUDA_SYMBOLS(S)
#undef S
};
#define ENTRIES (sizeof(entries) / sizeof(*entries))

static int asked, resolved, tables;
static bool given[ENTRIES];

/* Is @symbol what @name means to one that asks with @flags? _v2 and the like do
 * not count, the suffix of a thread's own stream does. */
static bool means(const char *symbol, const char *name, bool own_stream)
{
	size_t n = strlen(name);
	const char *rest = symbol + n;
	bool own;

	if (strncmp(symbol, name, n) != 0)
		return false;
	if (rest[0] == '_' && rest[1] == 'v' && rest[2] >= '2' &&
	    rest[2] <= '9')
		rest += 3;
	own = !strcmp(rest, "_ptsz") || !strcmp(rest, "_ptds");
	return own ? own_stream : !*rest;
}

static bool is_own(const struct entry *e)
{
	return strstr(e->symbol, "_ptsz") || strstr(e->symbol, "_ptds");
}

/* The newest that was there in @version; one of a thread's own stream before a
 * plain one. */
static int find(const char *name, int version, cuuint64_t flags)
{
	int best = -1;
	size_t i;

	for (i = 0; i < ENTRIES; i++) {
		const struct entry *e = &entries[i], *b = &entries[best];

		if (e->since > version || !means(e->symbol, name, flags == 2))
			continue;
		if (best < 0 || is_own(e) > is_own(b) ||
		    (is_own(e) == is_own(b) && e->since > b->since))
			best = (int)i;
	}
	return best;
}

CUresult cuGetProcAddress_v2(const char *symbol, void **pfn, int version,
			     cuuint64_t flags,
			     CUdriverProcAddressQueryResult *status)
{
	int i = symbol && *symbol ? find(symbol, version, flags) : -1;

	asked++;
	*pfn = i < 0 ? NULL : (void *)entries[i].fn;
	if (status)
		*status = i < 0;
	if (i < 0)
		return CUDA_ERROR_NOT_FOUND;
	resolved++;
	given[i] = true;
	return CUDA_SUCCESS;
}

CUresult cuGetProcAddress(const char *symbol, void **pfn, int version,
			  cuuint64_t flags)
{
	return cuGetProcAddress_v2(symbol, pfn, version, flags, NULL);
}

CUresult cuGetExportTable(const void **table, const CUuuid *id)
{
	(void)id;
	tables++;
	*table = NULL;
	return CUDA_ERROR_NOT_FOUND;
}

CUresult cuDriverGetVersion(int *version)
{
	*version = 13000;
	return CUDA_SUCCESS;
}

CUresult cuInit(unsigned int flags)
{
	(void)flags;
	return CUDA_ERROR_NO_DEVICE;
}

__attribute__((destructor)) static void tell(void)
{
	const char *path = getenv("EVERY_LOG");
	FILE *f = path ? fopen(path, "a") : NULL;
	int distinct = 0;
	size_t i;

	for (i = 0; i < ENTRIES; i++)
		distinct += given[i];
	if (!f)
		return;
	fprintf(f, "asked %d resolved %d distinct %d tables %d\n", asked,
		resolved, distinct, tables);
	fclose(f);
}
