/* test_agent.c - a whole agent with its keeper and a job
 * SPDX-License-Identifier: MIT
 */
#include "check_main.h"

#include "harness/agent/heal.h"
#include "harness/agent/process.h"
#include "harness/core/clock.h"
#include "harness/core/jsonx.h"
#include "harness/core/outcome.h"
#include "harness/core/proto.h"
#include "injectors/host/freezer.h"
#include "tests/support/agent_rig.h"

#include "faultdrill/progress.h"

#include <errno.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static struct rig g;
static pid_t job;

static void setup(void)
{
	rig_init(&g);
	job = 0;
}

static void teardown(void)
{
	rig_end_process(job);
	rig_down(&g);
}

static json_t *one(json_t *f)
{
	return json_pack("[o]", f);
}

static json_t *event(const char *kind, const char *fault, int ms)
{
	char name[64];

	snprintf(name, sizeof(name), "event.%s", kind);
	return json_object_get(rig_wait(&g, name, fault, ms), "event");
}

static int64_t field(json_t *e, const char *name)
{
	return json_integer_value(json_object_get(e, name));
}

/* ---- the life of a fault ---- */

#define AT_5 "{\"at\":{\"on\":\"step\",\"steps\":[5]}"

START_TEST(a_fault_at_a_step_takes_effect_inside_that_step)
{
	json_t *r, *i, *e, *v, *m;
	int64_t begin = 0, end = 0;
	size_t k;

	rig_up(&g, one(rig_fault("f", "null.noop", AT_5 "}")));
	job = rig_job(&g, 0, 1, 12, 20000);
	ck_assert_ptr_nonnull(e = event("fault.effective", "f", 10000));
	r = event("fault.requested", "f", 0);
	i = event("fault.issued", "f", 0);
	ck_assert(r && i);
	ck_assert_ptr_nonnull(event("rank.end", NULL, 10000));
	json_array_foreach(g.seen, k, m) {
		v = json_object_get(m, "event");
		if (v && field(v, "step") == 5 &&
		    !strcmp(drill_json_text(v, "kind"), "step.begin"))
			begin = field(v, "h_ns");
		if (v && field(v, "step") == 5 &&
		    !strcmp(drill_json_text(v, "kind"), "step.end"))
			end = field(v, "h_ns");
	}
	ck_assert_int_le(begin, field(r, "h_ns"));
	ck_assert_int_le(field(r, "h_ns"), field(i, "h_ns"));
	ck_assert_int_le(field(i, "h_ns"), field(e, "h_ns"));
	ck_assert_int_lt(field(e, "h_ns") + field(e, "u_ns"), end);
	ck_assert_int_eq(rig_count(&g, "event.fault.effective", "f"), 1);
	ck_assert_int_eq(rig_count(&g, "event.step.begin", NULL), 12);
}
END_TEST

START_TEST(a_killed_rank_is_told_with_its_signal)
{
	json_t *e;

	rig_up(&g, one(rig_fault("f", "host.kill", AT_5 "}")));
	job = rig_job(&g, 0, 1, 1000, 5000);
	ck_assert_ptr_nonnull(event("fault.effective", "f", 10000));
	ck_assert_ptr_nonnull(e = event("rank.end", NULL, 5000));
	ck_assert_int_eq(field(e, "signal"), SIGKILL);
	ck_assert_int_eq(field(e, "pid"), job);
	ck_assert_str_eq(
		drill_json_text(rig_wait(&g, "reverted", "f", 1000), "state"),
		"irreversible");
}
END_TEST

START_TEST(a_rank_that_ends_is_told_with_its_code)
{
	json_t *e;

	rig_up(&g, json_array());
	job = rig_job(&g, 0, 1, 3, 5000);
	ck_assert_ptr_nonnull(e = event("rank.begin", NULL, 5000));
	ck_assert_int_eq(field(e, "pid"), job);
	ck_assert_ptr_nonnull(e = event("rank.end", NULL, 5000));
	ck_assert_int_eq(field(e, "code"), 0);
	ck_assert(json_object_get(e, "code") != NULL);
}
END_TEST

START_TEST(a_manual_fault_waits_for_its_word_and_for_the_revert)
{
	rig_up(&g, one(rig_fault("f", "host.stop",
				 "{\"at\":{\"on\":\"manual\"}}")));
	job = rig_job(&g, 0, 1, 100000, 5000);
	ck_assert_ptr_nonnull(event("rank.begin", NULL, 5000));
	ck_assert_int_eq(rig_count(&g, "event.fault.requested", NULL), 0);
	rig_send(&g, json_pack("{s:s,s:s}", "kind", "fire", "fault", "f"));
	ck_assert_ptr_nonnull(event("fault.effective", "f", 5000));
	ck_assert_int_eq(drill_process_state(job), 'T');
	rig_send(&g, json_pack("{s:s,s:s}", "kind", "revert", "fault", "f"));
	ck_assert_str_eq(
		drill_json_text(rig_wait(&g, "reverted", "f", 5000), "state"),
		"clean");
	ck_assert_int_ne(drill_process_state(job), 'T');
}
END_TEST

START_TEST(one_fault_follows_another)
{
	json_t *a, *b;

	rig_up(&g, json_pack("[o,o,o]",
			     rig_fault("a", "null.noop", AT_5 "}"),
			     rig_fault("b", "null.noop",
				       "{\"at\":{\"on\":\"after\",\"of\":"
				       "\"a.effective\",\"delay_ns\":50000000"
				       "}}"),
			     rig_fault("c", "null.noop",
				       "{\"at\":{\"on\":\"same\",\"of\":\"a\""
				       "}}")));
	job = rig_job(&g, 0, 1, 100000, 5000);
	ck_assert_ptr_nonnull(b = event("fault.requested", "b", 5000));
	a = event("fault.effective", "a", 0);
	ck_assert_int_ge(field(b, "h_ns") - field(a, "h_ns"), 49000000);
	ck_assert_ptr_nonnull(event("fault.effective", "c", 5000));
}
END_TEST

START_TEST(c20_a_step_that_comes_again_fires_as_refire_says)
{
	static const char *const more[] = {
		AT_5 "}", AT_5 ",\"refire\":\"every_attempt\"}",
		AT_5 ",\"refire\":{\"times\":2}}" };
	static const int want[] = { 1, 3, 2 };
	int attempt, i;

	rig_up(&g, one(rig_fault("f", "host.kill", more[_i])));
	for (attempt = 1; attempt <= 3; attempt++) {
		job = rig_job(&g, 0, attempt, 10, 4000);
		waitpid(job, NULL, 0);
		job = 0;
		for (i = 0; i < 200 && rig_count(&g, "event.rank.end", NULL) <
					       attempt; i++)
			rig_pump(&g, 50);
	}
	ck_assert_int_eq(rig_count(&g, "event.rank.end", NULL), 3);
	ck_assert_int_eq(rig_count(&g, "event.fault.effective", "f"), want[_i]);
}
END_TEST

/* Fired on another host: it is spent here too. */
START_TEST(c20_what_fired_elsewhere_is_spent_here)
{
	rig_up(&g, one(rig_fault("f", "host.kill", AT_5 "}")));
	rig_send(&g, json_pack("{s:s,s:s,s:s,s:i,s:i,s:i}", "kind", "spent",
			       "fault", "f", "target", "rank 0", "point", 5,
			       "attempt", 1, "count", 1));
	job = rig_job(&g, 0, 2, 10, 4000);
	ck_assert_int_eq(field(event("rank.end", NULL, 10000), "code"), 0);
	ck_assert_int_eq(rig_count(&g, "event.fault.requested", NULL), 0);
}
END_TEST

START_TEST(follow_puts_it_in_force_again_after_a_restart)
{
	int i;

	rig_up(&g, one(rig_fault("f", "host.stop",
				 AT_5 ",\"follow\":\"rank\","
				 "\"duration_ns\":30000000000}")));
	job = rig_job(&g, 0, 1, 100000, 4000);
	ck_assert_ptr_nonnull(event("fault.effective", "f", 10000));
	rig_end_process(job);
	job = rig_job(&g, 0, 2, 100000, 4000);
	for (i = 0; i < 200 && rig_count(&g, "event.fault.effective", "f") < 2;
	     i++)
		rig_pump(&g, 50);
	ck_assert_int_eq(rig_count(&g, "event.fault.effective", "f"), 2);
	ck_assert_int_eq(drill_process_state(job), 'T');
}
END_TEST

START_TEST(lost_records_are_told)
{
	char path[160];
	struct faultdrill_ring *r = NULL;
	json_t *m;
	bool told = false;
	size_t i;

	rig_up(&g, json_array());
	job = rig_job(&g, 0, 1, 100000, 5000);
	ck_assert_ptr_nonnull(event("step.begin", NULL, 5000));
	snprintf(path, sizeof(path), "%s/rank0.a1.ring", g.trial);
	ck_assert_ptr_nonnull(r = faultdrill_ring_map(path));
	atomic_fetch_add(&r->lost, 3);
	ck_assert_ptr_nonnull(event("sample", NULL, 5000));
	json_array_foreach(g.seen, i, m)
		told |=
			!strcmp(drill_json_text(json_object_get(m, "event"), "metric"),
				"ring.lost") &&
			field(json_object_get(m, "event"), "value") == 3;
	ck_assert(told);
	faultdrill_ring_unmap(r);
}
END_TEST

/* ---- c16: time ---- */

START_TEST(c16_a_fault_that_bites_late_is_held_for_its_full_time)
{
	json_t *i, *e, *r;

	rig_up(&g, one(rig_fault("f", "null.noop",
				 AT_5 ",\"args\":{\"bite\":\"2s\"},"
				 "\"duration_ns\":500000000}")));
	job = rig_job(&g, 0, 1, 100000, 5000);
	ck_assert_ptr_nonnull(r = event("fault.reverted", "f", 15000));
	i = event("fault.requested", "f", 0);
	e = event("fault.effective", "f", 0);
	ck_assert_int_ge(field(e, "h_ns") + field(e, "u_ns") -
				 field(i, "h_ns"), 2000000000);
	ck_assert_int_ge(field(r, "h_ns") - field(e, "h_ns"), 498000000);
	ck_assert_int_lt(field(r, "h_ns") - field(e, "h_ns"), 900000000);
	/* Between two readings a few milliseconds apart. */
	ck_assert_int_lt(field(e, "u_ns"), 100000000);
	ck_assert_int_gt(field(e, "u_ns"), 0);
}
END_TEST

/* Nothing in the agent may take an interval from the clock that people set. */
START_TEST(c16_no_interval_is_taken_from_the_wall_clock)
{
	static const char *const words[] = { "CLOCK_REALTIME", "gettimeofday",
					     "time(NULL)", "wall_ns" };
	char cmd[200];
	unsigned int i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		snprintf(cmd, sizeof(cmd),
			 "! grep -rnF '%s' harness/agent injectors "
			 "--include=*.c --include=*.h --exclude=nvml_*",
			 words[i]);
		ck_assert_msg(system(cmd) == 0, "%s is used", words[i]);
	}
}
END_TEST

/* ---- hostile and wrong words ---- */

START_TEST(an_agent_of_another_build_is_refused)
{
	json_t *e;

	rig_start(&g);
	rig_send(&g, json_pack("{s:s,s:s,s:s,s:s,s:s}", "kind", "welcome",
			       "build", "0000", "run", "r", "host", "h",
			       "state", g.state));
	ck_assert_ptr_nonnull(e = rig_wait(&g, "error", NULL, 5000));
	ck_assert_ptr_nonnull(
		strstr(drill_json_text(e, "reason"), "build 0000"));
	ck_assert_int_eq(rig_agent_end(&g, 5000), DRILL_ERROR);
	ck_assert_int_eq(access(g.state, F_OK), -1);
}
END_TEST

static const char *const wrong[] = {
	"{\"kind\":\"plan\"}",	 "{\"kind\":\"snapshot\"}",
	"{\"kind\":\"nonsense\"}", "{\"kind\":7}", "{}",
};

START_TEST(a_word_out_of_order_ends_the_connection_with_a_reason)
{
	rig_start(&g);
	rig_send(&g, json_loads(wrong[_i], 0, NULL));
	ck_assert_ptr_nonnull(rig_wait(&g, "error", NULL, 5000));
	ck_assert_int_eq(rig_agent_end(&g, 5000), DRILL_ERROR);
}
END_TEST

START_TEST(garbage_ends_the_connection_and_reverts)
{
	char junk[512];

	rig_up(&g, one(rig_fault("f", "host.stop", AT_5 "}")));
	job = rig_job(&g, 0, 1, 1000000, 4000);
	ck_assert_ptr_nonnull(event("fault.effective", "f", 10000));
	memset(junk, 0xff, sizeof(junk));
	ck_assert_int_eq(send(g.fd, junk, sizeof(junk), MSG_NOSIGNAL),
			 sizeof(junk));
	ck_assert_int_eq(rig_agent_end(&g, 5000), DRILL_ERROR);
	ck_assert(rig_is_clean(&g, job));
}
END_TEST

START_TEST(a_bad_plan_is_told_and_nothing_is_applied)
{
	json_t *e;

	rig_start(&g);
	rig_welcome(&g);
	rig_send(&g, json_pack("{s:s,s:i,s:s,s:s,s:i,s:[o]}", "kind", "plan",
			       "trial", 1, "role", "fault", "dir", g.trial,
			       "ranks", 2, "faults",
			       rig_fault("f", "host.kil", AT_5 "}")));
	ck_assert_ptr_nonnull(e = rig_wait(&g, "error", NULL, 5000));
	ck_assert_ptr_nonnull(
		strstr(drill_json_text(e, "reason"), "host.kill"));
	ck_assert_int_eq(rig_agent_end(&g, 5000), DRILL_ERROR);
}
END_TEST

START_TEST(a_second_drill_on_the_same_host_is_refused)
{
	struct rig two;
	json_t *e;

	rig_up(&g, json_array());
	rig_init(&two);
	strcpy(two.host, g.host);
	rig_start(&two);
	rig_welcome(&two);
	ck_assert_ptr_nonnull(e = rig_wait(&two, "error", NULL, 5000));
	ck_assert_ptr_nonnull(
		strstr(drill_json_text(e, "reason"), "in use by drill run"));
	rig_down(&two);
}
END_TEST

START_TEST(probes_answer_for_each_fault_before_there_is_a_job)
{
	json_t *e;

	rig_start(&g);
	rig_welcome(&g);
	rig_send(&g, json_pack("{s:s,s:[o,o,o]}", "kind", "probe", "faults",
			       rig_fault("a", "host.stop", AT_5 "}"),
			       rig_fault("b", "host.kill", AT_5 "}"),
			       rig_fault("c", "host.freeze",
					 AT_5 ",\"target\":{\"kind\":\"host\","
					 "\"is\":\"all\"}}")));
	ck_assert_ptr_nonnull(e = rig_wait(&g, "probed", "a", 5000));
	ck_assert(json_is_true(json_object_get(e, "ok")));
	ck_assert_ptr_nonnull(e = rig_wait(&g, "probed", "b", 5000));
	ck_assert(json_is_true(json_object_get(e, "ok")));
	ck_assert_ptr_nonnull(e = rig_wait(&g, "probed", "c", 5000));
	ck_assert(json_is_false(json_object_get(e, "ok")));
	ck_assert_str_ne(drill_json_text(e, "reason"), "");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("agent");
	TCase *t = tcase_create("agent");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, a_fault_at_a_step_takes_effect_inside_that_step);
	tcase_add_test(t, a_killed_rank_is_told_with_its_signal);
	tcase_add_test(t, a_rank_that_ends_is_told_with_its_code);
	tcase_add_test(t, a_manual_fault_waits_for_its_word_and_for_the_revert);
	tcase_add_test(t, one_fault_follows_another);
	tcase_add_loop_test(
		t, c20_a_step_that_comes_again_fires_as_refire_says, 0, 3);
	tcase_add_test(t, c20_what_fired_elsewhere_is_spent_here);
	tcase_add_test(t, follow_puts_it_in_force_again_after_a_restart);
	tcase_add_test(t, lost_records_are_told);
	tcase_add_test(t,
		       c16_a_fault_that_bites_late_is_held_for_its_full_time);
	tcase_add_test(t, c16_no_interval_is_taken_from_the_wall_clock);
	tcase_add_test(t, an_agent_of_another_build_is_refused);
	tcase_add_loop_test(
		t, a_word_out_of_order_ends_the_connection_with_a_reason, 0, 5);
	tcase_add_test(t, garbage_ends_the_connection_and_reverts);
	tcase_add_test(t, a_bad_plan_is_told_and_nothing_is_applied);
	tcase_add_test(t, a_second_drill_on_the_same_host_is_refused);
	tcase_add_test(t, probes_answer_for_each_fault_before_there_is_a_job);
	suite_add_tcase(s, t);
	return drill_check_main(s);
}
