/* cuda_wrap_copy.c - the driver's copies
 * SPDX-License-Identifier: MIT
 */
#include "cuda_wrap.h"

#define AT(p) ((uint64_t)(uintptr_t)(p))

/* Those of a plain range; TO_HOST and BLOCKS as struct drill_call has them. */
#define COPY(symbol, params, s, own, to, n, host, wait, ...)                   \
	WRAPS(symbol);                                                         \
	CUresult drill_wrap_##symbol params                                    \
	{                                                                      \
		struct drill_call c = { STREAMED(symbol, s, own),              \
					.dst = AT(to),                         \
					.bytes = (n),                          \
					.to_host = (host),                     \
					.blocks = (wait) };                    \
                                                                               \
		return CALL(c, symbol, __VA_ARGS__);                           \
	}

#define COPY_SYNC(symbol, own, dst_type, src_type, host)                       \
	COPY(symbol, (dst_type dst, src_type src, size_t bytes), NULL, own,    \
	     dst, bytes, host, true, dst, src, bytes)

#define COPY_ASYNC(symbol, own, dst_type, src_type, host)                      \
	COPY(symbol,                                                           \
	     (dst_type dst, src_type src, size_t bytes, CUstream stream),      \
	     stream, own, dst, bytes, host, false, dst, src, bytes, stream)

#define LEGACY NULL
#define THREAD CU_STREAM_PER_THREAD

COPY_SYNC(cuMemcpyHtoD_v2, LEGACY, CUdeviceptr, const void *, false)
COPY_SYNC(cuMemcpyHtoD_v2_ptds, THREAD, CUdeviceptr, const void *, false)
COPY_SYNC(cuMemcpyDtoH_v2, LEGACY, void *, CUdeviceptr, true)
COPY_SYNC(cuMemcpyDtoH_v2_ptds, THREAD, void *, CUdeviceptr, true)
COPY_ASYNC(cuMemcpyHtoDAsync_v2, LEGACY, CUdeviceptr, const void *, false)
COPY_ASYNC(cuMemcpyHtoDAsync_v2_ptsz, THREAD, CUdeviceptr, const void *, false)
COPY_ASYNC(cuMemcpyDtoHAsync_v2, LEGACY, void *, CUdeviceptr, true)
COPY_ASYNC(cuMemcpyDtoHAsync_v2_ptsz, THREAD, void *, CUdeviceptr, true)
COPY_ASYNC(cuMemcpyDtoDAsync_v2, LEGACY, CUdeviceptr, CUdeviceptr, false)
COPY_ASYNC(cuMemcpyDtoDAsync_v2_ptsz, THREAD, CUdeviceptr, CUdeviceptr, false)

/* On the device itself they return before they are done. */
#define COPY_DEVICE(symbol, own)                                               \
	COPY(symbol, (CUdeviceptr dst, CUdeviceptr src, size_t bytes), NULL,   \
	     own, dst, bytes, false, false, dst, src, bytes)

COPY_DEVICE(cuMemcpyDtoD_v2, LEGACY)
COPY_DEVICE(cuMemcpyDtoD_v2_ptds, THREAD)

/* Either side may be host memory: what is no allocation of the device's is. */
static bool is_host(uint64_t at)
{
	struct drill_range r;

	return !drill_range_of(at, &r);
}

#define COPY_ANY(symbol, params, s, own, wait, ...)                            \
	COPY(symbol, params, s, own, dst, bytes, is_host(dst), wait,           \
	     __VA_ARGS__)

COPY_ANY(cuMemcpy, (CUdeviceptr dst, CUdeviceptr src, size_t bytes), NULL,
	 LEGACY, true, dst, src, bytes)
COPY_ANY(cuMemcpy_ptds, (CUdeviceptr dst, CUdeviceptr src, size_t bytes), NULL,
	 THREAD, true, dst, src, bytes)
COPY_ANY(cuMemcpyAsync,
	 (CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream stream),
	 stream, LEGACY, false, dst, src, bytes, stream)
COPY_ANY(cuMemcpyAsync_ptsz,
	 (CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream stream),
	 stream, THREAD, false, dst, src, bytes, stream)

#define COPY_PEER(symbol, own)                                                 \
	COPY(symbol,                                                           \
	     (CUdeviceptr dst, CUcontext to, CUdeviceptr src, CUcontext from,  \
	      size_t bytes),                                                   \
	     NULL, own, dst, bytes, false, false, dst, to, src, from, bytes)
#define COPY_PEER_ASYNC(symbol, own)                                           \
	COPY(symbol,                                                           \
	     (CUdeviceptr dst, CUcontext to, CUdeviceptr src, CUcontext from,  \
	      size_t bytes, CUstream stream),                                  \
	     stream, own, dst, bytes, false, false, dst, to, src, from, bytes, \
	     stream)

COPY_PEER(cuMemcpyPeer, LEGACY)
COPY_PEER(cuMemcpyPeer_ptds, THREAD)
COPY_PEER_ASYNC(cuMemcpyPeerAsync, LEGACY)
COPY_PEER_ASYNC(cuMemcpyPeerAsync_ptsz, THREAD)
