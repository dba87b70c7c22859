/* lab_agent.h - a test program that is its own agent
 * SPDX-License-Identifier: MIT
 */
#ifndef DRILL_TEST_LAB_AGENT_H
#define DRILL_TEST_LAB_AGENT_H

#include <stdbool.h>

/* First thing in main: when the lab has started this program as its agent (or
 * as host-init, enter), does that and returns true with the exit status. Else
 * makes later labs of this process use it, and returns false.
 *
 * The agent says hello, answers ping, sends back {"kind": "echo", ...} for
 * each other message, and ends at bye. FAKE_AGENT in its environment changes
 * that: "build" (of another build), "garbage", "silent", "exit". */
bool drill_test_lab_agent(int argc, char **argv, int *ret_status);

#endif
