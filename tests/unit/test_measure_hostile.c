/* test_measure_hostile.c - events that lie, stutter or make no sense
 * SPDX-License-Identifier: MIT
 */
#include "check_main.h"
#include "harness/core/event.h"
#include "harness/measure/measure.h"
#include "harness/measure/stats.h"
#include "tests/support/synthetic_job.h"

#include <errno.h>
#include <math.h>
#include <string.h>

static json_t *parse_lines(const char *lines)
{
	json_t *events = json_array(), *e;
	json_error_t je;
	const char *end;

	for (; *lines; lines = *end ? end + 1 : end) {
		end = strchrnul(lines, '\n');
		e = json_loadb(lines, end - lines, 0, &je);
		ck_assert_msg(e, "%s: %.*s", je.text, (int)(end - lines), lines);
		json_array_append_new(events, e);
	}
	return events;
}

/* The error of measuring @lines; "" when there is none. */
static const char *error_of(const char *lines)
{
	static struct drill_err err;
	json_t *events = parse_lines(lines), *got = NULL;

	err = (struct drill_err){0};
	if (!drill_measure(events, &got, &err))
		err.msg[0] = '\0';
	json_decref(got);
	json_decref(events);
	return err.msg;
}

static json_t *measure_lines(const char *lines)
{
	struct drill_err err = {0};
	json_t *events = parse_lines(lines), *got = NULL;

	ck_assert_msg(!drill_measure(events, &got, &err), "%s", err.msg);
	json_decref(events);
	return got;
}

#define BEGIN "{\"t_s\":0,\"trial\":0,\"kind\":\"trial.begin\",\"role\":\"fault\",\"ranks\":2}\n"
#define ATTEMPT "{\"t_s\":1,\"trial\":0,\"kind\":\"attempt.begin\",\"attempt\":1,\"reason\":\"start\"}\n"

START_TEST(each_nonsense_has_a_message_that_names_the_line)
{
	static const struct {
		const char *lines, *want;
	} rows[] = {
		{"[1]", "line 1: not an object"},
		{"{\"t_s\":1}", "line 1: event has no 'kind'"},
		{"{\"kind\":3}", "line 1: 'kind' of event must be a string"},
		{"{\"kind\":\"x\",\"trial\":\"one\",\"t_s\":1}",
		 "line 1: 'trial' of x must be an integer"},
		{"{\"kind\":\"x\",\"trial\":-1,\"t_s\":1}",
		 "line 1: 'trial' of x must be 0 to"},
		{"{\"kind\":\"x\",\"trial\":1}", "line 1: x has no 't_s'"},
		{"{\"kind\":\"x\",\"trial\":1,\"t_s\":\"now\"}",
		 "line 1: 't_s' of x must be a number"},
		{"{\"kind\":\"x\",\"trial\":1,\"t_s\":1e300}",
		 "line 1: 't_s' of x is out of range"},
		{"{\"kind\":\"attempt.begin\",\"trial\":1,\"t_s\":1}",
		 "line 1: attempt.begin before trial.begin of trial 1"},
		{"{\"kind\":\"trial.end\",\"trial\":7,\"t_s\":1}",
		 "trial 7 has no trial.begin"},
		{"{\"kind\":\"trial.begin\",\"trial\":1,\"t_s\":1,\"role\":\"fault\"}",
		 "line 1: trial.begin has no 'ranks'"},
		{"{\"kind\":\"trial.begin\",\"trial\":1,\"t_s\":1,\"role\":\"x\",\"ranks\":1}",
		 "line 1: role is baseline, null or fault, not 'x'"},
		{"{\"kind\":\"trial.begin\",\"trial\":1,\"t_s\":1,\"role\":\"null\",\"ranks\":1000000000}",
		 "line 1: 'ranks' of trial.begin must be 1 to"},
		{BEGIN BEGIN, "line 2: trial 0 begins twice"},
		{BEGIN ATTEMPT
		 "{\"t_s\":2,\"trial\":0,\"kind\":\"step.begin\",\"attempt\":1,\"step\":1,\"rank\":2}",
		 "line 3: 'rank' of step.begin must be 0 to 1, is 2"},
		{BEGIN ATTEMPT
		 "{\"t_s\":2,\"trial\":0,\"kind\":\"step.begin\",\"attempt\":1,\"step\":1}",
		 "line 3: step.begin has no 'rank'"},
		{BEGIN ATTEMPT
		 "{\"t_s\":2,\"trial\":0,\"kind\":\"step.begin\",\"attempt\":1,\"step\":1.5,\"rank\":0}",
		 "line 3: 'step' of step.begin must be an integer"},
		{BEGIN ATTEMPT
		 "{\"t_s\":2,\"trial\":0,\"kind\":\"step.begin\",\"attempt\":1,\"step\":9223372036854775807,\"rank\":0}",
		 "line 3: 'step' of step.begin must be 0 to"},
		{BEGIN "{\"t_s\":2,\"trial\":0,\"kind\":\"fault.effective\"}",
		 "line 2: fault.effective has no 'fault'"},
		{BEGIN "{\"t_s\":2,\"trial\":0,\"kind\":\"detected\",\"by\":[]}",
		 "line 2: 'by' of detected must be a string"},
		{BEGIN ATTEMPT
		 "{\"t_s\":2,\"trial\":0,\"kind\":\"attempt.end\",\"attempt\":1}",
		 "line 3: attempt.end has no 'reason'"},
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const char *got = error_of(rows[i].lines);

		ck_assert_msg(strstr(got, rows[i].want) == got,
			      "'%s' is not '%s'", got, rows[i].want);
	}
}
END_TEST

START_TEST(what_is_no_array_is_refused)
{
	struct drill_err err = {0};
	json_t *o = json_object(), *got = NULL;

	ck_assert_int_eq(drill_measure(o, &got, &err), -EINVAL);
	ck_assert_ptr_null(got);
	json_decref(o);
}
END_TEST

START_TEST(a_trial_of_nothing_is_inconclusive_not_a_crash)
{
	json_t *got = measure_lines(BEGIN), *t;

	t = json_array_get(json_object_get(got, "trials"), 0);
	ck_assert(json_is_false(json_object_get(t, "conclusive")));
	ck_assert(json_is_null(json_object_get(t, "goodput")));
	ck_assert(json_is_null(json_object_get(got, "baseline")));
	json_decref(got);
	got = measure_lines(BEGIN ATTEMPT);
	t = json_array_get(json_object_get(got, "trials"), 0);
	ck_assert(json_is_false(json_object_get(t, "conclusive")));
	json_decref(got);
	got = measure_lines("{\"t_s\":1,\"kind\":\"clock.offset\"}");
	ck_assert_int_eq(json_array_size(json_object_get(got, "trials")), 0);
	json_decref(got);
}
END_TEST

/* --- fuzz ----------------------------------------------------------------- */

static const char *const keys[] = {
	"t_s", "u_s", "trial", "attempt", "rank", "slot", "step", "tokens",
	"phase", "kind", "fault", "reason", "stage", "host", "what", "role",
	"ranks", "follow", "spares", "target", "blame", "by",
};

static const char *const kinds[] = {
	"trial.begin", "trial.end", "attempt.begin", "attempt.end",
	"rank.begin", "rank.end", "step.begin", "step.end", "phase.begin",
	"phase.end", "checkpoint.committed", "restore.done", "fault.requested",
	"fault.effective", "fault.reverted", "detected", "blamed", "symptom",
	"slot.released", "slot.acquired", "state", "allocated", "fenced",
};

static const char *const words[] = {
	"done", "gave_up", "failed", "main", "warm", "comm", "checkpoint",
	"init", "restore", "data", "log", "null", "f0", "f1", "rank 1", "h0",
};

static json_t *any_value(struct drill_rng *rng)
{
	switch (drill_rng_below(rng, 8)) {
	case 0:
		return json_integer(drill_rng_below(rng, 12));
	case 1:
		return json_integer((json_int_t)drill_rng_next(rng));
	case 2:
		return json_real(drill_rng_unit(rng) * 300);
	case 3:
		return json_real((drill_rng_unit(rng) - 0.5) * 1e300);
	case 4:
		return json_string(words[drill_rng_below(
			rng, sizeof(words) / sizeof(*words))]);
	case 5:
		return json_null();
	case 6:
		return json_pack("[s,i,{s:n}]", "rank 1", 3, "x");
	default:
		return json_boolean(drill_rng_below(rng, 2));
	}
}

static json_t *any_kind(struct drill_rng *rng)
{
	return json_string(kinds[drill_rng_below(
		rng, sizeof(kinds) / sizeof(*kinds))]);
}

/* One change that keeps the event well-typed more often than not. */
static void spoil(struct drill_rng *rng, json_t *e)
{
	double t = json_number_value(json_object_get(e, "t_s"));

	switch (drill_rng_below(rng, 6)) {
	case 0:
		json_object_set_new(e, keys[drill_rng_below(
			rng, sizeof(keys) / sizeof(*keys))], any_value(rng));
		break;
	case 1:
		json_object_set_new(e, "kind", any_kind(rng));
		break;
	case 2:
		json_object_set_new(e, "t_s", json_real(
			t + (drill_rng_unit(rng) - 0.5) * 20));
		break;
	case 3:
		json_object_set_new(e, "step",
				    json_integer(drill_rng_below(rng, 30)));
		break;
	case 4:
		json_object_set_new(e, "rank",
				    json_integer(drill_rng_below(rng, 4)));
		break;
	default:
		json_object_del(e, keys[drill_rng_below(
			rng, sizeof(keys) / sizeof(*keys))]);
	}
}

static json_t *pieces_of_jobs(struct drill_rng *rng, const struct synthetic_job *job)
{
	json_t *events = json_array();
	size_t n = json_array_size(job->events), i;
	double drop = drill_rng_unit(rng) < 0.5 ? 0 : drill_rng_unit(rng);
	double bad = pow(drill_rng_unit(rng), 4) * 0.02;
	json_t *e;

	for (i = 0; i < n; i++) {
		if (drill_rng_unit(rng) < drop * 0.1)
			continue;
		e = json_deep_copy(json_array_get(job->events, i));
		if (drill_rng_unit(rng) < bad)
			spoil(rng, e);
		json_array_append_new(events, e);
		if (drill_rng_unit(rng) < bad / 4)
			json_array_append(events, e);
	}
	return events;
}

/* Whatever comes: an error with a text, or numbers of which none is hidden
 * behind a ledger that does not balance. */
static bool check_any(json_t *events)
{
	struct drill_err err = {0};
	json_t *got = NULL, *trial, *ledger, *v;
	size_t i;
	const char *key;

	if (drill_measure(events, &got, &err)) {
		ck_assert_str_ne(err.msg, "");
		ck_assert_ptr_null(got);
		return false;
	}
	json_array_foreach(json_object_get(got, "trials"), i, trial) {
		double wall, sum = 0;

		ledger = json_object_get(trial, "ledger");
		wall = json_number_value(json_object_get(ledger, "wall_rank_s"));
		json_object_foreach(ledger, key, v)
			if (strcmp(key, "wall_rank_s") && strcmp(key, "residual") &&
			    strcmp(key, "spare_rank_s") &&
			    strcmp(key, "queued_rank_s")) {
				ck_assert_double_ge(json_number_value(v), -1e-6);
				sum += json_number_value(v);
			}
		if (json_is_true(json_object_get(trial, "conclusive")))
			ck_assert_double_eq_tol(sum, wall, 0.001 * wall + 1e-6);
	}
	json_decref(got);
	return true;
}

START_TEST(spoiled_events_end_in_an_error_or_in_a_balanced_ledger)
{
	struct drill_rng rng = {4711 + _i};
	struct synthetic_job job;
	json_t *events;
	int k, measured = 0;

	synthetic_job(900 + _i, false, &job);
	for (k = 0; k < 30; k++) {
		events = pieces_of_jobs(&rng, &job);
		measured += check_any(events);
		json_decref(events);
	}
	json_decref(job.events);
	ck_assert_int_gt(measured, 0);
}
END_TEST

/* Events that are well-typed and otherwise random. */
static json_t *random_event(struct drill_rng *rng, json_t *follow)
{
	json_t *e = json_object();

	json_object_set_new(e, "kind", any_kind(rng));
	json_object_set_new(e, "t_s", json_real(drill_rng_unit(rng) * 100));
	json_object_set_new(e, "trial", json_integer(drill_rng_below(rng, 2)));
	json_object_set_new(e, "rank", json_integer(drill_rng_below(rng, 3)));
	json_object_set_new(e, "step", json_integer(drill_rng_below(rng, 20)));
	json_object_set_new(e, "fault", json_string(drill_rng_below(rng, 2)
						    ? "f0" : "f1"));
	json_object_set_new(e, "reason", json_string(
		words[drill_rng_below(rng, 3) ? 2 : drill_rng_below(rng, 2)]));
	json_object_set_new(e, "phase", json_string(
		words[5 + drill_rng_below(rng, 5)]));
	json_object_set_new(e, "of", json_string("sampler"));
	json_object_set_new(e, "hash", json_string("a"));
	json_object_set_new(e, "role", json_string("fault"));
	json_object_set_new(e, "ranks", json_integer(3));
	json_object_set(e, "follow", follow);
	if (!strcmp(json_string_value(json_object_get(e, "kind")),
		    "trial.begin"))
		json_object_set_new(e, "kind", json_string("symptom"));
	return e;
}

static json_t *random_trials(struct drill_rng *rng)
{
	json_t *events = json_array(), *e;
	json_t *follow = json_string(drill_rng_below(rng, 2) ? "log" : "events");
	int i, n = 50 + (int)drill_rng_below(rng, 400);

	for (i = 0; i < 2; i++) {
		e = random_event(rng, follow);
		json_object_set_new(e, "kind", json_string("trial.begin"));
		json_object_set_new(e, "t_s", json_real(-1));
		json_object_set_new(e, "trial", json_integer(i));
		json_object_set_new(e, "role", json_string(i ? "fault"
							     : "baseline"));
		json_array_append_new(events, e);
	}
	for (i = 0; i < n; i++)
		json_array_append_new(events, random_event(rng, follow));
	json_decref(follow);
	return events;
}

START_TEST(random_events_end_in_an_error_or_in_a_balanced_ledger)
{
	struct drill_rng rng = {99 + _i};
	json_t *events;
	int k, measured = 0;

	for (k = 0; k < 400; k++) {
		events = random_trials(&rng);
		measured += check_any(events);
		json_decref(events);
	}
	ck_assert_int_gt(measured, 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("measure_hostile");
	TCase *tc = tcase_create("hostile");

	tcase_set_timeout(tc, 300);
	tcase_add_test(tc, each_nonsense_has_a_message_that_names_the_line);
	tcase_add_test(tc, what_is_no_array_is_refused);
	tcase_add_test(tc, a_trial_of_nothing_is_inconclusive_not_a_crash);
	tcase_add_loop_test(
		tc, spoiled_events_end_in_an_error_or_in_a_balanced_ledger, 0,
		4);
	tcase_add_loop_test(
		tc, random_events_end_in_an_error_or_in_a_balanced_ledger, 0, 4);
	suite_add_tcase(s, tc);
	return drill_check_main(s);
}
