/* event.c - events of the software device: a place in a stream and its time
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "soft.h"

void soft_event_put(struct CUevent_st *e)
{
	if (--e->refs)
		return;
	if (e->stream)
		soft_stream_put(e->stream);
	e->magic = 0;
	free(e);
}

static void forget(struct CUevent_st *e)
{
	struct CUevent_st **p = &e->ctx->events;

	while (*p != e)
		p = &(*p)->next;
	*p = e->next;
	soft_event_put(e);
}

void soft_events_close(struct CUctx_st *ctx)
{
	while (ctx->events)
		forget(ctx->events);
}

static bool is_event(const struct CUevent_st *e)
{
	return e && e->magic == SOFT_EVENT;
}

static bool is_done(const struct CUevent_st *e)
{
	return !e->stream || e->stream->done >= e->seq;
}

SOFT_API CUresult cuEventCreate(CUevent *event, unsigned int flags)
{
	struct CUctx_st *c;
	struct CUevent_st *e;
	CUresult r = soft_enter(&c);

	if (r)
		return r;
	if (!event || flags & ~3u)
		return soft_leave(CUDA_ERROR_INVALID_VALUE);
	e = calloc(1, sizeof(*e));
	if (!e)
		return soft_leave(CUDA_ERROR_OUT_OF_MEMORY);
	e->magic = SOFT_EVENT;
	e->flags = flags;
	e->refs = 1;
	e->ctx = c;
	e->next = c->events;
	c->events = e;
	*event = e;
	return soft_leave(CUDA_SUCCESS);
}

SOFT_API CUresult cuEventDestroy_v2(CUevent event)
{
	struct CUctx_st *c;
	CUresult r = soft_enter(&c);

	if (r)
		return r;
	if (!is_event(event))
		return soft_leave(CUDA_ERROR_INVALID_HANDLE);
	forget(event);
	return soft_leave(CUDA_SUCCESS);
}

SOFT_API CUresult cuEventRecord(CUevent event, CUstream stream)
{
	struct CUctx_st *c;
	struct CUstream_st *s;
	struct soft_op *op;
	uint64_t seq;
	CUresult r = soft_enter(&c);

	if (r)
		return r;
	r = is_event(event) ? soft_stream_get(c, stream, &s) :
			      CUDA_ERROR_INVALID_HANDLE;
	if (r)
		return soft_leave(r);
	event->capture = s->capture;
	if (s->capture)
		return soft_leave(soft_record(s, NULL));
	op = soft_op_new(SOFT_RECORD, 0);
	if (!op)
		return soft_leave(CUDA_ERROR_OUT_OF_MEMORY);
	op->event = event;
	event->refs++;
	r = soft_submit(s, op, &seq);
	if (r)
		return soft_leave(r);
	s->refs++;
	if (event->stream)
		soft_stream_put(event->stream);
	event->stream = s;
	event->seq = seq;
	return soft_leave(CUDA_SUCCESS);
}

SOFT_API CUresult cuEventQuery(CUevent event)
{
	struct CUctx_st *c;
	CUresult r = soft_enter(&c);

	if (r)
		return r;
	if (!is_event(event))
		return soft_leave(CUDA_ERROR_INVALID_HANDLE);
	if (event->capture)
		return soft_leave(CUDA_ERROR_CAPTURED_EVENT);
	r = soft_sync_error(c);
	if (!r && !is_done(event))
		r = CUDA_ERROR_NOT_READY;
	return soft_leave(r);
}

SOFT_API CUresult cuEventSynchronize(CUevent event)
{
	struct CUctx_st *c;
	CUresult r = soft_enter(&c);

	if (r)
		return r;
	if (!is_event(event))
		return soft_leave(CUDA_ERROR_INVALID_HANDLE);
	if (event->capture)
		return soft_leave(CUDA_ERROR_CAPTURED_EVENT);
	if (event->stream)
		soft_wait(event->stream, event->seq);
	return soft_leave(soft_sync_error(c));
}

SOFT_API CUresult cuEventElapsedTime_v2(float *ms, CUevent begin, CUevent end)
{
	struct CUctx_st *c;
	CUresult r = soft_enter(&c);

	if (r)
		return r;
	if (!is_event(begin) || !is_event(end) || !begin->stream ||
	    !end->stream || (begin->flags | end->flags) &
				    CU_EVENT_DISABLE_TIMING)
		return soft_leave(CUDA_ERROR_INVALID_HANDLE);
	if (!ms)
		return soft_leave(CUDA_ERROR_INVALID_VALUE);
	r = soft_sync_error(c);
	if (!r && (!is_done(begin) || !is_done(end)))
		r = CUDA_ERROR_NOT_READY;
	if (!r)
		*ms = (float)((double)(end->t_ns - begin->t_ns) / 1e6);
	return soft_leave(r);
}

SOFT_API CUresult cuEventElapsedTime(float *ms, CUevent begin, CUevent end)
{
	return cuEventElapsedTime_v2(ms, begin, end);
}
