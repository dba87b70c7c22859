/* xid_log.c - writes a page's lines to a file or FIFO as the kernel's log
 * SPDX-License-Identifier: MIT
 *
 * What a line looks like follows from the page alone, so what an earlier agent
 * wrote beyond the last note can be compared with what is to come next: as much
 * of it as is there is not written again.
 */
#include "xid_log.h"

#include "device_step.h"
#include "xid_line.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WHO "xid_log"
#define TEXT_MAX 1024 /* of one line and its introduction; below PIPE_BUF */

struct place {
	uint64_t lines, bytes, said;
};

static int check_kind(struct drill_xid_log *l, struct drill_err *err)
{
	struct stat st;

	if (fstat(l->fd, &st))
		return drill_err_errno(err, errno, WHO, "'%s'", l->path);
	l->is_fifo = S_ISFIFO(st.st_mode);
	if (!l->is_fifo && !S_ISREG(st.st_mode))
		return drill_err_set(err, -EINVAL, WHO,
				     "'%s' is neither a file nor a FIFO",
				     l->path);
	return 0;
}

int drill_xid_log_open(struct drill_xid_log *l, struct drill_device_page *page,
		       const char *path, struct drill_err *err)
{
	int ret;

	memset(l, 0, sizeof(*l));
	l->fd = -1;
	l->page = page;
	if (snprintf(l->path, sizeof(l->path), "%s", path) >=
	    (int)sizeof(l->path))
		return drill_err_set(err, -ENAMETOOLONG, WHO,
				     "'%s' is too long a path", path);
	/* For reading too: a FIFO then neither waits for a reader nor raises
	 * SIGPIPE, and what is in a file already can be compared. */
	l->fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_NONBLOCK |
			   O_CLOEXEC | O_NOFOLLOW, 0600);
	if (l->fd < 0)
		return drill_err_errno(err, errno, WHO, "'%s'", path);
	ret = check_kind(l, err);
	if (ret)
		drill_xid_log_close(l);
	return ret;
}

void drill_xid_log_close(struct drill_xid_log *l)
{
	if (l->fd >= 0)
		close(l->fd);
	l->fd = -1;
}

static int newer(const struct drill_device_page *p)
{
	return atomic_load(&p->logged[1].lines) >
	       atomic_load(&p->logged[0].lines);
}

/* The page is not trusted: no more lines than there are. */
static struct place read_place(const struct drill_device_page *p)
{
	const struct drill_device_logged *g = &p->logged[newer(p)];
	uint64_t lines = atomic_load(&p->lines);
	struct place at = { atomic_load(&g->lines), atomic_load(&g->bytes),
			    atomic_load(&g->said) };

	if (at.lines > lines)
		at.lines = lines;
	return at;
}

static void note_place(struct drill_device_page *p, struct place at)
{
	struct drill_device_logged *g = &p->logged[!newer(p)];

	atomic_store(&g->bytes, at.bytes);
	atomic_store(&g->said, at.said);
	atomic_store(&g->lines, at.lines);
}

static void put_line(char *to, size_t *n, int64_t t_ns, const char *text)
{
	int64_t us = t_ns > 0 ? t_ns / 1000 : 0;

	if (*text)
		*n += (size_t)snprintf(to + *n, TEXT_MAX - *n,
				       "[%5lld.%06lld] %s\n",
				       (long long)(us / 1000000),
				       (long long)(us % 1000000), text);
}

static void introduce(const struct drill_device_page *p, unsigned int device,
		      int64_t t_ns, char *to, size_t *n)
{
	char first[128], serial[96];
	struct drill_device d;

	drill_device_read(p, device, &d);
	drill_xid_first(first, sizeof(first), serial, sizeof(serial),
			(struct drill_xid_place){ d.domain, d.bus, d.dev },
			d.uuid, d.serial);
	put_line(to, n, t_ns, first);
	put_line(to, n, t_ns, serial);
}

/* Line number @at->lines as it is to be written, nothing if it has no text. */
static size_t form(const struct drill_device_page *p, struct place *at,
		   const struct drill_device_line *l, char *to)
{
	char text[sizeof(l->text) + 1];
	size_t n = 0, k = 0;

	memcpy(text, l->text, sizeof(l->text));
	text[sizeof(l->text)] = '\0';
	if (*text && l->xid && l->device < DRILL_DEVICES &&
	    !(at->said >> l->device & 1)) {
		at->said |= 1ull << l->device;
		introduce(p, l->device, l->t_ns, to, &n);
	}
	/* What would end the line is made visible. */
	drill_xid_put(text, sizeof(text), &k, text);
	put_line(to, &n, l->t_ns, text);
	return n;
}

static bool read_line(const struct drill_device_page *p, uint64_t number,
		      struct drill_device_line *ret)
{
	const struct drill_device_line *l =
		&p->line[number % DRILL_DEVICE_LINES];

	if (atomic_load_explicit(&l->seq, memory_order_acquire) != number + 1)
		return false;
	memcpy(ret, l, sizeof(*ret));
	atomic_thread_fence(memory_order_acquire);
	return atomic_load_explicit(&l->seq, memory_order_relaxed) ==
	       number + 1;
}

/* How much of @text stands in the file already, behind the last note. */
static size_t there_already(const struct drill_xid_log *l, uint64_t at,
			    const char *text, size_t n)
{
	char seen[TEXT_MAX];
	ssize_t got;

	if (l->is_fifo || at > INT64_MAX)
		return 0;
	got = pread(l->fd, seen, n, (off_t)at);
	return got > 0 && !memcmp(seen, text, (size_t)got) ? (size_t)got : 0;
}

static int write_text(const struct drill_xid_log *l, const char *text,
		      size_t n)
{
	ssize_t w;

	while (n) {
		w = write(l->fd, text, n);
		if (w < 0 && errno == EINTR)
			continue;
		if (w < 0)
			return -errno;
		text += w;
		n -= (size_t)w;
	}
	return 0;
}

/* The next line; 1: written, 0: a full FIFO or a line that is being written. */
static int one_line(struct drill_xid_log *l, struct place *at,
		    struct drill_err *err)
{
	struct drill_device_line line;
	struct place next = *at;
	char text[TEXT_MAX];
	size_t n, have;
	int ret;

	if (!read_line(l->page, at->lines, &line))
		return 0;
	n = form(l->page, &next, &line, text);
	have = there_already(l, at->bytes, text, n);
	ret = write_text(l, text + have, n - have);
	if (ret == -EAGAIN)
		return 0;
	if (ret)
		return drill_err_errno(err, -ret, WHO, "'%s'", l->path);
	next.lines++;
	next.bytes = l->is_fifo ? 0 : (uint64_t)lseek(l->fd, 0, SEEK_END);
	note_place(l->page, next);
	*at = next;
	return 1;
}

/* The file as it is holds more than was noted when somebody else wrote to it,
 * less when somebody cut it: then the note follows the file. */
static void follow_file(const struct drill_xid_log *l, struct place *at)
{
	struct stat st;

	if (!l->is_fifo && !fstat(l->fd, &st) &&
	    (at->bytes > (uint64_t)st.st_size ||
	     (uint64_t)st.st_size - at->bytes > TEXT_MAX))
		at->bytes = (uint64_t)st.st_size;
}

int drill_xid_log_drain(struct drill_xid_log *l, uint64_t *lost,
			struct drill_err *err)
{
	struct place at = read_place(l->page);
	uint64_t lines = atomic_load(&l->page->lines), gap = 0;
	int ret = 1, n = 0;

	follow_file(l, &at);
	if (lines - at.lines > DRILL_DEVICE_LINES) {
		gap = lines - DRILL_DEVICE_LINES - at.lines;
		at.lines += gap;
		note_place(l->page, at); /* told once */
	}
	if (lost)
		*lost = gap;
	while (ret == 1 && at.lines < lines) {
		ret = one_line(l, &at, err);
		n += ret == 1;
	}
	return ret < 0 ? ret : n;
}

int drill_xid_kmsg_may(bool disruptive, bool lab_is_netns,
		       struct drill_err *err)
{
	if (lab_is_netns)
		return drill_err_set(err, -EPERM, WHO,
				     "never to the kernel's log in lab netns: "
				     "it is this machine's own");
	if (!disruptive)
		return drill_err_set(err, -EPERM, WHO,
				     "the kernel's log is the whole machine's: "
				     "it needs --allow disruptive");
	return 0;
}

/* User space is not facility kern, so journald takes the first "word:" for the
 * name of the program: the line's own must come behind it. */
int drill_xid_kmsg(const char *device, const char *line, struct drill_err *err)
{
	char text[TEXT_MAX], clean[TEXT_MAX - 16];
	int ret = 0, fd, n;
	size_t k = 0;

	drill_xid_put(clean, sizeof(clean), &k, line);
	clean[k] = '\0';
	fd = open(device, O_WRONLY | O_APPEND | O_NONBLOCK | O_CLOEXEC |
			  O_NOFOLLOW);
	if (fd < 0)
		return drill_err_errno(err, errno, WHO, "'%s'", device);
	n = snprintf(text, sizeof(text), "<3>NVRM: %s\n", clean);
	errno = 0;
	if (write(fd, text, (size_t)n) != n)
		ret = drill_err_errno(err, errno ? errno : EIO, WHO, "'%s'",
				      device);
	close(fd);
	return ret;
}
