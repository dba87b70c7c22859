/* device_process.c - is the process of a fault there, and what does it wait for?
 * SPDX-License-Identifier: MIT
 *
 * As the kernel says, which knows nothing of pages and faults.
 */
#include "device.h"

#include "harness/agent/process.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

int drill_device_process(const struct drill_act *act, struct drill_err *err)
{
	struct drill_process p = act->target->process;
	int r = 0;

	/* A device is there without whoever used it. */
	if (p.pid > 0 && act->target->kind == DRILL_TARGET_RANK) {
		p.pidfd = -1;
		r = drill_process_find(&p, err);
		drill_process_close(&p);
	}
	return r;
}

uint64_t drill_device_mapped(pid_t pid, uint64_t dev, uint64_t ino)
{
	unsigned long long begin, offset, inode;
	unsigned int major_, minor_;
	uint64_t ret = 0;
	char path[64], line[512];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	f = fopen(path, "re");
	while (f && !ret && fgets(line, sizeof(line), f))
		if (sscanf(line, "%llx-%*x %*s %llx %x:%x %llu", &begin,
			   &offset, &major_, &minor_, &inode) == 5 &&
		    offset == 0 && inode == ino && makedev(major_, minor_) == dev)
			ret = begin;
	if (f)
		fclose(f);
	return ret;
}

/* "202 0x7f.. ..." of a thread: the number of its call, its first argument. */
static bool waits_at(pid_t pid, const char *tid, uint64_t futex)
{
	char path[400];
	unsigned long long arg = 0;
	long nr = -1;
	int n = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%.32s/syscall", (int)pid,
		 tid);
	f = fopen(path, "re");
	if (f) {
		n = fscanf(f, "%ld %llx", &nr, &arg);
		fclose(f);
	}
	return n == 2 && nr == SYS_futex && arg == futex;
}

int drill_device_waits(pid_t pid, uint64_t futex)
{
	char path[64];
	struct dirent *e;
	int r = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	if (!dir)
		return -ESRCH;
	while (!r && (e = readdir(dir)))
		r = e->d_name[0] != '.' && waits_at(pid, e->d_name, futex);
	closedir(dir);
	return r;
}
