/* test_evidence.c - what the hooks saw: told, kept, and what is not believed
 * SPDX-License-Identifier: MIT
 */
#include "check_main.h"

#include "reports/look.h"
#include "reports/seen.h"
#include "tests/support/drill_test.h"

#include <string.h>

#define SCENARIO(faults)                                                       \
	"return scenario { name = 't', lab = lab.netns { hosts = 4 }, "        \
	"workloads = { job = workload.train { ranks = 4, steps = 30 } }, "     \
	"faults = { f = " faults " }, "                                        \
	"trials = { baseline = 1, null = 0, fault = 1 } }"
#define DEVICE SCENARIO("device.xid { code = 79, rank = 1, at = at.step(9) }")
#define KILL SCENARIO("host.kill { rank = 1, at = at.step(9) }")

static struct drill_tested t;

static void run(const char *text)
{
	drill_test_run(text, 7, &t);
	ck_assert_msg(t.loaded == 0 && t.err.code == 0, "%s", t.err.msg);
}

static void done(void)
{
	drill_tested_done(&t);
	memset(&drill_mock, 0, sizeof(drill_mock));
}

START_TEST(a_rank_that_the_cuda_proxy_did_not_see_is_inconclusive)
{
	drill_mock.no_proxy = true;
	run(DEVICE);
	ck_assert_int_eq(t.result.outcome, DRILL_INCONCLUSIVE);
	ck_assert_ptr_nonnull(strstr(drill_test_reasons(&t, 1),
				     "rank 1 runs without the CUDA proxy"));
}
END_TEST

START_TEST(a_second_driver_library_is_inconclusive)
{
	drill_mock.bypass = true;
	run(DEVICE);
	ck_assert_int_eq(t.result.outcome, DRILL_INCONCLUSIVE);
	ck_assert_ptr_nonnull(strstr(drill_test_reasons(&t, 1),
				     "rank 2 has a second libcuda"));
}
END_TEST

START_TEST(processes_without_a_place_on_the_page_are_inconclusive)
{
	drill_mock.refused = 3;
	run(DEVICE);
	ck_assert_int_eq(t.result.outcome, DRILL_INCONCLUSIVE);
	ck_assert_ptr_nonnull(strstr(drill_test_reasons(&t, 1),
				     "3 processes found no place on the device "
				     "page of host h0"));
}
END_TEST

START_TEST(where_no_device_is_hurt_the_proxy_need_not_be_there)
{
	drill_mock.no_proxy = drill_mock.bypass = true;
	drill_mock.refused = 3;
	run(KILL);
	ck_assert_msg(t.result.outcome == DRILL_PASS, "%s", t.result.reason);
}
END_TEST

START_TEST(counters_of_every_process_are_kept)
{
	struct drill_seen_proxies sum;

	run(KILL);
	drill_seen_proxies(drill_test_trial(&t, 1), &sum);
	ck_assert_uint_eq(sum.processes, 4);
	ck_assert(sum.linked == 160 && sum.bypassed == 0);
	ck_assert_uint_eq(drill_look_size(drill_test_trial(&t, 1),
					  "hooks.mpi"), 4);
}
END_TEST

START_TEST(at_a_detection_the_rank_that_others_wait_for_stands_out)
{
	struct drill_seen_moment *m;
	size_t n, i;

	run(KILL);
	m = drill_seen_moments(drill_test_trial(&t, 1), &n);
	ck_assert_uint_ge(n, 1);
	ck_assert_ptr_nonnull(strstr(m[0].at, "detected by "));
	ck_assert_uint_eq(m[0].n, 4);
	for (i = 0; i < 4; i++) {
		ck_assert_int_eq(m[0].rank[i].rank, (int)i);
		ck_assert_int_eq(m[0].rank[i].odd, i == 3);
	}
	drill_seen_free(m, n);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("evidence");
	TCase *c = tcase_create("all");

	tcase_add_checked_fixture(c, NULL, done);
	tcase_add_test(c,
		       processes_without_a_place_on_the_page_are_inconclusive);
	tcase_add_test(c, a_rank_that_the_cuda_proxy_did_not_see_is_inconclusive);
	tcase_add_test(c, a_second_driver_library_is_inconclusive);
	tcase_add_test(c, where_no_device_is_hurt_the_proxy_need_not_be_there);
	tcase_add_test(c, counters_of_every_process_are_kept);
	tcase_add_test(c,
		       at_a_detection_the_rank_that_others_wait_for_stands_out);
	suite_add_tcase(s, c);
	return drill_check_main(s);
}
