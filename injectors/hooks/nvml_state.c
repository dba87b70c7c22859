/* nvml_state.c - how a device stands now: memory, load, heat, power, clocks
 * SPDX-License-Identifier: MIT
 */
#include "nvml_proxy.h"

#include "hook_page.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#define ALL_REASONS                                                            \
	(nvmlClocksEventReasonGpuIdle | nvmlClocksEventReasonSwPowerCap |      \
	 nvmlClocksThrottleReasonHwSlowdown |                                  \
	 nvmlClocksEventReasonSwThermalSlowdown |                              \
	 nvmlClocksThrottleReasonHwThermalSlowdown |                           \
	 nvmlClocksThrottleReasonHwPowerBrakeSlowdown)

nvmlReturn_t nvmlDeviceGetPersistenceMode(nvmlDevice_t device,
					  unsigned int *mode)
{
	struct drill_device d;
	nvmlReturn_t r = drill_nvml_ask(device, DRILL_NVML_LIVE, mode, &d);

	if (r)
		return r;
	NVML_PASS(nvmlDeviceGetPersistenceMode, device, mode);
	*mode = NVML_FEATURE_ENABLED;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetComputeMode(nvmlDevice_t device, unsigned int *mode)
{
	struct drill_device d;
	nvmlReturn_t r = drill_nvml_ask(device, DRILL_NVML_LIVE, mode, &d);

	if (r)
		return r;
	NVML_PASS(nvmlDeviceGetComputeMode, device, mode);
	*mode = NVML_COMPUTEMODE_DEFAULT;
	return NVML_SUCCESS;
}

static unsigned long long used(const struct drill_device *d)
{
	return d->used_bytes < d->memory_bytes ? d->used_bytes :
						 d->memory_bytes;
}

nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t *memory)
{
	struct drill_device d;
	nvmlReturn_t r = drill_nvml_ask(device, DRILL_NVML_LIVE, memory, &d);

	if (r)
		return r;
	NVML_PASS(nvmlDeviceGetMemoryInfo, device, memory);
	memory->total = d.memory_bytes;
	memory->used = used(&d);
	memory->free = memory->total - memory->used;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t device,
					nvmlMemory_v2_t *memory)
{
	struct drill_device d;
	nvmlReturn_t r = drill_nvml_ask(device, DRILL_NVML_LIVE, memory, &d);

	if (r)
		return r;
	NVML_PASS(nvmlDeviceGetMemoryInfo_v2, device, memory);
	if (memory->version != (sizeof(*memory) | 2u << 24))
		return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
	memory->total = d.memory_bytes;
	memory->reserved = 0;
	memory->used = used(&d);
	memory->free = memory->total - memory->used;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t device,
					   nvmlUtilization_t *utilization)
{
	struct drill_device d;
	nvmlReturn_t r = drill_nvml_ask(device, DRILL_NVML_LIVE, utilization,
					&d);

	if (r)
		return r;
	NVML_PASS(nvmlDeviceGetUtilizationRates, device, utilization);
	utilization->gpu = d.utilisation_pct < 100 ? d.utilisation_pct : 100;
	utilization->memory = 0;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetTemperature(nvmlDevice_t device, unsigned int sensor,
				      unsigned int *celsius)
{
	struct drill_device d;
	nvmlReturn_t r = drill_nvml_ask(device, DRILL_NVML_LIVE, celsius, &d);

	if (r)
		return r;
	NVML_PASS(nvmlDeviceGetTemperature, device, sensor, celsius);
	if (sensor != NVML_TEMPERATURE_GPU)
		return NVML_ERROR_INVALID_ARGUMENT;
	*celsius = d.temperature_c;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetPowerUsage(nvmlDevice_t device, unsigned int *mw)
{
	struct drill_device d;
	nvmlReturn_t r = drill_nvml_ask(device, DRILL_NVML_LIVE, mw, &d);

	if (r)
		return r;
	NVML_PASS(nvmlDeviceGetPowerUsage, device, mw);
	*mw = d.power_mw;
	return NVML_SUCCESS;
}

/* The three limits of a device whose limit nobody set are one. */
#define POWER_LIMIT(name)                                                      \
	nvmlReturn_t name(nvmlDevice_t device, unsigned int *mw)               \
	{                                                                      \
		struct drill_device d;                                         \
		nvmlReturn_t r = drill_nvml_ask(device, DRILL_NVML_LIVE, mw,   \
						&d);                           \
                                                                               \
		if (r)                                                         \
			return r;                                              \
		NVML_PASS(name, device, mw);                                   \
		*mw = d.power_limit_mw;                                        \
		return NVML_SUCCESS;                                           \
	}
POWER_LIMIT(nvmlDeviceGetPowerManagementLimit)
POWER_LIMIT(nvmlDeviceGetPowerManagementDefaultLimit)
POWER_LIMIT(nvmlDeviceGetEnforcedPowerLimit)

nvmlReturn_t nvmlDeviceGetPerformanceState(nvmlDevice_t device,
					   unsigned int *state)
{
	struct drill_device d;
	nvmlReturn_t r = drill_nvml_ask(device, DRILL_NVML_LIVE, state, &d);

	if (r)
		return r;
	NVML_PASS(nvmlDeviceGetPerformanceState, device, state);
	*state = NVML_PSTATE_0;
	return NVML_SUCCESS;
}

static bool is_slowed(const struct drill_device *d)
{
	return d->clock_reasons & ~nvmlClocksEventReasonGpuIdle;
}

/* The page's clock holds where the page slows the device; a device of the next
 * library has its own ones else. */
static nvmlReturn_t lay_clock(const struct drill_device *d, unsigned int type,
			      nvmlReturn_t r, unsigned int *mhz)
{
	if (type > NVML_CLOCK_VIDEO)
		return NVML_ERROR_INVALID_ARGUMENT;
	if (drill_nvml.next && (r || !is_slowed(d) || type == NVML_CLOCK_MEM))
		return r;
	if (drill_nvml.next && *mhz < d->sm_mhz)
		return r; /* slower than that already */
	*mhz = type == NVML_CLOCK_MEM ? d->mem_mhz : d->sm_mhz;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t device, unsigned int type,
				    unsigned int *mhz)
{
	struct drill_device d;
	nvmlReturn_t r = drill_nvml_ask(device, DRILL_NVML_LIVE, mhz, &d);

	if (r)
		return r;
	if (drill_nvml.next)
		r = NVML_NEXT(nvmlDeviceGetClockInfo)(device, type, mhz);
	return lay_clock(&d, type, r, mhz);
}

nvmlReturn_t nvmlDeviceGetMaxClockInfo(nvmlDevice_t device, unsigned int type,
				       unsigned int *mhz)
{
	struct drill_device d;
	nvmlReturn_t r = drill_nvml_ask(device, DRILL_NVML_LIVE, mhz, &d);

	if (r)
		return r;
	NVML_PASS(nvmlDeviceGetMaxClockInfo, device, type, mhz);
	if (type > NVML_CLOCK_VIDEO)
		return NVML_ERROR_INVALID_ARGUMENT;
	*mhz = type == NVML_CLOCK_MEM ? d.mem_max_mhz : d.sm_max_mhz;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetClock(nvmlDevice_t device, unsigned int type,
				unsigned int id, unsigned int *mhz)
{
	struct drill_device d;
	nvmlReturn_t r = drill_nvml_ask(device, DRILL_NVML_LIVE, mhz, &d);

	if (r)
		return r;
	if (drill_nvml.next)
		r = NVML_NEXT(nvmlDeviceGetClock)(device, type, id, mhz);
	if (id == NVML_CLOCK_ID_CURRENT)
		return lay_clock(&d, type, r, mhz);
	if (drill_nvml.next)
		return r;
	if (id > NVML_CLOCK_ID_CUSTOMER_BOOST_MAX)
		return NVML_ERROR_INVALID_ARGUMENT;
	return nvmlDeviceGetMaxClockInfo(device, type, mhz);
}

nvmlReturn_t nvmlDeviceGetCurrentClocksThrottleReasons(
	nvmlDevice_t device, unsigned long long *reasons)
{
	struct drill_device d;
	nvmlReturn_t r = drill_nvml_ask(device, DRILL_NVML_LIVE, reasons, &d);
	unsigned long long next = 0;

	/* The older name of the two: every library has it. */
	if (!r && drill_nvml.next)
		r = NVML_NEXT(nvmlDeviceGetCurrentClocksThrottleReasons)(
			device, &next);
	if (r)
		return r;
	if (is_slowed(&d))
		next &= ~nvmlClocksEventReasonGpuIdle;
	*reasons = next | d.clock_reasons;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetCurrentClocksEventReasons(
	nvmlDevice_t device, unsigned long long *reasons)
{
	return nvmlDeviceGetCurrentClocksThrottleReasons(device, reasons);
}

nvmlReturn_t nvmlDeviceGetSupportedClocksThrottleReasons(
	nvmlDevice_t device, unsigned long long *reasons)
{
	struct drill_device d;
	nvmlReturn_t r = drill_nvml_ask(device, DRILL_NVML_WHO, reasons, &d);

	if (r)
		return r;
	NVML_PASS(nvmlDeviceGetSupportedClocksThrottleReasons, device,
		  reasons);
	*reasons = ALL_REASONS;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetSupportedClocksEventReasons(
	nvmlDevice_t device, unsigned long long *reasons)
{
	return nvmlDeviceGetSupportedClocksThrottleReasons(device, reasons);
}

/* Does a process with contexts on the device hold this slot? */
static bool computes(const struct drill_device_client *c, uint32_t device)
{
	return atomic_load(&c->hello) == DRILL_HELLO_HERE && c->proxies & 1 &&
	       atomic_load(&c->devices) >> device & 1 && c->pid > 0 &&
	       !(kill(c->pid, 0) && errno == ESRCH);
}

/* @size bytes apart; the first two members are the same in all versions. */
static nvmlReturn_t list_processes(const struct drill_device *d,
				   unsigned int *count, void *infos,
				   size_t size)
{
	nvmlProcessInfo_t one = { 0, NVML_VALUE_NOT_AVAILABLE, ~0u, ~0u };
	unsigned int n = 0;
	int e = errno;

	for (int i = 0; i < DRILL_DEVICE_CLIENTS; i++) {
		if (!computes(&drill_nvml.page->client[i], d->index & 63))
			continue;
		one.pid = (unsigned int)drill_nvml.page->client[i].pid;
		if (infos && n < *count)
			memcpy((char *)infos + n * size, &one, size);
		n++;
	}
	errno = e;
	size = *count;
	*count = n;
	return n > size || (n && !infos) ? NVML_ERROR_INSUFFICIENT_SIZE :
					   NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetComputeRunningProcesses(nvmlDevice_t device,
						  unsigned int *count,
						  nvmlProcessInfo_v1_t *infos)
{
	struct drill_device d;
	nvmlReturn_t r = drill_nvml_ask(device, DRILL_NVML_LIVE, count, &d);

	if (r)
		return r;
	NVML_PASS(nvmlDeviceGetComputeRunningProcesses, device, count, infos);
	return list_processes(&d, count, infos, sizeof(*infos));
}

nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v2(nvmlDevice_t device,
						     unsigned int *count,
						     nvmlProcessInfo_t *infos)
{
	struct drill_device d;
	nvmlReturn_t r = drill_nvml_ask(device, DRILL_NVML_LIVE, count, &d);

	if (r)
		return r;
	NVML_PASS(nvmlDeviceGetComputeRunningProcesses_v2, device, count,
		  infos);
	return list_processes(&d, count, infos, sizeof(*infos));
}

nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t device,
						     unsigned int *count,
						     nvmlProcessInfo_t *infos)
{
	struct drill_device d;
	nvmlReturn_t r = drill_nvml_ask(device, DRILL_NVML_LIVE, count, &d);

	if (r)
		return r;
	NVML_PASS(nvmlDeviceGetComputeRunningProcesses_v3, device, count,
		  infos);
	return list_processes(&d, count, infos, sizeof(*infos));
}
