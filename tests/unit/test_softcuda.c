/* test_softcuda.c - the software CUDA device behaves as the driver does
 * SPDX-License-Identifier: MIT
 */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check_main.h"
#include "faultdrill/cuda_api.h"
#include "faultdrill/softcuda.h"
#include "workloads/softcuda/soft.h"

#define OK(call) ck_assert_int_eq((call), CUDA_SUCCESS)
#define FAILS(call, error) ck_assert_int_eq((call), (error))

/* ---- a module of the test's own ---- */

struct fill {
	uint32_t *out;
	uint32_t base, n;
};

static void fill_run(void *const *params, const struct softcuda_block *b)
{
	const struct fill *a = params[0];
	uint32_t t, i;

	for (t = 0; t < b->block[0]; t++) {
		i = b->index[0] * b->block[0] + t;
		if (i < a->n)
			a->out[i] = a->base + i;
	}
}

static void add_run(void *const *params, const struct softcuda_block *b)
{
	const struct fill *a = params[0];
	uint32_t i;

	for (i = 0; i < a->n && !b->index[0]; i++)
		a->out[i] += a->base;
}

static void shared_run(void *const *params, const struct softcuda_block *b)
{
	const struct fill *a = params[0];
	uint32_t *s = b->shared;

	s[b->shared_bytes / 4 - 1] = 77;
	a->out[0] = s[b->shared_bytes / 4 - 1] + b->index[2];
}

static struct softcuda_cost slow_cost(void *const *params,
				      const struct softcuda_block *b)
{
	(void)params;
	(void)b;
	return (struct softcuda_cost){ 20e6, 0 };
}

static const struct softcuda_kernel kernels[] = {
	{ "fill", fill_run, NULL, 1, { sizeof(struct fill) } },
	{ "add", add_run, NULL, 1, { sizeof(struct fill) } },
	{ "shared", shared_run, NULL, 1, { sizeof(struct fill) } },
	{ "slow", add_run, slow_cost, 1, { sizeof(struct fill) } },
};

static const struct softcuda_module module = {
	SOFTCUDA_MAGIC, SOFTCUDA_VERSION, 4, "test", kernels,
};

static CUcontext ctx;
static CUmodule mod;

static CUfunction fn(const char *name)
{
	CUfunction f;

	OK(cuModuleGetFunction(&f, mod, name));
	return f;
}

static CUresult launch(const char *name, CUstream s, struct fill a)
{
	void *params[] = { &a };

	return cuLaunchKernel(fn(name), (a.n + 63) / 64, 1, 1, 64, 1, 1, 0, s,
			      params, NULL);
}

static void begin(void)
{
	setenv("FAULTDRILL_DEVICE_COUNT", "2", 1);
	setenv("FAULTDRILL_DEVICE_MEMORY", "1048576", 1);
	setenv("FAULTDRILL_DEVICE_FLOPS", "1e9", 1);
	OK(cuInit(0));
	OK(cuDevicePrimaryCtxRetain(&ctx, 0));
	OK(cuCtxSetCurrent(ctx));
	OK(cuModuleLoadData(&mod, &module));
}

static void end(void)
{
	cuDevicePrimaryCtxRelease_v2(0);
}

/* A host function that holds its stream until it is opened. */
static atomic_int gate;

static void wait_for_gate(void *data)
{
	(void)data;
	while (!gate)
		sched_yield();
}

START_TEST(calls_before_init_are_refused)
{
	int n;

	FAILS(cuDeviceGetCount(&n), CUDA_ERROR_NOT_INITIALIZED);
	FAILS(cuCtxSynchronize(), CUDA_ERROR_NOT_INITIALIZED);
	FAILS(cuInit(1), CUDA_ERROR_INVALID_VALUE);
	OK(cuInit(0));
	FAILS(cuCtxSynchronize(), CUDA_ERROR_INVALID_CONTEXT);
}
END_TEST

START_TEST(visible_devices_choose_and_reorder)
{
	char id[16];
	CUuuid a, b;
	CUdevice d;
	int n, bus;

	setenv("FAULTDRILL_DEVICE_COUNT", "4", 1);
	setenv("CUDA_VISIBLE_DEVICES", "3,1,9,0", 1);
	OK(cuInit(0));
	OK(cuDeviceGetCount(&n));
	ck_assert_int_eq(n, 2);
	OK(cuDeviceGetPCIBusId(id, sizeof(id), 0));
	ck_assert_str_eq(id, "0000:13:00.0");
	OK(cuDeviceGetByPCIBusId(&d, "0000:11:00.0"));
	ck_assert_int_eq(d, 1);
	OK(cuDeviceGetAttribute(&bus, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, 0));
	ck_assert_int_eq(bus, 0x13);
	OK(cuDeviceGetUuid_v2(&a, 0));
	OK(cuDeviceGetUuid_v2(&b, 1));
	ck_assert_mem_ne(&a, &b, sizeof(a));
	FAILS(cuDeviceGet(&d, 2), CUDA_ERROR_INVALID_DEVICE);
	FAILS(cuDeviceGetAttribute(&n, (CUdevice_attribute)9999, 0),
	      CUDA_ERROR_INVALID_VALUE);
}
END_TEST

START_TEST(no_visible_device_fails_init)
{
	setenv("CUDA_VISIBLE_DEVICES", "", 1);
	FAILS(cuInit(0), CUDA_ERROR_NO_DEVICE);
}
END_TEST

START_TEST(memory_has_a_limit_and_is_accounted)
{
	size_t left, total;
	CUdeviceptr p, q;

	begin();
	OK(cuMemAlloc_v2(&p, 1 << 19));
	FAILS(cuMemAlloc_v2(&q, (1 << 19) + 1), CUDA_ERROR_OUT_OF_MEMORY);
	FAILS(cuMemAlloc_v2(&q, 0), CUDA_ERROR_INVALID_VALUE);
	FAILS(cuMemAlloc_v2(&q, SIZE_MAX), CUDA_ERROR_OUT_OF_MEMORY);
	OK(cuMemGetInfo_v2(&left, &total));
	ck_assert_uint_eq(total, 1 << 20);
	ck_assert_uint_eq(left, 1 << 19);
	FAILS(cuMemFree_v2(p + 256), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemFree_v2(p));
	OK(cuMemGetInfo_v2(&left, &total));
	ck_assert_uint_eq(left, 1 << 20);
	FAILS(cuMemFree_v2(p), CUDA_ERROR_INVALID_VALUE);
	end();
}
END_TEST

START_TEST(copies_stay_inside_allocations)
{
	char host[64] = "hello";
	CUdeviceptr p;

	begin();
	OK(cuMemAlloc_v2(&p, 64));
	OK(cuMemsetD8_v2(p, 1, 64));
	OK(cuMemcpyHtoD_v2(p, host, 6));
	OK(cuMemcpyDtoH_v2(host + 32, p, 7));
	ck_assert_str_eq(host + 32, "hello");
	ck_assert_int_eq(host[38], 1);
	FAILS(cuMemcpyHtoD_v2(p + 1, host, 64), CUDA_ERROR_INVALID_VALUE);
	FAILS(cuMemcpyDtoH_v2(host, 4096, 1), CUDA_ERROR_INVALID_VALUE);
	FAILS(cuMemsetD32_v2(p + 2, 0, 1), CUDA_ERROR_INVALID_VALUE);
	FAILS(cuMemsetD32_v2(p, 0, 17), CUDA_ERROR_INVALID_VALUE);
	end();
}
END_TEST

START_TEST(launches_run_in_order_with_copied_arguments)
{
	uint32_t out[200], i;
	CUdeviceptr p;
	CUstream s;

	begin();
	OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	OK(cuMemAlloc_v2(&p, sizeof(out)));
	OK(launch("fill", s, (struct fill){ (void *)p, 5, 200 }));
	for (i = 0; i < 100; i++)
		OK(launch("add", s, (struct fill){ (void *)p, i, 200 }));
	OK(cuMemcpyDtoHAsync_v2(out, p, sizeof(out), s));
	OK(cuStreamSynchronize(s));
	for (i = 0; i < 200; i++)
		ck_assert_uint_eq(out[i], 5 + i + 4950);
	OK(cuStreamDestroy_v2(s));
	end();
}
END_TEST

START_TEST(dynamic_shared_memory_and_grid_arrive)
{
	struct fill a = { .n = 1 };
	void *params[] = { &a };
	CUdeviceptr p;
	uint32_t out;

	begin();
	OK(cuMemAlloc_v2(&p, 4));
	a.out = (void *)p;
	OK(cuLaunchKernel(fn("shared"), 1, 1, 3, 1, 1, 1, 256, NULL, params,
			  NULL));
	OK(cuMemcpyDtoH_v2(&out, p, 4));
	ck_assert_uint_eq(out, 79);
	FAILS(cuLaunchKernel(fn("shared"), 0, 1, 1, 1, 1, 1, 0, NULL, params,
			     NULL), CUDA_ERROR_INVALID_VALUE);
	FAILS(cuLaunchKernel(fn("shared"), 1, 1, 1, 1024, 2, 1, 0, NULL,
			     params, NULL), CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
	end();
}
END_TEST

START_TEST(streams_are_asynchronous)
{
	CUstream s;

	begin();
	gate = 0;
	OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	OK(cuLaunchHostFunc(s, wait_for_gate, NULL));
	FAILS(cuStreamQuery(s), CUDA_ERROR_NOT_READY);
	gate = 1;
	OK(cuStreamSynchronize(s));
	OK(cuStreamQuery(s));
	end();
}
END_TEST

START_TEST(the_null_stream_waits_for_blocking_streams_only)
{
	CUstream blocking, free_running;
	CUevent e;

	begin();
	gate = 0;
	OK(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
	OK(cuStreamCreate(&free_running, CU_STREAM_NON_BLOCKING));
	OK(cuEventCreate(&e, 0));
	OK(cuLaunchHostFunc(free_running, wait_for_gate, NULL));
	OK(cuEventRecord(e, NULL));
	OK(cuEventSynchronize(e)); /* hangs if it waited for free_running */
	OK(cuLaunchHostFunc(blocking, wait_for_gate, NULL));
	OK(cuEventRecord(e, NULL));
	FAILS(cuEventQuery(e), CUDA_ERROR_NOT_READY);
	gate = 1;
	OK(cuEventSynchronize(e));
	OK(cuEventDestroy_v2(e));
	end();
}
END_TEST

START_TEST(a_stream_waits_for_an_event_of_another)
{
	CUdeviceptr p;
	CUstream a, b;
	uint32_t out = 0;
	CUevent e;

	begin();
	gate = 0;
	OK(cuMemAlloc_v2(&p, 4));
	OK(cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
	OK(cuStreamCreate(&b, CU_STREAM_NON_BLOCKING));
	OK(cuEventCreate(&e, CU_EVENT_DISABLE_TIMING));
	OK(cuLaunchHostFunc(a, wait_for_gate, NULL));
	OK(launch("fill", a, (struct fill){ (void *)p, 41, 1 }));
	OK(cuEventRecord(e, a));
	OK(cuStreamWaitEvent(b, e, 0));
	OK(launch("add", b, (struct fill){ (void *)p, 1, 1 }));
	OK(cuEventDestroy_v2(e));
	OK(cuStreamDestroy_v2(a)); /* its work still runs */
	gate = 1;
	OK(cuMemcpyDtoHAsync_v2(&out, p, 4, b));
	OK(cuStreamSynchronize(b));
	ck_assert_uint_eq(out, 42);
	end();
}
END_TEST

START_TEST(pageable_memory_may_change_after_an_async_copy)
{
	uint32_t in = 7, out = 0;
	CUdeviceptr p;
	CUstream s;

	begin();
	gate = 0;
	OK(cuMemAlloc_v2(&p, 4));
	OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	OK(cuLaunchHostFunc(s, wait_for_gate, NULL));
	OK(cuMemcpyHtoDAsync_v2(p, &in, 4, s));
	in = 9;
	gate = 1;
	OK(cuMemcpyDtoHAsync_v2(&out, p, 4, s));
	OK(cuStreamSynchronize(s));
	ck_assert_uint_eq(out, 7);
	end();
}
END_TEST

START_TEST(device_errors_are_asynchronous_and_sticky)
{
	CUcontext other;
	CUdeviceptr p, q;
	CUstream s;
	CUevent e;

	begin();
	OK(cuMemAlloc_v2(&p, 256));
	OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	OK(cuEventCreate(&e, 0));
	OK(softcuda_break(0, CUDA_ERROR_LAUNCH_FAILED));
	OK(launch("fill", s, (struct fill){ (void *)p, 0, 64 }));
	OK(cuMemAlloc_v2(&q, 256)); /* does not synchronise: may succeed */
	FAILS(cuStreamSynchronize(s), CUDA_ERROR_LAUNCH_FAILED);
	FAILS(cuMemFree_v2(p), CUDA_ERROR_LAUNCH_FAILED);
	FAILS(cuEventQuery(e), CUDA_ERROR_LAUNCH_FAILED);
	FAILS(cuMemAlloc_v2(&q, 256), CUDA_ERROR_LAUNCH_FAILED);
	/* The other device of the process goes on. */
	OK(cuCtxCreate_v2(&other, 0, 1));
	OK(cuMemAlloc_v2(&q, 256));
	OK(cuCtxSynchronize());
	OK(cuCtxDestroy_v2(other));
	/* A reset cures the context. */
	OK(cuDevicePrimaryCtxReset_v2(0));
	OK(cuCtxSetCurrent(ctx));
	OK(cuMemAlloc_v2(&p, 256));
	OK(cuCtxSynchronize());
	end();
}
END_TEST

START_TEST(a_forked_child_is_not_initialized)
{
	pid_t pid;
	int st, n;

	begin();
	pid = fork();
	if (pid == 0) {
		int bad = cuCtxSynchronize() != CUDA_ERROR_NOT_INITIALIZED ||
			  cuInit(0) != CUDA_ERROR_NOT_INITIALIZED ||
			  cuDeviceGetCount(&n) != CUDA_ERROR_NOT_INITIALIZED;
		_exit(bad);
	}
	ck_assert_int_eq(waitpid(pid, &st, 0), pid);
	ck_assert_int_eq(st, 0);
	OK(cuCtxSynchronize());
	end();
}
END_TEST

START_TEST(contexts_stack_and_die_cleanly)
{
	CUcontext a, got;
	CUdeviceptr p;
	CUstream s;

	begin();
	OK(cuCtxCreate_v2(&a, 0, 1));
	OK(cuMemAlloc_v2(&p, 4096));
	OK(cuStreamCreate(&s, 0));
	OK(launch("fill", NULL, (struct fill){ (void *)p, 0, 64 }));
	OK(cuCtxGetCurrent(&got));
	ck_assert_ptr_eq(got, a);
	OK(cuCtxPopCurrent_v2(&got));
	OK(cuCtxGetCurrent(&got));
	ck_assert_ptr_eq(got, ctx);
	OK(cuCtxPushCurrent_v2(a));
	OK(cuCtxPushCurrent_v2(a));
	OK(cuCtxDestroy_v2(a));
	FAILS(cuMemAlloc_v2(&p, 1), CUDA_ERROR_CONTEXT_IS_DESTROYED);
	FAILS(cuCtxDestroy_v2(a), CUDA_ERROR_INVALID_CONTEXT);
	OK(cuCtxPopCurrent_v2(NULL));
	OK(cuMemAlloc_v2(&p, 1));
	end();
}
END_TEST

START_TEST(pace_gives_a_kernel_its_modelled_time)
{
	struct timespec a, b;
	CUevent e0, e1;
	CUdeviceptr p;
	CUstream s;
	double wall;
	float ms;
	int i;

	begin(); /* 20e6 operations at 1e9 a second: 20 ms each */
	OK(cuMemAlloc_v2(&p, 4));
	OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	OK(cuEventCreate(&e0, 0));
	OK(cuEventCreate(&e1, 0));
	clock_gettime(CLOCK_MONOTONIC, &a);
	OK(cuEventRecord(e0, s));
	for (i = 0; i < 5; i++)
		OK(launch("slow", s, (struct fill){ (void *)p, 1, 1 }));
	OK(cuEventRecord(e1, s));
	OK(cuEventSynchronize(e1));
	clock_gettime(CLOCK_MONOTONIC, &b);
	wall = (double)(b.tv_sec - a.tv_sec) +
	       (double)(b.tv_nsec - a.tv_nsec) * 1e-9;
	OK(cuEventElapsedTime_v2(&ms, e0, e1));
	ck_assert_double_ge(wall, 0.099);
	ck_assert_float_ge(ms, 95);
	ck_assert_float_le(ms, 130);
	end();
}
END_TEST

START_TEST(entry_points_depend_on_the_version_asked_for)
{
	void *p;
	int st;

	OK(cuGetProcAddress_v2("cuGetProcAddress", &p, 11030, 0, &st));
	ck_assert_ptr_eq(p, (void *)cuGetProcAddress);
	OK(cuGetProcAddress_v2("cuGetProcAddress", &p, 12000, 0, &st));
	ck_assert_ptr_eq(p, (void *)cuGetProcAddress_v2);
	OK(cuGetProcAddress_v2("cuMemAlloc", &p, 3010, 0, &st));
	ck_assert_ptr_null(p);
	ck_assert_int_eq(st, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
	FAILS(cuGetProcAddress_v2("cuNoSuchThing", &p, 13000, 0, &st),
	      CUDA_ERROR_NOT_FOUND);
	ck_assert_int_eq(st, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
}
END_TEST

START_TEST(errors_have_names_and_texts)
{
	const char *s;

	OK(cuGetErrorName(CUDA_ERROR_ILLEGAL_ADDRESS, &s));
	ck_assert_str_eq(s, "CUDA_ERROR_ILLEGAL_ADDRESS");
	OK(cuGetErrorString(CUDA_ERROR_LAUNCH_FAILED, &s));
	ck_assert_str_eq(s, "unspecified launch failure");
	FAILS(cuGetErrorName((CUresult)12345, &s), CUDA_ERROR_INVALID_VALUE);
	ck_assert_ptr_null(s);
}
END_TEST

START_TEST(modules_that_are_none_are_refused)
{
	static const char junk[64] = "not a module";
	CUfunction f;
	CUmodule m;

	begin();
	FAILS(cuModuleLoadData(&m, junk), CUDA_ERROR_INVALID_IMAGE);
	FAILS(cuModuleLoad(&m, "/nonexistent/x.fatbin"),
	      CUDA_ERROR_FILE_NOT_FOUND);
	FAILS(cuModuleLoad(&m, "/proc/self/status"),
	      CUDA_ERROR_NO_BINARY_FOR_GPU);
	FAILS(cuModuleGetFunction(&f, mod, "nope"), CUDA_ERROR_NOT_FOUND);
	OK(cuModuleUnload(mod));
	FAILS(cuModuleUnload(mod), CUDA_ERROR_INVALID_HANDLE);
	end();
}
END_TEST

static void *hammer(void *result)
{
	uint32_t out = 0, i;
	CUdeviceptr p;
	CUstream s;
	CUevent e;

	cuCtxSetCurrent(ctx);
	for (i = 0; i < 50; i++) {
		cuMemAlloc_v2(&p, 256);
		cuStreamCreate(&s, i & 1);
		cuEventCreate(&e, 0);
		launch("fill", s, (struct fill){ (void *)p, i, 16 });
		cuEventRecord(e, s);
		cuMemsetD32_v2(p + 128, i, 4); /* the null stream */
		cuStreamWaitEvent(s, e, 0);
		cuMemcpyDtoHAsync_v2(&out, p, 4, s);
		cuStreamSynchronize(s);
		if (out != i)
			*(int *)result = 1;
		cuEventDestroy_v2(e);
		cuStreamDestroy_v2(s);
		cuMemFree_v2(p);
	}
	return NULL;
}

START_TEST(many_threads_share_a_context)
{
	pthread_t t[4];
	int bad[4] = { 0 }, i;

	begin();
	for (i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, hammer, &bad[i]);
	for (i = 0; i < 4; i++) {
		pthread_join(t[i], NULL);
		ck_assert_int_eq(bad[i], 0);
	}
	OK(cuCtxSynchronize());
	end();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("softcuda");
	TCase *t = tcase_create("driver");

	tcase_set_timeout(t, 30);
	tcase_add_test(t, calls_before_init_are_refused);
	tcase_add_test(t, visible_devices_choose_and_reorder);
	tcase_add_test(t, no_visible_device_fails_init);
	tcase_add_test(t, memory_has_a_limit_and_is_accounted);
	tcase_add_test(t, copies_stay_inside_allocations);
	tcase_add_test(t, launches_run_in_order_with_copied_arguments);
	tcase_add_test(t, dynamic_shared_memory_and_grid_arrive);
	tcase_add_test(t, streams_are_asynchronous);
	tcase_add_test(t, the_null_stream_waits_for_blocking_streams_only);
	tcase_add_test(t, a_stream_waits_for_an_event_of_another);
	tcase_add_test(t, pageable_memory_may_change_after_an_async_copy);
	tcase_add_test(t, device_errors_are_asynchronous_and_sticky);
	tcase_add_test(t, a_forked_child_is_not_initialized);
	tcase_add_test(t, contexts_stack_and_die_cleanly);
	tcase_add_test(t, pace_gives_a_kernel_its_modelled_time);
	tcase_add_test(t, entry_points_depend_on_the_version_asked_for);
	tcase_add_test(t, errors_have_names_and_texts);
	tcase_add_test(t, modules_that_are_none_are_refused);
	tcase_add_test(t, many_threads_share_a_context);
	suite_add_tcase(s, t);
	return drill_check_main(s);
}
