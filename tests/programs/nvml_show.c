/* nvml_show.c - prints what a monitor sees of the devices through NVML
 * SPDX-License-Identifier: MIT
 *
 * usage: nvml_show              one line a device, "key=value" behind its place
 *        nvml_show events MS N  waits for N events of all devices, at most MS
 *                               for each, and prints one a line
 *
 * Finds libnvidia-ml.so.1 as any program does. A call that fails prints the
 * number that it returned: "temperature=!16". Exits 1 when NVML does not start.
 */
#include "faultdrill/nvml_api.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define POINTER(name, arguments) static nvmlReturn_t(*p_##name) arguments;
FAULTDRILL_NVML_FUNCTIONS(POINTER)

static int load(void)
{
	void *lib = dlopen("libnvidia-ml.so.1", RTLD_NOW);

	if (!lib) {
		fprintf(stderr, "nvml_show: %s\n", dlerror());
		return -1;
	}
#define FIND(name, arguments) *(void **)&p_##name = dlsym(lib, #name);
	FAULTDRILL_NVML_FUNCTIONS(FIND)
	return 0;
}

static void number(const char *key, nvmlReturn_t r, unsigned long long v)
{
	if (r)
		printf(" %s=!%d", key, (int)r);
	else
		printf(" %s=%llu", key, v);
}

static void field(nvmlDevice_t d, const char *key, unsigned int id)
{
	nvmlFieldValue_t f = { .fieldId = id, .scopeId = ~0u };
	nvmlReturn_t r = p_nvmlDeviceGetFieldValues(d, 1, &f);

	number(key, r ? r : f.nvmlReturn,
	       f.valueType == NVML_VALUE_TYPE_UNSIGNED_INT ? f.value.uiVal :
							     f.value.ullVal);
}

static void show_state(nvmlDevice_t d)
{
	unsigned int v = 0;
	unsigned long long bits = 0;
	nvmlMemory_t m = { 0 };
	nvmlReturn_t r = p_nvmlDeviceGetMemoryInfo(d, &m);

	number("memory", r, m.total);
	number("used", r, m.used);
	r = p_nvmlDeviceGetTemperature(d, NVML_TEMPERATURE_GPU, &v);
	number("temperature", r, v);
	r = p_nvmlDeviceGetPowerUsage(d, &v);
	number("power", r, v);
	r = p_nvmlDeviceGetClockInfo(d, NVML_CLOCK_SM, &v);
	number("sm", r, v);
	r = p_nvmlDeviceGetMaxClockInfo(d, NVML_CLOCK_SM, &v);
	number("sm_max", r, v);
	r = p_nvmlDeviceGetCurrentClocksThrottleReasons(d, &bits);
	number("reasons", r, bits);
}

static void show_errors(nvmlDevice_t d)
{
	unsigned int cor = 0, unc = 0, pending = 0, failure = 0;
	unsigned long long n = 0;
	nvmlReturn_t r;

	r = p_nvmlDeviceGetTotalEccErrors(
		d, NVML_MEMORY_ERROR_TYPE_CORRECTED, NVML_VOLATILE_ECC, &n);
	number("ecc_corrected", r, n);
	r = p_nvmlDeviceGetTotalEccErrors(
		d, NVML_MEMORY_ERROR_TYPE_UNCORRECTED, NVML_VOLATILE_ECC, &n);
	number("ecc_uncorrected", r, n);
	r = p_nvmlDeviceGetRemappedRows(d, &cor, &unc, &pending, &failure);
	number("rows_corrected", r, cor);
	number("rows_uncorrected", r, unc);
	number("rows_pending", r, pending);
	number("rows_failed", r, failure);
	field(d, "recovery", NVML_FI_DEV_GET_GPU_RECOVERY_ACTION);
}

static void show_links(nvmlDevice_t d)
{
	unsigned int up = 0, there = 0, active;
	nvmlReturn_t r;

	for (unsigned int i = 0; i < NVML_NVLINK_MAX_LINKS; i++) {
		r = p_nvmlDeviceGetNvLinkState(d, i, &active);
		there += !r;
		up += !r && active;
	}
	number("links", NVML_SUCCESS, there);
	number("links_up", NVML_SUCCESS, up);
	field(d, "link_crc", NVML_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL);
	field(d, "link_replay", NVML_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL);
}

static void show(unsigned int i)
{
	char uuid[96] = "?";
	nvmlPciInfo_t pci = { 0 };
	nvmlDevice_t d;
	nvmlReturn_t r = p_nvmlDeviceGetHandleByIndex_v2(i, &d);

	if (r) {
		printf("%u state=!%d\n", i, (int)r);
		return;
	}
	p_nvmlDeviceGetUUID(d, uuid, sizeof(uuid));
	r = p_nvmlDeviceGetPciInfo_v3(d, &pci);
	printf("%u state=0 uuid=%s pci=%s", i, uuid, r ? "?" : pci.busId);
	show_state(d);
	show_errors(d);
	show_links(d);
	putchar('\n');
}

static void listen_to(unsigned int count, nvmlEventSet_t set)
{
	unsigned long long types;
	nvmlDevice_t d;

	for (unsigned int i = 0; i < count; i++)
		if (!p_nvmlDeviceGetHandleByIndex_v2(i, &d) &&
		    !p_nvmlDeviceGetSupportedEventTypes(d, &types))
			p_nvmlDeviceRegisterEvents(d, types, set);
	printf("listening\n");
	fflush(stdout);
}

static int show_events(unsigned int count, unsigned int ms, int events)
{
	unsigned int place;
	nvmlEventSet_t set;
	nvmlEventData_t e;
	nvmlReturn_t r = p_nvmlEventSetCreate(&set);

	if (r)
		return 1;
	listen_to(count, set);
	while (events-- > 0) {
		r = p_nvmlEventSetWait_v2(set, &e, ms);
		if (r == NVML_ERROR_TIMEOUT)
			break;
		place = ~0u;
		if (!r)
			p_nvmlDeviceGetIndex(e.device, &place);
		if (r)
			printf("event !%d\n", (int)r);
		else
			printf("event %d type=%#llx data=%llu\n", (int)place,
			       e.eventType, e.eventData);
		fflush(stdout);
	}
	p_nvmlEventSetFree(set);
	return r == NVML_ERROR_TIMEOUT ? 10 : 0;
}

int main(int argc, char **argv)
{
	unsigned int count = 0;
	nvmlReturn_t r;
	int ret = 0;

	if (load())
		return 1;
	r = p_nvmlInit_v2();
	if (!r)
		r = p_nvmlDeviceGetCount_v2(&count);
	if (r) {
		printf("nvml=!%d\n", (int)r);
		return 1;
	}
	if (argc == 4 && !strcmp(argv[1], "events"))
		ret = show_events(count, (unsigned int)atoi(argv[2]),
				  atoi(argv[3]));
	else
		for (unsigned int i = 0; i < count; i++)
			show(i);
	p_nvmlShutdown();
	return ret;
}
