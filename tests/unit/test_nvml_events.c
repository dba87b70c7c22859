/* test_nvml_events.c - NVML's event sets: order, waiting, losses
 * SPDX-License-Identifier: MIT
 */
#include "check_main.h"

#include "injectors/hooks/device_step.h"
#include "tests/support/nvml_rig.h"

#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define XID nvmlEventTypeXidCriticalError
#define DBE nvmlEventTypeDoubleBitEccError

static struct nvml_rig rig;
static struct drill_device_page *p;
static struct nvml_calls n;
static nvmlDevice_t d[2];
static nvmlEventSet_t set;

static void setup(void)
{
	nvml_rig_init(&rig);
	p = rig.p;
	nvml_rig_start(&rig, "soft", &n, d);
	OK(n.nvmlEventSetCreate(&set));
}

static void teardown(void)
{
	nvml_rig_done(&rig);
}

static void expect(nvmlEventSet_t s, unsigned int device, uint64_t type,
		   uint64_t data)
{
	nvmlEventData_t e;

	OK(n.nvmlEventSetWait_v2(s, &e, 2000));
	ck_assert_ptr_eq(e.device, d[device]);
	ck_assert_uint_eq(e.eventType, type);
	ck_assert_uint_eq(e.eventData, data);
	ck_assert_uint_eq(e.gpuInstanceId, ~0u);
}

static void expect_nothing(nvmlEventSet_t s)
{
	nvmlEventData_t e;

	SAYS(n.nvmlEventSetWait_v2(s, &e, 0), NVML_ERROR_TIMEOUT);
}

START_TEST(a_chains_events_come_in_its_order)
{
	OK(n.nvmlDeviceRegisterEvents(d[1], XID | DBE, set));
	nvml_rig_arm_ecc(&rig, 1);
	ck_assert(drill_device_fire(p, 0, 4711, "train"));
	expect(set, 1, XID, 48);
	expect(set, 1, DBE, 0);
	expect(set, 1, XID, 63);
	expect(set, 1, XID, 94);
	expect_nothing(set);
}
END_TEST

START_TEST(only_what_was_registered_comes)
{
	OK(n.nvmlDeviceRegisterEvents(d[0], DBE, set));
	OK(n.nvmlDeviceRegisterEvents(d[1], XID, set));
	drill_device_say(p, 0, 48, DBE | 0x10, 0, "x");
	drill_device_say(p, 1, 63, DBE, 0, "x");
	expect(set, 0, DBE, 0);
	expect(set, 1, XID, 63);
	expect_nothing(set);
}
END_TEST

START_TEST(what_was_before_the_registration_does_not_come)
{
	nvmlEventSet_t other;

	OK(n.nvmlEventSetCreate(&other));
	OK(n.nvmlDeviceRegisterEvents(d[0], XID, other));
	drill_device_say(p, 0, 31, 0, 0, "x");
	OK(n.nvmlDeviceRegisterEvents(d[0], XID, set));
	drill_device_say(p, 0, 43, 0, 0, "x");
	expect(set, 0, XID, 43);
	expect(other, 0, XID, 31);
	expect(other, 0, XID, 43);
	expect_nothing(set);
	OK(n.nvmlEventSetFree(other));
	OK(n.nvmlEventSetFree(set));
}
END_TEST

START_TEST(a_wait_ends_when_its_time_is_over)
{
	clock_t cpu = clock();
	nvmlEventData_t e;
	int64_t t;

	for (int started = 0; started < 2; started++) {
		t = nvml_rig_now_ms();
		SAYS(n.nvmlEventSetWait_v2(set, &e, 120), NVML_ERROR_TIMEOUT);
		t = nvml_rig_now_ms() - t;
		ck_assert_int_ge(t, 119);
		ck_assert_int_lt(t, 2000);
		/* It sleeps. */
		ck_assert_int_lt(clock() - cpu, CLOCKS_PER_SEC / 25);
		OK(n.nvmlDeviceRegisterEvents(d[0], XID, set));
	}
}
END_TEST

static void *say_soon(void *arg)
{
	struct timespec t = { .tv_nsec = 50000000 };

	(void)arg;
	nanosleep(&t, NULL);
	drill_device_say(p, 0, 79, 0, 0, "lost");
	return NULL;
}

/* Not at the end of a look, by the line itself; the machine may be busy. */
START_TEST(a_line_wakes_who_waits)
{
	int64_t t, best = INT64_MAX;
	nvmlEventData_t e;
	pthread_t other;

	OK(n.nvmlDeviceRegisterEvents(d[0], XID, set));
	for (int i = 0; i < 10 && best >= 190; i++) {
		t = nvml_rig_now_ms();
		pthread_create(&other, NULL, say_soon, NULL);
		OK(n.nvmlEventSetWait_v2(set, &e, 20000));
		ck_assert_uint_eq(e.eventData, 79);
		t = nvml_rig_now_ms() - t;
		best = t < best ? t : best;
		pthread_join(other, NULL);
	}
	ck_assert_int_lt(best, 190);
}
END_TEST

START_TEST(another_process_sees_the_same)
{
	int status;
	pid_t pid;

	OK(n.nvmlDeviceRegisterEvents(d[1], XID | DBE, set));
	nvml_rig_arm_ecc(&rig, 1);
	pid = fork();
	if (!pid)
		_exit(!drill_device_fire(p, 0, getpid(), "rank"));
	expect(set, 1, XID, 48);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	expect(set, 1, DBE, 0);
	expect(set, 1, XID, 63);
	expect(set, 1, XID, 94);
	expect_nothing(set);
}
END_TEST

START_TEST(a_lost_device_is_said_once_and_after_its_events)
{
	nvmlEventData_t e;

	OK(n.nvmlDeviceRegisterEvents(d[0], XID, set));
	OK(n.nvmlDeviceRegisterEvents(d[1], XID, set));
	drill_device_say(p, 0, 79, 0, 0, "lost");
	atomic_store(&p->device[0].health, DRILL_DEVICE_LOST);
	expect(set, 0, XID, 79);
	SAYS(n.nvmlEventSetWait_v2(set, &e, 0), NVML_ERROR_GPU_IS_LOST);
	expect_nothing(set);
	drill_device_say(p, 1, 31, 0, 0, "x");
	expect(set, 1, XID, 31);
	drill_device_reset(p, 0);
	expect_nothing(set);
	atomic_store(&p->device[0].health, DRILL_DEVICE_LOST);
	SAYS(n.nvmlEventSetWait_v2(set, &e, 0), NVML_ERROR_GPU_IS_LOST);
}
END_TEST

START_TEST(the_first_version_writes_less)
{
	unsigned char b[sizeof(nvmlEventData_t)];

	memset(b, 0xee, sizeof(b));
	OK(n.nvmlDeviceRegisterEvents(d[0], XID, set));
	drill_device_say(p, 0, 13, 0, 0, "x");
	OK(n.nvmlEventSetWait(set, (nvmlEventData_t *)(void *)b, 0));
	ck_assert_uint_eq(b[16], 13);
	ck_assert_uint_eq(b[24], 0xee);
}
END_TEST

START_TEST(a_set_that_falls_behind_goes_on_with_the_oldest_line)
{
	OK(n.nvmlDeviceRegisterEvents(d[0], XID, set));
	for (uint32_t i = 1; i <= DRILL_DEVICE_LINES + 5; i++)
		drill_device_say(p, 0, i, 0, 0, "x");
	for (uint32_t i = 6; i <= DRILL_DEVICE_LINES + 5; i++)
		expect(set, 0, XID, i);
	expect_nothing(set);
}
END_TEST

START_TEST(what_is_no_set_and_no_event_is_refused)
{
	nvmlEventSet_t none = calloc(1, 64);
	unsigned long long types;
	nvmlEventData_t e;

	SAYS(n.nvmlDeviceRegisterEvents(d[0], XID, NULL),
	     NVML_ERROR_INVALID_ARGUMENT);
	SAYS(n.nvmlDeviceRegisterEvents(d[0], XID, none),
	     NVML_ERROR_INVALID_ARGUMENT);
	SAYS(n.nvmlEventSetWait_v2(none, &e, 0), NVML_ERROR_INVALID_ARGUMENT);
	SAYS(n.nvmlEventSetFree(none), NVML_ERROR_INVALID_ARGUMENT);
	OK(n.nvmlDeviceGetSupportedEventTypes(d[0], &types));
	ck_assert_uint_eq(types, 0xfe1f);
	SAYS(n.nvmlDeviceRegisterEvents(d[0], types | 1ull << 40, set),
	     NVML_ERROR_NOT_SUPPORTED);
	atomic_store(&p->device[0].health, DRILL_DEVICE_LOST);
	SAYS(n.nvmlDeviceRegisterEvents(d[0], XID, set),
	     NVML_ERROR_GPU_IS_LOST);
	free(none);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("NVML events");
	TCase *tc = tcase_create("set");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, a_chains_events_come_in_its_order);
	tcase_add_test(tc, only_what_was_registered_comes);
	tcase_add_test(tc, what_was_before_the_registration_does_not_come);
	tcase_add_test(tc, a_wait_ends_when_its_time_is_over);
	tcase_add_test(tc, a_line_wakes_who_waits);
	tcase_add_test(tc, another_process_sees_the_same);
	tcase_add_test(tc, a_lost_device_is_said_once_and_after_its_events);
	tcase_add_test(tc, the_first_version_writes_less);
	tcase_add_test(tc, a_set_that_falls_behind_goes_on_with_the_oldest_line);
	tcase_add_test(tc, what_is_no_set_and_no_event_is_refused);
	suite_add_tcase(s, tc);
	return drill_check_main(s);
}
