/* cuda_kind.h - what an entry of the driver is, and which of them a fault is met at
 * SPDX-License-Identifier: MIT
 *
 * The agent asks, to send no others through the slow way, and the proxy does.
 */
#ifndef DRILL_CUDA_KIND_H
#define DRILL_CUDA_KIND_H

#include "cuda_symbols.h"
#include "device_page.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* What a call is, as far as errors and faults care. */
enum drill_kind {
	DRILL_KIND_OTHER, /* of a context, but does not look at its work */
	DRILL_KIND_APART, /* of no context: devices, texts, the stack */
	DRILL_KIND_LAUNCH,
	DRILL_KIND_COPY,
	DRILL_KIND_SYNC,
	DRILL_KIND_QUERY,
	DRILL_KIND_ALLOC,
	DRILL_KIND_FREE,
};

/* An entry is what the first of these says that its symbol begins with. */
#define DRILL_CUDA_KINDS(ROW)						\
	ROW(cuInit, APART)						\
	ROW(cuDriverGet, APART)						\
	ROW(cuGet, APART)						\
	ROW(cuDeviceGetGraphMem, OTHER)					\
	ROW(cuDevice, APART)						\
	ROW(cuCtxCreate, APART)						\
	ROW(cuCtxDestroy, APART)					\
	ROW(cuCtxPush, APART)						\
	ROW(cuCtxPop, APART)						\
	ROW(cuCtxSetCurrent, APART)					\
	ROW(cuCtxGetCurrent, APART)					\
	ROW(cuCtxFromGreenCtx, APART)					\
	ROW(cuGreenCtxCreate, APART)					\
	ROW(cuThreadExchange, APART)					\
	ROW(cuProfiler, APART)						\
	ROW(cuLogs, APART)						\
	ROW(cuCheckpoint, APART)					\
	ROW(cuCoredump, APART)						\
	ROW(cuTensorMap, APART)						\
	ROW(cuLaunchHostFunc, COPY)					\
	ROW(cuLaunch, LAUNCH)						\
	ROW(cuGraphLaunch, LAUNCH)					\
	ROW(cuMemcpy, COPY)						\
	ROW(cuMemset, COPY)						\
	ROW(cuMemPrefetch, COPY)					\
	ROW(cuEventRecord, COPY)					\
	ROW(cuStreamWait, COPY)						\
	ROW(cuCtxSynchronize, SYNC)					\
	ROW(cuStreamSynchronize, SYNC)					\
	ROW(cuEventSynchronize, SYNC)					\
	ROW(cuEventElapsedTime, QUERY)					\
	ROW(cuStreamQuery, QUERY)					\
	ROW(cuEventQuery, QUERY)					\
	ROW(cuMemAllocHost, OTHER)					\
	ROW(cuMemAlloc, ALLOC)						\
	ROW(cuMemCreate, ALLOC)						\
	ROW(cuArrayCreate, ALLOC)					\
	ROW(cuArray3DCreate, ALLOC)					\
	ROW(cuMipmappedArrayCreate, ALLOC)				\
	ROW(cuMemFree, FREE)						\
	ROW(cuModuleUnload, FREE)

/* By entry: its enum drill_kind. */
static inline void drill_cuda_kinds(uint8_t ret[DRILL_CUDA_CALLS])
{
	static const char *const symbols[DRILL_CUDA_CALLS] = {
#define DRILL_CUDA_NAME(number, symbol, since) [number] = #symbol,
		DRILL_CUDA_SYMBOLS(DRILL_CUDA_NAME)
#undef DRILL_CUDA_NAME
	};
	static const struct {
		const char *begin;
		enum drill_kind kind;
	} kinds[] = {
#define DRILL_CUDA_BEGIN(begin, kind) { #begin, DRILL_KIND_##kind },
		DRILL_CUDA_KINDS(DRILL_CUDA_BEGIN)
#undef DRILL_CUDA_BEGIN
	};
	size_t k, n = sizeof(kinds) / sizeof(kinds[0]);

	for (int i = 0; i < DRILL_CUDA_CALLS; i++) {
		for (k = 0; k < n && strncmp(symbols[i], kinds[k].begin,
					     strlen(kinds[k].begin)); k++)
			;
		ret[i] = k < n ? (uint8_t)kinds[k].kind : DRILL_KIND_OTHER;
	}
}

/* Is a fault that names no entry met at one of this kind? */
static inline bool drill_kind_triggers(const struct drill_device_fault *f,
				       enum drill_kind k)
{
	switch (f->action) {
	case DRILL_DEVICE_FLIP:
		return k == (f->flip_where == DRILL_FLIP_COPY ?
				     DRILL_KIND_COPY : DRILL_KIND_LAUNCH);
	case DRILL_DEVICE_OOM:
		return k == DRILL_KIND_ALLOC;
	case DRILL_DEVICE_NO_PEER:
	case DRILL_DEVICE_ABSENT:
		return k == DRILL_KIND_LAUNCH && (f->nth || f->kernel[0]);
	default:
		return k == DRILL_KIND_LAUNCH;
	}
}

/* Until it has fired, is it asked for at one of this kind? What there is, how
 * much room, what has become of a capture is asked at any. */
static inline bool drill_kind_asks(const struct drill_device_fault *f,
				   enum drill_kind k)
{
	return f->action == DRILL_DEVICE_NO_PEER ||
	       f->action == DRILL_DEVICE_ABSENT ||
	       f->action == DRILL_DEVICE_OOM ||
	       f->action == DRILL_DEVICE_RETURN || drill_kind_triggers(f, k);
}

#endif
