/* test_heal.c - what dead runs left is reverted from their journals alone
 * SPDX-License-Identifier: MIT
 */
#include "check_main.h"

#include "harness/agent/heal.h"
#include "harness/agent/journal_file.h"
#include "harness/agent/process.h"
#include "tests/support/agent_rig.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static struct rig g;
static json_t *found;
static struct drill_err err;

static void setup(void)
{
	rig_init(&g);
	ck_assert_int_eq(mkdir(g.trial, 0755), 0);
	memset(&err, 0, sizeof(err));
}

static void teardown(void)
{
	json_decref(found);
	rig_down(&g);
}

static int heal(bool list_only)
{
	json_decref(found);
	found = NULL;
	memset(&err, 0, sizeof(err));
	return drill_heal(g.state, list_only, &found, &err);
}

static const char *said(size_t i, const char *field)
{
	const char *s = json_string_value(
		json_object_get(json_array_get(found, i), field));

	return s ? s : "(nothing)";
}

/* ---- holders that die ---- */

static struct drill_journal *open_journal(void)
{
	struct drill_journal *j = NULL;

	if (drill_journal_open(g.state, "run", "h0", &j, NULL) < 0)
		abort();
	return j;
}

/* Runs @holder in a process that is then killed. */
static void leave(void (*holder)(void))
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		holder();
		raise(SIGKILL);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFSIGNALED(status));
}

static const struct drill_injector *injector;
static struct drill_process victim;
static char args[256];

/* A record of @injector, applied as the agent would. */
static struct drill_record *apply(struct drill_journal *j)
{
	struct drill_target where = { .rank = 0, .process = victim };
	struct drill_act act = { .args = args,
				 .target = &where,
				 .evidence = json_object(),
				 .clock = drill_clock_system() };
	struct drill_record_info info = { .kind = injector->name,
					  .fault = "f",
					  .target = "rank 0",
					  .process = victim,
					  .survives = injector->survives };

	snprintf(where.dir, sizeof(where.dir), "%s", g.trial);
	if (drill_record_new(j, &info, &act.record, NULL) < 0 ||
	    injector->apply(&act, NULL) < 0)
		abort();
	json_decref(act.evidence);
	return act.record;
}

static void one_applied(void)
{
	apply(open_journal());
}

static void use(const char *name)
{
	injector = drill_injector_find(name, NULL);
	memset(args, 0, sizeof(args));
}

static int marks(void)
{
	char cmd[200];
	FILE *f;
	int n = 0;

	snprintf(cmd, sizeof(cmd), "ls %s | wc -l", g.trial);
	f = popen(cmd, "r");
	ck_assert_int_eq(fscanf(f, "%d", &n), 1);
	pclose(f);
	return n;
}

START_TEST(nothing_to_heal_is_fine)
{
	ck_assert_int_eq(heal(false), 0);
	ck_assert_uint_eq(json_array_size(found), 0);
}
END_TEST

START_TEST(c02_a_killed_holders_change_is_undone_from_the_journal)
{
	use("null.noop");
	leave(one_applied);
	ck_assert_int_eq(marks(), 1);
	ck_assert_int_eq(heal(false), 0);
	ck_assert_str_eq(said(0, "state"), "reverted");
	ck_assert_str_eq(said(0, "kind"), "null.noop");
	ck_assert_int_eq(marks(), 0);
	ck_assert_int_eq(heal(false), 0);
	ck_assert_uint_eq(json_array_size(found), 0);
}
END_TEST

START_TEST(a_list_changes_nothing)
{
	use("null.noop");
	leave(one_applied);
	ck_assert_int_eq(heal(true), 0);
	ck_assert_str_eq(said(0, "state"), "open");
	ck_assert_int_eq(marks(), 1);
	ck_assert_int_eq(heal(true), 0);
	ck_assert_str_eq(said(0, "state"), "open");
}
END_TEST

/* ---- processes ---- */

static pid_t busy(void)
{
	pid_t pid = rig_busy();

	ck_assert_int_eq(drill_process_open(pid, &victim, NULL), 0);
	return pid;
}

static bool runs(void *arg)
{
	char state = drill_process_state(*(pid_t *)arg);

	return state == 'R' || state == 'S';
}

static bool stopped(void *arg)
{
	return drill_process_state(*(pid_t *)arg) == 'T';
}

START_TEST(c15_a_stopped_process_of_a_dead_run_goes_on)
{
	pid_t pid = busy();

	use("host.stop");
	leave(one_applied);
	ck_assert(rig_until(stopped, &pid, 2000));
	ck_assert_int_eq(heal(false), 0);
	ck_assert(rig_until(runs, &pid, 2000));
	rig_end_process(pid);
}
END_TEST

START_TEST(c15_resuming_a_dead_rank_is_no_error)
{
	pid_t pid = busy();

	use("host.stop");
	leave(one_applied);
	rig_end_process(pid);
	ck_assert_int_eq(heal(false), 0);
	ck_assert_str_eq(said(0, "state"), "reverted");
}
END_TEST

static void stop_record(uint64_t start, const char *boot_id)
{
	struct drill_record_info info = { .kind = "host.stop",
					  .fault = "f",
					  .target = "rank 0",
					  .process = victim,
					  .survives = DRILL_SURVIVES_PROCESS };
	struct drill_record *r;

	info.process.start = start;
	if (boot_id)
		strcpy(info.process.boot_id, boot_id);
	if (drill_record_new(open_journal(), &info, &r, NULL) < 0 ||
	    drill_record_commit(r, NULL) < 0)
		abort();
}

static void wrong_start(void)
{
	stop_record(victim.start + 1, NULL);
}

static void no_start(void)
{
	stop_record(0, NULL);
}

static void other_boot(void)
{
	stop_record(victim.start, "00000000-1111-2222-3333-444444444444");
}

/* The stranger is stopped by somebody else; our SIGCONT would wake it. */
static pid_t stranger(void)
{
	pid_t pid = busy();

	kill(pid, SIGSTOP);
	ck_assert(rig_until(stopped, &pid, 2000));
	return pid;
}

START_TEST(c09_a_recycled_pid_gets_no_signal_and_counts_as_gone)
{
	pid_t pid = stranger();

	leave(wrong_start);
	ck_assert_int_eq(heal(false), 0);
	ck_assert_str_eq(said(0, "state"), "reverted");
	ck_assert_int_eq(drill_process_state(pid), 'T');
	rig_end_process(pid);
}
END_TEST

START_TEST(c09_a_missing_start_time_is_unknown_never_clean)
{
	pid_t pid = stranger();

	leave(no_start);
	ck_assert_int_eq(heal(false), -EUCLEAN);
	ck_assert_str_eq(said(0, "state"), "dirty");
	ck_assert_int_eq(drill_process_state(pid), 'T');
	/* It stays dirty until somebody has looked. */
	ck_assert_int_eq(heal(false), -EUCLEAN);
	ck_assert_int_eq(drill_heal_forget(g.state, said(0, "id"), NULL), 0);
	ck_assert_int_eq(heal(false), 0);
	ck_assert_uint_eq(json_array_size(found), 0);
	rig_end_process(pid);
}
END_TEST

START_TEST(c02_a_record_of_another_boot_is_not_replayed)
{
	pid_t pid = stranger();

	leave(other_boot);
	ck_assert_int_eq(heal(false), 0);
	ck_assert_int_eq(drill_process_state(pid), 'T');
	rig_end_process(pid);
}
END_TEST

static char kept_path[200];

static void survives_boot(void)
{
	struct drill_record_info info = { .kind = "null.noop",
					  .survives = DRILL_SURVIVES_BOOT };
	struct drill_record *r;

	strcpy(info.process.boot_id, "00000000-1111-2222-3333-444444444444");
	if (drill_record_new(open_journal(), &info, &r, NULL) < 0 ||
	    drill_record_put(r, "path", kept_path, NULL) < 0 ||
	    drill_record_original(r, kept_path, "", "ours 1\n", NULL) < 0 ||
	    drill_record_commit(r, NULL) < 0)
		abort();
}

START_TEST(what_survives_a_boot_is_replayed_after_it)
{
	int fd;

	snprintf(kept_path, sizeof(kept_path), "%s/x.noop", g.trial);
	fd = open(kept_path, O_CREAT | O_WRONLY, 0600);
	ck_assert_int_eq(write(fd, "ours 1\n", 7), 7);
	close(fd);
	leave(survives_boot);
	ck_assert_int_eq(heal(false), 0);
	ck_assert_str_eq(said(0, "state"), "reverted");
	ck_assert_int_eq(marks(), 0);
}
END_TEST

START_TEST(a_foreign_change_is_left_alone_and_dirty)
{
	int fd;

	snprintf(kept_path, sizeof(kept_path), "%s/x.noop", g.trial);
	fd = open(kept_path, O_CREAT | O_WRONLY, 0600);
	ck_assert_int_eq(write(fd, "theirs 2\n", 9), 9);
	close(fd);
	leave(survives_boot);
	ck_assert_int_eq(heal(false), -EUCLEAN);
	ck_assert_str_eq(said(0, "state"), "dirty");
	ck_assert_ptr_nonnull(strstr(said(0, "reason"), "foreign change"));
	ck_assert_int_eq(marks(), 1);
}
END_TEST

/* ---- c03: aborted between the steps ---- */

static int kill_at;

static void die_at(const char *name)
{
	if (!strcmp(name, "fsync") && --kill_at == 0)
		raise(SIGKILL);
}

static void three_targets(void)
{
	struct drill_journal *j = open_journal();

	j->boundary = die_at;
	apply(j);
	apply(j);
	apply(j);
}

START_TEST(c03_an_abort_between_record_and_change_ends_reverted)
{
	use("null.noop");
	kill_at = _i; /* after the fsync of target _i, before its change */
	leave(three_targets);
	ck_assert_int_eq(marks(), _i - 1);
	ck_assert_int_eq(heal(false), 0);
	ck_assert_uint_eq(json_array_size(found), _i);
	ck_assert_int_eq(marks(), 0);
	ck_assert_int_eq(heal(false), 0);
	ck_assert_uint_eq(json_array_size(found), 0);
}
END_TEST

/* ---- c05 ---- */

static void twice(void)
{
	struct drill_journal *j = open_journal();

	apply(j);
	apply(j);
}

START_TEST(c05_a_forced_retry_leaves_nothing_with_our_mark)
{
	pid_t pid = busy();

	use(_i ? "host.stop" : "null.noop");
	leave(twice);
	ck_assert_int_eq(heal(false), 0);
	ck_assert_int_eq(marks(), 0);
	ck_assert(rig_until(runs, &pid, 2000));
	rig_end_process(pid);
}
END_TEST

/* ---- damaged, held, foreign, kept ---- */

static void damage(int at)
{
	char path[200];
	int fd;

	snprintf(path, sizeof(path), "%s/journal/run.h0.journal", g.state);
	fd = open(path, O_WRONLY);
	ck_assert_int_eq(pwrite(fd, "#", 1, DRILL_SLOT_BYTES + at), 1);
	close(fd);
}

START_TEST(a_torn_record_is_told_and_kept_until_forgotten)
{
	use("null.noop");
	leave(one_applied);
	damage(100);
	ck_assert_int_eq(heal(false), -EUCLEAN);
	ck_assert_str_eq(said(0, "state"), "torn");
	ck_assert_str_eq(said(0, "id"), "run.h0.-1");
	ck_assert_int_eq(marks(), 1);
	ck_assert_int_eq(drill_heal_forget(g.state, "run.h0.-1", NULL), 0);
	ck_assert_int_eq(heal(false), 0);
}
END_TEST

START_TEST(forgetting_what_is_not_there_is_an_error)
{
	ck_assert_int_lt(drill_heal_forget(g.state, "run.h0.1", &err), 0);
	memset(&err, 0, sizeof(err));
	ck_assert_int_eq(drill_heal_forget(g.state, "../x", &err), -EINVAL);
}
END_TEST

START_TEST(what_a_live_holder_has_is_skipped_and_named)
{
	struct drill_journal *j = open_journal();
	char pid[32];

	use("null.noop");
	apply(j);
	ck_assert_int_eq(heal(_i), 0);
	ck_assert_str_eq(said(0, "state"), "held");
	snprintf(pid, sizeof(pid), "pid %d", (int)getpid());
	ck_assert_str_eq(said(0, "holder"), pid);
	ck_assert_int_eq(marks(), 1);
	drill_journal_detach(j);
}
END_TEST

static const char *kind = "lab.test";
static bool keep;

static void lab_object(void)
{
	struct drill_record_info info = { .kind = kind,
					  .target = "lab x",
					  .survives = DRILL_SURVIVES_PROCESS,
					  .keep = keep };
	struct drill_record *r;

	if (drill_record_new(open_journal(), &info, &r, NULL) < 0 ||
	    drill_record_put(r, "path", g.trial, NULL) < 0 ||
	    drill_record_commit(r, NULL) < 0)
		abort();
}

static int lab_there(const struct drill_record *r, struct drill_err *e)
{
	(void)e;
	return access(drill_record_get(r, "path"), F_OK) == 0;
}

static int lab_remove(const struct drill_record *r, struct drill_err *e)
{
	(void)e;
	return rmdir(drill_record_get(r, "path")) < 0 && errno != ENOENT
		       ? -errno
		       : 0;
}

static const struct drill_revertible lab_kinds[] = {
	{ "lab.test", lab_there, lab_remove },
	{ 0 },
};

START_TEST(a_kind_nobody_knows_here_is_left_alone)
{
	leave(lab_object);
	ck_assert_int_eq(heal(false), 0);
	ck_assert_str_eq(said(0, "state"), "foreign");
	ck_assert_int_eq(access(g.trial, F_OK), 0);
}
END_TEST

START_TEST(the_lab_of_a_dead_run_is_removed)
{
	drill_heal_register(lab_kinds);
	drill_heal_register(lab_kinds);
	leave(lab_object);
	ck_assert_int_eq(heal(false), 0);
	ck_assert_str_eq(said(0, "state"), "reverted");
	ck_assert_int_eq(access(g.trial, F_OK), -1);
}
END_TEST

START_TEST(a_lab_that_was_to_stay_stays)
{
	drill_heal_register(lab_kinds);
	keep = true;
	leave(lab_object);
	ck_assert_int_eq(heal(false), 0);
	ck_assert_str_eq(said(0, "state"), "kept");
	ck_assert_int_eq(access(g.trial, F_OK), 0);
}
END_TEST

/* Stopped, its keeper dead, its lease run out: nobody else would ever act. */
START_TEST(a_stopped_holder_without_its_keeper_is_killed_first)
{
	struct drill_journal *j;
	pid_t pid;
	int p[2];
	char c;

	use("null.noop");
	ck_assert_int_eq(pipe(p), 0);
	pid = fork();
	if (pid == 0) {
		j = open_journal();
		j->lease->lease_ns = 1;
		j->lease->keeper_pid = 1;
		apply(j);
		ck_assert_int_eq(write(p[1], "x", 1), 1);
		raise(SIGSTOP);
		apply(j); /* fenced, and dead */
		_exit(0);
	}
	ck_assert_int_eq(read(p[0], &c, 1), 1);
	ck_assert(rig_until(stopped, &pid, 2000));
	ck_assert_int_eq(heal(false), 0);
	ck_assert_str_eq(said(0, "state"), "reverted");
	ck_assert_int_eq(marks(), 0);
	kill(pid, SIGCONT);
	waitpid(pid, NULL, 0);
	ck_assert_int_eq(marks(), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("heal");
	TCase *t = tcase_create("heal");

	tcase_set_timeout(t, 20);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, nothing_to_heal_is_fine);
	tcase_add_test(t,
		       c02_a_killed_holders_change_is_undone_from_the_journal);
	tcase_add_test(t, a_list_changes_nothing);
	tcase_add_test(t, c15_a_stopped_process_of_a_dead_run_goes_on);
	tcase_add_test(t, c15_resuming_a_dead_rank_is_no_error);
	tcase_add_test(t, c09_a_recycled_pid_gets_no_signal_and_counts_as_gone);
	tcase_add_test(t, c09_a_missing_start_time_is_unknown_never_clean);
	tcase_add_test(t, c02_a_record_of_another_boot_is_not_replayed);
	tcase_add_test(t, what_survives_a_boot_is_replayed_after_it);
	tcase_add_test(t, a_foreign_change_is_left_alone_and_dirty);
	tcase_add_loop_test(
		t, c03_an_abort_between_record_and_change_ends_reverted, 1, 4);
	tcase_add_loop_test(t, c05_a_forced_retry_leaves_nothing_with_our_mark,
			    0, 2);
	tcase_add_test(t, a_torn_record_is_told_and_kept_until_forgotten);
	tcase_add_test(t, forgetting_what_is_not_there_is_an_error);
	tcase_add_loop_test(t, what_a_live_holder_has_is_skipped_and_named, 0,
			    2);
	tcase_add_test(t, a_kind_nobody_knows_here_is_left_alone);
	tcase_add_test(t, the_lab_of_a_dead_run_is_removed);
	tcase_add_test(t, a_lab_that_was_to_stay_stays);
	tcase_add_test(t, a_stopped_holder_without_its_keeper_is_killed_first);
	suite_add_tcase(s, t);
	return drill_check_main(s);
}
