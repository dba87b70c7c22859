/* cuda_wrap_device.c - the driver's start, its contexts, who is whose peer
 * SPDX-License-Identifier: MIT
 */
#include "cuda_wrap.h"

CUresult cuCtxCreate(CUcontext *ctx, unsigned int flags, CUdevice dev);
CUresult cuCtxCreate_v3(CUcontext *ctx, void *affinity, int n,
			unsigned int flags, CUdevice dev);
CUresult cuDevicePrimaryCtxRelease(CUdevice dev);
CUresult cuDevicePrimaryCtxReset(CUdevice dev);
CUresult cuCtxDestroy(CUcontext ctx);

WRAPS(cuInit);
CUresult drill_wrap_cuInit(unsigned int flags)
{
	struct drill_call c = { PLAIN(cuInit) };

	if (drill_call_enter(&c))
		return c.result;
	c.result = drill_init(flags);
	return drill_call_leave(&c);
}

/* ---- contexts ---- */

#define CREATE(symbol, params, ...)                                            \
	WRAPS(symbol);                                                         \
	CUresult drill_wrap_##symbol params                                    \
	{                                                                      \
		struct drill_call c = { PLAIN(symbol) };                       \
                                                                               \
		c.result = drill_context_refused(&c, dev);                     \
		if (c.result)                                                  \
			return c.result;                                       \
		CALL(c, symbol, __VA_ARGS__);                                  \
		if (!c.result)                                                 \
			drill_context_made(*ctx, dev, false);                  \
		return c.result;                                               \
	}

CREATE(cuCtxCreate, (CUcontext * ctx, unsigned int flags, CUdevice dev), ctx,
       flags, dev)
CREATE(cuCtxCreate_v2, (CUcontext * ctx, unsigned int flags, CUdevice dev),
       ctx, flags, dev)
CREATE(cuCtxCreate_v3,
       (CUcontext * ctx, void *affinity, int n, unsigned int flags,
	CUdevice dev),
       ctx, affinity, n, flags, dev)
CREATE(cuCtxCreate_v4,
       (CUcontext * ctx, CUctxCreateParams *params, unsigned int flags,
	CUdevice dev),
       ctx, params, flags, dev)

static bool primary_is_active(CUdevice dev)
{
	unsigned int flags;
	int active = 0;

	return !drill_next(cuDevicePrimaryCtxGetState)(dev, &flags, &active) &&
	       active;
}

/* One that is there already is not new, however its device stands. */
WRAPS(cuDevicePrimaryCtxRetain);
CUresult drill_wrap_cuDevicePrimaryCtxRetain(CUcontext *ctx, CUdevice dev)
{
	struct drill_call c = { PLAIN(cuDevicePrimaryCtxRetain) };
	bool there = primary_is_active(dev);

	if (!there)
		c.result = drill_context_refused(&c, dev);
	if (c.result)
		return c.result;
	CALL(c, cuDevicePrimaryCtxRetain, ctx, dev);
	if (!c.result)
		drill_context_made(*ctx, dev, true);
	return c.result;
}

/* What ends a context does so, and says its error all the same. */
#define END_PRIMARY(symbol, gone)                                              \
	WRAPS(symbol);                                                         \
	CUresult drill_wrap_##symbol(CUdevice dev)                             \
	{                                                                      \
		struct drill_call c = { PLAIN(symbol) };                       \
		CUcontext ctx = drill_context_primary(dev);                    \
		CUresult error = CUDA_SUCCESS;                                 \
                                                                               \
		if (drill_context_is_sick(&c, ctx))                            \
			error = c.result;                                      \
		else if (drill_call_enter(&c))                                 \
			return c.result;                                       \
		c.result = drill_next(symbol)(dev);                            \
		if (!c.result && (gone))                                       \
			drill_context_gone(ctx);                               \
		return error ? error : c.result;                               \
	}

END_PRIMARY(cuDevicePrimaryCtxRelease, !primary_is_active(dev))
END_PRIMARY(cuDevicePrimaryCtxRelease_v2, !primary_is_active(dev))
END_PRIMARY(cuDevicePrimaryCtxReset, true)
END_PRIMARY(cuDevicePrimaryCtxReset_v2, true)

#define DESTROY(symbol)                                                        \
	WRAPS(symbol);                                                         \
	CUresult drill_wrap_##symbol(CUcontext ctx)                            \
	{                                                                      \
		struct drill_call c = { PLAIN(symbol) };                       \
		CUresult error = CUDA_SUCCESS;                                 \
                                                                               \
		if (drill_context_is_sick(&c, ctx))                            \
			error = c.result;                                      \
		else if (drill_call_enter(&c))                                 \
			return c.result;                                       \
		c.result = drill_next(symbol)(ctx);                            \
		if (!c.result)                                                 \
			drill_context_gone(ctx);                               \
		return error ? error : c.result;                               \
	}

DESTROY(cuCtxDestroy)
DESTROY(cuCtxDestroy_v2)

/* ---- peers ---- */

WRAPS(cuDeviceCanAccessPeer);
CUresult drill_wrap_cuDeviceCanAccessPeer(int *can, CUdevice dev, CUdevice peer)
{
	struct drill_call c = { PLAIN(cuDeviceCanAccessPeer) };

	CALL(c, cuDeviceCanAccessPeer, can, dev, peer);
	if (!c.result && *can &&
	    drill_peers_refused(c.number, drill_device_index(dev),
				drill_device_index(peer)))
		*can = 0;
	return c.result;
}

/* Of its answers only the rank is no permission. */
WRAPS(cuDeviceGetP2PAttribute);
CUresult drill_wrap_cuDeviceGetP2PAttribute(int *value,
					    CUdevice_P2PAttribute attribute,
					    CUdevice src, CUdevice dst)
{
	struct drill_call c = { PLAIN(cuDeviceGetP2PAttribute) };

	CALL(c, cuDeviceGetP2PAttribute, value, attribute, src, dst);
	if (!c.result && *value &&
	    attribute != CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK &&
	    drill_peers_refused(c.number, drill_device_index(src),
				drill_device_index(dst)))
		*value = 0;
	return c.result;
}

WRAPS(cuCtxEnablePeerAccess);
CUresult drill_wrap_cuCtxEnablePeerAccess(CUcontext peer, unsigned int flags)
{
	struct drill_call c = { PLAIN(cuCtxEnablePeerAccess) };

	if (drill_call_enter(&c))
		return c.result;
	if (peer && drill_peers_refused(c.number, drill_context_device(&c),
					drill_context_device_of(peer)))
		return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
	c.result = drill_next(cuCtxEnablePeerAccess)(peer, flags);
	return drill_call_leave(&c);
}
