/* words.c - an MPI program whose calls can be counted by hand
 * SPDX-License-Identifier: MIT
 *
 * usage: words [STEPS [MILLISECONDS [RING]]]. Each step: one allreduce of 64
 * doubles, two bcasts of 100 bytes from rank 0, one Iallreduce with its wait, a
 * barrier, and 1000 bytes to the next rank of a communicator whose ranks run
 * backwards. Prints "rank R step S allreduce_us T" for each step, then "ok".
 */
#include "faultdrill/progress.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now_us(void)
{
	return MPI_Wtime() * 1e6;
}

static double one_step(int rank, int size, MPI_Comm back)
{
	double a[64] = { rank }, b[64], began;
	char buf[1000] = { 0 }, got[1000];
	int at = size - 1 - rank;
	MPI_Request q;

	began = now_us();
	MPI_Allreduce(a, b, 64, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	began = now_us() - began;
	MPI_Bcast(buf, 100, MPI_BYTE, 0, MPI_COMM_WORLD);
	MPI_Bcast(buf, 100, MPI_BYTE, 0, MPI_COMM_WORLD);
	MPI_Iallreduce(a, b, 64, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &q);
	MPI_Wait(&q, MPI_STATUS_IGNORE);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Irecv(got, 1000, MPI_BYTE, MPI_ANY_SOURCE, 0, back, &q);
	MPI_Send(buf, 1000, MPI_BYTE, (at + 1) % size, 0, back);
	MPI_Wait(&q, MPI_STATUS_IGNORE);
	return began;
}

int main(int argc, char **argv)
{
	int steps = argc > 1 ? atoi(argv[1]) : 3, rank, size;
	int wait_ms = argc > 2 ? atoi(argv[2]) : 0;
	struct timespec pause = { wait_ms / 1000, wait_ms % 1000 * 1000000 };
	struct faultdrill_ring *ring = NULL;
	MPI_Comm back;
	double us;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &back);
	if (getenv("FAULTDRILL_RING"))
		ring = faultdrill_open(rank, rank, size);
	for (int s = 1; s <= steps; s++) {
		if (ring)
			faultdrill_step_begin(ring, s);
		us = one_step(rank, size, back);
		printf("rank %d step %d allreduce_us %.0f\n", rank, s, us);
		fflush(stdout);
		nanosleep(&pause, NULL);
	}
	MPI_Comm_free(&back);
	MPI_Finalize();
	printf("rank %d ok\n", rank);
	return 0;
}
