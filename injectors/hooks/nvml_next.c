/* nvml_next.c - finds the management library behind the proxy, never the proxy
 * SPDX-License-Identifier: MIT
 *
 * FAULTDRILL_NVML_NEXT names it by path, or says "soft": none. Without it: the
 * directories of LD_LIBRARY_PATH, then the usual places. It is opened by
 * absolute path and locally, so that two libraries of one SONAME live side by
 * side and the program goes on to find ours.
 */
#include "nvml_proxy.h"
#include "old_libc.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAME "libnvidia-ml.so.1"
#define MARK "drill_nvml_mark"

/* By this symbol a library is known as this proxy. */
__attribute__((visibility("default"))) extern const char drill_nvml_mark[];
const char drill_nvml_mark[] = "faultdrill";

static char next_path[PATH_MAX];

void drill_nvml_complain(const char *what, const char *why)
{
	static atomic_flag once = ATOMIC_FLAG_INIT;

	if (!atomic_flag_test_and_set(&once))
		fprintf(stderr, "faultdrill: NVML: '%s' %s\n", what, why);
}

static nvmlReturn_t not_found(void)
{
	return NVML_ERROR_FUNCTION_NOT_FOUND;
}

void *drill_nvml_next_find(const char *name)
{
	void *f = dlsym(drill_nvml.next, name);

	return f ? f : (void *)not_found;
}

static void *open_in(const char *dir, size_t n)
{
	void *lib;

	if (!n || *dir != '/' || n + sizeof("/" NAME) > sizeof(next_path))
		return NULL;
	snprintf(next_path, sizeof(next_path), "%.*s/" NAME, (int)n, dir);
	if (access(next_path, R_OK))
		return NULL;
	lib = dlopen(next_path, RTLD_NOW | RTLD_LOCAL);
	if (lib && (dlsym(lib, MARK) || !dlsym(lib, "nvmlErrorString"))) {
		dlclose(lib);
		return NULL;
	}
	return lib;
}

static void *search(void)
{
	static const char *const usual[] = {
		"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu",
		"/usr/lib64", "/usr/lib", "/usr/local/nvidia/lib64",
		"/usr/lib/wsl/lib",
	};
	const char *dirs = getenv("LD_LIBRARY_PATH");
	void *lib = NULL;
	size_t n;

	for (; dirs && *dirs && !lib; dirs += n + (dirs[n] != '\0')) {
		n = strcspn(dirs, ":;");
		lib = open_in(dirs, n);
	}
	for (size_t i = 0; !lib && i < sizeof(usual) / sizeof(*usual); i++)
		lib = open_in(usual[i], strlen(usual[i]));
	return lib;
}

static void *open_named(const char *path, const char **why)
{
	void *lib;

	snprintf(next_path, sizeof(next_path), "%s", path);
	if (*path != '/') {
		*why = "is neither an absolute path nor \"soft\" "
		       "(FAULTDRILL_NVML_NEXT)";
		return NULL;
	}
	lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!lib)
		*why = dlerror();
	else if (dlsym(lib, MARK))
		*why = "is the proxy itself, not what is behind it";
	else if (!dlsym(lib, "nvmlErrorString"))
		*why = "is no NVML library: it has no nvmlErrorString";
	if (lib && *why) {
		dlclose(lib);
		return NULL;
	}
	return lib;
}

void drill_nvml_next_open(const char **why)
{
	const char *named = getenv("FAULTDRILL_NVML_NEXT");

	*why = NULL;
	drill_nvml.next_path = next_path;
	if (drill_nvml.next)
		return;
	if (named && !strcmp(named, "soft"))
		snprintf(next_path, sizeof(next_path), "soft");
	else if (named && *named)
		drill_nvml.next = open_named(named, why);
	else
		drill_nvml.next = search();
	if (!drill_nvml.next && !*why)
		snprintf(next_path, sizeof(next_path), "soft");
}
