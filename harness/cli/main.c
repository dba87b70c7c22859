/* main.c - faultdrill: the controller's program, one verb a call
 * SPDX-License-Identifier: MIT
 */
#include "verbs.h"

#include "harness/core/proto.h"
#include "harness/core/spawn.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int run(int argc, char **argv)
{
	struct drill_err err = { 0 };
	struct drill_cli cli;
	enum drill_outcome o;

	if (drill_cli_read(argc, argv, &cli, &err) < 0) {
		o = drill_cli_fail(&err);
		drill_cli_done(&cli);
		return (int)o;
	}
	if (drill_opt_set(&cli, "help")) {
		cli.args[0] = (char *)cli.verb->name;
		cli.n_args = 1;
		o = drill_verb_help(&cli);
	} else {
		o = cli.verb->run(&cli);
	}
	drill_cli_done(&cli);
	return (int)o;
}

/* A reader that has had enough is no error; a full disk is: what was asked for
 * is not there. */
static int told(int status)
{
	struct pollfd out = { .fd = STDOUT_FILENO };

	if (fflush(stdout) == 0 && !ferror(stdout))
		return status;
	if (poll(&out, 1, 0) > 0 && (out.revents & POLLERR))
		return status;
	fprintf(stderr, "faultdrill: standard output could not be written\n");
	return (int)drill_outcome_worse((enum drill_outcome)status,
					DRILL_ERROR);
}

int main(int argc, char **argv)
{
	char help[] = "help";
	char *words[] = { argv[0], help, NULL };

	drill_stdio_open();
	signal(SIGPIPE, SIG_IGN);
	if (argc < 2 || strcmp(argv[1], "--help") == 0 ||
	    strcmp(argv[1], "-h") == 0)
		return told(run(2, words));
	if (strcmp(argv[1], "--version") == 0) {
		printf("faultdrill %s\n", drill_build_id());
		return told(0);
	}
	return told(run(argc, argv));
}
