/* cuda_capture.c - captures its launches into a graph, then launches that
 * SPDX-License-Identifier: MIT
 *
 * Lines `capture` tell what was said while the stream captured; each step is a
 * launch of the graph, which holds two launches of the kernel.
 */
#include "cuda_steps.h"

struct graphs {
	CUresult (*begin)(CUstream, int);
	CUresult (*end)(CUstream, void **graph);
	CUresult (*instantiate)(void **exec, void *graph, unsigned long long);
	CUresult (*launch)(void *exec, CUstream);
};

static bool find(struct graphs *g, void *lib)
{
	*(void **)&g->begin = dlsym(lib, "cuStreamBeginCapture_v2");
	*(void **)&g->end = dlsym(lib, "cuStreamEndCapture");
	*(void **)&g->instantiate = dlsym(lib, "cuGraphInstantiateWithFlags");
	*(void **)&g->launch = dlsym(lib, "cuGraphLaunch");
	return g->begin && g->end && g->instantiate && g->launch;
}

static CUresult record(struct steps *s, const struct graphs *g, void **exec)
{
	unsigned int n = STEPS_N, i;
	void *params[] = { &s->x, &n }, *graph = NULL;
	CUresult r;

	r = steps_say(s, "capture", 0, "cuStreamBeginCapture_v2",
		      g->begin(s->at, 2));
	for (i = 0; i < 2 && !r; i++)
		r = steps_say(s, "capture", 0, "cuLaunchKernel",
			      s->c->cuLaunchKernel(s->count, STEPS_N / 256, 1,
						   1, 256, 1, 1, 0, s->at,
						   params, NULL));
	if (r)
		return r;
	r = steps_say(s, "capture", 0, "cuStreamEndCapture",
		      g->end(s->at, &graph));
	return r ? r : steps_say(s, "capture", 0, "cuGraphInstantiateWithFlags",
				 g->instantiate(exec, graph, 0));
}

static CUresult one(struct steps *s, const struct graphs *g, void *exec,
		    int step)
{
	CUresult r = steps_say(s, "step", step, "cuGraphLaunch",
			       g->launch(exec, s->at));

	if (r)
		return r;
	STEP(s, "step", step, cuStreamSynchronize, s->at);
	STEP(s, "step", step, cuMemcpyDtoH_v2, s->host, s->x, sizeof(s->host));
	steps_compare(s, 2 * step);
	return CUDA_SUCCESS;
}

int main(int argc, char **argv)
{
	void *lib = calls_open("libcuda.so.1"), *exec = NULL;
	struct steps s = { 0 };
	struct graphs graphs;
	struct calls calls;
	int done = 0;
	CUresult r;

	if (!lib || !calls_dlsym(&calls, lib) || !find(&graphs, lib))
		return 4;
	s.c = &calls;
	steps_options(&s, argc, argv);
	s.stream = true;
	r = steps_open(&s);
	if (!r)
		r = record(&s, &graphs, &exec);
	while (!r && done < s.steps)
		r = one(&s, &graphs, exec, done + 1), done += !r;
	if (r)
		steps_after(&s);
	printf("end after %d steps\n", done);
	return r ? 1 : s.wrong ? 3 : 0;
}
