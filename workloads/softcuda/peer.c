/* peer.c - which software device may reach which: all may, once it is asked for
 * SPDX-License-Identifier: MIT
 *
 * All memory is this process's own, so a copy works either way; who asks is
 * told what a machine with peers among all devices says.
 */
#include "soft.h"

static CUresult two_devices(CUdevice a, CUdevice b, const void *out)
{
	CUresult e = soft_ready();

	if (e)
		return e;
	if (a < 0 || a >= soft.devices || b < 0 || b >= soft.devices)
		return CUDA_ERROR_INVALID_DEVICE;
	return out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

SOFT_API CUresult cuDeviceCanAccessPeer(int *can, CUdevice dev, CUdevice peer)
{
	CUresult e = two_devices(dev, peer, can);

	if (!e)
		*can = dev != peer;
	return e;
}

SOFT_API CUresult cuDeviceGetP2PAttribute(int *value,
					  CUdevice_P2PAttribute attribute,
					  CUdevice src, CUdevice dst)
{
	CUresult e = two_devices(src, dst, value);

	if (!e && (src == dst || (int)attribute < 1 || (int)attribute > 4))
		e = src == dst ? CUDA_ERROR_INVALID_DEVICE :
				 CUDA_ERROR_INVALID_VALUE;
	if (!e)
		*value = (int)attribute != CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK;
	return e;
}

static struct CUctx_st **slot(struct CUctx_st *c, const struct CUctx_st *peer)
{
	int i;

	for (i = 0; i < SOFT_DEVICES_MAX; i++)
		if (c->peer[i] == peer)
			return &c->peer[i];
	return NULL;
}

SOFT_API CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned int flags)
{
	struct CUctx_st *c, **p;
	CUresult e = soft_enter(&c);

	if (e)
		return e;
	if (!peer || peer->magic != SOFT_CTX || !peer->alive)
		return soft_leave(CUDA_ERROR_INVALID_CONTEXT);
	if (flags || peer->device == c->device)
		return soft_leave(flags ? CUDA_ERROR_INVALID_VALUE :
					  CUDA_ERROR_INVALID_DEVICE);
	if (slot(c, peer))
		return soft_leave(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
	p = slot(c, NULL);
	if (p)
		*p = peer;
	return soft_leave(p ? CUDA_SUCCESS : CUDA_ERROR_TOO_MANY_PEERS);
}

SOFT_API CUresult cuCtxDisablePeerAccess(CUcontext peer)
{
	struct CUctx_st *c, **p;
	CUresult e = soft_enter(&c);

	if (e)
		return e;
	p = peer ? slot(c, peer) : NULL;
	if (p)
		*p = NULL;
	return soft_leave(p ? CUDA_SUCCESS :
			      CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
}
