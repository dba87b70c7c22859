/* cuda_fork.c - forks after cuInit: the child has no driver, the parent goes on
 * SPDX-License-Identifier: MIT
 *
 * The child tells its calls in lines `child`: each must be 3. A child that was
 * forked before cuInit (line `early`) starts a driver of its own.
 */
#include <sys/wait.h>
#include <unistd.h>

#include "cuda_steps.h"

static int child(const struct steps *s)
{
	CUdeviceptr p = 0;
	int n = 0;

	steps_say(s, "child", 0, "cuInit", s->c->cuInit(0));
	steps_say(s, "child", 0, "cuDeviceGetCount",
		  s->c->cuDeviceGetCount(&n));
	steps_say(s, "child", 0, "cuMemAlloc_v2", s->c->cuMemAlloc_v2(&p, 64));
	steps_say(s, "child", 0, "cuStreamSynchronize",
		  s->c->cuStreamSynchronize(NULL));
	return 0;
}

static int early(struct steps *s)
{
	return steps_say(s, "early", 0, "cuInit", s->c->cuInit(0));
}

static int wait_for(pid_t pid)
{
	int status = -1;

	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

int main(int argc, char **argv)
{
	struct steps s = { 0 };
	struct calls calls;
	void *lib = calls_open("libcuda.so.1");
	CUresult r;
	pid_t pid;
	int i;

	if (!lib || !calls_dlsym(&calls, lib))
		return 4;
	s.c = &calls;
	steps_options(&s, argc, argv);
	fflush(stdout);
	pid = fork();
	if (!pid)
		_exit(early(&s));
	wait_for(pid);
	r = steps_open(&s);
	for (i = 1; i <= s.steps && !r; i++) {
		if (i == 2) {
			pid = fork();
			if (!pid)
				_exit(child(&s));
			printf("child ended %d\n", wait_for(pid));
			fflush(stdout);
		}
		r = steps_one(&s, i);
	}
	if (r)
		steps_after(&s);
	printf("end after %d steps\n", i - 1 - (r != 0));
	return r ? 1 : s.wrong ? 3 : 0;
}
