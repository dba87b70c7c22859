/* test_scenario_end.c - however a drill ends, what it did is undone
 * SPDX-License-Identifier: MIT
 */
#include "check_main.h"
#include "tests/support/drill_test.h"

#include <string.h>

#define HEAD                                                                   \
	"return scenario { name = 'x', lab = lab.netns { hosts = 4 }, "        \
	"workloads = { job = workload.train { ranks = 4, steps = 40, "         \
	"watchdog = '60s' } }, "                                               \
	"trials = { baseline = 1, null = 0, fault = 1 }, deadline = '30s', "   \
	"faults = { held = host.stop { rank = 2, at = at.manual() } }, "

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

/* The fault took effect, and nothing of it is left; the lab is down. */
static void assert_undone(void)
{
	ck_assert_int_eq(drill_mock.effective, 1);
	ck_assert_int_eq(drill_mock.reverted, 1);
	ck_assert_int_eq(drill_mock.ups, 1);
	ck_assert_int_eq(drill_mock.downs, 1);
}

#define OUTCOME(o, words)                                                      \
	do {                                                                   \
		ck_assert_msg(t.result.outcome == (o), "%s: %s\n%s",           \
			      drill_outcome_name(t.result.outcome),            \
			      t.result.reason, drill_test_reasons(&t, 1));     \
		ck_assert_msg(strstr(drill_test_reasons(&t, 1), (words)),      \
			      "%s", drill_test_reasons(&t, 1));                \
	} while (0)

#define DURING(body)                                                           \
	HEAD "run = function(t) t:wait 'job.steady' "                          \
	     "t:during('held', function() " body " end) end }"

START_TEST(a_script_error_reverts)
{
	run(DURING("t:wait '1s' error('boom')"));
	OUTCOME(DRILL_ERROR, "t.lua:1: boom");
	assert_undone();
}
END_TEST

START_TEST(a_lua_error_reverts)
{
	run(DURING("t:wait '1s' local x = nil + 1"));
	OUTCOME(DRILL_ERROR, "attempt to perform arithmetic on a nil value");
	assert_undone();
}
END_TEST

START_TEST(an_expectation_that_fails_reverts)
{
	run(DURING("t:wait '1s' t:expect('job.attempts', '==', 17)"));
	OUTCOME(DRILL_FAIL, "wanted == 17");
	assert_undone();
}
END_TEST

START_TEST(a_misspelt_fault_in_a_story_is_named_with_the_nearest)
{
	run(DURING("t:inject 'hedl'"));
	OUTCOME(DRILL_ERROR, "no fault 'hedl' (did you mean 'held'?)");
	assert_undone();
}
END_TEST

START_TEST(a_misspelt_instant_in_a_story_is_named_with_the_nearest)
{
	run(DURING("t:wait 'held.detcted'"));
	OUTCOME(DRILL_ERROR, "no instant 'detcted' of a fault (did you mean "
			     "'detected'?)");
	assert_undone();
}
END_TEST

START_TEST(a_misspelt_subject_in_a_story_is_named_with_the_nearest)
{
	run(DURING("t:wait 'hled.detected'"));
	OUTCOME(DRILL_ERROR, "no fault or workload 'hled' (did you mean "
			     "'held'?)");
	assert_undone();
}
END_TEST

START_TEST(sigint_reverts_and_reports)
{
	drill_mock.sigint_s = 8;
	run(DURING("t:wait '20s'"));
	OUTCOME(DRILL_INCONCLUSIVE, "interrupted (Ctrl-C)");
	assert_undone();
	ck_assert_ptr_nonnull(t.result.run);
}
END_TEST

START_TEST(sigterm_reverts_and_reports)
{
	drill_mock.sigint_s = 8;
	drill_mock.signum = 15;
	run(DURING("t:wait '20s'"));
	OUTCOME(DRILL_INCONCLUSIVE, "interrupted (Terminated)");
	assert_undone();
}
END_TEST

START_TEST(an_endless_loop_is_stopped_and_reverts)
{
	run(DURING("t:wait '1s' while true do end"));
	OUTCOME(DRILL_ERROR, "without waiting and was stopped");
	assert_undone();
}
END_TEST

START_TEST(an_endless_loop_inside_pcall_is_stopped_too)
{
	run(DURING("t:wait '1s' while true do "
		   "pcall(function() while true do end end) end"));
	OUTCOME(DRILL_ERROR, "without waiting and was stopped");
	assert_undone();
}
END_TEST

START_TEST(a_story_that_eats_memory_is_stopped_and_reverts)
{
	run(DURING("t:wait '1s' local s = 'x' while true do s = s .. s end"));
	OUTCOME(DRILL_ERROR, "MiB of memory");
	assert_undone();
}
END_TEST

START_TEST(a_story_that_recurses_is_stopped_and_reverts)
{
	run(DURING("t:wait '1s' local function f(n) return 1 + f(n) end f(1)"));
	OUTCOME(DRILL_ERROR, "stack overflow");
	assert_undone();
}
END_TEST

START_TEST(a_deadline_reverts_before_the_job_is_stopped)
{
	run(HEAD "run = function(t) t:wait 'job.steady' t:inject 'held' "
		 "t:wait '10min' end }");
	OUTCOME(DRILL_FAIL, "deadline");
	assert_undone();
	ck_assert_int_eq(drill_mock.stops, 1);
	ck_assert_int_eq(drill_test_count(&t, 1, "fault.reverted", "held"), 1);
}
END_TEST

START_TEST(the_error_of_a_during_reaches_the_story_after_the_revert)
{
	run(HEAD "run = function(t) t:wait 'job.steady' local ok, why = pcall("
		 "function() t:during('held', function() error('boom') end) "
		 "end) t:log(tostring(why)) t:expect('held.count', '==', 1) "
		 "end }");
	assert_undone();
	ck_assert_int_eq(drill_test_count(&t, 1, "log", NULL), 1);
	ck_assert_int_eq(t.result.outcome, DRILL_PASS);
}
END_TEST

START_TEST(twice_interrupted_leaves_at_once)
{
	drill_mock.sigint_s = 8;
	drill_mock.sigint2_s = 8.00001;
	run(DURING("t:wait '20s'"));
	ck_assert_int_eq(drill_mock.downs, 1);
	ck_assert_int_ne(t.result.outcome, DRILL_PASS);
}
END_TEST

static Suite *suite(void)
{
	Suite *s = suite_create("scenario end");
	TCase *c = tcase_create("end");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_set_timeout(c, 60);
	tcase_add_test(c, a_script_error_reverts);
	tcase_add_test(c, a_lua_error_reverts);
	tcase_add_test(c, an_expectation_that_fails_reverts);
	tcase_add_test(c, a_misspelt_fault_in_a_story_is_named_with_the_nearest);
	tcase_add_test(c,
		       a_misspelt_instant_in_a_story_is_named_with_the_nearest);
	tcase_add_test(c,
		       a_misspelt_subject_in_a_story_is_named_with_the_nearest);
	tcase_add_test(c, sigint_reverts_and_reports);
	tcase_add_test(c, sigterm_reverts_and_reports);
	tcase_add_test(c, an_endless_loop_is_stopped_and_reverts);
	tcase_add_test(c, an_endless_loop_inside_pcall_is_stopped_too);
	tcase_add_test(c, a_story_that_eats_memory_is_stopped_and_reverts);
	tcase_add_test(c, a_story_that_recurses_is_stopped_and_reverts);
	tcase_add_test(c, a_deadline_reverts_before_the_job_is_stopped);
	tcase_add_test(c, the_error_of_a_during_reaches_the_story_after_the_revert);
	tcase_add_test(c, twice_interrupted_leaves_at_once);
	suite_add_tcase(s, c);
	return s;
}

int main(void)
{
	return drill_check_main(suite());
}
