/* mpi_next.c - finds the MPI library's own functions and its two handles
 * SPDX-License-Identifier: MIT
 */
#include "mpi_next.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

/* The oldest dlsym and dlopen there are, wherever libc keeps them. */
#if defined(__x86_64__)
__asm__(".symver dlsym,dlsym@GLIBC_2.2.5");
__asm__(".symver dlopen,dlopen@GLIBC_2.2.5");
#elif defined(__aarch64__)
__asm__(".symver dlsym,dlsym@GLIBC_2.17");
__asm__(".symver dlopen,dlopen@GLIBC_2.17");
#endif

/* Where a library is that was opened for one module only. */
static void *find_local(const char *name)
{
	static const char *const libraries[] = {
		"libmpi.so.40", "libmpi_mpifh.so.40", "libmpi_usempif08.so.40",
		"libmpi.so.12", "libmpi.so", NULL
	};
	void *lib, *f = NULL;

	for (int i = 0; libraries[i] && !f; i++) {
		lib = dlopen(libraries[i], RTLD_LAZY | RTLD_NOLOAD);
		if (lib)
			f = dlsym(lib, name);
	}
	return f;
}

void *mpi_next_data(const char *name)
{
	/* Not the next one: a program may hold the library's copy of it. */
	void *d = dlsym(RTLD_DEFAULT, name);

	return d ? d : find_local(name);
}

void *mpi_next_find(const char *name, _Atomic(void *) *ret)
{
	void *f = dlsym(RTLD_NEXT, name);

	if (!f)
		f = find_local(name);
	if (!f) {
		fprintf(stderr, "faultdrill: no '%s' behind the MPI hook\n",
			name);
		abort();
	}
	atomic_store_explicit(ret, f, memory_order_relaxed);
	return f;
}
