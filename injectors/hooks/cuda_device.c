/* cuda_device.c - devices as CUDA numbers them and as the page does
 * SPDX-License-Identifier: MIT
 */
#include "cuda_call.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIST (DRILL_DEVICES * 48)

/* Index on the page, by CUDA's number, + 2; 0: not asked yet. */
static _Atomic int index_of[DRILL_DEVICES];

static int ask_index(CUdevice dev)
{
	CUuuid uuid;
	uint8_t bytes[16];

	if (drill_next(cuDeviceGetUuid_v2)(&uuid, dev) &&
	    drill_next(cuDeviceGetUuid)(&uuid, dev))
		return -1;
	memcpy(bytes, uuid.bytes, sizeof(bytes));
	return drill_device_by_uuid(drill_cuda.page, bytes);
}

int drill_device_index(CUdevice dev)
{
	int i;

	if (dev < 0 || dev >= DRILL_DEVICES)
		return -1;
	i = atomic_load_explicit(&index_of[dev], memory_order_relaxed);
	if (!i) {
		i = ask_index(dev) + 2;
		atomic_store_explicit(&index_of[dev], i, memory_order_relaxed);
	}
	return i - 2;
}

/* ---- peers ---- */

static bool refuses(unsigned int number, int device)
{
	const struct drill_device_fault *f;
	struct drill_call c = { .number = number };

	if (device < 0)
		return false;
	for (unsigned int i = 0; i < DRILL_DEVICE_FAULTS; i++) {
		f = drill_fault(i);
		if (f->action != DRILL_DEVICE_NO_PEER ||
		    !drill_cuda_concerns(i) ||
		    (f->device >= 0 && f->device != device) ||
		    !drill_fault_stands(i))
			continue;
		drill_call_says(&c, i);
		return true;
	}
	return drill_cuda.page->device[device].no_peer != 0;
}

bool drill_peers_refused(unsigned int number, int a, int b)
{
	return refuses(number, a) || refuses(number, b);
}

/* ---- what is not there at cuInit ---- */

static bool is_gone(int device)
{
	const struct drill_device_fault *f;
	struct drill_call c = { .number = DRILL_CALL_cuInit };
	bool gone = atomic_load(&drill_cuda.page->device[device].health) ==
		    DRILL_DEVICE_GONE;

	for (unsigned int i = 0; i < DRILL_DEVICE_FAULTS; i++) {
		f = drill_fault(i);
		if (f->action != DRILL_DEVICE_ABSENT ||
		    !drill_cuda_concerns(i) ||
		    (f->device >= 0 && f->device != device) ||
		    !drill_fault_stands(i))
			continue;
		drill_call_says(&c, i);
		gone = true;
	}
	return gone;
}

static void write_uuid(char *ret, const uint8_t u[16])
{
	int n = sprintf(ret, "GPU-");

	for (int i = 0; i < 16; i++)
		n += sprintf(ret + n, i == 4 || i == 6 || i == 8 || i == 10 ?
			     "-%02x" : "%02x", u[i]);
}

/* The device that one entry of CUDA_VISIBLE_DEVICES means, among those that are
 * left: numbers count these, as they would on hardware. -1: none. */
static int meant(const char *entry, size_t n, const int *left, int left_n)
{
	char uuid[48], *end;
	long k;

	if (n >= 4 && !strncmp(entry, "GPU-", 4)) {
		for (int i = 0; i < left_n; i++) {
			write_uuid(uuid, drill_cuda.page->device[left[i]].uuid);
			if (n <= strlen(uuid) && !strncmp(uuid, entry, n))
				return left[i];
		}
		return -1;
	}
	k = strtol(entry, &end, 10);
	return end != entry && k >= 0 && k < left_n ? left[k] : -1;
}

/* As CUDA_VISIBLE_DEVICES spells what it leaves of @left; the first entry that
 * means nothing ends it. */
static void list_visible(const char *visible, const int *left, int left_n,
			 char ret[LIST])
{
	size_t at = 0, n;
	int device, k = 0;

	for (ret[0] = '\0'; k < DRILL_DEVICES; k++) {
		n = visible ? strcspn(visible, ",") : 0;
		device = visible ? meant(visible, n, left, left_n) :
			 k < left_n ? left[k] : -1;
		if (device < 0)
			return;
		if (at)
			ret[at++] = ',';
		write_uuid(ret + at, drill_cuda.page->device[device].uuid);
		at += strlen(ret + at);
		if (visible && !visible[n])
			return;
		visible += visible ? n + 1 : 0;
	}
}

/* How many devices the host has, and which of them are left. */
static int find_left(int *left, int *left_n)
{
	int n = 0;

	for (*left_n = 0; n < DRILL_DEVICES; n++) {
		if (atomic_load(&drill_cuda.page->device[n].health) ==
		    DRILL_DEVICE_UNUSED)
			break;
		if (!is_gone(n))
			left[(*left_n)++] = n;
	}
	return n;
}

/* The driver itself leaves out what is gone: it counts, numbers and fails as it
 * does without them. The variable is put back, for children are told anew. */
static CUresult init_without(unsigned int flags, const int *left, int left_n)
{
	const char *was = getenv("CUDA_VISIBLE_DEVICES");
	char list[LIST], *old = was ? strdup(was) : NULL;
	CUresult e;

	list_visible(was, left, left_n, list);
	setenv("CUDA_VISIBLE_DEVICES", list, 1);
	e = drill_next(cuInit)(flags);
	if (old)
		setenv("CUDA_VISIBLE_DEVICES", old, 1);
	else
		unsetenv("CUDA_VISIBLE_DEVICES");
	free(old);
	return e;
}

static pthread_mutex_t init_lock = PTHREAD_MUTEX_INITIALIZER;

CUresult drill_init(unsigned int flags)
{
	static bool done;
	int left[DRILL_DEVICES], left_n, n;
	CUresult e;

	pthread_mutex_lock(&init_lock);
	n = done ? 0 : find_left(left, &left_n);
	e = done || left_n == n ? drill_next(cuInit)(flags) :
				  init_without(flags, left, left_n);
	if (!done && !e)
		drill_use_start();
	done = done || !e;
	pthread_mutex_unlock(&init_lock);
	return e;
}

void drill_init_start(void)
{
	pthread_mutex_init(&init_lock, NULL);
	for (int i = 0; i < DRILL_DEVICES; i++)
		atomic_store(&index_of[i], 0);
}
