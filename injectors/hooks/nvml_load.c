/* nvml_load.c - how full and how busy a device is, and who computes on it
 * SPDX-License-Identifier: MIT
 *
 * A next library counts for itself. To its numbers comes what a fault adds: a
 * device that a fault fills is full, one on which a kernel hangs is busy.
 */
#include "nvml_proxy.h"

#include "device_load.h"

#include <string.h>
#include <unistd.h>

/* ---- memory ---- */

/* For all versions: *@used and *@left are of the next library, or to be filled;
 * in all they are *@total less what is reserved. */
static nvmlReturn_t lay_memory(const struct drill_device *d,
			       unsigned long long *total,
			       unsigned long long *left,
			       unsigned long long *used)
{
	struct drill_device_load load;
	uint64_t now;

	if (!drill_nvml.next) {
		drill_device_load(drill_nvml.page, d->index, &load);
		if (!d->memory_bytes || load.unknown)
			return NVML_ERROR_NOT_SUPPORTED;
		now = drill_device_used(drill_nvml.page, d->index, -1);
		*total = d->memory_bytes;
		*used = now < *total ? now : *total;
		*left = *total - *used;
	}
	if (!d->health)
		return NVML_SUCCESS; /* the next library's alone */
	now = d->memory_full ? 0 :
			       drill_device_left(drill_nvml.page,
						 (int)d->index, *used, *left);
	*used += *left - now;
	*left = now;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t *memory)
{
	struct drill_device d;
	nvmlReturn_t r = drill_nvml_ask(device, DRILL_NVML_LIVE, memory, &d);

	if (!r && drill_nvml.next)
		r = NVML_NEXT(nvmlDeviceGetMemoryInfo)(device, memory);
	return r ? r : lay_memory(&d, &memory->total, &memory->free,
				  &memory->used);
}

nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t device,
					nvmlMemory_v2_t *memory)
{
	struct drill_device d;
	nvmlReturn_t r = drill_nvml_ask(device, DRILL_NVML_LIVE, memory, &d);

	if (!r && drill_nvml.next)
		r = NVML_NEXT(nvmlDeviceGetMemoryInfo_v2)(device, memory);
	else if (!r && memory->version != (sizeof(*memory) | 2u << 24))
		r = NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
	else if (!r)
		memory->reserved = 0;
	return r ? r : lay_memory(&d, &memory->total, &memory->free,
				  &memory->used);
}

/* ---- time ---- */

nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t device,
					   nvmlUtilization_t *utilization)
{
	struct drill_device d;
	struct drill_device_load load = { 0 };
	nvmlUtilization_t next = { 0 };
	nvmlReturn_t r = drill_nvml_ask(device, DRILL_NVML_LIVE, utilization,
					&d);

	if (!r && drill_nvml.next)
		r = NVML_NEXT(nvmlDeviceGetUtilizationRates)(device, &next);
	if (!r && d.health)
		drill_device_load(drill_nvml.page, d.index, &load);
	if (!r && !drill_nvml.next && (!d.memory_bytes || load.unknown))
		r = NVML_ERROR_NOT_SUPPORTED;
	if (r)
		return r;
	utilization->gpu = next.gpu > load.kernel_pct ? next.gpu :
							load.kernel_pct;
	utilization->memory = next.memory > load.memory_pct ? next.memory :
							      load.memory_pct;
	return NVML_SUCCESS;
}

/* ---- processes ---- */

static unsigned long long held_by(const struct drill_device_client *c,
				  unsigned int device)
{
	const struct faultdrill_device_use *u = drill_device_use(c, device);

	return u && atomic_load(&c->shows) ? atomic_load(&u->used_bytes) :
					     (uint64_t)NVML_VALUE_NOT_AVAILABLE;
}

/* Pids are those of the PID namespace that the job of this host runs in: to a
 * monitor outside they mean nothing, as with a container's on hardware. @size
 * bytes apart; the first two members are the same in all versions. */
static nvmlReturn_t list_processes(const struct drill_device *d,
				   unsigned int *count, void *infos,
				   size_t size)
{
	const struct drill_device_client *c = drill_nvml.page->client;
	nvmlProcessInfo_t one = { 0, 0, ~0u, ~0u };
	unsigned int n = 0, room = *count;
	int look = drill_device_look();

	for (int i = 0; i < DRILL_DEVICE_CLIENTS; i++) {
		if (!drill_device_computes(drill_nvml.page, look, i, d->index))
			continue;
		one.pid = (unsigned int)c[i].pid;
		one.usedGpuMemory = held_by(&c[i], d->index);
		if (infos && n < room)
			memcpy((char *)infos + n * size, &one, size);
		n++;
	}
	if (look >= 0)
		close(look);
	*count = n;
	return n > room || (n && !infos) ? NVML_ERROR_INSUFFICIENT_SIZE :
					   NVML_SUCCESS;
}

#define PROCESSES(name, type)                                                  \
	nvmlReturn_t name(nvmlDevice_t device, unsigned int *count,            \
			  type *infos)                                         \
	{                                                                      \
		struct drill_device d;                                         \
                                                                               \
		NVML_ASK(&d, LIVE, count, name, count, infos);                 \
		return list_processes(&d, count, infos, sizeof(*infos));       \
	}
PROCESSES(nvmlDeviceGetComputeRunningProcesses, nvmlProcessInfo_v1_t)
PROCESSES(nvmlDeviceGetComputeRunningProcesses_v2, nvmlProcessInfo_t)
PROCESSES(nvmlDeviceGetComputeRunningProcesses_v3, nvmlProcessInfo_t)
