/* shard.c - files of a checkpoint: shares with their hash, and the manifest
 * SPDX-License-Identifier: MIT
 *
 * STORE/ckpt/step-00000025/ holds shard-00000 ... and, once committed,
 * manifest: lines of text, the last one the hash of those before. Every file is
 * written under another name, synced, renamed, and its folder synced.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "train.h"

#define MANIFEST_MAX (1 << 20)
#define SHARDS_MAX 65536

struct head {
	char magic[8];
	uint32_t version, shard, shards, zero;
	int64_t step;
	uint64_t first, count, hash;
	uint64_t self; /* hash of the fields before */
};

uint64_t train_hash(const void *data, size_t bytes)
{
	return XXH3_64bits(data, bytes);
}

void ckpt_dir(char *out, size_t size, int64_t step)
{
	snprintf(out, size, "%s/ckpt/step-%08" PRId64, train.o.store, step);
}

void ckpt_shard_path(char *out, size_t size, int64_t step, int shard)
{
	snprintf(out, size, "%s/ckpt/step-%08" PRId64 "/shard-%05d",
		 train.o.store, step, shard);
}

/* Every folder on the way. */
static int make_folders(char *path)
{
	char *p;

	for (p = path + 1; *p; p++) {
		if (*p != '/')
			continue;
		*p = 0;
		if (mkdir(path, 0755) && errno != EEXIST)
			return -errno;
		*p = '/';
	}
	return 0;
}

void store_open(void)
{
	char path[PATH_MAX];
	int rc;

	snprintf(path, sizeof(path), "%s/data/", train.o.store);
	rc = make_folders(path);
	snprintf(path, sizeof(path), "%s/ckpt/", train.o.store);
	if (!rc)
		rc = make_folders(path);
	if (rc)
		train_die(TRAIN_FAILED, "--store %s: %s", train.o.store,
			  strerror(-rc));
}

static int write_all(int fd, const void *data, size_t n)
{
	const char *p = data;

	while (n) {
		ssize_t k = write(fd, p, n);

		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			return k ? -errno : -EIO;
		p += k;
		n -= (size_t)k;
	}
	return 0;
}

static int read_all(int fd, void *data, size_t n)
{
	char *p = data;

	while (n) {
		ssize_t k = read(fd, p, n);

		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			return k ? -errno : -EBADMSG; /* it is too short */
		p += k;
		n -= (size_t)k;
	}
	return 0;
}

static int sync_parent(const char *path)
{
	char dir[PATH_MAX];
	const char *slash = strrchr(path, '/');
	int fd, rc = 0;

	snprintf(dir, sizeof(dir), "%.*s", (int)(slash - path), path);
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fsync(fd))
		rc = -errno;
	close(fd);
	return rc;
}

/* Two pieces into a file that is there whole or not at all. */
static int put_file(const char *path, const void *a, size_t na, const void *b,
		    size_t nb, int64_t manifest_of)
{
	char tmp[PATH_MAX];
	int fd, rc;

	if (snprintf(tmp, sizeof(tmp), "%s.tmp", path) >= PATH_MAX)
		return -ENAMETOOLONG;
	fd = open(tmp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0)
		return -errno;
	rc = write_all(fd, a, na);
	if (!rc)
		rc = write_all(fd, b, nb);
	if (!rc && fsync(fd))
		rc = -errno;
	if (close(fd) && !rc)
		rc = -errno;
	if (!rc && manifest_of)
		faultdrill_checkpoint_before_rename(train.ring, manifest_of);
	if (!rc && rename(tmp, path))
		rc = -errno;
	return rc ? rc : sync_parent(path);
}

int shard_write(int64_t step, int shard, int shards, uint64_t first,
		uint64_t count, const float *data, uint64_t *hash)
{
	struct head h = { "FDTRCKPT", 1, (uint32_t)shard, (uint32_t)shards, 0,
			  step, first, count, 0, 0 };
	char dir[PATH_MAX], path[PATH_MAX];

	ckpt_dir(dir, sizeof(dir), step);
	if (mkdir(dir, 0755) && errno != EEXIST)
		return -errno;
	h.hash = *hash = train_hash(data, count * sizeof(float));
	h.self = train_hash(&h, offsetof(struct head, self));
	ckpt_shard_path(path, sizeof(path), step, shard);
	return put_file(path, &h, sizeof(h), data, count * sizeof(float), 0);
}

/* Opens a shard whose header is sound. */
static int shard_open(int64_t step, int shard, struct head *h)
{
	char path[PATH_MAX];
	int fd, rc;

	ckpt_shard_path(path, sizeof(path), step, shard);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	rc = read_all(fd, h, sizeof(*h));
	if (!rc && (memcmp(h->magic, "FDTRCKPT", 8) || h->version != 1 ||
		    h->shard != (uint32_t)shard || h->step != step ||
		    h->self != train_hash(h, offsetof(struct head, self))))
		rc = -EBADMSG;
	if (!rc)
		return fd;
	close(fd);
	return rc;
}

int shard_read(const struct manifest *f, int shard, float *out, char *why)
{
	const struct manifest_shard *s = &f->shard[shard];
	struct head h;
	int fd = shard_open(f->step, shard, &h), rc = fd < 0 ? fd : 0;

	if (!rc && (h.first != s->first || h.count != s->count ||
		    h.hash != s->hash))
		rc = -EBADMSG;
	if (!rc)
		rc = read_all(fd, out, s->count * sizeof(float));
	if (!rc && train_hash(out, s->count * sizeof(float)) != s->hash)
		rc = -EBADMSG;
	if (fd >= 0)
		close(fd);
	if (rc)
		snprintf(why, 64, "shard %d: %s", shard,
			 rc == -EBADMSG ? "damaged" : strerror(-rc));
	return rc;
}

/* The shares' hashes are taken from their files, which all are durable. */
int manifest_write(int64_t step, struct sampler s, int shards, uint64_t floats)
{
	char dir[PATH_MAX], path[PATH_MAX + 16], *text = NULL;
	struct head h;
	size_t size;
	FILE *o = open_memstream(&text, &size);
	int i, fd, rc = 0;

	if (!o)
		return -ENOMEM;
	fprintf(o, "faultdrill-train-checkpoint 1\nstep %" PRId64
		   "\nfloats %" PRIu64 "\nsampler %" PRIu64 " %" PRId64
		   "\ndevice %s\nshards %d\n",
		step, floats, s.seed, s.next, device_name, shards);
	for (i = 0; i < shards && !rc; i++) {
		fd = shard_open(step, i, &h);
		rc = fd < 0 ? fd : 0;
		if (fd >= 0)
			close(fd);
		fprintf(o, "shard %d %" PRIu64 " %" PRIu64 " %016" PRIx64 "\n",
			i, h.first, h.count, h.hash);
	}
	fflush(o);
	fprintf(o, "end %016" PRIx64 "\n", train_hash(text, size));
	fclose(o);
	ckpt_dir(dir, sizeof(dir), step);
	snprintf(path, sizeof(path), "%s/manifest", dir);
	if (!rc)
		rc = put_file(path, text, size, NULL, 0, step);
	free(text);
	return rc;
}

/* The whole file; cut before its last line, whose hash must be right. */
static int manifest_text(int64_t step, char **out)
{
	char dir[PATH_MAX], path[PATH_MAX + 16], *text, *end;
	uint64_t hash;
	ssize_t n;
	int fd, rc = -EBADMSG;

	ckpt_dir(dir, sizeof(dir), step);
	snprintf(path, sizeof(path), "%s/manifest", dir);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	text = malloc(MANIFEST_MAX + 1);
	n = text ? read(fd, text, MANIFEST_MAX) : -1;
	if (n < 0)
		rc = -errno;
	close(fd);
	if (n > 0) {
		text[n] = 0;
		end = strstr(text, "\nend ");
		if (end && strlen(text) == (size_t)n &&
		    sscanf(end, "\nend %16" SCNx64, &hash) == 1 &&
		    train_hash(text, (size_t)(end + 1 - text)) == hash) {
			end[1] = 0;
			*out = text;
			return 0;
		}
	}
	free(text);
	return rc;
}

/* The shares must cover 0 to floats, in order. */
static bool shard_lines(struct manifest *f, const char *p)
{
	uint64_t at = 0;
	int i, n, number;

	for (i = 0; i < f->shards; i++) {
		struct manifest_shard *s = &f->shard[i];

		if (sscanf(p, " shard %d %" SCNu64 " %" SCNu64 " %" SCNx64 "%n",
			   &number, &s->first, &s->count, &s->hash, &n) != 4 ||
		    number != i || s->first != at ||
		    s->count > f->floats - at)
			return false;
		at += s->count;
		p += n;
	}
	return at == f->floats;
}

int manifest_read(int64_t step, struct manifest *f, char *why)
{
	char *text = NULL;
	int n = 0, rc;

	*f = (struct manifest){ 0 };
	rc = manifest_text(step, &text);
	if (!rc && (sscanf(text, "faultdrill-train-checkpoint 1 step %" SCNd64
			   " floats %" SCNu64 " sampler %" SCNu64 " %" SCNd64
			   " device %*[^\n] shards %d%n",
			   &f->step, &f->floats, &f->sampler.seed,
			   &f->sampler.next, &f->shards, &n) != 5 ||
		    f->step != step || f->shards < 1 || f->shards > SHARDS_MAX))
		rc = -EBADMSG;
	if (!rc)
		f->shard = calloc((size_t)f->shards, sizeof(*f->shard));
	if (!rc && (!f->shard || !shard_lines(f, text + n)))
		rc = f->shard ? -EBADMSG : -ENOMEM;
	if (rc)
		snprintf(why, 64, "manifest: %s",
			 rc == -EBADMSG ? "damaged" : strerror(-rc));
	free(text);
	return rc;
}
