/* proc.c - gives out the software device's entry points by name and version
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "soft.h"

static const struct {
	const char *name;
	int since;
	void *fn;
} table[] = {
#define ROW(name, since, symbol, args) { #name, since, (void *)symbol },
	FAULTDRILL_CUDA_FUNCTIONS(ROW)
	FAULTDRILL_CUDA_MORE_FUNCTIONS(ROW)
};

static const struct {
	const char *name;
	int since;
	void *fn;
} per_thread[] = {
#define THREAD_ROW(name, since, base, suffix)                                  \
	{ #name, since, (void *)base##suffix },
	FAULTDRILL_CUDA_THREAD_FUNCTIONS(THREAD_ROW)
};

static void *of_thread(const char *symbol, int version)
{
	void *fn = NULL;
	size_t i;

	for (i = 0; i < sizeof(per_thread) / sizeof(*per_thread); i++)
		if (!strcmp(per_thread[i].name, symbol) &&
		    per_thread[i].since <= version)
			fn = per_thread[i].fn;
	return fn;
}

/* The newest meaning that the name had in that version. */
SOFT_API CUresult cuGetProcAddress_v2(const char *symbol, void **pfn,
				      int version, cuuint64_t flags,
				      CUdriverProcAddressQueryResult *status)
{
	bool known = false;
	size_t i;

	if (!symbol || !*symbol || !pfn || flags > 2)
		return CUDA_ERROR_INVALID_VALUE;
	*pfn = NULL;
	for (i = 0; i < sizeof(table) / sizeof(*table); i++) {
		if (strcmp(table[i].name, symbol))
			continue;
		known = true;
		if (table[i].since <= version)
			*pfn = table[i].fn;
	}
	if (flags == 2 && of_thread(symbol, version))
		*pfn = of_thread(symbol, version);
	if (status)
		*status = *pfn ? CU_GET_PROC_ADDRESS_SUCCESS :
			known ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT :
				CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
	return *pfn || (known && status) ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

SOFT_API CUresult cuGetProcAddress(const char *symbol, void **pfn, int version,
				   cuuint64_t flags)
{
	return cuGetProcAddress_v2(symbol, pfn, version, flags, NULL);
}

/* The undocumented tables that the CUDA runtime wants: not here. */
SOFT_API CUresult cuGetExportTable(const void **table_out, const CUuuid *id)
{
	if (!table_out || !id)
		return CUDA_ERROR_INVALID_VALUE;
	*table_out = NULL;
	return CUDA_ERROR_NOT_FOUND;
}
