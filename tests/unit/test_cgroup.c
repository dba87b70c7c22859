/* test_cgroup.c - processes born in cgroups of ours, and those removed
 * SPDX-License-Identifier: MIT
 */
#include "check_main.h"

#include "harness/core/spawn.h"
#include "harness/lab/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Both kinds, where they are: hybrid machines have both. */
static const struct {
	const char *base, *file, *freeze;
} kinds[] = {
	{"/sys/fs/cgroup/unified", "cgroup.freeze", "1"},
	{"/sys/fs/cgroup", "cgroup.freeze", "1"},
	{"/sys/fs/cgroup/freezer", "freezer.state", "FROZEN"},
};

static pid_t start_in(const char *cgroup, int *ret_pidfd)
{
	char sh[] = "sh", c[] = "-c", text[] = "trap '' TERM; sleep 1000";
	char *argv[] = {sh, c, text, NULL};
	struct drill_err err = {0};
	struct drill_spawn s;
	pid_t pid;

	drill_spawn_init(&s);
	s.argv = argv;
	s.cgroup = cgroup;
	ck_assert_msg(drill_spawn(&s, &pid, ret_pidfd, &err) == 0, "%s",
		      err.msg);
	return pid;
}

static void put(const char *cgroup, const char *file, const char *text)
{
	char path[300];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", cgroup, file);
	fd = open(path, O_WRONLY);
	ck_assert_int_eq(write(fd, text, strlen(text)), (int)strlen(text));
	close(fd);
}

static void find(pid_t pid, void *arg)
{
	int *found = arg;

	if (pid == *found)
		*found = 0;
}

START_TEST(a_frozen_tree_is_killed_and_removed)
{
	char top[200], below[220], type[300];
	struct drill_err err = {0};
	int pidfd, search;
	pid_t pid;

	snprintf(type, sizeof(type), "%s/cgroup.procs", kinds[_i].base);
	if (access(type, W_OK) < 0)
		SKIP("no cgroups to write at %s", kinds[_i].base);
	snprintf(top, sizeof(top), "%s/faultdrill-test.%d", kinds[_i].base,
		 (int)getpid());
	snprintf(below, sizeof(below), "%s/h0", top);
	ck_assert_int_eq(drill_cgroup_make(top, &err), 0);
	ck_assert_int_eq(drill_cgroup_make(top, NULL), -EEXIST);
	ck_assert_int_eq(drill_cgroup_make(below, &err), 0);
	pid = search = start_in(below, &pidfd);
	drill_cgroup_each(top, find, &search);
	ck_assert_int_eq(search, 0);
	put(top, kinds[_i].file, kinds[_i].freeze);
	ck_assert_msg(drill_cgroup_remove(top, 10000, &err) == 0, "%s",
		      err.msg);
	ck_assert_int_eq(drill_pidfd_wait(pidfd, 5000), 0);
	close(pidfd);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	ck_assert_int_ne(access(top, F_OK), 0);
	ck_assert_int_eq(drill_cgroup_remove(top, 1000, &err), 0);
}
END_TEST

START_TEST(a_program_that_cannot_start_is_an_error_that_names_it)
{
	char no[] = "/nonexistent/program", *argv[] = {no, NULL};
	struct drill_err err = {0};
	struct drill_spawn s;
	pid_t pid;

	drill_spawn_init(&s);
	s.argv = argv;
	ck_assert_int_eq(drill_spawn(&s, &pid, NULL, &err), -ENOENT);
	ck_assert_msg(strstr(err.msg, no), "%s", err.msg);
	memset(&err, 0, sizeof(err));
	s.cgroup = "/nonexistent";
	ck_assert_int_eq(drill_spawn(&s, &pid, NULL, &err), -ENOENT);
	ck_assert_msg(strstr(err.msg, "cgroup '/nonexistent'"), "%s", err.msg);
}
END_TEST

/* 3 and 4 are what was asked for, whatever their numbers were before; others
 * are closed; signals are as at birth. */
START_TEST(a_child_gets_its_descriptors_and_no_others)
{
	char sh[] = "bash", c[] = "-c",
	     text[] = "echo three >&3; exec 2>/dev/null; "
		      "{ echo x >&4; } && exit 4; { echo x >&5; } && exit 5; "
		      "{ echo x >&7; } && exit 7; kill -PIPE $$; exit 9";
	char *argv[] = {sh, c, text, NULL}, got[16] = "";
	struct drill_err err = {0};
	struct drill_spawn s;
	int p[2], status;
	pid_t pid;

	ck_assert_int_eq(pipe(p), 0);
	dup2(p[1], 7);
	signal(SIGPIPE, SIG_IGN);
	drill_spawn_init(&s);
	s.argv = argv;
	s.fd[3] = p[1];
	ck_assert_int_eq(drill_spawn(&s, &pid, NULL, &err), 0);
	ck_assert_int_eq(read(p[0], got, sizeof(got) - 1), 6);
	ck_assert_str_eq(got, "three\n");
	waitpid(pid, &status, 0);
	ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE,
		      "status %x", (unsigned int)status);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("cgroup");
	TCase *t = tcase_create("cgroup");

	tcase_set_timeout(t, 30);
	tcase_add_loop_test(t, a_frozen_tree_is_killed_and_removed, 0,
			    (int)(sizeof(kinds) / sizeof(kinds[0])));
	tcase_add_test(t,
		       a_program_that_cannot_start_is_an_error_that_names_it);
	tcase_add_test(t, a_child_gets_its_descriptors_and_no_others);
	suite_add_tcase(s, t);
	return drill_check_main(s);
}
