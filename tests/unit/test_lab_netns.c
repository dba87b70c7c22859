/* test_lab_netns.c - namespace hosts: up, in, down, and nothing left
 * SPDX-License-Identifier: MIT
 */
#include "check_main.h"

#include "harness/core/spawn.h"
#include "harness/lab/lab_admin.h"
#include "harness/lab/lab_dir.h"
#include "tests/support/lab_agent.h"
#include "tests/support/lab_fixture.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char state[] = "/tmp/drill-lab-state.XXXXXX";

#define NEEDS_NETNS()                                                          \
	do {                                                                   \
		struct drill_lab_spec one_ = {.hosts = 1};                     \
		struct drill_err no_ = {0};                                    \
		if (drill_lab_netns.probe(&one_, &no_) < 0)                    \
			SKIP("%s", no_.msg);                                   \
	} while (0)

#define OK(expr)                                                               \
	do {                                                                   \
		const char *why_ = (expr);                                     \
		ck_assert_msg(!why_, "%s", why_ ? why_ : "");                  \
	} while (0)

static void up(struct drill_test_lab *t, int hosts, const char *name)
{
	OK(drill_test_lab_up(t, &drill_lab_netns, hosts, name, state));
}

/* The exit status of a shell command with the way into host @h before it. */
static int in_host(struct drill_test_lab *t, const char *h, const char *command)
{
	char text[2000];

	snprintf(text, sizeof(text), "%s %s %s", t->lab.enter, h, command);
	return WEXITSTATUS(system(text));
}

static const char *const ways[] = {"10.77.0.2", "10.78.0.2", "fd77::2",
				   "fd78::2"};

/* "Connection refused" is an answer of the other host's kernel; a black hole
 * would be a time-out. */
START_TEST(hosts_reach_each_other_on_both_networks_in_both_families)
{
	struct drill_test_lab t;
	char command[300];
	size_t i;

	NEEDS_NETNS();
	up(&t, 2, "");
	for (i = 0; i < 4; i++) {
		snprintf(command, sizeof(command),
			 "\"timeout 5 bash -c 'echo >/dev/tcp/%s/9' 2>&1 | "
			 "grep -q refused\"",
			 ways[i]);
		ck_assert_msg(in_host(&t, "h0", command) == 0, "%s", ways[i]);
	}
	ck_assert_int_ne(in_host(&t, "h0",
				 "\"timeout 1 bash -c 'echo >/dev/tcp/10.77.0.9"
				 "/9' 2>&1 | grep -q refused\""),
			 0);
	OK(drill_test_lab_down(&t));
}
END_TEST

START_TEST(a_host_has_its_own_name_processes_network_and_cgroup)
{
	struct drill_test_lab t;

	NEEDS_NETNS();
	up(&t, 2, "");
	ck_assert_int_eq(in_host(&t, "h1", "'test $(hostname) = h1'"), 0);
	ck_assert_int_eq(in_host(&t, "h1", "'test $(ls -d /proc/[0-9]* | wc -l)"
					   " -lt 8'"),
			 0);
	ck_assert_int_eq(in_host(&t, "h1", "'test ! -e /sys/class/net/h1 &&"
					   " ip -br link show data0 >/dev/null &&"
					   " ! ip link show eth0 2>/dev/null'"),
			 0);
	ck_assert_int_eq(in_host(&t, "h1", "'grep -q faultdrill-.*/h1$ "
					   "/proc/self/cgroup'"),
			 0);
	ck_assert_int_eq(in_host(&t, "h1", "'grep -q h0-data /etc/hosts'"), 0);
	ck_assert_int_eq(in_host(&t, "h0", "'touch $TMPDIR/x && "
					   "echo 1 >/dev/shm/x'"),
			 0);
	ck_assert_int_eq(in_host(&t, "h1", "'test ! -e /dev/shm/x'"), 0);
	ck_assert_int_ne(system("grep -q h0-data /etc/hosts"), 0);
	OK(drill_test_lab_down(&t));
}
END_TEST

START_TEST(enter_gives_the_commands_own_exit_status)
{
	struct drill_test_lab t;

	NEEDS_NETNS();
	up(&t, 1, "");
	ck_assert_int_eq(in_host(&t, "h0", "exit 7"), 7);
	ck_assert_int_eq(in_host(&t, "h0", "true"), 0);
	ck_assert_int_eq(in_host(&t, "h0", "'kill -9 $$'"), 128 + SIGKILL);
	ck_assert_int_eq(in_host(&t, "h0", "no-such-command 2>/dev/null"), 127);
	ck_assert_int_eq(in_host(&t, "h0", "test a '=' a"), 0);
	ck_assert_int_eq(in_host(&t, "h9", "true 2>/dev/null"), 255);
	OK(drill_test_lab_down(&t));
}
END_TEST

START_TEST(enter_passes_signals_on)
{
	struct drill_test_lab t;
	char text[2000];

	NEEDS_NETNS();
	up(&t, 1, "");
	snprintf(text, sizeof(text),
		 "%s h0 'trap \"exit 9\" TERM; touch %s/h0/ready; "
		 "while :; do sleep 0.05; done' & p=$!; "
		 "while [ ! -e %s/h0/ready ]; do sleep 0.05; done; "
		 "kill -TERM $p; wait $p",
		 t.lab.enter, t.lab.dir, t.lab.dir);
	ck_assert_int_eq(WEXITSTATUS(system(text)), 9);
	OK(drill_test_lab_down(&t));
}
END_TEST

static pid_t init_of(struct drill_test_lab *t, int host)
{
	json_t *file;
	pid_t pid;

	ck_assert_int_eq(drill_lab_file_read(t->lab.dir, &file, NULL), 0);
	pid = (pid_t)json_integer_value(json_object_get(
		json_array_get(json_object_get(file, "hosts"), (size_t)host),
		"pid"));
	json_decref(file);
	return pid;
}

START_TEST(a_host_whose_first_process_is_killed_is_down)
{
	struct drill_test_lab t;
	pid_t pid;
	int fd;

	NEEDS_NETNS();
	up(&t, 2, "");
	pid = init_of(&t, 1);
	fd = drill_pidfd_open(pid);
	kill(pid, SIGKILL);
	ck_assert_int_eq(drill_pidfd_wait(fd, 5000), 0);
	close(fd);
	ck_assert_int_eq(in_host(&t, "h1", "true 2>&1 | grep -q 'is down'"), 0);
	ck_assert_int_eq(in_host(&t, "h0", "true"), 0);
	OK(drill_test_lab_down(&t));
}
END_TEST

START_TEST(down_leaves_nothing)
{
	struct drill_test_lab t;
	char *before, *during, *after;

	NEEDS_NETNS();
	before = drill_test_machine();
	up(&t, 3, "");
	in_host(&t, "h0", "'sleep 100 >/dev/null 2>&1 & sleep 0'");
	during = drill_test_machine();
	ck_assert_str_ne(before, during);
	OK(drill_test_lab_down(&t));
	after = drill_test_machine();
	ck_assert_str_eq(before, after);
	free(before);
	free(during);
	free(after);
}
END_TEST

START_TEST(the_machines_own_network_and_mounts_never_change)
{
	struct drill_test_lab t;

	NEEDS_NETNS();
	ck_assert_int_eq(system("ls /sys/class/net >/tmp/drill-net.a; "
				"cat /proc/self/mounts >>/tmp/drill-net.a"),
			 0);
	up(&t, 2, "");
	ck_assert_int_eq(system("ls /sys/class/net >/tmp/drill-net.b; "
				"cat /proc/self/mounts >>/tmp/drill-net.b; "
				"cmp /tmp/drill-net.a /tmp/drill-net.b; r=$?; "
				"rm /tmp/drill-net.[ab]; exit $r"),
			 0);
	OK(drill_test_lab_down(&t));
}
END_TEST

START_TEST(two_labs_live_side_by_side_and_one_name_is_there_once)
{
	struct drill_test_lab a, b, c;
	const char *why;

	NEEDS_NETNS();
	up(&a, 2, "test-a");
	up(&b, 2, "test-b");
	why = drill_test_lab_up(&c, &drill_lab_netns, 1, "test-a", state);
	ck_assert_ptr_nonnull(why);
	ck_assert_msg(strstr(why, "in use") || strstr(why, "exists"), "%s",
		      why);
	ck_assert_int_eq(in_host(&a, "h1", "true"), 0);
	OK(drill_test_lab_down(&a));
	ck_assert_int_eq(in_host(&b, "h1", "true"), 0);
	OK(drill_test_lab_down(&b));
}
END_TEST

START_TEST(a_lab_that_cannot_come_up_leaves_nothing)
{
	struct drill_test_lab t;
	char *before, *after, *agent;
	const char *why;

	NEEDS_NETNS();
	before = drill_test_machine();
	agent = strdup(getenv("FAULTDRILL_AGENT"));
	setenv("FAULTDRILL_AGENT", "/bin/false", 1);
	why = drill_test_lab_up(&t, &drill_lab_netns, 2, "", state);
	setenv("FAULTDRILL_AGENT", agent, 1);
	ck_assert_ptr_nonnull(why);
	ck_assert_msg(strstr(why, "did not come up"), "%s", why);
	after = drill_test_machine();
	ck_assert_str_eq(before, after);
	free(before);
	free(after);
	free(agent);
}
END_TEST

/* The child brings a lab up, tells, and hangs; it is killed. */
static pid_t run_that_dies(char *ret_dir, size_t size)
{
	struct drill_test_lab t;
	int p[2], fd;
	pid_t pid;
	ssize_t n;

	ck_assert_int_eq(pipe(p), 0);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (drill_test_lab_up(&t, &drill_lab_netns, 2, "", state))
			_exit(1);
		in_host(&t, "h0", "'sleep 1000 >/dev/null 2>&1 & sleep 0'");
		if (write(p[1], t.lab.dir, strlen(t.lab.dir)) < 0)
			_exit(1);
		for (;;)
			pause();
	}
	close(p[1]);
	n = read(p[0], ret_dir, size - 1);
	ck_assert_int_gt(n, 0);
	ret_dir[n] = '\0';
	close(p[0]);
	fd = drill_pidfd_open(pid);
	kill(pid, SIGKILL);
	drill_pidfd_wait(fd, 5000);
	close(fd);
	waitpid(pid, NULL, 0);
	return pid;
}

START_TEST(heal_removes_the_lab_of_a_killed_run_from_its_record)
{
	char *before, *after, dir[256];
	struct drill_err err = {0};
	json_t *found;

	NEEDS_NETNS();
	before = drill_test_machine();
	run_that_dies(dir, sizeof(dir));
	ck_assert_int_eq(access(dir, F_OK), 0);
	drill_heal_register(drill_lab_revertibles);
	ck_assert_msg(drill_heal(state, false, &found, &err) == 0, "%s",
		      err.msg);
	ck_assert_int_ge(json_array_size(found), 1);
	json_decref(found);
	after = drill_test_machine();
	ck_assert_str_eq(before, after);
	ck_assert_int_eq(drill_heal(state, false, &found, &err), 0);
	ck_assert_int_eq(json_array_size(found), 0);
	json_decref(found);
	free(before);
	free(after);
}
END_TEST

START_TEST(the_hosts_of_a_killed_run_end_by_themselves)
{
	char dir[256], mark[64] = "";
	struct drill_err err = {0};
	json_t *file, *found;
	pid_t pid;
	int fd;

	NEEDS_NETNS();
	run_that_dies(dir, sizeof(dir));
	ck_assert_int_eq(drill_lab_file_read(dir, &file, &err), 0);
	pid = (pid_t)json_integer_value(json_object_get(
		json_array_get(json_object_get(file, "hosts"), 0), "pid"));
	snprintf(mark, sizeof(mark), "%s",
		 json_string_value(json_object_get(file, "mark")));
	json_decref(file);
	fd = drill_pidfd_open(pid);
	if (fd >= 0) {
		ck_assert_int_eq(drill_pidfd_wait(fd, 5000), 0);
		close(fd);
	}
	drill_heal_register(drill_lab_revertibles);
	drill_heal(state, false, &found, &err);
	json_decref(found);
}
END_TEST

START_TEST(nothing_without_our_mark_is_removed)
{
	struct drill_err err = {0};
	char dir[] = "/tmp/drill-foreign.XXXXXX", file[64];

	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(file, sizeof(file), "%s/precious", dir);
	ck_assert_int_eq(mkdir(file, 0755), 0);
	ck_assert_int_eq(drill_lab_remove(dir, "0123456789abcdef", "", &err),
			 -EUCLEAN);
	ck_assert_int_eq(access(file, F_OK), 0);
	memset(&err, 0, sizeof(err));
	ck_assert_int_eq(drill_lab_remove(dir, "0123456789abcdef",
					  "/sys/fs/cgroup/unified/other", &err),
			 -EUCLEAN);
	rmdir(file);
	rmdir(dir);
}
END_TEST

START_TEST(labs_by_hand_stay_until_they_are_taken_down)
{
	struct drill_lab_spec spec = {.provider = "netns", .name = "by-hand",
				      .hosts = 2, .spares = 1};
	struct drill_err err = {0};
	json_t *lab, *list;

	NEEDS_NETNS();
	ck_assert_msg(drill_lab_admin_up(&spec, state, &lab, &err) == 0, "%s",
		      err.msg);
	ck_assert_int_eq(json_array_size(json_object_get(lab, "hosts")), 3);
	json_decref(lab);
	ck_assert_int_eq(drill_lab_admin_up(&spec, state, &lab, &err), -EBUSY);
	ck_assert_msg(strstr(err.msg, "lab down by-hand"), "%s", err.msg);
	memset(&err, 0, sizeof(err));
	ck_assert_int_eq(drill_lab_admin_status("by-hand", &list, &err), 0);
	lab = json_array_get(list, 0);
	ck_assert_str_eq(json_string_value(json_object_get(lab, "state")),
			 "kept");
	ck_assert_str_eq(
		json_string_value(json_object_get(
			json_array_get(json_object_get(lab, "hosts"), 2),
			"state")),
		"up");
	json_decref(list);
	drill_heal_register(drill_lab_revertibles);
	ck_assert_int_eq(drill_heal(state, false, &list, &err), 0);
	json_decref(list);
	ck_assert_int_eq(drill_lab_admin_status("by-hand", &list, &err), 0);
	json_decref(list);
	ck_assert_msg(drill_lab_admin_down("by-hand", &err) == 0, "%s",
		      err.msg);
	ck_assert_int_eq(drill_lab_admin_down("by-hand", &err), -ENOENT);
}
END_TEST

START_TEST(a_drill_uses_a_kept_lab_of_its_name_and_leaves_it)
{
	struct drill_lab_spec spec = {.provider = "netns", .name = "kept",
				      .hosts = 2};
	struct drill_err err = {0};
	struct drill_test_lab t;
	char path[300];
	const char *why;
	pid_t pid;

	NEEDS_NETNS();
	ck_assert_msg(drill_lab_admin_up(&spec, state, NULL, &err) == 0, "%s",
		      err.msg);
	why = drill_test_lab_up(&t, &drill_lab_netns, 3, "kept", state);
	ck_assert_ptr_nonnull(why);
	ck_assert_msg(strstr(why, "with 2 hosts and 0 spares, not 3"), "%s",
		      why);
	up(&t, 2, "kept");
	pid = init_of(&t, 1);
	ck_assert_int_eq(in_host(&t, "h1", "true"), 0);
	snprintf(path, sizeof(path), "%.200s/trial-1", t.lab.dir);
	ck_assert_int_eq(mkdir(path, 0755), 0);
	OK(drill_test_lab_down(&t));
	ck_assert_int_ne(access(path, F_OK), 0);
	up(&t, 2, "kept");
	ck_assert_int_eq(init_of(&t, 1), pid);
	OK(drill_test_lab_down(&t));
	ck_assert_msg(drill_lab_admin_down("kept", &err) == 0, "%s", err.msg);
}
END_TEST

START_TEST(mpirun_starts_ranks_on_four_hosts)
{
	struct drill_test_lab t;
	char cmd[2000], log[300];
	char sh[] = "sh", c[] = "-c", *argv[] = {sh, c, cmd, NULL};
	struct drill_job job = {.name = "job", .argv = argv, .log_path = log};
	struct drill_err err = {0};

	NEEDS_NETNS();
	if (system("command -v mpirun >/dev/null") != 0)
		SKIP("no mpirun");
	up(&t, 4, "");
	snprintf(log, sizeof(log), "%s/log", t.lab.dir);
	snprintf(cmd, sizeof(cmd),
		 "mpirun --allow-run-as-root --mca plm_rsh_agent '%s' --mca "
		 "plm_rsh_no_tree_spawn 1 --mca oob_tcp_if_include %s --host "
		 "h0,h1,h2,h3 -np 4 hostname | sort | tr '\\n' ' ' | "
		 "grep -q 'h0 h1 h2 h3'",
		 t.lab.enter, t.lab.mgmt_if);
	ck_assert_msg(t.lab.ops->job_start(&t.lab, &job, &err) == 0, "%s",
		      err.msg);
	ck_assert(drill_test_lab_until(&t, "exit job", 1));
	snprintf(cmd, sizeof(cmd), "cat %s", log);
	if (!strstr(t.said, "exit job 0"))
		system(cmd);
	ck_assert_msg(strstr(t.said, "exit job 0"), "%s", t.said);
	OK(drill_test_lab_down(&t));
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
	s = suite_create("lab netns");
	t = tcase_create("lab netns");
	if (!mkdtemp(state))
		return 3;
	tcase_set_timeout(t, 60);
	tcase_add_test(t,
		       hosts_reach_each_other_on_both_networks_in_both_families);
	tcase_add_test(t, a_host_has_its_own_name_processes_network_and_cgroup);
	tcase_add_test(t, enter_gives_the_commands_own_exit_status);
	tcase_add_test(t, enter_passes_signals_on);
	tcase_add_test(t, a_host_whose_first_process_is_killed_is_down);
	tcase_add_test(t, down_leaves_nothing);
	tcase_add_test(t, the_machines_own_network_and_mounts_never_change);
	tcase_add_test(t, two_labs_live_side_by_side_and_one_name_is_there_once);
	tcase_add_test(t, a_lab_that_cannot_come_up_leaves_nothing);
	tcase_add_test(t,
		       heal_removes_the_lab_of_a_killed_run_from_its_record);
	tcase_add_test(t, the_hosts_of_a_killed_run_end_by_themselves);
	tcase_add_test(t, nothing_without_our_mark_is_removed);
	tcase_add_test(t, labs_by_hand_stay_until_they_are_taken_down);
	tcase_add_test(t, a_drill_uses_a_kept_lab_of_its_name_and_leaves_it);
	tcase_add_test(t, mpirun_starts_ranks_on_four_hosts);
	suite_add_tcase(s, t);
	status = drill_check_main(s);
	snprintf(clean, sizeof(clean), "rm -rf %s", state);
	return system(clean) ? 3 : status;
}
