/* device_map.c - finds a host's device page, checks it, and says who holds it
 * SPDX-License-Identifier: MIT
 */
#include "device_load.h"
#include "device_step.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAGE_BYTES sizeof(struct drill_device_page)

/* Of the page that was mapped last. */
static char page_path[PATH_MAX], wake_path[PATH_MAX];

static const char *wrong_file(int fd, struct statx *st)
{
	/* statx, for fstat is a younger symbol than a hook may need. */
	if (statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, st))
		return "cannot be looked at";
	if (!S_ISREG(st->stx_mode))
		return "is no regular file";
	if (st->stx_uid != geteuid() && st->stx_uid != 0)
		return "belongs to another user";
	if (st->stx_mode & 077)
		return "is open to others";
	if (st->stx_size != PAGE_BYTES)
		return "has the wrong size for this build";
	return NULL;
}

static const char *wrong_header(const struct drill_device_page *p,
				const struct statx *st)
{
	if (atomic_load_explicit(&p->magic, memory_order_acquire) !=
	    DRILL_DEVICE_MAGIC)
		return "is no device page";
	if (p->version != DRILL_DEVICE_VERSION)
		return "has another version than this build";
	if (p->size != PAGE_BYTES)
		return "has another layout than this build";
	if (p->owner != st->stx_uid || p->mode != (st->stx_mode & 07777u))
		return "has changed hands since it was made";
	return NULL;
}

static void remember(const char *path)
{
	const char *slash = strrchr(path, '/');

	snprintf(page_path, sizeof(page_path), "%s", path);
	snprintf(wake_path, sizeof(wake_path), "%.*s/wake",
		 slash ? (int)(slash - path) : 1, slash ? path : ".");
}

static int open_file(const char *path)
{
	return open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
}

struct drill_device_page *drill_device_map(const char *path, const char **why)
{
	struct drill_device_page *p = MAP_FAILED;
	struct statx st = { 0 };
	const char *wrong;
	int fd;

	*why = "";
	if (!path || !*path)
		return NULL;
	fd = open_file(path);
	if (fd < 0) {
		if (errno != ENOENT)
			*why = errno == ELOOP ? "is a symbolic link" :
						"cannot be opened";
		return NULL;
	}
	wrong = wrong_file(fd, &st);
	if (!wrong)
		p = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
			 fd, 0);
	close(fd);
	if (!wrong)
		wrong = p == MAP_FAILED ? "cannot be mapped" :
					  wrong_header(p, &st);
	if (!wrong) {
		remember(path);
		return p;
	}
	if (p != MAP_FAILED)
		munmap(p, PAGE_BYTES);
	*why = wrong;
	return NULL;
}

void drill_device_wake(void)
{
	int e = errno, fd;

	if (!*wake_path)
		return;
	/* Read and write: a FIFO without reader then neither blocks the open
	 * nor raises SIGPIPE. */
	fd = open(wake_path, O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
	if (fd >= 0) {
		if (write(fd, "d", 1) < 0)
			errno = e; /* full: the agent has been woken already */
		close(fd);
	}
	errno = e;
}

/* ---- who holds it ---- */

static struct flock record_of(int client)
{
	return (struct flock){
		.l_type = F_WRLCK,
		.l_whence = SEEK_SET,
		.l_start = (off_t)(offsetof(struct drill_device_page, client) +
				   sizeof(struct drill_device_client) *
					   (size_t)client),
		.l_len = 1,
	};
}

int drill_device_look(void)
{
	int e = errno, fd = *page_path ? open_file(page_path) : -1;

	errno = e;
	return fd;
}

/* The file that is held, as the kernel knows it. */
static struct statx held_file;

int drill_device_hold(int client)
{
	struct flock l = record_of(client);
	int e = errno, fd = drill_device_look();

	if (fd >= 0 && (fcntl(fd, F_OFD_SETLK, &l) ||
			statx(fd, "", AT_EMPTY_PATH, STATX_INO, &held_file))) {
		close(fd);
		fd = -1;
	}
	errno = e;
	return fd;
}

void drill_device_let_go(int fd)
{
	struct statx st;
	int e = errno;

	/* Who closes all files may have opened another one in its place. */
	if (fd >= 0 && !statx(fd, "", AT_EMPTY_PATH, STATX_INO, &st) &&
	    st.stx_ino == held_file.stx_ino &&
	    st.stx_dev_major == held_file.stx_dev_major &&
	    st.stx_dev_minor == held_file.stx_dev_minor)
		close(fd);
	errno = e;
}

bool drill_device_held(int look, int client)
{
	struct flock l = record_of(client);
	int e = errno;
	bool held = look < 0 || fcntl(look, F_OFD_GETLK, &l) ||
		    l.l_type != F_UNLCK;

	errno = e;
	return held;
}
