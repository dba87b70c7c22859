/* memory.c - memory of the software device: host memory with a limit
 * SPDX-License-Identifier: MIT
 *
 * Addresses are unified: a device pointer is an address of this process, so
 * that kernels use it as it is. Every address that a call is given must lie in
 * a live allocation.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "soft.h"

#define ALIGN 256

/* The first range that begins above p. */
static size_t above(const struct CUctx_st *c, const char *p)
{
	size_t lo = 0, hi = c->n_ranges, mid;

	while (lo < hi) {
		mid = (lo + hi) / 2;
		if (c->ranges[mid].base <= p)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static struct soft_range *find(struct CUctx_st *c, const void *p, size_t n)
{
	size_t i = above(c, p);
	struct soft_range *r;

	if (!i)
		return NULL;
	r = &c->ranges[i - 1];
	if ((size_t)((const char *)p - r->base) >= r->size ||
	    n > r->size - (size_t)((const char *)p - r->base))
		return NULL;
	return r;
}

/* Device memory may belong to any context of the process. */
static struct soft_range *find_device(const void *p, size_t n)
{
	struct soft_range *r = NULL;
	struct CUctx_st *c;
	int i;

	for (i = 0; i < soft.devices && !r; i++)
		r = find(&soft.device[i].primary, p, n);
	for (c = soft.made; c && !r; c = c->next)
		r = find(c, p, n);
	return r;
}

static CUresult allocate(struct CUctx_st *c, size_t n, bool host, void **out)
{
	size_t round = (n + ALIGN - 1) / ALIGN * ALIGN, i;
	struct soft_range *r;
	void *p;

	if (!n)
		return CUDA_ERROR_INVALID_VALUE;
	if (round < n)
		return CUDA_ERROR_OUT_OF_MEMORY;
	r = realloc(c->ranges, (c->n_ranges + 1) * sizeof(*r));
	if (!r)
		return CUDA_ERROR_OUT_OF_MEMORY;
	c->ranges = r;
	if (!host && !soft_take(c->device, round))
		return CUDA_ERROR_OUT_OF_MEMORY;
	p = aligned_alloc(ALIGN, round);
	if (!p) {
		if (!host)
			soft_give(c->device, round);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	i = above(c, p);
	memmove(r + i + 1, r + i, (c->n_ranges - i) * sizeof(*r));
	r[i] = (struct soft_range){ p, n, host };
	c->n_ranges++;
	*out = p;
	return CUDA_SUCCESS;
}

static void release(struct CUctx_st *c, struct soft_range *r)
{
	size_t i = (size_t)(r - c->ranges);

	if (!r->host)
		soft_give(c->device, (r->size + ALIGN - 1) / ALIGN * ALIGN);
	free(r->base);
	c->n_ranges--;
	memmove(r, r + 1, (c->n_ranges - i) * sizeof(*r));
}

void soft_memory_close(struct CUctx_st *ctx)
{
	while (ctx->n_ranges)
		release(ctx, &ctx->ranges[ctx->n_ranges - 1]);
	free(ctx->ranges);
	ctx->ranges = NULL;
}

SOFT_API CUresult cuMemGetInfo_v2(size_t *available, size_t *total)
{
	struct CUctx_st *c;
	CUresult e = soft_enter(&c);

	if (e)
		return e;
	if (!available || !total)
		return soft_leave(CUDA_ERROR_INVALID_VALUE);
	*total = c->device->limit;
	*available = soft_left(c->device);
	return soft_leave(CUDA_SUCCESS);
}

SOFT_API CUresult cuMemAlloc_v2(CUdeviceptr *ptr, size_t bytes)
{
	struct CUctx_st *c;
	void *p;
	CUresult e = soft_enter(&c);

	if (e)
		return e;
	e = ptr ? soft_unsafe() : CUDA_ERROR_INVALID_VALUE;
	if (!e)
		e = allocate(c, bytes, false, &p);
	if (!e)
		*ptr = (CUdeviceptr)(uintptr_t)p;
	return soft_leave(e);
}

SOFT_API CUresult cuMemHostAlloc(void **ptr, size_t bytes, unsigned int flags)
{
	struct CUctx_st *c;
	CUresult e = soft_enter(&c);

	(void)flags;
	if (e)
		return e;
	e = ptr ? soft_unsafe() : CUDA_ERROR_INVALID_VALUE;
	return soft_leave(e ? e : allocate(c, bytes, true, ptr));
}

SOFT_API CUresult cuMemAllocHost_v2(void **ptr, size_t bytes)
{
	return cuMemHostAlloc(ptr, bytes, 0);
}

/* Like the driver's, a free waits for the context's work. */
static CUresult give_back(void *p, bool host)
{
	struct CUctx_st *c;
	struct soft_range *r;
	CUresult e = soft_enter(&c);

	if (e)
		return e;
	if (!p)
		return soft_leave(CUDA_SUCCESS);
	e = soft_unsafe();
	if (e)
		return soft_leave(e);
	soft_ctx_wait(c);
	e = soft_sync_error(c);
	r = find(c, p, 1);
	if (!e && (!r || r->base != p || r->host != host))
		e = CUDA_ERROR_INVALID_VALUE;
	if (!e)
		release(c, r);
	return soft_leave(e);
}

SOFT_API CUresult cuMemFree_v2(CUdeviceptr ptr)
{
	return give_back((void *)(uintptr_t)ptr, false);
}

SOFT_API CUresult cuMemFreeHost(void *ptr)
{
	return ptr ? give_back(ptr, true) : CUDA_ERROR_INVALID_VALUE;
}

void soft_free_now(struct CUctx_st *ctx, void *p)
{
	struct soft_range *r = find(ctx, p, 1);

	if (r && r->base == p && !r->host)
		release(ctx, r);
}

/* The memory is there at once; pools there are none. */
SOFT_API CUresult cuMemAllocAsync(CUdeviceptr *ptr, size_t bytes,
				  CUstream stream)
{
	struct CUctx_st *c;
	struct CUstream_st *s;
	void *p;
	CUresult e = soft_enter(&c);

	if (e)
		return e;
	e = ptr ? soft_stream_get(c, stream, &s) : CUDA_ERROR_INVALID_VALUE;
	if (!e)
		e = allocate(c, bytes, false, &p);
	if (!e)
		*ptr = (CUdeviceptr)(uintptr_t)p;
	return soft_leave(e);
}

SOFT_API CUresult cuMemFreeAsync(CUdeviceptr ptr, CUstream stream)
{
	void *p = (void *)(uintptr_t)ptr;
	struct CUctx_st *c;
	struct CUstream_st *s;
	struct soft_range *r;
	struct soft_op *op;
	CUresult e = soft_enter(&c);

	if (e)
		return e;
	r = find(c, p, 1);
	e = !p ? CUDA_SUCCESS : !r || r->base != p || r->host ?
		 CUDA_ERROR_INVALID_VALUE : soft_stream_get(c, stream, &s);
	if (e || !p)
		return soft_leave(e);
	op = soft_op_new(SOFT_FREE, 0);
	if (!op)
		return soft_leave(CUDA_ERROR_OUT_OF_MEMORY);
	op->dst = p;
	return soft_leave(soft_submit(s, op, NULL));
}

SOFT_API CUresult cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *size,
					  CUdeviceptr ptr)
{
	struct CUctx_st *c;
	struct soft_range *r;
	CUresult e = soft_enter(&c);

	if (e)
		return e;
	r = find(c, (void *)(uintptr_t)ptr, 1);
	if (!r)
		return soft_leave(CUDA_ERROR_NOT_FOUND);
	if (base)
		*base = (CUdeviceptr)(uintptr_t)r->base;
	if (size)
		*size = r->size;
	return soft_leave(CUDA_SUCCESS);
}

struct copy {
	void *dst;
	const void *src;
	size_t n;
	bool dst_device, src_device;
	bool wait;
};

static bool copy_is_valid(const struct copy *k)
{
	return (!k->dst_device || find_device(k->dst, k->n)) &&
	       (!k->src_device || find_device(k->src, k->n)) && k->dst &&
	       k->src;
}

/* Pageable memory may change as soon as the call returns: it is staged. What a
 * graph copies it reads when it runs. */
static bool stage(struct CUctx_st *c, const struct copy *k, struct soft_op *op,
		  const struct CUstream_st *s)
{
	if (k->wait || k->src_device || s->capture || find(c, k->src, k->n))
		return true;
	op->own = malloc(k->n);
	if (!op->own)
		return false;
	memcpy(op->own, k->src, k->n);
	op->src = op->own;
	return true;
}

static CUresult queue(struct CUctx_st *c, struct CUstream_st *s,
		      struct soft_op *op, bool wait)
{
	uint64_t seq;
	CUresult e = wait ? soft_no_capture(s) : CUDA_SUCCESS;

	if (e) {
		soft_op_free(op);
		return e;
	}
	e = soft_submit(s, op, &seq);
	if (e || !wait)
		return e;
	soft_wait(s, seq);
	return soft_sync_error(c);
}

static CUresult copy(CUstream stream, struct copy k)
{
	struct CUctx_st *c;
	struct CUstream_st *s;
	struct soft_op *op;
	CUresult e = soft_enter(&c);

	if (e)
		return e;
	if (!k.n)
		return soft_leave(CUDA_SUCCESS);
	e = copy_is_valid(&k) ? soft_stream_get(c, stream, &s) :
				CUDA_ERROR_INVALID_VALUE;
	if (e)
		return soft_leave(e);
	op = soft_op_new(SOFT_COPY, 0);
	if (!op)
		return soft_leave(CUDA_ERROR_OUT_OF_MEMORY);
	op->dst = k.dst;
	op->src = k.src;
	op->n = k.n;
	if (!stage(c, &k, op, s)) {
		soft_op_free(op);
		return soft_leave(CUDA_ERROR_OUT_OF_MEMORY);
	}
	return soft_leave(queue(c, s, op, k.wait));
}

#define DEV(p) ((void *)(uintptr_t)(p))

SOFT_API CUresult cuMemcpyHtoD_v2(CUdeviceptr dst, const void *src,
				  size_t bytes)
{
	return copy(NULL, (struct copy){ DEV(dst), src, bytes, 1, 0, 1 });
}

SOFT_API CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr dst, const void *src,
				       size_t bytes, CUstream stream)
{
	return copy(stream, (struct copy){ DEV(dst), src, bytes, 1, 0, 0 });
}

SOFT_API CUresult cuMemcpyDtoH_v2(void *dst, CUdeviceptr src, size_t bytes)
{
	return copy(NULL, (struct copy){ dst, DEV(src), bytes, 0, 1, 1 });
}

SOFT_API CUresult cuMemcpyDtoHAsync_v2(void *dst, CUdeviceptr src, size_t bytes,
				       CUstream stream)
{
	return copy(stream, (struct copy){ dst, DEV(src), bytes, 0, 1, 0 });
}

SOFT_API CUresult cuMemcpyDtoD_v2(CUdeviceptr dst, CUdeviceptr src,
				  size_t bytes)
{
	return copy(NULL, (struct copy){ DEV(dst), DEV(src), bytes, 1, 1, 0 });
}

SOFT_API CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr dst, CUdeviceptr src,
				       size_t bytes, CUstream stream)
{
	return copy(stream,
		    (struct copy){ DEV(dst), DEV(src), bytes, 1, 1, 0 });
}

/* Unified addresses: either side may be host memory. */
SOFT_API CUresult cuMemcpy(CUdeviceptr dst, CUdeviceptr src, size_t bytes)
{
	return copy(NULL, (struct copy){ DEV(dst), DEV(src), bytes, 0, 0, 1 });
}

SOFT_API CUresult cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, size_t bytes,
				CUstream stream)
{
	return copy(stream,
		    (struct copy){ DEV(dst), DEV(src), bytes, 0, 1, 0 });
}

static CUresult copy_peer(CUstream stream, CUcontext to, CUcontext from,
			  struct copy k)
{
	if (!to || !from || to->magic != SOFT_CTX || from->magic != SOFT_CTX)
		return CUDA_ERROR_INVALID_CONTEXT;
	return copy(stream, k);
}

SOFT_API CUresult cuMemcpyPeer(CUdeviceptr dst, CUcontext dst_ctx,
			       CUdeviceptr src, CUcontext src_ctx, size_t bytes)
{
	return copy_peer(NULL, dst_ctx, src_ctx,
			 (struct copy){ DEV(dst), DEV(src), bytes, 1, 1, 0 });
}

SOFT_API CUresult cuMemcpyPeerAsync(CUdeviceptr dst, CUcontext dst_ctx,
				    CUdeviceptr src, CUcontext src_ctx,
				    size_t bytes, CUstream stream)
{
	return copy_peer(stream, dst_ctx, src_ctx,
			 (struct copy){ DEV(dst), DEV(src), bytes, 1, 1, 0 });
}

static CUresult set(CUstream stream, CUdeviceptr dst, unsigned int value,
		    size_t n, unsigned int width)
{
	struct CUctx_st *c;
	struct CUstream_st *s;
	struct soft_op *op;
	CUresult e = soft_enter(&c);

	if (e)
		return e;
	if (!n)
		return soft_leave(CUDA_SUCCESS);
	if (n > SIZE_MAX / width || dst % width ||
	    !find_device(DEV(dst), n * width))
		return soft_leave(CUDA_ERROR_INVALID_VALUE);
	e = soft_stream_get(c, stream, &s);
	if (e)
		return soft_leave(e);
	op = soft_op_new(SOFT_SET, 0);
	if (!op)
		return soft_leave(CUDA_ERROR_OUT_OF_MEMORY);
	op->dst = DEV(dst);
	op->value = value;
	op->n = n;
	op->width = width;
	return soft_leave(queue(c, s, op, false));
}

SOFT_API CUresult cuMemsetD8_v2(CUdeviceptr dst, unsigned char value, size_t n)
{
	return set(NULL, dst, value, n, 1);
}

SOFT_API CUresult cuMemsetD8Async(CUdeviceptr dst, unsigned char value,
				  size_t n, CUstream stream)
{
	return set(stream, dst, value, n, 1);
}

SOFT_API CUresult cuMemsetD32_v2(CUdeviceptr dst, unsigned int value, size_t n)
{
	return set(NULL, dst, value, n, 4);
}

SOFT_API CUresult cuMemsetD32Async(CUdeviceptr dst, unsigned int value,
				   size_t n, CUstream stream)
{
	return set(stream, dst, value, n, 4);
}
