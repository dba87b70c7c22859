/* hook_cost.c - what the MPI hook adds to a call of a library that does nothing
 * SPDX-License-Identifier: MIT
 *
 * usage: LD_PRELOAD=libfaultdrill-mpi.so hook_cost DIR. PMPI_* goes past the
 * hook, MPI_* through it; both are timed in turns, in each state of the page.
 */
#include "bench.h"

#include "faultdrill/progress.h"
#include "injectors/hooks/hooks.h"

#include <mpi.h>

#define ROUNDS 41
#define CALLS 20000
#define LIMIT_NS 25.0

static MPI_Comm comm;
static MPI_Datatype type;
static MPI_Op op;
static char buf[8];

static void allreduce(bool hooked)
{
	for (int i = 0; i < CALLS; i++)
		if (hooked)
			MPI_Allreduce(buf, buf, 1, type, op, comm);
		else
			PMPI_Allreduce(buf, buf, 1, type, op, comm);
}

static void barrier(bool hooked)
{
	for (int i = 0; i < CALLS; i++)
		if (hooked)
			MPI_Barrier(comm);
		else
			PMPI_Barrier(comm);
}

static double per_call(void (*fn)(bool), bool hooked)
{
	int64_t t = bench_ns();

	fn(hooked);
	return (double)(bench_ns() - t) / CALLS;
}

static double added(void (*fn)(bool))
{
	double d[ROUNDS];

	fn(true);
	fn(false);
	for (int i = 0; i < ROUNDS; i++)
		d[i] = i % 2 ? per_call(fn, true) - per_call(fn, false) :
			       -per_call(fn, false) + per_call(fn, true);
	return bench_median(d, ROUNDS);
}

int main(int argc, char **argv)
{
	struct drill_hook_order o = { .action = DRILL_HOOK_HOLD,
				      .word = DRILL_WORD_ALLREDUCE,
				      .rank = 0, .slot = -1,
				      .step = 1000000000 };
	struct drill_hook_armed a;
	struct drill_err err = { 0 };
	struct faultdrill_ring *ring;
	struct drill_hooks h;
	char path[256];
	bool ok;

	if (argc != 2)
		return 2;
	snprintf(path, sizeof(path), "%s/hooks.page", argv[1]);
	if (drill_hooks_create(&h, path, &err)) {
		fprintf(stderr, "%s\n", err.msg);
		return 3;
	}
	setenv("FAULTDRILL_HOOKS", path, 1);
	snprintf(path, sizeof(path), "%s/rank0.a1.ring", argv[1]);
	setenv("FAULTDRILL_RING", path, 1);
	ring = faultdrill_open(0, 0, 1);
	MPI_Init(NULL, NULL);
	if (drill_hooks_slot(&h, 0, &err) < 0) {
		printf("FAIL the hook is in the process: %s\n", err.msg);
		return 1;
	}
	faultdrill_step_begin(ring, 1);
	ok = bench_verdict("hook, nothing armed, barrier", added(barrier),
			   LIMIT_NS, "ns a call");
	ok &= bench_verdict("hook, nothing armed, allreduce with its bytes",
			    added(allreduce), LIMIT_NS, "ns a call");
	if (drill_hooks_arm(&h, &o, &a, &err))
		return 3;
	ok &= bench_verdict("hook, armed for another call and idle",
			    added(barrier), LIMIT_NS, "ns a call");
	ok &= bench_verdict("hook, armed for this call and idle",
			    added(allreduce), LIMIT_NS, "ns a call");
	drill_hooks_waits(&h, true);
	ok &= bench_verdict("hook, nothing armed for it, waits asked for",
			    added(barrier), 2 * LIMIT_NS, "ns a call");
	MPI_Finalize();
	faultdrill_close(ring, 0);
	return !ok;
}
