/* cuda_calls.h - the driver calls that the test programs make, found in any way
 * SPDX-License-Identifier: MIT
 *
 * The one thing in which the programs differ is how they reach the driver: so
 * each fills a `struct calls` in its own way and then goes the same steps.
 */
#ifndef TESTS_CUDA_CALLS_H
#define TESTS_CUDA_CALLS_H

#include <dlfcn.h>
#include <faultdrill/cuda_api.h>
#include <stdbool.h>
#include <stdio.h>

/* C(name as cuGetProcAddress takes it, version, exported symbol) */
#define CALLS(C)                                                               \
	C(cuInit, 2000, cuInit)                                                \
	C(cuGetErrorName, 6000, cuGetErrorName)                                \
	C(cuDeviceGetCount, 2000, cuDeviceGetCount)                            \
	C(cuDeviceGet, 2000, cuDeviceGet)                                      \
	C(cuDeviceGetName, 2000, cuDeviceGetName)                              \
	C(cuDevicePrimaryCtxRetain, 7000, cuDevicePrimaryCtxRetain)            \
	C(cuDevicePrimaryCtxRelease, 11000, cuDevicePrimaryCtxRelease_v2)      \
	C(cuCtxSetCurrent, 4000, cuCtxSetCurrent)                              \
	C(cuCtxSynchronize, 2000, cuCtxSynchronize)                            \
	C(cuMemAlloc, 3020, cuMemAlloc_v2)                                     \
	C(cuMemFree, 3020, cuMemFree_v2)                                       \
	C(cuMemsetD32, 3020, cuMemsetD32_v2)                                   \
	C(cuMemcpyDtoH, 3020, cuMemcpyDtoH_v2)                                 \
	C(cuStreamCreate, 2000, cuStreamCreate)                                \
	C(cuStreamQuery, 2000, cuStreamQuery)                                  \
	C(cuStreamSynchronize, 2000, cuStreamSynchronize)                      \
	C(cuModuleLoadData, 2000, cuModuleLoadData)                            \
	C(cuModuleGetFunction, 2000, cuModuleGetFunction)                      \
	C(cuLaunchKernel, 4000, cuLaunchKernel)

struct calls {
#define CALLS_FIELD(name, version, symbol) __typeof__(symbol) *symbol;
	CALLS(CALLS_FIELD)
};

/* All by dlsym. False: one of them is not there; it is said. */
static inline bool calls_dlsym(struct calls *c, void *lib)
{
	bool all = true;

#define CALLS_DLSYM(name, version, symbol)                                     \
	*(void **)&c->symbol = dlsym(lib, #symbol);                            \
	if (!c->symbol)                                                        \
		all = printf("no %s\n", #symbol) < 0;
	CALLS(CALLS_DLSYM)
	return all;
}

/* All by cuGetProcAddress_v2; @flags 2: of the per-thread default stream. */
static inline bool calls_proc(struct calls *c, void *lib, cuuint64_t flags)
{
	__typeof__(cuGetProcAddress_v2) *get;
	bool all = true;

	*(void **)&get = dlsym(lib, "cuGetProcAddress_v2");
	if (!get)
		return printf("no cuGetProcAddress_v2\n") < 0;
#define CALLS_PROC(name, version, symbol)                                      \
	if (get(#name, (void **)&c->symbol, version, flags, NULL))             \
		all = printf("no %s\n", #name) < 0;
	CALLS(CALLS_PROC)
	return all;
}

static inline void *calls_open(const char *file)
{
	void *lib = dlopen(file, RTLD_NOW | RTLD_LOCAL);

	if (!lib)
		printf("dlopen %s: %s\n", file, dlerror());
	return lib;
}

#endif
