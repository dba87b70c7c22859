/* nvml_ask.c - what an NVML client is told of a device that has a fault
 * SPDX-License-Identifier: MIT
 *
 * The library is the proxy that the job loads. It looks for its page once in a
 * process, so each question is asked by a child.
 */
#include "nvml_ask.h"

#include "injectors/hooks/device_step.h"

#include "faultdrill/nvml_api.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ANSWER_S 2

struct answer {
	int init, handle, temperature;
	unsigned int count, mhz;
	unsigned long long ecc;
	nvmlMemory_t memory;
};

/* Beside the agent, where the build and an installation have it. */
static const char *library(char *buf, size_t size)
{
	const char *set = getenv("FAULTDRILL_NVML_ASK");
	char exe[300];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

	if (set)
		return set;
	exe[n < 0 ? 0 : n] = '\0';
	if (strrchr(exe, '/'))
		*strrchr(exe, '/') = '\0';
	snprintf(buf, size, "%s/hooks/cuda/libnvidia-ml.so.1", exe);
	return buf;
}

#define FIND(lib, name) ((__typeof__(&name))dlsym(lib, #name))

/* It is our own proxy: it has all of them. */
static void ask(void *lib, unsigned int device, struct answer *a)
{
	unsigned int celsius;
	nvmlDevice_t dev;

	a->init = FIND(lib, nvmlInit_v2)();
	FIND(lib, nvmlDeviceGetCount_v2)(&a->count);
	a->handle = FIND(lib, nvmlDeviceGetHandleByIndex_v2)(device, &dev);
	if (!a->handle) {
		a->temperature = FIND(lib, nvmlDeviceGetTemperature)(
			dev, NVML_TEMPERATURE_GPU, &celsius);
		FIND(lib, nvmlDeviceGetTotalEccErrors)(
			dev, NVML_MEMORY_ERROR_TYPE_UNCORRECTED,
			NVML_AGGREGATE_ECC, &a->ecc);
		FIND(lib, nvmlDeviceGetClockInfo)(dev, NVML_CLOCK_SM, &a->mhz);
		FIND(lib, nvmlDeviceGetMemoryInfo)(dev, &a->memory);
	}
	/* Says bye, so that the page has room for others. */
	FIND(lib, nvmlShutdown)();
}

static void be_client(const char *path, const char *page, unsigned int device,
		      int fd)
{
	struct answer a = { .init = -1 };
	void *lib;

	signal(SIGALRM, SIG_DFL);
	alarm(ANSWER_S);
	setenv("FAULTDRILL_DEVICES", page, 1);
	setenv("FAULTDRILL_NVML_NEXT", "soft", 0);
	lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (lib)
		ask(lib, device, &a);
	if (write(fd, &a, sizeof(a)) < 0)
		_exit(1);
	_exit(0);
}

static int question(const char *path, const char *page, unsigned int device,
		    struct answer *ret)
{
	int fd[2], n;
	pid_t pid;

	if (pipe(fd) < 0)
		return -errno;
	pid = fork();
	if (pid == 0)
		be_client(path, page, device, fd[1]);
	close(fd[1]);
	n = pid < 0 ? -1 : (int)read(fd[0], ret, sizeof(*ret));
	close(fd[0]);
	if (pid > 0)
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
	return n == (int)sizeof(*ret) ? 0 : -EIO;
}

/* As NVML is to say it. */
static uint32_t health_of(const struct drill_device *v)
{
	return v->nvml_health ? v->nvml_health : atomic_load(&v->health);
}

static bool agrees(const struct answer *a, const struct drill_device *v,
		   int devices)
{
	switch (health_of(v)) {
	case DRILL_DEVICE_LOST:
		return a->handle == NVML_ERROR_GPU_IS_LOST ||
		       a->temperature == NVML_ERROR_GPU_IS_LOST;
	case DRILL_DEVICE_GONE:
		return a->handle != 0 || (int)a->count < devices;
	case DRILL_DEVICE_RESET_REQUIRED:
		return a->temperature == NVML_ERROR_RESET_REQUIRED &&
		       a->ecc == v->ecc_aggregate[1];
	default:
		return !a->handle && a->ecc == v->ecc_aggregate[1] &&
		       a->mhz == v->sm_mhz &&
		       (!v->memory_full || (!a->memory.free && a->memory.total));
	}
}

bool drill_nvml_tells(struct drill_act *act,
		      const struct drill_device_found *d)
{
	const char *page = drill_record_get(act->record, "page");
	unsigned int device = d->f.step[0].device;
	struct drill_device v;
	struct answer a;
	char buf[400];
	const char *path = library(buf, sizeof(buf));
	bool same;

	drill_device_read(d->devices.page, device, &v);
	/* An agent has no time to wait for silent firmware. */
	if (v.nvml_block_ms && health_of(&v) == DRILL_DEVICE_OK) {
		json_object_set_new(act->evidence, "nvml",
				    json_sprintf("blocks calls for %u ms",
						 v.nvml_block_ms));
		return true;
	}
	if (access(path, R_OK) < 0) {
		json_object_set_new(act->evidence, "nvml",
				    json_string("no library here"));
		return true;
	}
	if (question(path, page, device, &a) < 0 || a.init < 0) {
		json_object_set_new(act->evidence, "nvml",
				    json_string("gave no answer"));
		return false;
	}
	drill_device_read(d->devices.page, device, &v);
	same = agrees(&a, &v, drill_devices_count(&d->devices));
	json_object_set_new(act->evidence, "nvml",
		json_pack("{s:i s:i s:i s:I s:i s:b}", "devices", (int)a.count,
			  "handle", a.handle, "temperature", a.temperature,
			  "ecc_uncorrected", (json_int_t)a.ecc, "sm_mhz",
			  (int)a.mhz, "as_on_page", same));
	return same;
}
