/* context.c - contexts of the software device: primary, own, and the stack
 * SPDX-License-Identifier: MIT
 *
 * A context's structure is never freed, so that a stale handle on some
 * thread's stack gives CUDA_ERROR_CONTEXT_IS_DESTROYED and not a crash.
 */
#include <stdlib.h>
#include <string.h>

#include "soft.h"

#define STACK_MAX 32

static __thread struct {
	struct CUctx_st *ctx[STACK_MAX];
	int n;
} stack;

struct CUctx_st *soft_current(void)
{
	return stack.n ? stack.ctx[stack.n - 1] : NULL;
}

static void begin(struct CUctx_st *ctx, struct soft_device *d)
{
	ctx->magic = SOFT_CTX;
	ctx->device = d;
	ctx->alive = true;
	ctx->pending = ctx->error = CUDA_SUCCESS;
}

/* Ends its streams and frees all it owns; drops the lock meanwhile. */
static void end(struct CUctx_st *ctx)
{
	struct CUstream_st *s;

	ctx->alive = false;
	ctx->error = CUDA_ERROR_CONTEXT_IS_DESTROYED;
	for (s = ctx->streams; s; s = s->next) {
		soft_drop_capture(s);
		soft_stream_close(s);
	}
	memset(ctx->peer, 0, sizeof(ctx->peer));
	while ((s = ctx->streams)) {
		ctx->streams = s->next;
		pthread_mutex_unlock(&soft.lock);
		pthread_join(s->thread, NULL);
		pthread_mutex_lock(&soft.lock);
		soft_stream_put(s);
	}
	ctx->null = NULL;
	soft_events_close(ctx);
	soft_memory_close(ctx);
	soft_modules_close(ctx);
}

CUresult soft_sync_error(struct CUctx_st *ctx)
{
	if (ctx->pending && !ctx->error)
		ctx->error = ctx->pending;
	return ctx->error;
}

static bool is_ctx(const struct CUctx_st *ctx)
{
	return ctx && ctx->magic == SOFT_CTX;
}

/* Calls that need no current context. */
static CUresult lock_device(CUdevice dev, struct soft_device **d)
{
	CUresult e = soft_ready();

	if (e)
		return e;
	if (dev < 0 || dev >= soft.devices)
		return CUDA_ERROR_INVALID_DEVICE;
	*d = &soft.device[dev];
	pthread_mutex_lock(&soft.lock);
	return CUDA_SUCCESS;
}

SOFT_API CUresult cuDevicePrimaryCtxRetain(CUcontext *ctx, CUdevice dev)
{
	struct soft_device *d;
	CUresult e = ctx ? lock_device(dev, &d) : CUDA_ERROR_INVALID_VALUE;

	if (e)
		return e;
	d->retained++;
	if (!d->primary.alive)
		begin(&d->primary, d);
	*ctx = &d->primary;
	return soft_leave(CUDA_SUCCESS);
}

SOFT_API CUresult cuDevicePrimaryCtxRelease_v2(CUdevice dev)
{
	struct soft_device *d;
	CUresult e = lock_device(dev, &d);

	if (e)
		return e;
	if (!d->retained)
		return soft_leave(CUDA_ERROR_INVALID_CONTEXT);
	if (--d->retained == 0 && d->primary.alive)
		end(&d->primary);
	return soft_leave(CUDA_SUCCESS);
}

/* Frees everything and forgets the error; who had retained it, still has. */
SOFT_API CUresult cuDevicePrimaryCtxReset_v2(CUdevice dev)
{
	struct soft_device *d;
	CUresult e = lock_device(dev, &d);

	if (e)
		return e;
	if (d->primary.alive)
		end(&d->primary);
	if (d->retained)
		begin(&d->primary, d);
	return soft_leave(CUDA_SUCCESS);
}

SOFT_API CUresult cuDevicePrimaryCtxGetState(CUdevice dev, unsigned int *flags,
					     int *active)
{
	struct soft_device *d;
	CUresult e = flags && active ? lock_device(dev, &d) :
				       CUDA_ERROR_INVALID_VALUE;

	if (e)
		return e;
	*flags = d->primary.flags;
	*active = d->primary.alive;
	return soft_leave(CUDA_SUCCESS);
}

static CUresult push(struct CUctx_st *ctx)
{
	if (stack.n == STACK_MAX)
		return CUDA_ERROR_INVALID_VALUE;
	stack.ctx[stack.n++] = ctx;
	return CUDA_SUCCESS;
}

SOFT_API CUresult cuCtxCreate_v2(CUcontext *ctx, unsigned int flags,
				 CUdevice dev)
{
	struct soft_device *d;
	struct CUctx_st *c;
	CUresult e = ctx ? lock_device(dev, &d) : CUDA_ERROR_INVALID_VALUE;

	if (e)
		return e;
	c = calloc(1, sizeof(*c));
	if (!c)
		return soft_leave(CUDA_ERROR_OUT_OF_MEMORY);
	begin(c, d);
	c->flags = flags;
	c->next = soft.made;
	soft.made = c;
	*ctx = c;
	return soft_leave(push(c));
}

SOFT_API CUresult cuCtxCreate_v4(CUcontext *ctx, CUctxCreateParams *params,
				 unsigned int flags, CUdevice dev)
{
	return params ? CUDA_ERROR_NOT_SUPPORTED :
			cuCtxCreate_v2(ctx, flags, dev);
}

SOFT_API CUresult cuCtxDestroy_v2(CUcontext ctx)
{
	CUresult e = soft_ready();

	if (e)
		return e;
	if (!is_ctx(ctx))
		return CUDA_ERROR_INVALID_CONTEXT;
	pthread_mutex_lock(&soft.lock);
	if (!ctx->alive || ctx == &ctx->device->primary)
		return soft_leave(CUDA_ERROR_INVALID_CONTEXT);
	if (soft_current() == ctx)
		stack.n--;
	end(ctx);
	return soft_leave(CUDA_SUCCESS);
}

SOFT_API CUresult cuCtxPushCurrent_v2(CUcontext ctx)
{
	CUresult e = soft_ready();

	if (!e && !is_ctx(ctx))
		e = CUDA_ERROR_INVALID_CONTEXT;
	return e ? e : push(ctx);
}

SOFT_API CUresult cuCtxPopCurrent_v2(CUcontext *ctx)
{
	CUresult e = soft_ready();

	if (!e && !stack.n)
		e = CUDA_ERROR_INVALID_CONTEXT;
	if (e)
		return e;
	stack.n--;
	if (ctx)
		*ctx = stack.ctx[stack.n];
	return CUDA_SUCCESS;
}

SOFT_API CUresult cuCtxSetCurrent(CUcontext ctx)
{
	CUresult e = soft_ready();

	if (!e && ctx && !is_ctx(ctx))
		e = CUDA_ERROR_INVALID_CONTEXT;
	if (e)
		return e;
	if (stack.n)
		stack.n--;
	return ctx ? push(ctx) : CUDA_SUCCESS;
}

SOFT_API CUresult cuCtxGetCurrent(CUcontext *ctx)
{
	CUresult e = soft_ready();

	if (!e && !ctx)
		e = CUDA_ERROR_INVALID_VALUE;
	if (!e)
		*ctx = soft_current();
	return e;
}

SOFT_API CUresult cuCtxGetDevice(CUdevice *dev)
{
	struct CUctx_st *c;
	CUresult e = dev ? soft_enter(&c) : CUDA_ERROR_INVALID_VALUE;

	if (e)
		return e;
	*dev = (CUdevice)(c->device - soft.device);
	return soft_leave(CUDA_SUCCESS);
}

SOFT_API CUresult cuCtxGetFlags(unsigned int *flags)
{
	struct CUctx_st *c;
	CUresult e = flags ? soft_enter(&c) : CUDA_ERROR_INVALID_VALUE;

	if (e)
		return e;
	*flags = c->flags;
	return soft_leave(CUDA_SUCCESS);
}

SOFT_API CUresult cuCtxGetApiVersion(CUcontext ctx, unsigned int *version)
{
	CUresult e = soft_ready();

	if (!e && ctx && !is_ctx(ctx))
		e = CUDA_ERROR_INVALID_CONTEXT;
	if (!e && !version)
		e = CUDA_ERROR_INVALID_VALUE;
	if (!e)
		*version = 13000;
	return e;
}

SOFT_API CUresult cuCtxSynchronize(void)
{
	struct CUctx_st *c;
	CUresult e = soft_enter(&c);

	if (e)
		return e;
	e = soft_no_capture_in(c);
	if (e)
		return soft_leave(e);
	soft_ctx_wait(c);
	return soft_leave(soft_sync_error(c));
}
