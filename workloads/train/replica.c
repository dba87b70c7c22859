/* replica.c - compares the replicas' states by hash, to find silent corruption
 * SPDX-License-Identifier: MIT
 *
 * Data-parallel ranks compute the same parameters and moments bit for bit. One
 * that does not has been corrupted since the last comparison, and nothing else
 * would say so: its gradients go on being summed with the others'. Compared
 * before every checkpoint, so that a committed one is good. What was wrong
 * before the gradients were summed is in all replicas alike, and not seen here.
 */
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "train.h"

static uint64_t *hash; /* of each rank */

static uint64_t hash_state(struct model *m)
{
	static float *state;
	const size_t n = 3 * m->n;

	if (!state)
		state = malloc(n * sizeof(*state));
	if (!state)
		train_die(TRAIN_FAILED, "no memory to compare the replicas");
	model_get(m, state, 0, n);
	return train_hash(state, n * sizeof(*state));
}

/* How many ranks have the state of rank @r. */
static int count(int r)
{
	int i, n = 0;

	for (i = 0; i < train.world; i++)
		n += hash[i] == hash[r];
	return n;
}

/* The first rank whose state most have; -1 when no state has most. */
static int majority(void)
{
	int i;

	for (i = 0; i < train.world; i++)
		if (2 * count(i) > train.world)
			return i;
	return -1;
}

static void __attribute__((noreturn)) cannot_tell(int64_t step)
{
	if (!train.rank)
		faultdrill_detected(train.ring, FAULTDRILL_BY_REPLICA, -1,
				    "replicas differ, cannot tell which");
	train_die(TRAIN_PEER, "replicas differ after step %lld, and no state is "
		  "that of most: cannot tell which is wrong (mine %016" PRIx64
		  ")", (long long)step, hash[train.rank]);
}

/* One speaks for those that are well. */
static void __attribute__((noreturn)) accuse(int64_t step, int well)
{
	/* The first end ends all: let it be that of a rank that is wrong. */
	const struct timespec grace = { 0, 300000000 };
	char what[41];
	int i;

	snprintf(what, sizeof(what), "step %lld: another state",
		 (long long)step);
	for (i = 0; i < train.world && train.rank == well; i++)
		if (hash[i] != hash[well])
			faultdrill_detected(train.ring, FAULTDRILL_BY_REPLICA,
					    i, what);
	if (hash[train.rank] != hash[well])
		train_die(TRAIN_CORRUPT, "after step %lld my state is "
			  "%016" PRIx64 ", that of %d of %d ranks %016" PRIx64,
			  (long long)step, hash[train.rank], count(well),
			  train.world, hash[well]);
	nanosleep(&grace, NULL);
	train_die(TRAIN_PEER, "replicas differ after step %lld; mine is right",
		  (long long)step);
}

void replica_compare(struct model *m, int64_t step)
{
	int i, well;

	if (!hash)
		hash = malloc((size_t)train.world * sizeof(*hash));
	if (!hash)
		train_die(TRAIN_FAILED, "no memory to compare the replicas");
	comm_gather(hash_state(m), hash);
	for (i = 1; i < train.world && hash[i] == hash[0]; i++)
		;
	if (i == train.world)
		return;
	well = majority();
	if (well < 0)
		cannot_tell(step);
	accuse(step, well);
}
