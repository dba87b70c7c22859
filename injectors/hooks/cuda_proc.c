/* cuda_proc.c - cuGetProcAddress: what the driver gives out, as ours
 * SPDX-License-Identifier: MIT
 *
 * The next library is asked with the caller's own version and flags, and only
 * the pointer it gave is changed: into the export of ours that goes there. Which
 * one, its address says; where it gave an address that it does not export, the
 * name, version and flags do. What is not known either way passes through and
 * is counted.
 */
#include "cuda_family.h"
#include "cuda_parts.h"
#include "old_libc.h"

#include <pthread.h>
#include <string.h>

#define NONE UINT16_MAX
#define SLOTS 2048u /* a power of two, more than twice the calls */
#define FLAG_THREAD 2u

static const struct {
	const char *symbol;
	int since;
} known[DRILL_CUDA_CALLS] = {
#define KNOWN(number, symbol, since) { #symbol, since },
	DRILL_CUDA_SYMBOLS(KNOWN)
};

/* Calls by name (without _v2, _ptsz) and by the next library's address: a slot
 * holds the first of a chain. */
static uint16_t by_name[SLOTS], same_name[DRILL_CUDA_CALLS];
static uint16_t by_address[SLOTS], same_address[DRILL_CUDA_CALLS];
static uint8_t name_length[DRILL_CUDA_CALLS];
static bool of_thread[DRILL_CUDA_CALLS];
static atomic_bool given[DRILL_CUDA_CALLS];

static uint32_t hash(const char *name, size_t n)
{
	return drill_cuda_hash(name, n) % SLOTS;
}

static uint32_t hash_address(const void *p)
{
	return (uint32_t)(((uintptr_t)p >> 2) * 2654435761u >> 16) % SLOTS;
}

static void index_call(unsigned int i)
{
	uint16_t *slot;

	name_length[i] = (uint8_t)drill_cuda_base(known[i].symbol,
						  &of_thread[i]);
	slot = &by_name[hash(known[i].symbol, name_length[i])];
	same_name[i] = *slot;
	*slot = (uint16_t)i;
	same_address[i] = NONE;
	if (drill_cuda_is_missing(i))
		return;
	slot = &by_address[hash_address(drill_cuda.next[i])];
	same_address[i] = *slot;
	*slot = (uint16_t)i;
}

static void make_index(void)
{
	memset(by_name, 0xff, sizeof(by_name));
	memset(by_address, 0xff, sizeof(by_address));
	for (unsigned int i = DRILL_CUDA_CALLS; i-- > 0;)
		index_call(i);
}

static bool is_called(unsigned int call, const char *name, size_t n)
{
	return name_length[call] == n && !memcmp(known[call].symbol, name, n);
}

/* The newest meaning of the name in that version. */
static unsigned int meant(const char *name, size_t n, int version, bool thread)
{
	unsigned int best = NONE;

	for (unsigned int i = by_name[hash(name, n)]; i != NONE;
	     i = same_name[i])
		if (of_thread[i] == thread && is_called(i, name, n) &&
		    known[i].since <= version &&
		    (best == NONE || known[i].since > known[best].since))
			best = i;
	return best;
}

static unsigned int find_meant(const char *name, size_t n, int version,
			       cuuint64_t flags)
{
	unsigned int call = NONE;

	if (version > DRILL_CUDA_NEWEST)
		return NONE;
	if (flags & FLAG_THREAD)
		call = meant(name, n, version, true);
	return call != NONE ? call : meant(name, n, version, false);
}

/* Several exports may be one function: then the one of that name. */
static unsigned int find_address(const void *p, const char *name, size_t n)
{
	unsigned int first = NONE;

	for (unsigned int i = by_address[hash_address(p)]; i != NONE;
	     i = same_address[i]) {
		if (drill_cuda.next[i] != p)
			continue;
		if (is_called(i, name, n))
			return i;
		if (first == NONE)
			first = i;
	}
	return first;
}

static unsigned int find(const char *name, int version, cuuint64_t flags,
			 void *p)
{
	size_t n = strlen(name);
	unsigned int call = find_meant(name, n, version, flags), at;

	if (call != NONE && drill_cuda.next[call] == p)
		return call;
	at = find_address(p, name, n);
	if (at != NONE)
		return at;
	/* Given out, but not exported: that is where ours is to go, too. */
	if (call != NONE && drill_cuda_is_missing(call)) {
		__atomic_store_n(&drill_cuda.next[call], p, __ATOMIC_RELEASE);
		drill_cuda_settle_anew(call);
	}
	return call;
}

static void swap(const char *name, int version, cuuint64_t flags, void **pfn)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct drill_device_client *c = drill_cuda.client;
	unsigned int call;

	pthread_once(&once, make_index);
	call = find(name, version, flags, *pfn);
	if (call == NONE) {
		if (c)
			atomic_fetch_add(&c->passed, 1);
		return;
	}
	atomic_store(&given[call], true);
	*pfn = drill_cuda_export[call];
	if (c)
		atomic_fetch_add(&c->remapped, 1);
}

bool drill_cuda_was_given(unsigned int call)
{
	return atomic_load(&given[call]);
}

CUresult drill_cuda_proc(const char *symbol, void **pfn, int version,
			 cuuint64_t flags)
{
	CUresult r = drill_next(cuGetProcAddress)(symbol, pfn, version, flags);

	if (r == CUDA_SUCCESS && symbol && pfn && *pfn)
		swap(symbol, version, flags, pfn);
	return r;
}

CUresult drill_cuda_proc_v2(const char *symbol, void **pfn, int version,
			    cuuint64_t flags,
			    CUdriverProcAddressQueryResult *status)
{
	CUresult r = drill_next(cuGetProcAddress_v2)(symbol, pfn, version,
						     flags, status);

	if (r == CUDA_SUCCESS && symbol && pfn && *pfn)
		swap(symbol, version, flags, pfn);
	return r;
}
