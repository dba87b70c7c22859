/* test_launch_blame.c - the launcher's judgement over tables of reports
 * SPDX-License-Identifier: MIT
 *
 * Four ranks, two a host, unless a case says otherwise. Times in milliseconds;
 * all were asked for a sign of life at 1000 and have answered at 1010.
 */
#include "workloads/launch/blame.h"

#include "check_main.h"

#include <faultdrill/progress.h>

#include <signal.h>

#define MS INT64_C(1000000)
#define ASKED (1000 * MS)

static struct launch_report table[8];

static void fill(int n, int ppn)
{
	int i;

	for (i = 0; i < n; i++)
		table[i] = (struct launch_report){
			.host = i / ppn, .state = LAUNCH_ALIVE,
			.heard_ns = 1010 * MS, .step = 16, .collective = 40,
			.busy = -1};
}

static void died(int rank, int ms, int code, int signum)
{
	table[rank].state = LAUNCH_EXITED;
	table[rank].end_ns = ms * MS;
	table[rank].code = code;
	table[rank].signal = signum;
}

static void gone(int rank, int ms)
{
	table[rank].state = LAUNCH_GONE;
	table[rank].end_ns = ms * MS;
}

static void mute(int rank)
{
	table[rank].heard_ns = 700 * MS;
}

static void expect(int n, enum launch_level level, int index, const char *by)
{
	struct launch_blame b = launch_blame(table, n, ASKED);

	ck_assert_int_eq(b.level, level);
	if (level != LAUNCH_NOBODY)
		ck_assert_int_eq(b.index, index);
	ck_assert_str_eq(b.by, by);
	ck_assert_ptr_nonnull(b.why);
}

START_TEST(a_killed_rank_is_blamed)
{
	fill(4, 2);
	died(3, 990, 0, SIGKILL);
	expect(4, LAUNCH_RANK, 3, "launcher");
}
END_TEST

START_TEST(the_first_to_exit_is_blamed_not_those_who_followed)
{
	fill(4, 2);
	died(0, 1300, 1, 0);
	died(1, 990, 1, 0);
	died(2, 1200, 1, 0);
	expect(4, LAUNCH_RANK, 1, "launcher");
}
END_TEST

START_TEST(a_death_by_signal_outweighs_an_exit_at_about_the_same_time)
{
	fill(4, 2);
	died(0, 990, 1, 0);
	died(2, 1010, 0, SIGSEGV);
	died(3, 995, 1, 0);
	expect(4, LAUNCH_RANK, 2, "launcher");
}
END_TEST

START_TEST(a_later_death_by_signal_is_a_consequence)
{
	fill(4, 2);
	died(0, 800, 1, 0);
	died(2, 1010, 0, SIGABRT);
	expect(4, LAUNCH_RANK, 0, "launcher");
}
END_TEST

START_TEST(a_rank_that_was_told_to_end_is_not_to_blame)
{
	fill(4, 2);
	died(0, 980, 0, SIGTERM);
	table[0].told = true;
	died(1, 1000, 1, 0);
	expect(4, LAUNCH_RANK, 1, "launcher");
}
END_TEST

START_TEST(a_rank_that_a_stranger_terminated_is_to_blame)
{
	fill(4, 2);
	died(2, 980, 0, SIGTERM);
	died(1, 990, 1, 0);
	expect(4, LAUNCH_RANK, 2, "launcher");
}
END_TEST

START_TEST(a_rank_that_ended_well_is_never_blamed)
{
	fill(4, 2);
	died(0, 500, 0, 0);
	died(1, 990, 2, 0);
	expect(4, LAUNCH_RANK, 1, "launcher");
}
END_TEST

START_TEST(a_host_of_which_no_rank_answers_is_blamed)
{
	fill(4, 2);
	mute(2);
	mute(3);
	expect(4, LAUNCH_HOST, 1, "heartbeat");
}
END_TEST

START_TEST(a_lost_host_outweighs_the_errors_that_its_peers_met)
{
	fill(4, 2);
	gone(0, 990);
	gone(1, 991);
	died(2, 985, 1, 0);
	died(3, 992, 1, 0);
	expect(4, LAUNCH_HOST, 0, "heartbeat");
}
END_TEST

START_TEST(a_lost_host_of_one_rank_is_blamed_as_host)
{
	fill(4, 1);
	gone(3, 990);
	died(1, 992, 1, 0);
	expect(4, LAUNCH_HOST, 3, "heartbeat");
}
END_TEST

START_TEST(a_silent_host_outweighs_the_watchdogs_of_its_peers)
{
	fill(4, 2);
	mute(2);
	mute(3);
	table[2].collective = table[3].collective = 38;
	table[0].watchdog = table[1].watchdog = -1;
	expect(4, LAUNCH_HOST, 1, "heartbeat");
}
END_TEST

START_TEST(one_silent_starter_is_a_rank)
{
	fill(4, 2);
	mute(1);
	expect(4, LAUNCH_RANK, 1, "heartbeat");
}
END_TEST

START_TEST(when_all_hosts_are_silent_nobody_is_blamed)
{
	fill(4, 2);
	mute(0);
	mute(1);
	mute(2);
	mute(3);
	ck_assert_int_eq(launch_blame(table, 4, ASKED).level, LAUNCH_NOBODY);
}
END_TEST

START_TEST(a_time_out_blames_the_rank_that_is_behind)
{
	int i;

	fill(4, 2);
	for (i = 0; i < 4; i++)
		table[i].watchdog = i == 2 ? 0 : -1;
	table[2].collective = 39;
	expect(4, LAUNCH_RANK, 2, "watchdog");
}
END_TEST

START_TEST(an_abort_by_a_watchdog_is_not_the_cause)
{
	fill(4, 2);
	table[0].watchdog = -1;
	died(0, 990, 70, 0);
	table[1].watchdog = -1;
	died(1, 995, 0, SIGABRT);
	table[3].collective = 39;
	expect(4, LAUNCH_RANK, 3, "watchdog");
}
END_TEST

START_TEST(a_time_out_blames_the_host_that_is_behind_as_a_whole)
{
	fill(6, 2);
	table[2].collective = table[3].collective = 39;
	table[0].watchdog = -1;
	expect(6, LAUNCH_HOST, 1, "watchdog");
}
END_TEST

START_TEST(a_time_out_with_equal_counts_blames_the_quiet_watchdog)
{
	int i;

	fill(4, 2);
	for (i = 0; i < 4; i++)
		table[i].watchdog = i == 1 ? 0 : -1;
	expect(4, LAUNCH_RANK, 1, "watchdog");
}
END_TEST

START_TEST(a_time_out_with_nothing_else_takes_the_watchdogs_vote)
{
	int i;

	fill(4, 2);
	for (i = 0; i < 4; i++)
		table[i].watchdog = 1 + 3;
	table[3].watchdog = 1 + 0;
	expect(4, LAUNCH_RANK, 3, "watchdog");
}
END_TEST

START_TEST(a_rank_that_sleeps_while_the_others_poll_is_the_last_sign)
{
	int i;

	fill(4, 2);
	for (i = 0; i < 4; i++) {
		table[i].watchdog = -1;
		table[i].busy = i == 2 ? 0.001 : 0.3;
	}
	expect(4, LAUNCH_RANK, 2, "watchdog");
}
END_TEST

START_TEST(a_time_out_that_tells_nothing_blames_nobody)
{
	int i;

	fill(4, 2);
	for (i = 0; i < 4; i++)
		table[i].watchdog = -1;
	expect(4, LAUNCH_NOBODY, -1, "watchdog");
}
END_TEST

START_TEST(a_job_of_one_rank_can_be_judged)
{
	fill(1, 1);
	died(0, 990, 3, 0);
	expect(1, LAUNCH_RANK, 0, "launcher");
}
END_TEST

START_TEST(words_of_watchdogs_about_ranks_that_are_not_there_are_ignored)
{
	fill(2, 1);
	table[0].watchdog = 999;
	table[1].watchdog = -7;
	expect(2, LAUNCH_NOBODY, -1, "watchdog");
}
END_TEST

START_TEST(a_rank_that_says_its_device_failed_outweighs_all_that_followed)
{
	fill(4, 2);
	died(0, 980, 0, SIGABRT);
	died(1, 990, FAULTDRILL_EXIT_PEER, 0);
	died(2, 1000, FAULTDRILL_EXIT_DEVICE, 0);
	died(3, 985, 1, 0);
	expect(4, LAUNCH_RANK, 2, "launcher");
}
END_TEST

START_TEST(of_two_whose_devices_failed_the_first_is_blamed)
{
	fill(4, 2);
	died(1, 990, FAULTDRILL_EXIT_DEVICE, 0);
	died(3, 980, FAULTDRILL_EXIT_DEVICE, 0);
	expect(4, LAUNCH_RANK, 3, "launcher");
}
END_TEST

START_TEST(a_rank_whose_state_differs_is_blamed_also_when_it_ends_last)
{
	fill(4, 2);
	died(0, 950, FAULTDRILL_EXIT_PEER, 0);
	died(1, 990, FAULTDRILL_EXIT_PEER, 0);
	died(2, 1020, FAULTDRILL_EXIT_CORRUPT, 0);
	died(3, 985, FAULTDRILL_EXIT_PEER, 0);
	expect(4, LAUNCH_RANK, 2, "launcher");
}
END_TEST

START_TEST(ranks_that_only_saw_somebody_else_fail_blame_nobody)
{
	fill(2, 1);
	died(0, 980, FAULTDRILL_EXIT_PEER, 0);
	died(1, 990, FAULTDRILL_EXIT_PEER, 0);
	ck_assert_int_eq(launch_blame(table, 2, ASKED).level, LAUNCH_NOBODY);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("launch_blame");
	TCase *t = tcase_create("blame");

	tcase_add_test(t, a_killed_rank_is_blamed);
	tcase_add_test(t, the_first_to_exit_is_blamed_not_those_who_followed);
	tcase_add_test(
		t, a_death_by_signal_outweighs_an_exit_at_about_the_same_time);
	tcase_add_test(t, a_later_death_by_signal_is_a_consequence);
	tcase_add_test(t, a_rank_that_was_told_to_end_is_not_to_blame);
	tcase_add_test(t, a_rank_that_a_stranger_terminated_is_to_blame);
	tcase_add_test(t, a_rank_that_ended_well_is_never_blamed);
	tcase_add_test(t, a_host_of_which_no_rank_answers_is_blamed);
	tcase_add_test(t, a_lost_host_outweighs_the_errors_that_its_peers_met);
	tcase_add_test(t, a_lost_host_of_one_rank_is_blamed_as_host);
	tcase_add_test(t, a_silent_host_outweighs_the_watchdogs_of_its_peers);
	tcase_add_test(t, one_silent_starter_is_a_rank);
	tcase_add_test(t, when_all_hosts_are_silent_nobody_is_blamed);
	tcase_add_test(t, a_time_out_blames_the_rank_that_is_behind);
	tcase_add_test(t, an_abort_by_a_watchdog_is_not_the_cause);
	tcase_add_test(t,
		       a_time_out_blames_the_host_that_is_behind_as_a_whole);
	tcase_add_test(t,
		       a_time_out_with_equal_counts_blames_the_quiet_watchdog);
	tcase_add_test(t,
		       a_time_out_with_nothing_else_takes_the_watchdogs_vote);
	tcase_add_test(
		t, a_rank_that_sleeps_while_the_others_poll_is_the_last_sign);
	tcase_add_test(t, a_time_out_that_tells_nothing_blames_nobody);
	tcase_add_test(t, a_job_of_one_rank_can_be_judged);
	tcase_add_test(
		t,
		words_of_watchdogs_about_ranks_that_are_not_there_are_ignored);
	tcase_add_test(
		t, a_rank_that_says_its_device_failed_outweighs_all_that_followed);
	tcase_add_test(
		t, of_two_whose_devices_failed_the_first_is_blamed);
	tcase_add_test(
		t, a_rank_whose_state_differs_is_blamed_also_when_it_ends_last);
	tcase_add_test(
		t, ranks_that_only_saw_somebody_else_fail_blame_nobody);
	suite_add_tcase(s, t);
	return drill_check_main(s);
}
