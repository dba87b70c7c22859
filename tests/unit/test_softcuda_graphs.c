/* test_softcuda_graphs.c - captures, graphs, peers and per-thread streams
 * SPDX-License-Identifier: MIT
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include "check_main.h"
#include "faultdrill/cuda_api.h"
#include "faultdrill/soft_identity.h"
#include "faultdrill/softcuda.h"

#define OK(call) ck_assert_int_eq((call), CUDA_SUCCESS)
#define FAILS(call, error) ck_assert_int_eq((call), (error))

struct add {
	uint32_t *out;
	uint32_t by, n;
};

static void add_run(void *const *params, const struct softcuda_block *b)
{
	const struct add *a = params[0];
	uint32_t i;

	for (i = 0; i < a->n && !b->index[0]; i++)
		a->out[i] += a->by;
}

static const struct softcuda_kernel kernels[] = {
	{ "add", add_run, NULL, 1, { sizeof(struct add) } },
};

static const struct softcuda_module module = {
	SOFTCUDA_MAGIC, SOFTCUDA_VERSION, 1, "test", kernels,
};

#define N 64

static CUcontext ctx;
static CUfunction add;
static CUdeviceptr x;
static uint32_t host[N];

static CUresult launch(CUstream s, uint32_t by)
{
	struct add a = { (uint32_t *)(uintptr_t)x, by, N };
	void *params[] = { &a };

	return cuLaunchKernel(add, 1, 1, 1, 1, 1, 1, 0, s, params, NULL);
}

static void begin(void)
{
	CUmodule m;

	setenv("FAULTDRILL_DEVICE_COUNT", "2", 1);
	OK(cuInit(0));
	OK(cuDevicePrimaryCtxRetain(&ctx, 0));
	OK(cuCtxSetCurrent(ctx));
	OK(cuModuleLoadData(&m, &module));
	OK(cuModuleGetFunction(&add, m, "add"));
	OK(cuMemAlloc_v2(&x, sizeof(host)));
	OK(cuMemsetD32_v2(x, 0, N));
	OK(cuCtxSynchronize());
}

static uint32_t value(void)
{
	OK(cuMemcpyDtoH_v2(host, x, sizeof(host)));
	return host[N - 1];
}

START_TEST(a_graph_does_what_was_captured_each_time)
{
	CUstreamCaptureStatus st;
	CUgraphExec exec;
	CUgraph g;
	CUstream s;

	begin();
	OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	OK(cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
	OK(launch(s, 3));
	OK(launch(s, 4));
	OK(cuStreamIsCapturing(s, &st));
	ck_assert_int_eq(st, CU_STREAM_CAPTURE_STATUS_ACTIVE);
	OK(cuStreamEndCapture(s, &g));
	OK(cuStreamIsCapturing(s, &st));
	ck_assert_int_eq(st, CU_STREAM_CAPTURE_STATUS_NONE);
	ck_assert_uint_eq(value(), 0);
	OK(cuGraphInstantiateWithFlags(&exec, g, 0));
	OK(cuGraphDestroy(g));
	OK(cuGraphLaunch(exec, s));
	OK(cuGraphLaunch(exec, s));
	OK(cuStreamSynchronize(s));
	ck_assert_uint_eq(value(), 14);
	OK(cuGraphExecDestroy(exec));
}
END_TEST

START_TEST(an_event_joins_a_second_stream_to_the_capture)
{
	CUgraphExec exec;
	CUstream a, b;
	CUevent e, back;
	CUgraph g;

	begin();
	OK(cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
	OK(cuStreamCreate(&b, CU_STREAM_NON_BLOCKING));
	OK(cuEventCreate(&e, CU_EVENT_DISABLE_TIMING));
	OK(cuEventCreate(&back, CU_EVENT_DISABLE_TIMING));
	OK(cuStreamBeginCapture_v2(a, CU_STREAM_CAPTURE_MODE_RELAXED));
	OK(cuEventRecord(e, a));
	OK(cuStreamWaitEvent(b, e, 0));
	OK(launch(b, 5));
	OK(cuEventRecord(back, b));
	OK(cuStreamWaitEvent(a, back, 0));
	FAILS(cuEventQuery(back), CUDA_ERROR_CAPTURED_EVENT);
	FAILS(cuStreamEndCapture(b, &g), CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
	OK(cuStreamEndCapture(a, &g));
	OK(launch(b, 1));
	OK(cuStreamSynchronize(b));
	ck_assert_uint_eq(value(), 1);
	OK(cuGraphInstantiateWithFlags(&exec, g, 0));
	OK(cuGraphLaunch(exec, a));
	OK(cuStreamSynchronize(a));
	ck_assert_uint_eq(value(), 6);
	OK(cuGraphDestroy(g));
	OK(cuGraphExecDestroy(exec));
}
END_TEST

/* What the driver forbids inside a capture ends it. */
START_TEST(a_capture_is_lost_by_what_is_not_permitted_in_it)
{
	CUstreamCaptureStatus st;
	CUdeviceptr p;
	CUgraph g;
	CUstream s;
	int i;

	begin();
	OK(cuStreamCreate(&s, CU_STREAM_DEFAULT));
	FAILS(cuStreamEndCapture(s, &g), CUDA_ERROR_ILLEGAL_STATE);
	for (i = 0; i < 5; i++) {
		OK(cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
		OK(launch(s, 1));
		if (i == 0)
			FAILS(cuStreamSynchronize(s), 900);
		else if (i == 1)
			FAILS(cuStreamQuery(s), 900);
		else if (i == 2)
			FAILS(cuCtxSynchronize(), 900);
		else if (i == 3)
			FAILS(cuMemAlloc_v2(&p, 64), 900);
		else
			FAILS(launch(NULL, 1), 906);
		OK(cuStreamIsCapturing(s, &st));
		ck_assert_int_eq(st, CU_STREAM_CAPTURE_STATUS_INVALIDATED);
		FAILS(launch(s, 1), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
		FAILS(cuStreamEndCapture(s, &g),
		      CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
		ck_assert_ptr_null(g);
	}
	OK(cuCtxSynchronize());
	ck_assert_uint_eq(value(), 0);
}
END_TEST

START_TEST(a_relaxed_thread_may_allocate_beside_a_capture)
{
	CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
	CUdeviceptr p;
	CUgraph g;
	CUstream s;

	begin();
	OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	OK(cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
	OK(cuThreadExchangeStreamCaptureMode(&mode));
	ck_assert_int_eq(mode, CU_STREAM_CAPTURE_MODE_GLOBAL);
	OK(cuMemAlloc_v2(&p, 64));
	OK(cuThreadExchangeStreamCaptureMode(&mode));
	OK(cuStreamEndCapture(s, &g));
	OK(cuGraphDestroy(g));
}
END_TEST

static atomic_int gate;

static void wait_for_gate(void *data)
{
	(void)data;
	while (!gate)
		sched_yield();
}

static void *in_own_stream(void *error)
{
	CUresult e = cuCtxSetCurrent(ctx);
	struct add a = { (uint32_t *)(uintptr_t)x, 2, N };
	void *params[] = { &a };

	if (!e)
		e = cuLaunchKernel_ptsz(add, 1, 1, 1, 1, 1, 1, 0, NULL, params,
					NULL);
	if (!e)
		e = cuStreamSynchronize_ptsz(NULL);
	*(CUresult *)error = e;
	return NULL;
}

/* One thread's default stream does not wait for another's. */
START_TEST(per_thread_streams_are_apart)
{
	CUresult e = CUDA_ERROR_UNKNOWN;
	pthread_t t;

	begin();
	OK(cuLaunchHostFunc_ptsz(NULL, wait_for_gate, NULL));
	FAILS(cuStreamQuery(CU_STREAM_PER_THREAD), CUDA_ERROR_NOT_READY);
	pthread_create(&t, NULL, in_own_stream, &e);
	pthread_join(t, NULL);
	OK(e);
	FAILS(cuStreamQuery_ptsz(NULL), CUDA_ERROR_NOT_READY);
	OK(cuStreamQuery(NULL));
	gate = 1;
	OK(cuStreamSynchronize_ptsz(NULL));
	OK(cuMemcpyDtoH_v2_ptds(host, x, sizeof(host)));
	ck_assert_uint_eq(host[0], 2);
}
END_TEST

START_TEST(flag_2_gives_the_per_thread_entry)
{
	void *legacy, *thread, *same;

	begin();
	OK(cuGetProcAddress_v2("cuLaunchKernel", &legacy, 13000, 0, NULL));
	OK(cuGetProcAddress_v2("cuLaunchKernel", &thread, 13000, 2, NULL));
	OK(cuGetProcAddress_v2("cuInit", &same, 13000, 2, NULL));
	ck_assert_ptr_eq(legacy, (void *)cuLaunchKernel);
	ck_assert_ptr_eq(thread, (void *)cuLaunchKernel_ptsz);
	ck_assert_ptr_eq(same, (void *)cuInit);
}
END_TEST

START_TEST(peers_are_asked_for_and_given_up)
{
	CUcontext other;
	int can = -1;

	begin();
	OK(cuDeviceCanAccessPeer(&can, 0, 1));
	ck_assert_int_eq(can, 1);
	OK(cuDeviceGetP2PAttribute(
		&can, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 0, 1));
	ck_assert_int_eq(can, 1);
	FAILS(cuDeviceCanAccessPeer(&can, 0, 2), CUDA_ERROR_INVALID_DEVICE);
	OK(cuDevicePrimaryCtxRetain(&other, 1));
	OK(cuCtxEnablePeerAccess(other, 0));
	FAILS(cuCtxEnablePeerAccess(other, 0),
	      CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
	FAILS(cuCtxEnablePeerAccess(ctx, 0), CUDA_ERROR_INVALID_DEVICE);
	OK(cuCtxDisablePeerAccess(other));
	FAILS(cuCtxDisablePeerAccess(other),
	      CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
}
END_TEST

START_TEST(memory_is_freed_in_stream_order)
{
	CUdeviceptr p, base;
	size_t n;
	CUstream s;

	begin();
	OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	OK(cuMemAllocAsync(&p, 4096, s));
	OK(cuLaunchHostFunc(s, wait_for_gate, NULL));
	OK(cuMemFreeAsync(p, s));
	OK(cuMemGetAddressRange_v2(&base, &n, p));
	ck_assert_uint_eq(n, 4096);
	gate = 1;
	OK(cuStreamSynchronize(s));
	FAILS(cuMemGetAddressRange_v2(&base, &n, p), CUDA_ERROR_NOT_FOUND);
}
END_TEST

START_TEST(a_function_tells_its_name_and_parameters)
{
	const char *name = NULL;
	size_t at, n;

	begin();
	OK(cuFuncGetName(&name, add));
	ck_assert_str_eq(name, "add");
	OK(cuFuncGetParamInfo(add, 0, &at, &n));
	ck_assert_uint_eq(n, sizeof(struct add));
	FAILS(cuFuncGetParamInfo(add, 1, &at, &n), CUDA_ERROR_INVALID_VALUE);
}
END_TEST

/* A process each: the variable is read once. */
START_TEST(a_device_is_visible_by_its_uuid)
{
	struct faultdrill_soft_identity id;
	char list[64];
	CUuuid found;
	int n;

	setenv("FAULTDRILL_HOST", "h3", 1);
	faultdrill_soft_identity(&id, "h3", 1);
	snprintf(list, sizeof(list), "GPU-%02x%02x%02x%02x-%02x%02x",
		 id.uuid[0], id.uuid[1], id.uuid[2], id.uuid[3], id.uuid[4],
		 id.uuid[5]);
	setenv("CUDA_VISIBLE_DEVICES", list, 1);
	begin();
	OK(cuDeviceGetCount(&n));
	ck_assert_int_eq(n, 1);
	OK(cuDeviceGetUuid_v2(&found, 0));
	ck_assert_mem_eq(found.bytes, id.uuid, 16);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("softcuda_graphs");
	TCase *t = tcase_create("graphs");

	tcase_set_timeout(t, 30);
	tcase_add_test(t, a_graph_does_what_was_captured_each_time);
	tcase_add_test(t, an_event_joins_a_second_stream_to_the_capture);
	tcase_add_test(t, a_capture_is_lost_by_what_is_not_permitted_in_it);
	tcase_add_test(t, a_relaxed_thread_may_allocate_beside_a_capture);
	tcase_add_test(t, per_thread_streams_are_apart);
	tcase_add_test(t, flag_2_gives_the_per_thread_entry);
	tcase_add_test(t, peers_are_asked_for_and_given_up);
	tcase_add_test(t, memory_is_freed_in_stream_order);
	tcase_add_test(t, a_function_tells_its_name_and_parameters);
	tcase_add_test(t, a_device_is_visible_by_its_uuid);
	suite_add_tcase(s, t);
	return drill_check_main(s);
}
