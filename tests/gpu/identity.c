/* identity.c - are the driver's pointers the same, however one asks for them?
 * SPDX-License-Identifier: MIT
 *
 * Asks cuGetProcAddress_v2 for each entry point by name, version and flags, as
 * the CUDA runtime does, and compares with dlsym on the same library. Prints
 *
 *   identity resolved N same N sibling N ours N other N us N
 *
 * and a line for each that differs. `sibling`: answered with another entry of
 * that name, as a driver does that lacks this one (the software device has few);
 * `ours` point into the library that was opened; `us` is the time of all the
 * questions. Exit status 0 when all that resolve are same or sibling, and ours.
 */
#include "injectors/hooks/cuda_symbols.h"

#include <dlfcn.h>
#include <faultdrill/cuda_api.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const struct symbol {
	const char *name;
	int since;
} symbols[] = {
#define S(number, symbol, since) { #symbol, since },
	DRILL_CUDA_SYMBOLS(S)
#undef S
};
#define SYMBOLS (sizeof(symbols) / sizeof(*symbols))

/* "cuMemcpy_v2_ptds" is asked for as "cuMemcpy" with flag 2. */
static cuuint64_t ask_as(const char *symbol, char *name, size_t size)
{
	cuuint64_t flags = 0;
	char *end;

	snprintf(name, size, "%s", symbol);
	end = strrchr(name, '_');
	if (end && (!strcmp(end, "_ptsz") || !strcmp(end, "_ptds"))) {
		*end = '\0';
		flags = 2;
	}
	end = strrchr(name, '_');
	if (end && end[1] == 'v' && end[2] >= '2' && end[2] <= '9' && !end[3])
		*end = '\0';
	return flags;
}

/* Is @fn some other entry of the library by that name? */
static bool is_sibling(void *lib, const void *fn, const char *symbol)
{
	char name[128], other[128];
	size_t i;

	ask_as(symbol, name, sizeof(name));
	for (i = 0; i < SYMBOLS; i++) {
		ask_as(symbols[i].name, other, sizeof(other));
		if (!strcmp(name, other) && dlsym(lib, symbols[i].name) == fn)
			return true;
	}
	return false;
}

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static bool lies_in(const void *fn, const char *library)
{
	Dl_info where;

	return dladdr(fn, &where) && where.dli_fname &&
	       !strcmp(where.dli_fname, library);
}

static const char *file_of(void *lib)
{
	void *fn = dlsym(lib, "cuInit");
	static Dl_info where;

	if (!fn || !dladdr(fn, &where))
		return "";
	return where.dli_fname;
}

int main(int argc, char **argv)
{
	const char *file = argc > 1 ? argv[1] : "libcuda.so.1", *library;
	__typeof__(cuGetProcAddress_v2) *get;
	int resolved = 0, same = 0, siblings = 0, ours = 0;
	static void *got[SYMBOLS];
	int64_t begin, asked;
	char name[128];
	void *lib;
	size_t i;

	lib = dlopen(file, RTLD_NOW);
	if (lib)
		*(void **)&get = dlsym(lib, "cuGetProcAddress_v2");
	if (!lib || !get) {
		printf("identity: %s\n", dlerror());
		return 2;
	}
	library = file_of(lib);
	begin = now_ns();
	for (i = 0; i < SYMBOLS; i++) {
		cuuint64_t flags = ask_as(symbols[i].name, name, sizeof(name));

		if (get(name, &got[i], symbols[i].since, flags, NULL))
			got[i] = NULL;
	}
	asked = now_ns() - begin;
	for (i = 0; i < SYMBOLS; i++) {
		void *by_name = got[i] ? dlsym(lib, symbols[i].name) : NULL;

		resolved += got[i] != NULL;
		same += got[i] && got[i] == by_name;
		ours += got[i] && lies_in(got[i], library);
		if (!got[i] || got[i] == by_name)
			continue;
		if (is_sibling(lib, got[i], symbols[i].name))
			siblings++;
		printf("differs %s %d: %p, by name %p\n",
			       symbols[i].name, symbols[i].since, got[i],
			       by_name);
	}
	printf("identity resolved %d same %d sibling %d ours %d other %d us "
	       "%lld\n", resolved, same, siblings, ours, resolved - ours,
	       (long long)(asked / 1000));
	return resolved && same + siblings == resolved && ours == resolved ? 0 : 1;
}
