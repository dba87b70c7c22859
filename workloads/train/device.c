/* device.c - loads the CUDA driver at run time and reports its errors
 * SPDX-License-Identifier: MIT
 *
 * `auto` takes the libcuda.so.1 that the loader finds (the real driver, or
 * whatever was put in front of it) if it has a device, else the software
 * device beside the program.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "train.h"

struct cuda cuda;
char device_name[128];
static CUdevice device;

static bool resolve(void *lib)
{
#define RESOLVE(name, since, symbol, args)                                     \
	*(void **)&cuda.symbol = dlsym(lib, #symbol);
	FAULTDRILL_CUDA_FUNCTIONS(RESOLVE)
	return cuda.cuInit && cuda.cuLaunchKernel && cuda.cuGetErrorName;
}

static bool usable(const char *name, CUresult *r)
{
	void *lib = dlopen(name, RTLD_NOW | RTLD_GLOBAL);

	*r = CUDA_ERROR_NO_DEVICE;
	if (!lib || !resolve(lib))
		return false;
	*r = cuda.cuInit(0);
	return *r == CUDA_SUCCESS;
}

static void load(void)
{
	const char *want = train.o.device;
	CUresult r;

	if (strcmp(want, "software") && usable("libcuda.so.1", &r))
		return;
	if (!strcmp(want, "real"))
		train_die(TRAIN_DEVICE, "no CUDA driver with a device (%d)", r);
	if (!usable(train.software, &r))
		train_die(TRAIN_DEVICE, "%s: %s", train.software,
			  cuda.cuInit ? "no device" : dlerror());
}

void device_check(CUresult r, const char *call)
{
	const char *name = NULL;

	if (r == CUDA_SUCCESS)
		return;
	cuda.cuGetErrorName(r, &name);
	faultdrill_detected(train.ring, FAULTDRILL_BY_FRAMEWORK,
			    train.ring ? train.ring->slot : train.rank,
			    name && !strncmp(name, "CUDA_ERROR_", 11) ?
				    name + 11 : "CUDA error");
	train_die(TRAIN_DEVICE, "%s: %s (%d)", call, name ? name : "unknown",
		  (int)r);
}

void device_open(double flops)
{
	CUcontext ctx;
	char text[32];
	int n;

	snprintf(text, sizeof(text), "%.9g", flops);
	setenv("FAULTDRILL_DEVICE_FLOPS", text, 0);
	setenv("FAULTDRILL_DEVICE_BYTES", "1e11", 0);
	if (train.o.step_s <= 0)
		setenv("FAULTDRILL_PACE", "off", 0);
	load();
	CU(cuDeviceGetCount, &n);
	n = faultdrill_env("OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID",
			   "SLURM_LOCALID", 0) % n;
	CU(cuDeviceGet, &device, n);
	CU(cuDeviceGetName, device_name, sizeof(device_name), device);
	CU(cuDevicePrimaryCtxRetain, &ctx, device);
	CU(cuCtxSetCurrent, ctx);
}

void device_close(void)
{
	CU(cuDevicePrimaryCtxRelease_v2, device);
}
