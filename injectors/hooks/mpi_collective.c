/* mpi_collective.c - the C entry points of all collectives
 * SPDX-License-Identifier: MIT
 */
#include "mpi_next.h"

#include "mpi_calls.h"

uint64_t mpi_bytes(int n, MPI_Datatype type)
{
	int size = 0;

	if (n > 0)
		NEXT(Type_size)(type, &size);
	return n > 0 && size > 0 ? (uint64_t)n * (uint64_t)size : 0;
}

uint64_t mpi_bytes_all(const int *counts, int n, MPI_Datatype type,
		       MPI_Comm comm)
{
	int size = 0, inter = 0;
	uint64_t one = mpi_bytes(1, type), sum = 0;

	NEXT(Comm_test_inter)(comm, &inter);
	if (inter)
		NEXT(Comm_remote_size)(comm, &size);
	else
		NEXT(Comm_size)(comm, &size);
	for (int i = 0; i < size; i++)
		sum += one * (uint64_t)(counts ? counts[i] : n);
	return sum;
}

#define LIST(...) __VA_ARGS__

#define COLL(WORD, Name, name, bytes, args, ...)                               \
	EXPORT int MPI_##Name(__VA_ARGS__)                                     \
	{                                                                      \
		struct hook_call c;                                            \
		int ret;                                                       \
                                                                               \
		hook_enter(&c, DRILL_WORD_##WORD);                             \
		ret = NEXT(Name)(LIST args);                                   \
		if (c.me && ret == MPI_SUCCESS)                                \
			hook_bytes(&c, (bytes));                               \
		hook_leave(&c);                                                \
		return ret;                                                    \
	}                                                                      \
	EXPORT int MPI_I##name(__VA_ARGS__, MPI_Request *request)              \
	{                                                                      \
		struct hook_call c;                                            \
		int ret;                                                       \
                                                                               \
		hook_enter(&c, DRILL_WORD_##WORD);                             \
		ret = NEXT(I##name)(LIST args, request);                       \
		if (c.me && ret == MPI_SUCCESS) {                              \
			hook_bytes(&c, (bytes));                               \
			if (c.slow)                                            \
				mpi_pend(&c, *request);                        \
		}                                                              \
		hook_leave(&c);                                                \
		return ret;                                                    \
	}

MPI_COLLECTIVES(COLL)
