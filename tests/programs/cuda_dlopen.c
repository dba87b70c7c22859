/* cuda_dlopen.c - a program that opens the driver at run time; see cuda_steps.h
 * SPDX-License-Identifier: MIT
 *
 *   cuda_dlopen [--library NAME-OR-PATH] ...      (libcuda.so.1)
 */
#include "cuda_steps.h"

int main(int argc, char **argv)
{
	const char *file = "libcuda.so.1";
	struct steps s = { 0 };
	struct calls calls;
	void *lib;
	int i;

	for (i = 1; i + 1 < argc; i++)
		if (!strcmp(argv[i], "--library"))
			file = argv[i + 1];
	lib = calls_open(file);
	if (!lib || !calls_dlsym(&calls, lib))
		return 4;
	s.c = &calls;
	steps_options(&s, argc, argv);
	return steps_go(&s);
}
