/* cuda_audit.c - sends each search for the CUDA driver to the proxy (LD_AUDIT)
 * SPDX-License-Identifier: MIT
 *
 * For programs that open the driver by absolute path, or by name in a namespace
 * of its own (an absolute path there is asked of nobody). The proxy is
 * cuda/libcuda.so.1 beside this file; what the proxy itself opens is left alone.
 * The NVML proxy is there, too, where it is built.
 */
#include "old_libc.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))
#define PROXY 1

static char cuda[PATH_MAX], nvml[PATH_MAX];

static void beside(char *ret, const char *self, const char *name)
{
	const char *slash = strrchr(self, '/');
	int n;

	n = snprintf(ret, PATH_MAX, "%.*s/cuda/%s",
		     slash ? (int)(slash - self) : 1, slash ? self : ".", name);
	if (n >= PATH_MAX || access(ret, R_OK))
		*ret = '\0';
}

EXPORTED unsigned int la_version(unsigned int version)
{
	Dl_info me;

	if (dladdr((void *)la_version, &me) && me.dli_fname) {
		beside(cuda, me.dli_fname, "libcuda.so.1");
		beside(nvml, me.dli_fname, "libnvidia-ml.so.1");
	}
	return version < LAV_CURRENT ? version : LAV_CURRENT;
}

/* libcuda.so, libcuda.so.1, libcuda.so.580.65.06, in any directory. */
static bool is_called(const char *path, const char *name)
{
	const char *base = strrchr(path, '/');
	size_t n = strlen(name);

	base = base ? base + 1 : path;
	return !strncmp(base, name, n) && (!base[n] || base[n] == '.');
}

/* The proxy's own searches are known by its cookie. */
EXPORTED unsigned int la_objopen(struct link_map *map, Lmid_t lmid,
				 uintptr_t *cookie)
{
	(void)lmid;
	if ((*cuda && !strcmp(map->l_name, cuda)) ||
	    (*nvml && !strcmp(map->l_name, nvml)))
		*cookie = PROXY;
	return 0;
}

EXPORTED char *la_objsearch(const char *name, uintptr_t *cookie,
			    unsigned int flag)
{
	(void)flag;
	if (*cookie == PROXY)
		return (char *)name;
	if (*cuda && is_called(name, "libcuda.so"))
		return cuda;
	if (*nvml && is_called(name, "libnvidia-ml.so"))
		return nvml;
	return (char *)name;
}
