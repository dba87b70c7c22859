/* test_journal.c - undo records: durable, whole or torn, fenced, never lost
 * SPDX-License-Identifier: MIT
 */
#include "check_main.h"

#include "harness/agent/journal_file.h"
#include "harness/agent/process.h"
#include "tests/support/agent_rig.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static struct rig g;

static void setup(void)
{
	rig_init(&g);
}

static void teardown(void)
{
	rig_down(&g);
}

static struct drill_journal *open_journal(void)
{
	struct drill_err err = { 0 };
	struct drill_journal *j = NULL;

	ck_assert_msg(drill_journal_open(g.state, "run", "h0", &j, &err) == 0,
		      "%s", err.msg);
	return j;
}

static struct drill_record *new_record(struct drill_journal *j)
{
	struct drill_record_info info = { .kind = "null.noop",
					  .fault = "f",
					  .target = "host h0",
					  .survives = DRILL_SURVIVES_BOOT };
	struct drill_record *r;

	ck_assert_int_eq(drill_record_new(j, &info, &r, NULL), 0);
	return r;
}

static struct drill_journal *read_again(const char *path)
{
	struct drill_err err = { 0 };
	struct drill_journal *j = NULL;

	ck_assert_msg(drill_journal_attach(path, &j, &err) == 0, "%s", err.msg);
	ck_assert_int_eq(drill_journal_read(j, &err), 0);
	return j;
}

START_TEST(a_record_reads_back_as_it_was_written)
{
	struct drill_journal *j = open_journal(), *k;
	struct drill_record *r = new_record(j);
	struct drill_record_info info;

	ck_assert_int_eq(drill_record_put(r, "path", "/x/\xc3\xa4", NULL), 0);
	ck_assert_int_eq(drill_record_put_int(r, "version", 2, NULL), 0);
	ck_assert_int_eq(drill_record_original(r, "q", "fq", "tbf", NULL), 0);
	ck_assert_int_eq(drill_record_commit(r, NULL), 0);
	k = read_again(j->path);
	r = k->slot[1];
	ck_assert_ptr_nonnull(r);
	ck_assert_int_eq(drill_record_state(r), DRILL_RECORD_OPEN);
	ck_assert_str_eq(drill_record_get(r, "path"), "/x/\xc3\xa4");
	ck_assert_int_eq(drill_record_get_int(r, "version", -1), 2);
	ck_assert_int_eq(drill_record_get_int(r, "none", -1), -1);
	ck_assert_ptr_null(drill_record_get(r, "none"));
	ck_assert_str_eq(drill_record_get_ours(r, "q"), "tbf");
	ck_assert_str_eq(drill_record_id(r), "run.h0.1");
	ck_assert(drill_record_this_boot(r));
	drill_record_info(r, &info);
	ck_assert_str_eq(info.kind, "null.noop");
	ck_assert_int_eq(info.survives, DRILL_SURVIVES_BOOT);
	drill_journal_detach(k);
	drill_journal_detach(j);
}
END_TEST

/* The format is relied upon by journals that an older build has left. */
START_TEST(the_bytes_of_a_record_are_those_of_the_golden_file)
{
	struct drill_lease lease = { .holder_pid = 42,
				     .holder_start = 4242,
				     .run = "20260101-1",
				     .host = "h1" };
	struct drill_journal j = { .lease = &lease, .seq = 6, .stem = "x" };
	struct drill_record_info info = {
		.kind = "host.stop",
		.fault = "hang",
		.target = "rank 3",
		.process = { .pid = 77, .start = 123456 },
		.survives = DRILL_SURVIVES_PROCESS,
		.deadline_boot_ns = INT64_C(5000000000),
	};
	char got[DRILL_SLOT_BYTES], want[DRILL_SLOT_BYTES] = { 0 };
	struct drill_record *r;
	FILE *f;

	strcpy(info.process.boot_id, "00000000-1111-2222-3333-444444444444");
	ck_assert_int_eq(drill_record_new(&j, &info, &r, NULL), 0);
	ck_assert_int_eq(drill_record_original(r, "state", "running", "T",
					       NULL), 0);
	ck_assert_int_eq(drill_record_put(r, "note", "a \"word\"", NULL), 0);
	ck_assert_int_eq(drill_record_encode(r, got, NULL), 0);
	f = fopen("tests/data/golden/record.txt", "r");
	ck_assert_msg(f != NULL, "run from the root of the tree");
	ck_assert_uint_gt(fread(want, 1, sizeof(want), f), 100);
	fclose(f);
	ck_assert_msg(!memcmp(got, want, sizeof(got)), "got:\n%s", got);
	drill_record_free(r);
}
END_TEST

START_TEST(a_clean_journal_leaves_no_file)
{
	struct drill_journal *j = open_journal();
	char path[512];

	strcpy(path, j->path);
	ck_assert_int_eq(access(path, F_OK), 0);
	ck_assert_int_eq(drill_record_commit(new_record(j), NULL), 0);
	ck_assert_int_eq(drill_record_end(j->slot[1], DRILL_RECORD_CLOSED, "",
					  NULL), 0);
	drill_journal_close(j);
	ck_assert_int_eq(access(path, F_OK), -1);
}
END_TEST

START_TEST(an_open_record_keeps_the_file)
{
	struct drill_journal *j = open_journal();
	char path[512];

	strcpy(path, j->path);
	ck_assert_int_eq(drill_record_commit(new_record(j), NULL), 0);
	drill_journal_close(j);
	ck_assert_int_eq(access(path, F_OK), 0);
}
END_TEST

static void flip(const char *path, int slot, int at)
{
	int fd = open(path, O_RDWR);
	off_t off = (off_t)slot * DRILL_SLOT_BYTES + at;
	unsigned char c;

	ck_assert_int_eq(pread(fd, &c, 1, off), 1);
	c ^= 0x20;
	ck_assert_int_eq(pwrite(fd, &c, 1, off), 1);
	close(fd);
}

START_TEST(a_torn_record_is_unknown_and_never_skipped)
{
	static const int places[] = { 0, 25, 41, 60, 300, 1000, 4095 };
	struct drill_journal *j = open_journal(), *k;

	ck_assert_int_eq(drill_record_commit(new_record(j), NULL), 0);
	flip(j->path, 1, places[_i]);
	k = read_again(j->path);
	ck_assert_ptr_nonnull(k->slot[1]);
	ck_assert_int_eq(drill_record_state(k->slot[1]), DRILL_RECORD_TORN);
	ck_assert(drill_journal_has_work(k));
	ck_assert_str_ne(drill_record_reason(k->slot[1]), "");
	drill_journal_detach(k);
	drill_journal_detach(j);
}
END_TEST

/* Whatever lies in a slot, reading it ends in a state; what was not written by
 * us is never open, closed or free. */
START_TEST(random_damage_reads_as_torn_and_never_crashes)
{
	struct drill_journal *j = open_journal();
	struct drill_record *r = new_record(j), got;
	char good[DRILL_SLOT_BYTES], bad[DRILL_SLOT_BYTES];
	unsigned int seed = 12345 + _i, k, n;

	ck_assert_int_eq(drill_record_encode(r, good, NULL), 0);
	for (k = 0; k < 4000; k++) {
		memcpy(bad, good, sizeof(bad));
		for (n = 1 + rand_r(&seed) % 8; n; n--)
			bad[rand_r(&seed) % (k % 2 ? 400 : sizeof(bad))] ^=
				1 + rand_r(&seed) % 255;
		if (k % 5 == 0)
			memset(bad + rand_r(&seed) % 600, rand_r(&seed) % 256,
			       rand_r(&seed) % 3400);
		drill_record_decode(bad, &got);
		if (memcmp(bad, good, sizeof(bad)))
			ck_assert_int_eq(got.state, DRILL_RECORD_TORN);
		json_decref(got.doc);
	}
	drill_journal_detach(j);
}
END_TEST

START_TEST(a_record_that_does_not_fit_is_refused_before_the_change)
{
	struct drill_journal *j = open_journal();
	struct drill_record *r = new_record(j);
	struct drill_err err = { 0 };
	char big[DRILL_SLOT_BYTES];

	memset(big, 'x', sizeof(big) - 1);
	big[sizeof(big) - 1] = 0;
	ck_assert_int_eq(drill_record_put(r, "k", big, NULL), 0);
	ck_assert_int_eq(drill_record_commit(r, &err), -E2BIG);
	drill_journal_detach(j);
}
END_TEST

START_TEST(all_slots_taken_is_an_error_not_a_loss)
{
	struct drill_journal *j = open_journal();
	struct drill_record_info info = { .kind = "null.noop" };
	struct drill_err err = { 0 };
	struct drill_record *r;
	int i;

	for (i = 1; i < DRILL_SLOTS; i++)
		ck_assert_int_eq(drill_record_new(j, &info, &r, NULL), 0);
	ck_assert_int_eq(drill_record_new(j, &info, &r, &err), -ENOSPC);
	drill_journal_detach(j);
}
END_TEST

START_TEST(a_fenced_writer_changes_nothing)
{
	struct drill_journal *j = open_journal(), *k;
	struct drill_record *r = new_record(j), *late = new_record(j);
	struct drill_err err = { 0 };

	ck_assert_int_eq(drill_record_commit(r, NULL), 0);
	ck_assert_int_eq(drill_journal_attach(j->path, &k, NULL), 0);
	drill_journal_fence(k);
	ck_assert_int_eq(drill_record_commit(late, &err), -ESTALE);
	ck_assert_int_eq(drill_record_end(r, DRILL_RECORD_CLOSED, "", NULL),
			 -ESTALE);
	ck_assert_int_eq(drill_journal_read(k, NULL), 0);
	ck_assert_int_eq(drill_record_state(k->slot[1]), DRILL_RECORD_OPEN);
	ck_assert_ptr_null(k->slot[2]);
	drill_journal_detach(k);
	drill_journal_close(j); /* fenced: it leaves the file to the other */
}
END_TEST

START_TEST(the_locks_end_with_the_holder_and_not_before)
{
	struct drill_journal *j = open_journal(), *k;
	struct drill_err err = { 0 };

	ck_assert_int_eq(drill_journal_attach(j->path, &k, NULL), 0);
	ck_assert(drill_journal_busy(k));
	ck_assert_int_eq(drill_journal_lock(k, 0, &err), -EBUSY);
	ck_assert_int_eq(drill_record_commit(new_record(j), NULL), 0);
	drill_journal_detach(j);
	ck_assert_int_eq(drill_journal_lock(k, 0, NULL), 0);
	drill_journal_detach(k);
}
END_TEST

START_TEST(names_that_leave_the_directory_are_refused)
{
	static const char *const names[] = { "", ".x", "a/b", "../x" };
	struct drill_err err = { 0 };
	struct drill_journal *j = NULL;

	ck_assert_int_eq(drill_journal_open(g.state, names[_i], "h0", &j, &err),
			 -EINVAL);
	memset(&err, 0, sizeof(err));
	ck_assert_int_eq(drill_journal_open(g.state, "r", names[_i], &j, &err),
			 -EINVAL);
}
END_TEST

START_TEST(a_second_journal_of_the_same_name_gets_a_number)
{
	struct drill_journal *a = open_journal(), *b = open_journal();

	ck_assert_str_eq(a->stem, "run.h0");
	ck_assert_str_eq(b->stem, "run.h0.2");
	drill_journal_close(b);
	drill_journal_close(a);
}
END_TEST

START_TEST(a_journal_that_was_cut_short_is_an_error)
{
	struct drill_journal *j = open_journal(), *k = NULL;
	struct drill_err err = { 0 };

	ck_assert_int_eq(truncate(j->path, 9000), 0);
	ck_assert_int_eq(drill_journal_attach(j->path, &k, &err), -EUCLEAN);
	drill_journal_detach(j);
}
END_TEST

/* In a mount namespace of its own, on a filesystem of 128 KiB. */
static int on_full_disk(void)
{
	struct drill_err err = { 0 };
	struct drill_journal *j = NULL;
	int rc;

	if (unshare(CLONE_NEWNS) < 0 ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mkdir(g.state, 0700) < 0 ||
	    mount("none", g.state, "tmpfs", 0, "size=128k") < 0)
		return 77;
	rc = drill_journal_open(g.state, "run", "h0", &j, &err);
	if (rc != -ENOSPC || !strstr(err.msg, "--state") ||
	    !strstr(err.msg, "free"))
		return 1;
	return access(g.state, F_OK) == 0 ? 0 : 2;
}

START_TEST(no_room_is_said_at_the_start_and_leaves_nothing)
{
	pid_t pid = fork();
	int status;

	if (pid == 0)
		_exit(on_full_disk());
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	if (WEXITSTATUS(status) == 77)
		SKIP("needs a mount namespace");
	ck_assert_int_eq(WEXITSTATUS(status), 0);
}
END_TEST

/* The filesystem fills up after the start: records can still be written. */
static int fills_later(void)
{
	struct drill_journal *j = NULL;
	struct drill_record *r;
	struct drill_record_info info = { .kind = "null.noop" };
	static char zeros[65536];
	char path[200];
	int fd, i;

	if (unshare(CLONE_NEWNS) < 0 ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mkdir(g.state, 0700) < 0 ||
	    mount("none", g.state, "tmpfs", 0, "size=512k") < 0)
		return 77;
	if (drill_journal_open(g.state, "run", "h0", &j, NULL) < 0)
		return 1;
	snprintf(path, sizeof(path), "%s/full", g.state);
	fd = open(path, O_CREAT | O_WRONLY, 0600);
	while (write(fd, zeros, sizeof(zeros)) > 0)
		;
	for (i = 1; i < DRILL_SLOTS; i++)
		if (drill_record_new(j, &info, &r, NULL) < 0 ||
		    drill_record_commit(r, NULL) < 0)
			return 2;
	for (i = 1; i < DRILL_SLOTS; i++)
		if (drill_record_end(j->slot[i], DRILL_RECORD_CLOSED, "",
				     NULL) < 0)
			return 3;
	return 0;
}

START_TEST(records_are_written_on_a_full_filesystem)
{
	pid_t pid = fork();
	int status;

	if (pid == 0)
		_exit(fills_later());
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	if (WEXITSTATUS(status) == 77)
		SKIP("needs a mount namespace");
	ck_assert_int_eq(WEXITSTATUS(status), 0);
}
END_TEST

START_TEST(the_state_directory_follows_option_user_and_environment)
{
	char buf[200];

	ck_assert_str_eq(drill_state_dir("/x", buf, sizeof(buf)), "/x");
	if (geteuid() != 0)
		SKIP("the rest needs root to be seen");
	ck_assert_str_eq(drill_state_dir("", buf, sizeof(buf)),
			 "/var/lib/faultdrill");
	ck_assert_int_eq(seteuid(65534), 0);
	setenv("XDG_STATE_HOME", "/home/x/state", 1);
	ck_assert_str_eq(drill_state_dir(NULL, buf, sizeof(buf)),
			 "/home/x/state/faultdrill");
	ck_assert_int_eq(seteuid(0), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("journal");
	TCase *t = tcase_create("journal");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, a_record_reads_back_as_it_was_written);
	tcase_add_test(t, the_bytes_of_a_record_are_those_of_the_golden_file);
	tcase_add_test(t, a_clean_journal_leaves_no_file);
	tcase_add_test(t, an_open_record_keeps_the_file);
	tcase_add_loop_test(t, a_torn_record_is_unknown_and_never_skipped, 0,
			    7);
	tcase_add_loop_test(t, random_damage_reads_as_torn_and_never_crashes, 0,
			    4);
	tcase_add_test(t,
		       a_record_that_does_not_fit_is_refused_before_the_change);
	tcase_add_test(t, all_slots_taken_is_an_error_not_a_loss);
	tcase_add_test(t, a_fenced_writer_changes_nothing);
	tcase_add_test(t, the_locks_end_with_the_holder_and_not_before);
	tcase_add_loop_test(t, names_that_leave_the_directory_are_refused, 0,
			    4);
	tcase_add_test(t, a_second_journal_of_the_same_name_gets_a_number);
	tcase_add_test(t, a_journal_that_was_cut_short_is_an_error);
	tcase_add_test(t, no_room_is_said_at_the_start_and_leaves_nothing);
	tcase_add_test(t, records_are_written_on_a_full_filesystem);
	tcase_add_test(t,
		       the_state_directory_follows_option_user_and_environment);
	suite_add_tcase(s, t);
	return drill_check_main(s);
}
