/* cuda_steps.h - the steps that each CUDA test program goes, a line a call
 * SPDX-License-Identifier: MIT
 *
 *   PROGRAM [--steps N] [--nap MS] [--retry] [--stream]
 *
 * Each step adds 1 to every element of an array on device 0, waits, copies it
 * back and compares it. Every call prints what it said:
 *
 *   step 3 cuLaunchKernel 0
 *   step 3 cuStreamSynchronize 214 CUDA_ERROR_ECC_UNCORRECTABLE
 *   after cuMemFree_v2 214 CUDA_ERROR_ECC_UNCORRECTABLE
 *
 * The first error ends the steps; what the context says from then on is told in
 * lines `after`. With --retry a call that fails is made once more. Elements
 * that are not what they should be are told as "step 3 wrong: ...". Exit status
 * 0, 1 after an error, 3 after wrong numbers. --stream: in a stream of its own,
 * else in the default stream.
 */
#ifndef TESTS_CUDA_STEPS_H
#define TESTS_CUDA_STEPS_H

#include <faultdrill/softcuda.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cuda_calls.h"

#define STEPS_N 1024

struct steps {
	const struct calls *c;
	int steps, nap_ms;
	bool retry, stream, wrong, quiet;
	CUdevice dev;
	CUcontext ctx;
	CUstream at;
	CUmodule module;
	CUfunction count;
	CUdeviceptr x;
	unsigned int host[STEPS_N];
};

/* ---- the kernel, for both kinds of device ---- */

static void steps_count_run(void *const *params, const struct softcuda_block *b)
{
	unsigned int *x = *(unsigned int **)params[0], n, i;

	n = *(unsigned int *)params[1];
	for (i = 0; i < n && !b->index[0]; i++)
		x[i]++;
}

static const struct softcuda_kernel steps_kernels[] = {
	{ "count", steps_count_run, NULL, 2, { 8, 4 } },
};

static const struct softcuda_module steps_soft = {
	SOFTCUDA_MAGIC, SOFTCUDA_VERSION, 1, "test", steps_kernels,
};

static const char steps_ptx[] =
	".version 6.4\n.target sm_75\n.address_size 64\n"
	".visible .entry count(.param .u64 x, .param .u32 n) {\n"
	".reg .pred p; .reg .u32 a, b, c; .reg .u64 q, o;\n"
	"ld.param.u64 q, [x]; ld.param.u32 c, [n];\n"
	"mov.u32 a, %ctaid.x; mov.u32 b, %ntid.x; mul.lo.u32 a, a, b;\n"
	"mov.u32 b, %tid.x; add.u32 a, a, b;\n"
	"setp.ge.u32 p, a, c; @p bra done;\n"
	"cvta.to.global.u64 q, q; mul.wide.u32 o, a, 4; add.u64 q, q, o;\n"
	"ld.global.u32 b, [q]; add.u32 b, b, 1; st.global.u32 [q], b;\n"
	"done: ret;\n}\n";

/* ---- telling ---- */

static inline CUresult steps_say(const struct steps *s, const char *where,
				 int step, const char *call, CUresult r)
{
	const char *name = "";

	if (s->quiet && !r)
		return r;
	printf(step ? "%s %d " : "%s ", where, step);
	printf("%s %d", call, (int)r);
	if (r && !s->c->cuGetErrorName(r, &name))
		printf(" %s", name);
	putchar('\n');
	fflush(stdout);
	return r;
}

/* Makes the call, tells it, and leaves the function with its error. */
#define STEP(s, where, step, call, ...)                                        \
	do {                                                                   \
		CUresult r_ = steps_say(s, where, step, #call,                 \
					(s)->c->call(__VA_ARGS__));            \
		if (r_ && (s)->retry)                                          \
			r_ = steps_say(s, "again", step, #call,                \
				       (s)->c->call(__VA_ARGS__));             \
		if (r_)                                                        \
			return r_;                                             \
	} while (0)

/* ---- the steps ---- */

static inline CUresult steps_open(struct steps *s)
{
	char name[128] = "";
	int n = 0;

	STEP(s, "open", 0, cuInit, 0);
	STEP(s, "open", 0, cuDeviceGetCount, &n);
	STEP(s, "open", 0, cuDeviceGet, &s->dev, 0);
	STEP(s, "open", 0, cuDeviceGetName, name, sizeof(name), s->dev);
	STEP(s, "open", 0, cuDevicePrimaryCtxRetain, &s->ctx, s->dev);
	STEP(s, "open", 0, cuCtxSetCurrent, s->ctx);
	STEP(s, "open", 0, cuModuleLoadData, &s->module,
	     strstr(name, "software") ? (const void *)&steps_soft : steps_ptx);
	STEP(s, "open", 0, cuModuleGetFunction, &s->count, s->module, "count");
	STEP(s, "open", 0, cuMemAlloc_v2, &s->x, sizeof(s->host));
	STEP(s, "open", 0, cuMemsetD32_v2, s->x, 0, STEPS_N);
	STEP(s, "open", 0, cuCtxSynchronize);
	if (s->stream)
		STEP(s, "open", 0, cuStreamCreate, &s->at, 1);
	return CUDA_SUCCESS;
}

static inline void steps_compare(struct steps *s, int step)
{
	int i, wrong = 0, first = 0;

	for (i = STEPS_N - 1; i >= 0; i--)
		if (s->host[i] != (unsigned int)step) {
			first = i;
			wrong++;
		}
	if (!wrong)
		return;
	printf("step %d wrong: %d elements, the first is %d: %#x, not %#x\n",
	       step, wrong, first, s->host[first], (unsigned int)step);
	fflush(stdout);
	s->wrong = true;
}

static inline CUresult steps_one(struct steps *s, int step)
{
	const struct timespec nap = { s->nap_ms / 1000,
				      s->nap_ms % 1000 * 1000000L };
	unsigned int n = STEPS_N;
	void *params[] = { &s->x, &n };

	STEP(s, "step", step, cuLaunchKernel, s->count, STEPS_N / 256, 1, 1,
	     256, 1, 1, 0, s->at, params, NULL);
	STEP(s, "step", step, cuStreamSynchronize, s->at);
	STEP(s, "step", step, cuMemcpyDtoH_v2, s->host, s->x, sizeof(s->host));
	steps_compare(s, step);
	if (s->nap_ms)
		nanosleep(&nap, NULL);
	return CUDA_SUCCESS;
}

/* What a context says when it has failed; none of it ends anything. */
static inline void steps_after(struct steps *s)
{
	CUdeviceptr p = 0;

	steps_say(s, "after", 0, "cuStreamQuery", s->c->cuStreamQuery(s->at));
	steps_say(s, "after", 0, "cuMemAlloc_v2",
		  s->c->cuMemAlloc_v2(&p, 4096));
	steps_say(s, "after", 0, "cuCtxSynchronize", s->c->cuCtxSynchronize());
	steps_say(s, "after", 0, "cuMemFree_v2", s->c->cuMemFree_v2(s->x));
	steps_say(s, "after", 0, "cuDevicePrimaryCtxRelease_v2",
		  s->c->cuDevicePrimaryCtxRelease_v2(s->dev));
}

static inline void steps_options(struct steps *s, int argc, char **argv)
{
	int i;

	s->steps = 5;
	for (i = 1; i < argc; i++)
		if (!strcmp(argv[i], "--retry"))
			s->retry = true;
		else if (!strcmp(argv[i], "--stream"))
			s->stream = true;
		else if (!strcmp(argv[i], "--quiet"))
			s->quiet = true;
		else if (!strcmp(argv[i], "--steps") && i + 1 < argc)
			s->steps = atoi(argv[++i]);
		else if (!strcmp(argv[i], "--nap") && i + 1 < argc)
			s->nap_ms = atoi(argv[++i]);
}

/* All of it; the program's exit status. */
static inline int steps_go(struct steps *s)
{
	CUresult r = steps_open(s);
	int i;

	if (r)
		return 1;
	for (i = 1; i <= s->steps && !r; i++)
		r = steps_one(s, i);
	if (r)
		steps_after(s);
	else
		steps_say(s, "close", 0, "cuDevicePrimaryCtxRelease_v2",
			  s->c->cuDevicePrimaryCtxRelease_v2(s->dev));
	printf("end after %d steps\n", i - 1 - (r != 0));
	return r ? 1 : s->wrong ? 3 : 0;
}

#endif
