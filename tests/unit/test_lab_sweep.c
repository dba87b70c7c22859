/* test_lab_sweep.c - labs of dead makers are found without their records
 * SPDX-License-Identifier: MIT
 */
#include "check_main.h"

#include "harness/agent/process.h"
#include "harness/core/spawn.h"
#include "harness/lab/lab_admin.h"
#include "harness/lab/lab_dir.h"
#include "harness/lab/lab_mark.h"
#include "harness/lab/lab_sweep.h"
#include "tests/support/lab_agent.h"
#include "tests/support/lab_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char state[] = "/tmp/drill-lab-state.XXXXXX";

/* What each maker has done when it is killed. */
static void whole(const char *name)
{
	struct drill_test_lab t;

	if (drill_test_lab_up(&t, &drill_lab_local, 2, name, state))
		_exit(1);
}

static struct drill_lab named(const char *name)
{
	struct drill_lab lab = {.ops = &drill_lab_local};

	snprintf(lab.spec.name, sizeof(lab.spec.name), "%s", name);
	if (drill_lab_dir_name(&lab, NULL) < 0)
		_exit(1);
	return lab;
}

static void half(const char *name)
{
	struct drill_lab lab = named(name);

	if (drill_lab_dir_make(&lab, "", NULL) < 0)
		_exit(1);
}

static void bare(const char *name)
{
	struct drill_lab lab = named(name);

	if (mkdir(lab.dir, 0755) < 0)
		_exit(1);
}

static void empty_mark(const char *name)
{
	char path[300];

	bare(name);
	snprintf(path, sizeof(path), "%s/mark", named(name).dir);
	close(open(path, O_CREAT | O_WRONLY, 0444));
}

/* A maker that has done its @deed; it lives until finish(). */
struct maker {
	pid_t pid;
	char name[25], dir[256];
};

static struct maker make(const char *what, void (*deed)(const char *))
{
	struct maker m;
	int p[2];
	char c;

	snprintf(m.name, sizeof(m.name), "sweep-%s-%d", what,
		 (int)getpid() % 100000);
	snprintf(m.dir, sizeof(m.dir), "%s", named(m.name).dir);
	ck_assert_int_eq(pipe(p), 0);
	m.pid = fork();
	if (m.pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		deed(m.name);
		if (write(p[1], "x", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(p[1]);
	ck_assert_int_eq(read(p[0], &c, 1), 1);
	close(p[0]);
	return m;
}

static void finish(struct maker *m)
{
	kill(m->pid, SIGKILL);
	waitpid(m->pid, NULL, 0);
}

/* What the sweep says of it: its state, or "" when it says nothing. */
static const char *swept(const struct maker *m, bool list_only)
{
	static char said[32];
	json_t *found = json_array(), *r;
	size_t i;

	said[0] = '\0';
	drill_lab_sweep(list_only, found, NULL);
	json_array_foreach(found, i, r)
		if (!strcmp(json_string_value(json_object_get(r, "target")),
			    m->name))
			snprintf(said, sizeof(said), "%s",
				 json_string_value(
					 json_object_get(r, "state")));
	json_decref(found);
	return said;
}

static const struct {
	const char *what;
	void (*deed)(const char *name);
} deeds[] = {{"whole", whole},
	     {"half", half},
	     {"bare", bare},
	     {"empty", empty_mark}};

START_TEST(a_lab_whose_maker_is_dead_is_removed_without_its_record)
{
	struct maker m = make(deeds[_i].what, deeds[_i].deed);

	if (_i < 2) /* a bare one is nobody's: there never is one for long */
		ck_assert_str_eq(swept(&m, false), "");
	ck_assert_int_eq(access(m.dir, F_OK), 0);
	finish(&m);
	ck_assert_str_eq(swept(&m, true), "open");
	ck_assert_int_eq(access(m.dir, F_OK), 0);
	ck_assert_str_eq(swept(&m, false), "reverted");
	ck_assert_int_eq(access(m.dir, F_OK), -1);
	ck_assert_str_eq(swept(&m, false), "");
}
END_TEST

START_TEST(a_removal_that_was_cut_short_is_ended)
{
	struct maker m = make("cut", whole);
	char path[400];

	finish(&m);
	snprintf(path, sizeof(path), "rm -rf %s/[!m]*", m.dir);
	ck_assert_int_eq(system(path), 0);
	ck_assert_str_eq(swept(&m, false), "reverted");
	ck_assert_int_eq(access(m.dir, F_OK), -1);
}
END_TEST

START_TEST(another_process_with_the_makers_pid_does_not_own_the_lab)
{
	struct drill_lab_mark m = {.pid = getpid(),
				   .start = drill_process_start(getpid())};

	snprintf(m.boot, sizeof(m.boot), "%s", drill_boot_id());
	ck_assert(drill_lab_mark_owned(&m));
	m.start++;
	ck_assert(!drill_lab_mark_owned(&m));
	m.start--;
	m.boot[0] ^= 1;
	ck_assert(!drill_lab_mark_owned(&m));
	m.pid = 0; /* an older build's: nobody can say */
	ck_assert(drill_lab_mark_owned(&m));
}
END_TEST

static void stranger(const char *name)
{
	char path[300];

	bare(name);
	snprintf(path, sizeof(path), "%s/precious", named(name).dir);
	close(open(path, O_CREAT | O_WRONLY, 0644));
}

START_TEST(what_carries_no_mark_is_not_touched)
{
	struct maker m = make("none", stranger);
	char path[300];

	finish(&m);
	ck_assert_str_eq(swept(&m, true), "");
	ck_assert_str_eq(swept(&m, false), "");
	snprintf(path, sizeof(path), "%s/precious", m.dir);
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(rmdir(m.dir), 0);
}
END_TEST

static void by_hand(const char *name)
{
	struct drill_lab_spec spec = {.provider = "local", .hosts = 1};

	snprintf(spec.name, sizeof(spec.name), "%s", name);
	if (drill_lab_admin_up(&spec, state, NULL, NULL) < 0)
		_exit(1);
}

START_TEST(a_kept_lab_stays)
{
	struct maker m = make("kept", by_hand);

	finish(&m);
	ck_assert_str_eq(swept(&m, false), "");
	ck_assert_int_eq(access(m.dir, F_OK), 0);
	ck_assert_int_eq(drill_lab_admin_down(m.name, NULL), 0);
	ck_assert_int_eq(access(m.dir, F_OK), -1);
}
END_TEST

START_TEST(down_removes_half_a_lab_too)
{
	struct maker m = make("down", half);

	ck_assert_int_lt(drill_lab_admin_down(m.name, NULL), 0);
	finish(&m);
	ck_assert_int_eq(drill_lab_admin_down(m.name, NULL), 0);
	ck_assert_int_eq(access(m.dir, F_OK), -1);
}
END_TEST

START_TEST(the_record_of_a_lab_that_was_swept_does_not_hurt_its_successor)
{
	struct drill_err err = {0};
	struct drill_test_lab t;
	struct maker m = make("next", whole);
	char other[64];
	json_t *found;
	const char *why;

	finish(&m);
	ck_assert_str_eq(swept(&m, false), "reverted");
	snprintf(other, sizeof(other), "%s/other", state);
	why = drill_test_lab_up(&t, &drill_lab_local, 1, m.name, other);
	ck_assert_msg(!why, "%s", why);
	drill_heal_register(drill_lab_revertibles);
	ck_assert_msg(drill_heal(state, false, &found, &err) == 0, "%s",
		      err.msg);
	json_decref(found);
	ck_assert_int_eq(access(m.dir, F_OK), 0);
	ck_assert_ptr_null(drill_test_lab_down(&t));
}
END_TEST

int main(int argc, char **argv)
{
	char clean[64];
	int status;
	Suite *s;
	TCase *t;

	if (drill_test_lab_agent(argc, argv, &status))
		return status;
	s = suite_create("lab sweep");
	t = tcase_create("lab sweep");
	if (!mkdtemp(state))
		return 3;
	tcase_add_loop_test(
		t, a_lab_whose_maker_is_dead_is_removed_without_its_record, 0,
		sizeof(deeds) / sizeof(deeds[0]));
	tcase_add_test(t, a_removal_that_was_cut_short_is_ended);
	tcase_add_test(
		t, another_process_with_the_makers_pid_does_not_own_the_lab);
	tcase_add_test(t, what_carries_no_mark_is_not_touched);
	tcase_add_test(t, a_kept_lab_stays);
	tcase_add_test(t, down_removes_half_a_lab_too);
	tcase_add_test(
		t,
		the_record_of_a_lab_that_was_swept_does_not_hurt_its_successor);
	suite_add_tcase(s, t);
	status = drill_check_main(s);
	snprintf(clean, sizeof(clean), "rm -rf %s", state);
	return system(clean) ? 3 : status;
}
