/* test_devices.c - the agent's side of a device page
 * SPDX-License-Identifier: MIT
 */
#include "check_main.h"

#include "faultdrill/soft_identity.h"
#include "injectors/device/cuda_calls.h"
#include "injectors/hooks/device_step.h"
#include "injectors/hooks/devices.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[64], path[96];
static struct drill_devices d;
static struct drill_err err;
static struct drill_device_fault order;

static void setup(void)
{
	strcpy(dir, "/tmp/fd-devices.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/devices.page", dir);
	memset(&err, 0, sizeof(err));
	memset(&order, 0, sizeof(order));
	order.rank = -1;
	ck_assert_msg(drill_devices_create(&d, path, "h1", 3, &err) == 0, "%s",
		      err.msg);
}

static void teardown(void)
{
	drill_devices_close(&d);
	unlink(path);
	rmdir(dir);
}

static struct drill_device_armed arm(void)
{
	struct drill_device_armed a;

	ck_assert_int_eq(drill_devices_pick(&d, &a, &err), 0);
	ck_assert_msg(drill_devices_arm_at(&d, &order, &a, &err) == 0, "%s",
		      err.msg);
	return a;
}

static void step(uint32_t i, uint32_t device, uint32_t health, uint32_t ecc)
{
	order.steps = i + 1;
	order.step[i] = (struct drill_device_step){ .device = device,
						    .health = health,
						    .xid = 48,
						    .ecc_uncorrected = ecc };
	strcpy(order.step[i].text, "pid=%p, name=%n, something");
}

START_TEST(devices_are_called_as_the_software_driver_calls_them)
{
	struct faultdrill_soft_identity id;
	struct drill_device v;
	char why[64];
	int i;

	ck_assert_int_eq(drill_devices_count(&d), 3);
	for (i = 0; i < 3; i++) {
		faultdrill_soft_identity(&id, "h1", i);
		drill_device_read(d.page, (unsigned int)i, &v);
		ck_assert_mem_eq(v.uuid, id.uuid, 16);
		ck_assert_uint_eq(v.bus, id.bus);
		ck_assert_int_eq(drill_device_by_uuid(d.page, id.uuid), i);
		ck_assert(drill_devices_as_new(&d, (unsigned int)i, why,
					       sizeof(why)));
	}
}
END_TEST

START_TEST(every_device_has_a_link_to_each_of_its_peers)
{
	struct drill_device v;
	uint32_t seen;

	for (unsigned int i = 0; i < 3; i++) {
		drill_device_read(d.page, i, &v);
		seen = 0;
		for (int k = 0; k < DRILL_NVLINKS; k++)
			seen |= 1u << (v.link[k].peer - 1);
		ck_assert_uint_eq(seen, 7u & ~(1u << i));
	}
}
END_TEST

START_TEST(a_page_is_made_once_and_by_its_owner_alone)
{
	struct drill_devices again;
	struct stat st;

	ck_assert_int_eq(drill_devices_create(&again, path, "h1", 3, &err),
			 -EEXIST);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0600);
	ck_assert_int_eq(st.st_size, sizeof(struct drill_device_page));
	/* Allocated, not sparse. */
	ck_assert_int_ge(st.st_blocks * 512, st.st_size);
}
END_TEST

START_TEST(a_damaged_page_is_refused_with_what_is_wrong)
{
	struct drill_devices other;

	ck_assert_int_eq(truncate(path, 100), 0);
	ck_assert_int_eq(drill_devices_open(&other, path, &err), -EPROTO);
	ck_assert_msg(strstr(err.msg, "wrong size") != NULL, "%s", err.msg);
	memset(&err, 0, sizeof(err));
	unlink(path);
	ck_assert_int_eq(drill_devices_open(&other, path, &err), -ENOENT);
}
END_TEST

START_TEST(an_order_out_of_bounds_changes_nothing)
{
	struct drill_device_armed a;

	ck_assert_int_eq(drill_devices_pick(&d, &a, &err), 0);
	order.device = 3;
	ck_assert_int_eq(drill_devices_arm_at(&d, &order, &a, &err), -EINVAL);
	ck_assert_msg(strstr(err.msg, "no device 3: the host has 0 to 2") !=
			      NULL, "%s", err.msg);
	order.device = 0;
	step(0, 3, 0, 0);
	ck_assert_int_eq(drill_devices_arm_at(&d, &order, &a, NULL), -EINVAL);
	ck_assert_uint_eq(atomic_load(&d.page->armed), 0);
}
END_TEST

START_TEST(a_fault_is_ours_by_its_mark_alone)
{
	struct drill_device_armed a = arm(), other = a;
	struct drill_device_fault seen;

	other.mark++;
	ck_assert_int_eq(drill_devices_read(&d, &a, &seen, NULL), 0);
	ck_assert_int_eq(drill_devices_read(&d, &other, &seen, NULL), -ESTALE);
	ck_assert_int_eq(drill_devices_disarm(&d, &other, NULL), 0);
	ck_assert_int_eq(drill_devices_read(&d, &a, &seen, NULL), 0);
	ck_assert_int_eq(drill_devices_arm_at(&d, &order, &other, NULL),
			 -EBUSY);
	ck_assert_int_eq(drill_devices_disarm(&d, &a, NULL), 0);
	ck_assert_int_eq(drill_devices_disarm(&d, &a, NULL), 0);
	ck_assert_int_eq(drill_devices_read(&d, &a, &seen, NULL), -ENOENT);
}
END_TEST

START_TEST(all_faults_taken_is_an_error)
{
	struct drill_device_armed a;
	int i;

	for (i = 0; i < DRILL_DEVICE_FAULTS; i++)
		arm();
	ck_assert_int_eq(drill_devices_pick(&d, &a, &err), -ENOSPC);
}
END_TEST

START_TEST(only_the_calls_that_a_fault_names_take_the_slow_way)
{
	struct drill_device_armed a;
	int i, hot = 0;

	order.action = DRILL_DEVICE_RETURN;
	order.call = 5;
	a = arm();
	for (i = 0; i < DRILL_DEVICE_CALLS; i++)
		hot += atomic_load(&d.page->hot[i]) != 0;
	ck_assert_int_eq(hot, 1);
	ck_assert_uint_eq(atomic_load(&d.page->hot[4]), 1);
	drill_devices_disarm(&d, &a, NULL);
	ck_assert_uint_eq(atomic_load(&d.page->hot[4]), 0);
}
END_TEST

static int hot_entries(void)
{
	int n = 0;

	for (int i = 0; i < DRILL_DEVICE_CALLS; i++)
		n += atomic_load(&d.page->hot[i]) != 0;
	return n;
}

START_TEST(a_call_that_is_named_without_a_version_heats_all_its_entries)
{
	int call = drill_cuda_call("cuMemcpyDtoH", &err);
	struct drill_device_armed a;

	ck_assert_int_ge(call, 0);
	ck_assert(drill_cuda_call_any("cuMemcpyDtoH"));
	ck_assert(!drill_cuda_call_any("cuMemcpyDtoH_v2"));
	ck_assert(!drill_cuda_call_any("cuMemcpyDtoH_v2_ptds"));
	order.action = DRILL_DEVICE_RETURN;
	order.call = 1 + (uint32_t)call;
	order.family = 1;
	a = arm();
	/* cuMemcpyDtoH, _v2, _v2_ptds: three in CUDA 13 */
	ck_assert_int_eq(hot_entries(), 3);
	drill_devices_disarm(&d, &a, NULL);
	ck_assert_int_eq(hot_entries(), 0);
}
END_TEST

static bool is_hot(const char *name)
{
	int call = drill_cuda_call(name, &err);

	ck_assert_int_ge(call, 0);
	return atomic_load(&d.page->hot[call]) != 0;
}

/* A signal that waits for a launch is waited for; one that the agent gives costs
 * no call anything. */
START_TEST(a_signal_with_a_trigger_in_a_process_is_looked_for)
{
	struct drill_device_armed a;

	order.action = DRILL_DEVICE_NOTHING;
	a = arm();
	ck_assert_int_eq(hot_entries(), 0);
	drill_devices_disarm(&d, &a, NULL);
	order.nth = 3;
	a = arm();
	ck_assert(is_hot("cuLaunchKernel"));
	drill_devices_disarm(&d, &a, NULL);
}
END_TEST

START_TEST(a_fault_that_waits_for_a_launch_slows_no_other_call)
{
	struct drill_device_armed a;

	order.action = DRILL_DEVICE_STICKY;
	order.error = 214;
	a = arm();
	ck_assert(is_hot("cuLaunchKernel"));
	ck_assert(is_hot("cuGraphLaunch"));
	ck_assert(!is_hot("cuMemGetInfo"));
	ck_assert(!is_hot("cuStreamSynchronize"));
	ck_assert(drill_device_fire(d.page, (unsigned int)a.fault, 7, "x"));
	ck_assert_int_eq(hot_entries(), DRILL_DEVICE_CALLS);
	drill_devices_disarm(&d, &a, NULL);
}
END_TEST

/* c18 for devices: both are in force, each revert leaves the other. */
START_TEST(c18_taking_one_fault_off_leaves_what_another_did)
{
	struct drill_device_armed a, b;
	struct drill_device v;
	char why[128];

	step(0, 1, DRILL_DEVICE_LOST, 1);
	a = arm();
	step(0, 1, 0, 2);
	b = arm();
	ck_assert(drill_device_fire(d.page, (unsigned int)a.fault, 7, "x"));
	ck_assert(drill_device_fire(d.page, (unsigned int)b.fault, 7, "x"));
	drill_device_read(d.page, 1, &v);
	ck_assert_uint_eq(v.ecc_aggregate[1], 3);
	ck_assert_int_eq(drill_devices_disarm(&d, &a, NULL), 0);
	drill_device_read(d.page, 1, &v);
	ck_assert_uint_eq(v.health, DRILL_DEVICE_OK);
	ck_assert_uint_eq(v.ecc_aggregate[1], 2);
	ck_assert(!drill_devices_as_new(&d, 1, why, sizeof(why)));
	ck_assert_str_eq(why, "uncorrected ECC errors: 2, was 0");
	ck_assert_int_eq(drill_devices_disarm(&d, &b, NULL), 0);
	ck_assert(drill_devices_as_new(&d, 1, why, sizeof(why)));
	ck_assert_uint_eq(atomic_load(&d.page->unwell), 0);
}
END_TEST

START_TEST(lines_are_read_in_order_and_lost_ones_are_passed_over)
{
	struct drill_device_line l;
	uint64_t n = 0;
	int i;

	ck_assert_int_eq(drill_devices_line(&d, &n, &l), -ENOENT);
	for (i = 0; i < DRILL_DEVICE_LINES + 3; i++)
		drill_device_say(d.page, 1, 13, 0, 4, "x");
	ck_assert_int_eq(drill_devices_line(&d, &n, &l), 0);
	ck_assert_uint_eq(l.seq, 4);
	ck_assert_uint_eq(n, 4);
	ck_assert_str_eq(l.text, "NVRM: Xid (PCI:0000:11:00): 13, x");
	n = DRILL_DEVICE_LINES + 3;
	ck_assert_int_eq(drill_devices_line(&d, &n, &l), -ENOENT);
}
END_TEST

START_TEST(a_page_that_speaks_of_any_number_of_lines_is_read_once)
{
	struct drill_device_line l;
	uint64_t n = 0;

	drill_device_say(d.page, 1, 13, 0, 4, "x");
	d.page->lines = UINT64_MAX;
	ck_assert_int_eq(drill_devices_line(&d, &n, &l), -ENOENT);
	ck_assert_int_eq(drill_devices_line(&d, &n, &l), -ENOENT);
}
END_TEST

START_TEST(a_call_is_found_by_its_newest_version)
{
	ck_assert_str_eq(drill_cuda_call_name((unsigned int)drill_cuda_call(
				 "cuMemAlloc", &err)), "cuMemAlloc_v2");
	ck_assert_str_eq(drill_cuda_call_name((unsigned int)drill_cuda_call(
				 "cuStreamSynchronize", &err)),
			 "cuStreamSynchronize");
	ck_assert_int_eq(drill_cuda_call("cuMemAloc", &err), -EINVAL);
	ck_assert_msg(strstr(err.msg, "did you mean 'cuMemAlloc'") != NULL,
		      "%s", err.msg);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("devices");
	TCase *t = tcase_create("devices");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, devices_are_called_as_the_software_driver_calls_them);
	tcase_add_test(t, every_device_has_a_link_to_each_of_its_peers);
	tcase_add_test(t, a_page_is_made_once_and_by_its_owner_alone);
	tcase_add_test(t, a_damaged_page_is_refused_with_what_is_wrong);
	tcase_add_test(t, an_order_out_of_bounds_changes_nothing);
	tcase_add_test(t, a_fault_is_ours_by_its_mark_alone);
	tcase_add_test(t, all_faults_taken_is_an_error);
	tcase_add_test(t, only_the_calls_that_a_fault_names_take_the_slow_way);
	tcase_add_test(t, a_call_that_is_named_without_a_version_heats_all_its_entries);
	tcase_add_test(t, a_signal_with_a_trigger_in_a_process_is_looked_for);
	tcase_add_test(t, a_fault_that_waits_for_a_launch_slows_no_other_call);
	tcase_add_test(t, c18_taking_one_fault_off_leaves_what_another_did);
	tcase_add_test(t, lines_are_read_in_order_and_lost_ones_are_passed_over);
	tcase_add_test(t, a_page_that_speaks_of_any_number_of_lines_is_read_once);
	tcase_add_test(t, a_call_is_found_by_its_newest_version);
	suite_add_tcase(s, t);
	return drill_check_main(s);
}
