/* cuda_per_thread.c - a program of per-thread default streams; see cuda_steps.h
 * SPDX-License-Identifier: MIT
 *
 * As the CUDA runtime does for such a program, it asks cuGetProcAddress for
 * every call with the flag that means the _ptsz and _ptds kind.
 */
#include "cuda_steps.h"

int main(int argc, char **argv)
{
	struct steps s = { 0 };
	struct calls calls;
	void *lib = calls_open("libcuda.so.1");

	if (!lib || !calls_proc(&calls, lib, 2))
		return 4;
	s.c = &calls;
	steps_options(&s, argc, argv);
	return steps_go(&s);
}
