/* nvml_page.c - which devices there are, and how one stands on the page
 * SPDX-License-Identifier: MIT
 */
#include "nvml_proxy.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BLOCK_MAX_MS 60000
#define BLOCK_LOOK_MS 20

struct drill_nvml drill_nvml = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* Software NVML's handles: places in here. */
static char soft_handle[DRILL_DEVICES];

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000) + t.tv_nsec / 1000000;
}

/* The page's device behind a handle of the next library. */
static int page_of(nvmlDevice_t handle)
{
	char text[96] = "";
	uint8_t uuid[16] = { 0 };
	unsigned int digits = 0;

	if (!drill_nvml.page ||
	    NVML_NEXT(nvmlDeviceGetUUID)(handle, text, sizeof(text)) ||
	    strncmp(text, "GPU-", 4))
		return -1;
	for (const char *c = text + 4; *c && digits < 32; c++) {
		char one[2] = { *c, 0 }, *end;
		unsigned long v = strtoul(one, &end, 16);

		if (end == one)
			continue;
		uuid[digits / 2] = (uint8_t)(uuid[digits / 2] << 4 | v);
		digits++;
	}
	return digits == 32 ? drill_device_by_uuid(drill_nvml.page, uuid) : -1;
}

/* What it is told to say, or how the device stands. */
static uint32_t health_of(const struct drill_device *d)
{
	return d->nvml_health ? d->nvml_health : d->health;
}

uint32_t drill_nvml_health(unsigned int page_index)
{
	struct drill_device d;

	drill_device_read(drill_nvml.page, page_index, &d);
	return health_of(&d);
}

static bool is_gone(int page)
{
	return page >= 0 && drill_nvml_health((unsigned int)page) ==
				    DRILL_DEVICE_GONE;
}

static void add(nvmlDevice_t handle, int page)
{
	if (drill_nvml.devices == DRILL_DEVICES || is_gone(page))
		return;
	drill_nvml.device[drill_nvml.devices++] =
		(struct drill_nvml_device){ handle, page };
}

static nvmlReturn_t list_next(void)
{
	unsigned int n = 0;
	nvmlDevice_t handle;
	nvmlReturn_t r = NVML_NEXT(nvmlDeviceGetCount_v2)(&n);

	for (unsigned int i = 0; !r && i < n; i++)
		if (!NVML_NEXT(nvmlDeviceGetHandleByIndex_v2)(i, &handle))
			add(handle, page_of(handle));
	return r;
}

nvmlReturn_t drill_nvml_list(void)
{
	drill_nvml.devices = 0;
	if (drill_nvml.next)
		return list_next();
	if (!drill_nvml.page)
		return NVML_ERROR_DRIVER_NOT_LOADED;
	for (int i = 0; i < DRILL_DEVICES; i++)
		if (atomic_load(&drill_nvml.page->device[i].health))
			add((nvmlDevice_t)&soft_handle[i], i);
	return NVML_SUCCESS;
}

nvmlReturn_t drill_nvml_ready(void)
{
	unsigned int refs;

	pthread_mutex_lock(&drill_nvml.lock);
	refs = drill_nvml.refs;
	pthread_mutex_unlock(&drill_nvml.lock);
	return refs ? NVML_SUCCESS : NVML_ERROR_UNINITIALIZED;
}

int drill_nvml_place(nvmlDevice_t device)
{
	int place = -1;

	pthread_mutex_lock(&drill_nvml.lock);
	for (unsigned int i = 0; i < drill_nvml.devices; i++)
		if (drill_nvml.device[i].handle == device)
			place = (int)i;
	pthread_mutex_unlock(&drill_nvml.lock);
	return place;
}

nvmlDevice_t drill_nvml_handle(unsigned int page_index)
{
	nvmlDevice_t handle = NULL;

	pthread_mutex_lock(&drill_nvml.lock);
	for (unsigned int i = 0; i < drill_nvml.devices; i++)
		if (drill_nvml.device[i].page == (int)page_index)
			handle = drill_nvml.device[i].handle;
	pthread_mutex_unlock(&drill_nvml.lock);
	return handle;
}

/* The firmware does not answer: wait as the driver would, and give up as it
 * would, unless it comes back or is given up meanwhile. */
static nvmlReturn_t wait_for_firmware(int page, struct drill_device *ret)
{
	const struct timespec look = { .tv_nsec = BLOCK_LOOK_MS * 1000000L };
	int64_t ms = ret->nvml_block_ms < BLOCK_MAX_MS ? ret->nvml_block_ms :
							 BLOCK_MAX_MS;
	int64_t until = now_ms() + ms;

	while (now_ms() < until) {
		clock_nanosleep(CLOCK_MONOTONIC, 0, &look, NULL);
		drill_device_read(drill_nvml.page, (unsigned int)page, ret);
		if (!ret->nvml_block_ms || health_of(ret) != DRILL_DEVICE_OK)
			return NVML_SUCCESS;
	}
	return NVML_ERROR_UNKNOWN;
}

static nvmlReturn_t stands_in_the_way(int page, enum drill_nvml_kind kind,
				      struct drill_device *ret)
{
	nvmlReturn_t r = NVML_SUCCESS;
	uint32_t health;

	/* Once the driver has given it up, nobody waits any more. */
	if (kind != DRILL_NVML_WHO && ret->nvml_block_ms &&
	    health_of(ret) == DRILL_DEVICE_OK)
		r = wait_for_firmware(page, ret);
	health = health_of(ret);
	if (health == DRILL_DEVICE_LOST || health == DRILL_DEVICE_GONE)
		return NVML_ERROR_GPU_IS_LOST;
	if (!r && kind == DRILL_NVML_LIVE &&
	    health == DRILL_DEVICE_RESET_REQUIRED)
		return NVML_ERROR_RESET_REQUIRED;
	return r;
}

nvmlReturn_t drill_nvml_ask(nvmlDevice_t device, enum drill_nvml_kind kind,
			    const void *out, struct drill_device *ret)
{
	nvmlReturn_t r = drill_nvml_ready();
	int place, page;

	memset(ret, 0, sizeof(*ret));
	if (r)
		return r;
	place = drill_nvml_place(device);
	page = place < 0 ? -1 : drill_nvml.device[place].page;
	if (!out || (place < 0 && !drill_nvml.next))
		return NVML_ERROR_INVALID_ARGUMENT;
	if (page < 0)
		return NVML_SUCCESS; /* the next library's alone */
	drill_device_read(drill_nvml.page, (unsigned int)page, ret);
	return stands_in_the_way(page, kind, ret);
}
