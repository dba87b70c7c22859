/* test_nvml_next.c - the NVML proxy lays the page over another library
 * SPDX-License-Identifier: MIT
 *
 * The toy library's device 0 is the page's device 1; its device 1 is unknown to
 * the page and must be as if the proxy were not there.
 */
#include "check_main.h"

#include "injectors/hooks/device_load.h"
#include "injectors/hooks/device_step.h"
#include "tests/support/nvml_rig.h"

#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

#define XID nvmlEventTypeXidCriticalError

static struct nvml_rig rig;
static struct drill_device *v; /* the page's side of d[0] */
static struct nvml_calls n;
static nvmlDevice_t d[2];

static void setup(void)
{
	nvml_rig_init(&rig);
	v = &rig.p->device[1];
}

static void teardown(void)
{
	nvml_rig_done(&rig);
}

static void start(void)
{
	nvml_rig_start(&rig, "toy", &n, d);
}

static uint64_t field(unsigned int device, unsigned int id)
{
	nvmlFieldValue_t f = { .fieldId = id };

	OK(n.nvmlDeviceGetFieldValues(d[device], 1, &f));
	OK(f.nvmlReturn);
	return f.valueType == NVML_VALUE_TYPE_UNSIGNED_INT ? f.value.uiVal :
							     f.value.ullVal;
}

START_TEST(a_device_that_is_well_is_as_the_library_says)
{
	unsigned int a, b, c, e;
	unsigned long long u;
	char t[96];

	start();
	OK(n.nvmlSystemGetDriverVersion(t, sizeof(t)));
	ck_assert_str_eq(t, "toy");
	OK(n.nvmlDeviceGetUUID(d[0], t, sizeof(t)));
	ck_assert_str_eq(t, NVML_RIG_UUID1);
	for (unsigned int i = 0; i < 2; i++) {
		OK(n.nvmlDeviceGetTemperature(d[i], 0, &a));
		ck_assert_uint_eq(a, 55 + i);
		OK(n.nvmlDeviceGetClockInfo(d[i], NVML_CLOCK_SM, &a));
		ck_assert_uint_eq(a, 1501 + i);
		OK(n.nvmlDeviceGetCurrentClocksEventReasons(d[i], &u));
		ck_assert_uint_eq(u, i ? 4 : 1);
		OK(n.nvmlDeviceGetTotalEccErrors(d[i], 1, 1, &u));
		ck_assert_uint_eq(u, 111 + 100 * i);
		OK(n.nvmlDeviceGetRemappedRows(d[i], &a, &b, &c, &e));
		ck_assert(a == 5 + i && !b && !c && !e);
		ck_assert_uint_eq(field(i, 4), 40 + i);
		ck_assert_uint_eq(field(i, 230), 0);
	}
	/* The toy has none; nothing is invented. */
	SAYS(n.nvmlDeviceGetPowerUsage(d[0], &a),
	     NVML_ERROR_FUNCTION_NOT_FOUND);
	OK(n.nvmlDeviceGetNvLinkState(d[0], 3, &a));
	SAYS(n.nvmlDeviceGetNvLinkState(d[0], 4, &a),
	     NVML_ERROR_NOT_SUPPORTED);
}
END_TEST

/* What is reserved stays so: used and left are not all there is. */
static void check_memory(unsigned int device, unsigned long long used,
			 unsigned long long left)
{
	nvmlMemory_t m;

	OK(n.nvmlDeviceGetMemoryInfo(d[device], &m));
	ck_assert_uint_eq(m.total, 1000);
	ck_assert_uint_eq(m.used, used);
	ck_assert_uint_eq(m.free, left);
}

START_TEST(memory_and_load_are_the_librarys)
{
	nvmlUtilization_t u;
	nvmlProcessInfo_t info[2];
	unsigned int count;

	start();
	for (unsigned int i = 0; i < 2; i++) {
		check_memory(i, 300 + i, 600 - i);
		OK(n.nvmlDeviceGetUtilizationRates(d[i], &u));
		ck_assert(u.gpu == 20 + i && u.memory == 7);
		count = 2;
		OK(n.nvmlDeviceGetComputeRunningProcesses_v3(d[i], &count,
							     info));
		ck_assert(count == 1 && info[0].pid == 4711 + i &&
			  info[0].usedGpuMemory == 12345);
	}
}
END_TEST

START_TEST(a_fault_fills_what_the_library_says_is_left)
{
	struct drill_device_fault *f = &rig.p->fault[0];

	start();
	f->action = DRILL_DEVICE_OOM;
	f->device = 1;
	f->rank = -1;
	f->limit_bytes = 350;
	atomic_store(&f->state, DRILL_DEVICE_ARMED);
	check_memory(0, 850, 50);
	check_memory(1, 301, 599);
	f->limit_bytes = 0;
	f->every = 1;
	check_memory(0, 900, 0);
	f->untold = 1;
	check_memory(0, 300, 600);
	f->untold = 0;
	atomic_store(&f->state, DRILL_DEVICE_OVER);
	check_memory(0, 300, 600);
}
END_TEST

/* With a driver of hardware a hang is a function of the host: its NVML knows
 * nothing of it. */
START_TEST(a_hang_is_added_to_the_librarys_load)
{
	struct drill_device_client *c = &rig.p->client[5];
	nvmlUtilization_t u;
	int held;

	start();
	c->proxies = 1;
	c->devices = 2;
	c->use[0].device_1 = 2;
	c->hello = 1;
	held = drill_device_hold(5);
	c->use[0].time[0].since_ns = 1;
	OK(n.nvmlDeviceGetUtilizationRates(d[0], &u));
	ck_assert(u.gpu == 100 && u.memory == 7);
	OK(n.nvmlDeviceGetUtilizationRates(d[1], &u));
	ck_assert_uint_eq(u.gpu, 21);
	close(held);
	OK(n.nvmlDeviceGetUtilizationRates(d[0], &u));
	ck_assert_uint_eq(u.gpu, 20);
}
END_TEST

START_TEST(what_was_injected_is_added)
{
	unsigned int a, b, c, e;
	unsigned long long u;

	start();
	v->ecc_volatile[1] = 1;
	v->remapped_unc = v->remapped_pending = 1;
	v->recovery_action = 1;
	v->clock_reasons = nvmlClocksThrottleReasonHwSlowdown;
	v->sm_mhz = 345;
	v->links_down = 2;
	OK(n.nvmlDeviceGetTotalEccErrors(d[0], 1, 0, &u));
	ck_assert_uint_eq(u, 111);
	OK(n.nvmlDeviceGetRemappedRows(d[0], &a, &b, &c, &e));
	ck_assert(a == 5 && b == 1 && c == 1 && e == 0);
	OK(n.nvmlDeviceGetCurrentClocksThrottleReasons(d[0], &u));
	ck_assert_uint_eq(u, 8);
	OK(n.nvmlDeviceGetClockInfo(d[0], NVML_CLOCK_SM, &a));
	ck_assert_uint_eq(a, 345);
	OK(n.nvmlDeviceGetClockInfo(d[0], NVML_CLOCK_MEM, &a));
	ck_assert_uint_eq(a, 1502);
	OK(n.nvmlDeviceGetNvLinkState(d[0], 1, &a));
	ck_assert_uint_eq(a, 0);
	OK(n.nvmlDeviceGetNvLinkState(d[0], 0, &a));
	ck_assert_uint_eq(a, 1);
	ck_assert_uint_eq(field(0, 4), 41);
	ck_assert_uint_eq(field(0, 230), 1);
	ck_assert_uint_eq(field(1, 230), 0);
	OK(n.nvmlDeviceGetClockInfo(d[1], NVML_CLOCK_SM, &a));
	ck_assert_uint_eq(a, 1502);
}
END_TEST

START_TEST(a_call_without_a_function_here_arrives_whole)
{
	nvmlReturn_t (*samples)(nvmlDevice_t, unsigned int, unsigned long long,
				unsigned int *, unsigned int *,
				unsigned long long *);
	nvmlReturn_t (*units)(unsigned int *), (*hics)(unsigned int *, void *);
	unsigned long long c;
	unsigned int a, b;

	start();
	*(void **)&samples = dlsym(rig.lib, "nvmlDeviceGetSamples");
	*(void **)&units = dlsym(rig.lib, "nvmlUnitGetCount");
	*(void **)&hics = dlsym(rig.lib, "nvmlSystemGetHicVersion");
	SAYS(samples(d[1], 6, 1ull << 60, &a, &b, &c), NVML_ERROR_NO_DATA);
	ck_assert(a == 1 && b == 6 && c == 1ull << 60);
	OK(units(&a));
	ck_assert_uint_eq(a, 3);
	SAYS(hics(&a, NULL), NVML_ERROR_FUNCTION_NOT_FOUND);
	atomic_store(&v->health, DRILL_DEVICE_LOST);
	SAYS(samples(d[0], 6, 1, &a, &b, &c), NVML_ERROR_GPU_IS_LOST);
	atomic_store(&v->health, DRILL_DEVICE_RESET_REQUIRED);
	SAYS(samples(d[0], 6, 1, &a, &b, &c), NVML_ERROR_RESET_REQUIRED);
	SAYS(samples(d[1], 6, 1, &a, &b, &c), NVML_ERROR_NO_DATA);
}
END_TEST

START_TEST(a_device_that_the_page_says_is_gone_is_not_counted)
{
	nvmlDevice_t h;
	unsigned int count;

	atomic_store(&v->health, DRILL_DEVICE_GONE);
	nvml_rig_load(&rig, "toy", &n);
	OK(n.nvmlInit_v2());
	OK(n.nvmlDeviceGetCount_v2(&count));
	ck_assert_uint_eq(count, 1);
	OK(n.nvmlDeviceGetHandleByIndex_v2(0, &h));
	OK(n.nvmlDeviceGetTemperature(h, 0, &count));
	ck_assert_uint_eq(count, 56);
	OK(n.nvmlDeviceGetIndex(h, &count));
	ck_assert_uint_eq(count, 0);
	SAYS(n.nvmlDeviceGetHandleByUUID(NVML_RIG_UUID1, &h),
	     NVML_ERROR_NOT_FOUND);
}
END_TEST

START_TEST(events_of_both_come)
{
	nvmlEventSet_t set;
	nvmlEventData_t e;
	int xids = 0, states = 0;

	start();
	OK(n.nvmlEventSetCreate(&set));
	/* The toy does not know double bit errors. */
	SAYS(n.nvmlDeviceRegisterEvents(d[1], 2, set),
	     NVML_ERROR_NOT_SUPPORTED);
	OK(n.nvmlDeviceRegisterEvents(d[1], nvmlEventTypePState, set));
	OK(n.nvmlDeviceRegisterEvents(d[0], XID | 2, set));
	drill_device_say(rig.p, 1, 48, 0, 0, "x");
	drill_device_say(rig.p, 0, 13, 0, 0, "not a device of the toy");
	for (int i = 0; i < 2; i++) {
		OK(n.nvmlEventSetWait_v2(set, &e, 2000));
		xids += e.eventType == XID && e.eventData == 48 &&
			e.device == d[0];
		states += e.eventType == nvmlEventTypePState &&
			  e.device == d[1];
	}
	ck_assert(xids == 1 && states == 1);
	SAYS(n.nvmlEventSetWait_v2(set, &e, 50), NVML_ERROR_TIMEOUT);
	OK(n.nvmlEventSetFree(set));
}
END_TEST

START_TEST(without_a_page_nothing_is_laid_over)
{
	unsigned int a;

	unlink(rig.page_path);
	start();
	OK(n.nvmlDeviceGetTemperature(d[0], 0, &a));
	ck_assert_uint_eq(a, 55);
	OK(n.nvmlShutdown());
}
END_TEST

START_TEST(a_library_that_cannot_be_opened_is_told)
{
	static const char *const wrong[] = {
		"/nowhere/libnvidia-ml.so.1", "libnvidia-ml.so.1",
		"itself", "another",
	};
	const char *next = wrong[_i];

	if (!strcmp(next, "itself"))
		next = nvml_rig_built("hooks/cuda/libnvidia-ml.so.1");
	else if (!strcmp(next, "another"))
		next = nvml_rig_built("hooks/cuda_audit.so");
	nvml_rig_load(&rig, next, &n);
	SAYS(n.nvmlInit_v2(), NVML_ERROR_LIBRARY_NOT_FOUND);
	SAYS(n.nvmlShutdown(), NVML_ERROR_UNINITIALIZED);
}
END_TEST

START_TEST(a_library_is_found_where_the_loader_would_look)
{
	char dirs[4096], *slash;
	unsigned int a;

	/* nvml_rig_built has one buffer. */
	snprintf(dirs, sizeof(dirs), "%s", nvml_rig_built("hooks/cuda:"));
	strncat(dirs, nvml_rig_built("tests/nvml/toy"),
		sizeof(dirs) - strlen(dirs) - 1);
	setenv("LD_LIBRARY_PATH", dirs, 1);
	nvml_rig_load(&rig, "", &n);
	OK(n.nvmlInit_v2());
	OK(n.nvmlDeviceGetHandleByIndex_v2(0, &d[0]));
	OK(n.nvmlDeviceGetTemperature(d[0], 0, &a));
	ck_assert_uint_eq(a, 55);
	slash = strrchr(rig.p->client[0].next, '/');
	ck_assert_ptr_nonnull(slash);
	ck_assert_str_eq(slash, "/libnvidia-ml.so.1");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("NVML proxy");
	TCase *tc = tcase_create("next");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, a_device_that_is_well_is_as_the_library_says);
	tcase_add_test(tc, memory_and_load_are_the_librarys);
	tcase_add_test(tc, a_fault_fills_what_the_library_says_is_left);
	tcase_add_test(tc, a_hang_is_added_to_the_librarys_load);
	tcase_add_test(tc, what_was_injected_is_added);
	tcase_add_test(tc, a_call_without_a_function_here_arrives_whole);
	tcase_add_test(tc, a_device_that_the_page_says_is_gone_is_not_counted);
	tcase_add_test(tc, events_of_both_come);
	tcase_add_test(tc, without_a_page_nothing_is_laid_over);
	tcase_add_loop_test(tc, a_library_that_cannot_be_opened_is_told, 0, 4);
	tcase_add_test(tc, a_library_is_found_where_the_loader_would_look);
	suite_add_tcase(s, tc);
	return drill_check_main(s);
}
