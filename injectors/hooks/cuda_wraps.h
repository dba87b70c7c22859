/* cuda_wraps.h - which entry points of the CUDA driver have a typed wrapper
 * SPDX-License-Identifier: MIT
 *
 * W(symbol, when): drill_wrap_<symbol>() of a cuda_wrap_*.c, with the symbol's
 * exact signature and hidden, is called
 *
 *   ALWAYS  at each call while a page is mapped (it tracks something)
 *   HOT     while the entry is hot (page->hot[]), after drill_effect_before()
 *
 * Without a page no wrapper is ever called.
 */
#ifndef DRILL_CUDA_WRAPS_H
#define DRILL_CUDA_WRAPS_H

#define DRILL_CUDA_WRAPS(W)                                                    \
	/* cuda_wrap_launch.c */                                               \
	W(cuLaunchKernel, HOT)                                                 \
	W(cuLaunchKernel_ptsz, HOT)                                            \
	W(cuLaunchKernelEx, HOT)                                               \
	W(cuLaunchKernelEx_ptsz, HOT)                                          \
	W(cuLaunchCooperativeKernel, HOT)                                      \
	W(cuLaunchCooperativeKernel_ptsz, HOT)                                 \
	W(cuGraphLaunch, HOT)                                                  \
	W(cuGraphLaunch_ptsz, HOT)                                             \
	W(cuModuleGetFunction, ALWAYS)                                         \
	W(cuLibraryGetKernel, ALWAYS)                                          \
	W(cuKernelGetFunction, ALWAYS)                                         \
	W(cuStreamBeginCapture, ALWAYS)                                        \
	W(cuStreamBeginCapture_ptsz, ALWAYS)                                   \
	W(cuStreamBeginCapture_v2, ALWAYS)                                     \
	W(cuStreamBeginCapture_v2_ptsz, ALWAYS)                                \
	W(cuStreamBeginCaptureToGraph, ALWAYS)                                 \
	W(cuStreamBeginCaptureToGraph_ptsz, ALWAYS)                            \
	W(cuStreamEndCapture, ALWAYS)                                          \
	W(cuStreamEndCapture_ptsz, ALWAYS)                                     \
	W(cuStreamIsCapturing, HOT)                                            \
	W(cuStreamIsCapturing_ptsz, HOT)                                       \
	/* cuda_wrap_copy.c */                                                 \
	W(cuMemcpyHtoD_v2, HOT)                                                \
	W(cuMemcpyHtoD_v2_ptds, HOT)                                           \
	W(cuMemcpyDtoH_v2, HOT)                                                \
	W(cuMemcpyDtoH_v2_ptds, HOT)                                           \
	W(cuMemcpyHtoDAsync_v2, HOT)                                           \
	W(cuMemcpyHtoDAsync_v2_ptsz, HOT)                                      \
	W(cuMemcpyDtoHAsync_v2, HOT)                                           \
	W(cuMemcpyDtoHAsync_v2_ptsz, HOT)                                      \
	W(cuMemcpyDtoDAsync_v2, HOT)                                           \
	W(cuMemcpyDtoDAsync_v2_ptsz, HOT)                                      \
	W(cuMemcpyDtoD_v2, HOT)                                                \
	W(cuMemcpyDtoD_v2_ptds, HOT)                                           \
	W(cuMemcpy, HOT)                                                       \
	W(cuMemcpy_ptds, HOT)                                                  \
	W(cuMemcpyAsync, HOT)                                                  \
	W(cuMemcpyAsync_ptsz, HOT)                                             \
	W(cuMemcpyPeer, HOT)                                                   \
	W(cuMemcpyPeer_ptds, HOT)                                              \
	W(cuMemcpyPeerAsync, HOT)                                              \
	W(cuMemcpyPeerAsync_ptsz, HOT)                                         \
	/* cuda_wrap_memory.c */                                               \
	W(cuMemAlloc_v2, HOT)                                                  \
	W(cuMemAllocPitch_v2, HOT)                                             \
	W(cuMemAllocManaged, HOT)                                              \
	W(cuMemCreate, HOT)                                                    \
	W(cuMemAllocAsync, HOT)                                                \
	W(cuMemAllocAsync_ptsz, HOT)                                           \
	W(cuMemAllocFromPoolAsync, HOT)                                        \
	W(cuMemAllocFromPoolAsync_ptsz, HOT)                                   \
	W(cuMemFree_v2, HOT)                                                   \
	W(cuMemGetInfo_v2, HOT)                                                \
	/* cuda_wrap_sync.c */                                                 \
	W(cuCtxSynchronize, HOT)                                               \
	W(cuCtxSynchronize_v2, HOT)                                            \
	W(cuStreamSynchronize, HOT)                                            \
	W(cuStreamSynchronize_ptsz, HOT)                                       \
	W(cuStreamQuery, HOT)                                                  \
	W(cuStreamQuery_ptsz, HOT)                                             \
	W(cuEventSynchronize, HOT)                                             \
	W(cuEventQuery, HOT)                                                   \
	/* cuda_wrap_device.c */                                               \
	W(cuInit, ALWAYS)                                                      \
	W(cuCtxCreate, ALWAYS)                                                 \
	W(cuCtxCreate_v2, ALWAYS)                                              \
	W(cuCtxCreate_v3, ALWAYS)                                              \
	W(cuCtxCreate_v4, ALWAYS)                                              \
	W(cuDevicePrimaryCtxRetain, ALWAYS)                                    \
	W(cuDevicePrimaryCtxRelease, ALWAYS)                                   \
	W(cuDevicePrimaryCtxRelease_v2, ALWAYS)                                \
	W(cuDevicePrimaryCtxReset, ALWAYS)                                     \
	W(cuDevicePrimaryCtxReset_v2, ALWAYS)                                  \
	W(cuCtxDestroy, ALWAYS)                                                \
	W(cuCtxDestroy_v2, ALWAYS)                                             \
	W(cuDeviceCanAccessPeer, ALWAYS)                                       \
	W(cuDeviceGetP2PAttribute, ALWAYS)                                     \
	W(cuCtxEnablePeerAccess, ALWAYS)

#endif
