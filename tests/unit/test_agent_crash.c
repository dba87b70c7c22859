/* test_agent_crash.c - agent, keeper or both die or stop; all is reverted
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
#include <time.h>
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

/* The agent's child. */
static pid_t keeper(void)
{
	char path[64];
	int pid = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)g.agent,
		 (int)g.agent);
	f = fopen(path, "r");
	ck_assert_ptr_nonnull(f);
	ck_assert_int_eq(fscanf(f, "%d", &pid), 1);
	fclose(f);
	return pid;
}

static bool clean(void *arg)
{
	(void)arg;
	return rig_is_clean(&g, job);
}

static bool keeper_gone(void *arg)
{
	return drill_process_state(*(pid_t *)arg) == 0;
}

#define AT_5 "{\"at\":{\"on\":\"step\",\"steps\":[5]}"

/* ---- c01: whoever dies, wherever ---- */

static const char *const boundaries[] = { "record", "fsync", "apply", "hold",
					  "revert" };
static const char *const kinds[] = { "null.noop", "host.stop", "host.freeze" };

/* 200 ms in force, then revert: all five boundaries are passed. */
static void up_to_die(int boundary, int kind, int signum)
{
	g.boundary = boundaries[boundary];
	g.nth = 1;
	g.signum = signum;
	rig_up(&g, one(rig_fault("f", kinds[kind],
				 AT_5 ",\"duration_ns\":200000000}")));
	job = rig_job(&g, 0, 1, 1000000, 4000);
}

static bool agent_dead(void *arg)
{
	(void)arg;
	return drill_process_state(g.agent) == 'Z';
}

static bool agent_stopped(void *arg)
{
	(void)arg;
	return drill_process_state(g.agent) == 'T';
}

static void must_be_clean_within(int ms, int boundary)
{
	pid_t k = 0;
	char own[200];
	struct drill_freezer f;

	(void)k;
	ck_assert_msg(rig_until(clean, NULL, ms), "not clean after '%s'",
		      boundaries[boundary]);
	if (drill_freezer_find(&f, NULL) == 0 &&
	    drill_freezer_of(&f, job, own, sizeof(own), NULL) == 0)
		ck_assert_ptr_null(strstr(own, "/fd"));
}

START_TEST(c01_the_agent_is_killed_at_a_boundary)
{
	int b = _i % 5, kind = _i / 5;

	up_to_die(b, kind, SIGKILL);
	ck_assert(rig_until(agent_dead, NULL, 10000));
	must_be_clean_within(g.lease_ns / 1000000 + 2000, b);
}
END_TEST

START_TEST(c01_the_agent_is_stopped_at_a_boundary_and_wakes_fenced)
{
	int b = _i % 5, kind = _i / 5;

	up_to_die(b, kind, SIGSTOP);
	ck_assert(rig_until(agent_stopped, NULL, 10000));
	must_be_clean_within(g.lease_ns / 1000000 + 2500, b);
	kill(g.agent, SIGCONT); /* it is dead: nothing wakes */
	ck_assert_int_eq(rig_agent_end(&g, 3000), -SIGKILL);
	ck_assert(rig_is_clean(&g, job));
}
END_TEST

/* Without its keeper an agent puts nothing in force any more. */
START_TEST(c01_the_keeper_is_killed_and_the_agent_reverts)
{
	rig_up(&g, one(rig_fault("f", kinds[_i], AT_5 "}")));
	job = rig_job(&g, 0, 1, 1000000, 4000);
	ck_assert_ptr_nonnull(event("fault.effective", "f", 10000));
	kill(keeper(), SIGKILL);
	ck_assert_ptr_nonnull(rig_wait(&g, "error", NULL, 5000));
	ck_assert_str_eq(
		drill_json_text(rig_wait(&g, "reverted", "f", 100), "state"),
		"clean");
	ck_assert_int_ne(drill_process_state(job), 'T');
	rig_send(&g, json_pack("{s:s,s:s}", "kind", "fire", "fault", "f"));
	ck_assert_ptr_nonnull(rig_wait(&g, "failed", "f", 5000));
	ck_assert_int_ne(drill_process_state(job), 'T');
}
END_TEST

/* Both at once: heal, with neither of them, finds the way back. */
START_TEST(c01_agent_and_keeper_are_killed_and_heal_reverts)
{
	json_t *found = NULL;
	struct drill_err err = { 0 };
	pid_t k;

	rig_up(&g, one(rig_fault("f", kinds[_i], AT_5 "}")));
	job = rig_job(&g, 0, 1, 1000000, 4000);
	ck_assert_ptr_nonnull(event("fault.effective", "f", 10000));
	k = keeper();
	kill(k, SIGSTOP); /* so that it cannot act between the two kills */
	kill(g.agent, SIGKILL);
	ck_assert(rig_until(agent_dead, NULL, 5000));
	kill(k, SIGKILL);
	ck_assert(rig_until(keeper_gone, &k, 5000));
	ck_assert_msg(drill_heal(g.state, false, &found, &err) == 0, "%s",
		      err.msg);
	json_decref(found);
	ck_assert(rig_is_clean(&g, job));
}
END_TEST

static bool healed(void *arg)
{
	(void)arg;
	return drill_heal(g.state, false, NULL, NULL) == 0 &&
	       rig_is_clean(&g, job);
}

/* Whole sessions are stopped at times. While the lease runs they may go on; then
 * they are no holders any more. */
START_TEST(c01_agent_and_keeper_are_stopped_and_heal_reverts)
{
	pid_t k;

	g.lease_ns = INT64_C(2000000000);
	rig_up(&g, one(rig_fault("f", kinds[_i], AT_5 "}")));
	job = rig_job(&g, 0, 1, 1000000, 4000);
	ck_assert_ptr_nonnull(event("fault.effective", "f", 10000));
	k = keeper();
	kill(k, SIGSTOP);
	kill(g.agent, SIGSTOP);
	ck_assert(!healed(NULL));
	ck_assert(rig_until(healed, NULL, 10000));
	ck_assert(rig_until(keeper_gone, &k, 5000));
	ck_assert_int_eq(rig_agent_end(&g, 5000), -SIGKILL);
}
END_TEST

START_TEST(the_end_of_the_controller_reverts_and_leaves_no_process)
{
	pid_t k;

	rig_up(&g, one(rig_fault("f", "host.stop", AT_5 "}")));
	job = rig_job(&g, 0, 1, 1000000, 4000);
	ck_assert_ptr_nonnull(event("fault.effective", "f", 10000));
	k = keeper();
	shutdown(g.fd, SHUT_RDWR);
	ck_assert_int_eq(rig_agent_end(&g, 5000), 0);
	ck_assert(rig_is_clean(&g, job));
	ck_assert(rig_until(keeper_gone, &k, 5000));
}
END_TEST

/* It is there and says nothing: its lease runs out in the agent. */
START_TEST(a_silent_controller_loses_the_lease)
{
	g.silent = true;
	g.lease_ns = INT64_C(3000000000);
	rig_up(&g, one(rig_fault("f", "host.stop", AT_5 "}")));
	job = rig_job(&g, 0, 1, 1000000, 4000);
	ck_assert_ptr_nonnull(event("fault.effective", "f", 10000));
	ck_assert_ptr_nonnull(rig_wait(&g, "error", NULL, 9000));
	ck_assert_int_ne(drill_process_state(job), 'T');
	ck_assert(kill(g.agent, 0) == 0);
}
END_TEST

START_TEST(a_signal_reverts_before_it_ends)
{
	rig_up(&g, one(rig_fault("f", "host.stop", AT_5 "}")));
	job = rig_job(&g, 0, 1, 1000000, 4000);
	ck_assert_ptr_nonnull(event("fault.effective", "f", 10000));
	kill(g.agent, _i ? SIGTERM : SIGINT);
	ck_assert_int_eq(rig_agent_end(&g, 5000), DRILL_ERROR);
	ck_assert(rig_is_clean(&g, job));
}
END_TEST

/* ---- c07: a target that is replaced ---- */

/* What a process has run so far: it grows only where that is not frozen. */
static int64_t cpu_ns(pid_t pid)
{
	struct timespec t = { 0 };
	clockid_t id;

	if (clock_getcpuclockid(pid, &id) || clock_gettime(id, &t) < 0)
		return -1;
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

START_TEST(c07_the_revert_reaches_what_came_into_the_frozen_cgroup)
{
	struct drill_freezer f;
	char dir[256];
	pid_t other;
	int64_t used;
	int i;

	if (drill_freezer_find(&f, NULL) < 0)
		SKIP("no freezer here");
	snprintf(g.cgroup, sizeof(g.cgroup), "%s/drill-c07-%d", f.root,
		 (int)getpid());
	if (mkdir(g.cgroup, 0755) < 0)
		SKIP("cannot make a cgroup");
	rig_up(&g, one(rig_fault("f", "host.freeze",
				 "{\"at\":{\"on\":\"manual\"},\"target\":"
				 "{\"kind\":\"host\",\"is\":\"all\"}}")));
	job = rig_busy();
	other = rig_busy();
	ck_assert_int_eq(drill_freezer_move(g.cgroup, job, NULL), 0);
	rig_send(&g, json_pack("{s:s,s:s}", "kind", "fire", "fault", "f"));
	ck_assert_ptr_nonnull(event("fault.effective", "f", 5000));
	/* The target goes, another one comes in its place and is frozen too. */
	strcpy(dir, f.version == 2 ? g.cgroup : "");
	if (dir[0])
		rig_end_process(job);
	ck_assert_int_eq(drill_freezer_move(g.cgroup, other, NULL), 0);
	rig_send(&g, json_pack("{s:s,s:s}", "kind", "revert", "fault", "f"));
	ck_assert_str_eq(
		drill_json_text(rig_wait(&g, "reverted", "f", 5000), "state"),
		"clean");
	ck_assert_int_eq(drill_freezer_get(f.version, g.cgroup, NULL), 0);
	used = cpu_ns(other);
	for (i = 0; i < 3000 && cpu_ns(other) <= used; i++)
		usleep(1000);
	ck_assert_int_gt(cpu_ns(other), used);
	rig_end_process(other);
	if (!dir[0])
		rig_end_process(job);
	job = 0;
	for (i = 0; i < 1000 && rmdir(g.cgroup) < 0; i++)
		usleep(1000);
}
END_TEST

START_TEST(c07_the_report_says_that_the_target_is_gone)
{
	json_t *e;

	rig_up(&g, one(rig_fault("f", "host.stop", AT_5 "}")));
	job = rig_job(&g, 0, 1, 1000000, 4000);
	ck_assert_ptr_nonnull(event("fault.effective", "f", 10000));
	rig_end_process(job);
	job = 0;
	ck_assert_ptr_nonnull(event("rank.end", NULL, 5000));
	rig_send(&g, json_pack("{s:s,s:s}", "kind", "revert", "fault", "f"));
	ck_assert_ptr_nonnull(e = event("fault.reverted", "f", 5000));
	ck_assert_str_eq(
		drill_json_text(json_object_get(e, "evidence"), "target"),
		"gone");
	ck_assert_str_eq(drill_json_text(e, "state"), "clean");
}
END_TEST

/* ---- c15: nothing is left stopped ---- */

START_TEST(c15_no_process_is_stopped_or_frozen_after_the_end_of_the_trial)
{
	rig_up(&g, one(rig_fault("f", _i ? "host.freeze" : "host.stop",
				 AT_5 "}")));
	job = rig_job(&g, 0, 1, 1000000, 4000);
	ck_assert_ptr_nonnull(event("fault.effective", "f", 10000));
	rig_send(&g, json_pack("{s:s,s:i}", "kind", "trial.end", "trial", 1));
	ck_assert_uint_eq(json_array_size(json_object_get(
				  rig_wait(&g, "ended", NULL, 5000), "dirty")),
			  0);
	ck_assert_int_ne(drill_process_state(job), 'T');
	kill(job, SIGKILL); /* a frozen one of version 1 would not die of it */
	ck_assert_int_eq(waitpid(job, NULL, 0), job);
	job = 0;
}
END_TEST

/* A leftover of a dead run is reverted before anything else is done. */
START_TEST(the_start_heals_what_a_dead_run_left)
{
	struct rig next;
	pid_t k;

	rig_up(&g, one(rig_fault("f", "host.stop", AT_5 "}")));
	job = rig_job(&g, 0, 1, 1000000, 4000);
	ck_assert_ptr_nonnull(event("fault.effective", "f", 10000));
	k = keeper();
	kill(k, SIGSTOP);
	kill(g.agent, SIGKILL);
	ck_assert(rig_until(agent_dead, NULL, 5000));
	kill(k, SIGKILL);
	ck_assert(rig_until(keeper_gone, &k, 5000));
	ck_assert_int_eq(drill_process_state(job), 'T');
	rig_init(&next);
	strcpy(next.state, g.state);
	rig_up(&next, json_array());
	ck_assert_int_ne(drill_process_state(job), 'T');
	rig_down(&next);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("agent_crash");
	TCase *t = tcase_create("agent_crash");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, c01_the_agent_is_killed_at_a_boundary, 0, 15);
	tcase_add_loop_test(
		t, c01_the_agent_is_stopped_at_a_boundary_and_wakes_fenced, 0,
		15);
	tcase_add_loop_test(t, c01_the_keeper_is_killed_and_the_agent_reverts,
			    0, 3);
	tcase_add_loop_test(t, c01_agent_and_keeper_are_stopped_and_heal_reverts,
			    1, 2);
	tcase_add_loop_test(t, c01_agent_and_keeper_are_killed_and_heal_reverts,
			    0, 3);
	tcase_add_test(t,
		       the_end_of_the_controller_reverts_and_leaves_no_process);
	tcase_add_test(t, a_silent_controller_loses_the_lease);
	tcase_add_loop_test(t, a_signal_reverts_before_it_ends, 0, 2);
	tcase_add_test(
		t, c07_the_revert_reaches_what_came_into_the_frozen_cgroup);
	tcase_add_test(t, c07_the_report_says_that_the_target_is_gone);
	tcase_add_loop_test(
		t,
		c15_no_process_is_stopped_or_frozen_after_the_end_of_the_trial,
		0, 2);
	tcase_add_test(t, the_start_heals_what_a_dead_run_left);
	suite_add_tcase(s, t);
	return drill_check_main(s);
}
