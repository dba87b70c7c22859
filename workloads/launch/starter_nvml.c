/* starter_nvml.c - asks NVML how the devices of this host are
 * SPDX-License-Identifier: MIT
 *
 * A device is known by its PCI address: when one is gone from the bus, those
 * behind it have other indices. Everything but the list of devices is optional:
 * what this NVML, or this device, does not have is not looked at.
 */
#include "starter_nvml.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define DEVICES 64
#define LINKS 18

/* As much of NVML's interface as is asked here; its numbers are fixed. */
typedef void *device_ref;
typedef void *events_ref;

enum {
	OK = 0,
	TIMED_OUT = 10,
	GPU_IS_LOST = 15,
	RESET_REQUIRED = 16,
	CLOCK_SM = 1,
	UNCORRECTED = 1,
	VOLATILE = 0,
	FIELD_RECOVERY = 230,
	EVENT_XID = 8,
	RECOVERY_CHANGED = 154,
	/* Reasons that hold clocks down though there is work: hardware, heat
	 * and power brake; a power cap is normal. */
	HELD_DOWN = 0x8 | 0x20 | 0x40 | 0x80,
	IDLE = 0x1,
};

struct pci {
	char legacy[16];
	unsigned int domain, bus, device, id, subsystem;
	char text[32];
};

struct field {
	unsigned int id, scope;
	long long t_us, latency_us;
	unsigned int type;
	int rc;
	union {
		double d;
		unsigned int u;
		unsigned long long ull;
	} v;
};

struct event {
	device_ref device;
	unsigned long long type, data;
	unsigned int gpu_instance, compute_instance;
};

struct device {
	device_ref ref;
	unsigned int domain, bus, dev;
	bool here; /* in the present look */
	bool told[LAUNCH_SIGNS];
	unsigned long long ecc; /* uncorrected, when looked at last */
	uint64_t links;		/* those that were active at first */
};

static struct {
	int (*init)(void);
	int (*count)(unsigned int *n);
	int (*handle)(unsigned int i, device_ref *d);
	int (*pci)(device_ref d, struct pci *p);
	int (*ecc)(device_ref d, int kind, int counter, unsigned long long *n);
	int (*rows)(device_ref d, unsigned int *corrected,
		    unsigned int *uncorrected, unsigned int *pending,
		    unsigned int *failed);
	int (*pages)(device_ref d, int *pending);
	int (*link)(device_ref d, unsigned int link, int *active);
	int (*reasons)(device_ref d, unsigned long long *bits);
	int (*clock)(device_ref d, int type, unsigned int *mhz);
	int (*max_clock)(device_ref d, int type, unsigned int *mhz);
	int (*fields)(device_ref d, int n, struct field *f);
	int (*set)(events_ref *set);
	int (*add)(device_ref d, unsigned long long types, events_ref set);
	int (*wait)(events_ref set, struct event *e, unsigned int ms);
	events_ref events;
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
	unsigned int i;
	int active;

	for (i = 0; nvml.link && i < LINKS; i++)
		if (nvml.link(d->ref, i, &active) == OK && active)
			mask |= UINT64_C(1) << i;
	return mask;
}

/* Errors before our time are not news. */
static void meet(const struct pci *p, device_ref ref)
{
	struct device *d = &nvml.device[nvml.n++];

	d->ref = ref;
	d->domain = p->domain;
	d->bus = p->bus;
	d->dev = p->device;
	if (!nvml.ecc || nvml.ecc(ref, UNCORRECTED, VOLATILE, &d->ecc) != OK)
		d->ecc = 0;
	d->links = active_links(d);
	if (nvml.events)
		nvml.add(ref, EVENT_XID, nvml.events);
}

int starter_nvml_open(const char *first, char *why, size_t size)
{
	void *lib = load(first);
	unsigned int i, n = 0;
	device_ref ref;
	struct pci p;

	if (!lib || !resolve(lib)) {
		snprintf(why, size, "%s", lib ? "it lacks functions"
					      : dlerror());
		return -1;
	}
	if (nvml.init() != OK || nvml.count(&n) != OK) {
		snprintf(why, size, "it cannot be initialised");
		return -1;
	}
	if (!nvml.set || !nvml.add || !nvml.wait ||
	    nvml.set(&nvml.events) != OK)
		nvml.events = NULL;
	for (i = 0; i < n && nvml.n < DEVICES; i++) {
		memset(&p, 0, sizeof(p));
		if (nvml.handle(i, &ref) == OK && nvml.pci(ref, &p) == OK)
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
	if (rc == GPU_IS_LOST)
		judge(i, LAUNCH_SIGN_LOST, true, 0);
	if (rc == RESET_REQUIRED)
		judge(i, LAUNCH_SIGN_RESET_REQUIRED, true, 0);
	return rc == OK;
}

static void look_at_ecc(int i)
{
	struct device *d = &nvml.device[i];
	unsigned long long n;

	if (!nvml.ecc ||
	    !answered(i, nvml.ecc(d->ref, UNCORRECTED, VOLATILE, &n)))
		return;
	if (n > d->ecc)
		nvml.ear->sign(i, LAUNCH_SIGN_ECC, n);
	d->ecc = n;
}

static void look_at_rows(int i)
{
	struct device *d = &nvml.device[i];
	unsigned int c, u, pending = 0, failed = 0;
	int waiting = 0;

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
	struct field f = {.id = FIELD_RECOVERY};

	if (!nvml.fields ||
	    !answered(i, nvml.fields(nvml.device[i].ref, 1, &f)) || f.rc != OK)
		return;
	judge(i, LAUNCH_SIGN_RECOVERY, f.v.u != 0, f.v.u);
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
	device_ref ref = nvml.device[i].ref;
	unsigned int now = 0, most = 0;
	unsigned long long bits;

	if (!nvml.reasons || !answered(i, nvml.reasons(ref, &bits)))
		return;
	if (!nvml.clock || !nvml.max_clock || bits & IDLE ||
	    nvml.clock(ref, CLOCK_SM, &now) != OK ||
	    nvml.max_clock(ref, CLOCK_SM, &most) != OK)
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
	int rc = nvml.reasons ? nvml.reasons(d->ref, &n) : OK;

	judge(i, LAUNCH_SIGN_LOST, rc == GPU_IS_LOST, 0);
	judge(i, LAUNCH_SIGN_RESET_REQUIRED, rc == RESET_REQUIRED, 0);
	if (rc == GPU_IS_LOST)
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
	struct pci p;
	int i;

	for (i = 0; i < nvml.n; i++)
		nvml.device[i].here = false;
	if (nvml.count(&n) != OK)
		return false;
	for (k = 0; k < n; k++) {
		device_ref ref = NULL;
		int rc = nvml.handle(k, &ref);

		memset(&p, 0, sizeof(p));
		if (rc == OK)
			rc = nvml.pci(ref, &p);
		i = rc == OK ? starter_nvml_at(p.domain, p.bus, p.device) : -1;
		if (rc != OK && (int)n == nvml.n)
			i = (int)k;
		if (i < 0)
			continue;
		nvml.device[i].here = true;
		if (ref)
			nvml.device[i].ref = ref;
		judge(i, LAUNCH_SIGN_LOST, rc == GPU_IS_LOST, 0);
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
	struct event e;
	int rc, i;

	if (!nvml.events)
		return false;
	memset(&e, 0, sizeof(e));
	rc = nvml.wait(nvml.events, &e, (unsigned int)ms);
	nvml.ear = ear;
	for (i = 0; rc == OK && e.type == EVENT_XID && i < nvml.n; i++) {
		if (nvml.device[i].ref != e.device || e.data > 1023)
			continue;
		if (e.data == RECOVERY_CHANGED) /* to what, it does not say */
			look_at_recovery(i);
		else if (e.data > 0)
			ear->xid(i, (int)e.data);
	}
	return rc == OK || rc == TIMED_OUT;
}
