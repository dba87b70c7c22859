/* test_environ.c - the environment of other processes, whatever they are doing
 * SPDX-License-Identifier: MIT
 */
#include "check_main.h"

#include "harness/core/environ.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t child;

static void teardown(void)
{
	if (child > 0) {
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
	}
	child = 0;
}

/* Returns when it has said that it is there; @script goes on from then. */
static void start(const char *script, char *const env[])
{
	char go[1024], said;
	int fd[2];

	snprintf(go, sizeof(go), "echo >&9; exec 9>&-; %s", script);
	ck_assert_int_eq(pipe2(fd, O_CLOEXEC), 0);
	child = fork();
	ck_assert_int_ge(child, 0);
	if (!child) {
		dup2(fd[1], 9);
		execle("/bin/sh", "sh", "-c", go, "sh", NULL, env);
		_exit(127);
	}
	close(fd[1]);
	ck_assert_int_eq(read(fd[0], &said, 1), 1);
	close(fd[0]);
}

static const char *value(const char *name)
{
	static char text[64];
	const char *v = NULL;
	size_t size;
	char *env = drill_environ(child, &size);

	ck_assert_ptr_nonnull(env);
	v = drill_environ_find(env, size, name);
	snprintf(text, sizeof(text), "%s", v ? v : "none");
	free(env);
	return text;
}

START_TEST(a_variable_is_found_by_its_whole_name)
{
	char a[] = "AB=long", b[] = "A=short", c[] = "EMPTY=";
	char *env[] = { a, b, c, NULL };

	start("kill -STOP $$", env);
	ck_assert_str_eq(value("A"), "short");
	ck_assert_str_eq(value("AB"), "long");
	ck_assert_str_eq(value("EMPTY"), "");
	ck_assert_str_eq(value("B"), "none");
}
END_TEST

/* What comes in between is an image that has no environment yet. */
START_TEST(who_executes_all_the_time_is_never_a_stranger)
{
	char mark[] = "MARK=here", again[] = "AGAIN=exec /bin/sh -c \"$AGAIN\"";
	char *env[] = { mark, again, NULL };

	start("exec /bin/sh -c \"$AGAIN\"", env);
	for (int i = 0; i < 20000; i++)
		ck_assert_str_eq(value("MARK"), "here");
}
END_TEST

START_TEST(a_large_environment_is_read_whole)
{
	static char big[100000] = "BIG=";
	char last[] = "LAST=1", *env[] = { big, last, NULL };

	memset(big + 4, 'x', sizeof(big) - 5);
	start("kill -STOP $$", env);
	ck_assert_str_eq(value("LAST"), "1");
}
END_TEST

START_TEST(none_at_all_is_no_reason_to_wait)
{
	char *env[] = { NULL };
	size_t size = 1;
	char *none;

	/* The shell adds its own, but not to what it was started with. */
	start("kill -STOP $$", env);
	none = drill_environ(child, &size);
	ck_assert_ptr_nonnull(none);
	ck_assert_uint_eq(size, 0);
	free(none);
}
END_TEST

START_TEST(who_is_dead_or_gone_has_none)
{
	char *env[] = { NULL };
	size_t size = 0;
	siginfo_t info;
	pid_t was;
	char *none;

	start("exit 0", env);
	ck_assert_int_eq(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT),
			 0);
	none = drill_environ(child, &size); /* a zombie */
	ck_assert_uint_eq(size, 0);
	free(none);
	was = child;
	teardown();
	ck_assert_ptr_null(drill_environ(was, &size));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("environ");
	TCase *t = tcase_create("environ");

	tcase_add_checked_fixture(t, NULL, teardown);
	tcase_set_timeout(t, 60);
	tcase_add_test(t, a_variable_is_found_by_its_whole_name);
	tcase_add_test(t, who_executes_all_the_time_is_never_a_stranger);
	tcase_add_test(t, a_large_environment_is_read_whole);
	tcase_add_test(t, none_at_all_is_no_reason_to_wait);
	tcase_add_test(t, who_is_dead_or_gone_has_none);
	suite_add_tcase(s, t);
	return drill_check_main(s);
}
