/* cuda_api.h - the part of the CUDA driver API that the workloads use
 * SPDX-License-Identifier: MIT
 *
 * Used instead of the toolkit's cuda.h, so that everything builds without it.
 * Names, values and types are those of the driver's binary interface; where the
 * toolkit is installed, softcuda/check_api.c compares all of them with cuda.h.
 *
 * FAULTDRILL_CUDA_FUNCTIONS(F) lists F(name, since, symbol, arguments): `name`
 * is what cuGetProcAddress is asked for, `since` the first CUDA version (12040
 * is 12.4) that means `symbol` by it.
 */
#ifndef FAULTDRILL_CUDA_API_H
#define FAULTDRILL_CUDA_API_H

#define FAULTDRILL_CUDA_RESULTS(E)                                             \
	E(CUDA_SUCCESS, 0, "no error")                                         \
	E(CUDA_ERROR_INVALID_VALUE, 1, "invalid argument")                     \
	E(CUDA_ERROR_OUT_OF_MEMORY, 2, "out of memory")                        \
	E(CUDA_ERROR_NOT_INITIALIZED, 3, "initialization error")               \
	E(CUDA_ERROR_DEINITIALIZED, 4, "driver shutting down")                 \
	E(CUDA_ERROR_DEVICE_UNAVAILABLE, 46,                                   \
	  "CUDA-capable device(s) is/are busy or unavailable")                 \
	E(CUDA_ERROR_NO_DEVICE, 100, "no CUDA-capable device is detected")     \
	E(CUDA_ERROR_INVALID_DEVICE, 101, "invalid device ordinal")            \
	E(CUDA_ERROR_INVALID_IMAGE, 200, "device kernel image is invalid")     \
	E(CUDA_ERROR_INVALID_CONTEXT, 201, "invalid device context")           \
	E(CUDA_ERROR_NO_BINARY_FOR_GPU, 209,                                   \
	  "no kernel image is available for execution on the device")          \
	E(CUDA_ERROR_ECC_UNCORRECTABLE, 214,                                   \
	  "uncorrectable ECC error encountered")                               \
	E(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, 217,                             \
	  "peer access is not supported between these two devices")            \
	E(CUDA_ERROR_NVLINK_UNCORRECTABLE, 220,                                \
	  "uncorrectable NVLink error detected during the execution")          \
	E(CUDA_ERROR_CONTAINED, 226,                                           \
	  "Invalid access of peer GPU memory over nvlink or a hardware error") \
	E(CUDA_ERROR_FILE_NOT_FOUND, 301, "file not found")                    \
	E(CUDA_ERROR_OPERATING_SYSTEM, 304,                                    \
	  "OS call failed or operation not supported on this OS")              \
	E(CUDA_ERROR_INVALID_HANDLE, 400, "invalid resource handle")           \
	E(CUDA_ERROR_ILLEGAL_STATE, 401,                                       \
	  "the operation cannot be performed in the present state")            \
	E(CUDA_ERROR_NOT_FOUND, 500, "named symbol not found")                 \
	E(CUDA_ERROR_NOT_READY, 600, "device not ready")                       \
	E(CUDA_ERROR_ILLEGAL_ADDRESS, 700,                                     \
	  "an illegal memory access was encountered")                          \
	E(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, 701,                             \
	  "too many resources requested for launch")                           \
	E(CUDA_ERROR_LAUNCH_TIMEOUT, 702,                                      \
	  "the launch timed out and was terminated")                           \
	E(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, 704,                         \
	  "peer access is already enabled")                                    \
	E(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, 705,                             \
	  "peer access has not been enabled")                                  \
	E(CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE, 708,                              \
	  "cannot set while device is active in this process")                 \
	E(CUDA_ERROR_CONTEXT_IS_DESTROYED, 709, "context is destroyed")        \
	E(CUDA_ERROR_ASSERT, 710, "device-side assert triggered")              \
	E(CUDA_ERROR_TOO_MANY_PEERS, 711, "peer mapping resources exhausted")  \
	E(CUDA_ERROR_HARDWARE_STACK_ERROR, 714, "hardware stack error")        \
	E(CUDA_ERROR_ILLEGAL_INSTRUCTION, 715,                                 \
	  "an illegal instruction was encountered")                            \
	E(CUDA_ERROR_MISALIGNED_ADDRESS, 716, "misaligned address")            \
	E(CUDA_ERROR_INVALID_ADDRESS_SPACE, 717,                               \
	  "operation not supported on global/"                                 \
	  "shared address space")                                              \
	E(CUDA_ERROR_INVALID_PC, 718, "invalid program counter")               \
	E(CUDA_ERROR_LAUNCH_FAILED, 719, "unspecified launch failure")         \
	E(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, 720,                        \
	  "too many blocks in cooperative launch")                             \
	E(CUDA_ERROR_TENSOR_MEMORY_LEAK, 721,                                  \
	  "tensor memory not completely freed")                                \
	E(CUDA_ERROR_NOT_PERMITTED, 800, "operation not permitted")            \
	E(CUDA_ERROR_NOT_SUPPORTED, 801, "operation not supported")            \
	E(CUDA_ERROR_SYSTEM_NOT_READY, 802, "system not yet initialized")      \
	E(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, 900,                          \
	  "operation not permitted when stream is capturing")                  \
	E(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, 901,                          \
	  "operation failed due to a previous error during capture")           \
	E(CUDA_ERROR_STREAM_CAPTURE_MERGE, 902,                                \
	  "operation would result in a merge of separate capture sequences")   \
	E(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, 903,                            \
	  "capture was not ended in the same stream as it began")              \
	E(CUDA_ERROR_STREAM_CAPTURE_ISOLATION, 905,                            \
	  "dependency created on uncaptured work in another stream")           \
	E(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, 906,                             \
	  "operation would make the legacy stream depend on a "                \
	  "capturing blocking stream")                                         \
	E(CUDA_ERROR_CAPTURED_EVENT, 907,                                      \
	  "operation not permitted on an event last recorded in a "            \
	  "capturing stream")                                                  \
	E(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD, 908,                         \
	  "attempt to terminate a thread-local capture sequence from "         \
	  "another thread")                                                    \
	E(CUDA_ERROR_EXTERNAL_DEVICE, 911,                                     \
	  "an async error has occured in external entity outside of CUDA")     \
	E(CUDA_ERROR_UNKNOWN, 999, "unknown error")

/* E(suffix of CU_DEVICE_ATTRIBUTE_, number, what the software device says) */
#define FAULTDRILL_CUDA_ATTRIBUTES(E)                                          \
	E(MAX_THREADS_PER_BLOCK, 1, 1024)                                      \
	E(MAX_BLOCK_DIM_X, 2, 1024)                                            \
	E(MAX_BLOCK_DIM_Y, 3, 1024)                                            \
	E(MAX_BLOCK_DIM_Z, 4, 64)                                              \
	E(MAX_GRID_DIM_X, 5, 2147483647)                                       \
	E(MAX_GRID_DIM_Y, 6, 65535)                                            \
	E(MAX_GRID_DIM_Z, 7, 65535)                                            \
	E(MAX_SHARED_MEMORY_PER_BLOCK, 8, 49152)                               \
	E(TOTAL_CONSTANT_MEMORY, 9, 65536)                                     \
	E(WARP_SIZE, 10, 1)                                                    \
	E(CLOCK_RATE, 13, 1000000)                                             \
	E(MULTIPROCESSOR_COUNT, 16, 1)                                         \
	E(KERNEL_EXEC_TIMEOUT, 17, 0)                                          \
	E(INTEGRATED, 18, 0)                                                   \
	E(CAN_MAP_HOST_MEMORY, 19, 1)                                          \
	E(COMPUTE_MODE, 20, 0)                                                 \
	E(CONCURRENT_KERNELS, 31, 1)                                           \
	E(ECC_ENABLED, 32, 0)                                                  \
	E(PCI_BUS_ID, 33, -1)                                                  \
	E(PCI_DEVICE_ID, 34, 0)                                                \
	E(ASYNC_ENGINE_COUNT, 40, 2)                                           \
	E(UNIFIED_ADDRESSING, 41, 1)                                           \
	E(PCI_DOMAIN_ID, 50, 0)                                                \
	E(COMPUTE_CAPABILITY_MAJOR, 75, 7)                                     \
	E(COMPUTE_CAPABILITY_MINOR, 76, 5)                                     \
	E(MANAGED_MEMORY, 83, 0)                                               \
	E(MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 97, 49152)                        \
	E(MEMORY_POOLS_SUPPORTED, 115, 0)

/* E(name, value): every other constant. */
#define FAULTDRILL_CUDA_CONSTANTS(E)                                           \
	E(CU_STREAM_DEFAULT, 0)                                                \
	E(CU_STREAM_NON_BLOCKING, 1)                                           \
	E(CU_EVENT_DEFAULT, 0)                                                 \
	E(CU_EVENT_BLOCKING_SYNC, 1)                                           \
	E(CU_EVENT_DISABLE_TIMING, 2)                                          \
	E(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 0)                          \
	E(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, 1)                              \
	E(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 8)                  \
	E(CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK, 1)                         \
	E(CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 2)                         \
	E(CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED, 3)                  \
	E(CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED, 4)              \
	E(CU_STREAM_CAPTURE_MODE_GLOBAL, 0)                                    \
	E(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, 1)                              \
	E(CU_STREAM_CAPTURE_MODE_RELAXED, 2)                                   \
	E(CU_STREAM_CAPTURE_STATUS_NONE, 0)                                    \
	E(CU_STREAM_CAPTURE_STATUS_ACTIVE, 1)                                  \
	E(CU_STREAM_CAPTURE_STATUS_INVALIDATED, 2)                             \
	E(CU_GET_PROC_ADDRESS_SUCCESS, 0)                                      \
	E(CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND, 1)                             \
	E(CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT, 2)

#define FAULTDRILL_CUDA_FUNCTIONS(F)                                           \
	F(cuInit, 2000, cuInit, (unsigned int flags))                          \
	F(cuDriverGetVersion, 2020, cuDriverGetVersion, (int *version))        \
	F(cuGetErrorName, 6000, cuGetErrorName,                                \
	  (CUresult error, const char **name))                                 \
	F(cuGetErrorString, 6000, cuGetErrorString,                            \
	  (CUresult error, const char **text))                                 \
	F(cuGetProcAddress, 11030, cuGetProcAddress,                           \
	  (const char *symbol, void **pfn, int version, cuuint64_t flags))     \
	F(cuGetProcAddress, 12000, cuGetProcAddress_v2,                        \
	  (const char *symbol, void **pfn, int version, cuuint64_t flags,      \
	   CUdriverProcAddressQueryResult *status))                            \
	F(cuGetExportTable, 3000, cuGetExportTable,                            \
	  (const void **table, const CUuuid *id))                              \
	F(cuDeviceGet, 2000, cuDeviceGet, (CUdevice * dev, int ordinal))       \
	F(cuDeviceGetCount, 2000, cuDeviceGetCount, (int *count))              \
	F(cuDeviceGetName, 2000, cuDeviceGetName,                              \
	  (char *name, int len, CUdevice dev))                                 \
	F(cuDeviceGetUuid, 9020, cuDeviceGetUuid,                              \
	  (CUuuid * uuid, CUdevice dev))                                       \
	F(cuDeviceGetUuid, 11040, cuDeviceGetUuid_v2,                          \
	  (CUuuid * uuid, CUdevice dev))                                       \
	F(cuDeviceTotalMem, 3020, cuDeviceTotalMem_v2,                         \
	  (size_t * bytes, CUdevice dev))                                      \
	F(cuDeviceGetAttribute, 2000, cuDeviceGetAttribute,                    \
	  (int *value, CUdevice_attribute attribute, CUdevice dev))            \
	F(cuDeviceGetPCIBusId, 4010, cuDeviceGetPCIBusId,                      \
	  (char *id, int len, CUdevice dev))                                   \
	F(cuDeviceGetByPCIBusId, 4010, cuDeviceGetByPCIBusId,                  \
	  (CUdevice * dev, const char *id))                                    \
	F(cuDevicePrimaryCtxRetain, 7000, cuDevicePrimaryCtxRetain,            \
	  (CUcontext * ctx, CUdevice dev))                                     \
	F(cuDevicePrimaryCtxRelease, 11000, cuDevicePrimaryCtxRelease_v2,      \
	  (CUdevice dev))                                                      \
	F(cuDevicePrimaryCtxReset, 11000, cuDevicePrimaryCtxReset_v2,          \
	  (CUdevice dev))                                                      \
	F(cuDevicePrimaryCtxGetState, 7000, cuDevicePrimaryCtxGetState,        \
	  (CUdevice dev, unsigned int *flags, int *active))                    \
	F(cuCtxCreate, 3020, cuCtxCreate_v2,                                   \
	  (CUcontext * ctx, unsigned int flags, CUdevice dev))                 \
	F(cuCtxCreate, 12050, cuCtxCreate_v4,                                  \
	  (CUcontext * ctx, CUctxCreateParams * params, unsigned int flags,    \
	   CUdevice dev))                                                      \
	F(cuCtxDestroy, 4000, cuCtxDestroy_v2, (CUcontext ctx))                \
	F(cuCtxPushCurrent, 4000, cuCtxPushCurrent_v2, (CUcontext ctx))        \
	F(cuCtxPopCurrent, 4000, cuCtxPopCurrent_v2, (CUcontext * ctx))        \
	F(cuCtxSetCurrent, 4000, cuCtxSetCurrent, (CUcontext ctx))             \
	F(cuCtxGetCurrent, 4000, cuCtxGetCurrent, (CUcontext * ctx))           \
	F(cuCtxGetDevice, 2000, cuCtxGetDevice, (CUdevice * dev))              \
	F(cuCtxGetFlags, 7000, cuCtxGetFlags, (unsigned int *flags))           \
	F(cuCtxGetApiVersion, 3020, cuCtxGetApiVersion,                        \
	  (CUcontext ctx, unsigned int *version))                              \
	F(cuCtxSynchronize, 2000, cuCtxSynchronize, (void))                    \
	F(cuMemGetInfo, 3020, cuMemGetInfo_v2,                                 \
	  (size_t * available, size_t * total))                                \
	F(cuMemAlloc, 3020, cuMemAlloc_v2, (CUdeviceptr * ptr, size_t bytes))  \
	F(cuMemFree, 3020, cuMemFree_v2, (CUdeviceptr ptr))                    \
	F(cuMemGetAddressRange, 3020, cuMemGetAddressRange_v2,                 \
	  (CUdeviceptr * base, size_t * size, CUdeviceptr ptr))                \
	F(cuMemAllocHost, 3020, cuMemAllocHost_v2, (void **ptr, size_t bytes)) \
	F(cuMemHostAlloc, 2020, cuMemHostAlloc,                                \
	  (void **ptr, size_t bytes, unsigned int flags))                      \
	F(cuMemFreeHost, 2000, cuMemFreeHost, (void *ptr))                     \
	F(cuMemcpy, 4000, cuMemcpy,                                            \
	  (CUdeviceptr dst, CUdeviceptr src, size_t bytes))                    \
	F(cuMemcpyAsync, 4000, cuMemcpyAsync,                                  \
	  (CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream stream))   \
	F(cuMemcpyHtoD, 3020, cuMemcpyHtoD_v2,                                 \
	  (CUdeviceptr dst, const void *src, size_t bytes))                    \
	F(cuMemcpyHtoDAsync, 3020, cuMemcpyHtoDAsync_v2,                       \
	  (CUdeviceptr dst, const void *src, size_t bytes, CUstream stream))   \
	F(cuMemcpyDtoH, 3020, cuMemcpyDtoH_v2,                                 \
	  (void *dst, CUdeviceptr src, size_t bytes))                          \
	F(cuMemcpyDtoHAsync, 3020, cuMemcpyDtoHAsync_v2,                       \
	  (void *dst, CUdeviceptr src, size_t bytes, CUstream stream))         \
	F(cuMemcpyDtoD, 3020, cuMemcpyDtoD_v2,                                 \
	  (CUdeviceptr dst, CUdeviceptr src, size_t bytes))                    \
	F(cuMemcpyDtoDAsync, 3020, cuMemcpyDtoDAsync_v2,                       \
	  (CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream stream))   \
	F(cuMemsetD8, 3020, cuMemsetD8_v2,                                     \
	  (CUdeviceptr dst, unsigned char value, size_t n))                    \
	F(cuMemsetD8Async, 3020, cuMemsetD8Async,                              \
	  (CUdeviceptr dst, unsigned char value, size_t n, CUstream stream))   \
	F(cuMemsetD32, 3020, cuMemsetD32_v2,                                   \
	  (CUdeviceptr dst, unsigned int value, size_t n))                     \
	F(cuMemsetD32Async, 3020, cuMemsetD32Async,                            \
	  (CUdeviceptr dst, unsigned int value, size_t n, CUstream stream))    \
	F(cuStreamCreate, 2000, cuStreamCreate,                                \
	  (CUstream * stream, unsigned int flags))                             \
	F(cuStreamCreateWithPriority, 5050, cuStreamCreateWithPriority,        \
	  (CUstream * stream, unsigned int flags, int priority))               \
	F(cuStreamGetFlags, 5050, cuStreamGetFlags,                            \
	  (CUstream stream, unsigned int *flags))                              \
	F(cuStreamDestroy, 4000, cuStreamDestroy_v2, (CUstream stream))        \
	F(cuStreamQuery, 2000, cuStreamQuery, (CUstream stream))               \
	F(cuStreamSynchronize, 2000, cuStreamSynchronize, (CUstream stream))   \
	F(cuStreamWaitEvent, 3020, cuStreamWaitEvent,                          \
	  (CUstream stream, CUevent event, unsigned int flags))                \
	F(cuLaunchHostFunc, 10000, cuLaunchHostFunc,                           \
	  (CUstream stream, CUhostFn fn, void *data))                          \
	F(cuEventCreate, 2000, cuEventCreate,                                  \
	  (CUevent * event, unsigned int flags))                               \
	F(cuEventDestroy, 4000, cuEventDestroy_v2, (CUevent event))            \
	F(cuEventRecord, 2000, cuEventRecord,                                  \
	  (CUevent event, CUstream stream))                                    \
	F(cuEventQuery, 2000, cuEventQuery, (CUevent event))                   \
	F(cuEventSynchronize, 2000, cuEventSynchronize, (CUevent event))       \
	F(cuEventElapsedTime, 2000, cuEventElapsedTime,                        \
	  (float *ms, CUevent begin, CUevent end))                             \
	F(cuEventElapsedTime, 12080, cuEventElapsedTime_v2,                    \
	  (float *ms, CUevent begin, CUevent end))                             \
	F(cuModuleLoad, 2000, cuModuleLoad,                                    \
	  (CUmodule * module, const char *file))                               \
	F(cuModuleLoadData, 2000, cuModuleLoadData,                            \
	  (CUmodule * module, const void *image))                              \
	F(cuModuleUnload, 2000, cuModuleUnload, (CUmodule module))             \
	F(cuModuleGetFunction, 2000, cuModuleGetFunction,                      \
	  (CUfunction * fn, CUmodule module, const char *name))                \
	F(cuFuncGetAttribute, 2020, cuFuncGetAttribute,                        \
	  (int *value, CUfunction_attribute attribute, CUfunction fn))         \
	F(cuLaunchKernel, 4000, cuLaunchKernel,                                \
	  (CUfunction fn, unsigned int gx, unsigned int gy, unsigned int gz,   \
	   unsigned int bx, unsigned int by, unsigned int bz,                  \
	   unsigned int shared, CUstream stream, void **params, void **extra))

/* What the workloads do not call, and programs under test may. */
#define FAULTDRILL_CUDA_MORE_FUNCTIONS(F)                                      \
	F(cuDeviceCanAccessPeer, 4000, cuDeviceCanAccessPeer,                  \
	  (int *can, CUdevice dev, CUdevice peer))                             \
	F(cuDeviceGetP2PAttribute, 8000, cuDeviceGetP2PAttribute,              \
	  (int *value, CUdevice_P2PAttribute attribute, CUdevice src,          \
	   CUdevice dst))                                                      \
	F(cuCtxEnablePeerAccess, 4000, cuCtxEnablePeerAccess,                  \
	  (CUcontext peer, unsigned int flags))                                \
	F(cuCtxDisablePeerAccess, 4000, cuCtxDisablePeerAccess,                \
	  (CUcontext peer))                                                    \
	F(cuMemcpyPeer, 4000, cuMemcpyPeer,                                    \
	  (CUdeviceptr dst, CUcontext dst_ctx, CUdeviceptr src,                \
	   CUcontext src_ctx, size_t bytes))                                   \
	F(cuMemcpyPeerAsync, 4000, cuMemcpyPeerAsync,                          \
	  (CUdeviceptr dst, CUcontext dst_ctx, CUdeviceptr src,                \
	   CUcontext src_ctx, size_t bytes, CUstream stream))                  \
	F(cuMemAllocAsync, 11020, cuMemAllocAsync,                             \
	  (CUdeviceptr * ptr, size_t bytes, CUstream stream))                  \
	F(cuMemFreeAsync, 11020, cuMemFreeAsync,                               \
	  (CUdeviceptr ptr, CUstream stream))                                  \
	F(cuStreamGetCtx, 9020, cuStreamGetCtx,                                \
	  (CUstream stream, CUcontext * ctx))                                  \
	F(cuStreamBeginCapture, 10010, cuStreamBeginCapture_v2,                \
	  (CUstream stream, CUstreamCaptureMode mode))                         \
	F(cuStreamEndCapture, 10000, cuStreamEndCapture,                       \
	  (CUstream stream, CUgraph * graph))                                  \
	F(cuStreamIsCapturing, 10000, cuStreamIsCapturing,                     \
	  (CUstream stream, CUstreamCaptureStatus * status))                   \
	F(cuThreadExchangeStreamCaptureMode, 10010, cuThreadExchangeStreamCaptureMode, \
	  (CUstreamCaptureMode * mode))                                        \
	F(cuGraphInstantiate, 12000, cuGraphInstantiateWithFlags,              \
	  (CUgraphExec * exec, CUgraph graph, unsigned long long flags))       \
	F(cuGraphInstantiateWithFlags, 11040, cuGraphInstantiateWithFlags,     \
	  (CUgraphExec * exec, CUgraph graph, unsigned long long flags))       \
	F(cuGraphLaunch, 10000, cuGraphLaunch,                                 \
	  (CUgraphExec exec, CUstream stream))                                 \
	F(cuGraphDestroy, 10000, cuGraphDestroy, (CUgraph graph))              \
	F(cuGraphExecDestroy, 10000, cuGraphExecDestroy, (CUgraphExec exec))   \
	F(cuFuncGetName, 12030, cuFuncGetName,                                 \
	  (const char **name, CUfunction fn))                                  \
	F(cuFuncGetParamInfo, 12040, cuFuncGetParamInfo,                       \
	  (CUfunction fn, size_t index, size_t * offset, size_t * bytes))      \
	F(cuLaunchKernelEx, 11060, cuLaunchKernelEx,                           \
	  (const CUlaunchConfig *config, CUfunction fn, void **params,         \
	   void **extra))                                                      \
	F(cuLaunchCooperativeKernel, 9000, cuLaunchCooperativeKernel,          \
	  (CUfunction fn, unsigned int gx, unsigned int gy, unsigned int gz,   \
	   unsigned int bx, unsigned int by, unsigned int bz,                  \
	   unsigned int shared, CUstream stream, void **params))

/* F(name, since, base, suffix): what the name means with flags 2, where the
 * default stream is each thread's own; as base in all else. */
#define FAULTDRILL_CUDA_THREAD_FUNCTIONS(F)                                    \
	F(cuMemcpy, 4000, cuMemcpy, _ptds)                                     \
	F(cuMemcpyHtoD, 3020, cuMemcpyHtoD_v2, _ptds)                          \
	F(cuMemcpyDtoH, 3020, cuMemcpyDtoH_v2, _ptds)                          \
	F(cuMemcpyDtoD, 3020, cuMemcpyDtoD_v2, _ptds)                          \
	F(cuMemcpyPeer, 4000, cuMemcpyPeer, _ptds)                             \
	F(cuMemsetD8, 3020, cuMemsetD8_v2, _ptds)                              \
	F(cuMemsetD32, 3020, cuMemsetD32_v2, _ptds)                            \
	F(cuMemcpyAsync, 4000, cuMemcpyAsync, _ptsz)                           \
	F(cuMemcpyHtoDAsync, 3020, cuMemcpyHtoDAsync_v2, _ptsz)                \
	F(cuMemcpyDtoHAsync, 3020, cuMemcpyDtoHAsync_v2, _ptsz)                \
	F(cuMemcpyDtoDAsync, 3020, cuMemcpyDtoDAsync_v2, _ptsz)                \
	F(cuMemcpyPeerAsync, 4000, cuMemcpyPeerAsync, _ptsz)                   \
	F(cuMemsetD8Async, 3020, cuMemsetD8Async, _ptsz)                       \
	F(cuMemsetD32Async, 3020, cuMemsetD32Async, _ptsz)                     \
	F(cuMemAllocAsync, 11020, cuMemAllocAsync, _ptsz)                      \
	F(cuMemFreeAsync, 11020, cuMemFreeAsync, _ptsz)                        \
	F(cuStreamGetFlags, 5050, cuStreamGetFlags, _ptsz)                     \
	F(cuStreamGetCtx, 9020, cuStreamGetCtx, _ptsz)                         \
	F(cuStreamQuery, 2000, cuStreamQuery, _ptsz)                           \
	F(cuStreamSynchronize, 2000, cuStreamSynchronize, _ptsz)               \
	F(cuStreamWaitEvent, 3020, cuStreamWaitEvent, _ptsz)                   \
	F(cuStreamBeginCapture, 10010, cuStreamBeginCapture_v2, _ptsz)         \
	F(cuStreamEndCapture, 10000, cuStreamEndCapture, _ptsz)                \
	F(cuStreamIsCapturing, 10000, cuStreamIsCapturing, _ptsz)              \
	F(cuEventRecord, 2000, cuEventRecord, _ptsz)                           \
	F(cuLaunchHostFunc, 10000, cuLaunchHostFunc, _ptsz)                    \
	F(cuLaunchKernel, 4000, cuLaunchKernel, _ptsz)                         \
	F(cuLaunchKernelEx, 11060, cuLaunchKernelEx, _ptsz)                    \
	F(cuLaunchCooperativeKernel, 9000, cuLaunchCooperativeKernel, _ptsz)   \
	F(cuGraphLaunch, 10000, cuGraphLaunch, _ptsz)

#ifndef FAULTDRILL_CUDA_API_LISTS_ONLY

#include <stddef.h>
#include <stdint.h>

#define FAULTDRILL_ENUM_RESULT(name, value, text) name = value,
typedef enum cudaError_enum {
	FAULTDRILL_CUDA_RESULTS(FAULTDRILL_ENUM_RESULT)
} CUresult;

#define FAULTDRILL_ENUM_ATTRIBUTE(name, value, answer)                         \
	CU_DEVICE_ATTRIBUTE_##name = value,
typedef enum CUdevice_attribute_enum {
	FAULTDRILL_CUDA_ATTRIBUTES(FAULTDRILL_ENUM_ATTRIBUTE)
} CUdevice_attribute;

#define FAULTDRILL_ENUM_CONSTANT(name, value) name = value,
enum { FAULTDRILL_CUDA_CONSTANTS(FAULTDRILL_ENUM_CONSTANT) };
typedef int CUstreamCaptureMode;
typedef int CUstreamCaptureStatus;
typedef int CUdevice_P2PAttribute;
typedef int CUfunction_attribute;
typedef int CUdriverProcAddressQueryResult;

typedef uint64_t cuuint64_t;
typedef unsigned long long CUdeviceptr;
typedef int CUdevice;
typedef struct CUctx_st *CUcontext;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUgraph_st *CUgraph;
typedef struct CUgraphExec_st *CUgraphExec;
typedef void (*CUhostFn)(void *data);
typedef struct CUuuid_st {
	char bytes[16];
} CUuuid;
typedef struct CUctxCreateParams_st CUctxCreateParams;
typedef struct CUlaunchConfig_st {
	unsigned int gridDimX, gridDimY, gridDimZ;
	unsigned int blockDimX, blockDimY, blockDimZ;
	unsigned int sharedMemBytes;
	CUstream hStream;
	struct CUlaunchAttribute_st *attrs;
	unsigned int numAttrs;
} CUlaunchConfig;

#define CU_STREAM_LEGACY ((CUstream)0x1)
#define CU_STREAM_PER_THREAD ((CUstream)0x2)

#ifdef __cplusplus
extern "C" {
#endif
#define FAULTDRILL_DECLARE(name, since, symbol, args) CUresult symbol args;
FAULTDRILL_CUDA_FUNCTIONS(FAULTDRILL_DECLARE)
FAULTDRILL_CUDA_MORE_FUNCTIONS(FAULTDRILL_DECLARE)
#define FAULTDRILL_DECLARE_THREAD(name, since, base, suffix)                   \
	__typeof__(base) base##suffix;
FAULTDRILL_CUDA_THREAD_FUNCTIONS(FAULTDRILL_DECLARE_THREAD)
#ifdef __cplusplus
}
#endif

#endif
#endif
