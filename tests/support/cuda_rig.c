/* cuda_rig.c - a program, its CUDA proxy and an agent, all in one test
 * SPDX-License-Identifier: MIT
 */
#include "cuda_rig.h"

#include "faultdrill/softcuda.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct rig rig;

struct args {
	uint32_t *x, *y;
	uint32_t by, n;
};

static void add_run(void *const *params, const struct softcuda_block *b)
{
	const struct args *a = params[0];

	for (uint32_t i = 0; i < a->n && !b->index[0]; i++)
		a->x[i] += a->by;
}

static void mul_run(void *const *params, const struct softcuda_block *b)
{
	const struct args *a = params[0];

	for (uint32_t i = 0; i < a->n && !b->index[0]; i++)
		a->y[i] = 7 * a->x[i];
}

static void slow_run(void *const *params, const struct softcuda_block *b)
{
	(void)params;
	(void)b;
}

static struct softcuda_cost slow_cost(void *const *params,
				      const struct softcuda_block *b)
{
	(void)params;
	(void)b;
	return (struct softcuda_cost){ 20e6, 0 };
}

static const struct softcuda_kernel kernels[] = {
	{ "_Z8add_onesPjj", add_run, NULL, 1, { sizeof(struct args) } },
	{ "_Z9multiplyPjS_", mul_run, NULL, 1, { sizeof(struct args) } },
	{ "_Z4slowv", slow_run, slow_cost, 1, { sizeof(struct args) } },
};

static const struct softcuda_module module = {
	SOFTCUDA_MAGIC, SOFTCUDA_VERSION, 3, "test", kernels,
};

static void set_path(const char *variable, const char *below)
{
	const char *build = getenv("BUILD");
	char file[4096], cwd[2048] = "";

	build = build ? build : "build";
	if (*build != '/')
		ck_assert_ptr_nonnull(getcwd(cwd, sizeof(cwd)));
	snprintf(file, sizeof(file), "%s%s%.1000s/%s", cwd, *cwd ? "/" : "",
		 build, below);
	setenv(variable, file, 1);
}

static char dir[64], path[80];

void rig_page(int devices)
{
	char n[8];
	struct drill_err err = { 0 };

	strcpy(dir, "/tmp/fd-rig.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/devices.page", dir);
	ck_assert_msg(!drill_devices_create(&rig.devices, path, "h0", devices,
					    &err), "%s", err.msg);
	rig.page = rig.devices.page;
	setenv("FAULTDRILL_DEVICES", path, 1);
	set_path("FAULTDRILL_CUDA_NEXT", "softcuda/libcuda.so.1");
	snprintf(n, sizeof(n), "%d", devices);
	setenv("FAULTDRILL_DEVICE_COUNT", n, 1);
	setenv("FAULTDRILL_HOST", "h0", 1);
	setenv("FAULTDRILL_DEVICE_FLOPS", "1e9", 1);
	unsetenv("CUDA_VISIBLE_DEVICES");
	unsetenv("FAULTDRILL_ATTEMPT");
	unsetenv("OMPI_COMM_WORLD_RANK");
}

void rig_end(void)
{
	unlink(path);
	rmdir(dir);
}

void rig_start_program(void)
{
	OK(cuInit(0));
	OK(cuDevicePrimaryCtxRetain(&rig.ctx, 0));
	OK(cuCtxSetCurrent(rig.ctx));
	OK(cuModuleLoadData(&rig.module, &module));
	OK(cuModuleGetFunction(&rig.add, rig.module, kernels[0].name));
	OK(cuModuleGetFunction(&rig.mul, rig.module, kernels[1].name));
	OK(cuModuleGetFunction(&rig.slow, rig.module, kernels[2].name));
	OK(cuMemAlloc_v2(&rig.x, sizeof(rig.host)));
	OK(cuMemAlloc_v2(&rig.y, sizeof(rig.host)));
	OK(cuMemsetD32_v2(rig.x, 0, RIG_N));
	OK(cuMemsetD32_v2(rig.y, 0, RIG_N));
	OK(cuCtxSynchronize());
}

void rig_begin(int devices)
{
	rig_page(devices);
	rig_start_program();
}

static CUresult launch(CUfunction fn, CUstream s, CUdeviceptr x, CUdeviceptr y,
		       uint32_t by)
{
	struct args a = { (uint32_t *)(uintptr_t)x, (uint32_t *)(uintptr_t)y,
			  by, RIG_N };
	void *params[] = { &a };

	return cuLaunchKernel(fn, 1, 1, 1, 1, 1, 1, 0, s, params, NULL);
}

CUresult rig_add_to(CUstream s, CUdeviceptr x, uint32_t by)
{
	return launch(rig.add, s, x, 0, by);
}

CUresult rig_mul_to(CUstream s, CUdeviceptr y, CUdeviceptr x)
{
	return launch(rig.mul, s, x, y, 0);
}

CUresult rig_add(CUstream s, uint32_t by)
{
	return launch(rig.add, s, rig.x, rig.y, by);
}

CUresult rig_mul(CUstream s)
{
	return launch(rig.mul, s, rig.x, rig.y, 0);
}

CUresult rig_slow(CUstream s)
{
	return launch(rig.slow, s, rig.x, rig.y, 0);
}

static struct drill_device_armed armed_of(const struct drill_device_fault *f)
{
	return (struct drill_device_armed){ (int)(f - rig.page->fault),
					    atomic_load(&f->mark) };
}

struct drill_device_fault *rig_arm(const struct drill_device_fault *order)
{
	struct drill_device_fault f = *order;
	struct drill_device_armed a;
	struct drill_err err = { 0 };

	if (!f.device)
		f.device = -1;
	if (!f.rank)
		f.rank = -1;
	ck_assert_msg(!drill_devices_pick(&rig.devices, &a, &err) &&
			      !drill_devices_arm_at(&rig.devices, &f, &a, &err),
		      "%s", err.msg);
	return &rig.page->fault[a.fault];
}

void rig_disarm(const struct drill_device_fault *f)
{
	struct drill_device_armed a = armed_of(f);
	struct drill_err err = { 0 };

	ck_assert_int_eq(drill_devices_disarm(&rig.devices, &a, &err), 0);
}

void rig_fire(const struct drill_device_fault *f)
{
	ck_assert(drill_device_fire(rig.page,
				    (unsigned int)(f - rig.page->fault), 4711,
				    "job"));
}
