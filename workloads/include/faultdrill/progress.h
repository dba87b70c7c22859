/* progress.h - how a job tells what it does: one mapped ring a rank
 * SPDX-License-Identifier: MIT
 *
 * Include this one header; no library. The ring is a file named by
 * FAULTDRILL_RING (the launcher's rank starter sets it); without it every call
 * is a no-op. The host's agent drains it. It survives SIGKILL of the rank:
 * stores go straight to the page cache. A full ring drops the newest record and
 * counts it in `lost`; a drill with lost records is inconclusive.
 *
 * One producer thread at a time (a mutex of the caller's where several threads
 * write, e.g. the checkpoint writer), one consumer. Stamps are
 * CLOCK_MONOTONIC_RAW in nanoseconds.
 */
#ifndef FAULTDRILL_PROGRESS_H
#define FAULTDRILL_PROGRESS_H

#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

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
	FAULTDRILL_DETECTED,	 /* detail: faultdrill_by, n slot blamed or -1, text what */
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

enum faultdrill_by { /* the detectors of design section 8 that a rank can be */
	FAULTDRILL_BY_WATCHDOG = 1,
	FAULTDRILL_BY_MPI,
	FAULTDRILL_BY_FRAMEWORK,
	FAULTDRILL_BY_NUMERICS,
	FAULTDRILL_BY_CHECKSUM,
	FAULTDRILL_BY_STORAGE,
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
	/* Written once, before magic. */
	_Atomic uint64_t magic;
	uint32_t version, records, record_size;
	int32_t rank, slot, world, attempt;
	int32_t pid; /* getpid() as the rank sees it */
	char host[64];
	char build[64];
	/* Producer's line. */
	_Alignas(64) _Atomic uint64_t written;
	_Atomic uint64_t lost;
	_Atomic int64_t step;		/* the step begun last */
	_Atomic int64_t collective;	/* collectives entered, from 1 */
	_Atomic int64_t collective_since_ns; /* 0: in none */
	_Atomic int32_t collective_word;     /* hook's word, 0 unknown */
	_Atomic int64_t heartbeat_ns;	/* last sign of life of the main thread */
	_Atomic int32_t watchdog;	/* 1 + slot that the watchdog blames, -1: fired, nobody */
	/* Consumer's line. */
	_Alignas(64) _Atomic uint64_t read;
	/* The agent arms hold_step; a step.begin of that step waits until
	 * hold_state is RELEASED (the fault is in force), at most 10 s. */
	_Atomic int64_t hold_step; /* 0: none */
	_Atomic int32_t hold_state;
	_Atomic int64_t held_ns, released_ns;
	_Alignas(4096) struct faultdrill_record record[];
};

enum { FAULTDRILL_HOLD_IDLE, FAULTDRILL_HOLD_HELD, FAULTDRILL_HOLD_RELEASED };

#define FAULTDRILL_RING_BYTES                                                  \
	(sizeof(struct faultdrill_ring) +                                      \
	 FAULTDRILL_RING_RECORDS * sizeof(struct faultdrill_record))

#endif
