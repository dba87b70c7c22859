/* cuda_runtime.c - a program of the CUDA runtime; linked with it both ways
 * SPDX-License-Identifier: MIT
 *
 *   cuda_runtime_static|cuda_runtime_shared [--steps N] [--nap MS] [--retry]
 *
 * The same steps and lines as cuda_steps.h, by the runtime's calls. On a machine
 * without a driver the first call fails, after the runtime has asked for all of
 * the driver's entry points.
 */
#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define N 1024

static const char ptx[] =
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

static int n_steps = 5, nap_ms;
static bool retry, wrong;
static cudaKernel_t count;
static unsigned int *x, host[N];

static cudaError_t say(const char *where, int step, const char *call,
		       cudaError_t r)
{
	printf(step ? "%s %d " : "%s ", where, step);
	printf("%s %d%s%s\n", call, (int)r, r ? " " : "",
	       r ? cudaGetErrorName(r) : "");
	fflush(stdout);
	return r;
}

#define STEP(where, step, call, ...)                                           \
	do {                                                                   \
		cudaError_t r_ = say(where, step, #call, call(__VA_ARGS__));   \
		if (r_ && retry)                                               \
			r_ = say("again", step, #call, call(__VA_ARGS__));     \
		if (r_)                                                        \
			return r_;                                             \
	} while (0)

static cudaError_t begin(void)
{
	cudaLibrary_t library;
	int n;

	STEP("open", 0, cudaGetDeviceCount, &n);
	STEP("open", 0, cudaSetDevice, 0);
	STEP("open", 0, cudaLibraryLoadData, &library, ptx, NULL, NULL, 0,
	     NULL, NULL, 0);
	STEP("open", 0, cudaLibraryGetKernel, &count, library, "count");
	STEP("open", 0, cudaMalloc, (void **)&x, sizeof(host));
	STEP("open", 0, cudaMemset, x, 0, sizeof(host));
	return cudaSuccess;
}

static void compare(int step)
{
	int i, n = 0;

	for (i = 0; i < N; i++)
		n += host[i] != (unsigned int)step;
	if (n)
		wrong = printf("step %d wrong: %d elements\n", step, n) > 0;
}

static cudaError_t one(int step)
{
	const struct timespec nap = { nap_ms / 1000,
				      nap_ms % 1000 * 1000000L };
	unsigned int n = N;
	void *args[] = { &x, &n };

	STEP("step", step, cudaLaunchKernel, (const void *)count,
	     (dim3){ N / 256, 1, 1 }, (dim3){ 256, 1, 1 }, args, 0, NULL);
	STEP("step", step, cudaDeviceSynchronize);
	STEP("step", step, cudaMemcpy, host, x, sizeof(host),
	     cudaMemcpyDeviceToHost);
	compare(step);
	nanosleep(&nap, NULL);
	return cudaSuccess;
}

static void after(void)
{
	void *p;

	say("after", 0, "cudaStreamQuery", cudaStreamQuery(NULL));
	say("after", 0, "cudaMalloc", cudaMalloc(&p, 4096));
	say("after", 0, "cudaDeviceSynchronize", cudaDeviceSynchronize());
	say("after", 0, "cudaFree", cudaFree(x));
}

int main(int argc, char **argv)
{
	cudaError_t r;
	int i, done = 0;

	for (i = 1; i < argc; i++)
		if (!strcmp(argv[i], "--retry"))
			retry = true;
		else if (!strcmp(argv[i], "--steps") && i + 1 < argc)
			n_steps = atoi(argv[++i]);
		else if (!strcmp(argv[i], "--nap") && i + 1 < argc)
			nap_ms = atoi(argv[++i]);
	r = begin();
	while (!r && done < n_steps)
		r = one(done + 1), done += !r;
	if (r)
		after();
	printf("end after %d steps\n", done);
	return r ? 1 : wrong ? 3 : 0;
}
