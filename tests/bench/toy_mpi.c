/* toy_mpi.c - an MPI library that does nothing, so that only the hook is timed
 * SPDX-License-Identifier: MIT
 */
#include <mpi.h>

#include <string.h>

#pragma GCC diagnostic ignored "-Wunused-parameter"

#ifdef OPEN_MPI
/* The hook wants their addresses only. */
char toy_world[8] __asm__("ompi_mpi_comm_world");
char toy_no_request[8] __asm__("ompi_request_null");
#endif

#define TOY(name, ...)                                                         \
	int PMPI_##name(__VA_ARGS__);                                          \
	int MPI_##name(__VA_ARGS__) __attribute__((alias("PMPI_" #name)));     \
	int PMPI_##name(__VA_ARGS__)

TOY(Init, int *argc, char ***argv)
{
	return 0;
}

TOY(Finalize, void)
{
	return 0;
}

TOY(Comm_rank, MPI_Comm m, int *ret)
{
	*ret = 0;
	return 0;
}

TOY(Comm_size, MPI_Comm m, int *ret)
{
	*ret = 2;
	return 0;
}

TOY(Query_thread, int *ret)
{
	*ret = MPI_THREAD_SINGLE;
	return 0;
}

TOY(Get_library_version, char *text, int *n)
{
	strcpy(text, "toy MPI");
	*n = 7;
	return 0;
}

TOY(Type_size, MPI_Datatype t, int *ret)
{
	*ret = 8;
	return 0;
}

TOY(Barrier, MPI_Comm m)
{
	return 0;
}

TOY(Allreduce, const void *s, void *r, int n, MPI_Datatype t, MPI_Op o,
    MPI_Comm m)
{
	return 0;
}

TOY(Send, const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm m)
{
	return 0;
}

MPI_Fint PMPI_Request_c2f(MPI_Request q);
MPI_Fint PMPI_Request_c2f(MPI_Request q)
{
	return 0;
}
