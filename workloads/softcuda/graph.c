/* graph.c - capture and graphs of the software device: work recorded to be done
 * SPDX-License-Identifier: MIT
 *
 * A graph is the list of what was captured, in the order it came; one stream
 * does it in that order when it is launched, which honours every dependency.
 */
#include <stdlib.h>
#include <string.h>

#include "soft.h"

static __thread CUstreamCaptureMode thread_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;

static void free_ops(struct soft_op *op)
{
	struct soft_op *next;

	for (; op; op = next) {
		next = op->next;
		soft_op_free(op);
	}
}

static void invalidate(struct soft_capture *k)
{
	k->status = CU_STREAM_CAPTURE_STATUS_INVALIDATED;
}

CUresult soft_record(struct CUstream_st *s, struct soft_op *op)
{
	struct soft_capture *k = s->capture;

	if (k->status != CU_STREAM_CAPTURE_STATUS_ACTIVE) {
		if (op)
			soft_op_free(op);
		return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
	}
	if (!op)
		return CUDA_SUCCESS;
	if (k->tail)
		k->tail->next = op;
	else
		k->head = op;
	k->tail = op;
	return CUDA_SUCCESS;
}

CUresult soft_no_capture(struct CUstream_st *s)
{
	if (!s->capture)
		return CUDA_SUCCESS;
	invalidate(s->capture);
	return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

CUresult soft_no_capture_in(struct CUctx_st *c)
{
	struct CUstream_st *s;
	CUresult e = CUDA_SUCCESS;

	for (s = c->streams; s; s = s->next)
		if (soft_no_capture(s))
			e = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	return e;
}

CUresult soft_no_capture_beside(struct CUstream_st *null)
{
	struct CUstream_st *s;
	CUresult e = CUDA_SUCCESS;

	if (null != null->ctx->null)
		return e;
	for (s = null->ctx->streams; s; s = s->next)
		if (s->capture && !(s->flags & CU_STREAM_NON_BLOCKING)) {
			invalidate(s->capture);
			e = CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
		}
	return e;
}

/* As cuThreadExchangeStreamCaptureMode's rules have it. */
static bool forbids(const struct soft_capture *k)
{
	if (thread_mode == CU_STREAM_CAPTURE_MODE_RELAXED ||
	    k->mode == CU_STREAM_CAPTURE_MODE_RELAXED)
		return false;
	return k->thread == soft_thread() ||
	       (thread_mode == CU_STREAM_CAPTURE_MODE_GLOBAL &&
		k->mode == CU_STREAM_CAPTURE_MODE_GLOBAL);
}

CUresult soft_unsafe(void)
{
	struct soft_capture *k;
	CUresult e = CUDA_SUCCESS;

	for (k = soft.captures; k; k = k->next)
		if (forbids(k)) {
			invalidate(k);
			e = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
		}
	return e;
}

CUresult soft_join_capture(struct CUstream_st *s, struct soft_capture *k)
{
	if (!k) {
		invalidate(s->capture);
		return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
	}
	if (s->capture && s->capture != k) {
		invalidate(k);
		invalidate(s->capture);
		return CUDA_ERROR_STREAM_CAPTURE_MERGE;
	}
	s->capture = k;
	return soft_record(s, NULL);
}

/* Ends it everywhere; what it recorded becomes the caller's. */
static struct soft_op *end(struct soft_capture *k)
{
	struct CUctx_st *c = k->origin->ctx;
	struct soft_op *ops = k->head;
	struct CUstream_st *s;
	struct CUevent_st *e;
	struct soft_capture **p;

	for (s = c->streams; s; s = s->next)
		if (s->capture == k)
			s->capture = NULL;
	for (e = c->events; e; e = e->next)
		if (e->capture == k)
			e->capture = NULL;
	for (p = &soft.captures; *p != k; p = &(*p)->next)
		;
	*p = k->next;
	free(k);
	return ops;
}

void soft_drop_capture(struct CUstream_st *s)
{
	if (s->capture && s->capture->origin == s)
		free_ops(end(s->capture));
	s->capture = NULL;
}

SOFT_API CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
	CUstreamCaptureMode old = thread_mode;

	if (!mode || (unsigned int)*mode > CU_STREAM_CAPTURE_MODE_RELAXED)
		return CUDA_ERROR_INVALID_VALUE;
	thread_mode = *mode;
	*mode = old;
	return CUDA_SUCCESS;
}

SOFT_API CUresult cuStreamBeginCapture_v2(CUstream stream,
					  CUstreamCaptureMode mode)
{
	struct CUctx_st *c;
	struct CUstream_st *s;
	struct soft_capture *k;
	CUresult e = soft_enter(&c);

	if (e)
		return e;
	e = soft_stream_get(c, stream, &s);
	if (!e && (unsigned int)mode > CU_STREAM_CAPTURE_MODE_RELAXED)
		e = CUDA_ERROR_INVALID_VALUE;
	if (!e && s == c->null)
		e = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	if (!e && s->capture)
		e = CUDA_ERROR_ILLEGAL_STATE;
	k = e ? NULL : calloc(1, sizeof(*k));
	if (!k)
		return soft_leave(e ? e : CUDA_ERROR_OUT_OF_MEMORY);
	k->status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
	k->mode = mode;
	k->thread = soft_thread();
	k->origin = s;
	k->next = soft.captures;
	soft.captures = s->capture = k;
	return soft_leave(CUDA_SUCCESS);
}

static CUresult may_end(const struct CUstream_st *s)
{
	const struct soft_capture *k = s->capture;

	if (!k)
		return CUDA_ERROR_ILLEGAL_STATE;
	if (k->origin != s)
		return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
	if (k->mode != CU_STREAM_CAPTURE_MODE_RELAXED &&
	    k->thread != soft_thread())
		return CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
	return CUDA_SUCCESS;
}

SOFT_API CUresult cuStreamEndCapture(CUstream stream, CUgraph *graph)
{
	struct CUctx_st *c;
	struct CUstream_st *s;
	struct CUgraph_st *g;
	struct soft_op *ops;
	bool valid;
	CUresult e = soft_enter(&c);

	if (e)
		return e;
	e = graph ? soft_stream_get(c, stream, &s) : CUDA_ERROR_INVALID_VALUE;
	if (!e)
		e = may_end(s);
	if (e)
		return soft_leave(e);
	valid = s->capture->status == CU_STREAM_CAPTURE_STATUS_ACTIVE;
	ops = end(s->capture);
	g = valid ? calloc(1, sizeof(*g)) : NULL;
	*graph = g;
	if (!g) {
		free_ops(ops);
		return soft_leave(valid ? CUDA_ERROR_OUT_OF_MEMORY :
					CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
	}
	g->magic = SOFT_GRAPH;
	g->ops = ops;
	return soft_leave(CUDA_SUCCESS);
}

SOFT_API CUresult cuStreamIsCapturing(CUstream stream,
				      CUstreamCaptureStatus *status)
{
	struct CUctx_st *c;
	struct CUstream_st *s;
	CUresult e = soft_enter(&c);

	if (e)
		return e;
	e = status ? soft_stream_get(c, stream, &s) : CUDA_ERROR_INVALID_VALUE;
	if (!e)
		*status = s->capture ? s->capture->status :
				       CU_STREAM_CAPTURE_STATUS_NONE;
	return soft_leave(e);
}

static struct soft_op *copy_op(const struct soft_op *op)
{
	struct soft_op *n = soft_op_new(op->kind, op->params_bytes);
	int i;

	if (!n)
		return NULL;
	memcpy(n, op, sizeof(*op) + op->params_bytes);
	n->next = NULL;
	n->own = NULL;
	for (i = 0; i < 4; i++)
		if (op->param[i])
			n->param[i] = n->params +
				((const char *)op->param[i] - op->params);
	if (!op->block.shared)
		return n;
	n->own = n->block.shared =
		aligned_alloc(64, (op->block.shared_bytes + 63) & ~63u);
	if (n->own)
		return n;
	soft_op_free(n);
	return NULL;
}

/* False: no memory; what was copied is freed again. */
static bool copy_ops(const struct soft_op *op, struct soft_op **ret)
{
	struct soft_op **p = ret;

	for (*ret = NULL; op; op = op->next, p = &(*p)->next) {
		*p = copy_op(op);
		if (!*p) {
			free_ops(*ret);
			return false;
		}
	}
	return true;
}

SOFT_API CUresult cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph,
					      unsigned long long flags)
{
	struct CUctx_st *c;
	struct CUgraphExec_st *x;
	CUresult e = soft_enter(&c);

	(void)flags;
	if (e)
		return e;
	if (!exec || !graph || graph->magic != SOFT_GRAPH)
		return soft_leave(CUDA_ERROR_INVALID_VALUE);
	x = calloc(1, sizeof(*x));
	if (!x || !copy_ops(graph->ops, &x->ops)) {
		free(x);
		return soft_leave(CUDA_ERROR_OUT_OF_MEMORY);
	}
	x->magic = SOFT_EXEC;
	x->ctx = c;
	*exec = x;
	return soft_leave(CUDA_SUCCESS);
}

/* Into a capturing stream it is recorded like other work. */
SOFT_API CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream)
{
	struct CUctx_st *c;
	struct CUstream_st *s;
	struct soft_op *op, *next;
	CUresult e = soft_enter(&c);

	if (e)
		return e;
	e = exec && exec->magic == SOFT_EXEC ? soft_stream_get(c, stream, &s) :
					       CUDA_ERROR_INVALID_VALUE;
	if (!e && !copy_ops(exec->ops, &op))
		e = CUDA_ERROR_OUT_OF_MEMORY;
	if (e)
		return soft_leave(e);
	for (; op && !e; op = next) {
		next = op->next;
		op->next = NULL;
		e = soft_submit(s, op, NULL);
	}
	free_ops(op);
	return soft_leave(e);
}

SOFT_API CUresult cuGraphDestroy(CUgraph graph)
{
	struct CUctx_st *c;
	CUresult e = soft_enter(&c);

	if (e)
		return e;
	if (!graph || graph->magic != SOFT_GRAPH)
		return soft_leave(CUDA_ERROR_INVALID_VALUE);
	free_ops(graph->ops);
	graph->magic = 0;
	free(graph);
	return soft_leave(CUDA_SUCCESS);
}

SOFT_API CUresult cuGraphExecDestroy(CUgraphExec exec)
{
	struct CUctx_st *c;
	CUresult e = soft_enter(&c);

	if (e)
		return e;
	if (!exec || exec->magic != SOFT_EXEC)
		return soft_leave(CUDA_ERROR_INVALID_VALUE);
	free_ops(exec->ops);
	exec->magic = 0;
	free(exec);
	return soft_leave(CUDA_SUCCESS);
}
