/* allreduce.c - an all-reduce of 64 KiB past the hook and through it, in turns
 * SPDX-License-Identifier: MIT
 *
 * usage: mpirun -np 2 -x LD_PRELOAD=... allreduce DIR. Rank 0 makes the page
 * and arms an entry that never fires. Calls alternate one by one and a round
 * compares the medians of its calls, so that what the machine does to one call
 * in a hundred decides nothing.
 */
#include "bench.h"

#include "injectors/hooks/hooks.h"

#include <mpi.h>

#define ROUNDS 100
#define CALLS 200 /* of each kind in a round */
#define DOUBLES 8192

static double in[DOUBLES], out[DOUBLES];

static double call(bool hooked)
{
	int64_t t = bench_ns();

	if (hooked)
		MPI_Allreduce(in, out, DOUBLES, MPI_DOUBLE, MPI_SUM,
			      MPI_COMM_WORLD);
	else
		PMPI_Allreduce(in, out, DOUBLES, MPI_DOUBLE, MPI_SUM,
			       MPI_COMM_WORLD);
	return (double)(bench_ns() - t);
}

/* ABBA: neither drift nor the call before favours one. */
static double ratio(void)
{
	static double plain[CALLS], hooked[CALLS];

	PMPI_Barrier(MPI_COMM_WORLD);
	for (int i = 0; i < CALLS; i++) {
		if (i % 2)
			hooked[i] = call(true);
		plain[i] = call(false);
		if (i % 2 == 0)
			hooked[i] = call(true);
	}
	return bench_median(hooked, CALLS) / bench_median(plain, CALLS);
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
	const char *what = "all-reduce of 64 KiB, armed and idle";
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
		ratio();
	for (int i = 0; i < ROUNDS; i++)
		r[i] = ratio();
	MPI_Finalize();
	if (rank)
		return 0;
	middle = bench_median(r, ROUNDS);
	printf("all-reduce of 64 KiB, with / without the hook: median %.4f, "
	       "95%% interval %.4f to %.4f\n", middle, bench_lower(r, ROUNDS),
	       bench_upper(r, ROUNDS));
	return !bench_verdict(what, 100 * (bench_upper(r, ROUNDS) - 1), 1,
			      "% more at most");
}
