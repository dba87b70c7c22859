/* lockstep.c - the smallest job with steps: a barrier a step, a ring, a fault
 * SPDX-License-Identifier: MIT
 *
 *   lockstep STATE STEPS STEP_MS TIMEOUT_MS [FAULT RANK STEP ATTEMPT]
 *
 * STATE is a file that holds the last step done: a restart goes on from there.
 * A barrier that lasts TIMEOUT_MS is a time-out, as of a collective watchdog:
 * the word goes to the ring and the rank ends with status 70. FAULT is done by
 * RANK when it begins STEP in ATTEMPT (0: in every one), after its stamp was
 * written to STATE.fault: kill, stop, exit, word (status 70 with no cause), hang
 * (it enters the barrier and sleeps in it until its own time-out).
 */
#include <faultdrill/progress.h>

#include <inttypes.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>

struct job {
	const char *state, *fault;
	int steps, step_ms, timeout_ms, rank, victim, at, attempt;
	struct faultdrill_ring *ring;
};

static int number(const char *text, int otherwise)
{
	return text ? atoi(text) : otherwise;
}

static void write_number(const char *path, const char *suffix, int64_t n)
{
	char name[4096], temp[4200];
	FILE *f;

	snprintf(name, sizeof(name), "%s%s", path, suffix);
	snprintf(temp, sizeof(temp), "%s.new", name);
	f = fopen(temp, "w");
	if (!f)
		exit(3);
	fprintf(f, "%" PRId64 "\n", n);
	fclose(f);
	rename(temp, name);
}

static int last_done(const char *path)
{
	FILE *f = fopen(path, "r");
	int n = 0;

	if (f && fscanf(f, "%d", &n) != 1)
		n = 0;
	if (f)
		fclose(f);
	return n;
}

static void give_word(const struct job *j)
{
	j->ring->watchdog = -1;
	_exit(70);
}

static void hang(const struct job *j)
{
	const struct timespec all = {j->timeout_ms / 1000,
				     j->timeout_ms % 1000 * 1000000L};

	faultdrill_collective_enter(j->ring);
	nanosleep(&all, NULL);
	give_word(j);
}

static void fault(const struct job *j)
{
	write_number(j->state, ".fault", faultdrill_now());
	if (strcmp(j->fault, "kill") == 0)
		raise(SIGKILL);
	if (strcmp(j->fault, "stop") == 0)
		raise(SIGSTOP);
	if (strcmp(j->fault, "hang") == 0)
		hang(j);
	if (strcmp(j->fault, "word") == 0)
		give_word(j);
	_exit(5);
}

static void barrier(const struct job *j)
{
	const struct timespec nap = {0, 500000};
	int64_t since = faultdrill_now();
	MPI_Request request;
	int done = 0;

	faultdrill_collective_enter(j->ring);
	MPI_Ibarrier(MPI_COMM_WORLD, &request);
	while (MPI_Test(&request, &done, MPI_STATUS_IGNORE), !done) {
		nanosleep(&nap, NULL);
		if (faultdrill_now() - since > j->timeout_ms * INT64_C(1000000))
			give_word(j);
	}
	faultdrill_collective_leave(j->ring);
}

static void step(const struct job *j, int n, int attempt)
{
	const struct timespec work = {0, j->step_ms * 1000000L};

	faultdrill_step_begin(j->ring, n);
	nanosleep(&work, NULL);
	if (j->fault && j->rank == j->victim && n == j->at &&
	    (j->attempt == 0 || j->attempt == attempt))
		fault(j);
	barrier(j);
	faultdrill_step_end(j->ring, n, 0, 0, 0, 0);
	if (j->rank == 0)
		write_number(j->state, "", n);
}

int main(int argc, char **argv)
{
	struct job j = {0};
	int n;

	if (argc < 5)
		return 2;
	j = (struct job){.state = argv[1], .steps = atoi(argv[2]),
			 .step_ms = atoi(argv[3]), .timeout_ms = atoi(argv[4])};
	if (argc > 8) {
		j.fault = argv[5];
		j.victim = atoi(argv[6]);
		j.at = atoi(argv[7]);
		j.attempt = atoi(argv[8]);
	}
	MPI_Init(NULL, NULL);
	MPI_Comm_rank(MPI_COMM_WORLD, &j.rank);
	j.ring = faultdrill_open(-1, -1, -1);
	if (!j.ring)
		return 3;
	n = last_done(j.state);
	MPI_Barrier(MPI_COMM_WORLD);
	for (n++; n <= j.steps; n++)
		step(&j, n, number(getenv("FAULTDRILL_ATTEMPT"), 1));
	MPI_Finalize();
	faultdrill_close(j.ring, 0);
	return 0;
}
