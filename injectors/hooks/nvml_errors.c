/* nvml_errors.c - what a device counted: ECC errors, retired pages, rows
 * SPDX-License-Identifier: MIT
 *
 * On a device of the next library, the page's counts are added to its own: the
 * page knows only what was injected. All that the page counts is of the device
 * memory; it keeps counts, so addresses of retired pages are made up from the
 * top of the memory downwards.
 */
#include "nvml_proxy.h"

#define PAGE_KIB 64

nvmlReturn_t nvmlDeviceGetEccMode(nvmlDevice_t device, unsigned int *current,
				  unsigned int *pending)
{
	struct drill_device d;
	nvmlReturn_t r = drill_nvml_ask(device, DRILL_NVML_COUNT,
					pending ? current : NULL, &d);

	if (r)
		return r;
	NVML_PASS(nvmlDeviceGetEccMode, device, current, pending);
	*current = *pending = NVML_FEATURE_ENABLED;
	return NVML_SUCCESS;
}

static bool are_valid(unsigned int type, unsigned int counter)
{
	return type <= NVML_MEMORY_ERROR_TYPE_UNCORRECTED &&
	       counter <= NVML_AGGREGATE_ECC;
}

static unsigned long long ecc(const struct drill_device *d, unsigned int type,
			      unsigned int counter)
{
	return counter == NVML_AGGREGATE_ECC ? d->ecc_aggregate[type] :
					       d->ecc_volatile[type];
}

nvmlReturn_t nvmlDeviceGetTotalEccErrors(nvmlDevice_t device,
					 unsigned int type,
					 unsigned int counter,
					 unsigned long long *count)
{
	struct drill_device d;
	nvmlReturn_t r = drill_nvml_ask(device, DRILL_NVML_COUNT, count, &d);

	if (!r && !are_valid(type, counter))
		r = NVML_ERROR_INVALID_ARGUMENT;
	if (r)
		return r;
	*count = 0;
	if (drill_nvml.next)
		r = NVML_NEXT(nvmlDeviceGetTotalEccErrors)(device, type,
							   counter, count);
	*count += r ? 0 : ecc(&d, type, counter);
	return r;
}

nvmlReturn_t nvmlDeviceGetDetailedEccErrors(nvmlDevice_t device,
					    unsigned int type,
					    unsigned int counter,
					    nvmlEccErrorCounts_t *counts)
{
	struct drill_device d;
	nvmlReturn_t r = drill_nvml_ask(device, DRILL_NVML_COUNT, counts, &d);

	if (!r && !are_valid(type, counter))
		r = NVML_ERROR_INVALID_ARGUMENT;
	if (r)
		return r;
	*counts = (nvmlEccErrorCounts_t){ 0 };
	if (drill_nvml.next)
		r = NVML_NEXT(nvmlDeviceGetDetailedEccErrors)(
			device, type, counter, counts);
	counts->deviceMemory += r ? 0 : ecc(&d, type, counter);
	return r;
}

nvmlReturn_t nvmlDeviceGetMemoryErrorCounter(nvmlDevice_t device,
					     unsigned int type,
					     unsigned int counter,
					     unsigned int location,
					     unsigned long long *count)
{
	struct drill_device d;
	nvmlReturn_t r = drill_nvml_ask(device, DRILL_NVML_COUNT, count, &d);

	if (!r && (!are_valid(type, counter) ||
		   location >= NVML_MEMORY_LOCATION_COUNT))
		r = NVML_ERROR_INVALID_ARGUMENT;
	if (r)
		return r;
	*count = 0;
	if (drill_nvml.next)
		r = NVML_NEXT(nvmlDeviceGetMemoryErrorCounter)(
			device, type, counter, location, count);
	if (!r && location == NVML_MEMORY_LOCATION_DRAM)
		*count += ecc(&d, type, counter);
	return r;
}

static unsigned int retired(const struct drill_device *d, unsigned int cause)
{
	return cause == NVML_PAGE_RETIREMENT_CAUSE_DOUBLE_BIT_ECC_ERROR ?
		       d->retired_dbe : d->retired_sbe;
}

/* Behind the pages that the next library lists, if it has any. */
static nvmlReturn_t lay_pages(const struct drill_device *d, unsigned int cause,
			      nvmlReturn_t r, unsigned int room,
			      unsigned int *count,
			      unsigned long long *addresses,
			      unsigned long long *timestamps)
{
	unsigned int n = retired(d, cause), first;

	if (!n)
		return r;
	if (r && r != NVML_ERROR_INSUFFICIENT_SIZE)
		*count = 0; /* newer devices remap rows instead */
	first = *count;
	*count += n;
	if (!addresses || *count > room)
		return NVML_ERROR_INSUFFICIENT_SIZE;
	for (unsigned int i = 0; i < n; i++) {
		addresses[first + i] = d->memory_bytes -
				       (i + 1ull) * PAGE_KIB * 1024;
		if (timestamps)
			timestamps[first + i] = 0;
	}
	return NVML_SUCCESS;
}

static nvmlReturn_t ask_pages(nvmlDevice_t device, unsigned int cause,
			      const void *count, struct drill_device *d)
{
	nvmlReturn_t r = drill_nvml_ask(device, DRILL_NVML_COUNT, count, d);

	if (!r && cause > NVML_PAGE_RETIREMENT_CAUSE_DOUBLE_BIT_ECC_ERROR)
		r = NVML_ERROR_INVALID_ARGUMENT;
	return r;
}

nvmlReturn_t nvmlDeviceGetRetiredPages(nvmlDevice_t device, unsigned int cause,
				       unsigned int *count,
				       unsigned long long *addresses)
{
	struct drill_device d;
	nvmlReturn_t r = ask_pages(device, cause, count, &d);
	unsigned int room;

	if (r)
		return r;
	room = *count;
	if (drill_nvml.next)
		r = NVML_NEXT(nvmlDeviceGetRetiredPages)(device, cause, count,
							 addresses);
	else
		*count = 0;
	return lay_pages(&d, cause, r, room, count, addresses, NULL);
}

nvmlReturn_t nvmlDeviceGetRetiredPages_v2(nvmlDevice_t device,
					  unsigned int cause,
					  unsigned int *count,
					  unsigned long long *addresses,
					  unsigned long long *timestamps)
{
	struct drill_device d;
	nvmlReturn_t r = ask_pages(device, cause, count, &d);
	unsigned int room;

	if (r)
		return r;
	room = *count;
	if (drill_nvml.next)
		r = NVML_NEXT(nvmlDeviceGetRetiredPages_v2)(
			device, cause, count, addresses, timestamps);
	else
		*count = 0;
	return lay_pages(&d, cause, r, room, count, addresses, timestamps);
}

nvmlReturn_t nvmlDeviceGetRetiredPagesPendingStatus(nvmlDevice_t device,
						    unsigned int *pending)
{
	struct drill_device d;
	nvmlReturn_t r = drill_nvml_ask(device, DRILL_NVML_COUNT, pending, &d);

	if (r)
		return r;
	*pending = NVML_FEATURE_DISABLED;
	if (drill_nvml.next)
		r = NVML_NEXT(nvmlDeviceGetRetiredPagesPendingStatus)(device,
								      pending);
	if (!d.retired_pending)
		return r;
	*pending = NVML_FEATURE_ENABLED;
	return NVML_SUCCESS;
}

static bool has_rows(const struct drill_device *d)
{
	return d->remapped_cor || d->remapped_unc || d->remapped_pending ||
	       d->remapped_failure;
}

nvmlReturn_t nvmlDeviceGetRemappedRows(nvmlDevice_t device,
				       unsigned int *corrected,
				       unsigned int *uncorrected,
				       unsigned int *pending,
				       unsigned int *failure)
{
	const void *out = corrected && uncorrected && pending ? failure : NULL;
	struct drill_device d;
	nvmlReturn_t r = drill_nvml_ask(device, DRILL_NVML_COUNT, out, &d);

	if (r)
		return r;
	if (drill_nvml.next)
		r = NVML_NEXT(nvmlDeviceGetRemappedRows)(
			device, corrected, uncorrected, pending, failure);
	if (r && !has_rows(&d))
		return r;
	if (r || !drill_nvml.next)
		*corrected = *uncorrected = *pending = *failure = 0;
	*corrected += d.remapped_cor;
	*uncorrected += d.remapped_unc;
	*pending |= !!d.remapped_pending;
	*failure |= !!d.remapped_failure;
	return NVML_SUCCESS;
}
