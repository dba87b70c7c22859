/* worker.c - the thread behind a stream: does the work, then its model time
 * SPDX-License-Identifier: MIT
 *
 * With pace on an operation begins, in the model, when it was submitted, when
 * the one before it ended, or when what it waits for ended, whichever is last,
 * and lasts its modelled time. The worker computes as fast as it can and sleeps
 * what is left, so that a late CPU is made up for and steps stay steady.
 */
#include <errno.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include "soft.h"

/* Shorter sleeps than this wait for company, unless the queue is empty. */
#define SLEEP_MIN_NS 200000

static void launch(const struct soft_op *op)
{
	struct softcuda_block b = op->block;
	unsigned int *i = b.index;

	for (i[2] = 0; i[2] < b.grid[2]; i[2]++)
		for (i[1] = 0; i[1] < b.grid[1]; i[1]++)
			for (i[0] = 0; i[0] < b.grid[0]; i[0]++)
				op->kernel->run(op->param, &b);
}

static void set(const struct soft_op *op)
{
	uint32_t *p = op->dst;
	size_t i;

	if (op->width == 1)
		memset(op->dst, (int)op->value, op->n);
	else
		for (i = 0; i < op->n; i++)
			p[i] = op->value;
}

static void run(const struct soft_op *op)
{
	switch (op->kind) {
	case SOFT_COPY:
		memmove(op->dst, op->src, op->n);
		break;
	case SOFT_SET:
		set(op);
		break;
	case SOFT_LAUNCH:
		launch(op);
		break;
	case SOFT_CALL:
		op->fn(op->data);
		break;
	case SOFT_RECORD:
	case SOFT_WAIT:
	case SOFT_FREE:
		break;
	}
}

static int64_t model_ns(const struct soft_op *op)
{
	struct softcuda_cost c = { 0, 0 };
	double flops, bytes;

	if (op->kind == SOFT_LAUNCH && op->kernel->cost)
		c = op->kernel->cost(op->param, &op->block);
	else if (op->kind == SOFT_COPY || op->kind == SOFT_SET)
		c.bytes = (double)op->n * (op->width ? op->width : 1);
	flops = c.flops / soft.flops;
	bytes = c.bytes / soft.bytes;
	return (int64_t)((flops > bytes ? flops : bytes) * 1e9);
}

static void sleep_until(int64_t ns)
{
	struct timespec t = { ns / 1000000000, ns % 1000000000 };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) ==
	       EINTR)
		;
}

/* Waits for what the operation depends on; gives the model's time of it. */
static int64_t wait_deps(struct CUstream_st *s, struct soft_op *op)
{
	int64_t ready = op->submit_ns;
	unsigned int i;

	for (i = 0; i < op->deps; i++) {
		if (op->dep[i].stream->done < op->dep[i].seq)
			soft_occupy(s, 0);
		soft_wait(op->dep[i].stream, op->dep[i].seq);
		if (op->dep[i].stream->ready_ns > ready)
			ready = op->dep[i].stream->ready_ns;
	}
	return ready;
}

/* The seam for faults: what this operation meets instead of being done. */
static CUresult fault(struct CUstream_st *s)
{
	struct soft_device *d = s->ctx->device;
	CUresult e = d->broken;

	d->broken = CUDA_SUCCESS;
	return e;
}

/* The program's own function sees all before it done, and takes what it takes
 * in the model too; returns when it ended. */
static int64_t call(const struct soft_op *op, int64_t begin)
{
	int64_t now = soft_now();

	if (soft.pace && begin > now)
		sleep_until(begin);
	run(op);
	now = soft_now();
	return now > begin ? now : begin;
}

/* From begin to end a kernel reads and writes memory. What takes no time ends
 * nothing: work that follows on work leaves no gap. */
static unsigned int occupies(const struct soft_op *op, unsigned int before)
{
	switch (op->kind) {
	case SOFT_LAUNCH:
		return FAULTDRILL_USE_KERNEL | FAULTDRILL_USE_MEMORY;
	case SOFT_COPY:
	case SOFT_SET:
		return FAULTDRILL_USE_MEMORY;
	case SOFT_CALL:
		return 0;
	case SOFT_RECORD:
	case SOFT_WAIT:
	case SOFT_FREE:
		break;
	}
	return before;
}

static void execute(struct CUstream_st *s, struct soft_op *op)
{
	struct CUctx_st *c = s->ctx;
	int64_t begin = wait_deps(s, op), left;
	bool last;

	if (c->alive && !c->pending)
		c->pending = fault(s);
	if (!c->alive || c->pending)
		return;
	if (op->kind == SOFT_FREE)
		soft_free_now(c, op->dst);
	if (s->ready_ns > begin)
		begin = s->ready_ns;
	soft_occupy(s, occupies(op, s->occupies));
	pthread_mutex_unlock(&soft.lock);
	if (op->kind == SOFT_CALL)
		begin = call(op, begin);
	else
		run(op);
	begin += soft.pace ? model_ns(op) : 0;
	pthread_mutex_lock(&soft.lock);
	s->ready_ns = begin;
	last = !op->next || op->kind != SOFT_LAUNCH;
	left = soft.pace ? begin - soft_now() : 0;
	if (left <= 0 || (left < SLEEP_MIN_NS && !last))
		return;
	pthread_mutex_unlock(&soft.lock);
	sleep_until(begin);
	pthread_mutex_lock(&soft.lock);
}

static void finish(struct CUstream_st *s, struct soft_op *op)
{
	struct CUevent_st *e = op->event;
	int64_t now;

	s->head = op->next;
	if (!s->head)
		s->tail = NULL;
	s->done++;
	/* An event recorded again meanwhile belongs to the later record. */
	if (e && e->stream == s && e->seq == s->done) {
		now = soft_now();
		e->t_ns = s->ready_ns > now ? s->ready_ns : now;
	}
	pthread_cond_broadcast(&s->finished);
	soft_op_free(op);
}

void *soft_worker(void *stream)
{
	struct CUstream_st *s = stream;
	struct soft_op *op;

	prctl(PR_SET_NAME, "softcuda");
	prctl(PR_SET_TIMERSLACK, 1000);
	pthread_mutex_lock(&soft.lock);
	for (;;) {
		if (!s->head)
			soft_occupy(s, 0);
		while (!s->head && !s->closing)
			pthread_cond_wait(&s->work, &soft.lock);
		op = s->head;
		if (!op)
			break;
		execute(s, op);
		finish(s, op);
	}
	s->exited = true;
	pthread_mutex_unlock(&soft.lock);
	return NULL;
}
