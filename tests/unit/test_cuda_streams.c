/* test_cuda_streams.c - faults in the order of a stream: hang, slow, bit flips
 * SPDX-License-Identifier: MIT
 *
 * And what they do, or rather do not do, to a stream that is captured.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "check_main.h"
#include "tests/support/cuda_rig.h"

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static struct drill_device_fault *arm(uint32_t action, int64_t nth)
{
	struct drill_device_fault f = { .action = action, .nth = nth,
					.error = 214, .count = 0 };

	return rig_arm(&f);
}

/* ---- hang ---- */

static atomic_int synced = CUDA_ERROR_UNKNOWN;

static void *sync_it(void *stream)
{
	CUresult e = cuCtxSetCurrent(rig.ctx);

	synced = e ? e : stream ? cuStreamSynchronize(stream) :
				  cuCtxSynchronize();
	return NULL;
}

static void wait_for_waiter(const struct drill_device_fault *f, uint32_t n)
{
	while (atomic_load(&f->waiting) != n)
		sched_yield();
}

/* In the stream that hangs, and in the context that has it. */
START_TEST(a_kernel_that_never_ends_blocks_who_waits_for_it)
{
	struct drill_device_fault *f;
	CUstream s, beside;
	pthread_t t;
	CUevent e;

	rig_begin(1);
	OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	OK(cuStreamCreate(&beside, CU_STREAM_NON_BLOCKING));
	OK(cuEventCreate(&e, CU_EVENT_DEFAULT));
	f = arm(DRILL_DEVICE_HANG, 2);
	OK(rig_add(s, 1));
	OK(cuStreamSynchronize(s));
	OK(rig_add(s, 1));
	OK(cuEventRecord(e, s));
	FAILS(cuStreamQuery(s), CUDA_ERROR_NOT_READY);
	FAILS(cuEventQuery(e), CUDA_ERROR_NOT_READY);
	FAILS(cuStreamQuery(s), CUDA_ERROR_NOT_READY);
	OK(rig_mul(beside));
	OK(cuStreamSynchronize(beside));
	ck_assert_uint_eq(f->waiting, 0);
	pthread_create(&t, NULL, sync_it, _i ? NULL : s);
	wait_for_waiter(f, 1);
	ck_assert_int_ne(f->surfaced_ns, 0);
	ck_assert_int_eq(synced, CUDA_ERROR_UNKNOWN);
	rig_disarm(f);
	pthread_join(t, NULL);
	OK(synced);
	ck_assert_uint_eq(f->waiting, 0);
	OK(cuEventQuery(e));
	OK(cuMemcpyDtoH_v2(rig.host, rig.x, sizeof(rig.host)));
	ck_assert_uint_eq(rig.host[0], 2);
	ck_assert_uint_eq(rig.page->lines, 0);
}
END_TEST

START_TEST(another_context_does_not_hang)
{
	struct drill_device_fault *f;
	CUcontext other;
	CUdeviceptr p;

	rig_begin(2);
	f = arm(DRILL_DEVICE_HANG, 1);
	OK(rig_add(NULL, 1));
	FAILS(cuStreamQuery(NULL), CUDA_ERROR_NOT_READY);
	OK(cuCtxCreate_v2(&other, 0, 1));
	OK(cuMemAlloc_v2(&p, 64));
	OK(cuMemsetD32_v2(p, 1, 16));
	OK(cuCtxSynchronize());
	OK(cuMemFree_v2(p));
	rig_disarm(f);
	OK(cuCtxSetCurrent(rig.ctx));
	OK(cuCtxSynchronize());
}
END_TEST

static void *launch_in_own(void *hung)
{
	struct drill_device_fault *f = hung;
	void *params[] = { rig.host };
	CUresult e = cuCtxSetCurrent(rig.ctx);

	if (!e)
		e = cuLaunchKernel_ptsz(rig.slow, 1, 1, 1, 1, 1, 1, 0, NULL,
					params, NULL);
	if (!e)
		e = cuStreamQuery_ptsz(NULL);
	synced = e;
	wait_for_waiter(f, 1);
	rig_disarm(f);
	return NULL;
}

/* One thread's default stream hangs, the other's does not. */
START_TEST(per_thread_streams_hang_apart)
{
	struct drill_device_fault *f;
	pthread_t t;

	rig_begin(1);
	f = arm(DRILL_DEVICE_HANG, 1);
	pthread_create(&t, NULL, launch_in_own, f);
	while (synced == CUDA_ERROR_UNKNOWN)
		sched_yield();
	FAILS(synced, CUDA_ERROR_NOT_READY);
	OK(cuMemsetD32Async_ptsz(rig.x, 9, RIG_N, NULL));
	OK(cuStreamSynchronize_ptsz(NULL));
	OK(cuCtxSynchronize());
	pthread_join(t, NULL);
}
END_TEST

/* ---- slow ---- */

static int64_t time_slow(CUstream s)
{
	int64_t t = now_ns();

	OK(rig_slow(s));
	OK(cuStreamSynchronize(s));
	return now_ns() - t;
}

/* The kernel takes 20 ms in the pace model. */
START_TEST(kernels_take_longer_by_a_factor_that_may_change)
{
	struct drill_device_fault f = { .action = DRILL_DEVICE_SLOW, .nth = 1,
					.factor_ppm = 2500000 }, *armed;
	CUstream s = NULL;
	int64_t added;

	rig_begin(1);
	if (_i)
		OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	armed = rig_arm(&f);
	ck_assert_int_ge(time_slow(s), 49000000);
	ck_assert_int_ge(armed->added_ns, 29000000);
	armed->factor_ppm = 4000000;
	ck_assert_int_ge(time_slow(s), 79000000);
	armed->factor_ppm = 1000000;
	added = armed->added_ns;
	time_slow(s);
	ck_assert_int_eq(armed->added_ns, added);
	armed->factor_ppm = 100000000; /* 2 s */
	rig_disarm(armed);
	ck_assert_int_lt(time_slow(s), 1500000000);
}
END_TEST

/* The host is not held up: only the stream is. */
START_TEST(a_slow_launch_returns_at_once)
{
	struct drill_device_fault f = { .action = DRILL_DEVICE_SLOW, .nth = 1,
					.factor_ppm = 5000000 };
	int64_t t;

	rig_begin(1);
	rig_arm(&f);
	t = now_ns();
	OK(rig_slow(NULL));
	FAILS(cuStreamQuery(NULL), CUDA_ERROR_NOT_READY);
	OK(cuCtxSynchronize());
	ck_assert_int_ge(now_ns() - t, 99000000);
}
END_TEST

/* ---- bits ---- */

static int count_bits(CUdeviceptr from, uint32_t expected, uint64_t *first)
{
	int n = 0;

	OK(cuMemcpyDtoH_v2(rig.host, from, sizeof(rig.host)));
	for (int i = RIG_N - 1; i >= 0; i--)
		for (int b = 31; b >= 0; b--)
			if ((rig.host[i] ^ expected) >> b & 1) {
				*first = 32 * (uint64_t)i + (uint64_t)b;
				n++;
			}
	return n;
}

static struct drill_device_fault flip(uint32_t where, int64_t nth)
{
	return (struct drill_device_fault){ .action = DRILL_DEVICE_FLIP,
					    .flip_where = where, .nth = nth,
					    .bits = 1, .seed = 42 };
}

/* x is read and y is written: only y can be hit. */
START_TEST(the_output_of_the_nth_kernel_is_flipped_where_it_says)
{
	struct drill_device_fault f = flip(DRILL_FLIP_OUTPUT, 2), *armed;
	uint64_t bit = 0;

	rig_begin(1);
	f.seed = 100 + (uint32_t)_i;
	strcpy(f.kernel, "multiply");
	armed = rig_arm(&f);
	OK(rig_add(NULL, 3));
	OK(rig_mul(NULL));
	ck_assert_int_eq(count_bits(rig.y, 21, &bit), 0);
	OK(cuMemsetD32_v2(rig.y, 0, RIG_N));
	OK(rig_mul(NULL));
	ck_assert_int_eq(count_bits(rig.y, 21, &bit), 1);
	ck_assert_uint_eq(armed->sites, 1);
	ck_assert_uint_eq(armed->site[0].address, rig.y);
	ck_assert_uint_eq(armed->site[0].size, sizeof(rig.host));
	ck_assert_uint_eq(armed->site[0].bit, bit);
	ck_assert_int_ne(armed->surfaced_ns, 0);
	ck_assert_int_eq(count_bits(rig.x, 3, &bit), 0);
	OK(rig_mul(NULL));
	ck_assert_int_eq(count_bits(rig.y, 21, &bit), 0);
}
END_TEST

START_TEST(many_bits_are_many_places)
{
	struct drill_device_fault f = flip(DRILL_FLIP_OUTPUT, 1), *armed;
	uint64_t bit = 0;

	rig_begin(1);
	f.bits = 9;
	armed = rig_arm(&f);
	OK(rig_add(NULL, 1));
	ck_assert_int_eq(count_bits(rig.x, 1, &bit), 9);
	ck_assert_uint_eq(armed->sites, 9);
}
END_TEST

/* In either allocation that the kernel has to do with. */
START_TEST(memory_is_flipped_before_the_kernel_runs)
{
	struct drill_device_fault f = flip(DRILL_FLIP_MEMORY, 1), *armed;
	uint64_t x = 0, y = 0;
	int in_x, in_y;

	rig_begin(1);
	f.seed = 7 + (uint32_t)_i;
	armed = rig_arm(&f);
	OK(rig_add(NULL, 0));
	in_x = count_bits(rig.x, 0, &x);
	in_y = count_bits(rig.y, 0, &y);
	ck_assert_int_eq(in_x + in_y, 1);
	ck_assert_uint_eq(armed->sites, 1);
	ck_assert_uint_eq(armed->site[0].address, in_x ? rig.x : rig.y);
	ck_assert_uint_eq(armed->site[0].bit, in_x ? x : y);
}
END_TEST

static uint32_t source[RIG_N];

static CUresult copy_by(int way, CUstream s)
{
	switch (way) {
	case 0:
		return cuMemcpyHtoD_v2(rig.x, source, sizeof(source));
	case 1:
		return cuMemcpyHtoDAsync_v2(rig.x, source, sizeof(source), s);
	case 2:
		return cuMemcpyDtoD_v2(rig.x, rig.y, sizeof(source));
	case 3:
		return cuMemcpyDtoDAsync_v2(rig.x, rig.y, sizeof(source), s);
	case 4:
		return cuMemcpyHtoD_v2_ptds(rig.x, source, sizeof(source));
	default:
		return cuMemcpyPeerAsync(rig.x, rig.ctx, rig.y, rig.ctx,
					 sizeof(source), s);
	}
}

START_TEST(a_copy_delivers_a_wrong_bit)
{
	struct drill_device_fault f = flip(DRILL_FLIP_COPY, 2), *armed;
	uint64_t bit = 0;
	CUstream s;

	rig_begin(1);
	OK(cuStreamCreate(&s, CU_STREAM_DEFAULT));
	armed = rig_arm(&f);
	OK(copy_by(_i, s));
	OK(cuCtxSynchronize());
	ck_assert_uint_eq(armed->sites, 0);
	OK(copy_by(_i, s));
	OK(cuCtxSynchronize());
	ck_assert_uint_eq(armed->sites, 1);
	ck_assert_int_eq(count_bits(rig.x, 0, &bit), 1);
	ck_assert_uint_eq(armed->site[0].bit, bit);
	ck_assert_uint_eq(armed->site[0].address, rig.x);
}
END_TEST

/* To the host, where the copy's caller finds it. */
START_TEST(a_copy_to_the_host_delivers_a_wrong_bit)
{
	struct drill_device_fault f = flip(DRILL_FLIP_COPY, 1), *armed;
	uint64_t bit = 0;
	int n = 0, i, b;

	rig_begin(1);
	armed = rig_arm(&f);
	if (_i)
		OK(cuMemcpyDtoHAsync_v2(source, rig.x, sizeof(source), NULL));
	else
		OK(cuMemcpyDtoH_v2(source, rig.x, sizeof(source)));
	OK(cuCtxSynchronize());
	for (i = 0; i < RIG_N; i++)
		for (b = 0; b < 32; b++)
			if (source[i] >> b & 1) {
				bit = 32 * (uint64_t)i + (uint64_t)b;
				n++;
			}
	ck_assert_int_eq(n, 1);
	ck_assert_uint_eq(armed->site[0].bit, bit);
	ck_assert_uint_eq(armed->site[0].address, (uintptr_t)source);
}
END_TEST

START_TEST(a_seed_repeats_its_places)
{
	struct drill_device_fault f = flip(DRILL_FLIP_OUTPUT, 1), *armed;
	uint64_t place[3];

	rig_begin(1);
	for (int i = 0; i < 3; i++) {
		f.seed = i == 2 ? 5 : 4;
		armed = rig_arm(&f);
		OK(rig_add(NULL, 1));
		OK(cuCtxSynchronize());
		place[i] = armed->site[0].bit;
		rig_disarm(armed);
	}
	ck_assert_uint_eq(place[0], place[1]);
	ck_assert_uint_ne(place[0], place[2]);
}
END_TEST

/* ---- captures ---- */

/* A sick context lets nobody destroy it: it stays where a checker of leaks
 * finds it. */
static CUgraphExec exec;

static void capture(CUstream s, int launches)
{
	CUgraph g;

	OK(cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
	while (launches--)
		OK(rig_add(s, 1));
	OK(cuStreamEndCapture(s, &g));
	OK(cuGraphInstantiateWithFlags(&exec, g, 0));
	OK(cuGraphDestroy(g));
}

/* What is captured does not run: it is no launch, and no fault's business. */
START_TEST(a_captured_stream_is_left_alone)
{
	static const uint32_t actions[] = { DRILL_DEVICE_STICKY,
					    DRILL_DEVICE_HANG,
					    DRILL_DEVICE_SLOW,
					    DRILL_DEVICE_FLIP };
	struct drill_device_fault f = { .action = actions[_i], .nth = 1,
					.factor_ppm = 2000000, .error = 214,
					.flip_where = DRILL_FLIP_OUTPUT };
	struct drill_device_fault *armed;
	CUstream s;

	rig_begin(1);
	OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	armed = rig_arm(&f);
	capture(s, 2);
	ck_assert_uint_eq(armed->skipped_capture, 2);
	ck_assert_uint_eq(armed->hits, 0);
	ck_assert_int_eq(armed->state, DRILL_DEVICE_ARMED);
	if (_i == 3)
		return; /* a graph's kernels do not say what they write */
	OK(cuGraphLaunch(exec, s));
	ck_assert_uint_eq(armed->hits, 1);
	if (_i == 0)
		FAILS(cuStreamSynchronize(s), 214);
	if (_i == 1)
		FAILS(cuStreamQuery(s), CUDA_ERROR_NOT_READY);
	rig_disarm(armed);
}
END_TEST

START_TEST(an_error_inside_a_capture_is_its_end)
{
	struct drill_device_fault f = { .action = DRILL_DEVICE_RETURN,
					.nth = 2, .error = 701 };
	CUstreamCaptureStatus st;
	CUgraph g = NULL;
	CUstream s;

	rig_begin(1);
	OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	rig_arm(&f);
	OK(cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
	OK(rig_add(s, 1));
	FAILS(rig_add(s, 1), 701);
	OK(cuStreamIsCapturing(s, &st));
	ck_assert_int_eq(st, CU_STREAM_CAPTURE_STATUS_INVALIDATED);
	FAILS(rig_add(s, 1), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
	FAILS(cuStreamEndCapture(s, &g), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
	ck_assert_ptr_null(g);
	capture(s, 2);
	OK(rig_add(s, 1));
	OK(cuStreamSynchronize(s));
}
END_TEST

/* Work from before the capture fails while it lasts. */
START_TEST(a_sticky_error_comes_up_inside_a_capture)
{
	CUgraph g = NULL;
	CUstream s;

	rig_begin(1);
	OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	arm(DRILL_DEVICE_STICKY, 1);
	OK(rig_add(s, 1));
	OK(cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
	FAILS(rig_add(s, 1), 214);
	FAILS(cuStreamEndCapture(s, &g), 214);
	ck_assert_ptr_null(g);
	FAILS(cuStreamSynchronize(s), 214);
}
END_TEST

/* Another stream may hang meanwhile: the capture goes on. */
START_TEST(a_fault_beside_a_capture_does_not_harm_it)
{
	struct drill_device_fault *f;
	CUstream s, beside;
	CUgraph g;

	rig_begin(1);
	OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	OK(cuStreamCreate(&beside, CU_STREAM_NON_BLOCKING));
	f = arm(DRILL_DEVICE_HANG, 1);
	OK(cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
	OK(rig_add(s, 1));
	OK(rig_mul(beside));
	ck_assert_uint_eq(f->hits, 1);
	OK(rig_add(s, 1));
	OK(cuStreamEndCapture(s, &g));
	OK(cuGraphInstantiateWithFlags(&exec, g, 0));
	OK(cuGraphDestroy(g));
	rig_disarm(f);
	OK(cuGraphLaunch(exec, s));
	OK(cuCtxSynchronize());
}
END_TEST

/* ---- threads ---- */

#define THREADS 16

static void *work(void *arg)
{
	CUdeviceptr x, y;
	CUstream s;

	(void)arg;
	cuCtxSetCurrent(rig.ctx);
	if (cuStreamCreate(&s, CU_STREAM_NON_BLOCKING) ||
	    cuMemAlloc_v2(&x, sizeof(rig.host)) ||
	    cuMemAlloc_v2(&y, sizeof(rig.host)))
		return NULL;
	for (int i = 0; i < 20; i++) {
		rig_add_to(s, x, 1);
		rig_mul_to(s, y, x);
		cuStreamSynchronize(s);
	}
	return NULL;
}

START_TEST(sixteen_threads_are_slowed_flipped_and_delayed)
{
	struct drill_device_fault f = { .action = DRILL_DEVICE_SLOW, .nth = 1,
					.factor_ppm = 1100000 }, *slow;
	pthread_t t[THREADS];

	setenv("FAULTDRILL_PACE", "off", 1);
	rig_begin(1);
	slow = rig_arm(&f);
	f = flip(DRILL_FLIP_OUTPUT, 20);
	f.every = 37;
	strcpy(f.kernel, "multiply");
	rig_arm(&f);
	f = (struct drill_device_fault){ .action = DRILL_DEVICE_DELAY,
					 .nth = 10, .every = 10,
					 .delay_ns = 100000 };
	rig_arm(&f);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, work, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	OK(cuCtxSynchronize());
	ck_assert_int_gt(slow->added_ns, 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("cuda_streams");
	TCase *t = tcase_create("streams");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, NULL, rig_end);
	tcase_add_loop_test(t, a_kernel_that_never_ends_blocks_who_waits_for_it,
			    0, 2);
	tcase_add_test(t, another_context_does_not_hang);
	tcase_add_test(t, per_thread_streams_hang_apart);
	tcase_add_loop_test(t, kernels_take_longer_by_a_factor_that_may_change,
			    0, 2);
	tcase_add_test(t, a_slow_launch_returns_at_once);
	tcase_add_loop_test(
		t, the_output_of_the_nth_kernel_is_flipped_where_it_says, 0, 8);
	tcase_add_test(t, many_bits_are_many_places);
	tcase_add_loop_test(t, memory_is_flipped_before_the_kernel_runs, 0, 8);
	tcase_add_loop_test(t, a_copy_delivers_a_wrong_bit, 0, 6);
	tcase_add_loop_test(t, a_copy_to_the_host_delivers_a_wrong_bit, 0, 2);
	tcase_add_test(t, a_seed_repeats_its_places);
	tcase_add_loop_test(t, a_captured_stream_is_left_alone, 0, 4);
	tcase_add_test(t, an_error_inside_a_capture_is_its_end);
	tcase_add_test(t, a_sticky_error_comes_up_inside_a_capture);
	tcase_add_test(t, a_fault_beside_a_capture_does_not_harm_it);
	tcase_add_test(t, sixteen_threads_are_slowed_flipped_and_delayed);
	suite_add_tcase(s, t);
	return drill_check_main(s);
}
