/* train.h - the training job's parts and how they fit together
 * SPDX-License-Identifier: MIT
 *
 *   main.c     the steps, their phases and events
 *   options.c  command line and layout
 *   device.c   the CUDA driver, loaded at run time, and its errors
 *   model.c    parameters and memory;  pass.c  forward, backward, update
 *   data.c     corpus, shards, prefetching loader, sampler
 *   ckpt.c     asynchronous checkpoints and the way back;  shard.c  their files
 *   replica.c  compares the replicas' states by hash
 *   comm_*.c   collectives over MPI, or of one rank without MPI
 *   watch.c    the collective watchdog
 *   check.c    gradients against finite differences
 */
#ifndef TRAIN_H
#define TRAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "faultdrill/cuda_api.h"
#include "faultdrill/progress.h"
#include "kernels.h"

enum train_exit {
	TRAIN_FAILED = 1,
	TRAIN_USAGE = 2,
	TRAIN_WATCHDOG = FAULTDRILL_EXIT_WATCHDOG,
	TRAIN_DEVICE = FAULTDRILL_EXIT_DEVICE,
	TRAIN_CORRUPT = FAULTDRILL_EXIT_CORRUPT,
	TRAIN_PEER = FAULTDRILL_EXIT_PEER,
};

struct train_layout {
	int dp, tp, pp, cp, ep;
};

struct train_options {
	int64_t steps, checkpoint_every, hash_every;
	struct train_layout layout;
	int batch, seq, width, layers, heads, vocab;
	int keep, log_every;
	uint64_t seed;
	double watchdog_s, step_s, lr;
	const char *store, *device;
	bool self_test;
};

struct train {
	struct train_options o;
	int rank, world;
	struct faultdrill_ring *ring;
	const char *doing; /* the phase, for messages */
	int64_t step;
	const char *home; /* folder of the program */
	char *software;	  /* the software device's library */
};

extern struct train train;

/* Prints "train: rank N: ..." and ends the rank with that status. */
void train_die(int status, const char *fmt, ...)
	__attribute__((noreturn, format(printf, 2, 3)));
void train_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* ---- options.c ---- */
void options_parse(int argc, char **argv, struct train_options *o);
/* NULL, or what is wrong with the layout for this many ranks. */
const char *layout_check(const struct train_layout *l, int world);

/* ---- device.c ---- */
struct cuda {
#define TRAIN_CUDA_POINTER(name, since, symbol, args) CUresult(*symbol) args;
	FAULTDRILL_CUDA_FUNCTIONS(TRAIN_CUDA_POINTER)
};
extern struct cuda cuda;
extern char device_name[128];

/* Loads the driver and makes a context current. `flops` is the speed that the
 * software device is to model, unless the environment says another. */
void device_open(double flops);
void device_close(void);
void device_check(CUresult r, const char *call);
/* Room on the device; what is not there at once may be so in a moment, so it
 * asks a few times. */
CUdeviceptr device_alloc(size_t bytes);
#define CU(symbol, ...) device_check(cuda.symbol(__VA_ARGS__), #symbol)

/* ---- model.c ---- */
struct layer { /* offsets into the parameters, in floats */
	size_t ln1g, ln1b, wqkv, bqkv, wo, bo, ln2g, ln2b, w1, b1, w2, b2;
};

struct layer_acts {
	float *x, *ln1, *mean1, *rstd1, *qkv, *p, *o, *x2, *ln2, *mean2, *rstd2,
		*h, *hg;
};

#define LAYERS_MAX 64

struct model {
	int batch, seq, width, layers, heads, vocab, rows;
	size_t n, bytes;	/* parameters; device memory */
	size_t tok, pos, lnfg, lnfb, head;
	struct layer at[LAYERS_MAX];
	float *p, *m, *v, *g;	/* device; p, m, v lie one after another */
	int *token, *target;	/* device */
	struct layer_acts act[LAYERS_MAX];
	float *xf, *lnf, *meanf, *rstdf, *logits, *loss;
	float *dx, *d1, *d3, *d4, *dp; /* scratch of the backward pass */
	float *host;		/* pinned: gradients, then `extra` sums */
	float *host_loss;
	int *host_batch;	/* pinned: tokens, then targets */
	CUstream stream;
	CUmodule module;
	double flops;		/* of what was launched while dry */
	bool dry;		/* count, do not launch */
};

enum { EXTRA_LOSS, EXTRA_DURABLE, EXTRA_FAILED, EXTRA_SUMS };

void model_shape(struct model *m, const struct train_options *o);
void model_open(struct model *m);
void model_close(struct model *m);
void model_init_parameters(struct model *m, uint64_t seed);
/* State is parameters and both moments: 3 n floats from m->p. */
void model_get(struct model *m, float *host, size_t first, size_t n);
void model_put(struct model *m, const float *host, size_t first, size_t n);
void model_restore(struct model *m, const float *host, size_t n);

/* ---- pass.c ---- */
void pass_forward(struct model *m);
void pass_backward(struct model *m);
void pass_update(struct model *m, int64_t step, float scale);
/* Sends the batch, runs both passes, brings loss and gradients to the host.
 * The mean loss of this rank's tokens. */
double pass_step(struct model *m, const int *tokens, bool backward);
double pass_flops(struct model *m);

/* ---- data.c ---- */
struct sampler {
	uint64_t seed;
	int64_t next; /* of the whole job: the sample that comes next */
};

void data_open(const struct sampler *s);
/* Tokens then targets of the next step, good until the call after. */
const int *data_next(void);
void data_close(void);

/* ---- ckpt.c, shard.c ---- */
struct manifest_shard {
	uint64_t first, count, hash;
};

struct manifest {
	int64_t step;
	uint64_t floats;
	struct sampler sampler;
	int shards;
	struct manifest_shard *shard;
};

void ckpt_open(struct model *m);
/* Copies this rank's share and returns; the writer does the rest. */
void ckpt_take(int64_t step, struct sampler s);
/* What to add to the sums of a step, and what they say when summed. */
void ckpt_votes(float *durable, float *failed);
void ckpt_counted(float durable, float failed);
bool ckpt_pending(void);
void ckpt_close(void);
/* The newest checkpoint that every rank can read: its step, 0 for none. */
int64_t ckpt_restore(struct model *m, struct sampler *s);

/* Makes the store's folders, or ends the rank. */
void store_open(void);
void ckpt_dir(char *out, size_t size, int64_t step);
void ckpt_shard_path(char *out, size_t size, int64_t step, int shard);
/* 0, or -errno with a reason in `why` (64 bytes). */
int manifest_read(int64_t step, struct manifest *f, char *why);
int shard_read(const struct manifest *f, int shard, float *out, char *why);
int shard_write(int64_t step, int shard, int shards, uint64_t first,
		uint64_t count, const float *data, uint64_t *hash);
int manifest_write(int64_t step, struct sampler s, int shards, uint64_t floats);
uint64_t train_hash(const void *data, size_t bytes);

/* ---- replica.c ---- */
/* Before a checkpoint, and every --hash-every steps: all ranks hold the same
 * state, or all end and the ones that differ are named. */
void replica_compare(struct model *m, int64_t step);

/* ---- comm_mpi.c, comm_none.c ---- */
void comm_init(int *argc, char ***argv);
/* In place, over all ranks, the order of the sums fixed by the ranks. */
void comm_sum(float *x, size_t n);
void comm_broadcast(void *x, size_t bytes);
int64_t comm_min(int64_t x);
/* One number of each rank, in their order. */
void comm_gather(uint64_t x, uint64_t *all);
void comm_barrier(void);
void comm_close(void);

/* ---- watch.c ---- */
void watch_open(void);
void watch_enter(const char *what);
void watch_leave(void);
void watch_close(void);

/* ---- check.c ---- */
int check_gradients(void);

#endif
