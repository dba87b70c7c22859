/* cuda_wrap_memory.c - the driver's allocations, and what it says is left
 * SPDX-License-Identifier: MIT
 */
#include "cuda_wrap.h"
#include "device_load.h"

CUresult cuMemAllocPitch_v2(CUdeviceptr *ptr, size_t *pitch, size_t width,
			    size_t height, unsigned int element);
CUresult cuMemAllocManaged(CUdeviceptr *ptr, size_t bytes, unsigned int flags);
CUresult cuMemAllocFromPoolAsync(CUdeviceptr *ptr, size_t bytes, void *pool,
				 CUstream stream);
CUresult cuMemAllocFromPoolAsync_ptsz(CUdeviceptr *ptr, size_t bytes,
				      void *pool, CUstream stream);
CUresult cuMemCreate(unsigned long long *handle, size_t bytes,
		     const void *prop, unsigned long long flags);

#define ALLOCATE(symbol, params, n, ...)                                       \
	WRAPS(symbol);                                                         \
	CUresult drill_wrap_##symbol params                                    \
	{                                                                      \
		struct drill_call c = { PLAIN(symbol), .bytes = (n) };         \
                                                                               \
		return CALL(c, symbol, __VA_ARGS__);                           \
	}

ALLOCATE(cuMemAlloc_v2, (CUdeviceptr * ptr, size_t bytes), bytes, ptr, bytes)
ALLOCATE(cuMemAllocPitch_v2,
	 (CUdeviceptr * ptr, size_t *pitch, size_t width, size_t height,
	  unsigned int element),
	 width * height, ptr, pitch, width, height, element)
ALLOCATE(cuMemAllocManaged,
	 (CUdeviceptr * ptr, size_t bytes, unsigned int flags), bytes, ptr,
	 bytes, flags)
ALLOCATE(cuMemCreate,
	 (unsigned long long *handle, size_t bytes, const void *prop,
	  unsigned long long flags),
	 bytes, handle, bytes, prop, flags)

#define ALLOCATE_ASYNC(symbol, own)                                            \
	WRAPS(symbol);                                                         \
	CUresult drill_wrap_##symbol(CUdeviceptr *ptr, size_t bytes,           \
				     CUstream stream)                          \
	{                                                                      \
		struct drill_call c = { STREAMED(symbol, stream, own),         \
					.bytes = bytes };                      \
                                                                               \
		return CALL(c, symbol, ptr, bytes, stream);                    \
	}

ALLOCATE_ASYNC(cuMemAllocAsync, NULL)
ALLOCATE_ASYNC(cuMemAllocAsync_ptsz, CU_STREAM_PER_THREAD)

#define ALLOCATE_FROM_POOL(symbol, own)                                        \
	WRAPS(symbol);                                                         \
	CUresult drill_wrap_##symbol(CUdeviceptr *ptr, size_t bytes,           \
				     void *pool, CUstream stream)              \
	{                                                                      \
		struct drill_call c = { STREAMED(symbol, stream, own),         \
					.bytes = bytes };                      \
                                                                               \
		return CALL(c, symbol, ptr, bytes, pool, stream);              \
	}

ALLOCATE_FROM_POOL(cuMemAllocFromPoolAsync, NULL)
ALLOCATE_FROM_POOL(cuMemAllocFromPoolAsync_ptsz, CU_STREAM_PER_THREAD)

/* It waits for the work of its context. */
WRAPS(cuMemFree_v2);
CUresult drill_wrap_cuMemFree_v2(CUdeviceptr ptr)
{
	struct drill_call c = { PLAIN(cuMemFree_v2), .whole = true,
				.blocks = true };

	return CALL(c, cuMemFree_v2, ptr);
}

WRAPS(cuMemGetInfo_v2);
CUresult drill_wrap_cuMemGetInfo_v2(size_t *available, size_t *total)
{
	struct drill_call c = { PLAIN(cuMemGetInfo_v2) };

	CALL(c, cuMemGetInfo_v2, available, total);
	if (!c.result)
		*available = drill_device_room(
			drill_cuda.page, drill_context_device(&c),
			drill_cuda.rank, drill_cuda.attempt,
			*total - *available, *available);
	return c.result;
}
