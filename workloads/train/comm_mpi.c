/* comm_mpi.c - collectives over MPI
 * SPDX-License-Identifier: MIT
 *
 * All are non-blocking calls that are waited for with naps: a rank that waits
 * leaves its core to the others. The order of the sums is that of libnbc's
 * ring, fixed by rank numbers alone, whatever the mapping; another MPI must be
 * told to keep its own order.
 */
#include <mpi.h>
#include <sched.h>
#include <string.h>
#include <time.h>

#include "train.h"

#define BUCKET (64 * 1024)
#define BUCKETS_MAX 4096

/* An error of MPI is a detection; it names the peer only in its text. */
static void check(int rc, const char *what)
{
	char text[MPI_MAX_ERROR_STRING] = "";
	int n;

	if (rc == MPI_SUCCESS)
		return;
	MPI_Error_string(rc, text, &n);
	faultdrill_detected(train.ring, FAULTDRILL_BY_MPI, -1, what);
	train_die(TRAIN_PEER, "%s: %s", what, text);
}

static void wait_for(MPI_Request *r, int n)
{
	const struct timespec nap = { 0, 50000 };
	int done = 0, tries = 0, rc;

	rc = MPI_Testall(n, r, &done, MPI_STATUSES_IGNORE);
	while (!done && rc == MPI_SUCCESS) {
		faultdrill_heartbeat(train.ring); /* it waits, but it lives */
		if (++tries < 10)
			sched_yield();
		else
			nanosleep(&nap, NULL);
		rc = MPI_Testall(n, r, &done, MPI_STATUSES_IGNORE);
	}
	check(rc, "MPI_Testall");
}

void comm_init(int *argc, char ***argv)
{
	setenv("OMPI_MCA_coll_libnbc_iallreduce_algorithm", "1", 0);
	setenv("OMPI_MCA_coll", "^han,hcoll,ucc", 0);
	MPI_Init(argc, argv);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_rank(MPI_COMM_WORLD, &train.rank);
	MPI_Comm_size(MPI_COMM_WORLD, &train.world);
}

void comm_sum(float *x, size_t n)
{
	MPI_Request r[BUCKETS_MAX];
	int k = 0;

	watch_enter("all-reduce");
	for (; n; k++) {
		size_t part = n < BUCKET ? n : BUCKET;

		if (k == BUCKETS_MAX) {
			wait_for(r, k);
			k = 0;
		}
		check(MPI_Iallreduce(MPI_IN_PLACE, x, (int)part, MPI_FLOAT,
				     MPI_SUM, MPI_COMM_WORLD, &r[k]),
		      "MPI_Iallreduce");
		x += part;
		n -= part;
	}
	wait_for(r, k);
	watch_leave();
}

void comm_broadcast(void *x, size_t bytes)
{
	MPI_Request r;

	watch_enter("broadcast");
	check(MPI_Ibcast(x, (int)bytes, MPI_BYTE, 0, MPI_COMM_WORLD, &r),
	      "MPI_Ibcast");
	wait_for(&r, 1);
	watch_leave();
}

int64_t comm_min(int64_t x)
{
	MPI_Request r;

	watch_enter("all-reduce");
	check(MPI_Iallreduce(MPI_IN_PLACE, &x, 1, MPI_INT64_T, MPI_MIN,
			     MPI_COMM_WORLD, &r), "MPI_Iallreduce");
	wait_for(&r, 1);
	watch_leave();
	return x;
}

void comm_gather(uint64_t x, uint64_t *all)
{
	MPI_Request r;

	watch_enter("all-gather");
	check(MPI_Iallgather(&x, 1, MPI_UINT64_T, all, 1, MPI_UINT64_T,
			     MPI_COMM_WORLD, &r), "MPI_Iallgather");
	wait_for(&r, 1);
	watch_leave();
}

void comm_barrier(void)
{
	MPI_Request r;

	watch_enter("barrier");
	check(MPI_Ibarrier(MPI_COMM_WORLD, &r), "MPI_Ibarrier");
	wait_for(&r, 1);
	watch_leave();
}

void comm_close(void)
{
	MPI_Finalize();
}
