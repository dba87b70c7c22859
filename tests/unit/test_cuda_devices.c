/* test_cuda_devices.c - devices that fail, are absent, full or without peers
 * SPDX-License-Identifier: MIT
 *
 * Each test is a process of its own, for a process has one proxy.
 */
#include <string.h>
#include <sys/wait.h>
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

static struct drill_device_fault uncontained(void)
{
	struct drill_device_fault f = sticky(ECC, 1);

	f.steps = 1;
	f.step[0] = (struct drill_device_step){
		.xid = 95,
		.health = DRILL_DEVICE_RESET_REQUIRED,
		.context_error = 46,
		.running_error = ECC,
		.text = "pid=%p, name=%n, Uncontained",
	};
	return f;
}

static struct drill_device_fault *arm_uncontained(void)
{
	struct drill_device_fault f = uncontained();

	return rig_arm(&f);
}

/* A second process, told by a byte when to look, which answers by a byte. */
static int look[2], seen[2];

static pid_t second_process(CUresult expected, CUdevice dev)
{
	pid_t pid;
	char b;

	ck_assert(!pipe(look) && !pipe(seen));
	pid = fork();
	if (pid)
		return pid;
	rig_start_program();
	if (dev) {
		OK(cuDevicePrimaryCtxRetain(&rig.ctx, dev));
		OK(cuCtxSetCurrent(rig.ctx));
	}
	ck_assert_int_eq(write(seen[1], "r", 1), 1);
	ck_assert_int_eq(read(look[0], &b, 1), 1);
	_exit(cuCtxSynchronize() == expected ? 0 : 1);
}

static void end_second(pid_t pid)
{
	int status;

	ck_assert_int_eq(write(look[1], "l", 1), 1);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}

/* Contained, uncontained, and uncontained on another device. */
START_TEST(another_process_fails_only_if_uncontained)
{
	struct drill_device_fault f = _i ? uncontained() : sticky(ECC, 1);
	pid_t pid;
	char b;

	f.count = 1;
	rig_page(2);
	pid = second_process(_i == 1 ? ECC : CUDA_SUCCESS, _i == 2);
	ck_assert_int_eq(read(seen[0], &b, 1), 1);
	rig_start_program();
	rig_arm(&f);
	OK(rig_add(NULL, 1));
	FAILS(cuStreamSynchronize(NULL), ECC);
	end_second(pid);
}
END_TEST

START_TEST(a_reset_heals_contexts_to_come_and_no_others)
{
	struct drill_device_fault *f;
	CUcontext ctx;

	rig_begin(1);
	f = arm_uncontained();
	OK(rig_add(NULL, 1));
	ck_assert_uint_eq(rig.page->lines, 1);
	FAILS(cuCtxSynchronize(), ECC);
	FAILS(cuCtxCreate_v2(&ctx, 0, 0), 46);
	drill_device_reset(rig.page, 0);
	FAILS(cuCtxSynchronize(), ECC);
	OK(cuCtxCreate_v2(&ctx, 0, 0));
	OK(cuCtxSynchronize());
	OK(cuCtxSetCurrent(rig.ctx));
	FAILS(cuCtxSynchronize(), ECC);
	ck_assert_int_eq(f->surfaced_call, RIG_cuCtxSynchronize);
}
END_TEST

/* The fault still stands there; the device is well again. */
START_TEST(a_process_that_starts_after_the_reset_goes_on)
{
	int status;
	pid_t pid;

	rig_page(1);
	arm_uncontained();
	for (int i = 0; i < 2; i++) {
		pid = fork();
		if (!pid) {
			rig_start_program();
			OK(rig_add(NULL, 1));
			_exit(cuCtxSynchronize() == (i ? 0 : ECC) ? 0 : 1);
		}
		ck_assert_int_eq(waitpid(pid, &status, 0), pid);
		ck_assert_int_eq(status, 0);
		drill_device_reset(rig.page, 0);
	}
}
END_TEST

/* It did not look while the device was broken. */
START_TEST(a_context_does_not_survive_the_reset_it_slept_through)
{
	struct drill_device_fault f = uncontained(), *armed;

	rig_begin(1);
	f.action = DRILL_DEVICE_NOTHING;
	armed = rig_arm(&f);
	rig_fire(armed);
	drill_device_reset(rig.page, 0);
	FAILS(cuCtxSynchronize(), CUDA_ERROR_UNKNOWN);
}
END_TEST

static void set_health(int device, uint32_t health)
{
	atomic_store(&rig.page->device[device].health, health);
}

START_TEST(a_new_context_gets_what_its_device_is)
{
	CUcontext ctx;

	rig_page(3);
	OK(cuInit(0));
	set_health(0, DRILL_DEVICE_LOST);
	set_health(1, DRILL_DEVICE_RESET_REQUIRED);
	set_health(2, DRILL_DEVICE_GONE);
	FAILS(cuDevicePrimaryCtxRetain(&ctx, 0), 999);
	FAILS(cuDevicePrimaryCtxRetain(&ctx, 1), 46);
	FAILS(cuCtxCreate_v2(&ctx, 0, 2), 100);
	atomic_store(&rig.page->device[0].context_error, 719);
	FAILS(cuCtxCreate_v2(&ctx, 0, 0), 719);
	set_health(1, DRILL_DEVICE_OK);
	OK(cuDevicePrimaryCtxRetain(&ctx, 1));
}
END_TEST

START_TEST(what_the_agent_fired_meets_the_process_at_its_next_look)
{
	struct drill_device_fault *f;

	rig_begin(1);
	OK(rig_add(NULL, 1));
	f = arm_sticky(ECC, 0);
	rig_fire(f);
	FAILS(cuStreamSynchronize(NULL), ECC);
	FAILS(cuStreamSynchronize(NULL), ECC);
	ck_assert_uint_eq(f->hits, 1);
	ck_assert_int_eq(f->by_pid, 4711);
}
END_TEST

/* ---- absent devices ---- */

static void expect_device(CUdevice dev, int index)
{
	CUuuid uuid;

	OK(cuDeviceGetUuid_v2(&uuid, dev));
	ck_assert_mem_eq(uuid.bytes, rig.page->device[index].uuid, 16);
}

START_TEST(an_absent_device_shifts_those_behind_it)
{
	struct drill_device_fault f = { .action = DRILL_DEVICE_ABSENT,
					.error = 100 };
	int n;

	rig_page(4);
	f.device = 1;
	if (_i == 1)
		setenv("CUDA_VISIBLE_DEVICES", "2,1", 1);
	if (_i == 2)
		setenv("CUDA_VISIBLE_DEVICES", "1,3,0", 1);
	rig_arm(&f);
	OK(cuInit(0));
	OK(cuDeviceGetCount(&n));
	switch (_i) {
	case 0: /* 0 2 3 are left */
		ck_assert_int_eq(n, 3);
		expect_device(0, 0);
		expect_device(1, 2);
		expect_device(2, 3);
		ck_assert_ptr_null(getenv("CUDA_VISIBLE_DEVICES"));
		break;
	case 1:
		ck_assert_int_eq(n, 2);
		expect_device(0, 3);
		expect_device(1, 2);
		ck_assert_str_eq(getenv("CUDA_VISIBLE_DEVICES"), "2,1");
		break;
	default: /* no number 3: the list ends */
		ck_assert_int_eq(n, 1);
		expect_device(0, 2);
	}
}
END_TEST

START_TEST(without_any_device_init_fails)
{
	rig_page(1);
	set_health(0, DRILL_DEVICE_GONE);
	FAILS(cuInit(0), CUDA_ERROR_NO_DEVICE);
}
END_TEST

/* ---- memory ---- */

START_TEST(a_full_device_says_so_everywhere)
{
	struct drill_device_fault f = { .action = DRILL_DEVICE_OOM,
					.limit_bytes = 8192, .error = 2,
					.every = 1 };
	struct drill_device_fault *armed;
	size_t left, total, all;
	CUdeviceptr p, q;

	rig_begin(1);
	OK(cuMemGetInfo_v2(&left, &all)); /* x and y take 1024 each */
	armed = rig_arm(&f);
	OK(cuMemGetInfo_v2(&left, &total));
	ck_assert_uint_eq(total, all);
	ck_assert_uint_eq(left, 8192 - 2048);
	FAILS(cuMemAlloc_v2(&p, left + 1), 2);
	OK(cuMemAlloc_v2(&p, left));
	FAILS(cuMemAllocAsync(&q, 1, NULL), 2);
	OK(cuMemGetInfo_v2(&left, &total));
	ck_assert_uint_eq(left, 0);
	OK(cuMemFree_v2(p));
	OK(cuMemAlloc_v2(&p, 1024));
	ck_assert_uint_eq(armed->returned, 2);
	OK(rig_add(NULL, 1));
	OK(cuCtxSynchronize());
	rig_disarm(armed);
	OK(cuMemAlloc_v2(&p, 65536));
}
END_TEST

/* As scenarios/device/oom_at_restore.lua does: it is armed while nobody is
 * there, and the next attempt meets it while it reads its checkpoint. */
START_TEST(a_rank_that_comes_back_finds_no_memory_until_it_is_over)
{
	struct drill_device_fault f = { .action = DRILL_DEVICE_OOM,
					.error = 2, .every = 1, .rank = 3 };
	struct drill_device_fault *armed;
	CUcontext ctx;
	CUdeviceptr p;

	rig_page(1);
	armed = rig_arm(&f);
	setenv("FAULTDRILL_RANK", "3", 1);
	setenv("FAULTDRILL_ATTEMPT", "2", 1);
	OK(cuInit(0));
	OK(cuDevicePrimaryCtxRetain(&ctx, 0));
	OK(cuCtxSetCurrent(ctx));
	FAILS(cuMemAlloc_v2(&p, 64), 2);
	FAILS(cuMemAlloc_v2(&p, 64), 2);
	ck_assert_uint_eq(armed->returned, 2);
	ck_assert_uint_eq(armed->surfaced_call, RIG_cuMemAlloc_v2);
	ck_assert_int_gt(armed->surfaced_ns, 0);
	rig_disarm(armed);
	OK(cuMemAlloc_v2(&p, 64));
}
END_TEST

START_TEST(a_rank_beside_it_has_memory)
{
	struct drill_device_fault f = { .action = DRILL_DEVICE_OOM,
					.error = 2, .every = 1, .rank = 3 };
	struct drill_device_fault *armed;

	rig_page(1);
	armed = rig_arm(&f);
	setenv("FAULTDRILL_RANK", "2", 1);
	rig_start_program();
	ck_assert_uint_eq(armed->state, DRILL_DEVICE_ARMED);
	ck_assert_uint_eq(armed->matched, 0);
}
END_TEST

START_TEST(one_allocation_fails_and_the_next_does_not)
{
	struct drill_device_fault f = { .action = DRILL_DEVICE_OOM,
					.nth = 2, .error = 2 };
	CUdeviceptr p;

	rig_begin(1);
	rig_arm(&f);
	OK(cuMemAlloc_v2(&p, 64));
	FAILS(cuMemAlloc_v2(&p, 64), 2);
	OK(cuMemAlloc_v2(&p, 64));
}
END_TEST

START_TEST(no_peers)
{
	struct drill_device_fault f = { .action = DRILL_DEVICE_NO_PEER,
					.device = 1 }, *armed;
	CUcontext peer, third;
	int can;

	rig_begin(3);
	OK(cuDevicePrimaryCtxRetain(&peer, 1));
	OK(cuDevicePrimaryCtxRetain(&third, 2));
	armed = rig_arm(&f);
	OK(cuDeviceCanAccessPeer(&can, 0, 1));
	ck_assert_int_eq(can, 0);
	OK(cuDeviceCanAccessPeer(&can, 1, 2));
	ck_assert_int_eq(can, 0);
	OK(cuDeviceCanAccessPeer(&can, 0, 2));
	ck_assert_int_eq(can, 1);
	OK(cuDeviceGetP2PAttribute(&can, 2, 0, 1));
	ck_assert_int_eq(can, 0);
	FAILS(cuCtxEnablePeerAccess(peer, 0), 217);
	OK(cuCtxEnablePeerAccess(third, 0));
	rig_disarm(armed);
	OK(cuCtxEnablePeerAccess(peer, 0));
}
END_TEST

/* What waits for a launch is not there before it, whatever is asked. */
START_TEST(no_peers_from_a_launch_on)
{
	struct drill_device_fault f = { .action = DRILL_DEVICE_NO_PEER,
					.device = -1, .nth = 2 }, *armed;
	int can;

	rig_begin(2);
	armed = rig_arm(&f);
	for (int i = 0; i < 3; i++) {
		OK(cuDeviceCanAccessPeer(&can, 0, 1));
		ck_assert_int_eq(can, i < 2);
		ck_assert_uint_eq(armed->state, i < 2 ? DRILL_DEVICE_ARMED :
							DRILL_DEVICE_FIRED);
		OK(rig_add(NULL, 1));
	}
	OK(cuCtxSynchronize());
}
END_TEST

START_TEST(absent_from_a_launch_on)
{
	struct drill_device_fault f = { .action = DRILL_DEVICE_ABSENT,
					.device = -1, .nth = 1 }, *armed;
	int n;

	rig_page(2);
	armed = rig_arm(&f);
	rig_start_program(); /* its cuInit is no launch */
	OK(cuDeviceGetCount(&n));
	ck_assert_int_eq(n, 2);
	ck_assert_uint_eq(armed->state, DRILL_DEVICE_ARMED);
	OK(rig_add(NULL, 1));
	ck_assert_uint_eq(armed->state, DRILL_DEVICE_FIRED);
	OK(cuCtxSynchronize());
}
END_TEST

int main(void)
{
	Suite *s = suite_create("cuda_devices");
	TCase *t = tcase_create("devices");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, NULL, rig_end);
	tcase_add_loop_test(t, another_process_fails_only_if_uncontained, 0, 3);
	tcase_add_test(t, a_reset_heals_contexts_to_come_and_no_others);
	tcase_add_test(t, a_process_that_starts_after_the_reset_goes_on);
	tcase_add_test(t, a_context_does_not_survive_the_reset_it_slept_through);
	tcase_add_test(t, a_new_context_gets_what_its_device_is);
	tcase_add_test(t, what_the_agent_fired_meets_the_process_at_its_next_look);
	tcase_add_loop_test(t, an_absent_device_shifts_those_behind_it, 0, 3);
	tcase_add_test(t, without_any_device_init_fails);
	tcase_add_test(t, a_full_device_says_so_everywhere);
	tcase_add_test(t,
		a_rank_that_comes_back_finds_no_memory_until_it_is_over);
	tcase_add_test(t, a_rank_beside_it_has_memory);
	tcase_add_test(t, one_allocation_fails_and_the_next_does_not);
	tcase_add_test(t, no_peers);
	tcase_add_test(t, no_peers_from_a_launch_on);
	tcase_add_test(t, absent_from_a_launch_on);
	suite_add_tcase(s, t);
	return drill_check_main(s);
}
