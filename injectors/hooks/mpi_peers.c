/* mpi_peers.c - which rank of the world a rank of a communicator is
 * SPDX-License-Identifier: MIT
 *
 * A handful of communicators is remembered, each with its table; a table goes
 * when its communicator is freed, and nobody may use a communicator while it is
 * being freed, so readers need no lock.
 */
#include "mpi_next.h"

#include <pthread.h>
#include <stdlib.h>

#define REMEMBERED 32

static struct {
	_Atomic(MPI_Comm) comm;
	int n, *world;
} known[REMEMBERED];
static pthread_mutex_t filling = PTHREAD_MUTEX_INITIALIZER;

static int *make_table(MPI_Comm comm, int *ret_n)
{
	MPI_Group group, all;
	int inter = 0, *world, *ranks, n = 0;

	NEXT(Comm_test_inter)(comm, &inter);
	if (inter)
		NEXT(Comm_remote_group)(comm, &group);
	else
		NEXT(Comm_group)(comm, &group);
	NEXT(Comm_group)(mpi_world, &all);
	NEXT(Group_size)(group, &n);
	world = malloc(2 * sizeof(int) * (size_t)(n > 0 ? n : 1));
	if (world) {
		ranks = world + n;
		for (int i = 0; i < n; i++)
			ranks[i] = i;
		NEXT(Group_translate_ranks)(group, n, ranks, all, world);
	}
	NEXT(Group_free)(&group);
	NEXT(Group_free)(&all);
	*ret_n = n;
	return world;
}

static int remember(MPI_Comm comm)
{
	int at = -1;

	pthread_mutex_lock(&filling);
	for (int i = 0; i < REMEMBERED && at < 0; i++)
		if (atomic_load(&known[i].comm) == comm)
			at = i;
	for (int i = 0; i < REMEMBERED && at < 0; i++) {
		if (known[i].world)
			continue;
		known[i].world = make_table(comm, &known[i].n);
		if (!known[i].world)
			break;
		atomic_store(&known[i].comm, comm);
		at = i;
	}
	pthread_mutex_unlock(&filling);
	return at;
}

/* -1: not known. */
static int world_rank(MPI_Comm comm, int rank)
{
	int at = -1;

	if (comm == mpi_world)
		return rank;
	for (int i = 0; i < REMEMBERED && at < 0; i++)
		if (atomic_load_explicit(&known[i].comm,
					 memory_order_acquire) == comm)
			at = i;
	if (at < 0)
		at = remember(comm);
	return at >= 0 && rank >= 0 && rank < known[at].n ?
		       known[at].world[rank] : -1;
}

void mpi_peers_forget(MPI_Comm comm)
{
	pthread_mutex_lock(&filling);
	for (int i = 0; i < REMEMBERED; i++) {
		if (!known[i].world || atomic_load(&known[i].comm) != comm)
			continue;
		atomic_store(&known[i].comm, (MPI_Comm)0);
		free(known[i].world);
		known[i].world = NULL;
	}
	pthread_mutex_unlock(&filling);
}

static struct drill_hook_peer *find_peer(struct drill_hook_slot *me, int rank)
{
	uint32_t want = (uint32_t)rank + 1, is;
	struct drill_hook_peer *p;

	for (uint32_t i = 0; i < DRILL_HOOK_PEERS; i++) {
		p = &me->peer[((uint32_t)rank + i) % DRILL_HOOK_PEERS];
		is = hook_load(&p->peer);
		if (is == want)
			return p;
		if (!is && (atomic_compare_exchange_strong(&p->peer, &is,
							   want) ||
			    is == want))
			return p;
	}
	return NULL;
}

void mpi_sent(const struct hook_call *c, MPI_Comm comm, int rank,
	      uint64_t bytes)
{
	int world = world_rank(comm, rank);
	struct drill_hook_peer *p = world < 0 ? NULL : find_peer(c->me, world);

	if (!p) {
		hook_add(&c->me->other_bytes, bytes);
		return;
	}
	hook_add(&p->messages, 1);
	hook_add(&p->bytes, bytes);
}
