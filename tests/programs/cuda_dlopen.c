/* cuda_dlopen.c - a program that opens the driver at run time; see cuda_steps.h
 * SPDX-License-Identifier: MIT
 *
 *   cuda_dlopen [--library NAME-OR-PATH]... ...      (libcuda.so.1)
 *
 * With several libraries it goes its steps with each in turn.
 */
#include "cuda_steps.h"

static int use(const char *file, int argc, char **argv)
{
	struct steps s = { 0 };
	struct calls calls;
	void *lib = calls_open(file);

	if (!lib || !calls_dlsym(&calls, lib))
		return 4;
	s.c = &calls;
	steps_options(&s, argc, argv);
	return steps_go(&s);
}

int main(int argc, char **argv)
{
	int i, n = 0, status = 0;

	for (i = 1; i + 1 < argc && !status; i++)
		if (!strcmp(argv[i], "--library")) {
			status = use(argv[i + 1], argc, argv);
			n++;
		}
	return n ? status : use("libcuda.so.1", argc, argv);
}
