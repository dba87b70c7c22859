/* toy.c - a management library of two devices, behind the NVML proxy in tests
 * SPDX-License-Identifier: MIT
 *
 * Device 0 has the UUID that the tests give to the page's second device, device
 * 1 one that no page knows. What it says is unlike anything a page says.
 */
#include "faultdrill/nvml_api.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static int devices[2], events;
static unsigned int refs;

#define INDEX(device) ((unsigned int)((int *)(void *)(device) - devices))

nvmlReturn_t nvmlInit_v2(void)
{
	refs++;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlShutdown(void)
{
	refs--;
	return NVML_SUCCESS;
}

const char *nvmlErrorString(nvmlReturn_t result)
{
	return result ? "toy" : "fine";
}

nvmlReturn_t nvmlSystemGetDriverVersion(char *version, unsigned int length)
{
	snprintf(version, length, "toy");
	return refs == 1 ? NVML_SUCCESS : NVML_ERROR_UNKNOWN;
}

nvmlReturn_t nvmlDeviceGetCount_v2(unsigned int *count)
{
	*count = 2;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned int index,
					   nvmlDevice_t *device)
{
	*device = (nvmlDevice_t)(void *)&devices[index];
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t device, char *uuid,
			       unsigned int length)
{
	snprintf(uuid, length, "GPU-%02x010203-0405-0607-0809-0a0b0c0d0e0f",
		 INDEX(device) ? 0x77 : 0xff);
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetHandleByUUID(const char *uuid, nvmlDevice_t *device)
{
	char mine[96];

	for (unsigned int i = 0; i < 2; i++) {
		*device = (nvmlDevice_t)(void *)&devices[i];
		nvmlDeviceGetUUID(*device, mine, sizeof(mine));
		if (!strcmp(mine, uuid))
			return NVML_SUCCESS;
	}
	return NVML_ERROR_NOT_FOUND;
}

nvmlReturn_t nvmlDeviceGetTemperature(nvmlDevice_t device, unsigned int sensor,
				      unsigned int *celsius)
{
	*celsius = 55 + INDEX(device) + sensor;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t *memory)
{
	*memory = (nvmlMemory_t){ .total = 1000, .used = 300 + INDEX(device),
				  .free = 600 - INDEX(device) };
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t device,
					   nvmlUtilization_t *utilization)
{
	*utilization = (nvmlUtilization_t){ 20 + INDEX(device), 7 };
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t device,
						     unsigned int *count,
						     nvmlProcessInfo_t *infos)
{
	*infos = (nvmlProcessInfo_t){ 4711 + INDEX(device), 12345, 0, 0 };
	*count = 1;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t device, unsigned int type,
				    unsigned int *mhz)
{
	*mhz = 1500 + INDEX(device) + type;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetCurrentClocksThrottleReasons(
	nvmlDevice_t device, unsigned long long *reasons)
{
	*reasons = INDEX(device) ? 4 : 1;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetTotalEccErrors(nvmlDevice_t device, unsigned int type,
					 unsigned int counter,
					 unsigned long long *count)
{
	*count = 100 * (INDEX(device) + 1) + 10 * type + counter;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetRemappedRows(nvmlDevice_t device,
				       unsigned int *corrected,
				       unsigned int *uncorrected,
				       unsigned int *pending,
				       unsigned int *failure)
{
	*corrected = 5 + INDEX(device);
	*uncorrected = *pending = *failure = 0;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetNvLinkState(nvmlDevice_t device, unsigned int link,
				      unsigned int *active)
{
	*active = 1;
	return link < 4 + INDEX(device) ? NVML_SUCCESS :
					  NVML_ERROR_NOT_SUPPORTED;
}

nvmlReturn_t nvmlDeviceGetFieldValues(nvmlDevice_t device, int count,
				      nvmlFieldValue_t *values)
{
	for (int i = 0; i < count; i++) {
		values[i].nvmlReturn = NVML_SUCCESS;
		values[i].valueType = NVML_VALUE_TYPE_UNSIGNED_INT;
		values[i].value.uiVal = 40 + INDEX(device);
		if (values[i].fieldId == NVML_FI_DEV_GET_GPU_RECOVERY_ACTION)
			values[i].value.uiVal = 0;
		if (values[i].fieldId >= 1000)
			values[i].nvmlReturn = NVML_ERROR_NOT_SUPPORTED;
	}
	return NVML_SUCCESS;
}

/* Not a function of the proxy: comes here by a jump, all six arguments whole. */
nvmlReturn_t nvmlDeviceGetSamples(nvmlDevice_t device, unsigned int type,
				  unsigned long long since, unsigned int *a,
				  unsigned int *b, unsigned long long *c);
nvmlReturn_t nvmlDeviceGetSamples(nvmlDevice_t device, unsigned int type,
				  unsigned long long since, unsigned int *a,
				  unsigned int *b, unsigned long long *c)
{
	*a = INDEX(device);
	*b = type;
	*c = since;
	return NVML_ERROR_NO_DATA;
}

nvmlReturn_t nvmlUnitGetCount(unsigned int *count);
nvmlReturn_t nvmlUnitGetCount(unsigned int *count)
{
	*count = 3;
	return NVML_SUCCESS;
}

/* ---- one event a set, a P-state, at its second wait ---- */

nvmlReturn_t nvmlDeviceGetSupportedEventTypes(nvmlDevice_t device,
					      unsigned long long *types)
{
	*types = nvmlEventTypePState | nvmlEventTypeXidCriticalError |
		 INDEX(device) * 0x80ull;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlEventSetCreate(nvmlEventSet_t *set)
{
	*set = (nvmlEventSet_t)(void *)&events;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceRegisterEvents(nvmlDevice_t device,
				      unsigned long long types,
				      nvmlEventSet_t set)
{
	unsigned long long has;

	(void)set;
	nvmlDeviceGetSupportedEventTypes(device, &has);
	return types & ~has ? NVML_ERROR_NOT_SUPPORTED : NVML_SUCCESS;
}

nvmlReturn_t nvmlEventSetWait_v2(nvmlEventSet_t set, nvmlEventData_t *data,
				 unsigned int ms)
{
	struct timespec t = { 0, ms * 1000000l };

	(void)set;
	if (++events != 2) {
		nanosleep(&t, NULL);
		return NVML_ERROR_TIMEOUT;
	}
	*data = (nvmlEventData_t){ (nvmlDevice_t)(void *)&devices[1],
				   nvmlEventTypePState, 0, ~0u, ~0u };
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlEventSetFree(nvmlEventSet_t set)
{
	return set == (nvmlEventSet_t)(void *)&events ? NVML_SUCCESS :
							NVML_ERROR_UNKNOWN;
}
