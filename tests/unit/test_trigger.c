/* test_trigger.c - when a fault fires, and how often it may
 * SPDX-License-Identifier: MIT
 */
#include "check_main.h"

#include "harness/agent/trigger.h"
#include "tests/support/agent_rig.h"

#include <errno.h>
#include <string.h>

static struct drill_fault f;
static struct drill_trigger t;

/* @at as JSON text, @more further fields of the fault ("" : none). */
static int plan(const char *at, const char *more, struct drill_err *err)
{
	char text[1024];
	json_t *obj;
	int rc;

	snprintf(text, sizeof(text), "{\"at\":%s%s}", at, more);
	obj = rig_fault("f", "null.noop", text);
	rc = drill_fault_read(obj, &f, err);
	json_decref(obj);
	drill_trigger_init(&t, &f);
	return rc;
}

static void must_plan(const char *at, const char *more)
{
	struct drill_err err = { 0 };

	ck_assert_msg(plan(at, more, &err) == 0, "%s", err.msg);
}

static void teardown(void)
{
	drill_trigger_done(&t);
	drill_fault_done(&f);
}

static bool event(const char *json, int attempt, int64_t *delay)
{
	json_t *e = json_loads(json, 0, NULL);
	bool yes = drill_trigger_event(&t, e, attempt, delay);

	json_decref(e);
	return yes;
}

START_TEST(each_step_of_a_list_fires_once)
{
	must_plan("{\"on\":\"step\",\"steps\":[37,203]}", "");
	ck_assert_int_eq(drill_trigger_next_step(&t, 0, 1), 37);
	ck_assert(!drill_trigger_step(&t, 36, 1));
	ck_assert(drill_trigger_step(&t, 37, 1));
	drill_trigger_spend(&t, 37, 1);
	ck_assert(!drill_trigger_step(&t, 37, 1));
	ck_assert_int_eq(drill_trigger_next_step(&t, 37, 1), 203);
	ck_assert(drill_trigger_step(&t, 203, 1));
	drill_trigger_spend(&t, 203, 1);
	ck_assert_int_eq(drill_trigger_next_step(&t, 0, 1), 0);
}
END_TEST

/* c20: after a rollback the trigger step comes again. */
START_TEST(c20_once_does_not_fire_again_after_a_rollback)
{
	must_plan("{\"on\":\"step\",\"steps\":[5]}", "");
	drill_trigger_spend(&t, 5, 1);
	ck_assert(!drill_trigger_step(&t, 5, 1));
	ck_assert(!drill_trigger_step(&t, 5, 2));
}
END_TEST

START_TEST(c20_every_attempt_fires_once_in_each)
{
	int attempt;

	must_plan("{\"on\":\"step\",\"steps\":[5]}",
		  ",\"refire\":\"every_attempt\"");
	for (attempt = 1; attempt < 6; attempt++) {
		ck_assert(drill_trigger_step(&t, 5, attempt));
		drill_trigger_spend(&t, 5, attempt);
		ck_assert(!drill_trigger_step(&t, 5, attempt));
	}
}
END_TEST

START_TEST(c20_n_times_and_no_more)
{
	int attempt, fired = 0;

	must_plan("{\"on\":\"step\",\"steps\":[5]}", ",\"refire\":{\"times\":3}");
	for (attempt = 1; attempt < 8; attempt++)
		if (drill_trigger_step(&t, 5, attempt)) {
			drill_trigger_spend(&t, 5, attempt);
			fired++;
		}
	ck_assert_int_eq(fired, 3);
}
END_TEST

START_TEST(every_goes_from_to_in_steps_and_as_drawn)
{
	must_plan("{\"on\":\"every\",\"from\":10,\"to\":30,\"steps\":10,"
		  "\"draws\":[true,false,true]}", "");
	ck_assert_int_eq(drill_trigger_next_step(&t, 0, 1), 10);
	ck_assert_int_eq(drill_trigger_next_step(&t, 10, 1), 30);
	ck_assert(!drill_trigger_step(&t, 20, 1));
	ck_assert(!drill_trigger_step(&t, 15, 1));
	ck_assert_int_eq(drill_trigger_next_step(&t, 30, 1), 0);
}
END_TEST

START_TEST(the_nth_event_of_an_attempt_fires)
{
	int64_t delay;

	must_plan("{\"on\":\"event\",\"kind\":\"checkpoint.writing\","
		  "\"nth\":2}", "");
	ck_assert(!event("{\"kind\":\"step.begin\"}", 1, &delay));
	ck_assert(!event("{\"kind\":\"checkpoint.writing\"}", 1, &delay));
	ck_assert(!event("{\"kind\":\"checkpoint.writing\"}", 2, &delay));
	ck_assert(event("{\"kind\":\"checkpoint.writing\"}", 2, &delay));
	ck_assert(!event("{\"kind\":\"checkpoint.writing\"}", 2, &delay));
}
END_TEST

START_TEST(after_waits_for_the_instant_of_that_fault)
{
	int64_t delay;

	must_plan("{\"on\":\"after\",\"of\":\"lost.restarted\","
		  "\"delay_ns\":1000}", "");
	ck_assert(!event("{\"kind\":\"attempt.begin\"}", 1, &delay));
	ck_assert(!event("{\"kind\":\"fault.effective\",\"fault\":\"other\"}",
			 1, &delay));
	ck_assert(!event("{\"kind\":\"attempt.begin\"}", 1, &delay));
	ck_assert(!event("{\"kind\":\"fault.effective\",\"fault\":\"lost\"}", 1,
			 &delay));
	ck_assert(event("{\"kind\":\"attempt.begin\"}", 2, &delay));
	ck_assert_int_eq(delay, 1000);
}
END_TEST

START_TEST(after_takes_each_instant_of_the_fault)
{
	static const char *const kinds[] = { "requested", "issued", "effective",
					     "reverted" };
	char at[128], e[128];
	int64_t delay;

	snprintf(at, sizeof(at), "{\"on\":\"after\",\"of\":\"lost.%s\"}",
		 kinds[_i]);
	must_plan(at, "");
	snprintf(e, sizeof(e), "{\"kind\":\"fault.%s\",\"fault\":\"los\"}",
		 kinds[_i]);
	ck_assert(!event(e, 1, &delay));
	snprintf(e, sizeof(e), "{\"kind\":\"fault.%s\",\"fault\":\"lost\"}",
		 kinds[_i]);
	ck_assert(event(e, 1, &delay));
	ck_assert_int_eq(delay, 0);
}
END_TEST

START_TEST(same_fires_when_the_other_is_issued)
{
	int64_t delay;

	must_plan("{\"on\":\"same\",\"of\":\"lost\"}", "");
	ck_assert(!event("{\"kind\":\"fault.requested\",\"fault\":\"lost\"}", 1,
			 &delay));
	ck_assert(event("{\"kind\":\"fault.issued\",\"fault\":\"lost\"}", 1,
			&delay));
}
END_TEST

START_TEST(c22_the_gaps_are_those_that_were_drawn)
{
	must_plan("{\"on\":\"poisson\",\"gaps_ns\":[5,7,11]}", "");
	ck_assert_int_eq(drill_trigger_gap(&t, 0), 5);
	ck_assert_int_eq(drill_trigger_gap(&t, 2), 11);
	ck_assert_int_eq(drill_trigger_gap(&t, 3), -1);
	/* Each gap is a point of its own: once means once each. */
	drill_trigger_spend(&t, 0, 1);
	ck_assert(drill_trigger_may(&t, 1, 1));
}
END_TEST

static const struct {
	const char *at, *more, *says;
} bad[] = {
	{ "{}", "", "at.on" },
	{ "{\"on\":\"stp\"}", "", "at.on" },
	{ "{\"on\":\"step\"}", "", "steps" },
	{ "{\"on\":\"step\",\"steps\":[]}", "", "steps" },
	{ "{\"on\":\"step\",\"steps\":[0]}", "", "steps" },
	{ "{\"on\":\"step\",\"steps\":[\"5\"]}", "", "steps" },
	{ "{\"on\":\"step\",\"steps\":[5],\"where\":\"in\"}", "", "where" },
	{ "{\"on\":\"step\",\"steps\":[5],\"where\":\"inside\"}", "",
	  "collective" },
	{ "{\"on\":\"time\"}", "", "ns" },
	{ "{\"on\":\"time\",\"ns\":-1}", "", "ns" },
	{ "{\"on\":\"time\",\"ns\":1.5}", "", "ns" },
	{ "{\"on\":\"every\",\"from\":5,\"to\":4}", "", "to" },
	{ "{\"on\":\"event\"}", "", "kind" },
	{ "{\"on\":\"after\",\"of\":\"lost\"}", "", "of" },
	{ "{\"on\":\"poisson\"}", "", "gaps_ns" },
	{ "{\"on\":\"log\",\"file\":\"/x\"}", "", "match" },
	{ "{\"on\":\"manual\"}", ",\"refire\":\"often\"", "times" },
	{ "{\"on\":\"manual\"}", ",\"follow\":\"me\"", "follow" },
	{ "{\"on\":\"manual\"}", ",\"duration_ns\":\"5s\"", "duration_ns" },
	{ "{\"on\":\"manual\"}", ",\"target\":{\"kind\":\"link\",\"is\":[]}",
	  "link" },
	{ "{\"on\":\"manual\"}", ",\"target\":{\"kind\":\"rank\"}",
	  "target.is" },
	{ "{\"on\":\"manual\"}", ",\"args\":{\"bit\":\"1s\"}", "bite" },
};

START_TEST(a_bad_plan_names_fault_and_field)
{
	struct drill_err err = { 0 };

	ck_assert_int_lt(plan(bad[_i].at, bad[_i].more, &err), 0);
	ck_assert_msg(strstr(err.msg, bad[_i].says) != NULL, "%s: %s",
		      bad[_i].at, err.msg);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("trigger");
	TCase *c = tcase_create("trigger");

	tcase_add_checked_fixture(c, NULL, teardown);
	tcase_add_test(c, each_step_of_a_list_fires_once);
	tcase_add_test(c, c20_once_does_not_fire_again_after_a_rollback);
	tcase_add_test(c, c20_every_attempt_fires_once_in_each);
	tcase_add_test(c, c20_n_times_and_no_more);
	tcase_add_test(c, every_goes_from_to_in_steps_and_as_drawn);
	tcase_add_test(c, the_nth_event_of_an_attempt_fires);
	tcase_add_test(c, after_waits_for_the_instant_of_that_fault);
	tcase_add_loop_test(c, after_takes_each_instant_of_the_fault, 0, 4);
	tcase_add_test(c, same_fires_when_the_other_is_issued);
	tcase_add_test(c, c22_the_gaps_are_those_that_were_drawn);
	tcase_add_loop_test(c, a_bad_plan_names_fault_and_field, 0,
			    sizeof(bad) / sizeof(bad[0]));
	suite_add_tcase(s, c);
	return drill_check_main(s);
}
