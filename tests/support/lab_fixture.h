/* lab_fixture.h - labs for tests: up, what they say, down, what is left
 * SPDX-License-Identifier: MIT
 */
#ifndef DRILL_TEST_LAB_FIXTURE_H
#define DRILL_TEST_LAB_FIXTURE_H

#include "harness/lab/lab.h"

#define SAID 65536

/* A lab and a log of all that its callbacks were told, one line each:
 * "agent 1 hello", "gone 1 REASON", "job NAME KIND", "exit NAME CODE". */
struct drill_test_lab {
	struct drill_lab lab;
	char said[SAID];
	char until[128]; /* run() returns when a line begins like this ... */
	int times;	 /* ... so many times */
	json_t *last;	 /* the last message of an agent or a job */
};

/* Brings it up with its undo record in @state; NULL, or the reason why not. */
const char *drill_test_lab_up(struct drill_test_lab *t,
			      const struct drill_lab_ops *ops, int hosts,
			      const char *name, const char *state);
/* NULL, or the reason. */
const char *drill_test_lab_down(struct drill_test_lab *t);

/* Runs the loop until @times lines have begun with @prefix since the lab came
 * up, or 30 s: then false. */
bool drill_test_lab_until(struct drill_test_lab *t, const char *prefix,
			  int times);

/* The links, mounts, cgroups and lab directories of this machine as text, to
 * be compared. Yours: free. */
char *drill_test_machine(void);

#endif
