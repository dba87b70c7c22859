/* data.c - the corpus, its shards in the store, and the prefetching loader
 * SPDX-License-Identifier: MIT
 *
 * The corpus is made by the job itself, the same from the same seed: words of a
 * small language, each followed by one of a few, so that a model can learn it.
 * A sample is drawn by its number alone; the sampler's whole state is its seed
 * and the number that comes next.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "train.h"

#define SHARDS 8
#define SHARD_TOKENS (1 << 16)
#define WORDS 64
#define FOLLOWERS 4

struct shard_head {
	char magic[8];
	uint32_t version, shard;
	uint64_t seed, vocab, tokens, hash;
};

static struct {
	int fd[SHARDS];
	struct sampler at;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t change;
	int *batch[3]; /* one in use, one ready, one being read */
	int64_t made, taken;
	bool stop;
	int error;
} data = { .lock = PTHREAD_MUTEX_INITIALIZER,
	   .change = PTHREAD_COND_INITIALIZER };

static uint64_t mix(uint64_t x)
{
	x += UINT64_C(0x9e3779b97f4a7c15);
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

/* Token 0 is the space; letters are 1 to vocab - 1. */
static void make_corpus(unsigned char *out, uint64_t seed, int shard)
{
	uint64_t word = mix(seed ^ (uint64_t)shard << 32) % WORDS, s = seed, h;
	size_t at = 0;
	int i, length;

	s = mix(s + (uint64_t)shard + 1);
	while (at < SHARD_TOKENS) {
		h = mix(seed * 31 + word);
		length = 2 + (int)(h % 5);
		for (i = 0; i < length && at < SHARD_TOKENS; i++)
			out[at++] = (unsigned char)(1 + mix(h + (uint64_t)i) %
					(uint64_t)(train.o.vocab - 1));
		if (at < SHARD_TOKENS)
			out[at++] = 0;
		s = mix(s);
		word = mix(h + 77 + s % FOLLOWERS) % WORDS;
	}
}

static void shard_path(char *out, size_t size, int shard)
{
	snprintf(out, size, "%s/data/v%d-s%llu-%05d.bin", train.o.store,
		 train.o.vocab, (unsigned long long)train.o.seed, shard);
}

static int sync_dir(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int rc = fd < 0 || fsync(fd) ? -errno : 0;

	if (fd >= 0)
		close(fd);
	return rc;
}

static int write_shard(const char *path, const struct shard_head *h,
		       const unsigned char *tokens)
{
	char tmp[PATH_MAX];
	int fd, rc = 0;

	if (snprintf(tmp, sizeof(tmp), "%s.tmp", path) >= PATH_MAX)
		return -ENAMETOOLONG;
	fd = open(tmp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0)
		return -errno;
	if (write(fd, h, sizeof(*h)) != sizeof(*h) ||
	    write(fd, tokens, SHARD_TOKENS) != SHARD_TOKENS || fsync(fd))
		rc = errno ? -errno : -EIO;
	if (close(fd) && !rc)
		rc = -errno;
	return rc ? rc : rename(tmp, path) ? -errno : 0;
}

static bool head_is_ours(const struct shard_head *h, int shard)
{
	return !memcmp(h->magic, "FDTRDATA", 8) && h->version == 1 &&
	       h->shard == (uint32_t)shard && h->seed == train.o.seed &&
	       h->vocab == (uint64_t)train.o.vocab && h->tokens == SHARD_TOKENS;
}

/* Opens and checks the whole shard. 0 or -errno; -EBADMSG: it is damaged. */
static int open_shard(int shard, unsigned char *buf)
{
	struct shard_head h;
	char path[PATH_MAX];
	int fd;

	shard_path(path, sizeof(path), shard);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (pread(fd, &h, sizeof(h), 0) != sizeof(h) ||
	    !head_is_ours(&h, shard) ||
	    pread(fd, buf, SHARD_TOKENS, sizeof(h)) != SHARD_TOKENS ||
	    train_hash(buf, SHARD_TOKENS) != h.hash) {
		close(fd);
		return -EBADMSG;
	}
	data.fd[shard] = fd;
	return 0;
}

static void make_shard(int shard, unsigned char *buf)
{
	struct shard_head h = { "FDTRDATA", 1, (uint32_t)shard, train.o.seed,
				(uint64_t)train.o.vocab, SHARD_TOKENS, 0 };
	char path[PATH_MAX];
	int rc;

	shard_path(path, sizeof(path), shard);
	make_corpus(buf, train.o.seed, shard);
	h.hash = train_hash(buf, SHARD_TOKENS);
	rc = write_shard(path, &h, buf);
	if (rc)
		train_die(TRAIN_FAILED, "%s: %s", path, strerror(-rc));
}

/* Rank 0 makes what is missing; then every rank checks every shard. */
static void open_shards(void)
{
	unsigned char *buf = malloc(SHARD_TOKENS);
	char dir[PATH_MAX];
	int i, rc;

	snprintf(dir, sizeof(dir), "%s/data", train.o.store);
	if (!train.rank) {
		for (i = 0; i < SHARDS; i++) {
			rc = open_shard(i, buf);
			if (rc == -ENOENT)
				make_shard(i, buf);
			else if (!rc)
				close(data.fd[i]);
		}
		rc = sync_dir(dir);
		if (rc)
			train_die(TRAIN_FAILED, "%s: %s", dir, strerror(-rc));
	}
	comm_barrier();
	for (i = 0; i < SHARDS; i++) {
		rc = open_shard(i, buf);
		if (!rc)
			continue;
		faultdrill_detected(train.ring, rc == -EBADMSG ?
				    FAULTDRILL_BY_CHECKSUM :
				    FAULTDRILL_BY_STORAGE, -1, "data shard");
		train_die(TRAIN_FAILED, "data shard %d: %s", i,
			  rc == -EBADMSG ? "damaged" : strerror(-rc));
	}
	free(buf);
}

static int read_sample(int64_t number, int *token, int *target)
{
	const int t = train.o.seq;
	unsigned char buf[4096 + 1]; /* the longest --seq, and its target */
	uint64_t h = mix(data.at.seed ^ mix((uint64_t)number));
	off_t at = (off_t)((h >> 16) % (SHARD_TOKENS - (uint64_t)t - 1));
	int i;

	if (t >= (int)sizeof(buf))
		return -EINVAL;
	if (pread(data.fd[h % SHARDS], buf, (size_t)t + 1,
		  at + (off_t)sizeof(struct shard_head)) != t + 1)
		return errno ? -errno : -EIO;
	for (i = 0; i < t; i++) {
		token[i] = buf[i];
		target[i] = buf[i + 1];
	}
	return 0;
}

/* The k-th step after the start: this rank's part of its samples. */
static int read_batch(int64_t k, int *out)
{
	const int b = train.o.batch, t = train.o.seq;
	int64_t first = data.at.next + k * b * train.world + train.rank * b;
	int i, rc = 0;

	for (i = 0; i < b && !rc; i++)
		rc = read_sample(first + i, out + i * t, out + (b + i) * t);
	return rc;
}

static void *loader(void *unused)
{
	int64_t k;
	int rc;

	(void)unused;
	pthread_mutex_lock(&data.lock);
	while (!data.stop && !data.error) {
		if (data.made - data.taken >= 2) {
			pthread_cond_wait(&data.change, &data.lock);
			continue;
		}
		k = data.made;
		pthread_mutex_unlock(&data.lock);
		rc = read_batch(k, data.batch[k % 3]);
		pthread_mutex_lock(&data.lock);
		data.error = rc;
		data.made = k + !rc;
		pthread_cond_broadcast(&data.change);
	}
	pthread_mutex_unlock(&data.lock);
	return NULL;
}

void data_open(const struct sampler *s)
{
	size_t n = 2 * (size_t)train.o.batch * (size_t)train.o.seq;
	int i;

	data.at = *s;
	open_shards();
	for (i = 0; i < 3; i++)
		data.batch[i] = calloc(n, sizeof(int));
	if (pthread_create(&data.thread, NULL, loader, NULL))
		train_die(TRAIN_FAILED, "no thread for the loader");
}

const int *data_next(void)
{
	const int *batch;

	pthread_mutex_lock(&data.lock);
	while (data.made == data.taken && !data.error)
		pthread_cond_wait(&data.change, &data.lock);
	if (data.made == data.taken) {
		faultdrill_detected(train.ring, FAULTDRILL_BY_STORAGE, -1,
				    "data read");
		train_die(TRAIN_FAILED, "data: %s", strerror(-data.error));
	}
	batch = data.batch[data.taken % 3];
	data.taken++;
	pthread_cond_broadcast(&data.change);
	pthread_mutex_unlock(&data.lock);
	return batch;
}

void data_close(void)
{
	int i;

	pthread_mutex_lock(&data.lock);
	data.stop = true;
	pthread_cond_broadcast(&data.change);
	pthread_mutex_unlock(&data.lock);
	pthread_join(data.thread, NULL);
	for (i = 0; i < 3; i++)
		free(data.batch[i]);
	for (i = 0; i < SHARDS; i++)
		close(data.fd[i]);
}
