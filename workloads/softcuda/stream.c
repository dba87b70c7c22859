/* stream.c - queues of the software device and the null stream's rules
 * SPDX-License-Identifier: MIT
 *
 * The legacy null stream: its work starts after all earlier work of the
 * context's blocking streams, and theirs after all earlier work of its own.
 */
#include <stdlib.h>
#include <time.h>

#include "soft.h"

__thread unsigned int soft_per_thread;

const void *soft_thread(void)
{
	return &soft_per_thread;
}

int64_t soft_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static struct CUstream_st *new_stream(struct CUctx_st *ctx, unsigned int flags,
				      int priority)
{
	struct CUstream_st *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->magic = SOFT_STREAM;
	s->ctx = ctx;
	s->flags = flags;
	s->priority = priority;
	s->refs = 1;
	pthread_cond_init(&s->work, NULL);
	pthread_cond_init(&s->finished, NULL);
	if (pthread_create(&s->thread, NULL, soft_worker, s)) {
		soft_stream_put(s);
		return NULL;
	}
	s->next = ctx->streams;
	ctx->streams = s;
	return s;
}

void soft_stream_close(struct CUstream_st *s)
{
	s->closing = true;
	pthread_cond_broadcast(&s->work);
	pthread_cond_broadcast(&s->finished);
}

void soft_stream_put(struct CUstream_st *s)
{
	if (--s->refs)
		return;
	pthread_cond_destroy(&s->work);
	pthread_cond_destroy(&s->finished);
	s->magic = 0;
	free(s);
}

/* Joins destroyed streams whose last work is done. */
static void reap(struct CUctx_st *ctx)
{
	struct CUstream_st **p = &ctx->streams, *s;

	while ((s = *p)) {
		if (!s->exited) {
			p = &s->next;
			continue;
		}
		*p = s->next;
		pthread_join(s->thread, NULL);
		soft_stream_put(s);
	}
}

static struct CUstream_st *default_of_thread(struct CUctx_st *ctx)
{
	struct CUstream_st *s;

	for (s = ctx->streams; s; s = s->next)
		if (s->owner == soft_thread() && !s->closing)
			return s;
	s = new_stream(ctx, CU_STREAM_DEFAULT, 0);
	if (s)
		s->owner = soft_thread();
	return s;
}

CUresult soft_stream_get(struct CUctx_st *ctx, CUstream h,
			 struct CUstream_st **s)
{
	if (h == CU_STREAM_PER_THREAD || (!h && soft_per_thread)) {
		*s = default_of_thread(ctx);
		return *s ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
	}
	if (h && h != CU_STREAM_LEGACY) {
		*s = h;
		return h->magic == SOFT_STREAM && h->ctx == ctx && !h->closing ?
			       CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
	}
	if (!ctx->null)
		ctx->null = new_stream(ctx, CU_STREAM_DEFAULT, 0);
	*s = ctx->null;
	return *s ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

struct soft_op *soft_op_new(enum soft_kind kind, size_t params)
{
	struct soft_op *op = calloc(1, sizeof(*op) + params);

	if (op)
		op->kind = kind;
	return op;
}

void soft_op_free(struct soft_op *op)
{
	unsigned int i;

	for (i = 0; i < op->deps; i++)
		soft_stream_put(op->dep[i].stream);
	if (op->event)
		soft_event_put(op->event);
	free(op->dep);
	free(op->own);
	free(op);
}

static bool run_after(struct soft_op *op, struct CUstream_st *s, uint64_t seq)
{
	struct soft_dep *d;

	if (s->done >= seq)
		return true;
	d = realloc(op->dep, (op->deps + 1) * sizeof(*d));
	if (!d)
		return false;
	op->dep = d;
	d[op->deps++] = (struct soft_dep){ s, seq };
	s->refs++;
	return true;
}

static bool null_stream_rules(struct CUstream_st *s, struct soft_op *op)
{
	struct CUstream_st *o;

	if (s->flags & CU_STREAM_NON_BLOCKING)
		return true;
	if (s != s->ctx->null)
		return !s->ctx->null ||
		       run_after(op, s->ctx->null, s->ctx->null->submitted);
	for (o = s->ctx->streams; o; o = o->next)
		if (o != s && !(o->flags & CU_STREAM_NON_BLOCKING) &&
		    !run_after(op, o, o->submitted))
			return false;
	return true;
}

CUresult soft_submit(struct CUstream_st *s, struct soft_op *op, uint64_t *seq)
{
	CUresult e = soft_no_capture_beside(s);

	if (seq)
		*seq = 0;
	if (s->capture)
		return soft_record(s, op);
	if (!e && !null_stream_rules(s, op))
		e = CUDA_ERROR_OUT_OF_MEMORY;
	if (e) {
		soft_op_free(op);
		return e;
	}
	op->submit_ns = soft_now();
	if (s->tail)
		s->tail->next = op;
	else
		s->head = op;
	s->tail = op;
	s->submitted++;
	if (seq)
		*seq = s->submitted;
	pthread_cond_signal(&s->work);
	return CUDA_SUCCESS;
}

void soft_wait(struct CUstream_st *s, uint64_t seq)
{
	s->refs++;
	while (s->done < seq)
		pthread_cond_wait(&s->finished, &soft.lock);
	soft_stream_put(s);
}

/* The list may change while a wait has dropped the lock: start over then. */
void soft_ctx_wait(struct CUctx_st *ctx)
{
	struct CUstream_st *s = ctx->streams;

	while (s) {
		if (s->done == s->submitted) {
			s = s->next;
		} else {
			soft_wait(s, s->submitted);
			s = ctx->streams;
		}
	}
}

SOFT_API CUresult cuStreamCreateWithPriority(CUstream *stream,
					     unsigned int flags, int priority)
{
	struct CUctx_st *c;
	CUresult e = soft_enter(&c);

	if (e)
		return e;
	if (!stream || flags & ~1u)
		return soft_leave(CUDA_ERROR_INVALID_VALUE);
	reap(c);
	*stream = new_stream(c, flags, priority);
	return soft_leave(*stream ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY);
}

SOFT_API CUresult cuStreamCreate(CUstream *stream, unsigned int flags)
{
	return cuStreamCreateWithPriority(stream, flags, 0);
}

/* Returns at once; what is queued still runs. */
SOFT_API CUresult cuStreamDestroy_v2(CUstream stream)
{
	struct CUctx_st *c;
	struct CUstream_st *s;
	CUresult e = soft_enter(&c);

	if (e)
		return e;
	if (!stream || stream == CU_STREAM_LEGACY ||
	    stream == CU_STREAM_PER_THREAD)
		return soft_leave(CUDA_ERROR_INVALID_HANDLE);
	e = soft_stream_get(c, stream, &s);
	if (!e) {
		soft_drop_capture(s);
		soft_stream_close(s);
	}
	reap(c);
	return soft_leave(e);
}

SOFT_API CUresult cuStreamGetFlags(CUstream stream, unsigned int *flags)
{
	struct CUctx_st *c;
	struct CUstream_st *s;
	CUresult e = soft_enter(&c);

	if (e)
		return e;
	e = flags ? soft_stream_get(c, stream, &s) : CUDA_ERROR_INVALID_VALUE;
	if (!e)
		*flags = s->flags;
	return soft_leave(e);
}

SOFT_API CUresult cuStreamGetCtx(CUstream stream, CUcontext *ctx)
{
	struct CUctx_st *c;
	struct CUstream_st *s;
	CUresult e = soft_enter(&c);

	if (e)
		return e;
	e = ctx ? soft_stream_get(c, stream, &s) : CUDA_ERROR_INVALID_VALUE;
	if (e == CUDA_ERROR_INVALID_HANDLE && stream->magic == SOFT_STREAM &&
	    !stream->closing) {
		s = stream; /* another context's */
		e = CUDA_SUCCESS;
	}
	if (!e)
		*ctx = s->ctx;
	return soft_leave(e);
}

SOFT_API CUresult cuStreamQuery(CUstream stream)
{
	struct CUctx_st *c;
	struct CUstream_st *s;
	CUresult e = soft_enter(&c);

	if (e)
		return e;
	e = soft_stream_get(c, stream, &s);
	if (!e && soft_no_capture(s))
		return soft_leave(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	if (!e && s->done < s->submitted)
		e = CUDA_ERROR_NOT_READY;
	return soft_leave(c->pending && e != CUDA_ERROR_INVALID_HANDLE ?
				  soft_sync_error(c) : e);
}

SOFT_API CUresult cuStreamSynchronize(CUstream stream)
{
	struct CUctx_st *c;
	struct CUstream_st *s;
	CUresult e = soft_enter(&c);

	if (e)
		return e;
	e = soft_stream_get(c, stream, &s);
	if (!e)
		e = soft_no_capture(s);
	if (!e) {
		soft_wait(s, s->submitted);
		e = soft_sync_error(c);
	}
	return soft_leave(e);
}

SOFT_API CUresult cuStreamWaitEvent(CUstream stream, CUevent event,
				    unsigned int flags)
{
	struct CUctx_st *c;
	struct CUstream_st *s;
	struct soft_op *op;
	CUresult e = soft_enter(&c);

	(void)flags;
	if (e)
		return e;
	e = soft_stream_get(c, stream, &s);
	if (!e && (!event || event->magic != SOFT_EVENT))
		e = CUDA_ERROR_INVALID_HANDLE;
	if (!e && (event->capture || s->capture))
		return soft_leave(soft_join_capture(s, event->capture));
	if (e || !event->stream)
		return soft_leave(e);
	op = soft_op_new(SOFT_WAIT, 0);
	if (!op)
		return soft_leave(CUDA_ERROR_OUT_OF_MEMORY);
	if (!run_after(op, event->stream, event->seq)) {
		soft_op_free(op);
		return soft_leave(CUDA_ERROR_OUT_OF_MEMORY);
	}
	return soft_leave(soft_submit(s, op, NULL));
}

SOFT_API CUresult cuLaunchHostFunc(CUstream stream, CUhostFn fn, void *data)
{
	struct CUctx_st *c;
	struct CUstream_st *s;
	struct soft_op *op;
	CUresult e = soft_enter(&c);

	if (e)
		return e;
	e = fn ? soft_stream_get(c, stream, &s) : CUDA_ERROR_INVALID_VALUE;
	if (e)
		return soft_leave(e);
	op = soft_op_new(SOFT_CALL, 0);
	if (!op)
		return soft_leave(CUDA_ERROR_OUT_OF_MEMORY);
	op->fn = fn;
	op->data = data;
	return soft_leave(soft_submit(s, op, NULL));
}
