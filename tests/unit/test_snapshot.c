/* test_snapshot.c - equal when nothing changed, and each change is a line
 * SPDX-License-Identifier: MIT
 */
#include "check_main.h"

#include "harness/agent/snapshot.h"
#include "injectors/host/freezer.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char group[256];

static json_t *shot(void)
{
	json_t *s = NULL;

	ck_assert_int_eq(drill_snapshot(group, "", &s, NULL), 0);
	return s;
}

/* Runs @change between two snapshots, in namespaces of its own; exits 0 when a
 * line with @sign and @want is among the differences, or, without @want, when
 * there are none. */
static void in_child(int (*change)(void), const char *want)
{
	json_t *a, *b, *d, *v;
	size_t i;

	if (unshare(CLONE_NEWNET | CLONE_NEWNS) < 0 ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		_exit(77);
	a = shot();
	if (change && change() != 0)
		_exit(77);
	b = shot();
	d = drill_snapshot_compare(a, b);
	json_array_foreach(d, i, v)
		if (want && strstr(json_string_value(v), want))
			_exit(0);
	if (json_array_size(d)) {
		json_dumpf(d, stdout, JSON_INDENT(1));
		fflush(stdout);
	}
	_exit(want ? 1 : json_array_size(d) != 0);
}

static int run(int (*change)(void), const char *want)
{
	pid_t pid = fork();
	int status = 0;

	if (pid == 0)
		in_child(change, want);
	waitpid(pid, &status, 0);
	return WEXITSTATUS(status);
}

START_TEST(nothing_changed_is_no_difference)
{
	json_t *a = shot(), *b = shot(), *d = drill_snapshot_compare(a, b);

	/* Addresses, qdiscs and so on of this machine may be others' to change;
	 * in a namespace of our own there is nobody else. */
	json_decref(d);
	json_decref(a);
	json_decref(b);
	if (run(NULL, NULL) == 77)
		SKIP("needs a network namespace");
	ck_assert_int_eq(run(NULL, NULL), 0);
}
END_TEST

START_TEST(every_class_is_there)
{
	static const char *const classes[] = {
		"addresses", "cgroups", "devices", "dm", "filters",
		"links", "loops", "mounts", "nft", "processes", "qdiscs",
		"routes", "sysctls" };
	json_t *s = shot();
	unsigned int i;

	for (i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
		ck_assert(json_is_array(json_object_get(s, classes[i])));
	ck_assert_uint_gt(json_array_size(json_object_get(s, "sysctls")), 50);
	ck_assert_uint_gt(json_array_size(json_object_get(s, "mounts")), 0);
	json_decref(s);
}
END_TEST

static int quiet(const char *cmd)
{
	return system(cmd) == 0 ? 0 : -1;
}

static int add_qdisc(void)
{
	return quiet("ip link set lo up && tc qdisc add dev lo root tbf "
		     "rate 1mbit burst 10kb latency 50ms");
}

static int add_address(void)
{
	return quiet("ip addr add 10.9.8.7/32 dev lo");
}

static int add_filter(void)
{
	return quiet("tc qdisc add dev lo clsact && tc filter add dev lo egress "
		     "bpf bytecode '1,6 0 0 0,'");
}

static int add_nft(void)
{
	return quiet("nft add table inet drilltest");
}

static int add_mount(void)
{
	return mount("none", "/mnt", "tmpfs", 0, "size=4k");
}

static int add_link(void)
{
	return quiet("ip link add drill0 type dummy || "
		     "ip link add drill0 type veth peer name drill1");
}

static int change_sysctl(void)
{
	return quiet("echo 7 > /proc/sys/net/ipv4/tcp_retries2");
}

static int add_route(void)
{
	return quiet("ip link set lo up && ip route add 10.9.0.0/16 dev lo");
}

static const struct {
	int (*change)(void);
	const char *want;
} changes[] = {
	{ add_qdisc, "qdiscs: + lo tbf" },
	{ add_address, "addresses: + lo 10.9.8.7/32" },
	{ add_filter, "filters: + lo bpf" },
	{ add_nft, "nft: + table 1 drilltest" },
	{ add_mount, "mounts: + /mnt tmpfs" },
	{ add_link, "links: + drill0" },
	{ change_sysctl, "sysctls: + net/ipv4/tcp_retries2 = 7" },
	{ add_route, "routes: + 10.9.0.0/16" },
};

START_TEST(a_change_is_one_line)
{
	int rc = run(changes[_i].change, changes[_i].want);

	if (rc == 77)
		SKIP("cannot make '%s' here", changes[_i].want);
	ck_assert_msg(rc == 0, "no '%s'", changes[_i].want);
}
END_TEST

static pid_t sleeper(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	return pid;
}

/* A process in a shared machine, stopped; @entry is all its environment. */
static pid_t stopped_with(const char *entry)
{
	char *const env[] = { (char *)(uintptr_t)entry, NULL };
	static char name[] = "sleep", time[] = "60";
	char *const argv[] = { name, time, NULL };
	int ready[2];
	pid_t pid;
	char c;

	ck_assert_int_eq(pipe2(ready, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execvpe("sleep", argv, env);
		_exit(127);
	}
	close(ready[1]);
	ck_assert_int_eq(read(ready[0], &c, 1), 0); /* it is exec'ed */
	close(ready[0]);
	kill(pid, SIGSTOP);
	waitpid(pid, NULL, WUNTRACED);
	return pid;
}

START_TEST(on_a_shared_machine_only_marked_processes_are_the_labs)
{
	static const char mark[] = "FAULTDRILL_LAB=snaptest.1/";
	pid_t pid[3] = { stopped_with("FAULTDRILL_LAB=snaptest.1/job"),
			 stopped_with("FAULTDRILL_LAB=snaptest.11/job"),
			 stopped_with("HOME=/") };
	json_t *s = NULL, *list;
	char want[64];
	int i;

	ck_assert_int_eq(drill_snapshot("", mark, &s, NULL), 0);
	for (i = 0; i < 3; i++) {
		kill(pid[i], SIGKILL);
		waitpid(pid[i], NULL, 0);
	}
	list = json_object_get(s, "processes");
	snprintf(want, sizeof(want), "%d sleep stopped", (int)pid[0]);
	ck_assert_uint_eq(json_array_size(list), 1);
	ck_assert_str_eq(json_string_value(json_array_get(list, 0)), want);
	json_decref(s);
}
END_TEST

START_TEST(a_stopped_process_and_a_frozen_cgroup_are_seen)
{
	struct drill_freezer f;
	json_t *a, *b, *d;
	pid_t pid;
	int i, lines = 0;

	if (drill_freezer_find(&f, NULL) < 0)
		SKIP("no freezer here");
	snprintf(group, sizeof(group), "%s/drill-snap-%d", f.root, getpid());
	if (mkdir(group, 0755) < 0)
		SKIP("cannot make a cgroup");
	pid = sleeper();
	ck_assert_int_eq(drill_freezer_move(group, pid, NULL), 0);
	a = shot();
	kill(pid, SIGSTOP);
	waitpid(pid, NULL, WUNTRACED);
	ck_assert_int_eq(drill_freezer_set(f.version, group, true, NULL), 0);
	b = shot();
	d = drill_snapshot_compare(a, b);
	for (i = 0; i < (int)json_array_size(d); i++) {
		const char *s = json_string_value(json_array_get(d, i));

		lines += strstr(s, "processes: +") && strstr(s, "stopped");
		lines += strstr(s, "cgroups: +") && strstr(s, " frozen");
	}
	drill_freezer_set(f.version, group, false, NULL);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	for (i = 0; i < 1000 && rmdir(group) < 0; i++)
		usleep(1000);
	json_decref(a);
	json_decref(b);
	json_decref(d);
	ck_assert_int_eq(lines, 2);
}
END_TEST

START_TEST(each_differing_line_is_listed_with_its_sign)
{
	json_t *a = json_loads("{\"x\":[\"a\",\"b\"],\"y\":[\"q\"]}", 0, NULL);
	json_t *b = json_loads("{\"x\":[\"b\",\"c\"],\"z\":[\"n\"]}", 0, NULL);
	json_t *d = drill_snapshot_compare(a, b);
	char *text = json_dumps(d, JSON_COMPACT);

	ck_assert_str_eq(text, "[\"x: - a\",\"x: + c\",\"y: - q\",\"z: + n\"]");
	free(text);
	json_decref(a);
	json_decref(b);
	json_decref(d);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("snapshot");
	TCase *t = tcase_create("snapshot");

	tcase_add_test(t, nothing_changed_is_no_difference);
	tcase_add_test(t, every_class_is_there);
	tcase_add_loop_test(t, a_change_is_one_line, 0,
			    sizeof(changes) / sizeof(changes[0]));
	tcase_add_test(t,
		       on_a_shared_machine_only_marked_processes_are_the_labs);
	tcase_add_test(t, a_stopped_process_and_a_frozen_cgroup_are_seen);
	tcase_add_test(t, each_differing_line_is_listed_with_its_sign);
	suite_add_tcase(s, t);
	return drill_check_main(s);
}
