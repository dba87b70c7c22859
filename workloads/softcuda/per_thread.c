/* per_thread.c - the calls whose default stream is each thread's own
 * SPDX-License-Identifier: MIT
 */
#include "soft.h"

/* NULL means the thread's stream while the base call runs. */
#define VARIANT(base, suffix, params, args)                                    \
	SOFT_API CUresult base##suffix params                                  \
	{                                                                      \
		CUresult e;                                                    \
                                                                               \
		soft_per_thread++;                                             \
		e = base args;                                                 \
		soft_per_thread--;                                             \
		return e;                                                      \
	}

VARIANT(cuMemcpy, _ptds, (CUdeviceptr dst, CUdeviceptr src, size_t bytes),
	(dst, src, bytes))
VARIANT(cuMemcpyHtoD_v2, _ptds,
	(CUdeviceptr dst, const void *src, size_t bytes), (dst, src, bytes))
VARIANT(cuMemcpyDtoH_v2, _ptds, (void *dst, CUdeviceptr src, size_t bytes),
	(dst, src, bytes))
VARIANT(cuMemcpyDtoD_v2, _ptds,
	(CUdeviceptr dst, CUdeviceptr src, size_t bytes), (dst, src, bytes))
VARIANT(cuMemcpyPeer, _ptds,
	(CUdeviceptr dst, CUcontext dst_ctx, CUdeviceptr src, CUcontext src_ctx,
	 size_t bytes),
	(dst, dst_ctx, src, src_ctx, bytes))
VARIANT(cuMemsetD8_v2, _ptds, (CUdeviceptr dst, unsigned char value, size_t n),
	(dst, value, n))
VARIANT(cuMemsetD32_v2, _ptds, (CUdeviceptr dst, unsigned int value, size_t n),
	(dst, value, n))
VARIANT(cuMemcpyAsync, _ptsz,
	(CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream stream),
	(dst, src, bytes, stream))
VARIANT(cuMemcpyHtoDAsync_v2, _ptsz,
	(CUdeviceptr dst, const void *src, size_t bytes, CUstream stream),
	(dst, src, bytes, stream))
VARIANT(cuMemcpyDtoHAsync_v2, _ptsz,
	(void *dst, CUdeviceptr src, size_t bytes, CUstream stream),
	(dst, src, bytes, stream))
VARIANT(cuMemcpyDtoDAsync_v2, _ptsz,
	(CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream stream),
	(dst, src, bytes, stream))
VARIANT(cuMemcpyPeerAsync, _ptsz,
	(CUdeviceptr dst, CUcontext dst_ctx, CUdeviceptr src, CUcontext src_ctx,
	 size_t bytes, CUstream stream),
	(dst, dst_ctx, src, src_ctx, bytes, stream))
VARIANT(cuMemsetD8Async, _ptsz,
	(CUdeviceptr dst, unsigned char value, size_t n, CUstream stream),
	(dst, value, n, stream))
VARIANT(cuMemsetD32Async, _ptsz,
	(CUdeviceptr dst, unsigned int value, size_t n, CUstream stream),
	(dst, value, n, stream))
VARIANT(cuMemAllocAsync, _ptsz,
	(CUdeviceptr * ptr, size_t bytes, CUstream stream),
	(ptr, bytes, stream))
VARIANT(cuMemFreeAsync, _ptsz, (CUdeviceptr ptr, CUstream stream),
	(ptr, stream))
VARIANT(cuStreamGetFlags, _ptsz, (CUstream stream, unsigned int *flags),
	(stream, flags))
VARIANT(cuStreamGetCtx, _ptsz, (CUstream stream, CUcontext *ctx), (stream, ctx))
VARIANT(cuStreamQuery, _ptsz, (CUstream stream), (stream))
VARIANT(cuStreamSynchronize, _ptsz, (CUstream stream), (stream))
VARIANT(cuStreamWaitEvent, _ptsz,
	(CUstream stream, CUevent event, unsigned int flags),
	(stream, event, flags))
VARIANT(cuStreamBeginCapture_v2, _ptsz,
	(CUstream stream, CUstreamCaptureMode mode), (stream, mode))
VARIANT(cuStreamEndCapture, _ptsz, (CUstream stream, CUgraph *graph),
	(stream, graph))
VARIANT(cuStreamIsCapturing, _ptsz,
	(CUstream stream, CUstreamCaptureStatus *status), (stream, status))
VARIANT(cuEventRecord, _ptsz, (CUevent event, CUstream stream), (event, stream))
VARIANT(cuLaunchHostFunc, _ptsz, (CUstream stream, CUhostFn fn, void *data),
	(stream, fn, data))
VARIANT(cuLaunchKernel, _ptsz,
	(CUfunction fn, unsigned int gx, unsigned int gy, unsigned int gz,
	 unsigned int bx, unsigned int by, unsigned int bz, unsigned int shared,
	 CUstream stream, void **params, void **extra),
	(fn, gx, gy, gz, bx, by, bz, shared, stream, params, extra))
VARIANT(cuLaunchKernelEx, _ptsz,
	(const CUlaunchConfig *config, CUfunction fn, void **params,
	 void **extra),
	(config, fn, params, extra))
VARIANT(cuLaunchCooperativeKernel, _ptsz,
	(CUfunction fn, unsigned int gx, unsigned int gy, unsigned int gz,
	 unsigned int bx, unsigned int by, unsigned int bz, unsigned int shared,
	 CUstream stream, void **params),
	(fn, gx, gy, gz, bx, by, bz, shared, stream, params))
VARIANT(cuGraphLaunch, _ptsz, (CUgraphExec exec, CUstream stream),
	(exec, stream))
