/* exec_place.c - what surrounds a command that exec starts: pages, hooks, driver
 * SPDX-License-Identifier: MIT
 */
#include "exec_place.h"

#include "injectors/hooks/devices.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define CUDA "hooks/cuda"
#define AWAIT_MS 8000

static bool wanted(const char *word)
{
	const char *want = getenv(DRILL_EXEC_WANT);

	return want && strstr(want, word);
}

static void put(const char *name, const char *dir, const char *file)
{
	char path[700];

	snprintf(path, sizeof(path), "%s/%s", dir, file);
	setenv(name, path, 1);
}

/* Puts dir/file before what the variable holds; a preload is left out when it
 * was not built. */
static void prepend(const char *name, const char *dir, const char *file)
{
	const char *old = getenv(name);
	char path[700], *value;

	snprintf(path, sizeof(path), "%s/%s", dir, file);
	if (access(path, R_OK) < 0)
		return;
	if (asprintf(&value, "%s%s%s", path, old && *old ? ":" : "",
		     old ? old : "") < 0)
		return;
	setenv(name, value, 1);
	free(value);
}

static bool has_driver(void)
{
	return getenv("FAULTDRILL_CUDA_NEXT") ||
	       access("/dev/nvidiactl", F_OK) == 0 ||
	       access("/dev/dxg", F_OK) == 0 || drill_devices_of_driver();
}

/* Both are in front by name and by preload: one that asks for libcuda.so, or
 * with a search path of its own, finds ours all the same. */
static void surround_cuda(const char *dir, const char *bin)
{
	put("FAULTDRILL_DEVICES", dir, "devices.page");
	if (!has_driver()) {
		put("FAULTDRILL_CUDA_NEXT", bin, "softcuda/libcuda.so.1");
		setenv("FAULTDRILL_NVML_NEXT", "soft", 0);
	}
	prepend("LD_LIBRARY_PATH", bin, CUDA);
	prepend("LD_PRELOAD", bin, CUDA "/libcuda.so.1");
	if (wanted("audit"))
		prepend("LD_AUDIT", bin, "hooks/cuda_audit.so");
}

void drill_exec_surround(const char *dir, const char *bin)
{
	setenv("FAULTDRILL_HOST", "h0", 1);
	setenv("FAULTDRILL_ATTEMPT", "1", 1);
	setenv("FAULTDRILL_RANK", "0", 0); /* what mpirun says goes before it */
	put("FAULTDRILL_HOOKS", dir, "hooks.page");
	put("FAULTDRILL_WAKE", dir, "wake");
	prepend("LD_PRELOAD", bin, "libfaultdrill-mpi.so");
	if (wanted("cuda"))
		surround_cuda(dir, bin);
}

/* The first call of a short program would be gone before the agent is there. */
void drill_exec_await(const char *dir)
{
	const struct timespec nap = { 0, 1000000 };
	struct drill_devices d;
	char path[700];
	int i;

	snprintf(path, sizeof(path), "%s/devices.page", dir);
	if (!wanted("wait") || drill_devices_open(&d, path, NULL) < 0)
		return;
	for (i = 0; i < AWAIT_MS && !atomic_load(&d.page->armed); i++)
		nanosleep(&nap, NULL);
	drill_devices_close(&d);
}
