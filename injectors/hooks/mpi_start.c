/* mpi_start.c - MPI_Init and MPI_Finalize: the hello and the bye of a rank
 * SPDX-License-Identifier: MIT
 */
#include "mpi_next.h"

#include <stdio.h>
#include <stdlib.h>

MPI_Comm mpi_world;
MPI_Request mpi_request_null;
int mpi_request_null_f;

/* Handles differ between MPI libraries: the one in the process must be the
 * kind this object was compiled for. */
static bool find_handles(void)
{
#ifdef OPEN_MPI
	mpi_world = mpi_next_data("ompi_mpi_comm_world");
	mpi_request_null = mpi_next_data("ompi_request_null");
	if (!mpi_world || !mpi_request_null)
		return false;
#else
	if (mpi_next_data("ompi_mpi_comm_world"))
		return false;
	mpi_world = MPI_COMM_WORLD;
	mpi_request_null = MPI_REQUEST_NULL;
#endif
	mpi_request_null_f = NEXT(Request_c2f)(mpi_request_null);
	return true;
}

static void hello(bool fortran)
{
	static char library[MPI_MAX_LIBRARY_VERSION_STRING];
	struct hook_hello h = { .fortran = fortran, .abi = sizeof(MPI_Comm),
				.library = library };
	int n = 0;

	if (!getenv("FAULTDRILL_HOOKS"))
		return;
	if (!find_handles()) {
		fputs("faultdrill: the MPI hook stays passive: it was built "
		      "for another MPI library than the program's\n", stderr);
		return;
	}
	NEXT(Comm_rank)(mpi_world, &h.rank);
	NEXT(Comm_size)(mpi_world, &h.world);
	NEXT(Query_thread)(&h.thread_level);
	h.threaded = h.thread_level == MPI_THREAD_MULTIPLE;
	NEXT(Get_library_version)(library, &n);
	drill_hook_hello(&h);
}

EXPORT int MPI_Init(int *argc, char ***argv)
{
	int r = NEXT(Init)(argc, argv);

	if (r == MPI_SUCCESS)
		hello(false);
	return r;
}

EXPORT int MPI_Init_thread(int *argc, char ***argv, int required, int *given)
{
	int r = NEXT(Init_thread)(argc, argv, required, given);

	if (r == MPI_SUCCESS)
		hello(false);
	return r;
}

EXPORT int MPI_Finalize(void)
{
	drill_hook_bye();
	return NEXT(Finalize)();
}

EXPORT int MPI_Comm_free(MPI_Comm *comm)
{
	mpi_peers_forget(*comm);
	return NEXT(Comm_free)(comm);
}

EXPORT int MPI_Comm_disconnect(MPI_Comm *comm)
{
	mpi_peers_forget(*comm);
	return NEXT(Comm_disconnect)(comm);
}

/* Fortran: the same, through the library's Fortran entry points. `error` may be
 * absent (NULL) in the interface of 2008. */
typedef void init_fn(MPI_Fint *error);
typedef void init_thread_fn(MPI_Fint *required, MPI_Fint *given,
			    MPI_Fint *error);
typedef void comm_fn(MPI_Fint *comm, MPI_Fint *error);

#define FORTRAN(suffix)                                                        \
	EXPORT init_fn mpi_init##suffix, mpi_finalize##suffix;                 \
	EXPORT init_thread_fn mpi_init_thread##suffix;                         \
	EXPORT comm_fn mpi_comm_free##suffix, mpi_comm_disconnect##suffix;     \
	void mpi_init##suffix(MPI_Fint *error)                                 \
	{                                                                      \
		NEXT_NAMED("pmpi_init" #suffix, init_fn *)(error);             \
		if (!error || *error == MPI_SUCCESS)                           \
			hello(true);                                           \
	}                                                                      \
	void mpi_init_thread##suffix(MPI_Fint *required, MPI_Fint *given,      \
				     MPI_Fint *error)                          \
	{                                                                      \
		NEXT_NAMED("pmpi_init_thread" #suffix, init_thread_fn *)       \
			(required, given, error);                              \
		if (!error || *error == MPI_SUCCESS)                           \
			hello(true);                                           \
	}                                                                      \
	void mpi_finalize##suffix(MPI_Fint *error)                             \
	{                                                                      \
		drill_hook_bye();                                              \
		NEXT_NAMED("pmpi_finalize" #suffix, init_fn *)(error);         \
	}                                                                      \
	void mpi_comm_free##suffix(MPI_Fint *comm, MPI_Fint *error)            \
	{                                                                      \
		mpi_peers_forget(NEXT(Comm_f2c)(*comm));                       \
		NEXT_NAMED("pmpi_comm_free" #suffix, comm_fn *)(comm, error);  \
	}                                                                      \
	void mpi_comm_disconnect##suffix(MPI_Fint *comm, MPI_Fint *error)      \
	{                                                                      \
		mpi_peers_forget(NEXT(Comm_f2c)(*comm));                       \
		NEXT_NAMED("pmpi_comm_disconnect" #suffix, comm_fn *)          \
			(comm, error);                                         \
	}

FORTRAN(_)
FORTRAN(_f08_)
