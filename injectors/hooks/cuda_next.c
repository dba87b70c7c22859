/* cuda_next.c - finds the driver library behind the proxy, never the proxy
 * SPDX-License-Identifier: MIT
 *
 * FAULTDRILL_CUDA_NEXT names it by path. Without it: the directories of
 * LD_LIBRARY_PATH, what ld.so.cache lists, the usual places. It is opened by
 * absolute path and locally, so that two libraries of one SONAME live side by
 * side and the program goes on to find ours.
 */
#include "cuda_parts.h"
#include "old_libc.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME "libcuda.so.1"
#define CACHE "/etc/ld.so.cache"
#define CACHE_MAX (16 << 20)

static const char *const usual[] = {
	"/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/lib64", "/usr/lib",
	"/usr/local/nvidia/lib64",   "/usr/lib/wsl/lib",
};

static void *next_lib;
static char next_path[PATH_MAX];

/* What an entry is that the next library lacks. */
static CUresult missing(void)
{
	return CUDA_ERROR_NOT_SUPPORTED;
}

/* What all are when there is no library at all. */
static CUresult no_driver(void)
{
	return CUDA_ERROR_NO_DEVICE;
}

static struct drill_cuda_mark *mark_of(void *lib)
{
	struct drill_cuda_mark *m = dlsym(lib, DRILL_CUDA_MARK);

	return m && m->size == sizeof(*m) ? m : NULL;
}

/* NULL: it is no driver library, or one of ours. */
static void *open_path(const char *path)
{
	void *lib;

	if (access(path, R_OK))
		return NULL;
	lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (lib && (dlsym(lib, DRILL_CUDA_MARK) || !dlsym(lib, "cuInit"))) {
		dlclose(lib);
		return NULL;
	}
	return lib;
}

static void *open_in(const char *dir, size_t n)
{
	char path[PATH_MAX];

	if (!n || *dir != '/' || n + sizeof("/" NAME) > sizeof(path))
		return NULL;
	snprintf(path, sizeof(path), "%.*s/" NAME, (int)n, dir);
	return open_path(path);
}

static void *search_dirs(const char *dirs)
{
	void *lib = NULL;
	size_t n;

	for (; dirs && *dirs && !lib; dirs += n + (dirs[n] != '\0')) {
		n = strcspn(dirs, ":;");
		lib = open_in(dirs, n);
	}
	return lib;
}

/* The cache's strings end with a NUL each: what ends in /libcuda.so.1 is a
 * path, whatever the format around it. */
static void *search_strings(const char *text, size_t size)
{
	static const char tail[] = "/" NAME;
	const char *at = text, *begin;
	void *lib = NULL;

	while (!lib && (at = memmem(at, size - (size_t)(at - text), tail,
				    sizeof(tail)))) {
		for (begin = at; begin > text && begin[-1]; begin--)
			;
		lib = open_path(begin);
		at += sizeof(tail) - 1;
	}
	return lib;
}

static void *search_cache(void)
{
	int fd = open(CACHE, O_RDONLY | O_CLOEXEC);
	void *lib = NULL, *m;
	struct statx st;

	if (fd < 0)
		return NULL;
	if (!statx(fd, "", AT_EMPTY_PATH, STATX_SIZE, &st) && st.stx_size &&
	    st.stx_size < CACHE_MAX) {
		m = mmap(NULL, st.stx_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (m != MAP_FAILED) {
			lib = search_strings(m, st.stx_size);
			munmap(m, st.stx_size);
		}
	}
	close(fd);
	return lib;
}

static void *search(void)
{
	void *lib = search_dirs(getenv("LD_LIBRARY_PATH"));

	if (!lib)
		lib = search_cache();
	for (size_t i = 0; !lib && i < sizeof(usual) / sizeof(*usual); i++)
		lib = open_in(usual[i], strlen(usual[i]));
	if (!lib)
		drill_cuda_complain(NAME, "is found nowhere but here; "
					  "FAULTDRILL_CUDA_NEXT may name it");
	return lib;
}

static void *open_named(const char *path)
{
	void *lib;

	if (*path != '/') {
		drill_cuda_complain(path, "is no absolute path "
					  "(FAULTDRILL_CUDA_NEXT)");
		return NULL;
	}
	lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!lib) {
		drill_cuda_complain(path, dlerror());
		return NULL;
	}
	if (!dlsym(lib, DRILL_CUDA_MARK) && dlsym(lib, "cuInit"))
		return lib;
	drill_cuda_complain(path, dlsym(lib, DRILL_CUDA_MARK) ?
		"is the proxy itself, not what is behind it" :
		"is no CUDA driver library: it has no cuInit");
	dlclose(lib);
	return NULL;
}

static void fill_table(void)
{
#define NAME_OF(number, symbol, since) #symbol,
	static const char *const names[] = { DRILL_CUDA_SYMBOLS(NAME_OF) };
	void *fn;

	for (int i = 0; i < DRILL_CUDA_CALLS; i++) {
		fn = next_lib ? dlsym(next_lib, names[i]) : NULL;
		if (!fn)
			fn = next_lib ? (void *)missing : (void *)no_driver;
		drill_cuda.next[i] = fn;
	}
}

const char *drill_cuda_next_open(void)
{
	const char *named = getenv("FAULTDRILL_CUDA_NEXT");
	struct link_map *map;

	if (!next_lib)
		next_lib = named && *named ? open_named(named) : search();
	if (next_lib && !dlinfo(next_lib, RTLD_DI_LINKMAP, &map))
		snprintf(next_path, sizeof(next_path), "%s", map->l_name);
	fill_table();
	return next_path;
}

void *drill_cuda_next_extra(const char *name)
{
	return next_lib ? dlsym(next_lib, name) : NULL;
}

bool drill_cuda_is_missing(unsigned int call)
{
	return drill_cuda.next[call] == (void *)missing ||
	       drill_cuda.next[call] == (void *)no_driver;
}

/* An object of the process that is called like the driver library. */
static bool is_driver(const struct dl_phdr_info *info)
{
	const char *base = strrchr(info->dlpi_name, '/');

	base = base ? base + 1 : info->dlpi_name;
	return !strncmp(base, "libcuda.so", strlen("libcuda.so"));
}

static bool holds(const struct dl_phdr_info *info, const void *p)
{
	uintptr_t a = (uintptr_t)p, begin;

	for (int i = 0; i < info->dlpi_phnum; i++) {
		if (info->dlpi_phdr[i].p_type != PT_LOAD)
			continue;
		begin = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
		if (a >= begin && a - begin < info->dlpi_phdr[i].p_memsz)
			return true;
	}
	return false;
}

static int count_stranger(struct dl_phdr_info *info, size_t size, void *arg)
{
	unsigned int *n = arg;

	(void)size;
	if (is_driver(info) && !holds(info, &drill_cuda_my_mark) &&
	    strcmp(info->dlpi_name, next_path))
		(*n)++;
	return 0;
}

unsigned int drill_cuda_strangers(void)
{
	unsigned int n = 0;

	dl_iterate_phdr(count_stranger, &n);
	return n;
}

struct names {
	int n;
	char path[8][PATH_MAX];
};

static int note_driver(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct names *l = arg;

	(void)size;
	if (is_driver(info) && !holds(info, &drill_cuda_my_mark) && l->n < 8)
		snprintf(l->path[l->n++], PATH_MAX, "%s", info->dlpi_name);
	return 0;
}

const struct drill_cuda_mark *drill_cuda_other_copy(void)
{
	struct drill_cuda_mark *m = NULL;
	static struct names list;
	void *lib;

	/* Asked outside the walk, which holds the loader's lock. */
	list.n = 0;
	dl_iterate_phdr(note_driver, &list);
	for (int i = 0; i < list.n && !m; i++) {
		lib = dlopen(list.path[i], RTLD_LAZY | RTLD_NOLOAD);
		if (!lib)
			continue;
		m = mark_of(lib);
		if (m && !atomic_load(&m->started))
			m = NULL;
		dlclose(lib);
	}
	return m;
}
