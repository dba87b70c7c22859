/* mpi_next.h - the MPI library behind the hook, and what all its parts share
 * SPDX-License-Identifier: MIT
 *
 * Included by mpi_*.c only. Functions of the library are looked up at their
 * first use, so that the hook can be loaded into a program that has no MPI or
 * gets it later by dlopen.
 */
#ifndef DRILL_MPI_NEXT_H
#define DRILL_MPI_NEXT_H

#include "hook.h"

#include <mpi.h>

#define EXPORT __attribute__((visibility("default")))

#pragma GCC visibility push(hidden)

/* Looks @name up behind the hook and remembers it in @*ret. */
void *mpi_next_find(const char *name, _Atomic(void *) *ret);
/* The address of a variable of the library's; NULL when there is none. */
void *mpi_next_data(const char *name);

/* MPI_COMM_WORLD and MPI_REQUEST_NULL are addresses of the library's. */
extern MPI_Comm mpi_world;
extern MPI_Request mpi_request_null;
extern int mpi_request_null_f;

/* Adds @bytes to what was sent to @rank of @comm. */
void mpi_sent(const struct hook_call *c, MPI_Comm comm, int rank,
	      uint64_t bytes);
void mpi_peers_forget(MPI_Comm comm);

uint64_t mpi_bytes(int n, MPI_Datatype type);
/* Over all ranks of @comm (of its remote group between two groups). */
uint64_t mpi_bytes_all(const int *counts, int n, MPI_Datatype type,
		       MPI_Comm comm);

/* A non-blocking call that an entry names: it is left when @request is done. */
void mpi_pend(struct hook_call *c, MPI_Request request);
extern _Atomic int mpi_pending;
/* Around a wait or test: where in the list is the request that is pending? */
int mpi_pending_find(int n, const MPI_Request *list);
int mpi_pending_find_f(int n, const MPI_Fint *list);
void mpi_pending_done(void);

#pragma GCC visibility pop

#define NEXT_NAMED(symbol, type)                                               \
	({                                                                     \
		static _Atomic(void *) found;                                  \
		void *next_ = atomic_load_explicit(&found,                     \
						   memory_order_relaxed);      \
		if (__builtin_expect(!next_, 0))                               \
			next_ = mpi_next_find(symbol, &found);                 \
		(type)next_;                                                   \
	})
#define NEXT(name) NEXT_NAMED("PMPI_" #name, __typeof__(&MPI_##name))

#endif
