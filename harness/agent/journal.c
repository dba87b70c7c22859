/* journal.c - the file of undo records: allocated, locked, durable
 * SPDX-License-Identifier: MIT
 */
#include "journal_file.h"

#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>

static const char who[] = "journal";

#define FILE_BYTES ((off_t)DRILL_SLOTS * DRILL_SLOT_BYTES)

const char *drill_state_dir(const char *option, char *buf, int size)
{
	const char *xdg = getenv("XDG_STATE_HOME"), *home = getenv("HOME");

	if (option && option[0])
		snprintf(buf, size, "%s", option);
	else if (geteuid() == 0)
		snprintf(buf, size, "/var/lib/faultdrill");
	else if (xdg && xdg[0] == '/')
		snprintf(buf, size, "%s/faultdrill", xdg);
	else
		snprintf(buf, size, "%s/.local/state/faultdrill",
			 home ? home : "");
	return buf;
}

static void boundary(const struct drill_journal *j, const char *name)
{
	if (j->boundary)
		j->boundary(name);
}

/* mkdir -p */
static int make_dirs(char *path, struct drill_err *err)
{
	char *p = path;

	do {
		p = strchr(p + 1, '/');
		if (p)
			*p = 0;
		if (mkdir(path, 0700) < 0 && errno != EEXIST)
			return drill_err_errno(err, errno, who,
					       "cannot make '%s'", path);
		if (p)
			*p = '/';
	} while (p);
	return 0;
}

static int sync_dir(const char *path)
{
	char dir[512];
	int fd, rc;

	snprintf(dir, sizeof(dir), "%s", path);
	*strrchr(dir, '/') = 0;
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	rc = fsync(fd) < 0 ? -errno : 0;
	close(fd);
	return rc;
}

/* Real zeros, not only blocks: then no write of a record can meet a full
 * filesystem, not even on one that copies on write badly. */
static int fill(int fd)
{
	static const char zeros[DRILL_SLOT_BYTES];
	int i;

	i = posix_fallocate(fd, 0, FILE_BYTES);
	if (i)
		return -i;
	for (i = 0; i < DRILL_SLOTS; i++)
		if (pwrite(fd, zeros, sizeof(zeros),
			   (off_t)i * DRILL_SLOT_BYTES) != sizeof(zeros))
			return errno ? -errno : -ENOSPC;
	return 0;
}

static int range_lock(int fd, off_t start, off_t len)
{
	struct flock l = { .l_type = F_WRLCK,
			   .l_whence = SEEK_SET,
			   .l_start = start,
			   .l_len = len };

	if (fcntl(fd, F_OFD_SETLK, &l) == 0)
		return 0;
	return errno == EACCES || errno == EAGAIN ? -EBUSY : -errno;
}

int drill_journal_lock(struct drill_journal *j, int64_t timeout_ns,
		       struct drill_err *err)
{
	struct timespec pause = { .tv_nsec = 1000000 };
	int64_t waited = 0;
	int rc;

	/* No lock with a time limit exists; the wait is for a process that has
	 * just been killed, so it is short. */
	while ((rc = range_lock(j->fd, DRILL_SLOT_BYTES,
				FILE_BYTES - DRILL_SLOT_BYTES)) == -EBUSY &&
	       waited < timeout_ns) {
		nanosleep(&pause, NULL);
		waited += pause.tv_nsec;
	}
	if (rc < 0)
		return drill_err_set(err, rc, who, "'%s' is locked", j->stem);
	return 0;
}

int drill_journal_lock_keeper(struct drill_journal *j, struct drill_err *err)
{
	int rc = range_lock(j->fd, 0, 1);

	if (rc < 0)
		return drill_err_set(err, rc, who, "'%s' has a keeper",
				     j->stem);
	return 0;
}

bool drill_journal_busy(const struct drill_journal *j)
{
	struct flock l = { .l_type = F_WRLCK,
			   .l_whence = SEEK_SET,
			   .l_len = FILE_BYTES };

	return fcntl(j->fd, F_OFD_GETLK, &l) == 0 && l.l_type != F_UNLCK;
}

void drill_journal_fence(struct drill_journal *j)
{
	j->epoch = atomic_fetch_add(&j->lease->epoch, 1) + 1;
}

static struct drill_journal *journal_new(const char *path)
{
	struct drill_journal *j = calloc(1, sizeof(*j));
	const char *base;

	if (!j)
		return NULL;
	j->fd = -1;
	j->hold_fd = -1;
	snprintf(j->path, sizeof(j->path), "%s", path);
	base = strrchr(path, '/') + 1;
	snprintf(j->stem, sizeof(j->stem), "%.*s",
		 (int)(strlen(base) - strlen(".journal")), base);
	return j;
}

void drill_journal_detach(struct drill_journal *j)
{
	int i;

	if (!j)
		return;
	for (i = 0; i < DRILL_SLOTS; i++)
		drill_record_free(j->slot[i]);
	if (j->lease)
		munmap(j->lease, DRILL_SLOT_BYTES);
	if (j->fd >= 0)
		close(j->fd);
	free(j);
}

static int map_lease(struct drill_journal *j, struct drill_err *err)
{
	void *p = mmap(NULL, DRILL_SLOT_BYTES, PROT_READ | PROT_WRITE,
		       MAP_SHARED, j->fd, 0);

	if (p == MAP_FAILED)
		return drill_err_errno(err, errno, who, "cannot map '%s'",
				       j->path);
	/* A mapping in a forked child would keep our locks alive after us. */
	madvise(p, DRILL_SLOT_BYTES, MADV_DONTFORK);
	j->lease = p;
	return 0;
}

/* Under a hidden name until it is whole and locked: whoever lists journals
 * never sees one that has no holder yet. */
static int prepare(struct drill_journal *j, const char *run, const char *host,
		   struct drill_err *err)
{
	int rc = range_lock(j->fd, DRILL_SLOT_BYTES,
			    FILE_BYTES - DRILL_SLOT_BYTES);

	if (rc == 0)
		rc = fill(j->fd);
	if (rc == -ENOSPC || rc == -EDQUOT)
		return drill_err_set(err, -ENOSPC, who,
				     "no room for the undo records in '%s': "
				     "free %d KiB there, or choose another "
				     "--state",
				     j->path, (int)(FILE_BYTES / 1024));
	if (rc < 0)
		return drill_err_errno(err, -rc, who, "cannot fill '%s'",
				       j->path);
	rc = map_lease(j, err);
	if (rc < 0)
		return rc;
	drill_lease_init(j->lease, run, host, 0);
	j->epoch = 1;
	if (fsync(j->fd) < 0)
		return drill_err_errno(err, errno, who, "cannot sync '%s'",
				       j->path);
	return 0;
}

/* Gives it its name. A keeper that took over leaves its closed records to be
 * read, so a name may be taken; then a number is added. */
static int publish(struct drill_journal *j, const char *dir, const char *run,
		   const char *host, struct drill_err *err)
{
	char temp[512];
	int i, rc = -1;

	snprintf(temp, sizeof(temp), "%s", j->path);
	for (i = 1; i < 100 && rc < 0; i++) {
		if (i == 1)
			snprintf(j->stem, sizeof(j->stem), "%s.%s", run, host);
		else
			snprintf(j->stem, sizeof(j->stem), "%s.%s.%d", run,
				 host, i);
		snprintf(j->path, sizeof(j->path), "%.300s/%s.journal", dir,
			 j->stem);
		rc = link(temp, j->path);
		if (rc < 0 && errno != EEXIST)
			break;
	}
	if (rc < 0)
		drill_err_errno(err, errno, who, "cannot create '%s'", j->path);
	unlink(temp);
	if (rc == 0 && (rc = sync_dir(j->path)) < 0)
		drill_err_errno(err, -rc, who, "cannot sync '%s'", dir);
	return rc < 0 ? err ? err->code : -EIO : 0;
}

/* A name that cannot leave the directory. */
static bool good_name(const char *s)
{
	return s[0] && s[0] != '.' && !strchr(s, '/') && strlen(s) < 64;
}

static int create(const char *dir, const char *host, struct drill_journal **ret,
		  struct drill_err *err)
{
	char path[512];
	int fd;

	snprintf(path, sizeof(path), "%s/.%s.%d.new", dir, host, (int)getpid());
	unlink(path); /* of a dead process that had our pid */
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return drill_err_errno(err, errno, who, "cannot create '%s'",
				       path);
	*ret = journal_new(path);
	if (!*ret) {
		close(fd);
		return drill_err_set(err, -ENOMEM, who, "out of memory");
	}
	(*ret)->fd = fd;
	return 0;
}

int drill_journal_open(const char *state_dir, const char *run, const char *host,
		       struct drill_journal **ret, struct drill_err *err)
{
	struct drill_journal *j = NULL;
	char dir[300];
	int rc;

	if (!good_name(run) || !good_name(host))
		return drill_err_set(err, -EINVAL, who, "bad name '%s.%s'", run,
				     host);
	if (snprintf(dir, sizeof(dir), "%s/journal", state_dir) >=
	    (int)sizeof(dir))
		return drill_err_set(err, -ENAMETOOLONG, who,
				     "the state directory's name is too long");
	rc = make_dirs(dir, err);
	if (rc == 0)
		rc = create(dir, host, &j, err);
	if (rc < 0)
		return rc;
	rc = prepare(j, run, host, err);
	if (rc == 0)
		rc = publish(j, dir, run, host, err);
	if (rc < 0) {
		unlink(j->path);
		drill_journal_detach(j);
		return rc;
	}
	*ret = j;
	return 0;
}

int drill_journal_attach(const char *path, struct drill_journal **ret,
			 struct drill_err *err)
{
	struct drill_journal *j = journal_new(path);
	struct stat st;
	int rc = 0;

	if (!j)
		return drill_err_set(err, -ENOMEM, who, "out of memory");
	j->fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	if (j->fd < 0 || fstat(j->fd, &st) < 0)
		rc = drill_err_errno(err, errno, who, "cannot open '%s'", path);
	else if (st.st_size != FILE_BYTES)
		rc = drill_err_set(err, -EUCLEAN, who,
				   "'%s' is cut short: what it held is unknown",
				   path);
	else
		rc = map_lease(j, err);
	if (rc < 0) {
		drill_journal_detach(j);
		return rc;
	}
	j->epoch = atomic_load(&j->lease->epoch);
	*ret = j;
	return 0;
}

static int read_slot(struct drill_journal *j, int i, struct drill_err *err)
{
	char slot[DRILL_SLOT_BYTES] = { 0 };
	struct drill_record *r = calloc(1, sizeof(*r));
	ssize_t n;

	if (!r)
		return drill_err_set(err, -ENOMEM, who, "out of memory");
	n = pread(j->fd, slot, sizeof(slot), (off_t)i * DRILL_SLOT_BYTES);
	if (n < 0) {
		free(r);
		return drill_err_errno(err, errno, who, "cannot read '%s'",
				       j->path);
	}
	drill_record_decode(slot, r);
	if (r->state == DRILL_RECORD_FREE) {
		free(r);
		return 0;
	}
	r->journal = j;
	r->slot = i;
	snprintf(r->id, sizeof(r->id), "%s.%" PRId64, j->stem,
		 r->doc ? (int64_t)json_integer_value(
				  json_object_get(r->doc, "seq"))
			: -(int64_t)i);
	j->slot[i] = r;
	return 0;
}

int drill_journal_read(struct drill_journal *j, struct drill_err *err)
{
	int i, rc = 0;

	for (i = 1; i < DRILL_SLOTS && rc == 0; i++) {
		drill_record_free(j->slot[i]);
		rc = read_slot(j, i, err);
	}
	return rc;
}

bool drill_journal_has_work(const struct drill_journal *j)
{
	int i;

	for (i = 1; i < DRILL_SLOTS; i++)
		if (j->slot[i] && j->slot[i]->state != DRILL_RECORD_CLOSED)
			return true;
	return false;
}

int drill_journal_forget(struct drill_journal *j, int slot,
			 struct drill_err *err)
{
	static const char zeros[DRILL_SLOT_BYTES];

	if (pwrite(j->fd, zeros, sizeof(zeros),
		   (off_t)slot * DRILL_SLOT_BYTES) != sizeof(zeros) ||
	    fdatasync(j->fd) < 0)
		return drill_err_errno(err, errno, who, "cannot write '%s'",
				       j->path);
	drill_record_free(j->slot[slot]);
	return 0;
}

int drill_journal_remove(struct drill_journal *j, struct drill_err *err)
{
	if (unlink(j->path) < 0 && errno != ENOENT)
		return drill_err_errno(err, errno, who, "cannot remove '%s'",
				       j->path);
	return sync_dir(j->path);
}

void drill_journal_close(struct drill_journal *j)
{
	if (!j)
		return;
	/* Fenced: whoever took over decides about the file. */
	if (!drill_journal_has_work(j) &&
	    atomic_load(&j->lease->epoch) == j->epoch)
		drill_journal_remove(j, NULL);
	drill_journal_detach(j);
}

static json_t *new_doc(const struct drill_journal *j,
		       const struct drill_record_info *info, const char *mark)
{
	return json_pack(
		"{s:I,s:s,s:s,s:s,s:s,s:s,s:s,s:i,s:I,s:b,s:i,s:I,s:s,s:i,s:I}",
		"seq", (json_int_t)j->seq, "run", j->lease->run, "host",
		j->lease->host, "kind", info->kind, "fault",
		info->fault ? info->fault : "", "target",
		info->target ? info->target : "", "mark", mark, "survives",
		(int)info->survives, "deadline_ns",
		(json_int_t)info->deadline_boot_ns, "keep", (int)info->keep,
		"pid", (int)info->process.pid, "start",
		(json_int_t)info->process.start, "boot_id",
		info->process.boot_id[0] ? info->process.boot_id
					 : drill_boot_id(),
		"holder_pid", j->lease->holder_pid, "holder_start",
		(json_int_t)j->lease->holder_start);
}

int drill_record_new(struct drill_journal *j,
		     const struct drill_record_info *info,
		     struct drill_record **ret, struct drill_err *err)
{
	struct drill_record *r;
	int i;

	for (i = 1; i < DRILL_SLOTS && j->slot[i]; i++)
		;
	if (i == DRILL_SLOTS)
		return drill_err_set(err, -ENOSPC, who,
				     "%d records are open: no slot is free",
				     DRILL_SLOTS - 1);
	r = calloc(1, sizeof(*r));
	if (!r)
		return drill_err_set(err, -ENOMEM, who, "out of memory");
	r->journal = j;
	r->slot = i;
	r->state = DRILL_RECORD_OPEN;
	j->seq++;
	snprintf(r->id, sizeof(r->id), "%s.%" PRIu64, j->stem, j->seq);
	snprintf(r->mark, sizeof(r->mark), "fd%08x-%" PRIu64,
		 (unsigned int)XXH64(j->stem, strlen(j->stem), 0), j->seq);
	r->doc = new_doc(j, info, r->mark);
	if (!r->doc) {
		free(r);
		return drill_err_set(err, -EINVAL, who, "bad text in a record");
	}
	j->slot[i] = r;
	*ret = r;
	return 0;
}

static int check_fence(const struct drill_journal *j, struct drill_err *err)
{
	if (atomic_load(&j->lease->epoch) == j->epoch)
		return 0;
	return drill_err_set(err, -ESTALE, who,
			     "fenced: another process has taken over");
}

int drill_record_commit(struct drill_record *r, struct drill_err *err)
{
	struct drill_journal *j = r->journal;
	char slot[DRILL_SLOT_BYTES];
	int rc;

	rc = check_fence(j, err);
	if (rc == 0)
		rc = drill_record_encode(r, slot, err);
	if (rc < 0)
		return rc;
	boundary(j, "record");
	if (pwrite(j->fd, slot, sizeof(slot),
		   (off_t)r->slot * DRILL_SLOT_BYTES) != sizeof(slot) ||
	    fdatasync(j->fd) < 0)
		return drill_err_errno(err, errno, who, "cannot write '%s'",
				       j->path);
	boundary(j, "fsync");
	/* We may have been stopped during the sync for longer than the lease. */
	return check_fence(j, err);
}

int drill_record_end(struct drill_record *r, enum drill_record_state state,
		     const char *reason, struct drill_err *err)
{
	int rc;

	if (!r->doc) { /* torn: nothing to write, only a person can end it */
		return drill_err_set(err, -EUCLEAN, who, "'%s' is torn", r->id);
	}
	r->state = state;
	json_object_set_new(r->doc, "reason",
			    json_string(reason ? reason : ""));
	rc = drill_record_commit(r, err);
	if (rc == 0 && state == DRILL_RECORD_CLOSED)
		drill_record_free(r);
	return rc;
}

static int remember(struct drill_record *r, const char *name, int fd,
		    struct drill_err *err)
{
	int own = fcntl(fd, F_DUPFD_CLOEXEC, 3);

	if (own < 0 || r->n_held == DRILL_HELD) {
		if (own >= 0)
			close(own);
		return drill_err_set(err, -EMFILE, who,
				     "no room to hold a descriptor");
	}
	snprintf(r->held[r->n_held].name, sizeof(r->held[0].name), "%s", name);
	r->held[r->n_held++].fd = own;
	return 0;
}

int drill_record_hold(struct drill_record *r, const char *name, int fd,
		      struct drill_err *err)
{
	struct drill_hold_message m = { .slot = r->slot };
	union {
		struct cmsghdr h;
		char room[CMSG_SPACE(sizeof(int))];
	} c = { .h = { .cmsg_len = CMSG_LEN(sizeof(int)),
		       .cmsg_level = SOL_SOCKET,
		       .cmsg_type = SCM_RIGHTS } };
	struct iovec v = { &m, sizeof(m) };
	struct msghdr h = { .msg_iov = &v,
			    .msg_iovlen = 1,
			    .msg_control = &c,
			    .msg_controllen = sizeof(c) };
	int rc = remember(r, name, fd, err);

	if (rc < 0 || r->journal->hold_fd < 0)
		return rc;
	snprintf(m.name, sizeof(m.name), "%s", name);
	memcpy(CMSG_DATA(&c.h), &fd, sizeof(fd));
	if (sendmsg(r->journal->hold_fd, &h, MSG_NOSIGNAL) < 0)
		return drill_err_errno(err, errno, who,
				       "cannot give a descriptor to the keeper");
	return 0;
}
