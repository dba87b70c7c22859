/* cuda_wrap_sync.c - the driver's waits and queries
 * SPDX-License-Identifier: MIT
 */
#include "cuda_wrap.h"

CUresult cuCtxSynchronize_v2(CUcontext ctx);

WRAPS(cuCtxSynchronize);
CUresult drill_wrap_cuCtxSynchronize(void)
{
	struct drill_call c = { PLAIN(cuCtxSynchronize), .whole = true };

	return CALL(c, cuCtxSynchronize);
}

WRAPS(cuCtxSynchronize_v2);
CUresult drill_wrap_cuCtxSynchronize_v2(CUcontext ctx)
{
	struct drill_call c = { PLAIN(cuCtxSynchronize_v2), .whole = true };

	if (ctx && drill_context_is_sick(&c, ctx))
		return c.result;
	return CALL(c, cuCtxSynchronize_v2, ctx);
}

#define OF_STREAM(symbol, own)                                                 \
	WRAPS(symbol);                                                         \
	CUresult drill_wrap_##symbol(CUstream stream)                          \
	{                                                                      \
		struct drill_call c = { STREAMED(symbol, stream, own) };       \
                                                                               \
		return CALL(c, symbol, stream);                                \
	}

OF_STREAM(cuStreamSynchronize, NULL)
OF_STREAM(cuStreamSynchronize_ptsz, CU_STREAM_PER_THREAD)
OF_STREAM(cuStreamQuery, NULL)
OF_STREAM(cuStreamQuery_ptsz, CU_STREAM_PER_THREAD)

#define OF_EVENT(symbol)                                                       \
	WRAPS(symbol);                                                         \
	CUresult drill_wrap_##symbol(CUevent event)                            \
	{                                                                      \
		struct drill_call c = { PLAIN(symbol), .event = event };       \
                                                                               \
		return CALL(c, symbol, event);                                 \
	}

OF_EVENT(cuEventSynchronize)
OF_EVENT(cuEventQuery)
