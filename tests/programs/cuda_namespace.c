/* cuda_namespace.c - opens the driver in a namespace of its own (dlmopen)
 * SPDX-License-Identifier: MIT
 *
 * usage: cuda_namespace LIBRARY; prints what cuInit says
 */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	void *lib = argc == 2 ? dlmopen(LM_ID_NEWLM, argv[1], RTLD_NOW) : NULL;
	int (*init)(unsigned int) = lib ?
		(int (*)(unsigned int))dlsym(lib, "cuInit") : NULL;

	if (!init) {
		printf("%s\n", argc == 2 ? dlerror() : "usage");
		return 1;
	}
	printf("cuInit %d\n", init(0));
	return 0;
}
