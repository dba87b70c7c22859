/* progress.h - how a job tells what it does: one mapped ring a rank
 * SPDX-License-Identifier: MIT
 *
 * Include this one header; no library. The ring is a file named by
 * FAULTDRILL_RING (the launcher's rank starter sets it); without it every call
 * is a no-op. The host's agent drains it. It survives SIGKILL of the rank:
 * stores go straight to the page cache. A full ring drops the newest record and
 * counts it in `lost`; a drill with lost records is inconclusive.
 *
 * Any thread of the rank may write (a spin lock in the ring keeps them apart),
 * one consumer reads. Stamps are CLOCK_MONOTONIC_RAW in nanoseconds. Every
 * producer call takes the ring of faultdrill_open(); NULL makes it a no-op.
 * Builds as C11 and as C++.
 */
#ifndef FAULTDRILL_PROGRESS_H
#define FAULTDRILL_PROGRESS_H

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* One layout for both languages: C sees atomic types, C++ the plain ones. */
#ifdef __cplusplus
#define FAULTDRILL_ATOMIC(type) type
#define FAULTDRILL_ALIGN(n) alignas(n)
#define FAULTDRILL_LOAD(p) __atomic_load_n(p, __ATOMIC_ACQUIRE)
#define FAULTDRILL_STORE(p, v) __atomic_store_n(p, v, __ATOMIC_RELEASE)
#define FAULTDRILL_ADD(p, v) __atomic_fetch_add(p, v, __ATOMIC_ACQ_REL)
#define FAULTDRILL_SWAP(p, v) __atomic_exchange_n(p, v, __ATOMIC_ACQ_REL)
#else
#include <stdatomic.h>
#define FAULTDRILL_ATOMIC(type) _Atomic type
#define FAULTDRILL_ALIGN(n) _Alignas(n)
#define FAULTDRILL_LOAD(p) atomic_load_explicit(p, memory_order_acquire)
#define FAULTDRILL_STORE(p, v) \
	atomic_store_explicit(p, v, memory_order_release)
#define FAULTDRILL_ADD(p, v) \
	atomic_fetch_add_explicit(p, v, memory_order_acq_rel)
#define FAULTDRILL_SWAP(p, v) \
	atomic_exchange_explicit(p, v, memory_order_acq_rel)
#endif

#define FAULTDRILL_RING_MAGIC UINT64_C(0x474e495254465a31)
#define FAULTDRILL_RING_VERSION 1
#define FAULTDRILL_RING_RECORDS 16384u /* a power of two; 1 MiB of records */

enum faultdrill_kind {
	FAULTDRILL_RANK_BEGIN = 1,
	FAULTDRILL_STEP_BEGIN,	 /* step */
	FAULTDRILL_STEP_END,	 /* step; a tokens, b samples.first, n samples.count, f loss */
	FAULTDRILL_PHASE_BEGIN,	 /* detail: faultdrill_phase */
	FAULTDRILL_PHASE_END,
	FAULTDRILL_CKPT_WRITING, /* step; a bytes, text tier */
	FAULTDRILL_CKPT_BEFORE_RENAME,
	FAULTDRILL_CKPT_COMMITTED,
	FAULTDRILL_CKPT_FAILED,	 /* step; text reason */
	FAULTDRILL_RESTORE_READING, /* step; text tier */
	FAULTDRILL_RESTORE_DONE,
	FAULTDRILL_STATE,	 /* step; detail: faultdrill_state, a hash */
	FAULTDRILL_SYMPTOM,	 /* text what */
	FAULTDRILL_DETECTED,	 /* detail: faultdrill_by, n slot blamed or -1, text what;
				    what does not fit goes on in a, b and f */
	FAULTDRILL_SAMPLE,	 /* text metric, f value */
	FAULTDRILL_RANK_END,	 /* n exit code */
};

enum faultdrill_phase {
	FAULTDRILL_INIT = 1,
	FAULTDRILL_CONNECT,
	FAULTDRILL_DATA,
	FAULTDRILL_COMPUTE,
	FAULTDRILL_COMM,
	FAULTDRILL_CHECKPOINT,
	FAULTDRILL_RESTORE,
};

enum faultdrill_state {
	FAULTDRILL_PARAMETERS = 1,
	FAULTDRILL_OPTIMIZER,
	FAULTDRILL_SAMPLER,
};

enum faultdrill_by { /* the detectors that a rank can be */
	FAULTDRILL_BY_WATCHDOG = 1,
	FAULTDRILL_BY_MPI,
	FAULTDRILL_BY_FRAMEWORK,
	FAULTDRILL_BY_NUMERICS,
	FAULTDRILL_BY_CHECKSUM,
	FAULTDRILL_BY_STORAGE,
	FAULTDRILL_BY_REPLICA, /* hashes of replicas that should be equal */
};

/* Exit statuses by which a rank tells its launcher who is to blame. */
enum faultdrill_exit {
	FAULTDRILL_EXIT_WATCHDOG = 86, /* somebody keeps a collective waiting */
	FAULTDRILL_EXIT_DEVICE = 87,   /* my device says an error */
	FAULTDRILL_EXIT_CORRUPT = 88,  /* my state is not that of the others */
	FAULTDRILL_EXIT_PEER = 89,     /* I am well: somebody else failed */
};

struct faultdrill_record { /* 64 bytes */
	int64_t t_ns;
	uint16_t kind, detail;
	int32_t n;
	int64_t step;
	int64_t a, b;
	double f;
	char text[16]; /* padded with zeros, not always terminated */
};

struct faultdrill_ring {
	/* Written before magic; rank to pid again by faultdrill_open(). */
	FAULTDRILL_ATOMIC(uint64_t) magic;
	uint32_t version, records, record_size;
	int32_t rank, slot, world, attempt;
	int32_t pid; /* getpid() as the rank sees it */
	char host[64];
	char build[64];
	/* Producer's line. */
	FAULTDRILL_ALIGN(64) FAULTDRILL_ATOMIC(uint64_t) written;
	FAULTDRILL_ATOMIC(uint64_t) lost;
	FAULTDRILL_ATOMIC(int64_t) step;		/* the step begun last */
	FAULTDRILL_ATOMIC(int64_t) collective;	/* collectives entered, from 1 */
	FAULTDRILL_ATOMIC(int64_t) collective_since_ns; /* 0: in none */
	FAULTDRILL_ATOMIC(int32_t) collective_word;     /* hook's word, 0 unknown */
	FAULTDRILL_ATOMIC(int64_t) heartbeat_ns;	/* last sign of life of the main thread */
	FAULTDRILL_ATOMIC(int32_t) watchdog; /* 1 + slot blamed; -1: fired,
						     nobody blamed */
	FAULTDRILL_ATOMIC(int32_t) lock; /* held by the thread that writes a record */
	/* Consumer's line. */
	FAULTDRILL_ALIGN(64) FAULTDRILL_ATOMIC(uint64_t) read;
	/* The agent arms hold_step; a step.begin of that step waits until
	 * hold_state is RELEASED (the fault is in force), at most 10 s. */
	FAULTDRILL_ATOMIC(int64_t) hold_step; /* 0: none */
	FAULTDRILL_ATOMIC(int32_t) hold_state;
	FAULTDRILL_ATOMIC(int64_t) held_ns, released_ns;
	FAULTDRILL_ALIGN(4096) struct faultdrill_record record[];
};

enum { FAULTDRILL_HOLD_IDLE, FAULTDRILL_HOLD_HELD, FAULTDRILL_HOLD_RELEASED };

#define FAULTDRILL_RING_BYTES                                                  \
	(sizeof(struct faultdrill_ring) +                                      \
	 FAULTDRILL_RING_RECORDS * sizeof(struct faultdrill_record))

#define FAULTDRILL_HOLD_MAX_NS INT64_C(10000000000)

/* ---- for both sides ---- */

static inline int64_t faultdrill_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Maps a ring that exists. NULL with errno: ENOENT, EAGAIN while its maker is
 * still busy, EPROTO when it is no ring of this version. */
static inline struct faultdrill_ring *faultdrill_ring_map(const char *path)
{
	struct faultdrill_ring *r = NULL;
	struct stat st;
	void *m = MAP_FAILED;
	int fd = open(path, O_RDWR | O_CLOEXEC), e = EAGAIN;

	if (fd < 0)
		return NULL;
	if (!fstat(fd, &st) && (size_t)st.st_size >= FAULTDRILL_RING_BYTES)
		m = mmap(NULL, FAULTDRILL_RING_BYTES, PROT_READ | PROT_WRITE,
			 MAP_SHARED, fd, 0);
	if (m != MAP_FAILED) {
		r = (struct faultdrill_ring *)m;
		if (FAULTDRILL_LOAD(&r->magic) == 0)
			e = EAGAIN;
		else if (r->magic != FAULTDRILL_RING_MAGIC ||
			 r->version != FAULTDRILL_RING_VERSION ||
			 r->records != FAULTDRILL_RING_RECORDS ||
			 r->record_size != sizeof(struct faultdrill_record))
			e = EPROTO;
		else
			e = 0;
	}
	close(fd);
	if (e && r)
		munmap(m, FAULTDRILL_RING_BYTES);
	errno = e;
	return e ? NULL : r;
}

static inline void faultdrill_ring_unmap(struct faultdrill_ring *r)
{
	if (r)
		munmap(r, FAULTDRILL_RING_BYTES);
}

/* Makes and maps a ring, or maps the one that is there as it is: so the rank
 * starter can make it, the agent arm it, and the rank open it, in any order.
 * It is filled under another name and linked, so nobody sees half of one.
 * NULL with errno. */
static inline struct faultdrill_ring *
faultdrill_ring_create(const char *path, int rank, int slot, int world)
{
	struct faultdrill_ring *r = faultdrill_ring_map(path);
	const char *v;
	size_t n = strlen(path);
	char *tmp;
	void *m = MAP_FAILED;
	int fd;

	if (r || errno != ENOENT)
		return r;
	tmp = (char *)malloc(n + 8);
	if (!tmp)
		return NULL;
	memcpy(tmp, path, n);
	memcpy(tmp + n, ".XXXXXX", 8);
	fd = mkostemp(tmp, O_CLOEXEC);
	/* Allocated, not sparse: a full filesystem must not become SIGBUS. */
	if (fd >= 0 && !(errno = posix_fallocate(fd, 0, FAULTDRILL_RING_BYTES)))
		m = mmap(NULL, FAULTDRILL_RING_BYTES, PROT_READ | PROT_WRITE,
			 MAP_SHARED, fd, 0);
	if (m != MAP_FAILED) {
		r = (struct faultdrill_ring *)m;
		r->version = FAULTDRILL_RING_VERSION;
		r->records = FAULTDRILL_RING_RECORDS;
		r->record_size = sizeof(struct faultdrill_record);
		r->rank = rank;
		r->slot = slot;
		r->world = world;
		r->attempt = (v = getenv("FAULTDRILL_ATTEMPT")) ? atoi(v) : 1;
		if ((v = getenv("FAULTDRILL_HOST")))
			strncpy(r->host, v, sizeof(r->host) - 1);
#ifdef FAULTDRILL_BUILD
		strncpy(r->build, FAULTDRILL_BUILD, sizeof(r->build) - 1);
#endif
		FAULTDRILL_STORE(&r->magic, FAULTDRILL_RING_MAGIC);
		munmap(m, FAULTDRILL_RING_BYTES);
		r = link(tmp, path) && errno != EEXIST ?
			    NULL : faultdrill_ring_map(path);
	}
	if (fd >= 0) {
		int e = errno;

		unlink(tmp);
		close(fd);
		errno = e;
	}
	free(tmp);
	return r;
}

/* ---- the job's side ---- */

/* Writes one record; drops and counts it when the ring is full. */
static inline void faultdrill_put(struct faultdrill_ring *r, int kind,
				  int detail, int32_t n, int64_t step,
				  int64_t a, int64_t b, double f,
				  const char *text)
{
	struct faultdrill_record *rec;
	uint64_t w;
	unsigned int spins = 0, i = 0;

	if (!r)
		return;
	while (FAULTDRILL_SWAP(&r->lock, 1))
		if (++spins % 64 == 0)
			sched_yield();
	w = r->written;
	if (w - FAULTDRILL_LOAD(&r->read) >= FAULTDRILL_RING_RECORDS) {
		FAULTDRILL_ADD(&r->lost, 1);
	} else {
		rec = &r->record[w % FAULTDRILL_RING_RECORDS];
		rec->t_ns = faultdrill_now();
		rec->kind = (uint16_t)kind;
		rec->detail = (uint16_t)detail;
		rec->n = n;
		rec->step = step;
		rec->a = a;
		rec->b = b;
		rec->f = f;
		memset(rec->text, 0, sizeof(rec->text));
		for (; text && text[i] && i < sizeof(rec->text); i++)
			rec->text[i] = text[i];
		FAULTDRILL_STORE(&r->written, w + 1);
	}
	FAULTDRILL_STORE(&r->lock, 0);
}

/* The first of the variables that is set, as a number, else the default. */
static inline int faultdrill_env(const char *a, const char *b, const char *c,
				 int otherwise)
{
	const char *v = getenv(a);

	if (!v)
		v = getenv(b);
	if (!v)
		v = getenv(c);
	return v ? atoi(v) : otherwise;
}

/* Opens the ring that FAULTDRILL_RING names (made if absent) and says
 * rank.begin. A negative argument is taken from the launcher's environment, so
 * a job may call this before MPI_Init. NULL without the variable, or with
 * errno set when the ring cannot be had: the job runs on unwatched. */
static inline struct faultdrill_ring *faultdrill_open(int rank, int slot,
						      int world)
{
	const char *path = getenv("FAULTDRILL_RING");
	struct faultdrill_ring *r;
	unsigned int i;

	errno = 0;
	if (!path || !*path)
		return NULL;
	if (rank < 0)
		rank = faultdrill_env("OMPI_COMM_WORLD_RANK", "PMI_RANK",
				      "SLURM_PROCID", 0);
	if (slot < 0)
		slot = faultdrill_env("FAULTDRILL_SLOT", "", "", rank);
	if (world < 0)
		world = faultdrill_env("OMPI_COMM_WORLD_SIZE", "PMI_SIZE",
				       "SLURM_NTASKS", 1);
	r = faultdrill_ring_create(path, rank, slot, world);
	if (!r)
		return NULL;
	/* Touch every page: no event of the job shall pay for a fault. */
	for (i = 0; i < FAULTDRILL_RING_RECORDS; i += 16)
		*(volatile int64_t *)&r->record[i].t_ns = r->record[i].t_ns;
	r->rank = rank;
	r->slot = slot;
	r->world = world;
	r->pid = getpid();
	FAULTDRILL_STORE(&r->heartbeat_ns, faultdrill_now());
	faultdrill_put(r, FAULTDRILL_RANK_BEGIN, 0, 0, 0, 0, 0, 0, NULL);
	return r;
}

/* Says rank.end with the exit code that follows, and unmaps. */
static inline void faultdrill_close(struct faultdrill_ring *r, int code)
{
	faultdrill_put(r, FAULTDRILL_RANK_END, 0, code, 0, 0, 0, 0, NULL);
	faultdrill_ring_unmap(r);
}

/* The main thread is alive; cheap, call it at least once a step. */
static inline void faultdrill_heartbeat(struct faultdrill_ring *r)
{
	if (r)
		FAULTDRILL_STORE(&r->heartbeat_ns, faultdrill_now());
}

/* Waits at an armed step until the agent says that the fault is in force. */
static inline void faultdrill_hold(struct faultdrill_ring *r)
{
	const char *wake = getenv("FAULTDRILL_WAKE");
	const struct timespec nap = { 0, 50000 };
	int64_t since = faultdrill_now();
	int fd = wake ? open(wake, O_WRONLY | O_NONBLOCK | O_CLOEXEC) : -1;

	FAULTDRILL_STORE(&r->held_ns, since);
	FAULTDRILL_STORE(&r->hold_state, FAULTDRILL_HOLD_HELD);
	if (fd >= 0) {
		if (write(fd, "h", 1) < 0)
			errno = 0; /* the agent polls too */
		close(fd);
	}
	while (FAULTDRILL_LOAD(&r->hold_state) == FAULTDRILL_HOLD_HELD &&
	       faultdrill_now() - since < FAULTDRILL_HOLD_MAX_NS)
		nanosleep(&nap, NULL);
}

/* The event comes first, then the hold: a fault armed at this step takes
 * effect inside the step. */
static inline void faultdrill_step_begin(struct faultdrill_ring *r,
					 int64_t step)
{
	if (!r)
		return;
	FAULTDRILL_STORE(&r->step, step);
	faultdrill_put(r, FAULTDRILL_STEP_BEGIN, 0, 0, step, 0, 0, 0, NULL);
	FAULTDRILL_STORE(&r->heartbeat_ns, faultdrill_now());
	if (FAULTDRILL_LOAD(&r->hold_step) == step &&
	    FAULTDRILL_LOAD(&r->hold_state) == FAULTDRILL_HOLD_IDLE)
		faultdrill_hold(r);
}

/* tokens of this rank; the samples [first, first + count) that it used. */
static inline void faultdrill_step_end(struct faultdrill_ring *r, int64_t step,
				       int64_t tokens, int64_t first,
				       int32_t count, double loss)
{
	faultdrill_put(r, FAULTDRILL_STEP_END, 0, count, step, tokens, first,
		       loss, NULL);
}

static inline void faultdrill_phase_begin(struct faultdrill_ring *r,
					  enum faultdrill_phase phase)
{
	faultdrill_put(r, FAULTDRILL_PHASE_BEGIN, phase, 0, 0, 0, 0, 0, NULL);
}

static inline void faultdrill_phase_end(struct faultdrill_ring *r,
					enum faultdrill_phase phase)
{
	faultdrill_put(r, FAULTDRILL_PHASE_END, phase, 0, 0, 0, 0, 0, NULL);
}

/* The step of a checkpoint names the state after that step. */
static inline void faultdrill_checkpoint_writing(struct faultdrill_ring *r,
						 int64_t step, int64_t bytes,
						 const char *tier)
{
	faultdrill_put(r, FAULTDRILL_CKPT_WRITING, 0, 0, step, bytes, 0, 0,
		       tier);
}

static inline void
faultdrill_checkpoint_before_rename(struct faultdrill_ring *r, int64_t step)
{
	faultdrill_put(r, FAULTDRILL_CKPT_BEFORE_RENAME, 0, 0, step, 0, 0, 0,
		       NULL);
}

static inline void faultdrill_checkpoint_committed(struct faultdrill_ring *r,
						   int64_t step)
{
	faultdrill_put(r, FAULTDRILL_CKPT_COMMITTED, 0, 0, step, 0, 0, 0, NULL);
}

static inline void faultdrill_checkpoint_failed(struct faultdrill_ring *r,
						int64_t step,
						const char *reason)
{
	faultdrill_put(r, FAULTDRILL_CKPT_FAILED, 0, 0, step, 0, 0, 0, reason);
}

static inline void faultdrill_restore_reading(struct faultdrill_ring *r,
					      int64_t step, const char *tier)
{
	faultdrill_put(r, FAULTDRILL_RESTORE_READING, 0, 0, step, 0, 0, 0,
		       tier);
}

static inline void faultdrill_restore_done(struct faultdrill_ring *r,
					   int64_t step)
{
	faultdrill_put(r, FAULTDRILL_RESTORE_DONE, 0, 0, step, 0, 0, 0, NULL);
}

static inline void faultdrill_state_hash(struct faultdrill_ring *r,
					 int64_t step,
					 enum faultdrill_state of,
					 uint64_t hash)
{
	faultdrill_put(r, FAULTDRILL_STATE, of, 0, step, (int64_t)hash, 0, 0,
		       NULL);
}

static inline void faultdrill_symptom(struct faultdrill_ring *r,
				      const char *what)
{
	faultdrill_put(r, FAULTDRILL_SYMPTOM, 0, 0, 0, 0, 0, 0, what);
}

/* blame is a slot, or -1 for nobody; of what the first 40 bytes are kept. */
static inline void faultdrill_detected(struct faultdrill_ring *r,
				       enum faultdrill_by by, int blame,
				       const char *what)
{
	const size_t n = strlen(what), first = 16;
	char more[24] = { 0 };
	int64_t a, b;
	double f;

	if (n > first)
		memcpy(more, what + first,
		       n - first < sizeof(more) ? n - first : sizeof(more));
	memcpy(&a, more, 8);
	memcpy(&b, more + 8, 8);
	memcpy(&f, more + 16, 8);
	faultdrill_put(r, FAULTDRILL_DETECTED, by, blame, 0, a, b, f, what);
}

/* What a FAULTDRILL_DETECTED says, as text. Returns @buf. */
static inline const char *
faultdrill_detected_what(const struct faultdrill_record *rec, char buf[41])
{
	memset(buf, 0, 41);
	memcpy(buf, rec->text, 16);
	if (strlen(buf) == 16) {
		memcpy(buf + 16, &rec->a, 8);
		memcpy(buf + 24, &rec->b, 8);
		memcpy(buf + 32, &rec->f, 8);
	}
	return buf;
}

static inline void faultdrill_sample(struct faultdrill_ring *r,
				     const char *metric, double value)
{
	faultdrill_put(r, FAULTDRILL_SAMPLE, 0, 0, 0, 0, 0, value, metric);
}

/* Around every collective, on the main thread: what a watchdog reads. */
static inline void faultdrill_collective_enter(struct faultdrill_ring *r)
{
	if (!r)
		return;
	FAULTDRILL_ADD(&r->collective, 1);
	FAULTDRILL_STORE(&r->collective_since_ns, faultdrill_now());
}

static inline void faultdrill_collective_leave(struct faultdrill_ring *r)
{
	if (r)
		FAULTDRILL_STORE(&r->collective_since_ns, 0);
}

/* ---- the agent's side ---- */

/* Takes the oldest record. 1 taken, 0 none, -EPROTO when the job has
 * overwritten the counters: the ring is of no use any more. */
static inline int faultdrill_ring_next(struct faultdrill_ring *r,
				       struct faultdrill_record *rec)
{
	uint64_t at = r->read, w = FAULTDRILL_LOAD(&r->written);

	if (at == w)
		return 0;
	if (w - at > FAULTDRILL_RING_RECORDS)
		return -EPROTO;
	memcpy(rec, &r->record[at % FAULTDRILL_RING_RECORDS], sizeof(*rec));
	FAULTDRILL_STORE(&r->read, at + 1);
	return 1;
}

/* The rank's next begin of this step will hold; 0 disarms. */
static inline void faultdrill_ring_arm(struct faultdrill_ring *r, int64_t step)
{
	FAULTDRILL_STORE(&r->hold_step, 0);
	FAULTDRILL_STORE(&r->hold_state, FAULTDRILL_HOLD_IDLE);
	FAULTDRILL_STORE(&r->hold_step, step);
}

static inline int faultdrill_ring_held(struct faultdrill_ring *r)
{
	return FAULTDRILL_LOAD(&r->hold_state) == FAULTDRILL_HOLD_HELD;
}

static inline void faultdrill_ring_release(struct faultdrill_ring *r)
{
	FAULTDRILL_STORE(&r->released_ns, faultdrill_now());
	FAULTDRILL_STORE(&r->hold_state, FAULTDRILL_HOLD_RELEASED);
}

#endif
