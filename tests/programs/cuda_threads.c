/* cuda_threads.c - 16 threads at once, each with its steps; see cuda_steps.h
 * SPDX-License-Identifier: MIT
 *
 * All share the primary context of device 0. Calls that succeed are not told.
 * At the end one line: "threads 16 failed N first CODE".
 */
#include <pthread.h>

#include "cuda_steps.h"

#define THREADS 16

static struct calls calls;

struct lane {
	pthread_t thread;
	struct steps s;
	CUresult r;
};

static void *work(void *arg)
{
	struct lane *l = arg;
	int i;

	l->r = steps_open(&l->s);
	for (i = 1; i <= l->s.steps && !l->r; i++)
		l->r = steps_one(&l->s, i);
	return NULL;
}

int main(int argc, char **argv)
{
	static struct lane lane[THREADS];
	void *lib = calls_open("libcuda.so.1");
	int i, failed = 0, wrong = 0;
	CUresult first = CUDA_SUCCESS;

	if (!lib || !calls_dlsym(&calls, lib))
		return 4;
	for (i = 0; i < THREADS; i++) {
		lane[i].s.c = &calls;
		steps_options(&lane[i].s, argc, argv);
		lane[i].s.quiet = true;
		lane[i].s.stream = true;
		pthread_create(&lane[i].thread, NULL, work, &lane[i]);
	}
	for (i = 0; i < THREADS; i++) {
		pthread_join(lane[i].thread, NULL);
		failed += lane[i].r != 0;
		wrong += lane[i].s.wrong;
		if (!first)
			first = lane[i].r;
	}
	printf("threads %d failed %d first %d\n", THREADS, failed, (int)first);
	return failed ? 1 : wrong ? 3 : 0;
}
