/* bin.c - finds launcher, agent and hooks beside this program
 * SPDX-License-Identifier: MIT
 */
#include "bin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define INSTALLED "../lib/faultdrill"

const char *drill_bin_dir(char *buf, size_t size)
{
	const char *env = getenv("FAULTDRILL_BIN");
	char self[400] = "", beside[500];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	if (n > 0)
		self[n] = '\0';
	slash = strrchr(self, '/');
	if (slash)
		*slash = '\0';
	snprintf(beside, sizeof(beside), "%s/launch", self);
	if (env && env[0])
		snprintf(buf, size, "%s", env);
	else if (access(beside, X_OK) == 0)
		snprintf(buf, size, "%s", self);
	else
		snprintf(buf, size, "%s/" INSTALLED, self);
	return buf;
}
