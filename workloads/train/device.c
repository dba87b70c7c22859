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
#include <time.h>

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

/* A launcher that chose our device means that one: when it is not there, no
 * other must stand in for it silently. */
static bool is_chosen(void)
{
	return !strcmp(train.o.device, "real") ||
	       getenv("CUDA_VISIBLE_DEVICES");
}

static void load(void)
{
	const char *want = train.o.device;
	CUresult r;

	if (strcmp(want, "software")) {
		if (usable("libcuda.so.1", &r))
			return;
		if (cuda.cuInit && is_chosen())
			device_check(r, "cuInit");
		if (!strcmp(want, "real"))
			train_die(TRAIN_DEVICE, "no CUDA driver: %s",
				  dlerror());
	}
	if (!usable(train.software, &r) && !cuda.cuInit)
		train_die(TRAIN_DEVICE, "%s: %s", train.software, dlerror());
	device_check(r, "cuInit");
}

/* What a reader of the log would ask next. */
static void explain(CUresult r, char *buf, size_t size)
{
	const char *visible = getenv("CUDA_VISIBLE_DEVICES");
	size_t room, all;

	buf[0] = 0;
	if (r == CUDA_ERROR_OUT_OF_MEMORY && cuda.cuMemGetInfo_v2 &&
	    !cuda.cuMemGetInfo_v2(&room, &all))
		snprintf(buf, size, ": %.1f of %.1f MiB are free",
			 (double)room / 1048576, (double)all / 1048576);
	else if (r == CUDA_ERROR_NO_DEVICE || r == CUDA_ERROR_INVALID_DEVICE)
		snprintf(buf, size, ": the device is absent "
			 "(CUDA_VISIBLE_DEVICES=%.40s)",
			 visible ? visible : "");
	else if (r == CUDA_ERROR_DEVICE_UNAVAILABLE)
		snprintf(buf, size, ": the device is taken, or needs a reset");
}

/* "cuStreamSynchronize: ECC_UNCORRECTABLE": all that an event has room for. */
static void report(const char *call, const char *name)
{
	size_t n = strlen(call);
	char what[128];

	if (n > 3 && !strncmp(call + n - 3, "_v", 2))
		n -= 3;
	if (!strncmp(name, "CUDA_ERROR_", 11))
		name += 11;
	snprintf(what, sizeof(what), "%.*s: %s", (int)n, call, name);
	faultdrill_detected(train.ring, FAULTDRILL_BY_FRAMEWORK,
			    train.ring ? train.ring->slot : train.rank, what);
}

/* No call follows that could hang or say something else: what failed first is
 * what is told. */
void device_check(CUresult r, const char *call)
{
	const char *name = NULL;
	char more[128];

	if (r == CUDA_SUCCESS)
		return;
	cuda.cuGetErrorName(r, &name);
	name = name ? name : "unknown CUDA error";
	report(call, name);
	explain(r, more, sizeof(more));
	train_die(TRAIN_DEVICE, "%s: %s (%d) in %s at step %lld%s", call, name,
		  (int)r, train.doing ? train.doing : "step",
		  (long long)train.step, more);
}

/* The processes of a failed attempt may give back their memory only now. */
CUdeviceptr device_alloc(size_t bytes)
{
	const struct timespec wait = { 0, 100000000 };
	CUdeviceptr p = 0;
	CUresult r;
	int i;

	for (i = 0;; i++) {
		r = cuda.cuMemAlloc_v2(&p, bytes);
		if (r != CUDA_ERROR_OUT_OF_MEMORY || i == 2)
			break;
		train_say("out of memory on the device in %s: once more",
			  train.doing ? train.doing : "step");
		nanosleep(&wait, NULL);
	}
	device_check(r, "cuMemAlloc_v2");
	return p;
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
	if (n < 1)
		device_check(CUDA_ERROR_NO_DEVICE, "cuDeviceGetCount");
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
