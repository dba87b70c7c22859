/* verb_mark.c - faultdrill mark: a person has noticed something
 * SPDX-License-Identifier: MIT
 *
 * One line, with the instant it was typed, at the end of runs/latest/marks: the
 * running drill reads it and notes a detection by `user`.
 */
#include "verbs.h"

#include "harness/core/clock.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool is_name(const char *s)
{
	const char *p;

	for (p = s; *p; p++)
		if (!isalnum((unsigned char)*p) && !strchr("_.-", *p))
			return false;
	return p > s && p - s < 64;
}

enum drill_outcome drill_verb_mark(struct drill_cli *cli)
{
	int64_t now = drill_raw_ns(drill_clock_system());
	struct drill_err err = { 0 };
	char line[128];
	int fd, n;

	if (!is_name(cli->args[0]))
		return drill_cli_usage("mark: '%s' is no name: letters, digits "
				       "and _.-", cli->args[0]);
	if (access("runs/latest", F_OK) < 0 ||
	    access("runs/latest/run.json", F_OK) == 0)
		return drill_cli_usage("mark: no drill runs here (runs/latest "
				       "is missing or finished)");
	n = snprintf(line, sizeof(line), "%s %" PRId64 "\n", cli->args[0], now);
	fd = open("runs/latest/marks", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC,
		  0644);
	if (fd < 0 || write(fd, line, (size_t)n) != n) {
		drill_err_errno(&err, errno, "mark",
				"cannot write runs/latest/marks");
		if (fd >= 0)
			close(fd);
		return drill_cli_fail(&err);
	}
	close(fd);
	return DRILL_PASS;
}
