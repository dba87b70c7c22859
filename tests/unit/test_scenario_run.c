/* test_scenario_run.c - scenario logic from text to verdict, on a virtual clock
 * SPDX-License-Identifier: MIT
 */
#include "check_main.h"
#include "harness/core/jsonx.h"
#include "tests/support/drill_test.h"

#include <math.h>
#include <string.h>

#define JOB                                                                    \
	"workloads = { job = workload.train { ranks = 4, steps = 40, "         \
	"checkpoint_every = 10, watchdog = '5s' } }, "                         \
	"lab = lab.netns { hosts = 4, spares = 1 }, "
#define ONE "trials = { baseline = 1, null = 0, fault = 1 }, "
#define KILL "faults = { lost = host.kill { rank = 3, at = at.step(24) } }, "
#define STOP "faults = { held = host.stop { rank = 2, at = at.step(12) } }, "
#define BY_HAND                                                                \
	"faults = { held = host.stop { rank = 2, at = at.manual() } }, "
#define SCENARIO(...) "return scenario { name = 'x', " JOB __VA_ARGS__ "}"

static struct drill_tested t;

static void setup(void)
{
	memset(&drill_mock, 0, sizeof(drill_mock));
}

static void teardown(void)
{
	drill_tested_done(&t);
}

static void run(const char *text)
{
	drill_test_run(text, 7, &t);
	ck_assert_msg(t.loaded == 0, "%s", t.err.msg);
}

#define OUTCOME(o)                                                             \
	ck_assert_msg(t.result.outcome == (o), "%s: %s\n%s",                   \
		      drill_outcome_name(t.result.outcome), t.result.reason,   \
		      drill_test_reasons(&t, 1))

static json_t *expectation(size_t i)
{
	return json_array_get(json_object_get(t.result.run, "expectations"), i);
}

START_TEST(a_killed_rank_is_noticed_blamed_and_comes_back)
{
	run(SCENARIO(KILL ONE "expect = { "
		"{ 'lost.time_to_detect', '<', '1s' }, "
		"{ 'lost.blame', '==', 'target' }, "
		"{ 'lost.time_to_resume', '<', '3s' }, "
		"{ 'lost.time_to_resume', '<', 'watchdog + 3 steps' }, "
		"{ 'lost.lost_compute', '<', '60 rank*s' }, "
		"{ 'job.goodput', '>', '10% of baseline' }, "
		"{ 'job.final_state', '==', 'baseline' } }"));
	OUTCOME(DRILL_PASS);
	ck_assert_int_eq(drill_test_count(&t, 1, "attempt.begin", NULL), 2);
	ck_assert_int_eq(drill_test_count(&t, 1, "fault.effective", "lost"), 1);
	ck_assert_int_eq(drill_test_count(&t, 0, "fault.effective", NULL), 0);
	ck_assert_int_eq(drill_mock.downs, drill_mock.ups);
}
END_TEST

START_TEST(an_expectation_that_does_not_hold_fails_with_value_and_limit)
{
	run(SCENARIO(KILL ONE "expect = { "
		"{ 'lost.time_to_detect', '<', '400ms' } }"));
	OUTCOME(DRILL_FAIL);
	ck_assert_ptr_nonnull(strstr(t.result.reason, "lost.time_to_detect is "
						      "0.5 s, wanted < "
						      "\"400ms\""));
	ck_assert(json_is_false(json_object_get(expectation(0), "held")));
}
END_TEST

START_TEST(never_detected_is_never_and_never_is_greater_than_any_limit)
{
	drill_mock.no_detection = true;
	run(SCENARIO(KILL ONE "deadline = '30s', expect = { "
		"{ 'lost.time_to_detect', '<', '10h' }, "
		"{ 'lost.time_to_detect', '==', 'never' } }"));
	OUTCOME(DRILL_FAIL);
	ck_assert(json_is_false(json_object_get(expectation(0), "held")));
	ck_assert(json_is_true(json_object_get(expectation(1), "held")));
	ck_assert_str_eq(drill_json_text(expectation(0), "value"), "never");
}
END_TEST

START_TEST(the_drill_value_is_the_worst_of_its_trials)
{
	run(SCENARIO(KILL "trials = { baseline = 1, null = 1, fault = 3 }, "
		"expect = { { 'lost.time_to_detect', '<', '1s' } }"));
	OUTCOME(DRILL_PASS);
	ck_assert_int_eq(json_integer_value(json_object_get(expectation(0),
							    "n")), 3);
	ck_assert_int_eq(drill_mock.jobs, 5);
}
END_TEST

START_TEST(a_median_needs_five_trials_and_says_how_many_are_missing)
{
	run(SCENARIO(KILL "trials = { baseline = 1, null = 0, fault = 3 }, "
		"expect = { { 'lost.time_to_detect', '<', '1s', 'p50' } }"));
	OUTCOME(DRILL_INCONCLUSIVE);
	ck_assert_ptr_nonnull(strstr(t.result.reason, "2 more trials"));
	drill_tested_done(&t);
	run(SCENARIO(KILL "trials = { baseline = 1, null = 0, fault = 5 }, "
		"expect = { { 'lost.time_to_detect', '<', '1s', 'p50' } }"));
	OUTCOME(DRILL_PASS);
}
END_TEST

START_TEST(an_armed_fault_that_never_fires_is_inconclusive_and_names_the_host)
{
	run(SCENARIO("faults = { late = host.kill { rank = 3, "
		     "at = at.step(999) } }, " ONE));
	OUTCOME(DRILL_INCONCLUSIVE);
	ck_assert_ptr_nonnull(strstr(t.result.reason, "'late' never fired; it "
						      "was armed on host h3"));
}
END_TEST

START_TEST(a_rank_without_the_hook_is_inconclusive_only_where_one_is_needed)
{
	drill_mock.no_hook = true;
	run(SCENARIO("faults = { h = collective.hang { rank = 1, at = "
		     "at.step(12):inside 'allreduce' } }, " ONE));
	OUTCOME(DRILL_INCONCLUSIVE);
	ck_assert_ptr_nonnull(strstr(drill_test_reasons(&t, 1),
				     "rank 0 runs without the hook"));
	drill_tested_done(&t);
	run(SCENARIO(KILL ONE));
	OUTCOME(DRILL_PASS);
}
END_TEST

START_TEST(a_fault_once_does_not_come_again_after_the_rollback)
{
	run(SCENARIO(KILL ONE));
	ck_assert_int_eq(drill_test_count(&t, 1, "fault.effective", "lost"), 1);
	ck_assert_int_eq(drill_test_count(&t, 1, "attempt.begin", NULL), 2);
}
END_TEST

START_TEST(a_fault_in_every_attempt_ends_as_livelock)
{
	run(SCENARIO("faults = { lost = host.kill { rank = 3, at = at.step(24),"
		     " refire = 'every_attempt' } }, " ONE));
	OUTCOME(DRILL_FAIL);
	ck_assert_ptr_nonnull(strstr(drill_test_reasons(&t, 1), "livelock"));
	ck_assert_int_gt(drill_test_count(&t, 1, "fault.effective", "lost"), 2);
}
END_TEST

START_TEST(a_fault_with_a_count_fires_that_often)
{
	run(SCENARIO("faults = { lost = host.kill { rank = 3, at = at.step(24),"
		     " refire = 2 } }, " ONE));
	ck_assert_int_eq(drill_test_count(&t, 1, "fault.effective", "lost"), 2);
	ck_assert_int_eq(drill_test_count(&t, 1, "attempt.begin", NULL), 3);
}
END_TEST

START_TEST(a_duration_counts_from_the_effect)
{
	drill_mock.bite_s = 2;
	run(SCENARIO("faults = { held = host.stop { rank = 2, duration = '3s', "
		     "at = at.step(12) } }, " ONE));
	ck_assert_double_eq_tol(drill_mock.reverted_s - drill_mock.effective_s,
				3, 0.01);
}
END_TEST

START_TEST(a_duration_in_steps_ends_after_them)
{
	run(SCENARIO("faults = { slow = collective.delay { rank = 1, delay = "
		     "'200ms', at = at.step(12), duration = '5 steps' } }, "
		     ONE));
	OUTCOME(DRILL_PASS);
	ck_assert_double_eq_tol(drill_mock.reverted_s - drill_mock.effective_s,
				1.5, 0.2);
}
END_TEST

START_TEST(a_fault_may_follow_another_and_last_until_an_instant)
{
	run(SCENARIO("faults = { one = host.kill { rank = 3, at = at.step(14) }, "
		"two = host.stop { rank = 1, at = at.after('one.effective', "
		"'1s'), duration = '1s' }, "
		"three = collective.delay { rank = 0, delay = '1ms', at = "
		"at.same 'one', duration = until_('one.resumed') } }, " ONE));
	ck_assert_int_eq(drill_test_count(&t, 1, "fault.effective", "two"), 1);
	ck_assert_int_eq(drill_test_count(&t, 1, "fault.effective", "three"),
			 1);
	ck_assert_int_eq(drill_test_count(&t, 1, "fault.reverted", "three"), 1);
	ck_assert_int_eq(drill_mock.effective, drill_mock.reverted);
}
END_TEST

START_TEST(a_fault_after_an_instant_that_only_measuring_sees_fires_then)
{
	run(SCENARIO("faults = { one = host.kill { rank = 3, at = at.step(14) }, "
		"two = host.stop { rank = 1, duration = '1s', "
		"at = at.after 'one.resumed' } }, " ONE));
	ck_assert_int_eq(drill_test_count(&t, 1, "fault.effective", "two"), 1);
}
END_TEST

START_TEST(a_story_holds_a_fault_during_its_body)
{
	run(SCENARIO(BY_HAND ONE "run = function(t) "
		"t:start 'job' t:wait 'job.steady' "
		"t:during('held', function() t:wait '2s' end) "
		"t:log('now %.1f', t:now()) "
		"end"));
	OUTCOME(DRILL_PASS);
	ck_assert_int_eq(drill_mock.effective, 1);
	ck_assert_int_eq(drill_mock.reverted, 1);
	ck_assert_double_eq_tol(drill_mock.reverted_s - drill_mock.effective_s,
				2, 0.3);
}
END_TEST

START_TEST(a_story_that_does_not_start_the_job_finds_it_started)
{
	run(SCENARIO(BY_HAND ONE "run = function(t) t:wait 'job.steady' "
		"t:inject 'held' t:wait '1s' t:revert 'held' end"));
	OUTCOME(DRILL_PASS);
}
END_TEST

START_TEST(a_story_waits_for_detection_and_expects_at_that_point)
{
	run(SCENARIO(KILL ONE "run = function(t) t:wait 'lost.detected' "
		"t:expect('lost.time_to_detect', '<', '1s') "
		"t:eventually('20s', 'lost.time_to_resume', '<', '5s') end"));
	OUTCOME(DRILL_PASS);
	ck_assert_uint_eq(json_array_size(json_object_get(
				  drill_test_trial(&t, 1), "expects")), 2);
}
END_TEST

START_TEST(an_expectation_of_a_story_that_fails_says_where)
{
	run(SCENARIO(KILL ONE "run = function(t) t:wait 'lost.detected' "
		"t:expect('lost.time_to_detect', '<', '1ms') end"));
	OUTCOME(DRILL_FAIL);
	ck_assert_ptr_nonnull(strstr(t.result.reason,
				     "t.lua:1: lost.time_to_detect is"));
}
END_TEST

START_TEST(eventually_that_runs_out_fails)
{
	run(SCENARIO(STOP ONE "run = function(t) t:wait 'held.effective' "
		"t:eventually('1s', 'held.time_to_detect', '<', '1s') end"));
	OUTCOME(DRILL_FAIL);
}
END_TEST

START_TEST(a_story_may_skip_with_its_reason)
{
	run(SCENARIO(KILL ONE "run = function(t) t:skip 'no such thing' end"));
	ck_assert_ptr_nonnull(strstr(drill_test_reasons(&t, 1),
				     "no such thing"));
	ck_assert_str_eq(drill_json_text(drill_test_trial(&t, 1), "outcome"),
			 "skip");
}
END_TEST

START_TEST(waiting_for_what_can_no_longer_come_ends_the_story)
{
	run(SCENARIO(BY_HAND ONE "run = function(t) "
		"t:wait 'held.effective' end"));
	OUTCOME(DRILL_ERROR);
	ck_assert_ptr_nonnull(strstr(t.result.reason, "can no longer come"));
}
END_TEST

START_TEST(abort_reverts_and_is_inconclusive)
{
	run(SCENARIO("faults = { held = host.stop { rank = 2, at = "
		     "at.step(12) } }, " ONE
		     "abort = { { 'job.stalled', '>', '1 rank*s' } }"));
	OUTCOME(DRILL_INCONCLUSIVE);
	ck_assert_ptr_nonnull(strstr(t.result.reason, "aborted"));
	ck_assert_int_eq(drill_mock.effective, drill_mock.reverted);
}
END_TEST

START_TEST(a_probe_that_says_no_skips_with_needs_and_host)
{
	drill_mock.probe_says_no = true;
	run(SCENARIO(KILL ONE));
	OUTCOME(DRILL_SKIP);
	ck_assert_str_eq(t.result.reason, "needs a thing that is not here on "
					  "host h3");
	ck_assert_int_eq(drill_mock.jobs, 0);
}
END_TEST

START_TEST(a_snapshot_that_differs_is_dirty_line_by_line)
{
	drill_mock.snapshot_differs = true;
	run(SCENARIO(KILL ONE));
	OUTCOME(DRILL_DIRTY);
	ck_assert_ptr_nonnull(strstr(t.result.reason, "eth1 netem"));
}
END_TEST

START_TEST(a_revert_that_fails_is_dirty)
{
	drill_mock.revert_fails = true;
	run(SCENARIO(STOP ONE));
	OUTCOME(DRILL_DIRTY);
}
END_TEST

START_TEST(needs_that_the_lab_does_not_meet_skip)
{
	run(SCENARIO(KILL ONE "needs = { spares = '>=2' }"));
	OUTCOME(DRILL_SKIP);
	ck_assert_str_eq(t.result.reason, "needs 2 spares, this lab has 1");
	ck_assert_int_eq(drill_mock.ups, 0);
}
END_TEST

START_TEST(an_expectation_without_a_trial_is_inconclusive)
{
	run(SCENARIO(KILL "trials = { baseline = 1, null = 1, fault = 0 }, "
		"expect = { { 'lost.time_to_detect', '<', '1s' } }"));
	OUTCOME(DRILL_INCONCLUSIVE);
	ck_assert_ptr_nonnull(strstr(t.result.reason, "no trial to judge"));
}
END_TEST

START_TEST(no_faults_only_watches)
{
	run(SCENARIO("trials = { baseline = 1, null = 0, fault = 1 }, "
		     "expect = { { 'job.finished', '==', true } }"));
	OUTCOME(DRILL_PASS);
}
END_TEST

static double drawn_rank(uint64_t seed)
{
	json_t *list;
	size_t i;

	setup();
	drill_test_run(SCENARIO("faults = { lost = host.kill { rank = "
				"pick.any 'rank', at = at.step(24) } }, "
				"trials = { baseline = 0, null = 0, fault = 1 }"),
		       seed, &t);
	list = json_object_get(t.result.run, "draws");
	ck_assert_uint_eq(json_array_size(list), 1);
	i = (size_t)json_integer_value(json_array_get(
		json_object_get(json_array_get(list, 0), "value"), 0));
	drill_tested_done(&t);
	return (double)i;
}

START_TEST(the_same_seed_draws_the_same_and_seeds_differ)
{
	bool differ = false;
	uint64_t s;

	for (s = 1; s < 8; s++) {
		ck_assert(drawn_rank(s) == drawn_rank(s));
		differ |= drawn_rank(s) != drawn_rank(s + 1);
	}
	ck_assert(differ);
}
END_TEST

/* Draws and what came of them stand in the events and agree. */
START_TEST(random_gaps_are_recorded_and_honoured)
{
	double drawn, got, sum = 0;
	json_t *e;
	size_t i;
	int n = 0;

	drill_test_run("return scenario { name = 'x', lab = lab.netns { hosts = "
		       "4 }, workloads = { job = workload.train { ranks = 4, "
		       "steps = 2000 } }, faults = { f = null.noop { rank = 0, "
		       "at = at.poisson { mtbf = '500ms' } } }, trials = { "
		       "baseline = 0, null = 0, fault = 1 }, deadline = '8min' "
		       "}", 3, &t);
	json_array_foreach(t.result.events, i, e) {
		json_t *ev = json_object_get(e, "evidence");

		if (strcmp(drill_json_text(e, "kind"), "fault.requested") != 0)
			continue;
		drawn = json_number_value(json_object_get(ev, "drawn_gap_s"));
		got = json_number_value(json_object_get(ev, "achieved_gap_s"));
		ck_assert_double_eq_tol(drawn, got, 0.001);
		sum += drawn;
		n++;
	}
	ck_assert_int_gt(n, 200);
	ck_assert_double_eq_tol(sum / n, 0.5, 0.15);
}
END_TEST

START_TEST(a_thousand_steps_take_no_time)
{
	run(SCENARIO(KILL ONE));
	ck_assert_int_gt((int)drill_mock.events, 100);
}
END_TEST

static Suite *suite(void)
{
	Suite *s = suite_create("scenario run");
	TCase *c = tcase_create("run");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_set_timeout(c, 60);
	tcase_add_test(c, a_killed_rank_is_noticed_blamed_and_comes_back);
	tcase_add_test(c, an_expectation_that_does_not_hold_fails_with_value_and_limit);
	tcase_add_test(c, never_detected_is_never_and_never_is_greater_than_any_limit);
	tcase_add_test(c, the_drill_value_is_the_worst_of_its_trials);
	tcase_add_test(c, a_median_needs_five_trials_and_says_how_many_are_missing);
	tcase_add_test(c, an_armed_fault_that_never_fires_is_inconclusive_and_names_the_host);
	tcase_add_test(c, a_rank_without_the_hook_is_inconclusive_only_where_one_is_needed);
	tcase_add_test(c, a_fault_once_does_not_come_again_after_the_rollback);
	tcase_add_test(c, a_fault_in_every_attempt_ends_as_livelock);
	tcase_add_test(c, a_fault_with_a_count_fires_that_often);
	tcase_add_test(c, a_duration_counts_from_the_effect);
	tcase_add_test(c, a_duration_in_steps_ends_after_them);
	tcase_add_test(c, a_fault_may_follow_another_and_last_until_an_instant);
	tcase_add_test(c, a_fault_after_an_instant_that_only_measuring_sees_fires_then);
	tcase_add_test(c, a_story_holds_a_fault_during_its_body);
	tcase_add_test(c, a_story_that_does_not_start_the_job_finds_it_started);
	tcase_add_test(c, a_story_waits_for_detection_and_expects_at_that_point);
	tcase_add_test(c, an_expectation_of_a_story_that_fails_says_where);
	tcase_add_test(c, eventually_that_runs_out_fails);
	tcase_add_test(c, a_story_may_skip_with_its_reason);
	tcase_add_test(c, waiting_for_what_can_no_longer_come_ends_the_story);
	tcase_add_test(c, abort_reverts_and_is_inconclusive);
	tcase_add_test(c, a_probe_that_says_no_skips_with_needs_and_host);
	tcase_add_test(c, a_snapshot_that_differs_is_dirty_line_by_line);
	tcase_add_test(c, a_revert_that_fails_is_dirty);
	tcase_add_test(c, needs_that_the_lab_does_not_meet_skip);
	tcase_add_test(c, an_expectation_without_a_trial_is_inconclusive);
	tcase_add_test(c, no_faults_only_watches);
	tcase_add_test(c, the_same_seed_draws_the_same_and_seeds_differ);
	tcase_add_test(c, random_gaps_are_recorded_and_honoured);
	tcase_add_test(c, a_thousand_steps_take_no_time);
	suite_add_tcase(s, c);
	return s;
}

int main(void)
{
	return drill_check_main(suite());
}
