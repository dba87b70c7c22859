/* test_lab_agents.c - agents and jobs of a local lab: hello, clocks, ends
 * SPDX-License-Identifier: MIT
 */
#include "check_main.h"

#include "tests/support/lab_agent.h"
#include "tests/support/lab_fixture.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char state[] = "/tmp/drill-lab-state.XXXXXX";

#define OK(expr)                                                               \
	do {                                                                   \
		const char *why_ = (expr);                                     \
		ck_assert_msg(!why_, "%s", why_ ? why_ : "");                  \
	} while (0)

static void up(struct drill_test_lab *t, int hosts)
{
	OK(drill_test_lab_up(t, &drill_lab_local, hosts, "", state));
}

static void start_agent(struct drill_test_lab *t, int host)
{
	struct drill_err err = {0};
	json_t *welcome = json_pack("{s:s}", "run", "test");

	ck_assert_msg(t->lab.ops->agent_start(&t->lab, host, welcome, &err) ==
			      0,
		      "%s", err.msg);
	json_decref(welcome);
}

START_TEST(an_agent_is_greeted_and_answers)
{
	struct drill_test_lab t;
	struct drill_err err = {0};
	json_t *msg = json_pack("{s:s, s:i}", "kind", "probe", "x", 7), *w;

	up(&t, 2);
	start_agent(&t, 1);
	ck_assert(drill_test_lab_until(&t, "agent 1 echo", 1));
	w = json_object_get(t.last, "of"); /* the echo of welcome */
	ck_assert_str_eq(json_string_value(json_object_get(w, "kind")),
			 "welcome");
	ck_assert_str_eq(json_string_value(json_object_get(w, "host")), "h1");
	ck_assert_str_eq(json_string_value(json_object_get(w, "run")), "test");
	ck_assert_int_eq(t.lab.ops->agent_send(&t.lab, 1, msg, &err), 0);
	ck_assert(drill_test_lab_until(&t, "agent 1 echo", 2));
	ck_assert(json_equal(json_object_get(t.last, "of"), msg));
	json_decref(msg);
	ck_assert_int_eq(t.lab.ops->agent_stop(&t.lab, 1, &err), 0);
	ck_assert(drill_test_lab_until(&t, "gone 1 it ended", 1));
	ck_assert_int_eq(t.lab.ops->agent_send(&t.lab, 1, NULL, &err),
			 -ENOTCONN);
	OK(drill_test_lab_down(&t));
}
END_TEST

START_TEST(one_machine_has_one_clock)
{
	struct drill_test_lab t;
	int64_t u = -1;

	up(&t, 1);
	start_agent(&t, 0);
	ck_assert(drill_test_lab_until(&t, "agent 0 echo", 1));
	ck_assert_int_eq(t.lab.ops->to_local(&t.lab, 0, 12345, &u), 12345);
	ck_assert_int_eq(u, 0);
	OK(drill_test_lab_down(&t));
}
END_TEST

static const struct {
	const char *fake, *says;
} bad_agents[] = {
	{"build", "gone 0 the agent on 'h0' is of another build (old, this is"},
	{"garbage", "gone 0 a frame of 4294967295 bytes"},
	{"exit", "gone 0 it ended with status 3: the last words"},
};

START_TEST(a_bad_agent_ends_with_a_reason)
{
	struct drill_test_lab t;

	up(&t, 1);
	setenv("FAKE_AGENT", bad_agents[_i].fake, 1);
	start_agent(&t, 0);
	unsetenv("FAKE_AGENT");
	ck_assert(drill_test_lab_until(&t, "gone 0", 1));
	ck_assert_msg(strstr(t.said, bad_agents[_i].says), "%s", t.said);
	OK(drill_test_lab_down(&t));
}
END_TEST

START_TEST(a_missing_agent_program_is_an_error)
{
	struct drill_test_lab t;
	struct drill_err err = {0};
	char *agent = strdup(getenv("FAULTDRILL_AGENT"));

	up(&t, 1);
	setenv("FAULTDRILL_AGENT", "/nonexistent/agent", 1);
	ck_assert_int_eq(t.lab.ops->agent_start(&t.lab, 0, NULL, &err),
			 -ENOENT);
	ck_assert_msg(strstr(err.msg, "/nonexistent/agent"), "%s", err.msg);
	setenv("FAULTDRILL_AGENT", agent, 1);
	free(agent);
	OK(drill_test_lab_down(&t));
}
END_TEST

static void start_job(struct drill_test_lab *t, const char *script)
{
	char sh[] = "sh", c[] = "-c", log[300];
	char *argv[] = {sh, c, (char *)(uintptr_t)script, NULL};
	char extra[] = "EXTRA=yes", *env[] = {extra, NULL};
	struct drill_job job = {.name = "job", .argv = argv, .env = env,
				.log_path = log};
	struct drill_err err = {0};

	snprintf(log, sizeof(log), "%s/log", t->lab.dir);
	ck_assert_msg(t->lab.ops->job_start(&t->lab, &job, &err) == 0, "%s",
		      err.msg);
	ck_assert_int_eq(t->lab.ops->job_start(&t->lab, &job, &err), -EEXIST);
}

START_TEST(a_job_tells_events_and_its_exit)
{
	struct drill_test_lab t;

	up(&t, 1);
	start_job(&t, "test $FAULTDRILL_EVENTS_FD = 3 || exit 1; "
		      "test $EXTRA = yes || exit 2; "
		      "echo '{\"kind\":\"attempt.begin\",\"h_ns\":1}' >&3; "
		      "echo nonsense >&3; echo '{\"h_ns\":1}' >&3; "
		      "printf '{\"kind\":\"attempt.end\"' >&3; "
		      "echo ',\"h_ns\":2}' >&3; exit 7");
	ck_assert(drill_test_lab_until(&t, "exit job", 1));
	ck_assert_str_eq(t.said, "job job attempt.begin\njob job error\n"
				 "job job error\njob job attempt.end\n"
				 "exit job 7\n");
	OK(drill_test_lab_down(&t));
}
END_TEST

START_TEST(a_stopped_job_ends_by_term_with_all_it_started)
{
	struct drill_test_lab t;
	struct drill_err err = {0};
	char cmd[300];

	up(&t, 1);
	start_job(&t, "(setsid sleep 1000) & echo '{\"kind\":\"up\"}' >&3; "
		      "exec 3>&-; wait");
	ck_assert(drill_test_lab_until(&t, "job job up", 1));
	ck_assert_int_eq(t.lab.ops->job_stop(&t.lab, "job", &err), 0);
	ck_assert(drill_test_lab_until(&t, "exit job -15", 1));
	snprintf(cmd, sizeof(cmd),
		 "! grep -lsz '^FAULTDRILL_LAB=%s' /proc/[0-9]*/environ | "
		 "grep -q .",
		 t.lab.mark);
	ck_assert_int_eq(system(cmd), 0);
	ck_assert_int_eq(t.lab.ops->job_stop(&t.lab, "job", &err), -ENOENT);
	OK(drill_test_lab_down(&t));
}
END_TEST

START_TEST(a_job_that_ignores_term_or_is_stopped_is_killed)
{
	struct drill_test_lab t;
	struct drill_err err = {0};

	up(&t, 1);
	start_job(&t, "trap '' TERM; echo '{\"kind\":\"up\"}' >&3; "
		      "while :; do sleep 0.1; done");
	ck_assert(drill_test_lab_until(&t, "job job up", 1));
	ck_assert_int_eq(t.lab.ops->job_stop(&t.lab, "job", &err), 0);
	ck_assert(drill_test_lab_until(&t, "exit job -9", 1));
	OK(drill_test_lab_down(&t));
}
END_TEST

START_TEST(down_ends_a_job_and_an_agent_that_still_run)
{
	struct drill_test_lab t;
	char *before = drill_test_machine(), *after;

	up(&t, 1);
	start_agent(&t, 0);
	start_job(&t, "sleep 1000");
	ck_assert(drill_test_lab_until(&t, "agent 0 hello", 1));
	OK(drill_test_lab_down(&t));
	ck_assert_ptr_null(strstr(t.said, "exit"));
	after = drill_test_machine();
	ck_assert_str_eq(before, after);
	free(before);
	free(after);
}
END_TEST

START_TEST(a_job_that_cannot_start_is_an_error)
{
	struct drill_test_lab t;
	struct drill_err err = {0};
	char no[] = "/nonexistent", log[300], *argv[] = {no, NULL};
	struct drill_job job = {.name = "job", .argv = argv, .log_path = log};

	up(&t, 1);
	snprintf(log, sizeof(log), "%s/log", t.lab.dir);
	ck_assert_int_eq(t.lab.ops->job_start(&t.lab, &job, &err), -ENOENT);
	ck_assert_msg(strstr(err.msg, "'/nonexistent'"), "%s", err.msg);
	OK(drill_test_lab_down(&t));
}
END_TEST

static char order[8];

static void note_a(void *arg)
{
	(void)arg;
	strcat(order, "a");
}

static void note_b(void *arg)
{
	struct drill_test_lab *t = arg;

	strcat(order, "b");
	t->lab.ops->stop(&t->lab);
}

START_TEST(timers_run_in_order_and_a_cancelled_one_never)
{
	struct drill_test_lab t;
	int id;

	up(&t, 1);
	order[0] = '\0';
	t.lab.ops->timer(&t.lab, 30000000, note_b, &t);
	id = t.lab.ops->timer(&t.lab, 1000000, note_a, &t);
	ck_assert_int_gt(id, 0);
	t.lab.ops->timer(&t.lab, 1, note_a, &t);
	t.lab.ops->timer_cancel(&t.lab, id);
	ck_assert_int_eq(t.lab.ops->run(&t.lab, NULL), 0);
	ck_assert_str_eq(order, "ab");
	OK(drill_test_lab_down(&t));
}
END_TEST

START_TEST(a_signal_reaches_the_caller)
{
	struct drill_test_lab t;

	up(&t, 1);
	raise(SIGTERM);
	ck_assert(drill_test_lab_until(&t, "signal 15", 1));
	OK(drill_test_lab_down(&t));
}
END_TEST

/* The child is nobody: no privilege is left. */
START_TEST(a_local_lab_needs_no_privilege)
{
	struct drill_test_lab t;
	char dir[] = "/tmp/drill-nobody.XXXXXX";
	const char *why;
	int status;
	pid_t pid;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	chmod(dir, 0777);
	pid = fork();
	if (pid == 0) {
		if (getuid() == 0 && (setgid(65534) || setuid(65534)))
			_exit(9);
		unsetenv("XDG_RUNTIME_DIR");
		setenv("FAULTDRILL_AGENT", "/bin/cat", 1);
		why = drill_test_lab_up(&t, &drill_lab_local, 2, "", dir);
		if (why)
			fprintf(stderr, "%s\n", why);
		if (why)
			_exit(1);
		start_job(&t, "echo '{\"kind\":\"up\"}' >&3; exit 4");
		if (!drill_test_lab_until(&t, "exit job 4", 1))
			_exit(2);
		_exit(drill_test_lab_down(&t) ? 3 : 0);
	}
	waitpid(pid, &status, 0);
	ck_assert_int_eq(status, 0);
	ck_assert_int_eq(system("rm -rf /tmp/drill-nobody.*; "
				"rmdir /tmp/faultdrill-65534/lock "
				"/tmp/faultdrill-65534 2>/dev/null; true"),
			 0);
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
	s = suite_create("lab agents");
	t = tcase_create("lab agents");
	if (!mkdtemp(state))
		return 3;
	tcase_set_timeout(t, 60);
	tcase_add_test(t, an_agent_is_greeted_and_answers);
	tcase_add_test(t, one_machine_has_one_clock);
	tcase_add_loop_test(t, a_bad_agent_ends_with_a_reason, 0, 3);
	tcase_add_test(t, a_missing_agent_program_is_an_error);
	tcase_add_test(t, a_job_tells_events_and_its_exit);
	tcase_add_test(t, a_stopped_job_ends_by_term_with_all_it_started);
	tcase_add_test(t, a_job_that_ignores_term_or_is_stopped_is_killed);
	tcase_add_test(t, down_ends_a_job_and_an_agent_that_still_run);
	tcase_add_test(t, a_job_that_cannot_start_is_an_error);
	tcase_add_test(t, timers_run_in_order_and_a_cancelled_one_never);
	tcase_add_test(t, a_signal_reaches_the_caller);
	tcase_add_test(t, a_local_lab_needs_no_privilege);
	suite_add_tcase(s, t);
	status = drill_check_main(s);
	snprintf(clean, sizeof(clean), "rm -rf %s", state);
	return system(clean) ? 3 : status;
}
