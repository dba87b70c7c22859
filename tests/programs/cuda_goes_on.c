/* cuda_goes_on.c - a program that begins anew after every error, until killed
 * SPDX-License-Identifier: MIT
 *
 * Each round allocates, launches, waits, copies and frees in a context; after an
 * error it makes another one. A round a millisecond, nothing is printed.
 */
#include "cuda_calls.h"

#include <faultdrill/softcuda.h>

#include <string.h>
#include <sys/prctl.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#define N 256

static struct calls c;
static __typeof__(cuCtxCreate_v2) *create;
static __typeof__(cuCtxDestroy_v2) *destroy;

static void count(void *const *params, const struct softcuda_block *b)
{
	unsigned int *x = *(unsigned int **)params[0];

	for (int i = 0; i < N && !b->index[0]; i++)
		x[i]++;
}

static const struct softcuda_kernel kernels[] = {
	{ "count", count, NULL, 1, { 8 } },
};

static const struct softcuda_module module = {
	SOFTCUDA_MAGIC, SOFTCUDA_VERSION, 1, "test", kernels,
};

static CUresult round_of(CUfunction fn)
{
	unsigned int host[N];
	CUdeviceptr x = 0;
	void *params[] = { &x };
	CUresult r = c.cuMemAlloc_v2(&x, sizeof(host));

	if (r)
		return r;
	r = c.cuMemsetD32_v2(x, 0, N);
	if (!r)
		r = c.cuLaunchKernel(fn, 1, 1, 1, 1, 1, 1, 0, NULL, params,
				     NULL);
	if (!r)
		r = c.cuStreamSynchronize(NULL);
	if (!r)
		r = c.cuMemcpyDtoH_v2(host, x, sizeof(host));
	c.cuMemFree_v2(x);
	return r;
}

static void live(void)
{
	const struct timespec nap = { .tv_nsec = 1000000 };
	CUcontext ctx = NULL;
	CUmodule m;
	CUfunction fn;
	CUresult r = create(&ctx, 0, 0);

	if (!r)
		r = c.cuModuleLoadData(&m, &module);
	if (!r)
		r = c.cuModuleGetFunction(&fn, m, "count");
	while (!r) {
		r = round_of(fn);
		nanosleep(&nap, NULL);
	}
	if (ctx)
		destroy(ctx);
	nanosleep(&nap, NULL);
}

int main(void)
{
	void *lib = calls_open("libcuda.so.1");

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (!lib || !calls_dlsym(&c, lib))
		return 1;
	*(void **)&create = dlsym(lib, "cuCtxCreate_v2");
	*(void **)&destroy = dlsym(lib, "cuCtxDestroy_v2");
	if (!create || !destroy || c.cuInit(0))
		return 1;
	for (;;)
		live();
}
