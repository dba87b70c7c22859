/* nvml_identity.c - how many devices there are, which is which
 * SPDX-License-Identifier: MIT
 *
 * Places are those of the start of NVML: a device that is lost keeps its place
 * and says so, one that was gone before has none.
 */
#include "nvml_proxy.h"
#include "xid_line.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define NVIDIA 0x10deu

nvmlReturn_t nvmlDeviceGetCount_v2(unsigned int *count)
{
	nvmlReturn_t r = drill_nvml_ready();

	if (!r && !count)
		r = NVML_ERROR_INVALID_ARGUMENT;
	if (!r)
		*count = drill_nvml.devices;
	return r;
}

nvmlReturn_t nvmlDeviceGetCount(unsigned int *count)
{
	return nvmlDeviceGetCount_v2(count);
}

/* A device that is lost cannot be had any more. */
static nvmlReturn_t give(nvmlDevice_t handle, nvmlDevice_t *ret)
{
	struct drill_device d;
	nvmlReturn_t r = drill_nvml_ask(handle, DRILL_NVML_WHO, ret, &d);

	if (!r)
		*ret = handle;
	return r;
}

nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned int index,
					   nvmlDevice_t *device)
{
	nvmlReturn_t r = drill_nvml_ready();

	if (r)
		return r;
	if (index >= drill_nvml.devices)
		return NVML_ERROR_INVALID_ARGUMENT;
	return give(drill_nvml.device[index].handle, device);
}

nvmlReturn_t nvmlDeviceGetHandleByIndex(unsigned int index,
					nvmlDevice_t *device)
{
	return nvmlDeviceGetHandleByIndex_v2(index, device);
}

/* What the next library found: not if the page says that it is gone. */
static nvmlReturn_t give_next(nvmlReturn_t r, nvmlDevice_t handle,
			      nvmlDevice_t *ret)
{
	if (r)
		return r;
	return drill_nvml_place(handle) < 0 ? NVML_ERROR_NOT_FOUND :
					      give(handle, ret);
}

/* The first device of the list for which @is says yes. */
static nvmlReturn_t find(bool (*is)(const struct drill_device *, const void *),
			 const void *what, nvmlDevice_t *ret)
{
	struct drill_device d;

	for (unsigned int i = 0; i < drill_nvml.devices; i++) {
		drill_device_read(drill_nvml.page,
				  (unsigned int)drill_nvml.device[i].page, &d);
		if (is(&d, what))
			return give(drill_nvml.device[i].handle, ret);
	}
	return NVML_ERROR_NOT_FOUND;
}

static bool has_serial(const struct drill_device *d, const void *what)
{
	return *d->serial && !strcmp(d->serial, what);
}

static bool has_uuid(const struct drill_device *d, const void *what)
{
	char id[48];

	drill_xid_uuid(id, d->uuid);
	return !strcasecmp(id, what);
}

static bool has_pci(const struct drill_device *d, const void *what)
{
	const struct drill_xid_place *at = what;

	return d->domain == at->domain && d->bus == at->bus &&
	       d->dev == at->dev;
}

/* "3b:00.0", "0000:3B:00.0", "00000000:3B:00", ... */
static bool parse_pci(const char *id, struct drill_xid_place *ret)
{
	unsigned long v[3] = { 0 };
	int n = 0;
	char *end;

	do {
		v[n] = strtoul(id, &end, 16);
		if (end == id)
			return false;
		id = end + 1;
	} while (++n < 3 && *end == ':');
	if (n < 2 || (*end && *end != '.'))
		return false;
	*ret = (struct drill_xid_place){ n == 3 ? (uint32_t)v[0] : 0,
					 (uint32_t)v[n - 2],
					 (uint32_t)v[n - 1] };
	return true;
}

nvmlReturn_t nvmlDeviceGetHandleBySerial(const char *serial,
					 nvmlDevice_t *device)
{
	nvmlReturn_t r = drill_nvml_ready();
	nvmlDevice_t handle = NULL;

	if (!r && (!serial || !device))
		r = NVML_ERROR_INVALID_ARGUMENT;
	if (r)
		return r;
	if (drill_nvml.next) {
		r = NVML_NEXT(nvmlDeviceGetHandleBySerial)(serial, &handle);
		return give_next(r, handle, device);
	}
	return find(has_serial, serial, device);
}

nvmlReturn_t nvmlDeviceGetHandleByUUID(const char *uuid, nvmlDevice_t *device)
{
	nvmlReturn_t r = drill_nvml_ready();
	nvmlDevice_t handle = NULL;

	if (!r && (!uuid || !device))
		r = NVML_ERROR_INVALID_ARGUMENT;
	if (r)
		return r;
	if (drill_nvml.next) {
		r = NVML_NEXT(nvmlDeviceGetHandleByUUID)(uuid, &handle);
		return give_next(r, handle, device);
	}
	return find(has_uuid, uuid, device);
}

nvmlReturn_t nvmlDeviceGetHandleByPciBusId_v2(const char *id,
					      nvmlDevice_t *device)
{
	nvmlReturn_t r = drill_nvml_ready();
	struct drill_xid_place at;
	nvmlDevice_t handle = NULL;

	if (!r && (!id || !device))
		r = NVML_ERROR_INVALID_ARGUMENT;
	if (r)
		return r;
	if (drill_nvml.next) {
		r = NVML_NEXT(nvmlDeviceGetHandleByPciBusId_v2)(id, &handle);
		return give_next(r, handle, device);
	}
	return parse_pci(id, &at) ? find(has_pci, &at, device) :
				    NVML_ERROR_INVALID_ARGUMENT;
}

nvmlReturn_t nvmlDeviceGetHandleByPciBusId(const char *id,
					   nvmlDevice_t *device)
{
	return nvmlDeviceGetHandleByPciBusId_v2(id, device);
}

nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t device, char *name,
			       unsigned int length)
{
	struct drill_device d;

	NVML_ASK(&d, WHO, name, nvmlDeviceGetName, name, length);
	return drill_nvml_text(name, length, d.name);
}

nvmlReturn_t nvmlDeviceGetSerial(nvmlDevice_t device, char *serial,
				 unsigned int length)
{
	struct drill_device d;

	NVML_ASK(&d, WHO, serial, nvmlDeviceGetSerial, serial, length);
	return *d.serial ? drill_nvml_text(serial, length, d.serial) :
			   NVML_ERROR_NOT_SUPPORTED;
}

nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t device, char *uuid,
			       unsigned int length)
{
	struct drill_device d;
	nvmlReturn_t r = drill_nvml_ask(device, DRILL_NVML_WHO, uuid, &d);
	char id[48];

	if (r)
		return r;
	NVML_PASS(nvmlDeviceGetUUID, device, uuid, length);
	drill_xid_uuid(id, d.uuid);
	return drill_nvml_text(uuid, length, id);
}

NVML_GIVES(nvmlDeviceGetBrand, WHO, unsigned int, NVML_BRAND_UNKNOWN)

nvmlReturn_t nvmlDeviceGetIndex(nvmlDevice_t device, unsigned int *index)
{
	struct drill_device d;
	nvmlReturn_t r = drill_nvml_ask(device, DRILL_NVML_WHO, index, &d);
	int place = drill_nvml_place(device);

	if (r)
		return r;
	if (place < 0)
		NVML_PASS(nvmlDeviceGetIndex, device, index);
	*index = (unsigned int)place;
	return NVML_SUCCESS;
}

NVML_GIVES(nvmlDeviceGetMinorNumber, WHO, unsigned int, d.minor)

void drill_nvml_pci(const struct drill_device *d, nvmlPciInfo_t *pci,
		    size_t head)
{
	nvmlPciInfo_t p = { .domain = d->domain, .bus = d->bus,
			    .device = d->dev, .pciDeviceId = NVIDIA };

	snprintf(p.busIdLegacy, sizeof(p.busIdLegacy), "%04X:%02X:%02X.0",
		 d->domain & 0xffff, d->bus & 0xff, d->dev & 0xff);
	snprintf(p.busId, sizeof(p.busId), "%08X:%02X:%02X.0", d->domain,
		 d->bus & 0xff, d->dev & 0xff);
	memcpy(pci, &p, head);
}

nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, nvmlPciInfo_t *pci)
{
	struct drill_device d;

	NVML_ASK(&d, WHO, pci, nvmlDeviceGetPciInfo_v3, pci);
	drill_nvml_pci(&d, pci, sizeof(*pci));
	return NVML_SUCCESS;
}

/* The older ones know shorter structures. */
nvmlReturn_t nvmlDeviceGetPciInfo_v2(nvmlDevice_t device, nvmlPciInfo_t *pci)
{
	struct drill_device d;

	NVML_ASK(&d, WHO, pci, nvmlDeviceGetPciInfo_v2, pci);
	drill_nvml_pci(&d, pci, offsetof(nvmlPciInfo_t, busId));
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetPciInfo(nvmlDevice_t device, nvmlPciInfo_t *pci)
{
	struct drill_device d;

	NVML_ASK(&d, WHO, pci, nvmlDeviceGetPciInfo, pci);
	drill_nvml_pci(&d, pci, offsetof(nvmlPciInfo_t, pciSubSystemId));
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetCudaComputeCapability(nvmlDevice_t device,
						int *major, int *minor)
{
	struct drill_device d;

	NVML_ASK(&d, WHO, minor ? major : NULL,
		 nvmlDeviceGetCudaComputeCapability, major, minor);
	return NVML_ERROR_NOT_SUPPORTED;
}
