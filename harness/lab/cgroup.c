/* cgroup.c - cgroups of ours below the caller's own
 * SPDX-License-Identifier: MIT
 */
#include "cgroup.h"

#include "harness/core/spawn.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <mntent.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char who[] = "lab.cgroup";

/* Where a hierarchy is mounted: v2, or v1 with @controller. */
static bool find_mount(const char *controller, char *buf, size_t size)
{
	FILE *f = setmntent("/proc/self/mounts", "re");
	struct mntent *m;
	bool found = false;

	while (f && !found && (m = getmntent(f))) {
		if (controller)
			found = strcmp(m->mnt_type, "cgroup") == 0 &&
				hasmntopt(m, controller);
		else
			found = strcmp(m->mnt_type, "cgroup2") == 0;
		if (found)
			snprintf(buf, size, "%s", m->mnt_dir);
	}
	if (f)
		endmntent(f);
	return found;
}

/* Our path in it: "0::/x" of v2, "7:freezer:/x" of v1. */
static bool find_path(const char *controller, char *buf, size_t size)
{
	FILE *f = fopen("/proc/self/cgroup", "re");
	char line[512], want[40], *p;
	bool found = false;

	snprintf(want, sizeof(want), ":%s:", controller ? controller : "");
	while (f && !found && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		p = strchr(line, ':');
		found = p && strncmp(p, want, strlen(want)) == 0;
		if (found)
			snprintf(buf, size, "%s", p + strlen(want));
	}
	if (f)
		fclose(f);
	return found;
}

int drill_cgroup_own(char *buf, size_t size, struct drill_err *err)
{
	static const char *const hierarchies[] = {NULL, "freezer"};
	char mount[256], path[256];
	size_t i;

	for (i = 0; i < 2; i++) {
		if (!find_mount(hierarchies[i], mount, sizeof(mount)) ||
		    !find_path(hierarchies[i], path, sizeof(path)))
			continue;
		snprintf(buf, size, "%s%s", mount,
			 strcmp(path, "/") == 0 ? "" : path);
		if (access(buf, W_OK) == 0)
			return 0;
	}
	return drill_err_set(err, -ENOENT, who,
			     "no writable cgroup (neither v2 nor the v1 "
			     "freezer)");
}

int drill_cgroup_make(const char *path, struct drill_err *err)
{
	if (mkdir(path, 0755) < 0)
		return drill_err_errno(err, errno, who,
				       "cannot make cgroup '%s'", path);
	return 0;
}

static void each_here(const char *path, void (*fn)(pid_t, void *), void *arg)
{
	char name[400];
	FILE *f;
	int pid;

	snprintf(name, sizeof(name), "%s/cgroup.procs", path);
	f = fopen(name, "re");
	while (f && fscanf(f, "%d", &pid) == 1)
		fn(pid, arg);
	if (f)
		fclose(f);
}

/* Children before their parent: that is the order of removing. */
static void each_below(const char *path, void (*fn)(const char *, void *),
		       void *arg)
{
	DIR *d = opendir(path);
	struct dirent *e;
	char name[400];

	while (d && (e = readdir(d))) {
		if (e->d_type != DT_DIR || e->d_name[0] == '.')
			continue;
		if ((size_t)snprintf(name, sizeof(name), "%s/%s", path,
				     e->d_name) < sizeof(name))
			each_below(name, fn, arg);
	}
	if (d)
		closedir(d);
	fn(path, arg);
}

struct each {
	void (*fn)(pid_t, void *);
	void *arg;
};

static void each_of(const char *path, void *arg)
{
	struct each *e = arg;

	each_here(path, e->fn, e->arg);
}

void drill_cgroup_each(const char *path, void (*fn)(pid_t, void *), void *arg)
{
	struct each e = {fn, arg};

	each_below(path, each_of, &e);
}

static bool put(const char *path, const char *file, const char *text)
{
	char name[400];
	bool ok;
	int fd;

	snprintf(name, sizeof(name), "%s/%s", path, file);
	fd = open(name, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	ok = write(fd, text, strlen(text)) > 0;
	close(fd);
	return ok;
}

static void kill_one(pid_t pid, void *arg)
{
	int fd = drill_pidfd_open(pid);

	(void)arg;
	if (fd < 0)
		return;
	drill_pidfd_kill(fd, SIGKILL);
	close(fd);
}

/* A task frozen by v1 takes no SIGKILL until it is thawed. */
static void kill_here(const char *path, void *arg)
{
	(void)arg;
	each_here(path, kill_one, NULL);
	put(path, "freezer.state", "THAWED");
}

static void kill_all(const char *path)
{
	if (!put(path, "cgroup.kill", "1"))
		each_below(path, kill_here, NULL);
}

static void remove_here(const char *path, void *arg)
{
	if (rmdir(path) < 0 && errno != ENOENT)
		*(int *)arg = -errno;
}

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* Waits for the cgroup to tell that it changed; v1 tells nothing, so a tick. */
static void wait_change(const char *path)
{
	char name[400], buf[256];
	struct pollfd p = {.events = POLLPRI};

	snprintf(name, sizeof(name), "%s/cgroup.events", path);
	p.fd = open(name, O_RDONLY | O_CLOEXEC);
	if (p.fd >= 0 && read(p.fd, buf, sizeof(buf)) < 0)
		p.events = 0;
	poll(&p, 1, 2);
	if (p.fd >= 0)
		close(p.fd);
}

int drill_cgroup_remove(const char *path, int timeout_ms, struct drill_err *err)
{
	int64_t end = now_ms() + timeout_ms;
	int rc;

	for (;;) {
		if (access(path, F_OK) < 0)
			return 0;
		kill_all(path);
		rc = 0;
		each_below(path, remove_here, &rc);
		if (rc == 0)
			return 0;
		if (now_ms() >= end)
			return drill_err_errno(err, rc, who,
					       "cannot remove cgroup '%s'",
					       path);
		wait_change(path);
	}
}
