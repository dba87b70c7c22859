/* test_measure_rules.c - the rules that the worked examples do not touch
 * SPDX-License-Identifier: MIT
 */
#include "check_main.h"
#include "harness/core/event.h"
#include "harness/measure/measure.h"
#include "harness/measure/model.h"

#include <math.h>
#include <string.h>

#define TOL 0.002

static json_t *events;

static void load(const char *name)
{
	struct drill_err err = {0};
	char path[256];
	bool torn;

	snprintf(path, sizeof(path), "tests/data/measuring/%s.events.jsonl",
		 name);
	ck_assert_msg(!drill_events_read(path, &events, &torn, &err), "%s",
		      err.msg);
}

/* An event of trial 1 (the clock of the examples is t + 100 there). */
static void add(double t, const char *kind, const char *more)
{
	json_error_t je;
	json_t *e = json_loads(more, 0, &je);

	ck_assert_msg(e, "%s: %s", je.text, more);
	json_object_set_new(e, "t_s", json_real(t));
	json_object_set_new(e, "kind", json_string(kind));
	if (!json_object_get(e, "trial"))
		json_object_set_new(e, "trial", json_integer(1));
	json_array_append_new(events, e);
}

static void drop(const char *kind)
{
	size_t i;

	for (i = json_array_size(events); i-- > 0;) {
		json_t *e = json_array_get(events, i);
		const char *k = json_string_value(json_object_get(e, "kind"));

		if (!strcmp(k, kind) &&
		    json_integer_value(json_object_get(e, "trial")) == 1)
			json_array_remove(events, i);
	}
}

static json_t *measure_all(void)
{
	struct drill_err err = {0};
	json_t *got = NULL;

	ck_assert_msg(!drill_measure(events, &got, &err), "%s", err.msg);
	json_decref(events);
	return got;
}

static json_t *trial_of(json_t *got, int i)
{
	return json_array_get(json_object_get(got, "trials"), i);
}

/* A value of trial 1 by its path: "ledger.useful", "incidents.0.fault". */
static json_t *at(json_t *got, const char *path)
{
	json_t *v = trial_of(got, 1);
	char key[64];
	size_t n;

	for (; *path; path += n + (path[n] == '.')) {
		n = strcspn(path, ".");
		snprintf(key, sizeof(key), "%.*s", (int)n, path);
		v = json_is_array(v) ? json_array_get(v, atoi(key))
				     : json_object_get(v, key);
	}
	return v;
}

#define NUMBER(path) json_number_value(at(got, path))
#define TEXT(path) json_string_value(at(got, path))

static void has_reason(json_t *got, int trial, const char *part)
{
	json_t *list = json_object_get(trial_of(got, trial), "reasons"), *v;
	size_t i;

	json_array_foreach(list, i, v)
		if (strstr(json_string_value(v), part))
			return;
	ck_abort_msg("no reason says '%s'", part);
}

START_TEST(a_zombies_step_never_counts)
{
	json_t *got;

	load("01-restart");
	add(121, "step.end", "{\"attempt\":1,\"step\":16,\"rank\":0}");
	add(123.5, "step.end", "{\"attempt\":2,\"step\":30,\"rank\":0}");
	got = measure_all();
	ck_assert_int_eq(NUMBER("late_events"), 2);
	ck_assert_double_eq_tol(NUMBER("ledger.useful"), 120, TOL);
	ck_assert_double_eq_tol(NUMBER("ledger.redone"), 21.6, TOL);
	json_decref(got);
}
END_TEST

START_TEST(a_released_slot_is_queued_and_not_in_the_ledger)
{
	json_t *got;

	load("01-restart");
	add(119.2, "slot.released", "{\"slot\":2}");
	add(119.7, "slot.acquired", "{\"slot\":2}");
	got = measure_all();
	ck_assert_double_eq_tol(NUMBER("queued_rank_s"), 0.5, TOL);
	ck_assert_double_eq_tol(NUMBER("ledger.wall_rank_s"), 174.3, TOL);
	ck_assert_double_eq_tol(NUMBER("ledger.restart"), 25.5, TOL);
	ck_assert_double_eq_tol(NUMBER("lost_compute_rank_s"), 42.7, TOL);
	ck_assert_double_eq_tol(NUMBER("ettr_wall"), 120 / 174.8, TOL);
	ck_assert(json_is_true(at(got, "conclusive")));
	json_decref(got);
}
END_TEST

START_TEST(an_alarm_with_no_fault_in_force_is_false)
{
	json_t *got;

	load("01-restart");
	add(110, "detected", "{\"by\":\"health\",\"what\":\"rank 3\"}");
	add(135, "detected", "{\"by\":\"health\",\"what\":\"rank 0\"}");
	got = measure_all();
	ck_assert_int_eq(NUMBER("false_alarms"), 2);
	ck_assert_str_eq(TEXT("incidents.0.detected_by"), "launcher");
	ck_assert(json_is_true(at(got, "conclusive")));
	json_decref(got);
}
END_TEST

START_TEST(a_later_word_about_an_open_incident_is_no_false_alarm)
{
	json_t *got;

	load("01-restart");
	add(118.6005, "detected", "{\"by\":\"mpi\",\"what\":\"rank 0\"}");
	add(118.9, "blamed", "{\"by\":\"mpi\",\"blame\":\"rank 0\"}");
	got = measure_all();
	ck_assert_int_eq(NUMBER("false_alarms"), 0);
	ck_assert_str_eq(TEXT("incidents.0.detected_by"), "launcher");
	ck_assert_str_eq(TEXT("incidents.0.detected_by_or.0"), "mpi");
	ck_assert_str_eq(TEXT("incidents.0.detectors.1"), "mpi");
	ck_assert(json_is_true(at(got, "incidents.0.blame_correct")));
	json_decref(got);
}
END_TEST

START_TEST(a_detection_before_its_fault_by_name_is_inconclusive)
{
	json_t *got;

	load("01-restart");
	add(117, "detected", "{\"by\":\"health\",\"fault\":\"kill\"}");
	got = measure_all();
	has_reason(got, 1, "before it took effect");
	json_decref(got);
}
END_TEST

START_TEST(what_clocks_cannot_order_is_undecidable)
{
	json_t *got;

	load("01-restart");
	drop("detected");
	add(117.5985, "detected",
	    "{\"by\":\"mpi\",\"what\":\"rank 3\",\"u_s\":0.001,\"host\":\"h0\"}");
	got = measure_all();
	ck_assert_str_eq(TEXT("incidents.0.detect_order"), "undecidable");
	ck_assert_double_eq(NUMBER("incidents.0.time_to_detect_s"), 0);
	ck_assert_double_eq_tol(NUMBER("incidents.0.time_to_detect_hi_s"),
				0.0005, 1e-6);
	json_decref(got);
}
END_TEST

START_TEST(on_one_host_only_the_drift_of_its_clock_counts)
{
	json_t *got;

	load("01-restart");
	drop("detected");
	add(118.6, "detected",
	    "{\"by\":\"mpi\",\"what\":\"rank 3\",\"u_s\":0.5,\"host\":\"h1\"}");
	got = measure_all();
	ck_assert_double_eq_tol(NUMBER("incidents.0.time_to_detect_u_s"), 1e-4,
				1e-9);
	json_decref(got);
}
END_TEST

START_TEST(a_fault_that_never_took_effect_proves_nothing)
{
	json_t *got;

	load("01-restart");
	drop("fault.effective");
	got = measure_all();
	has_reason(got, 1, "never took effect");
	ck_assert(json_is_false(at(got, "conclusive")));
	json_decref(got);
}
END_TEST

START_TEST(a_rank_that_dies_on_its_own_is_a_natural_incident)
{
	json_t *got;

	load("01-restart");
	drop("fault.effective");
	drop("fault.requested");
	drop("fault.issued");
	drop("fault.reverted");
	got = measure_all();
	ck_assert(json_is_true(at(got, "incidents.0.natural")));
	ck_assert_str_eq(TEXT("incidents.0.target"), "rank 3");
	ck_assert_str_eq(TEXT("incidents.0.detected_by"), "launcher");
	ck_assert_str_eq(TEXT("incidents.0.outcome"), "recovered");
	ck_assert_double_eq_tol(NUMBER("incidents.0.lost_compute_rank_s"), 43.2,
				TOL);
	ck_assert_double_eq_tol(NUMBER("unattributed_rank_s"), 43.2, TOL);
	ck_assert_int_eq(NUMBER("false_alarms"), 0);
	json_decref(got);
}
END_TEST

START_TEST(a_hang_that_nobody_stopped_never_resumes)
{
	json_t *got;
	size_t i;

	load("03-undetected-hang");
	for (i = json_array_size(events); i-- > 0;)
		if (json_number_value(json_object_get(
			    json_array_get(events, i), "t_s")) > 140)
			json_array_remove(events, i);
	add(140, "trial.end", "{\"outcome\":\"inconclusive\"}");
	got = measure_all();
	ck_assert(json_is_true(at(got, "truncated")));
	ck_assert_str_eq(TEXT("incidents.0.stop"), "never_stopped");
	ck_assert_str_eq(TEXT("incidents.0.time_to_resume_why"), "never");
	ck_assert_str_eq(TEXT("incidents.0.outcome"), "lost");
	/* a running job keeps its steps: 15 of them */
	ck_assert_double_eq_tol(NUMBER("ledger.useful"), 60, TOL);
	ck_assert_double_eq_tol(NUMBER("ledger.stalled"), 4 * 22.5, TOL);
	ck_assert_double_eq_tol(NUMBER("incidents.0.lost_compute_rank_s"),
				4 * 22.5 + 4 * 0.3, TOL);
	json_decref(got);
}
END_TEST

/* --- jobs made here ------------------------------------------------------- */

static void begin_job(int trial, const char *role, double t, int ranks)
{
	char more[128];

	snprintf(more, sizeof(more),
		 "{\"trial\":%d,\"role\":\"%s\",\"ranks\":%d}", trial, role, ranks);
	add(t, "trial.begin", more);
	snprintf(more, sizeof(more),
		 "{\"trial\":%d,\"attempt\":1,\"reason\":\"start\"}", trial);
	add(t, "attempt.begin", more);
}

static double run_steps(int trial, double t, int from, int to, double took,
			const char *stage, int ranks)
{
	char more[128];
	int s, r;

	for (s = from; s <= to; s++, t += took)
		for (r = 0; r < ranks; r++) {
			snprintf(more, sizeof(more),
				 "{\"trial\":%d,\"attempt\":1,\"step\":%d,"
				 "\"rank\":%d,\"stage\":\"%s\"}", trial, s, r,
				 stage);
			add(t, "step.begin", more);
			add(t + took - 1e-6, "step.end", more);
		}
	return t;
}

static double end_job(int trial, double t)
{
	char more[128];

	snprintf(more, sizeof(more),
		 "{\"trial\":%d,\"attempt\":1,\"reason\":\"done\"}", trial);
	add(t, "attempt.end", more);
	return t;
}

static double whole_job(int trial, const char *role, double t, double step_s)
{
	begin_job(trial, role, t, 2);
	return end_job(trial, run_steps(trial, t + 1, 1, 30, step_s, "main", 2)) +
	       10;
}

START_TEST(each_stage_has_a_step_time_of_its_own)
{
	json_t *got, *stages;
	double t;

	events = json_array();
	begin_job(0, "baseline", 0, 2);
	t = run_steps(0, 1, 1, 30, 1, "warm", 2);
	end_job(0, run_steps(0, t, 31, 60, 2, "main", 2));
	begin_job(1, "null", 1000, 2);
	t = run_steps(1, 1001, 1, 30, 1, "warm", 2);
	t = run_steps(1, t, 31, 40, 3, "main", 2);
	end_job(1, run_steps(1, t, 41, 60, 2, "main", 2));
	got = measure_all();
	stages = json_object_get(json_object_get(got, "baseline"), "stages");
	ck_assert_double_eq_tol(json_number_value(json_object_get(
			json_object_get(stages, "warm"), "step_s")), 1, 1e-5);
	ck_assert_double_eq_tol(json_number_value(json_object_get(
			json_object_get(stages, "main"), "step_s")), 2, 1e-5);
	ck_assert_double_eq_tol(NUMBER("ledger.degraded"), 20, TOL);
	ck_assert_double_eq_tol(NUMBER("ledger.useful"), 180, TOL);
	ck_assert_double_eq_tol(NUMBER("lost_steps"), 20 / (2 * 1.5), TOL);
	json_decref(got);
}
END_TEST

/* @extra: what a null trial's step takes longer. */
static json_t *with_nulls(int n, double extra)
{
	double t = 0;
	int i;

	events = json_array();
	for (i = 0; i < n; i++) {
		t = whole_job(2 * i, "baseline", t, 1 + i * 1e-3);
		t = whole_job(2 * i + 1, "null", t, 1 + extra + (i ^ 1) * 1e-3);
	}
	return measure_all();
}

START_TEST(null_trials_that_cost_make_all_inconclusive)
{
	json_t *got = with_nulls(4, 0.01), *test = json_object_get(got, "null_test");

	ck_assert_double_eq_tol(json_number_value(json_object_get(test, "p")),
				2 / 70., 1e-9);
	has_reason(got, 1, "null trials show a cost");
	json_decref(got);
	got = with_nulls(4, 0);
	ck_assert(json_is_true(at(got, "conclusive")));
	json_decref(got);
	got = with_nulls(3, 0.01); /* too few to say */
	ck_assert(json_is_true(at(got, "conclusive")));
	ck_assert(json_is_null(json_object_get(
		json_object_get(got, "null_test"), "p")));
	ck_assert_double_gt(json_number_value(json_object_get(
				    got, "noise_floor_rank_s")), 0.5);
	json_decref(got);
}
END_TEST

START_TEST(baselines_that_differ_are_no_baseline)
{
	json_t *got;

	events = json_array();
	whole_job(0, "baseline", 0, 1);
	whole_job(1, "baseline", 100, 1.1);
	got = measure_all();
	has_reason(got, 0, "baseline trials differ");
	json_decref(got);
}
END_TEST

START_TEST(few_baseline_steps_and_no_baseline_are_said)
{
	json_t *got;

	events = json_array();
	begin_job(0, "baseline", 0, 2);
	end_job(0, run_steps(0, 1, 1, 23, 1, "main", 2));
	got = measure_all();
	has_reason(got, 0, "too few baseline steps");
	json_decref(got);
	events = json_array();
	whole_job(1, "fault", 0, 1);
	got = measure_all();
	has_reason(got, 0, "no baseline trial");
	ck_assert(json_is_null(json_object_get(trial_of(got, 0),
					       "lost_compute_rank_s")));
	json_decref(got);
}
END_TEST

START_TEST(work_beyond_the_baselines_is_said)
{
	json_t *got;

	events = json_array();
	whole_job(0, "baseline", 0, 1);
	begin_job(1, "null", 100, 2);
	end_job(1, run_steps(1, 101, 1, 40, 1, "main", 2));
	got = measure_all();
	has_reason(got, 1, "work beyond the baseline's");
	json_decref(got);
}
END_TEST

/* A retry without restore opens a generation. Whether the step had ended
 * or not, what was done of it is redone, and the rest stalled. */
START_TEST(a_step_begun_again_is_a_rollback)
{
	json_t *got;

	events = json_array();
	whole_job(0, "baseline", 0, 1);
	begin_job(1, "fault", 100, 2);
	run_steps(1, 101, 1, _i ? 20 : 19, 1, "main", 2);
	if (!_i) {
		add(120, "step.begin", "{\"attempt\":1,\"step\":20,\"rank\":0}");
		add(120, "step.begin", "{\"attempt\":1,\"step\":20,\"rank\":1}");
	}
	add(_i ? 120.5 : 121, "fault.effective", "{\"fault\":\"f\"}");
	end_job(1, run_steps(1, 122, 20, 30, 1, "main", 2));
	got = measure_all();
	ck_assert_str_eq(TEXT("incidents.0.stop"), "in_job");
	ck_assert_double_eq_tol(NUMBER("ledger.useful"), 60, TOL);
	ck_assert_double_eq_tol(NUMBER("ledger.redone"), 2, TOL);
	ck_assert_double_eq_tol(NUMBER("ledger.stalled"), 2, TOL);
	ck_assert_double_eq_tol(NUMBER("incidents.0.lost_compute_rank_s"), 4, TOL);
	json_decref(got);
}
END_TEST

/* Between two strikes the job was steady: two incidents, not one. */
START_TEST(the_same_fault_after_steady_is_another_incident)
{
	json_t *got;
	double t;

	events = json_array();
	whole_job(0, "baseline", 0, 1);
	begin_job(1, "fault", 100, 2);
	t = run_steps(1, 101, 1, 5, 1, "main", 2);
	add(t, "fault.effective", "{\"fault\":\"flap\"}");
	t = run_steps(1, t, 6, 7, 2, "main", 2);
	t = run_steps(1, t, 8, 15, 1, "main", 2);
	add(t, "fault.effective", "{\"fault\":\"flap\"}");
	t = run_steps(1, t, 16, 16, 3, "main", 2);
	add(t, "fault.effective", "{\"fault\":\"flap\"}");
	t = run_steps(1, t, 17, 17, 2, "main", 2);
	end_job(1, run_steps(1, t, 18, 30, 1, "main", 2));
	got = measure_all();
	ck_assert_int_eq(json_array_size(at(got, "incidents")), 2);
	ck_assert_int_eq(NUMBER("incidents.0.occurrences"), 1);
	ck_assert_int_eq(NUMBER("incidents.1.occurrences"), 2);
	ck_assert_double_eq_tol(NUMBER("incidents.0.lost_compute_rank_s"), 4, TOL);
	ck_assert_double_eq_tol(NUMBER("incidents.1.lost_compute_rank_s"), 6, TOL);
	json_decref(got);
}
END_TEST

/* Two steps at full speed are not enough, and one slow one begins anew. */
START_TEST(three_steps_in_a_row_make_a_job_steady)
{
	json_t *got;
	double t, third;

	events = json_array();
	whole_job(0, "baseline", 0, 1);
	begin_job(1, "fault", 100, 2);
	t = run_steps(1, 101, 1, 10, 1, "main", 2);
	add(t, "fault.effective", "{\"fault\":\"f\"}");
	t = run_steps(1, t, 11, 12, 2, "main", 2);
	t = run_steps(1, t, 13, 14, 1, "main", 2);
	third = run_steps(1, t, 15, 15, 2, "main", 2);
	end_job(1, run_steps(1, third, 16, 30, 1, "main", 2));
	got = measure_all();
	ck_assert_double_eq_tol(NUMBER("incidents.0.instants.steady.t_s"), third,
				TOL);
	ck_assert_double_eq_tol(NUMBER("incidents.0.lost_compute_rank_s"), 6, TOL);
	json_decref(got);
}
END_TEST

/* The reading that shows the effect may come after the process is gone. */
START_TEST(a_dead_process_stalls_from_its_death)
{
	json_t *got;

	load("01-restart");
	drop("rank.end");
	add(117.5, "rank.end", "{\"attempt\":1,\"rank\":3,\"signal\":9}");
	got = measure_all();
	ck_assert_double_eq_tol(NUMBER("ledger.stalled"), 5.7, TOL / 4);
	ck_assert_double_eq_tol(NUMBER("ledger.redone"), 21.5, TOL / 4);
	json_decref(got);
}
END_TEST

/* It gave up on its only attempt, and what it committed is there. */
START_TEST(a_fresh_start_is_no_restore)
{
	json_t *got;

	events = json_array();
	whole_job(0, "baseline", 0, 1);
	begin_job(1, "fault", 100, 2);
	add(100.5, "restore.done", "{\"attempt\":1,\"step\":0}");
	run_steps(1, 101, 1, 15, 1, "main", 2);
	add(111.5, "checkpoint.committed", "{\"attempt\":1,\"step\":10}");
	add(116, "fault.effective", "{\"fault\":\"f\"}");
	add(118, "attempt.end", "{\"attempt\":1,\"reason\":\"gave_up\"}");
	got = measure_all();
	ck_assert_double_eq_tol(NUMBER("work_steps"), 10, TOL);
	ck_assert_double_eq_tol(NUMBER("ledger.useful"), 20, TOL);
	ck_assert_double_eq_tol(NUMBER("ledger.redone"), 10, TOL);
	ck_assert_double_eq_tol(NUMBER("ledger.stalled"), 4, TOL);
	json_decref(got);
}
END_TEST

/* Someone who books redone time as useful must be found out. */
START_TEST(time_in_the_wrong_category_breaks_the_balance)
{
	struct measure m = {.noise_floor = NAN, .null_p = NAN};
	struct drill_err err = {0};
	struct trial *t;
	size_t i;

	load("01-restart");
	ck_assert_int_eq(drill_measure_read(&m, events, &err), 0);
	for (i = 0; i < m.trial.n; i++)
		ck_assert_int_eq(drill_kept(&m.trial.v[i], &err), 0);
	ck_assert_int_eq(drill_baseline(&m, &err), 0);
	for (i = 0; i < m.trial.n; i++) {
		drill_allow(&m.trial.v[i], &m.base);
		ck_assert_int_eq(drill_ledger(&m.trial.v[i], &m.base, &err), 0);
	}
	t = &m.trial.v[1];
	t->ledger[CAT_USEFUL] += t->ledger[CAT_REDONE];
	t->ledger[CAT_REDONE] = 0;
	ck_assert_int_eq(drill_paid(&m, t, &err), 0);
	ck_assert_int_eq(drill_incidents(t, &err), 0);
	ck_assert_int_eq(json_array_size(t->reasons), 0);
	ck_assert_int_eq(drill_lost(t, &m.base, &err), 0);
	ck_assert_int_eq(json_array_size(t->reasons), 1);
	drill_measure_done(&m);
	json_decref(events);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("measure_rules");
	TCase *tc = tcase_create("rules");

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, a_zombies_step_never_counts);
	tcase_add_test(tc, a_released_slot_is_queued_and_not_in_the_ledger);
	tcase_add_test(tc, an_alarm_with_no_fault_in_force_is_false);
	tcase_add_test(tc, a_later_word_about_an_open_incident_is_no_false_alarm);
	tcase_add_test(tc, a_detection_before_its_fault_by_name_is_inconclusive);
	tcase_add_test(tc, what_clocks_cannot_order_is_undecidable);
	tcase_add_test(tc, on_one_host_only_the_drift_of_its_clock_counts);
	tcase_add_test(tc, a_fault_that_never_took_effect_proves_nothing);
	tcase_add_test(tc, a_rank_that_dies_on_its_own_is_a_natural_incident);
	tcase_add_test(tc, a_hang_that_nobody_stopped_never_resumes);
	tcase_add_test(tc, each_stage_has_a_step_time_of_its_own);
	tcase_add_test(tc, null_trials_that_cost_make_all_inconclusive);
	tcase_add_test(tc, baselines_that_differ_are_no_baseline);
	tcase_add_test(tc, few_baseline_steps_and_no_baseline_are_said);
	tcase_add_test(tc, work_beyond_the_baselines_is_said);
	tcase_add_loop_test(tc, a_step_begun_again_is_a_rollback, 0, 2);
	tcase_add_test(tc, the_same_fault_after_steady_is_another_incident);
	tcase_add_test(tc, three_steps_in_a_row_make_a_job_steady);
	tcase_add_test(tc, a_dead_process_stalls_from_its_death);
	tcase_add_test(tc, a_fresh_start_is_no_restore);
	tcase_add_test(tc, time_in_the_wrong_category_breaks_the_balance);
	suite_add_tcase(s, tc);
	return drill_check_main(s);
}
