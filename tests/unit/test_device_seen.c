/* test_device_seen.c - when a fault of a device counts as felt, and by whom
 * SPDX-License-Identifier: MIT
 *
 * The test is agent and driver in one: it lets the injector arm, and stamps the
 * page as the CUDA proxy in the target's process would. That process makes no
 * call; it only lives and dies.
 */
#include "check_main.h"

#include "harness/agent/journal_file.h"
#include "harness/agent/process.h"
#include "injectors/hooks/device_step.h"
#include "injectors/hooks/devices.h"
#include "tests/support/agent_rig.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static struct rig g;
static struct drill_devices devices;
static struct drill_target target;
static struct drill_journal *journal;
static struct drill_act act;
static const struct drill_injector *in;
static char args[512];
static pid_t rank;

static void start_rank(void)
{
	rank = fork();
	if (!rank) {
		pause();
		_exit(0);
	}
	ck_assert_int_eq(drill_process_open(rank, &target.process, NULL), 0);
}

static void end_rank(void)
{
	kill(rank, SIGKILL);
	waitpid(rank, NULL, 0);
	rank = 0;
}

static void setup(void)
{
	rig_init(&g);
	ck_assert_int_eq(mkdir(g.trial, 0755), 0);
	target = (struct drill_target){ .kind = DRILL_TARGET_RANK, .rank = 3 };
	strcpy(target.name, "rank 3");
	strcpy(target.dir, g.trial);
	snprintf(target.devices, sizeof(target.devices), "%s/devices.page",
		 g.trial);
	ck_assert_int_eq(drill_devices_create(&devices, target.devices, "h0", 2,
					      NULL), 0);
	ck_assert_int_eq(drill_journal_open(g.state, "run", "h0", &journal,
					    NULL), 0);
	start_rank();
}

static void teardown(void)
{
	if (rank)
		end_rank();
	json_decref(act.evidence);
	drill_process_close(&target.process);
	drill_journal_close(journal);
	drill_devices_close(&devices);
	rig_down(&g);
}

/* The fault as it then lies on the page. */
static struct drill_device_fault *apply(const char *name, const char *words)
{
	struct drill_record_info info = { .kind = name, .fault = "f",
					  .target = target.name,
					  .process = target.process,
					  .survives = DRILL_SURVIVES_PROCESS };
	json_t *o = json_loads(words, 0, NULL);
	struct drill_err err = { 0 };

	info.process.pidfd = -1;
	in = drill_injector_find(name, &err);
	ck_assert_msg(!drill_params_parse(in->params, name, o, args, &err),
		      "%s", err.msg);
	json_decref(o);
	act = (struct drill_act){ .args = args, .target = &target,
				  .evidence = json_object(),
				  .clock = drill_clock_system(),
				  .attempt = 1 };
	ck_assert_int_eq(drill_record_new(journal, &info, &act.record, NULL),
			 0);
	ck_assert_msg(!in->apply(&act, &err), "%s", err.msg);
	return &devices.page->fault[0];
}

static int verify(void)
{
	return in->verify(&act, NULL);
}

static void revert(void)
{
	ck_assert_int_eq(in->revert(act.record, NULL), 0);
	ck_assert_int_eq(drill_record_end(act.record, DRILL_RECORD_CLOSED, "",
					  NULL), 0);
}

/* What the evidence says of the process; "": nothing. */
static const char *of_process(void)
{
	const char *s = json_string_value(json_object_get(act.evidence,
							  "process"));

	return s ? s : "";
}

/* ---- a process that ended first ---- */

START_TEST(who_ends_at_the_signal_need_not_feel_the_error)
{
	apply("device.xid", "{\"code\": 79}");
	ck_assert_int_eq(verify(), 0); /* it may still call */
	ck_assert_str_eq(of_process(), "");
	end_rank();
	ck_assert_int_eq(verify(), 1);
	ck_assert_str_eq(of_process(), "ended before a call could fail");
	revert();
}
END_TEST

START_TEST(without_a_signal_nobody_ended_because_of_it)
{
	apply("device.xid", "{\"code\": 79, \"form\": \"effect\"}");
	end_rank();
	ck_assert_int_eq(verify(), 0);
	ck_assert_str_eq(of_process(), "");
	revert();
}
END_TEST

START_TEST(a_device_has_no_process_that_could_end)
{
	target.kind = DRILL_TARGET_DEVICE;
	apply("device.xid", "{\"code\": 79}");
	end_rank();
	ck_assert_int_eq(verify(), 0);
	ck_assert_str_eq(of_process(), "");
	revert();
}
END_TEST

START_TEST(an_error_that_came_up_is_felt_whoever_lives)
{
	struct drill_device_fault *f = apply("device.xid", "{\"code\": 79}");
	const char *call;

	atomic_store(&f->surfaced_ns, f->fired_ns + 5000);
	ck_assert_int_eq(verify(), 1);
	ck_assert_int_eq(act.before_ns, f->fired_ns);
	end_rank();
	ck_assert_int_eq(verify(), 1);
	ck_assert_int_eq(json_unpack(act.evidence, "{s:{s:s}}", "process",
				     "call", &call), 0);
	revert();
}
END_TEST

START_TEST(what_does_not_stand_as_it_was_armed_is_not_ours)
{
	struct drill_device_fault *f = apply("device.xid", "{\"code\": 79}");

	atomic_store(&f->surfaced_ns, f->fired_ns + 5000);
	f->error++;
	ck_assert_int_eq(verify(), 0);
	f->error--;
	f->nth++;
	ck_assert_int_eq(verify(), 0);
	f->nth--;
	ck_assert_int_eq(verify(), 1);
	revert();
}
END_TEST

/* ---- memory that is short when a job comes back ---- */

START_TEST(memory_is_short_for_each_attempt_of_the_rank)
{
	struct drill_device_fault *f;

	/* Between two attempts there is no process, and no device of it. */
	end_rank();
	memset(&target.process, 0, sizeof(target.process));
	target.process.pidfd = -1;
	target.device = 1;
	f = apply("device.oom", "{\"limit\": \"1MiB\"}");
	ck_assert_uint_eq(f->state, DRILL_DEVICE_ARMED);
	ck_assert_uint_eq(f->action, DRILL_DEVICE_OOM);
	ck_assert_uint_eq(f->limit_bytes, 1 << 20);
	ck_assert_int_eq(f->rank, 3);
	ck_assert_int_eq(f->device, -1);
	ck_assert_int_eq(f->attempt, 0);
	ck_assert_int_eq(verify(), 0);
	drill_device_fire(devices.page, 0, 4711, "train");
	ck_assert_int_eq(verify(), 0); /* met, but nothing has failed yet */
	atomic_store(&f->surfaced_ns, f->fired_ns + 5000);
	ck_assert_int_eq(verify(), 1);
	revert();
	ck_assert_uint_eq(f->state, DRILL_DEVICE_FREE);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("device seen");
	TCase *tc = tcase_create("seen");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, who_ends_at_the_signal_need_not_feel_the_error);
	tcase_add_test(tc, without_a_signal_nobody_ended_because_of_it);
	tcase_add_test(tc, a_device_has_no_process_that_could_end);
	tcase_add_test(tc, an_error_that_came_up_is_felt_whoever_lives);
	tcase_add_test(tc, what_does_not_stand_as_it_was_armed_is_not_ours);
	tcase_add_test(tc, memory_is_short_for_each_attempt_of_the_rank);
	suite_add_tcase(s, tc);
	return drill_check_main(s);
}
