/* soft.h - the software CUDA device's own structures; one lock guards them all
 * SPDX-License-Identifier: MIT
 *
 * A call takes soft_enter(), works under the lock, and returns soft_leave().
 * Errors are as on real hardware: what a worker meets becomes `pending` in its
 * context; the next call that synchronises turns it into `error`, which every
 * later call of that context returns until the context is gone.
 */
#ifndef FAULTDRILL_SOFT_H
#define FAULTDRILL_SOFT_H

#include <pthread.h>
#include <stdbool.h>

#include "faultdrill/cuda_api.h"
#include "faultdrill/softcuda.h"

#define SOFT_API __attribute__((visibility("default")))
#define SOFT_DEVICES_MAX 64

enum soft_magic {
	SOFT_CTX = 0x43545831,
	SOFT_STREAM = 0x5354524d,
	SOFT_EVENT = 0x45564e54,
	SOFT_MODULE = 0x4d4f4431,
	SOFT_GRAPH = 0x47524148,
	SOFT_EXEC = 0x47455845,
};

struct soft_range { /* one allocation, device or host */
	char *base;
	size_t size;
	bool host;
};

struct CUctx_st {
	enum soft_magic magic;
	struct soft_device *device;
	unsigned int flags;
	bool alive;
	CUresult pending, error;
	struct CUstream_st *null;    /* made on first use */
	struct CUstream_st *streams; /* all, the null stream too */
	struct CUmod_st *modules;
	struct CUevent_st *events;
	struct soft_range *ranges; /* sorted by base */
	size_t n_ranges;
	struct CUctx_st *peer[SOFT_DEVICES_MAX]; /* that it may reach */
	struct CUctx_st *next; /* all that cuCtxCreate made */
};

struct soft_device {
	int ordinal; /* physical: CUDA_VISIBLE_DEVICES is above it */
	size_t limit, used; /* used: by this process */
	struct faultdrill_device_use own, *use; /* use: where it is shown */
	uint64_t (*others)(int device); /* bytes they hold; or NULL */
	struct CUctx_st primary;
	int retained;
	CUresult broken; /* what the next operation fails with; 0: nothing */
};

/* Work of a stream is numbered from 1; `done` counts what is finished. */
struct CUstream_st {
	enum soft_magic magic;
	struct CUctx_st *ctx;
	unsigned int flags;
	int priority;
	const void *owner; /* thread whose default stream it is, or NULL */
	struct soft_capture *capture; /* or NULL */
	bool closing, exited;
	unsigned int occupies; /* bits of faultdrill_use_bits */
	unsigned int refs; /* context's, events', waiting operations' */
	uint64_t submitted, done;
	int64_t ready_ns; /* end of the last operation in the pace model */
	struct soft_op *head, *tail;
	pthread_cond_t work, finished;
	pthread_t thread;
	struct CUstream_st *next;
};

struct CUevent_st {
	enum soft_magic magic;
	unsigned int flags, refs;
	struct CUstream_st *stream; /* where recorded last, or NULL */
	struct soft_capture *capture; /* recorded in it last, or NULL */
	uint64_t seq;
	int64_t t_ns; /* of its completion */
	struct CUctx_st *ctx;
	struct CUevent_st *next;
};

enum soft_kind {
	SOFT_COPY,
	SOFT_SET,
	SOFT_LAUNCH,
	SOFT_CALL,
	SOFT_RECORD,
	SOFT_WAIT,
	SOFT_FREE,
};

struct soft_dep {
	struct CUstream_st *stream;
	uint64_t seq;
};

struct soft_op {
	struct soft_op *next;
	enum soft_kind kind;
	int64_t submit_ns;
	struct soft_dep *dep;
	unsigned int deps;
	void *dst, *own; /* own: freed with the operation */
	const void *src;
	size_t n; /* bytes, or elements of a set */
	unsigned int value, width;
	CUhostFn fn;
	void *data;
	struct CUevent_st *event;
	const struct softcuda_kernel *kernel;
	struct softcuda_block block;
	size_t params_bytes;
	void *param[4];
	_Alignas(16) char params[];
};

struct CUfunc_st {
	const struct softcuda_kernel *kernel;
};

/* Work that is recorded and not done, in the order it came: the streams that
 * an event joined to the capture add to the one list. */
struct soft_capture {
	CUstreamCaptureStatus status;
	CUstreamCaptureMode mode;
	const void *thread;
	struct CUstream_st *origin;
	struct soft_op *head, *tail;
	struct soft_capture *next;
};

struct CUgraph_st {
	enum soft_magic magic;
	struct soft_op *ops;
};

struct CUgraphExec_st {
	enum soft_magic magic;
	struct CUctx_st *ctx;
	struct soft_op *ops;
};

struct CUmod_st {
	enum soft_magic magic;
	void *handle; /* dlopen, or NULL */
	const struct softcuda_module *desc;
	struct CUfunc_st *fn;
	struct CUmod_st *next;
};

struct soft {
	pthread_mutex_t lock;
	_Atomic bool ready, forked;
	int devices;
	struct soft_device device[SOFT_DEVICES_MAX];
	struct CUctx_st *made;
	struct soft_capture *captures; /* all that have not ended */
	bool pace;
	double flops, bytes; /* a second, in the pace model */
	const char *isa;
};

extern struct soft soft;

/* ---- device.c ---- */
/* Locks and gives the calling thread's context; without the lock on error. */
CUresult soft_enter(struct CUctx_st **ctx);
CUresult soft_leave(CUresult e);
/* 0 once cuInit has succeeded in this process; takes no lock. */
CUresult soft_ready(void);
bool soft_isa_runs(const char *isa);
extern const char *const soft_isas[]; /* best first, NULL ends */

/* ---- context.c: with the lock held ---- */
struct CUctx_st *soft_current(void);
/* Turns what the workers met into the context's error. */
CUresult soft_sync_error(struct CUctx_st *ctx);

/* ---- stream.c: with the lock held ---- */
int64_t soft_now(void);
void soft_stream_close(struct CUstream_st *s);
void soft_stream_put(struct CUstream_st *s);
/* NULL and the legacy handle mean the null stream, the per-thread handle (and
 * NULL inside SOFT_PER_THREAD) the thread's own; error: INVALID_HANDLE. */
CUresult soft_stream_get(struct CUctx_st *ctx, CUstream h,
			 struct CUstream_st **s);
struct soft_op *soft_op_new(enum soft_kind kind, size_t params);
void soft_op_free(struct soft_op *op);
/* Queues, with what the null stream's rules add; takes op over. */
CUresult soft_submit(struct CUstream_st *s, struct soft_op *op, uint64_t *seq);
void soft_wait(struct CUstream_st *s, uint64_t seq);
void soft_ctx_wait(struct CUctx_st *ctx);

extern __thread unsigned int soft_per_thread;
/* Differs from thread to thread while they live. */
const void *soft_thread(void);

/* ---- graph.c: with the lock held ---- */
/* Records into the stream's capture; takes op over. */
CUresult soft_record(struct CUstream_st *s, struct soft_op *op);
/* What a call that may not be made in a stream's capture says: it ends it. */
CUresult soft_no_capture(struct CUstream_st *s);
/* The same for a call that concerns a whole context, ... */
CUresult soft_no_capture_in(struct CUctx_st *c);
/* ... for the legacy stream while a blocking one captures, ... */
CUresult soft_no_capture_beside(struct CUstream_st *null);
/* ... and for one that is only safe when no thread captures. */
CUresult soft_unsafe(void);
/* A stream that waits for a captured event takes part in the capture; no
 * capture (NULL): what a capturing stream may not wait for. */
CUresult soft_join_capture(struct CUstream_st *s, struct soft_capture *c);
/* The stream will not be there any more. */
void soft_drop_capture(struct CUstream_st *s);

/* ---- worker.c ---- */
void *soft_worker(void *stream);

/* ---- share.c: with the lock held ---- */
/* Bytes of the device that nobody holds. */
size_t soft_left(const struct soft_device *d);
/* Takes @n bytes for this process, if they are left. */
bool soft_take(struct soft_device *d, size_t n);
void soft_give(struct soft_device *d, size_t n);
/* The stream's work goes over to these bits. */
void soft_occupy(struct CUstream_st *s, unsigned int bits);

/* ---- memory.c: with the lock held ---- */
void soft_free_now(struct CUctx_st *ctx, void *p);
void soft_memory_close(struct CUctx_st *ctx);

/* ---- event.c: with the lock held ---- */
void soft_event_put(struct CUevent_st *e);
void soft_events_close(struct CUctx_st *ctx);

/* ---- module.c: with the lock held ---- */
void soft_modules_close(struct CUctx_st *ctx);

/* The seam for faults: the next operation on this device fails with `error`,
 * asynchronously and stickily. Not part of CUDA. */
SOFT_API CUresult softcuda_break(int device, CUresult error);

#endif
