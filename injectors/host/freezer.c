/* freezer.c - the cgroup freezer, version 2 or 1 alike
 * SPDX-License-Identifier: MIT
 */
#include "freezer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char who[] = "cgroup";

static int read_text(const char *dir, const char *name, char *buf, int size)
{
	char path[512];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = read(fd, buf, size - 1);
	if (n < 0)
		n = -errno;
	close(fd);
	buf[n > 0 ? n : 0] = 0;
	return n < 0 ? n : 0;
}

static int write_text(const char *dir, const char *name, const char *text)
{
	char path[512];
	int fd, rc = 0;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		rc = -errno;
	close(fd);
	return rc;
}

/* The mount point of a hierarchy: by type, for version 1 with the option. */
static int find_mount(const char *type, const char *option, char *buf, int size)
{
	char line[1024], dir[128], fs[32], opts[256];
	FILE *f = fopen("/proc/self/mounts", "re");
	int rc = -ENOENT;

	if (!f)
		return -errno;
	while (rc < 0 && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%*s %127s %31s %255s", dir, fs, opts) == 3 &&
		    !strcmp(fs, type) && (!option || strstr(opts, option))) {
			snprintf(buf, size, "%s", dir);
			rc = 0;
		}
	}
	fclose(f);
	return rc;
}

int drill_freezer_find(struct drill_freezer *ret, struct drill_err *err)
{
	ret->version = 2;
	if (find_mount("cgroup2", NULL, ret->root, sizeof(ret->root)) == 0)
		return 0;
	ret->version = 1;
	if (find_mount("cgroup", "freezer", ret->root, sizeof(ret->root)) == 0)
		return 0;
	return drill_err_set(err, -ENOENT, who, "no cgroup freezer is mounted");
}

/* "0::/path" for version 2, "6:freezer:/path" for version 1. */
static const char *path_in(char *line, int version)
{
	char *names = strchr(line, ':'), *path;

	path = names ? strchr(names + 1, ':') : NULL;
	if (!path)
		return NULL;
	*path++ = 0;
	path[strcspn(path, "\n")] = 0;
	if (version == 2 ? names[1] != 0 : !strstr(names + 1, "freezer"))
		return NULL;
	return path;
}

int drill_freezer_of(const struct drill_freezer *f, pid_t pid, char *buf,
		     int size, struct drill_err *err)
{
	char name[64], line[512];
	const char *path = NULL;
	FILE *in;

	snprintf(name, sizeof(name), "/proc/%d/cgroup", (int)pid);
	in = fopen(name, "re");
	if (!in)
		return drill_err_errno(err, errno == ENOENT ? ESRCH : errno,
				       who, "cgroup of pid %d", (int)pid);
	while (!path && fgets(line, sizeof(line), in))
		path = path_in(line, f->version);
	fclose(in);
	if (!path)
		return drill_err_set(err, -ENOENT, who,
				     "pid %d is in no freezer cgroup",
				     (int)pid);
	snprintf(buf, size, "%s%s", f->root, strcmp(path, "/") ? path : "");
	return 0;
}

static int get_v2(const char *dir, bool *ret_done)
{
	char text[256];
	int rc = read_text(dir, "cgroup.freeze", text, sizeof(text));
	bool on = text[0] == '1', all;

	if (rc < 0)
		return rc == -ENODEV ? -ENOENT : rc;
	rc = read_text(dir, "cgroup.events", text, sizeof(text));
	all = rc == 0 && strstr(text, "frozen 1");
	if (ret_done)
		*ret_done = on == all;
	return on;
}

static int get_v1(const char *dir, bool *ret_done)
{
	char text[64];
	int rc = read_text(dir, "freezer.self_freezing", text, sizeof(text));
	bool on = text[0] == '1';

	if (rc < 0)
		return rc == -ENODEV ? -ENOENT : rc;
	rc = read_text(dir, "freezer.state", text, sizeof(text));
	if (ret_done)
		*ret_done = rc == 0 &&
			    !strncmp(text, on ? "FROZEN" : "THAWED", 6);
	return on;
}

int drill_freezer_get(int version, const char *dir, bool *ret_done)
{
	return version == 2 ? get_v2(dir, ret_done) : get_v1(dir, ret_done);
}

int drill_freezer_set(int version, const char *dir, bool freeze,
		      struct drill_err *err)
{
	struct timespec t = { .tv_nsec = 200000 };
	bool done = false;
	int rc, i;

	rc = version == 2 ? write_text(dir, "cgroup.freeze", freeze ? "1" : "0")
			  : write_text(dir, "freezer.state",
				       freeze ? "FROZEN" : "THAWED");
	if (rc < 0)
		return drill_err_errno(err, -rc, who, "cannot %s '%s'",
				       freeze ? "freeze" : "thaw", dir);
	for (i = 0; i < 5000; i++) {
		rc = drill_freezer_get(version, dir, &done);
		if (rc == freeze && done)
			return 0;
		if (rc == -ENOENT && !freeze)
			return 0; /* what was in it is frozen no more */
		if (rc < 0)
			return drill_err_errno(err, -rc, who,
					       "cannot read back '%s'", dir);
		nanosleep(&t, NULL);
	}
	return drill_err_set(err, -ETIMEDOUT, who, "'%s' does not %s", dir,
			     freeze ? "freeze" : "thaw");
}

int drill_freezer_move(const char *dir, pid_t pid, struct drill_err *err)
{
	char text[16];
	int rc;

	snprintf(text, sizeof(text), "%d", (int)pid);
	rc = write_text(dir, "cgroup.procs", text);
	if (rc < 0)
		return drill_err_errno(err, -rc, who,
				       "cannot move pid %d to '%s'", (int)pid,
				       dir);
	return 0;
}

pid_t drill_freezer_member(const char *dir)
{
	char text[64];

	if (read_text(dir, "cgroup.procs", text, sizeof(text)) < 0)
		return 0;
	return strtol(text, NULL, 10);
}
