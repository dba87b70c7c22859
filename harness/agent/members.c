/* members.c - which process of a cgroup calls itself by a given pid
 * SPDX-License-Identifier: MIT
 *
 * cgroup.procs shows pids as the reader's PID namespace has them; the last
 * number of NSpid is the pid in the process's own.
 */
#include "members.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pid_t inner_pid(pid_t pid)
{
	char path[64], line[256], *last = NULL, *p;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	while (!last && fgets(line, sizeof(line), f))
		if (!strncmp(line, "NSpid:", 6))
			last = line + 6;
	fclose(f);
	if (!last)
		return pid; /* a kernel without PID namespaces */
	for (p = last; (p = strpbrk(p, "\t ")); p++)
		last = p + 1;
	return strtol(last, NULL, 10);
}

static pid_t find_in(const char *dir, pid_t inner)
{
	char path[400], line[32];
	pid_t pid, found = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/cgroup.procs", dir);
	f = fopen(path, "re");
	if (!f)
		return 0;
	while (!found && fgets(line, sizeof(line), f)) {
		pid = strtol(line, NULL, 10);
		if (pid > 0 && inner_pid(pid) == inner)
			found = pid;
	}
	fclose(f);
	return found;
}

pid_t drill_member_by_inner(const char *cgroup, pid_t inner)
{
	char path[360];
	struct dirent *e;
	pid_t found = find_in(cgroup, inner);
	DIR *d = found ? NULL : opendir(cgroup);

	if (!d)
		return found;
	while (!found && (e = readdir(d))) {
		if (e->d_type != DT_DIR || e->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%.255s/%.100s", cgroup,
			 e->d_name);
		found = find_in(path, inner);
	}
	closedir(d);
	return found;
}
