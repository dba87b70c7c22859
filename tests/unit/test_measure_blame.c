/* test_measure_blame.c - blame between a rank and the device that it runs on
 * SPDX-License-Identifier: MIT
 *
 * Over the worked example in which rank 3 is hit and blamed.
 */
#include "check_main.h"
#include "harness/core/event.h"
#include "harness/measure/measure.h"

#include <string.h>

static json_t *events;

static void load(void)
{
	struct drill_err err = {0};
	bool torn;

	ck_assert_int_eq(drill_events_read("tests/data/measuring/"
					   "01-restart.events.jsonl", &events,
					   &torn, &err), 0);
}

static bool is(json_t *e, const char *kind)
{
	return !strncmp(json_string_value(json_object_get(e, "kind")), kind,
			strlen(kind));
}

static void set(json_t *e, const char *host, int device)
{
	json_object_set_new(e, "host", json_string(host));
	json_object_set_new(e, "device", json_integer(device));
}

static void judge(bool right, const char *level)
{
	struct drill_err err = {0};
	json_t *got = NULL, *inc;

	ck_assert_msg(!drill_measure(events, &got, &err), "%s", err.msg);
	inc = json_array_get(json_object_get(json_array_get(json_object_get(
			got, "trials"), 1), "incidents"), 0);
	ck_assert_int_eq(json_is_true(json_object_get(inc, "blame_correct")),
			 right);
	ck_assert_str_eq(json_string_value(json_object_get(inc, "blame_level")),
			 level);
	json_decref(got);
	json_decref(events);
}

/* A rank was the target, its device what broke: either name is right, another
 * device of the host is near and wrong. */
START_TEST(who_blames_the_device_of_the_target_is_right)
{
	json_t *e;
	size_t k;

	load();
	json_array_foreach (events, k, e) {
		if (is(e, "fault.effective"))
			set(e, "h1", 0);
		if (is(e, "blamed"))
			json_object_set_new(e, "blame", json_sprintf(
						    "device h1/gpu%d", _i));
	}
	judge(_i == 0, _i == 0 ? "device" : "other");
}
END_TEST

/* The other way round: a device was the target; rank 3 runs on it, or on the
 * one beside it, or it is not known. */
START_TEST(who_blames_the_rank_on_the_device_that_was_hit_is_right)
{
	json_t *e;
	size_t k;

	load();
	json_array_foreach (events, k, e) {
		if (is(e, "fault."))
			json_object_set_new(e, "target",
					    json_string("device h1/gpu1"));
		if (!is(e, "rank.begin") ||
		    json_integer_value(json_object_get(e, "rank")) != 3)
			continue;
		set(e, "h1", 1 - _i);
		if (_i == 2)
			json_object_del(e, "device");
	}
	judge(_i == 0, _i == 0 ? "device" : "host");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("blame by device");
	TCase *t = tcase_create("all");

	tcase_add_loop_test(t, who_blames_the_device_of_the_target_is_right, 0,
			    2);
	tcase_add_loop_test(
		t, who_blames_the_rank_on_the_device_that_was_hit_is_right, 0,
		3);
	suite_add_tcase(s, t);
	return drill_check_main(s);
}
