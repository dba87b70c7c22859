/* threads.c - four threads call MPI at once, and the rank forks meanwhile
 * SPDX-License-Identifier: MIT
 *
 * usage: threads [ROUNDS]. Each thread makes ROUNDS allreduces on a
 * communicator of its own and checks the sums.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 4

static int rounds = 1000, rank, size;
static MPI_Comm comm[THREADS];

static void *work(void *arg)
{
	int me = *(int *)arg, sum, one;

	for (int i = 0; i < rounds; i++) {
		one = rank + i;
		MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm[me]);
		if (sum != size * (size - 1) / 2 + i * size)
			MPI_Abort(MPI_COMM_WORLD, 7);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread[THREADS];
	int given, number[THREADS], status;
	pid_t child;

	if (argc > 1)
		rounds = atoi(argv[1]);
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &given);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int i = 0; i < THREADS; i++)
		MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]);
	for (int i = 0; i < THREADS; i++) {
		number[i] = i;
		pthread_create(&thread[i], NULL, work, &number[i]);
	}
	child = fork();
	if (!child)
		_exit(0);
	waitpid(child, &status, 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	for (int i = 0; i < THREADS; i++)
		MPI_Comm_free(&comm[i]);
	MPI_Finalize();
	printf("rank %d level %d ok\n", rank, given);
	return 0;
}
