/* test_lab_netns.c - namespace hosts: up, in, down, and nothing left
 * SPDX-License-Identifier: MIT
 */
#include "check_main.h"

#include "harness/lab/lab.h"
#include "tests/support/lab_agent.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define NEEDS_NETNS()                                                          \
	do {                                                                   \
		struct drill_lab_spec spec = {.hosts = 1};                     \
		struct drill_err no = {0};                                     \
		if (drill_lab_netns.probe(&spec, &no) < 0)                     \
			SKIP("%s", no.msg);                                    \
	} while (0)

static char state[] = "/tmp/drill-lab-state.XXXXXX";

static void up(struct drill_lab *lab, int hosts)
{
	struct drill_err err = {0};

	*lab = (struct drill_lab){.ops = &drill_lab_netns,
				  .spec = {.hosts = hosts, .devices = 1}};
	snprintf(lab->state, sizeof(lab->state), "%s", state);
	ck_assert_msg(drill_lab_netns.up(lab, &err) == 0, "%s", err.msg);
}

static void down(struct drill_lab *lab)
{
	struct drill_err err = {0};

	ck_assert_msg(drill_lab_netns.down(lab, &err) == 0, "%s", err.msg);
}

START_TEST(hosts_come_up_and_go)
{
	struct drill_lab lab;
	char cmd[1000];

	NEEDS_NETNS();
	up(&lab, 3);
	snprintf(cmd, sizeof(cmd), "%s h1 'hostname; id; ip -br addr; cat /etc/hosts; ping -c1 -W1 h2; ping -c1 -W1 fd77::3; ls /proc; cat /proc/self/cgroup | head -3; exit 7'", lab.enter);
	int rc = system(cmd);
	printf("rc %d\n", WEXITSTATUS(rc));
	down(&lab);
}
END_TEST

int main(int argc, char **argv)
{
	Suite *s = suite_create("lab netns");
	TCase *t = tcase_create("lab netns");
	int status;

	if (drill_test_lab_agent(argc, argv, &status))
		return status;
	if (!mkdtemp(state))
		return 3;
	tcase_add_test(t, hosts_come_up_and_go);
	suite_add_tcase(s, t);
	return drill_check_main(s);
}
