/* allreduce.c - an all-reduce of 64 KiB past the hook and through it, in turns
 * SPDX-License-Identifier: MIT
 *
 * usage: mpirun -np 2 -x LD_PRELOAD=... allreduce DIR. Rank 0 makes the page
 * and arms an entry that never fires; rounds are compared in pairs.
 */
#include "bench.h"

#include "injectors/hooks/hooks.h"

#include <mpi.h>

#define ROUNDS 300
#define CALLS 20
#define DOUBLES 8192

static double in[DOUBLES], out[DOUBLES];

static double batch(bool hooked)
{
	int64_t t;

	PMPI_Barrier(MPI_COMM_WORLD);
	t = bench_ns();
	for (int i = 0; i < CALLS; i++)
		if (hooked)
			MPI_Allreduce(in, out, DOUBLES, MPI_DOUBLE, MPI_SUM,
				      MPI_COMM_WORLD);
		else
			PMPI_Allreduce(in, out, DOUBLES, MPI_DOUBLE, MPI_SUM,
				       MPI_COMM_WORLD);
	return (double)(bench_ns() - t);
}

/* ABBA, then BAAB: neither drift nor the place in a round favours one. */
static double ratio(int round)
{
	bool first = round % 2;
	double outer, inner;

	outer = batch(first);
	inner = batch(!first) + batch(!first);
	outer += batch(first);
	return first ? outer / inner : inner / outer;
}

int main(int argc, char **argv)
{
	struct drill_hook_order o = { .action = DRILL_HOOK_HOLD,
				      .word = DRILL_WORD_ALLREDUCE,
				      .rank = 0, .slot = -1,
				      .nth = INT64_C(1000000000000) };
	struct drill_hook_armed a;
	struct drill_err err = { 0 };
	struct drill_hooks h;
	double r[ROUNDS], middle;
	int rank;

	if (argc != 2)
		return 2;
	MPI_Init(NULL, NULL);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (drill_hooks_open(&h, argv[1], &err) ||
	    drill_hooks_slot(&h, rank, &err) < 0) {
		printf("FAIL the hook is in the process: %s\n", err.msg);
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	if (rank == 0 && drill_hooks_arm(&h, &o, &a, &err))
		MPI_Abort(MPI_COMM_WORLD, 3);
	for (int i = 0; i < 5; i++)
		ratio(i);
	for (int i = 0; i < ROUNDS; i++)
		r[i] = ratio(i);
	MPI_Finalize();
	if (rank)
		return 0;
	middle = bench_median(r, ROUNDS);
	printf("all-reduce of 64 KiB, with / without the hook: median %.4f, "
	       "95%% bound from below %.4f\n", middle, bench_lower(r, ROUNDS));
	return !bench_verdict("all-reduce of 64 KiB, armed and idle",
			      100 * (bench_lower(r, ROUNDS) - 1), 1,
			      "% more");
}
