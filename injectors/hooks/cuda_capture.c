/* cuda_capture.c - streams that are being captured, and captures that failed
 * SPDX-License-Identifier: MIT
 *
 * A fault adds nothing to a stream that is captured. An error that one of the
 * captured calls says is the capture's end, as the driver has it: later calls of
 * the stream say 901, and so does the end of the capture, which gives no graph.
 */
#include "cuda_call.h"

#include <pthread.h>

#define FAILED 32

static _Atomic unsigned int now; /* captures that have not ended */
static _Atomic unsigned int failed_n;
static CUstream failed[FAILED];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int place_of(CUstream s)
{
	for (int i = 0; i < FAILED; i++)
		if (failed[i] == s)
			return i;
	return -1;
}

/* NULL and the thread's own stream are not told apart from others' there. */
static CUstream key_of(const struct drill_call *c)
{
	return c->streamed && c->stream > CU_STREAM_PER_THREAD ? c->stream :
								NULL;
}

bool drill_anything_captures(void)
{
	return atomic_load_explicit(&now, memory_order_relaxed) != 0;
}

/* Without a stream the call may be of any. */
bool drill_capturing(const struct drill_call *c)
{
	CUstreamCaptureStatus st = CU_STREAM_CAPTURE_STATUS_NONE;

	if (!drill_anything_captures())
		return false;
	if (!c->streamed)
		return true;
	return drill_next(cuStreamIsCapturing)(c->stream, &st) ||
	       st != CU_STREAM_CAPTURE_STATUS_NONE;
}

void drill_capture_fails(const struct drill_call *c)
{
	CUstream s = key_of(c);
	int i;

	if (!s || !drill_capturing(c))
		return;
	pthread_mutex_lock(&lock);
	i = place_of(s) < 0 ? place_of(NULL) : -1;
	if (i >= 0) {
		failed[i] = s;
		atomic_fetch_add(&failed_n, 1);
	}
	pthread_mutex_unlock(&lock);
}

static bool has_failed(const struct drill_call *c, bool forget)
{
	CUstream s = key_of(c);
	int i;

	if (!s || !atomic_load_explicit(&failed_n, memory_order_relaxed))
		return false;
	pthread_mutex_lock(&lock);
	i = place_of(s);
	if (i >= 0 && forget) {
		failed[i] = NULL;
		atomic_fetch_sub(&failed_n, 1);
	}
	pthread_mutex_unlock(&lock);
	return i >= 0;
}

bool drill_capture_failed(struct drill_call *c)
{
	if (!has_failed(c, false))
		return false;
	c->result = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
	return true;
}

void drill_capture_begins(void)
{
	atomic_fetch_add(&now, 1);
	if (drill_cuda.client)
		atomic_fetch_add(&drill_cuda.client->capturing, 1);
}

static void ends(void)
{
	unsigned int n = atomic_load(&now);

	while (n && !atomic_compare_exchange_weak(&now, &n, n - 1))
		;
}

/* The driver's capture ends in any case; what it gives is kept from a program
 * whose capture, or whose context, has failed. */
CUresult drill_capture_end(struct drill_call *c, CUgraph *graph,
			   CUresult (*end)(CUstream, CUgraph *))
{
	bool sick = drill_context_fails(c), lost = has_failed(c, true);
	CUresult error = sick ? c->result :
			 lost ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED :
				CUDA_SUCCESS;

	c->result = end(c->stream, graph);
	if (c->result != CUDA_ERROR_ILLEGAL_STATE)
		ends();
	if (!error)
		return c->result;
	if (!c->result && graph && *graph) {
		drill_next(cuGraphDestroy)(*graph);
		*graph = NULL;
	}
	return error;
}

CUresult drill_capture_status(struct drill_call *c,
			      CUstreamCaptureStatus *status)
{
	if (!c->result && status && *status && has_failed(c, false))
		*status = CU_STREAM_CAPTURE_STATUS_INVALIDATED;
	return c->result;
}

void drill_captures_start(void)
{
	pthread_mutex_init(&lock, NULL);
	atomic_store(&now, 0);
	atomic_store(&failed_n, 0);
	for (int i = 0; i < FAILED; i++)
		failed[i] = NULL;
}
