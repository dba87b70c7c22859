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

/* By entry: its enum drill_kind, by the first that the symbol begins with. */
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
		{ "cuInit", DRILL_KIND_APART },
		{ "cuDriverGet", DRILL_KIND_APART },
		{ "cuGet", DRILL_KIND_APART },
		{ "cuDeviceGetGraphMem", DRILL_KIND_OTHER },
		{ "cuDevice", DRILL_KIND_APART },
		{ "cuCtxCreate", DRILL_KIND_APART },
		{ "cuCtxDestroy", DRILL_KIND_APART },
		{ "cuCtxPush", DRILL_KIND_APART },
		{ "cuCtxPop", DRILL_KIND_APART },
		{ "cuCtxSetCurrent", DRILL_KIND_APART },
		{ "cuCtxGetCurrent", DRILL_KIND_APART },
		{ "cuCtxFromGreenCtx", DRILL_KIND_APART },
		{ "cuGreenCtxCreate", DRILL_KIND_APART },
		{ "cuThreadExchange", DRILL_KIND_APART },
		{ "cuProfiler", DRILL_KIND_APART },
		{ "cuLogs", DRILL_KIND_APART },
		{ "cuCheckpoint", DRILL_KIND_APART },
		{ "cuCoredump", DRILL_KIND_APART },
		{ "cuTensorMap", DRILL_KIND_APART },
		{ "cuLaunchHostFunc", DRILL_KIND_COPY },
		{ "cuLaunch", DRILL_KIND_LAUNCH },
		{ "cuGraphLaunch", DRILL_KIND_LAUNCH },
		{ "cuMemcpy", DRILL_KIND_COPY },
		{ "cuMemset", DRILL_KIND_COPY },
		{ "cuMemPrefetch", DRILL_KIND_COPY },
		{ "cuEventRecord", DRILL_KIND_COPY },
		{ "cuStreamWait", DRILL_KIND_COPY },
		{ "cuCtxSynchronize", DRILL_KIND_SYNC },
		{ "cuStreamSynchronize", DRILL_KIND_SYNC },
		{ "cuEventSynchronize", DRILL_KIND_SYNC },
		{ "cuEventElapsedTime", DRILL_KIND_QUERY },
		{ "cuStreamQuery", DRILL_KIND_QUERY },
		{ "cuEventQuery", DRILL_KIND_QUERY },
		{ "cuMemAllocHost", DRILL_KIND_OTHER },
		{ "cuMemAlloc", DRILL_KIND_ALLOC },
		{ "cuMemCreate", DRILL_KIND_ALLOC },
		{ "cuArrayCreate", DRILL_KIND_ALLOC },
		{ "cuArray3DCreate", DRILL_KIND_ALLOC },
		{ "cuMipmappedArrayCreate", DRILL_KIND_ALLOC },
		{ "cuMemFree", DRILL_KIND_FREE },
		{ "cuModuleUnload", DRILL_KIND_FREE },
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
