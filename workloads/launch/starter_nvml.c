/* starter_nvml.c - asks NVML how the devices of this host are
 * SPDX-License-Identifier: MIT
 *
 * A device is known by its PCI address: when one is gone from the bus, those
 * behind it have other indices. Everything but the list of devices is optional:
 * what this NVML, or this device, does not have is not looked at.
 */
#include "starter_nvml.h"

#include "faultdrill/nvml_api.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define DEVICES 64
#define RECOVERY_CHANGED 154 /* the Xid that says so */

/* Reasons that hold clocks down though there is work: hardware, heat and power
 * brake; a power cap is normal. */
#define HELD_DOWN                                                              \
	(nvmlClocksThrottleReasonHwSlowdown |                                  \
	 nvmlClocksEventReasonSwThermalSlowdown |                              \
	 nvmlClocksThrottleReasonHwThermalSlowdown |                           \
	 nvmlClocksThrottleReasonHwPowerBrakeSlowdown)

struct device {
	nvmlDevice_t ref;
	unsigned int domain, bus, dev;
	bool here; /* in the present look */
	bool told[LAUNCH_SIGNS];
	unsigned long long ecc; /* uncorrected, when looked at last */
	uint64_t links;		/* those that were active at first */
};

static struct {
	__typeof__(&nvmlInit_v2) init;
	__typeof__(&nvmlDeviceGetCount_v2) count;
	__typeof__(&nvmlDeviceGetHandleByIndex_v2) handle;
	__typeof__(&nvmlDeviceGetPciInfo_v3) pci;
	__typeof__(&nvmlDeviceGetTotalEccErrors) ecc;
	__typeof__(&nvmlDeviceGetRemappedRows) rows;
	__typeof__(&nvmlDeviceGetRetiredPagesPendingStatus) pages;
	__typeof__(&nvmlDeviceGetNvLinkState) link;
	__typeof__(&nvmlDeviceGetCurrentClocksEventReasons) reasons;
	__typeof__(&nvmlDeviceGetClockInfo) clock;
	__typeof__(&nvmlDeviceGetMaxClockInfo) max_clock;
	__typeof__(&nvmlDeviceGetFieldValues) fields;
	__typeof__(&nvmlEventSetCreate) set;
	__typeof__(&nvmlDeviceRegisterEvents) add;
	__typeof__(&nvmlEventSetWait_v2) wait;
	nvmlEventSet_t events;
	struct device device[DEVICES];
	int n;
	const struct starter_nvml_ear *ear;
} nvml;

static const struct {
	void *pointer;
	const char *name, *older;
} symbols[] = {
	{&nvml.init, "nvmlInit_v2", "nvmlInit"},
	{&nvml.count, "nvmlDeviceGetCount_v2", "nvmlDeviceGetCount"},
	{&nvml.handle, "nvmlDeviceGetHandleByIndex_v2",
	 "nvmlDeviceGetHandleByIndex"},
	{&nvml.pci, "nvmlDeviceGetPciInfo_v3", NULL},
	{&nvml.ecc, "nvmlDeviceGetTotalEccErrors", NULL},
	{&nvml.rows, "nvmlDeviceGetRemappedRows", NULL},
	{&nvml.pages, "nvmlDeviceGetRetiredPagesPendingStatus", NULL},
	{&nvml.link, "nvmlDeviceGetNvLinkState", NULL},
	{&nvml.reasons, "nvmlDeviceGetCurrentClocksEventReasons",
	 "nvmlDeviceGetCurrentClocksThrottleReasons"},
	{&nvml.clock, "nvmlDeviceGetClockInfo", NULL},
	{&nvml.max_clock, "nvmlDeviceGetMaxClockInfo", NULL},
	{&nvml.fields, "nvmlDeviceGetFieldValues", NULL},
	{&nvml.set, "nvmlEventSetCreate", NULL},
	{&nvml.add, "nvmlDeviceRegisterEvents", NULL},
	{&nvml.wait, "nvmlEventSetWait_v2", "nvmlEventSetWait"},
};

static void *load(const char *first)
{
	static const char name[] = "libnvidia-ml.so.1";
	char path[4096];
	void *lib = NULL;
	size_t len;

	for (; first && *first && !lib; first += len + (first[len] == ':')) {
		len = strcspn(first, ":");
		snprintf(path, sizeof(path), "%.*s/%s", (int)len, first, name);
		lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	}
	return lib ? lib : dlopen(name, RTLD_NOW | RTLD_LOCAL);
}

static bool resolve(void *lib)
{
	size_t i;

	for (i = 0; i < sizeof(symbols) / sizeof(*symbols); i++) {
		void *p = dlsym(lib, symbols[i].name);

		if (!p && symbols[i].older)
			p = dlsym(lib, symbols[i].older);
		memcpy(symbols[i].pointer, &p, sizeof(p));
	}
	return nvml.init && nvml.count && nvml.handle && nvml.pci;
}

int starter_nvml_at(unsigned int domain, unsigned int bus, unsigned int dev)
{
	int i;

	for (i = 0; i < nvml.n; i++)
		if (nvml.device[i].domain == domain &&
		    nvml.device[i].bus == bus && nvml.device[i].dev == dev)
			return i;
	return -1;
}

static uint64_t active_links(const struct device *d)
{
	uint64_t mask = 0;
	unsigned int i, active;

	for (i = 0; nvml.link && i < NVML_NVLINK_MAX_LINKS; i++)
		if (nvml.link(d->ref, i, &active) == NVML_SUCCESS && active)
			mask |= UINT64_C(1) << i;
	return mask;
}

/* Errors before our time are not news. */
static void meet(const nvmlPciInfo_t *p, nvmlDevice_t ref)
{
	struct device *d = &nvml.device[nvml.n++];

	d->ref = ref;
	d->domain = p->domain;
	d->bus = p->bus;
	d->dev = p->device;
	if (!nvml.ecc || nvml.ecc(ref, NVML_MEMORY_ERROR_TYPE_UNCORRECTED,
				   NVML_VOLATILE_ECC, &d->ecc))
		d->ecc = 0;
	d->links = active_links(d);
	if (nvml.events)
		nvml.add(ref, nvmlEventTypeXidCriticalError, nvml.events);
}

int starter_nvml_open(const char *first, char *why, size_t size)
{
	void *lib = load(first);
	unsigned int i, n = 0;
	nvmlDevice_t ref;
	nvmlPciInfo_t p;

	if (!lib || !resolve(lib)) {
		snprintf(why, size, "%s", lib ? "it lacks functions"
					      : dlerror());
		return -1;
	}
	if (nvml.init() != NVML_SUCCESS || nvml.count(&n) != NVML_SUCCESS) {
		snprintf(why, size, "it cannot be initialised");
		return -1;
	}
	if (!nvml.set || !nvml.add || !nvml.wait ||
	    nvml.set(&nvml.events) != NVML_SUCCESS)
		nvml.events = NULL;
	for (i = 0; i < n && nvml.n < DEVICES; i++) {
		memset(&p, 0, sizeof(p));
		if (!nvml.handle(i, &ref) && !nvml.pci(ref, &p))
			meet(&p, ref);
	}
	return nvml.n;
}

/* ---- one look ---- */

static void judge(int i, enum launch_sign sign, bool is, uint64_t value)
{
	struct device *d = &nvml.device[i];

	if (is && !d->told[sign])
		nvml.ear->sign(i, sign, value);
	d->told[sign] = is;
}

/* A call's answer is a sign by itself. True: the call's result holds. */
static bool answered(int i, int rc)
{
	if (rc == NVML_ERROR_GPU_IS_LOST)
		judge(i, LAUNCH_SIGN_LOST, true, 0);
	if (rc == NVML_ERROR_RESET_REQUIRED)
		judge(i, LAUNCH_SIGN_RESET_REQUIRED, true, 0);
	return rc == NVML_SUCCESS;
}

static void look_at_ecc(int i)
{
	struct device *d = &nvml.device[i];
	unsigned long long n;

	if (!nvml.ecc ||
	    !answered(i, nvml.ecc(d->ref,
				  NVML_MEMORY_ERROR_TYPE_UNCORRECTED,
				  NVML_VOLATILE_ECC, &n)))
		return;
	if (n > d->ecc)
		nvml.ear->sign(i, LAUNCH_SIGN_ECC, n);
	d->ecc = n;
}

static void look_at_rows(int i)
{
	struct device *d = &nvml.device[i];
	unsigned int c, u, pending = 0, failed = 0, waiting = 0;

	if (nvml.rows &&
	    answered(i, nvml.rows(d->ref, &c, &u, &pending, &failed))) {
		judge(i, LAUNCH_SIGN_REMAP_PENDING, pending, 0);
		judge(i, LAUNCH_SIGN_REMAP_FAILED, failed, 0);
	}
	if (nvml.pages && answered(i, nvml.pages(d->ref, &waiting)))
		judge(i, LAUNCH_SIGN_PAGES_PENDING, waiting, 0);
}

static void look_at_recovery(int i)
{
	nvmlFieldValue_t f = {
		.fieldId = NVML_FI_DEV_GET_GPU_RECOVERY_ACTION
	};

	if (!nvml.fields ||
	    !answered(i, nvml.fields(nvml.device[i].ref, 1, &f)) ||
	    f.nvmlReturn)
		return;
	judge(i, LAUNCH_SIGN_RECOVERY, f.value.uiVal != 0, f.value.uiVal);
}

static void look_at_links(int i)
{
	struct device *d = &nvml.device[i];
	uint64_t down = d->links ? d->links & ~active_links(d) : 0;

	judge(i, LAUNCH_SIGN_LINKS, down != 0, down);
}

/* Far below what it can do though it has work counts as well. */
static void look_at_clocks(int i)
{
	nvmlDevice_t ref = nvml.device[i].ref;
	unsigned int now = 0, most = 0;
	unsigned long long bits;

	if (!nvml.reasons || !answered(i, nvml.reasons(ref, &bits)))
		return;
	if (!nvml.clock || !nvml.max_clock ||
	    bits & nvmlClocksEventReasonGpuIdle ||
	    nvml.clock(ref, NVML_CLOCK_SM, &now) ||
	    nvml.max_clock(ref, NVML_CLOCK_SM, &most))
		now = most;
	judge(i, LAUNCH_SIGN_SLOW, bits & HELD_DOWN || now * 10 < most * 7,
	      bits);
}

/* Lost and to be reset are told once by whichever call says so first, and are
 * over when the first call of a look says neither. */
static void look_at(int i)
{
	struct device *d = &nvml.device[i];
	unsigned long long n = 0;
	int rc = nvml.reasons ? nvml.reasons(d->ref, &n) : NVML_SUCCESS;

	judge(i, LAUNCH_SIGN_LOST, rc == NVML_ERROR_GPU_IS_LOST, 0);
	judge(i, LAUNCH_SIGN_RESET_REQUIRED, rc == NVML_ERROR_RESET_REQUIRED,
	      0);
	if (rc == NVML_ERROR_GPU_IS_LOST)
		return;
	look_at_recovery(i);
	look_at_ecc(i);
	look_at_rows(i);
	look_at_links(i);
	look_at_clocks(i);
}

/* Which of our devices are on the bus now? A lost one does not even tell its
 * address any more: it is taken for the one whose handle it has. */
static bool enumerate(void)
{
	unsigned int n = 0, k;
	nvmlPciInfo_t p;
	int i;

	for (i = 0; i < nvml.n; i++)
		nvml.device[i].here = false;
	if (nvml.count(&n) != NVML_SUCCESS)
		return false;
	for (k = 0; k < n; k++) {
		nvmlDevice_t ref = NULL;
		int rc = nvml.handle(k, &ref);

		memset(&p, 0, sizeof(p));
		if (!rc)
			rc = nvml.pci(ref, &p);
		i = rc ? -1 : starter_nvml_at(p.domain, p.bus, p.device);
		if (rc && (int)n == nvml.n)
			i = (int)k;
		if (i < 0)
			continue;
		nvml.device[i].here = true;
		if (ref)
			nvml.device[i].ref = ref;
		judge(i, LAUNCH_SIGN_LOST, rc == NVML_ERROR_GPU_IS_LOST, 0);
	}
	return true;
}

void starter_nvml_look(const struct starter_nvml_ear *ear)
{
	int i;

	nvml.ear = ear;
	if (!enumerate())
		return;
	for (i = 0; i < nvml.n; i++) {
		judge(i, LAUNCH_SIGN_MISSING, !nvml.device[i].here, 0);
		if (nvml.device[i].here && !nvml.device[i].told[LAUNCH_SIGN_LOST])
			look_at(i);
	}
}

int starter_nvml_wait(const struct starter_nvml_ear *ear, int ms)
{
	nvmlEventData_t e;
	bool is_xid;
	int rc, i;

	if (!nvml.events)
		return false;
	memset(&e, 0, sizeof(e));
	rc = nvml.wait(nvml.events, &e, (unsigned int)ms);
	nvml.ear = ear;
	is_xid = !rc && e.eventType == nvmlEventTypeXidCriticalError;
	for (i = 0; is_xid && i < nvml.n; i++) {
		if (nvml.device[i].ref != e.device || e.eventData > 1023)
			continue;
		if (e.eventData == RECOVERY_CHANGED) /* it says not to what */
			look_at_recovery(i);
		else if (e.eventData > 0)
			ear->xid(i, (int)e.eventData);
	}
	return rc == NVML_SUCCESS || rc == NVML_ERROR_TIMEOUT;
}
