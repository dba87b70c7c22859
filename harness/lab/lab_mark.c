/* lab_mark.c - the mark in a lab's directory: whose it is, and who made it
 * SPDX-License-Identifier: MIT
 */
#include "lab_mark.h"

#include "lab_dir.h"

#include "harness/agent/process.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

static const char who[] = "lab";

int drill_lab_mark_write(const char *dir, const char *mark, const char *cgroup,
			 struct drill_err *err)
{
	char path[320], text[512];
	int fd, n;

	n = snprintf(text, sizeof(text),
		     "%s\nowner %d %" PRIu64 " %s\ncgroup %.300s\n", mark,
		     (int)getpid(), drill_process_start(getpid()),
		     drill_boot_id(), cgroup);
	snprintf(path, sizeof(path), "%s/mark", dir);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444);
	if (fd < 0 || write(fd, text, (size_t)n) != n) {
		drill_err_errno(err, errno, who, "cannot write '%s'", path);
		if (fd >= 0) {
			unlink(path);
			close(fd);
		}
		return -EIO;
	}
	close(fd);
	return 0;
}

bool drill_lab_mark_read(const char *dir, struct drill_lab_mark *ret)
{
	char path[320], line[400];
	FILE *f;

	memset(ret, 0, sizeof(*ret));
	snprintf(path, sizeof(path), "%s/mark", dir);
	f = fopen(path, "re");
	if (!f)
		return false;
	if (fgets(line, sizeof(line), f))
		snprintf(ret->mark, sizeof(ret->mark), "%.*s",
			 (int)strcspn(line, "\n"), line);
	while (fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		if (strncmp(line, "cgroup ", 7) == 0)
			snprintf(ret->cgroup, sizeof(ret->cgroup), "%.299s",
				 line + 7);
		else if (sscanf(line, "owner %d %" SCNu64 " %39s", &ret->pid,
				&ret->start, ret->boot) != 3)
			ret->pid = 0;
	}
	fclose(f);
	return ret->mark[0] != '\0';
}

bool drill_lab_mark_owned(const struct drill_lab_mark *m)
{
	char state;

	if (m->pid <= 0)
		return true;
	if (strcmp(m->boot, drill_boot_id()) != 0 ||
	    drill_process_start(m->pid) != m->start)
		return false;
	state = drill_process_state(m->pid);
	return state && state != 'Z' && state != 'X';
}

int drill_lab_root_lock(struct drill_err *err)
{
	char root[128];
	int fd = open(drill_lab_root(root, sizeof(root)),
		      O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

	if (fd < 0)
		return drill_err_errno(err, errno, who, "cannot open '%s'",
				       root);
	while (flock(fd, LOCK_EX) < 0)
		if (errno != EINTR)
			break;
	return fd;
}
