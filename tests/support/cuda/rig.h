/* rig.h - a process with the CUDA proxy over the toy driver, for tests
 * SPDX-License-Identifier: MIT
 *
 * Included by one file of a program. The proxy is opened as a program would, so
 * each test is a process of its own, for a process has one proxy.
 */
#ifndef DRILL_CUDA_RIG_H
#define DRILL_CUDA_RIG_H

#include "injectors/hooks/cuda_proxy.h"
#include "tests/support/cuda/toy.h"
#include "tests/unit/check_main.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct {
	const char *symbol;
	int since;
} known[] = {
#define KNOWN(number, symbol, since) { #symbol, since },
	DRILL_CUDA_SYMBOLS(KNOWN)
};

static char dir[64], page_path[96], said_path[96], cwd[2048];
static struct drill_device_page *page;
static void *proxy, *toy;
static uint32_t *toy_count, *toy_records;
static struct toy_record *record;

static inline const char *built(const char *what)
{
	static char path[2][4096];
	static int turn;
	const char *b = getenv("BUILD");

	turn = !turn;
	snprintf(path[turn], sizeof(path[turn]), "%s/%s/%s",
		 b && *b == '/' ? "" : cwd, b ? b : "build", what);
	return path[turn];
}

static inline void make_page(void)
{
	int fd = open(page_path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(posix_fallocate(fd, 0, sizeof(*page)), 0);
	page = mmap(NULL, sizeof(*page), PROT_READ | PROT_WRITE, MAP_SHARED,
		    fd, 0);
	ck_assert_ptr_ne(page, MAP_FAILED);
	close(fd);
	page->version = DRILL_DEVICE_VERSION;
	page->size = sizeof(*page);
	page->owner = geteuid();
	page->mode = 0600;
	atomic_store(&page->magic, DRILL_DEVICE_MAGIC);
}

static inline void setup(void)
{
	ck_assert_ptr_nonnull(getcwd(cwd, sizeof(cwd)));
	strcpy(dir, "/tmp/fd-proxy.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(page_path, sizeof(page_path), "%s/devices.page", dir);
	snprintf(said_path, sizeof(said_path), "%s/said", dir);
	make_page();
	ck_assert_ptr_nonnull(freopen(said_path, "w", stderr));
	setenv("FAULTDRILL_DEVICES", page_path, 1);
	setenv("FAULTDRILL_CUDA_NEXT", built("tests/cuda/toy/libcuda.so.1"),
	       1);
	unsetenv("FAULTDRILL_RANK");
	unsetenv("OMPI_COMM_WORLD_RANK");
}

static inline void teardown(void)
{
	char cmd[96];

	snprintf(cmd, sizeof(cmd), "rm -rf '%s'", dir);
	ck_assert_int_eq(system(cmd), 0);
}

static inline void *open_lib(const char *path)
{
	void *lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	ck_assert_msg(lib != NULL, "%s", dlerror());
	return lib;
}

static inline void *sym(const char *name)
{
	void *s = dlsym(proxy, name);

	ck_assert_msg(s != NULL, "no %s", name);
	return s;
}

static inline void load(void)
{
	proxy = open_lib(built("hooks/cuda/libcuda.so.1"));
	toy = open_lib(built("tests/cuda/toy/libcuda.so.1"));
	ck_assert_ptr_ne(proxy, toy);
	toy_count = dlsym(toy, "toy_count");
	toy_records = dlsym(toy, "toy_records");
	record = dlsym(toy, "toy_record");
}

/* With a 0 for each argument that there may be. */
static inline int call0(const char *name)
{
	int (*fn)(long, long, long, long, long, long, long, long, long, long,
		  long) = sym(name);

	return fn(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
}

static inline const char *said(void)
{
	static char text[4096];
	FILE *f = fopen(said_path, "r");

	fflush(stderr);
	ck_assert_ptr_nonnull(f);
	text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
	fclose(f);
	return text;
}

static inline struct drill_device_fault *arm(int call, int action)
{
	struct drill_device_fault *f = &page->fault[2];

	memset(f, 0, sizeof(*f));
	f->mark = 77;
	f->action = (uint32_t)action;
	f->device = -1;
	f->rank = -1;
	f->error = 999;
	f->call = 1 + (uint32_t)call;
	f->nth = 1;
	f->ppm = 1000000;
	f->state = DRILL_DEVICE_ARMED;
	page->armed = 1 << 2;
	page->hot[call] = 1;
	return f;
}

#endif
