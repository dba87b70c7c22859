/* ckpt.c - takes checkpoints beside the training: copy, write, agree, commit
 * SPDX-License-Identifier: MIT
 *
 * A rank copies its share of the state into one of two buffers (all that the
 * training waits for) and its writer makes the share durable. The ranks' votes
 * travel in the sums of the next steps; once all have voted, rank 0's writer
 * commits the checkpoint with its manifest and removes the oldest.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "train.h"

#define PENDING_MAX 8

struct buffer {
	int64_t step; /* 0: free */
	float *data;
};

struct pending { /* taken and not yet counted, oldest first */
	int64_t step;
	struct sampler sampler;
};

static struct {
	struct model *model;
	uint64_t first, count; /* this rank's share, in floats */
	struct buffer buffer[2];
	struct pending pending[PENDING_MAX];
	int n_pending;
	struct pending commit; /* for rank 0's writer; step 0: none */
	int64_t durable, failed; /* newest step of each kind */
	pthread_t writer;
	pthread_mutex_t lock;
	pthread_cond_t change;
	bool stop;
} ckpt = { .lock = PTHREAD_MUTEX_INITIALIZER,
	   .change = PTHREAD_COND_INITIALIZER };

static void report_failure(int64_t step, int rc)
{
	const char *why = strerror(-rc);

	faultdrill_checkpoint_failed(train.ring, step, why);
	if (!train.rank || rc)
		train_say("checkpoint of step %lld failed: %s",
			  (long long)step, why);
}

/* Removes a checkpoint, its manifest first, so that no half of it counts. */
static void remove_step(int64_t step)
{
	char dir[PATH_MAX], path[PATH_MAX + 300];
	struct dirent *e;
	DIR *d;

	ckpt_dir(dir, sizeof(dir), step);
	snprintf(path, sizeof(path), "%s/manifest", dir);
	unlink(path);
	d = opendir(dir);
	while (d && (e = readdir(d))) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
		unlink(path);
	}
	if (d)
		closedir(d);
	rmdir(dir);
}

static int newest_first(const void *a, const void *b)
{
	const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x < y) - (x > y);
}

/* Steps of the folders there are, newest first; up to max. */
static int list_steps(int64_t *step, int max)
{
	char dir[PATH_MAX];
	struct dirent *e;
	long long s;
	int n = 0;
	DIR *d;

	snprintf(dir, sizeof(dir), "%s/ckpt", train.o.store);
	d = opendir(dir);
	while (d && n < max && (e = readdir(d)))
		if (sscanf(e->d_name, "step-%lld", &s) == 1 && s > 0)
			step[n++] = s;
	if (d)
		closedir(d);
	qsort(step, (size_t)n, sizeof(*step), newest_first);
	return n;
}

/* Keeps the newest committed ones and whatever is newer than the last. */
static void prune(int64_t committed)
{
	char dir[PATH_MAX], path[PATH_MAX + 16];
	int64_t step[256];
	int i, n = list_steps(step, 256), kept = 0;

	for (i = 0; i < n; i++) {
		if (step[i] > committed)
			continue;
		ckpt_dir(dir, sizeof(dir), step[i]);
		snprintf(path, sizeof(path), "%s/manifest", dir);
		if (!access(path, F_OK) && kept < train.o.keep)
			kept++;
		else
			remove_step(step[i]);
	}
}

static void commit(const struct pending *p)
{
	int rc = manifest_write(p->step, p->sampler, train.world,
				3 * ckpt.model->n);

	if (rc) {
		report_failure(p->step, rc);
		return;
	}
	faultdrill_checkpoint_committed(train.ring, p->step);
	prune(p->step);
}

static void write_share(struct buffer *b)
{
	uint64_t hash;
	int rc;

	faultdrill_checkpoint_writing(train.ring, b->step,
				      (int64_t)(ckpt.count * sizeof(float)),
				      "store");
	rc = shard_write(b->step, train.rank, train.world, ckpt.first,
			 ckpt.count, b->data, &hash);
	if (rc)
		report_failure(b->step, rc);
	pthread_mutex_lock(&ckpt.lock);
	if (rc)
		ckpt.failed = b->step;
	else
		ckpt.durable = b->step;
	b->step = 0;
	pthread_cond_broadcast(&ckpt.change);
	pthread_mutex_unlock(&ckpt.lock);
}

/* The older of the full buffers, or NULL. */
static struct buffer *full(void)
{
	struct buffer *a = &ckpt.buffer[0], *b = &ckpt.buffer[1];

	if (a->step && (!b->step || a->step < b->step))
		return a;
	return b->step ? b : NULL;
}

static void *writer(void *unused)
{
	struct pending p;
	struct buffer *b;

	(void)unused;
	pthread_mutex_lock(&ckpt.lock);
	for (;;) {
		b = full();
		p = ckpt.commit;
		if (!b && !p.step && ckpt.stop)
			break;
		if (!b && !p.step) {
			pthread_cond_wait(&ckpt.change, &ckpt.lock);
			continue;
		}
		pthread_mutex_unlock(&ckpt.lock);
		if (p.step)
			commit(&p);
		else
			write_share(b);
		pthread_mutex_lock(&ckpt.lock);
		if (p.step)
			ckpt.commit.step = 0;
		pthread_cond_broadcast(&ckpt.change);
	}
	pthread_mutex_unlock(&ckpt.lock);
	return NULL;
}

void ckpt_open(struct model *m)
{
	const uint64_t total = 3 * m->n, w = (uint64_t)train.world;
	int i;

	ckpt.model = m;
	ckpt.first = total * (uint64_t)train.rank / w;
	ckpt.count = total * ((uint64_t)train.rank + 1) / w - ckpt.first;
	for (i = 0; i < 2; i++)
		CU(cuMemAllocHost_v2, (void **)&ckpt.buffer[i].data,
		   (ckpt.count + 1) * sizeof(float));
	if (pthread_create(&ckpt.writer, NULL, writer, NULL))
		train_die(TRAIN_FAILED, "no thread for checkpoints");
}

void ckpt_take(int64_t step, struct sampler s)
{
	struct buffer *b;

	pthread_mutex_lock(&ckpt.lock);
	while (ckpt.buffer[0].step && ckpt.buffer[1].step)
		pthread_cond_wait(&ckpt.change, &ckpt.lock);
	b = &ckpt.buffer[ckpt.buffer[0].step != 0];
	pthread_mutex_unlock(&ckpt.lock);
	model_get(ckpt.model, b->data, ckpt.first, ckpt.count);
	pthread_mutex_lock(&ckpt.lock);
	b->step = step;
	pthread_cond_broadcast(&ckpt.change);
	pthread_mutex_unlock(&ckpt.lock);
	/* Two buffers: never more than a few wait for their votes. */
	if (ckpt.n_pending == PENDING_MAX)
		train_die(TRAIN_FAILED, "checkpoints are never agreed on");
	ckpt.pending[ckpt.n_pending++] = (struct pending){ step, s };
}

/* About the oldest pending one: every rank has the same list. */
void ckpt_votes(float *durable, float *failed)
{
	int64_t step = ckpt.n_pending ? ckpt.pending[0].step : INT64_MAX;

	pthread_mutex_lock(&ckpt.lock);
	*failed = ckpt.failed == step;
	*durable = ckpt.durable >= step && !*failed;
	pthread_mutex_unlock(&ckpt.lock);
}

void ckpt_counted(float durable, float failed)
{
	struct pending p = ckpt.pending[0];

	if (!ckpt.n_pending || durable + failed < (float)train.world)
		return;
	ckpt.n_pending--;
	memmove(ckpt.pending, ckpt.pending + 1,
		(size_t)ckpt.n_pending * sizeof(p));
	if (failed > 0 || train.rank)
		return;
	pthread_mutex_lock(&ckpt.lock);
	while (ckpt.commit.step)
		pthread_cond_wait(&ckpt.change, &ckpt.lock);
	ckpt.commit = p;
	pthread_cond_broadcast(&ckpt.change);
	pthread_mutex_unlock(&ckpt.lock);
}

bool ckpt_pending(void)
{
	return ckpt.n_pending > 0;
}

/* Waits until the last manifest is written. */
void ckpt_close(void)
{
	int i;

	pthread_mutex_lock(&ckpt.lock);
	ckpt.stop = true;
	pthread_cond_broadcast(&ckpt.change);
	pthread_mutex_unlock(&ckpt.lock);
	pthread_join(ckpt.writer, NULL);
	for (i = 0; i < 2; i++)
		CU(cuMemFreeHost, ckpt.buffer[i].data);
}

/* ---- the way back ---- */

/* Every share into `state`; a damaged one is reported as detected. */
static int64_t try_step(int64_t step, float *state, uint64_t floats,
			struct sampler *s)
{
	struct manifest f;
	char why[64] = "";
	int i, rc = manifest_read(step, &f, why);

	if (rc == -ENOENT)
		return 0; /* never committed */
	faultdrill_restore_reading(train.ring, step, "store");
	if (!rc && (f.floats != floats || f.sampler.seed != train.o.seed))
		train_die(TRAIN_USAGE, "--store: step %lld there is of another "
			  "model or seed", (long long)step);
	for (i = 0; !rc && i < f.shards; i++)
		rc = shard_read(&f, i, state + f.shard[i].first, why);
	if (!rc) {
		*s = f.sampler;
	} else {
		faultdrill_detected(train.ring, rc == -EBADMSG ?
				    FAULTDRILL_BY_CHECKSUM :
				    FAULTDRILL_BY_STORAGE, -1, why);
		train_say("checkpoint of step %lld: %s", (long long)step, why);
	}
	free(f.shard);
	return rc ? 0 : step;
}

int64_t ckpt_restore(struct model *m, struct sampler *s)
{
	const uint64_t floats = 3 * m->n;
	float *state = malloc(floats * sizeof(float));
	int64_t step[256] = { 0 }, got = 0;
	int i = 0, n = train.rank ? 0 : list_steps(step, 255);

	if (!state)
		train_die(TRAIN_FAILED, "no memory to restore");
	do {
		int64_t candidate = i < n ? step[i++] : 0;

		comm_broadcast(&candidate, sizeof(candidate));
		if (!candidate)
			break;
		got = comm_min(try_step(candidate, state, floats, s));
	} while (!got);
	if (got)
		model_restore(m, state, floats);
	free(state);
	return got;
}
