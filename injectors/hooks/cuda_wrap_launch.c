/* cuda_wrap_launch.c - the driver's launches, kernels' names, captures
 * SPDX-License-Identifier: MIT
 */
#include "cuda_wrap.h"

CUresult cuLibraryGetKernel(void **kernel, void *library, const char *name);
CUresult cuKernelGetFunction(CUfunction *fn, void *kernel);
CUresult cuStreamBeginCapture(CUstream stream);
CUresult cuStreamBeginCapture_ptsz(CUstream stream);
CUresult cuStreamBeginCaptureToGraph(CUstream stream, CUgraph graph,
				     const void *deps, const void *data,
				     size_t n, CUstreamCaptureMode mode);
CUresult cuStreamBeginCaptureToGraph_ptsz(CUstream stream, CUgraph graph,
					  const void *deps, const void *data,
					  size_t n, CUstreamCaptureMode mode);

#define LAUNCH_KERNEL(symbol, own)                                             \
	WRAPS(symbol);                                                         \
	CUresult drill_wrap_##symbol(                                          \
		CUfunction fn, unsigned int gx, unsigned int gy,               \
		unsigned int gz, unsigned int bx, unsigned int by,             \
		unsigned int bz, unsigned int shared, CUstream stream,         \
		void **params, void **extra)                                   \
	{                                                                      \
		struct drill_call c = { STREAMED(symbol, stream, own),         \
					.fn = fn,                              \
					.params = params,                      \
					.extra = extra };                      \
                                                                               \
		return CALL(c, symbol, fn, gx, gy, gz, bx, by, bz, shared,     \
			    stream, params, extra);                            \
	}

LAUNCH_KERNEL(cuLaunchKernel, NULL)
LAUNCH_KERNEL(cuLaunchKernel_ptsz, CU_STREAM_PER_THREAD)

#define LAUNCH_EX(symbol, own)                                                 \
	WRAPS(symbol);                                                         \
	CUresult drill_wrap_##symbol(const CUlaunchConfig *k, CUfunction fn,   \
				     void **params, void **extra)              \
	{                                                                      \
		struct drill_call c = {                                        \
			STREAMED(symbol, k ? k->hStream : NULL, own),          \
			.fn = fn,                                              \
			.params = params,                                      \
			.extra = extra                                         \
		};                                                             \
                                                                               \
		return CALL(c, symbol, k, fn, params, extra);                  \
	}

LAUNCH_EX(cuLaunchKernelEx, NULL)
LAUNCH_EX(cuLaunchKernelEx_ptsz, CU_STREAM_PER_THREAD)

#define LAUNCH_COOPERATIVE(symbol, own)                                        \
	WRAPS(symbol);                                                         \
	CUresult drill_wrap_##symbol(                                          \
		CUfunction fn, unsigned int gx, unsigned int gy,               \
		unsigned int gz, unsigned int bx, unsigned int by,             \
		unsigned int bz, unsigned int shared, CUstream stream,         \
		void **params)                                                 \
	{                                                                      \
		struct drill_call c = { STREAMED(symbol, stream, own),         \
					.fn = fn,                              \
					.params = params };                    \
                                                                               \
		return CALL(c, symbol, fn, gx, gy, gz, bx, by, bz, shared,     \
			    stream, params);                                   \
	}

LAUNCH_COOPERATIVE(cuLaunchCooperativeKernel, NULL)
LAUNCH_COOPERATIVE(cuLaunchCooperativeKernel_ptsz, CU_STREAM_PER_THREAD)

/* Whose kernels have no names that we could know. */
#define LAUNCH_GRAPH(symbol, own)                                              \
	WRAPS(symbol);                                                         \
	CUresult drill_wrap_##symbol(CUgraphExec exec, CUstream stream)        \
	{                                                                      \
		struct drill_call c = { STREAMED(symbol, stream, own) };       \
                                                                               \
		return CALL(c, symbol, exec, stream);                          \
	}

LAUNCH_GRAPH(cuGraphLaunch, NULL)
LAUNCH_GRAPH(cuGraphLaunch_ptsz, CU_STREAM_PER_THREAD)

/* ---- names ---- */

WRAPS(cuModuleGetFunction);
CUresult drill_wrap_cuModuleGetFunction(CUfunction *fn, CUmodule module,
					const char *name)
{
	struct drill_call c = { PLAIN(cuModuleGetFunction) };

	CALL(c, cuModuleGetFunction, fn, module, name);
	if (!c.result)
		drill_kernel_is(*fn, name);
	return c.result;
}

WRAPS(cuLibraryGetKernel);
CUresult drill_wrap_cuLibraryGetKernel(void **kernel, void *library,
				       const char *name)
{
	struct drill_call c = { PLAIN(cuLibraryGetKernel) };

	CALL(c, cuLibraryGetKernel, kernel, library, name);
	if (!c.result)
		drill_kernel_is(*kernel, name);
	return c.result;
}

WRAPS(cuKernelGetFunction);
CUresult drill_wrap_cuKernelGetFunction(CUfunction *fn, void *kernel)
{
	struct drill_call c = { PLAIN(cuKernelGetFunction) };

	CALL(c, cuKernelGetFunction, fn, kernel);
	if (!c.result)
		drill_kernel_is(*fn, drill_kernel_name(kernel));
	return c.result;
}

/* ---- captures ---- */

#define BEGIN_CAPTURE(symbol, params, own, ...)                                \
	WRAPS(symbol);                                                         \
	CUresult drill_wrap_##symbol params                                    \
	{                                                                      \
		struct drill_call c = { STREAMED(symbol, stream, own) };       \
                                                                               \
		CALL(c, symbol, __VA_ARGS__);                                  \
		if (!c.result)                                                 \
			drill_capture_begins();                                \
		return c.result;                                               \
	}

BEGIN_CAPTURE(cuStreamBeginCapture, (CUstream stream), NULL, stream)
BEGIN_CAPTURE(cuStreamBeginCapture_ptsz, (CUstream stream),
	      CU_STREAM_PER_THREAD, stream)
BEGIN_CAPTURE(cuStreamBeginCapture_v2,
	      (CUstream stream, CUstreamCaptureMode mode), NULL, stream, mode)
BEGIN_CAPTURE(cuStreamBeginCapture_v2_ptsz,
	      (CUstream stream, CUstreamCaptureMode mode),
	      CU_STREAM_PER_THREAD, stream, mode)
BEGIN_CAPTURE(cuStreamBeginCaptureToGraph,
	      (CUstream stream, CUgraph graph, const void *deps,
	       const void *data, size_t n, CUstreamCaptureMode mode),
	      NULL, stream, graph, deps, data, n, mode)
BEGIN_CAPTURE(cuStreamBeginCaptureToGraph_ptsz,
	      (CUstream stream, CUgraph graph, const void *deps,
	       const void *data, size_t n, CUstreamCaptureMode mode),
	      CU_STREAM_PER_THREAD, stream, graph, deps, data, n, mode)

#define END_CAPTURE(symbol, own)                                               \
	WRAPS(symbol);                                                         \
	CUresult drill_wrap_##symbol(CUstream stream, CUgraph *graph)          \
	{                                                                      \
		struct drill_call c = { STREAMED(symbol, stream, own) };       \
                                                                               \
		if (drill_call_is_told(&c))                                    \
			return c.result;                                       \
		return drill_capture_end(&c, graph, drill_next(symbol));       \
	}

END_CAPTURE(cuStreamEndCapture, NULL)
END_CAPTURE(cuStreamEndCapture_ptsz, CU_STREAM_PER_THREAD)

#define IS_CAPTURING(symbol, own)                                              \
	WRAPS(symbol);                                                         \
	CUresult drill_wrap_##symbol(CUstream stream,                          \
				     CUstreamCaptureStatus *status)            \
	{                                                                      \
		struct drill_call c = { STREAMED(symbol, stream, own) };       \
                                                                               \
		if (drill_context_fails(&c) || drill_call_is_told(&c))         \
			return c.result;                                       \
		c.result = drill_next(symbol)(stream, status);                 \
		return drill_capture_status(&c, status);                       \
	}

IS_CAPTURING(cuStreamIsCapturing, NULL)
IS_CAPTURING(cuStreamIsCapturing_ptsz, CU_STREAM_PER_THREAD)
