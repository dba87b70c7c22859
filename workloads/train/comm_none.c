/* comm_none.c - collectives of a single rank, for machines without MPI
 * SPDX-License-Identifier: MIT
 */
#include "train.h"

void comm_init(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	train.world = 1;
}

void comm_sum(float *x, size_t n)
{
	(void)x;
	(void)n;
	watch_enter("all-reduce");
	watch_leave();
}

void comm_broadcast(void *x, size_t bytes)
{
	(void)x;
	(void)bytes;
}

int64_t comm_min(int64_t x)
{
	return x;
}

void comm_gather(uint64_t x, uint64_t *all)
{
	all[0] = x;
}

void comm_barrier(void)
{
}

void comm_close(void)
{
}
