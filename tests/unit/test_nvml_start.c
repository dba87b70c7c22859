/* test_nvml_start.c - NVML starts, on a good page, a wrong one, a damaged one
 * SPDX-License-Identifier: MIT
 */
#include "check_main.h"

#include "injectors/hooks/device_step.h"
#include "injectors/hooks/hook_page.h"
#include "injectors/hooks/nvml_symbols.h"
#include "tests/support/nvml_rig.h"

#include <dlfcn.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
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

START_TEST(every_entry_point_is_exported)
{
	nvml_rig_load(&rig, "soft", &n);
#define IS_THERE(name) ck_assert_msg(dlsym(rig.lib, #name) != NULL, #name);
	DRILL_NVML_OF_DEVICE(IS_THERE)
	DRILL_NVML_OTHER(IS_THERE)
	ck_assert_str_eq(n.nvmlErrorString(NVML_ERROR_GPU_IS_LOST),
			 "GPU is lost");
	ck_assert_str_eq(n.nvmlErrorString(4711), "Unknown Error");
}
END_TEST

START_TEST(nothing_answers_before_the_start_and_after_the_end)
{
	nvmlReturn_t (*fan)(nvmlDevice_t, unsigned int *);
	unsigned int v;

	nvml_rig_load(&rig, "soft", &n);
	*(void **)&fan = dlsym(rig.lib, "nvmlDeviceGetFanSpeed");
	SAYS(n.nvmlDeviceGetCount_v2(&v), NVML_ERROR_UNINITIALIZED);
	SAYS(fan(NULL, &v), NVML_ERROR_UNINITIALIZED);
	SAYS(n.nvmlShutdown(), NVML_ERROR_UNINITIALIZED);
	OK(n.nvmlInit());
	OK(n.nvmlInitWithFlags(0));
	OK(n.nvmlShutdown());
	OK(n.nvmlDeviceGetCount(&v));
	OK(n.nvmlShutdown());
	SAYS(n.nvmlDeviceGetCount(&v), NVML_ERROR_UNINITIALIZED);
	OK(n.nvmlInit_v2());
	OK(n.nvmlDeviceGetCount(&v));
}
END_TEST

START_TEST(a_process_that_asks_says_hello_once)
{
	start();
	OK(n.nvmlShutdown());
	OK(n.nvmlInit_v2());
	ck_assert_uint_eq(p->client[0].hello, DRILL_HELLO_HERE);
	ck_assert_uint_eq(p->client[0].proxies, 2);
	ck_assert_int_eq(p->client[0].pid, getpid());
	ck_assert_str_eq(p->client[0].next, "soft");
	ck_assert_uint_eq(p->client[1].claimed, 0);
	OK(n.nvmlShutdown());
	ck_assert_uint_eq(p->client[0].hello, DRILL_HELLO_BYE);
}
END_TEST

/* Many monitors, one after the other, leave room for those who compute. */
START_TEST(a_dead_monitors_slot_is_used_again)
{
	int status;
	pid_t pid;

	nvml_rig_load(&rig, "soft", &n);
	for (int i = 0; i < 3; i++) {
		pid = fork();
		if (!pid)
			_exit((int)n.nvmlInit_v2());
		ck_assert_int_eq(waitpid(pid, &status, 0), pid);
		ck_assert_int_eq(status, 0);
		ck_assert_int_eq(p->client[0].pid, pid);
	}
	ck_assert_uint_eq(p->client[1].claimed, 0);
	setenv("FAULTDRILL_RANK", "3", 1);
	OK(n.nvmlInit_v2());
	ck_assert_int_eq(p->client[1].rank, 3);
}
END_TEST

START_TEST(a_wrong_page_is_no_driver)
{
	nvml_rig_load(&rig, "soft", &n);
	if (_i == 0)
		p->version++;
	else if (_i == 1)
		ck_assert_int_eq(truncate(rig.page_path, 4096), 0);
	else if (_i == 2)
		ck_assert_int_eq(chmod(rig.page_path, 0666), 0);
	else
		unlink(rig.page_path);
	SAYS(n.nvmlInit_v2(), NVML_ERROR_DRIVER_NOT_LOADED);
	SAYS(n.nvmlShutdown(), NVML_ERROR_UNINITIALIZED);
}
END_TEST

/* Noise over all devices, lines and clients. */
START_TEST(a_damaged_page_crashes_no_monitor)
{
	unsigned int a, b, c, e, v = 4;
	unsigned long long w[8];
	nvmlProcessInfo_t info[4];
	nvmlFieldValue_t f;
	nvmlEventSet_t set;
	nvmlEventData_t ev;
	nvmlPciInfo_t pci;
	char t[96];

	start();
	OK(n.nvmlEventSetCreate(&set));
	OK(n.nvmlDeviceRegisterEvents(d[0], 8, set));
	srand((unsigned int)_i);
	for (size_t i = offsetof(struct drill_device_page, lines);
	     i < sizeof(*p); i++)
		((unsigned char *)p)[i] = (unsigned char)rand();
	for (unsigned int i = 0; i < 2; i++) {
		p->device[i].health = DRILL_DEVICE_OK;
		p->device[i].nvml_block_ms = 0;
		p->device[i].seq = 0;
		n.nvmlDeviceGetUUID(d[i], t, sizeof(t));
		n.nvmlDeviceGetName(d[i], t, sizeof(t));
		n.nvmlDeviceGetSerial(d[i], t, sizeof(t));
		n.nvmlDeviceGetPciInfo_v3(d[i], &pci);
		n.nvmlDeviceGetRemappedRows(d[i], &a, &b, &c, &e);
		v = 4;
		n.nvmlDeviceGetRetiredPages(d[i], 1, &v, w);
		v = 4;
		n.nvmlDeviceGetComputeRunningProcesses_v3(d[i], &v, info);
		for (unsigned int k = 0; k < 18; k++)
			n.nvmlDeviceGetNvLinkRemotePciInfo_v2(d[i], k, &pci);
		for (unsigned int k = 0; k < 256; k++) {
			f.fieldId = k;
			f.scopeId = (unsigned int)rand();
			n.nvmlDeviceGetFieldValues(d[i], 1, &f);
		}
	}
	for (int i = 0; i < 20; i++)
		n.nvmlEventSetWait_v2(set, &ev, 0);
	OK(n.nvmlEventSetFree(set));
	set_health(0, 0xffff);
	n.nvmlShutdown();
	n.nvmlInit_v2();
}
END_TEST

START_TEST(a_monitors_program_shows_all_of_it)
{
	char line[2][1024] = { "", "" };
	FILE *f;

	nvml_rig_arm_ecc(&rig, 1);
	ck_assert(drill_device_fire(p, 0, 4711, "train"));
	set_health(0, DRILL_DEVICE_LOST);
	setenv("FAULTDRILL_DEVICES", rig.page_path, 1);
	setenv("FAULTDRILL_NVML_NEXT", "soft", 1);
	setenv("LD_LIBRARY_PATH", nvml_rig_built("hooks/cuda"), 1);
	f = popen(nvml_rig_built("tests/programs/nvml_show"), "r");
	ck_assert_ptr_nonnull(fgets(line[0], sizeof(line[0]), f));
	ck_assert_ptr_nonnull(fgets(line[1], sizeof(line[1]), f));
	ck_assert_int_eq(pclose(f), 0);
	ck_assert_str_eq(line[0], "0 state=!15\n");
	ck_assert_ptr_nonnull(strstr(line[1], "1 state=0 uuid="
				     NVML_RIG_UUID1 " pci=00000000:CA:00.0 "));
	ck_assert_ptr_nonnull(strstr(line[1], " ecc_uncorrected=1 "));
	ck_assert_ptr_nonnull(strstr(line[1], " rows_pending=1 "));
	ck_assert_ptr_nonnull(strstr(line[1], " recovery=1 "));
	ck_assert_ptr_nonnull(strstr(line[1], " links=18 links_up=18 "));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("NVML's start");
	TCase *tc = tcase_create("page");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, every_entry_point_is_exported);
	tcase_add_test(tc, nothing_answers_before_the_start_and_after_the_end);
	tcase_add_test(tc, a_process_that_asks_says_hello_once);
	tcase_add_test(tc, a_dead_monitors_slot_is_used_again);
	tcase_add_loop_test(tc, a_wrong_page_is_no_driver, 0, 4);
	tcase_add_loop_test(tc, a_damaged_page_crashes_no_monitor, 0, 4);
	tcase_add_test(tc, a_monitors_program_shows_all_of_it);
	suite_add_tcase(s, tc);
	return drill_check_main(s);
}
