/* main.c - the program faultdrill-agent: one table of sub-commands
 * SPDX-License-Identifier: MIT
 */
#include "agent.h"
#include "host_init.h"

#include "harness/core/outcome.h"
#include "harness/core/proto.h"
#include "harness/core/spawn.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int run(int argc, char **argv)
{
	char host[64] = "";
	struct drill_agent_opts opts = { .in = 0, .out = 1, .host = host };

	(void)argc;
	(void)argv;
	gethostname(host, sizeof(host) - 1);
	return drill_agent_run(&opts);
}

static int version(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	printf("faultdrill-agent %s, build %s\n", DRILL_PROTO,
	       drill_build_id());
	return 0;
}

static const struct {
	const char *name, *doc;
	int (*main)(int argc, char **argv);
} commands[] = {
	{ "enter", "Runs a command on a host of a lab (mpirun's remote shell).",
	  drill_enter_main },
	{ "host-init", "Is the first process of a host of a lab.",
	  drill_host_init_main },
	{ "run", "Serves a controller on standard input and output.", run },
	{ "version", "Prints protocol and build.", version },
};

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "run";
	unsigned int i;

	drill_stdio_open();
	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (!strcmp(commands[i].name, name))
			return commands[i].main(argc - 1, argv + 1);
	fprintf(stderr, "faultdrill-agent: no sub-command '%s'; there are:\n",
		name);
	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		fprintf(stderr, "  %-9s %s\n", commands[i].name,
			commands[i].doc);
	return DRILL_USAGE;
}
