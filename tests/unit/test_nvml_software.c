/* test_nvml_software.c - software NVML answers from the device page as hardware would
 * SPDX-License-Identifier: MIT
 */
#include "check_main.h"

#include "injectors/hooks/device_load.h"
#include "injectors/hooks/device_step.h"
#include "injectors/hooks/hook_page.h"
#include "tests/support/nvml_rig.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static struct nvml_rig rig;
static struct drill_device_page *p;
static struct nvml_calls n;
static nvmlDevice_t d[2];

static void setup(void)
{
	nvml_rig_init(&rig);
	p = rig.p;
}

static void teardown(void)
{
	nvml_rig_done(&rig);
}

static void start(void)
{
	nvml_rig_start(&rig, "soft", &n, d);
}

static void set_health(unsigned int device, uint32_t health)
{
	atomic_store(&p->device[device].health, health);
}

/* As a process that the CUDA proxy is in. */
static void computes(int client, uint64_t devices)
{
	struct drill_device_client *c = &p->client[client];

	c->claimed = 1;
	c->pid = getpid();
	c->proxies = 1;
	c->devices = devices;
	c->hello = DRILL_HELLO_HERE;
	ck_assert_int_ge(drill_device_hold(client), 0);
}

START_TEST(a_device_is_found_by_all_its_names)
{
	nvmlDevice_t h;
	nvmlPciInfo_t pci;
	char t[96];
	unsigned int v;

	start();
	OK(n.nvmlDeviceGetCount_v2(&v));
	ck_assert_uint_eq(v, 2);
	OK(n.nvmlDeviceGetUUID(d[1], t, sizeof(t)));
	ck_assert_str_eq(t, NVML_RIG_UUID1);
	OK(n.nvmlDeviceGetHandleByUUID(t, &h));
	ck_assert_ptr_eq(h, d[1]);
	OK(n.nvmlDeviceGetPciInfo_v3(d[1], &pci));
	ck_assert_str_eq(pci.busId, "00000000:CA:00.0");
	ck_assert_str_eq(pci.busIdLegacy, "0000:CA:00.0");
	OK(n.nvmlDeviceGetHandleByPciBusId_v2(pci.busId, &h));
	ck_assert_ptr_eq(h, d[1]);
	OK(n.nvmlDeviceGetHandleByPciBusId("ca:00.0", &h));
	ck_assert_ptr_eq(h, d[1]);
	OK(n.nvmlDeviceGetSerial(d[0], t, sizeof(t)));
	OK(n.nvmlDeviceGetHandleBySerial(t, &h));
	ck_assert_ptr_eq(h, d[0]);
	SAYS(n.nvmlDeviceGetSerial(d[1], t, sizeof(t)),
	     NVML_ERROR_NOT_SUPPORTED);
	OK(n.nvmlDeviceGetIndex(d[1], &v));
	ck_assert_uint_eq(v, 1);
	OK(n.nvmlDeviceGetName(d[0], t, sizeof(t)));
	ck_assert_str_eq(t, p->device[0].name);
}
END_TEST

START_TEST(wrong_arguments_are_told)
{
	nvmlDevice_t h;
	char t[8];
	unsigned int v;

	start();
	SAYS(n.nvmlDeviceGetHandleByIndex_v2(2, &h),
	     NVML_ERROR_INVALID_ARGUMENT);
	SAYS(n.nvmlDeviceGetHandleByIndex_v2(0, NULL),
	     NVML_ERROR_INVALID_ARGUMENT);
	SAYS(n.nvmlDeviceGetHandleByUUID("GPU-0", &h), NVML_ERROR_NOT_FOUND);
	SAYS(n.nvmlDeviceGetHandleByPciBusId_v2("x", &h),
	     NVML_ERROR_INVALID_ARGUMENT);
	SAYS(n.nvmlDeviceGetTemperature((nvmlDevice_t)t, 0, &v),
	     NVML_ERROR_INVALID_ARGUMENT);
	SAYS(n.nvmlDeviceGetTemperature(d[0], 0, NULL),
	     NVML_ERROR_INVALID_ARGUMENT);
	SAYS(n.nvmlDeviceGetUUID(d[0], t, sizeof(t)),
	     NVML_ERROR_INSUFFICIENT_SIZE);
	SAYS(n.nvmlDeviceGetNvLinkState(d[0], 99, &v),
	     NVML_ERROR_INVALID_ARGUMENT);
}
END_TEST

/* The older versions of a call must not write behind the older structure. */
START_TEST(old_structures_are_not_overrun)
{
	unsigned char b[sizeof(nvmlPciInfo_t)];

	start();
	memset(b, 0xee, sizeof(b));
	OK(n.nvmlDeviceGetPciInfo(d[0], (nvmlPciInfo_t *)(void *)b));
	ck_assert_uint_eq(b[32], 0xee);
	memset(b, 0xee, sizeof(b));
	OK(n.nvmlDeviceGetPciInfo_v2(d[0], (nvmlPciInfo_t *)(void *)b));
	ck_assert_uint_eq(b[31], 0);
	ck_assert_uint_eq(b[36], 0xee);
}
END_TEST

START_TEST(what_stands_on_the_page_is_what_is_read)
{
	nvmlMemory_v2_t m2 = { .version = sizeof(m2) | 2u << 24 };
	unsigned long long bits;
	nvmlUtilization_t u;
	nvmlMemory_t m;
	unsigned int v;

	start();
	computes(0, 1);
	p->client[0].shows = 1;
	p->client[0].use[2].device_1 = 1;
	p->client[0].use[2].used_bytes = 4096;
	p->client[0].use[2].time[0].since_ns = 1; /* long ago */
	p->device[0].sm_mhz = 600;
	p->device[0].clock_reasons = nvmlClocksThrottleReasonHwSlowdown;
	OK(n.nvmlDeviceGetMemoryInfo(d[0], &m));
	ck_assert_uint_eq(m.used, 4096);
	ck_assert_uint_eq(m.free, p->device[0].memory_bytes - 4096);
	OK(n.nvmlDeviceGetMemoryInfo_v2(d[0], &m2));
	ck_assert_uint_eq(m2.used, 4096);
	m2.version = 7;
	SAYS(n.nvmlDeviceGetMemoryInfo_v2(d[0], &m2),
	     NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
	OK(n.nvmlDeviceGetUtilizationRates(d[0], &u));
	ck_assert(u.gpu == 100 && u.memory == 0);
	OK(n.nvmlDeviceGetClockInfo(d[0], NVML_CLOCK_SM, &v));
	ck_assert_uint_eq(v, 600);
	OK(n.nvmlDeviceGetMaxClockInfo(d[0], NVML_CLOCK_SM, &v));
	ck_assert_uint_eq(v, p->device[0].sm_max_mhz);
	OK(n.nvmlDeviceGetClock(d[0], NVML_CLOCK_SM, 0, &v));
	ck_assert_uint_eq(v, 600);
	OK(n.nvmlDeviceGetCurrentClocksEventReasons(d[0], &bits));
	ck_assert_uint_eq(bits, 8);
	OK(n.nvmlDeviceGetPowerUsage(d[0], &v));
	ck_assert_uint_eq(v, p->device[0].power_mw);
	OK(n.nvmlDeviceGetTemperature(d[0], NVML_TEMPERATURE_GPU, &v));
	ck_assert_uint_eq(v, p->device[0].temperature_c);
}
END_TEST

static uint64_t field(unsigned int device, unsigned int id, unsigned int scope)
{
	nvmlFieldValue_t f = { .fieldId = id, .scopeId = scope };

	OK(n.nvmlDeviceGetFieldValues(d[device], 1, &f));
	ck_assert_msg(!f.nvmlReturn, "field %u: %d", id, (int)f.nvmlReturn);
	ck_assert_int_gt(f.timestamp, 0);
	return f.valueType == NVML_VALUE_TYPE_UNSIGNED_INT ? f.value.uiVal :
							     f.value.ullVal;
}

START_TEST(errors_are_counted_in_all_their_forms)
{
	struct drill_device *v = &p->device[0];
	unsigned int a, b, c, e, pages = 0;
	unsigned long long count, at[4];
	nvmlEccErrorCounts_t counts;

	start();
	v->ecc_volatile[1] = 2;
	v->ecc_aggregate[0] = 7;
	v->ecc_aggregate[1] = 3;
	v->remapped_unc = 1;
	v->remapped_pending = v->retired_pending = 1;
	v->retired_dbe = 2;
	OK(n.nvmlDeviceGetTotalEccErrors(d[0], 1, 0, &count));
	ck_assert_uint_eq(count, 2);
	OK(n.nvmlDeviceGetDetailedEccErrors(d[0], 1, 1, &counts));
	ck_assert_uint_eq(counts.deviceMemory, 3);
	ck_assert_uint_eq(counts.l2Cache, 0);
	OK(n.nvmlDeviceGetMemoryErrorCounter(
		d[0], 0, 1, NVML_MEMORY_LOCATION_DRAM, &count));
	ck_assert_uint_eq(count, 7);
	OK(n.nvmlDeviceGetRemappedRows(d[0], &a, &b, &c, &e));
	ck_assert(a == 0 && b == 1 && c == 1 && e == 0);
	SAYS(n.nvmlDeviceGetRetiredPages(d[0], 1, &pages, NULL),
	     NVML_ERROR_INSUFFICIENT_SIZE);
	ck_assert_uint_eq(pages, 2);
	pages = 4;
	OK(n.nvmlDeviceGetRetiredPages_v2(d[0], 1, &pages, at, at + 2));
	ck_assert(pages == 2 && at[0] > at[1] && at[1]);
	OK(n.nvmlDeviceGetRetiredPagesPendingStatus(d[0], &a));
	ck_assert_uint_eq(a, 1);
	ck_assert_uint_eq(field(0, 4, 0), 2);
	ck_assert_uint_eq(field(0, 5, 0), 7);
	ck_assert_uint_eq(field(0, 6, 0), 3);
	ck_assert_uint_eq(field(0, 30, 0), 2);
	ck_assert_uint_eq(field(0, 31, 0), 1);
	ck_assert_uint_eq(field(0, 143, 0), 1);
	ck_assert_uint_eq(field(0, 144, 0), 1);
	ck_assert_uint_eq(field(1, 4, 0), 0);
}
END_TEST

START_TEST(every_field_that_is_promised_is_there)
{
	static const unsigned int ids[] = {
		1, 2, 3, 4, 5, 6, 29, 30, 31, 38, 45, 52, 59, 91, 92, 93, 94,
		142, 143, 144, 145, 161, 162, 163, 165, 206, 207, 208, 209,
		210, 211, 212, 213, 214, 215, 230,
	};
	nvmlFieldValue_t f[2] = { { .fieldId = 4 }, { .fieldId = 9999 } };

	start();
	for (size_t i = 0; i < sizeof(ids) / sizeof(*ids); i++)
		field(0, ids[i], 0);
	OK(n.nvmlDeviceGetFieldValues(d[0], 2, f));
	ck_assert_int_eq(f[0].nvmlReturn, NVML_SUCCESS);
	ck_assert_int_eq(f[1].nvmlReturn, NVML_ERROR_NOT_SUPPORTED);
	SAYS(n.nvmlDeviceGetFieldValues(d[0], 0, f),
	     NVML_ERROR_INVALID_ARGUMENT);
}
END_TEST

START_TEST(a_link_that_breaks_is_seen_from_both_ends)
{
	struct drill_device_fault *f = &p->fault[0];
	unsigned long long v;
	unsigned int active;
	nvmlPciInfo_t pci;

	start();
	f->steps = 2;
	for (uint32_t i = 0; i < 2; i++)
		f->step[i] = (struct drill_device_step){ .xid = 74,
			.device = i, .links_down = 4, .link_crc = 9,
			.text = "NVLink" };
	f->state = DRILL_DEVICE_ARMED;
	ck_assert(drill_device_fire(p, 0, 0, ""));
	for (int i = 0; i < 2; i++) {
		OK(n.nvmlDeviceGetNvLinkState(d[i], 1, &active));
		ck_assert_uint_eq(active, 1);
		OK(n.nvmlDeviceGetNvLinkState(d[i], 2, &active));
		ck_assert_uint_eq(active, 0);
		OK(n.nvmlDeviceGetNvLinkErrorCounter(
			d[i], 2, NVML_NVLINK_ERROR_DL_CRC_FLIT, &v));
		ck_assert_uint_eq(v, 9);
		OK(n.nvmlDeviceGetNvLinkRemotePciInfo_v2(d[i], 2, &pci));
		ck_assert_uint_eq(pci.bus, i ? 0x3b : 0xca);
	}
	ck_assert_uint_eq(field(0, 38, 0), 9);
	ck_assert_uint_eq(field(0, 163, 2), 9);
	ck_assert_uint_eq(field(0, 163, 1), 0);
	ck_assert_uint_eq(field(0, 214, ~0u), 1);
	p->device[1].no_peer = 1;
	OK(n.nvmlDeviceGetP2PStatus(d[0], d[1], 0, &active));
	ck_assert_uint_eq(active, NVML_P2P_STATUS_NOT_SUPPORTED);
}
END_TEST

START_TEST(of_a_lost_device_every_call_says_so)
{
	nvmlReturn_t (*fan)(nvmlDevice_t, unsigned int *);
	nvmlFieldValue_t f = { .fieldId = 230 };
	nvmlDevice_t h;
	char t[96];
	unsigned int v;

	start();
	*(void **)&fan = dlsym(rig.lib, "nvmlDeviceGetFanSpeed");
	SAYS(fan(d[0], &v), NVML_ERROR_NOT_SUPPORTED);
	set_health(0, DRILL_DEVICE_LOST);
	SAYS(n.nvmlDeviceGetHandleByIndex_v2(0, &h), NVML_ERROR_GPU_IS_LOST);
	SAYS(n.nvmlDeviceGetHandleByUUID(NVML_RIG_UUID0, &h),
	     NVML_ERROR_GPU_IS_LOST);
	SAYS(n.nvmlDeviceGetUUID(d[0], t, sizeof(t)), NVML_ERROR_GPU_IS_LOST);
	SAYS(n.nvmlDeviceGetTemperature(d[0], 0, &v), NVML_ERROR_GPU_IS_LOST);
	SAYS(n.nvmlDeviceGetFieldValues(d[0], 1, &f), NVML_ERROR_GPU_IS_LOST);
	SAYS(fan(d[0], &v), NVML_ERROR_GPU_IS_LOST);
	OK(n.nvmlDeviceGetTemperature(d[1], 0, &v));
	OK(n.nvmlDeviceGetCount_v2(&v));
	ck_assert_uint_eq(v, 2);
	drill_device_reset(p, 0);
	OK(n.nvmlDeviceGetTemperature(d[0], 0, &v));
}
END_TEST

START_TEST(a_device_that_is_gone_is_not_counted_at_the_next_start)
{
	nvmlDevice_t h;
	char t[96];
	unsigned int v;

	start();
	set_health(0, DRILL_DEVICE_GONE);
	SAYS(n.nvmlDeviceGetTemperature(d[0], 0, &v), NVML_ERROR_GPU_IS_LOST);
	OK(n.nvmlShutdown());
	OK(n.nvmlInit_v2());
	OK(n.nvmlDeviceGetCount_v2(&v));
	ck_assert_uint_eq(v, 1);
	OK(n.nvmlDeviceGetHandleByIndex_v2(0, &h));
	OK(n.nvmlDeviceGetUUID(h, t, sizeof(t)));
	ck_assert_str_eq(t, NVML_RIG_UUID1);
	SAYS(n.nvmlDeviceGetHandleByUUID(NVML_RIG_UUID0, &h),
	     NVML_ERROR_NOT_FOUND);
}
END_TEST

START_TEST(a_device_to_be_reset_says_who_it_is_and_what_it_counted)
{
	unsigned long long count;
	char t[96];
	unsigned int v;

	start();
	set_health(0, DRILL_DEVICE_RESET_REQUIRED);
	p->device[0].recovery_action = 1;
	SAYS(n.nvmlDeviceGetTemperature(d[0], 0, &v),
	     NVML_ERROR_RESET_REQUIRED);
	SAYS(n.nvmlDeviceGetNvLinkState(d[0], 0, &v),
	     NVML_ERROR_RESET_REQUIRED);
	OK(n.nvmlDeviceGetUUID(d[0], t, sizeof(t)));
	OK(n.nvmlDeviceGetTotalEccErrors(d[0], 1, 0, &count));
	ck_assert_uint_eq(field(0, 230, 0), 1);
	drill_device_reset(p, 0);
	OK(n.nvmlDeviceGetTemperature(d[0], 0, &v));
	ck_assert_uint_eq(field(0, 230, 0), 0);
}
END_TEST

static void *reset_soon(void *arg)
{
	struct timespec t = { .tv_nsec = 100000000 };

	(void)arg;
	nanosleep(&t, NULL);
	drill_device_reset(p, 0);
	return NULL;
}

START_TEST(firmware_that_does_not_answer_blocks_calls_for_so_long)
{
	int64_t t = nvml_rig_now_ms();
	pthread_t other;
	char uuid[96];
	unsigned int v;

	start();
	p->device[0].nvml_block_ms = 150;
	OK(n.nvmlDeviceGetUUID(d[0], uuid, sizeof(uuid)));
	OK(n.nvmlDeviceGetTemperature(d[1], 0, &v));
	t = nvml_rig_now_ms();
	SAYS(n.nvmlDeviceGetTemperature(d[0], 0, &v), NVML_ERROR_UNKNOWN);
	ck_assert_int_ge(nvml_rig_now_ms() - t, 150);
	p->device[0].nvml_block_ms = 20000;
	set_health(0, DRILL_DEVICE_RESET_REQUIRED);
	SAYS(n.nvmlDeviceGetTemperature(d[0], 0, &v),
	     NVML_ERROR_RESET_REQUIRED);
	set_health(0, DRILL_DEVICE_OK);
	pthread_create(&other, NULL, reset_soon, NULL);
	t = nvml_rig_now_ms();
	OK(n.nvmlDeviceGetTemperature(d[0], 0, &v));
	ck_assert_int_lt(nvml_rig_now_ms() - t, 10000);
	pthread_join(other, NULL);
}
END_TEST

START_TEST(processes_that_compute_on_a_device_are_listed)
{
	nvmlProcessInfo_v1_t one[4];
	nvmlProcessInfo_t info[4];
	unsigned int v = 0;

	start();
	computes(1, 1);
	computes(2, 3);
	p->client[2].shows = 1;
	p->client[2].use[0].device_1 = 2;
	p->client[2].use[0].used_bytes = 777;
	SAYS(n.nvmlDeviceGetComputeRunningProcesses_v3(d[0], &v, NULL),
	     NVML_ERROR_INSUFFICIENT_SIZE);
	ck_assert_uint_eq(v, 2);
	v = 4;
	OK(n.nvmlDeviceGetComputeRunningProcesses_v3(d[1], &v, info));
	ck_assert_uint_eq(v, 1);
	ck_assert_uint_eq(info[0].pid, getpid());
	ck_assert_uint_eq(info[0].usedGpuMemory, 777);
	v = 4;
	OK(n.nvmlDeviceGetComputeRunningProcesses(d[0], &v, one));
	ck_assert(v == 2 && one[1].pid == (unsigned int)getpid());
	ck_assert(one[0].usedGpuMemory == NVML_VALUE_NOT_AVAILABLE);
	p->client[2].hello = DRILL_HELLO_BYE;
	v = 0;
	OK(n.nvmlDeviceGetComputeRunningProcesses_v2(d[1], &v, NULL));
}
END_TEST

/* The CUDA proxy obeys the page, NVML and the log tell it: one fire, one story,
 * in one order. */
START_TEST(three_views_of_one_fault_agree)
{
	struct drill_err err = { 0 };
	struct drill_xid_log l;
	char text[1024] = "", *a, *b, *c;
	FILE *f;

	start();
	nvml_rig_arm_ecc(&rig, 1);
	ck_assert(drill_device_fire(p, 0, 4711, "train"));
	ck_assert_int_eq(p->device[1].context_error, 46);
	ck_assert_uint_eq(field(1, 4, 0), 1);
	ck_assert_uint_eq(field(1, 144, 0), 1);
	ck_assert_uint_eq(field(1, 230, 0), 1);
	ck_assert_uint_eq(field(0, 4, 0), 0);
	ck_assert_int_eq(drill_xid_log_open(&l, p, rig.log_path, &err), 0);
	ck_assert_int_eq(drill_xid_log_drain(&l, NULL, &err), 3);
	drill_xid_log_close(&l);
	f = fopen(rig.log_path, "r");
	ck_assert_uint_gt(fread(text, 1, sizeof(text) - 1, f), 0);
	fclose(f);
	ck_assert_ptr_nonnull(strstr(text, "PCI:0000:ca:00: " NVML_RIG_UUID1));
	a = strstr(text, "NVRM: Xid (PCI:0000:ca:00): 48, pid=4711, "
			 "name=train, DBE");
	b = strstr(text, "NVRM: Xid (PCI:0000:ca:00): 63, ");
	c = strstr(text, "NVRM: Xid (PCI:0000:ca:00): 94, ");
	ck_assert(a && a < b && b < c);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("software NVML");
	TCase *tc = tcase_create("page");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, a_device_is_found_by_all_its_names);
	tcase_add_test(tc, wrong_arguments_are_told);
	tcase_add_test(tc, old_structures_are_not_overrun);
	tcase_add_test(tc, what_stands_on_the_page_is_what_is_read);
	tcase_add_test(tc, errors_are_counted_in_all_their_forms);
	tcase_add_test(tc, every_field_that_is_promised_is_there);
	tcase_add_test(tc, a_link_that_breaks_is_seen_from_both_ends);
	tcase_add_test(tc, of_a_lost_device_every_call_says_so);
	tcase_add_test(tc, a_device_that_is_gone_is_not_counted_at_the_next_start);
	tcase_add_test(tc, a_device_to_be_reset_says_who_it_is_and_what_it_counted);
	tcase_add_test(tc, firmware_that_does_not_answer_blocks_calls_for_so_long);
	tcase_add_test(tc, processes_that_compute_on_a_device_are_listed);
	tcase_add_test(tc, three_views_of_one_fault_agree);
	suite_add_tcase(s, tc);
	return drill_check_main(s);
}
