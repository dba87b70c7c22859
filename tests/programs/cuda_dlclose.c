/* cuda_dlclose.c - a program that closes the driver and opens it again
 * SPDX-License-Identifier: MIT
 */
#include "cuda_steps.h"

int main(int argc, char **argv)
{
	struct calls calls;
	int i, status = 0;
	void *lib;

	for (i = 1; i <= 3 && !status; i++) {
		struct steps s = { .c = &calls };

		lib = calls_open("libcuda.so.1");
		if (!lib || !calls_dlsym(&calls, lib))
			return 4;
		steps_options(&s, argc, argv);
		status = steps_go(&s);
		printf("dlclose %d\n", dlclose(lib));
	}
	return status;
}
