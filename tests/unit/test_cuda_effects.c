/* test_cuda_effects.c - errors of contexts and devices, as a program meets them
 * SPDX-License-Identifier: MIT
 *
 * Each test is a process of its own, for a process has one proxy.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check_main.h"
#include "tests/support/cuda_rig.h"

#define ECC 214

static struct drill_device_fault sticky(int error, int64_t nth)
{
	return (struct drill_device_fault){ .action = DRILL_DEVICE_STICKY,
					    .error = error, .nth = nth };
}

static struct drill_device_fault *arm_sticky(int error, int64_t nth)
{
	struct drill_device_fault f = sticky(error, nth);

	return rig_arm(&f);
}

START_TEST(nothing_armed_changes_nothing)
{
	rig_begin(1);
	OK(rig_add(NULL, 3));
	OK(cuMemcpyDtoH_v2(rig.host, rig.x, sizeof(rig.host)));
	ck_assert_uint_eq(rig.host[RIG_N - 1], 3);
	OK(cuMemFree_v2(rig.x));
	OK(cuDevicePrimaryCtxRelease_v2(0));
}
END_TEST

START_TEST(the_launch_succeeds_the_next_sync_fails_and_all_after)
{
	struct drill_device_fault *f;
	CUdeviceptr p;
	CUdevice dev;
	CUevent e;

	rig_begin(1);
	OK(cuEventCreate(&e, CU_EVENT_DEFAULT));
	f = arm_sticky(ECC, 2);
	OK(rig_add(NULL, 1));
	OK(cuCtxSynchronize());
	ck_assert_int_eq(f->state, DRILL_DEVICE_ARMED);
	OK(rig_add(NULL, 1));
	ck_assert_int_eq(f->state, DRILL_DEVICE_FIRED);
	ck_assert_int_eq(f->by_pid, getpid());
	ck_assert_int_eq(f->surfaced_ns, 0);
	OK(cuMemAlloc_v2(&p, 16)); /* does not look at the context's work */
	FAILS(cuCtxSynchronize(), ECC);
	ck_assert_uint_eq(f->surfaced_call, RIG_cuCtxSynchronize);
	ck_assert_int_ge(f->surfaced_ns, f->fired_ns);
	FAILS(cuMemAlloc_v2(&p, 16), ECC);
	FAILS(cuMemFree_v2(rig.x), ECC);
	FAILS(cuEventQuery(e), ECC);
	FAILS(cuEventDestroy_v2(e), ECC);
	FAILS(cuStreamQuery(NULL), ECC);
	FAILS(rig_add(NULL, 1), ECC);
	FAILS(cuMemcpyDtoH_v2(rig.host, rig.x, 4), ECC);
	FAILS(cuMemsetD8_v2(rig.x, 0, 4), ECC);
	FAILS(cuCtxGetDevice(&dev), ECC);
	FAILS(cuModuleGetFunction(&rig.add, rig.module, "x"), ECC);
	OK(cuDeviceGet(&dev, 0));
	ck_assert_uint_eq(f->hits, 1);
	ck_assert_uint_eq(f->returned, 11);
	ck_assert_uint_eq(f->surfaced_call, RIG_cuCtxSynchronize);
}
END_TEST

/* Whatever looks at the context's work first says it. */
START_TEST(any_call_that_looks_at_the_work_says_it)
{
	CUstream s;
	CUevent e;
	CUresult r = 0;

	rig_begin(1);
	OK(cuEventCreate(&e, CU_EVENT_DEFAULT));
	OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	arm_sticky(ECC, 1);
	OK(rig_add(s, 1));
	switch (_i) {
	case 0:
		r = cuStreamSynchronize(s);
		break;
	case 1:
		r = cuStreamQuery(s);
		break;
	case 2:
		r = cuEventSynchronize(e);
		break;
	case 3:
		r = cuEventQuery(e);
		break;
	case 4:
		r = cuMemcpyDtoH_v2(rig.host, rig.x, 4);
		break;
	case 5:
		r = cuMemcpyHtoDAsync_v2(rig.x, rig.host, 4, s);
		break;
	case 6:
		r = cuMemsetD32Async(rig.x, 0, 4, s);
		break;
	case 7:
		r = rig_add(s, 1);
		break;
	case 8:
		r = cuMemFree_v2(rig.x);
		break;
	case 9:
		r = cuMemFreeAsync(rig.x, s);
		break;
	case 10:
		r = cuEventRecord(e, s);
		break;
	case 11:
		r = cuLaunchHostFunc(s, (CUhostFn)(void *)rig_page, NULL);
		break;
	}
	FAILS(r, ECC);
	FAILS(cuCtxSynchronize(), ECC);
}
END_TEST

START_TEST(another_context_of_the_process_goes_on)
{
	CUcontext second, popped;
	CUdeviceptr p;

	rig_begin(2);
	OK(cuCtxCreate_v2(&second, 0, 1));
	OK(cuMemAlloc_v2(&p, 16));
	OK(cuCtxPopCurrent_v2(&popped));
	arm_sticky(700, 1);
	OK(rig_add(NULL, 1));
	FAILS(cuCtxSynchronize(), 700);
	OK(cuCtxPushCurrent_v2(second));
	OK(cuCtxSynchronize());
	OK(cuMemFree_v2(p));
	OK(cuCtxDestroy_v2(second));
	FAILS(cuCtxSynchronize(), 700);
}
END_TEST

/* 700 wants the process relaunched; 214 wants another context. */
START_TEST(a_new_context_works_unless_the_process_is_lost)
{
	CUcontext again;
	int error = _i ? 700 : ECC;

	rig_begin(2);
	arm_sticky(error, 1);
	OK(rig_add(NULL, 1));
	FAILS(cuCtxSynchronize(), error);
	FAILS(cuDevicePrimaryCtxReset_v2(0), error);
	OK(cuDevicePrimaryCtxRelease_v2(0));
	if (_i) {
		FAILS(cuDevicePrimaryCtxRetain(&again, 0), 700);
		FAILS(cuCtxCreate_v2(&again, 0, 0), 700);
		OK(cuCtxCreate_v2(&again, 0, 1));
	} else {
		OK(cuDevicePrimaryCtxRetain(&again, 0));
		OK(cuCtxSetCurrent(again));
		OK(cuCtxSynchronize());
	}
}
END_TEST

START_TEST(only_the_named_kernel_counts)
{
	struct drill_device_fault f = sticky(719, 2), *armed;

	rig_begin(1);
	strcpy(f.kernel, "multiply");
	armed = rig_arm(&f);
	OK(rig_add(NULL, 1));
	OK(rig_mul(NULL));
	OK(rig_add(NULL, 1));
	OK(cuCtxSynchronize());
	OK(rig_mul(NULL));
	FAILS(cuCtxSynchronize(), 719);
	ck_assert_uint_eq(armed->matched, 2);
}
END_TEST

START_TEST(a_fault_of_another_device_or_rank_is_not_ours)
{
	struct drill_device_fault f = sticky(ECC, 1);

	setenv("FAULTDRILL_RANK", "3", 1);
	rig_begin(2);
	f.device = 1;
	rig_arm(&f);
	f = sticky(ECC, 1);
	f.rank = 2;
	rig_arm(&f);
	f = sticky(ECC, 1);
	f.attempt = 2;
	rig_arm(&f);
	OK(rig_add(NULL, 1));
	OK(cuCtxSynchronize());
	f.attempt = 0;
	f.rank = 3;
	rig_arm(&f);
	OK(rig_add(NULL, 1));
	FAILS(cuCtxSynchronize(), ECC);
}
END_TEST

/* ---- any entry point ---- */

START_TEST(a_named_call_returns_the_error_at_its_nth_and_every)
{
	struct drill_device_fault f = { .action = DRILL_DEVICE_RETURN,
					.call = RIG_cuStreamCreate,
					.error = 304, .nth = 2, .every = 3 };
	struct drill_device_fault *armed;
	CUstream s;
	int i;

	rig_begin(1);
	armed = rig_arm(&f);
	for (i = 1; i <= 8; i++)
		FAILS(cuStreamCreate(&s, 0), i == 2 || i == 5 || i == 8 ? 304 :
									  0);
	ck_assert_uint_eq(armed->hits, 3);
	ck_assert_uint_eq(armed->returned, 3);
	ck_assert_uint_eq(armed->surfaced_call, RIG_cuStreamCreate);
	OK(cuCtxSynchronize());
}
END_TEST

CUresult cuStreamSynchronize_ptsz(CUstream s);

/* A call is met by whichever entry a program was built to come; an entry that is
 * told from the others by itself alone. */
START_TEST(a_call_is_all_its_entries_unless_one_is_named)
{
	struct drill_device_fault f = { .action = DRILL_DEVICE_RETURN,
					.call = RIG_cuStreamSynchronize,
					.error = 304, .nth = 2, .family = 1 };
	struct drill_device_fault *armed;

	rig_begin(1);
	f.family = _i == 0;
	armed = rig_arm(&f);
	OK(cuStreamSynchronize_ptsz(NULL));
	FAILS(cuStreamSynchronize(NULL), _i ? 0 : 304);
	OK(cuStreamSynchronize_ptsz(NULL));
	FAILS(cuStreamSynchronize(NULL), _i ? 304 : 0);
	ck_assert_uint_eq(armed->hits, 1);
	ck_assert_uint_eq(armed->surfaced_call, RIG_cuStreamSynchronize);
}
END_TEST

START_TEST(a_count_bounds_the_hits)
{
	struct drill_device_fault f = { .action = DRILL_DEVICE_RETURN,
					.call = RIG_cuDeviceGetCount,
					.error = 1, .nth = 1, .every = 1,
					.count = 2 };
	int i, n;

	rig_begin(1);
	rig_arm(&f);
	for (i = 1; i <= 4; i++)
		FAILS(cuDeviceGetCount(&n), i <= 2 ? 1 : 0);
}
END_TEST

static uint32_t draws(uint32_t seed)
{
	struct drill_device_fault f = { .action = DRILL_DEVICE_RETURN,
					.call = RIG_cuCtxGetFlags, .error = 1,
					.nth = 1, .every = 1, .ppm = 500000,
					.seed = seed }, *armed = rig_arm(&f);
	uint32_t bits = 0;
	unsigned int flags;
	int i;

	for (i = 0; i < 32; i++)
		bits = bits << 1 | (cuCtxGetFlags(&flags) != 0);
	rig_disarm(armed);
	return bits;
}

START_TEST(a_seed_repeats_its_draws)
{
	uint32_t a;

	rig_begin(1);
	a = draws(7);
	ck_assert_uint_ne(a, 0);
	ck_assert_uint_ne(~a, 0);
	ck_assert_uint_eq(draws(7), a);
	ck_assert_uint_ne(draws(8), a);
}
END_TEST

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

START_TEST(a_call_is_delayed_and_still_made)
{
	struct drill_device_fault f = { .action = DRILL_DEVICE_DELAY,
					.call = RIG_cuMemAlloc_v2, .nth = 1,
					.delay_ns = 30000000 }, *armed;
	CUdeviceptr p;
	int64_t t;

	rig_begin(1);
	armed = rig_arm(&f);
	t = now_ns();
	OK(cuMemAlloc_v2(&p, 64));
	ck_assert_int_ge(now_ns() - t, 30000000);
	ck_assert_int_ge(armed->added_ns, 30000000);
	OK(cuMemFree_v2(p));
}
END_TEST

START_TEST(a_sticky_error_of_a_named_call_that_waits_is_said_by_it)
{
	struct drill_device_fault f = sticky(719, 2);

	rig_begin(1);
	f.call = RIG_cuMemcpyDtoH_v2;
	rig_arm(&f);
	OK(cuMemcpyDtoH_v2(rig.host, rig.x, 4));
	FAILS(cuMemcpyDtoH_v2(rig.host, rig.x, 4), 719);
	FAILS(cuMemcpyDtoH_v2(rig.host, rig.x, 4), 719);
}
END_TEST

/* ---- processes and threads ---- */

START_TEST(a_child_of_a_process_with_a_driver_is_not_initialized)
{
	int status;
	pid_t pid;

	rig_begin(1);
	arm_sticky(ECC, 1);
	pid = fork();
	if (!pid)
		_exit(cuCtxSynchronize() == 3 && rig_add(NULL, 1) == 3 &&
			      cuInit(0) == 3 ? 0 : 1);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	OK(rig_add(NULL, 1));
	FAILS(cuCtxSynchronize(), ECC);
}
END_TEST

#define THREADS 16

static atomic_int errors, successes;

static void *hammer(void *arg)
{
	CUdeviceptr x;
	CUstream s;
	int i;

	(void)arg;
	cuCtxSetCurrent(rig.ctx);
	if (cuStreamCreate(&s, CU_STREAM_NON_BLOCKING) ||
	    cuMemAlloc_v2(&x, sizeof(rig.host)))
		return NULL;
	for (i = 0; i < 40; i++) {
		if (rig_add_to(s, x, 1) || cuStreamQuery(s) == ECC ||
		    cuStreamSynchronize(s))
			errors++;
		else
			successes++;
	}
	return NULL;
}

START_TEST(sixteen_threads_meet_one_error)
{
	struct drill_device_fault *f;
	pthread_t t[THREADS];
	int i;

	rig_begin(1);
	f = arm_sticky(ECC, 100);
	for (i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, hammer, NULL);
	for (i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	ck_assert_int_gt(successes, 0);
	ck_assert_int_gt(errors, 0);
	ck_assert_uint_eq(f->hits, 1);
	FAILS(cuCtxSynchronize(), ECC);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("cuda_effects");
	TCase *t = tcase_create("errors");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, NULL, rig_end);
	tcase_add_test(t, nothing_armed_changes_nothing);
	tcase_add_test(t, the_launch_succeeds_the_next_sync_fails_and_all_after);
	tcase_add_loop_test(t, any_call_that_looks_at_the_work_says_it, 0, 12);
	tcase_add_test(t, another_context_of_the_process_goes_on);
	tcase_add_loop_test(t, a_new_context_works_unless_the_process_is_lost, 0, 2);
	tcase_add_test(t, only_the_named_kernel_counts);
	tcase_add_test(t, a_fault_of_another_device_or_rank_is_not_ours);
	tcase_add_test(t, a_named_call_returns_the_error_at_its_nth_and_every);
	tcase_add_loop_test(t, a_call_is_all_its_entries_unless_one_is_named, 0,
			    2);
	tcase_add_test(t, a_count_bounds_the_hits);
	tcase_add_test(t, a_seed_repeats_its_draws);
	tcase_add_test(t, a_call_is_delayed_and_still_made);
	tcase_add_test(t, a_sticky_error_of_a_named_call_that_waits_is_said_by_it);
	tcase_add_test(t, a_child_of_a_process_with_a_driver_is_not_initialized);
	tcase_add_test(t, sixteen_threads_meet_one_error);
	suite_add_tcase(s, t);
	return drill_check_main(s);
}
