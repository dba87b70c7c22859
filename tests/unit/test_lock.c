/* test_lock.c - one drill a host, whatever --state says
 * SPDX-License-Identifier: MIT
 */
#include "check_main.h"

#include "harness/agent/lock.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char name[64];

static void setup(void)
{
	snprintf(name, sizeof(name), "test-lock-%d", (int)getpid());
}

START_TEST(a_second_drill_is_refused_and_the_holder_named)
{
	struct drill_err err = { 0 };
	int a = -1, b = -1;

	ck_assert_int_eq(drill_lock_take(name, "drill one (pid 1)", &a, NULL),
			 0);
	ck_assert_int_eq(drill_lock_take(name, "drill two", &b, &err), -EBUSY);
	ck_assert_ptr_nonnull(strstr(err.msg, "drill one (pid 1)"));
	close(a);
	ck_assert_int_eq(drill_lock_take(name, "drill two", &b, NULL), 0);
	drill_lock_drop(name, b);
}
END_TEST

START_TEST(the_state_directory_makes_no_difference)
{
	struct drill_err err = { 0 };
	int a = -1, b = -1;

	ck_assert_int_eq(drill_lock_take(name, "one", &a, NULL), 0);
	setenv("XDG_STATE_HOME", "/somewhere/else", 1);
	ck_assert_int_eq(drill_lock_take(name, "two", &b, &err), -EBUSY);
	close(a);
}
END_TEST

START_TEST(held_locks_are_read_and_dropped_ones_are_not)
{
	int a = -1, b = -1;
	json_t *list;

	ck_assert_int_eq(drill_lock_take(name, "{\"dir\":\"/x\"}", &a, NULL),
			 0);
	list = drill_lock_held(name);
	ck_assert_int_eq(json_array_size(list), 1);
	ck_assert_str_eq(json_string_value(json_array_get(list, 0)),
			 "{\"dir\":\"/x\"}");
	json_decref(list);
	close(a); /* as a killed holder leaves it: the file is still there */
	list = drill_lock_held(name);
	ck_assert_int_eq(json_array_size(list), 0);
	json_decref(list);
	ck_assert_int_eq(drill_lock_take(name, "again", &b, NULL), 0);
	drill_lock_drop(name, b);
}
END_TEST

START_TEST(a_sweep_removes_only_what_nobody_holds)
{
	char other[80], path[120], gone[160];
	int a = -1, b = -1;

	setenv("XDG_RUNTIME_DIR", "/tmp", 1);
	snprintf(other, sizeof(other), "%s-dead", name);
	ck_assert_int_eq(drill_lock_take(name, "one", &a, NULL), 0);
	ck_assert_int_eq(drill_lock_take(other, "two", &b, NULL), 0);
	close(b);
	snprintf(path, sizeof(path), "%s/faultdrill/lock/%s",
		 geteuid() ? "/tmp" : "/run", name);
	snprintf(gone, sizeof(gone), "%s-dead", path);
	ck_assert_int_eq(access(gone, F_OK), 0);
	drill_lock_sweep();
	ck_assert_int_eq(access(gone, F_OK), -1);
	ck_assert_int_eq(access(path, F_OK), 0);
	drill_lock_drop(name, a);
	ck_assert_int_eq(access(path, F_OK), -1);
}
END_TEST

START_TEST(the_lock_lives_as_long_as_the_last_process_that_has_it)
{
	struct drill_err err = { 0 };
	int a = -1, b = -1, go[2];
	char c;
	pid_t keeper;

	ck_assert_int_eq(pipe(go), 0);
	ck_assert_int_eq(drill_lock_take(name, "one", &a, NULL), 0);
	keeper = fork();
	if (keeper == 0) {
		close(go[1]);
		_exit(read(go[0], &c, 1) != 0);
	}
	close(a); /* the holder is gone, its keeper is not */
	ck_assert_int_eq(drill_lock_take(name, "two", &b, &err), -EBUSY);
	close(go[1]);
	ck_assert_int_eq(waitpid(keeper, NULL, 0), keeper);
	ck_assert_int_eq(drill_lock_take(name, "two", &b, NULL), 0);
	close(b);
}
END_TEST

START_TEST(a_lock_given_back_leaves_no_file_and_can_be_had_again)
{
	int a = -1, i;

	for (i = 0; i < 3; i++) {
		ck_assert_int_eq(drill_lock_take(name, "one", &a, NULL), 0);
		drill_lock_drop(name, a);
	}
	if (geteuid() == 0) {
		char path[128];

		snprintf(path, sizeof(path), "/run/faultdrill/lock/%s", name);
		ck_assert_int_eq(access(path, F_OK), -1);
	}
	drill_lock_drop(name, -1);
}
END_TEST

START_TEST(a_name_that_leaves_the_directory_is_refused)
{
	static const char *const names[] = { "", ".", "../x", "a/b" };
	struct drill_err err = { 0 };
	int fd;

	ck_assert_int_eq(drill_lock_take(names[_i], "x", &fd, &err), -EINVAL);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("lock");
	TCase *t = tcase_create("lock");

	tcase_add_checked_fixture(t, setup, NULL);
	tcase_add_test(t, a_second_drill_is_refused_and_the_holder_named);
	tcase_add_test(t, the_state_directory_makes_no_difference);
	tcase_add_test(t, held_locks_are_read_and_dropped_ones_are_not);
	tcase_add_test(t, a_sweep_removes_only_what_nobody_holds);
	tcase_add_test(t,
		       the_lock_lives_as_long_as_the_last_process_that_has_it);
	tcase_add_test(t,
		       a_lock_given_back_leaves_no_file_and_can_be_had_again);
	tcase_add_loop_test(t, a_name_that_leaves_the_directory_is_refused, 0,
			    4);
	suite_add_tcase(s, t);
	return drill_check_main(s);
}
