/* lock.c - one drill a host: a lock at a fixed place, whatever --state says
 * SPDX-License-Identifier: MIT
 *
 * flock, not fcntl: it belongs to the open file, so the keeper that inherits
 * the descriptor goes on holding it while it reverts for a dead agent.
 */
#include "lock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const char who[] = "lock";

/* A directory of ours: in /tmp somebody else may have made one to catch us. */
static int make_dir(const char *path, struct drill_err *err)
{
	struct stat st;

	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return drill_err_errno(err, errno, who, "cannot make '%s'",
				       path);
	if (lstat(path, &st) < 0 || !S_ISDIR(st.st_mode) ||
	    st.st_uid != geteuid())
		return drill_err_set(err, -EPERM, who,
				     "'%s' is not a directory of ours", path);
	return 0;
}

static int lock_dir(char *buf, int size, struct drill_err *err)
{
	const char *run = getenv("XDG_RUNTIME_DIR");
	int rc, n;

	if (geteuid() == 0)
		n = snprintf(buf, size, "/run/faultdrill");
	else if (run && run[0] == '/')
		n = snprintf(buf, size, "%s/faultdrill", run);
	else
		n = snprintf(buf, size, "/tmp/faultdrill-%u", geteuid());
	if (n + (int)sizeof("/lock") > size)
		return drill_err_set(err, -ENAMETOOLONG, who,
				     "$XDG_RUNTIME_DIR is too long");
	rc = make_dir(buf, err);
	if (rc < 0)
		return rc;
	snprintf(buf + n, size - n, "/lock");
	return make_dir(buf, err);
}

static int held_by(int fd, const char *name, struct drill_err *err)
{
	char holder[256];
	ssize_t n = pread(fd, holder, sizeof(holder) - 1, 0);

	holder[n > 0 ? n : 0] = 0;
	holder[strcspn(holder, "\n")] = 0;
	return drill_err_set(err, -EBUSY, who, "'%s' is in use by %s", name,
			     holder[0] ? holder : "another drill");
}

static int lock_path(const char *name, char *buf, int size,
		     struct drill_err *err)
{
	char dir[200];
	int rc;

	if (!name[0] || name[0] == '.' || strchr(name, '/'))
		return drill_err_set(err, -EINVAL, who, "bad name '%s'", name);
	rc = lock_dir(dir, sizeof(dir), err);
	if (rc == 0)
		snprintf(buf, size, "%s/%s", dir, name);
	return rc;
}

/* Does @path still lead to what @fd has open? Its holder removes it at its end,
 * perhaps between our open and our lock. */
static bool still_there(const char *path, int fd)
{
	struct stat a, b;

	return stat(path, &a) == 0 && fstat(fd, &b) == 0 &&
	       a.st_ino == b.st_ino && a.st_dev == b.st_dev;
}

/* Shared by all who take a lock, alone for who sweeps: a file is looked at by
 * one of them at a time. */
static int hold_dir(int how)
{
	char dir[200];
	int fd;

	if (lock_dir(dir, sizeof(dir), NULL) < 0)
		return -1;
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	while (fd >= 0 && flock(fd, how) < 0)
		if (errno != EINTR)
			break;
	return fd;
}

static int open_locked(const char *name, const char *path,
		       struct drill_err *err)
{
	int fd, rc;

	for (;;) {
		fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW,
			  0600);
		if (fd < 0)
			return drill_err_errno(err, errno, who,
					       "cannot open '%s'", path);
		if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
			rc = held_by(fd, name, err);
			close(fd);
			return rc;
		}
		if (still_there(path, fd))
			return fd;
		close(fd);
	}
}

int drill_lock_take(const char *name, const char *what, int *ret_fd,
		    struct drill_err *err)
{
	char path[512];
	int fd, dir, rc = lock_path(name, path, sizeof(path), err);

	if (rc < 0)
		return rc;
	dir = hold_dir(LOCK_SH);
	fd = open_locked(name, path, err);
	if (dir >= 0)
		close(dir);
	if (fd < 0)
		return fd;
	if (ftruncate(fd, 0) < 0 || dprintf(fd, "%s\n", what) < 0)
		/* Only the text for people is missing; the lock holds. */
		(void)!ftruncate(fd, 0);
	*ret_fd = fd;
	return 0;
}

void drill_lock_drop(const char *name, int fd)
{
	char path[512];

	if (fd < 0)
		return;
	if (lock_path(name, path, sizeof(path), NULL) == 0 &&
	    still_there(path, fd))
		unlink(path);
	close(fd);
}

/* A file that nobody holds. */
static void sweep_file(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

	if (fd < 0)
		return;
	if (flock(fd, LOCK_EX | LOCK_NB) == 0)
		unlinkat(dir, name, 0);
	close(fd);
}

void drill_lock_sweep(void)
{
	int fd = hold_dir(LOCK_EX);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;

	while (d && (e = readdir(d)))
		if (e->d_name[0] != '.')
			sweep_file(fd, e->d_name);
	if (d)
		closedir(d);
	else if (fd >= 0)
		close(fd);
}

/* What lies in a file that somebody holds; NULL: nobody does. */
static json_t *held_text(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW |
				   O_NONBLOCK);
	bool held = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0;
	char text[4096];
	ssize_t n = held ? pread(fd, text, sizeof(text), 0) : -1;

	if (fd >= 0)
		close(fd);
	while (n > 0 && text[n - 1] == '\n')
		n--;
	return n < 0 ? NULL : json_stringn(text, (size_t)n);
}

json_t *drill_lock_held(const char *prefix)
{
	json_t *ret = json_array(), *text;
	int fd = hold_dir(LOCK_EX);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;

	while (d && (e = readdir(d))) {
		if (strncmp(e->d_name, prefix, strlen(prefix)) != 0)
			continue;
		text = held_text(fd, e->d_name);
		if (text)
			json_array_append_new(ret, text);
	}
	if (d)
		closedir(d);
	else if (fd >= 0)
		close(fd);
	return ret;
}
