/* nvml_event.c - event sets: Xids and the other events of the page's lines
 * SPDX-License-Identifier: MIT
 *
 * A set reads the page's ring of lines from the line that was next when its
 * first device was registered, so that it gives every later event once, in
 * order: of a line first its Xid, then the bits beside it. A set that falls
 * behind by more than the ring holds goes on with the oldest line there.
 *
 * With a next library the set has a set of that behind it, and waits in turns.
 * After its last event, a device that was lost is said once by
 * NVML_ERROR_GPU_IS_LOST; a caller that waits on is not made to spin.
 */
#include "nvml_proxy.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MAGIC 0x45564e54u
#define ALL_EVENTS 0xfe1fULL
/* How long a wait looks one way only: the next library's events come with that
 * delay, the page's by a futex, which is looked after in case of a page whose
 * writer does not wake. */
#define TURN_MS 20
#define LOOK_MS 200

struct nvmlEventSet_st {
	uint32_t magic;
	pthread_mutex_t lock;
	nvmlEventSet_t next;
	bool started;
	uint64_t line;	 /* number of the next one to read, from 0 */
	uint64_t bits;	 /* of the line before, still to be given */
	uint32_t device; /* whose they are */
	uint64_t wanted[DRILL_DEVICES]; /* by index on the page */
	uint64_t said_lost; /* devices */
};

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000) + t.tv_nsec / 1000000;
}

static bool is_set(nvmlEventSet_t set)
{
	return set && set->magic == MAGIC;
}

nvmlReturn_t nvmlEventSetCreate(nvmlEventSet_t *set)
{
	nvmlReturn_t r = drill_nvml_ready();
	nvmlEventSet_t s;

	if (!r && !set)
		r = NVML_ERROR_INVALID_ARGUMENT;
	if (r)
		return r;
	s = calloc(1, sizeof(*s));
	if (!s)
		return NVML_ERROR_MEMORY;
	if (drill_nvml.next)
		r = NVML_NEXT(nvmlEventSetCreate)(&s->next);
	if (r) {
		free(s);
		return r;
	}
	s->magic = MAGIC;
	pthread_mutex_init(&s->lock, NULL);
	*set = s;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlEventSetFree(nvmlEventSet_t set)
{
	nvmlReturn_t r = drill_nvml_ready();

	if (!r && !is_set(set))
		r = NVML_ERROR_INVALID_ARGUMENT;
	if (r)
		return r;
	if (set->next)
		r = NVML_NEXT(nvmlEventSetFree)(set->next);
	set->magic = 0;
	pthread_mutex_destroy(&set->lock);
	free(set);
	return r;
}

nvmlReturn_t nvmlDeviceGetSupportedEventTypes(nvmlDevice_t device,
					      unsigned long long *types)
{
	struct drill_device d;
	nvmlReturn_t r = drill_nvml_ask(device, DRILL_NVML_WHO, types, &d);

	if (r)
		return r;
	*types = 0;
	if (drill_nvml.next)
		r = NVML_NEXT(nvmlDeviceGetSupportedEventTypes)(device, types);
	if (!d.health)
		return r; /* not on the page */
	*types |= ALL_EVENTS;
	return NVML_SUCCESS;
}

/* Those of @types that the next library has too. */
static nvmlReturn_t register_next(nvmlDevice_t device, unsigned long long types,
				  nvmlEventSet_t set)
{
	unsigned long long has = 0;

	if (!drill_nvml.next)
		return NVML_SUCCESS;
	if (NVML_NEXT(nvmlDeviceGetSupportedEventTypes)(device, &has) ||
	    !(types & has))
		return NVML_ERROR_NOT_SUPPORTED;
	return NVML_NEXT(nvmlDeviceRegisterEvents)(device, types & has,
						   set->next);
}

static void note_wish(nvmlEventSet_t set, uint32_t index, uint64_t types)
{
	pthread_mutex_lock(&set->lock);
	if (!set->started)
		set->line = atomic_load(&drill_nvml.page->lines);
	set->started = true;
	set->wanted[index] |= types;
	pthread_mutex_unlock(&set->lock);
}

nvmlReturn_t nvmlDeviceRegisterEvents(nvmlDevice_t device,
				      unsigned long long types,
				      nvmlEventSet_t set)
{
	int place = drill_nvml_place(device), page;
	unsigned long long all = 0;
	nvmlReturn_t r = nvmlDeviceGetSupportedEventTypes(device, &all);

	if (!r && !is_set(set))
		r = NVML_ERROR_INVALID_ARGUMENT;
	if (!r && types & ~all)
		r = NVML_ERROR_NOT_SUPPORTED;
	if (r)
		return r;
	page = place < 0 ? -1 : drill_nvml.device[place].page;
	r = register_next(device, types, set);
	if (page < 0)
		return r;
	note_wish(set, (uint32_t)page, types);
	return NVML_SUCCESS;
}

/* One line, if it is still what it was when its number was read. */
static bool read_line(uint64_t n, struct drill_device_line *ret)
{
	const struct drill_device_line *l =
		&drill_nvml.page->line[n % DRILL_DEVICE_LINES];

	if (atomic_load_explicit(&l->seq, memory_order_acquire) != n + 1)
		return false;
	ret->device = l->device;
	ret->xid = l->xid;
	ret->events = l->events;
	atomic_thread_fence(memory_order_acquire);
	return atomic_load_explicit(&l->seq, memory_order_relaxed) == n + 1;
}

static void give(nvmlEventSet_t set, uint64_t type, uint64_t what,
		 nvmlEventData_t *data, size_t size)
{
	nvmlEventData_t e = { drill_nvml_handle(set->device), type, what, ~0u,
			      ~0u };

	memcpy(data, &e, size);
}

/* The next line's events that are wanted, into set->bits; the Xid's number. */
static uint32_t take_line(nvmlEventSet_t set)
{
	struct drill_device_line l;
	uint64_t wanted;

	if (!read_line(set->line++, &l) || l.device >= DRILL_DEVICES)
		return 0;
	wanted = set->wanted[l.device];
	set->device = l.device;
	set->bits = l.events & wanted & ~nvmlEventTypeXidCriticalError;
	return wanted & nvmlEventTypeXidCriticalError ? l.xid : 0;
}

/* True: an event of the page is in @data. */
static bool next_event(nvmlEventSet_t set, nvmlEventData_t *data, size_t size)
{
	uint64_t lines = atomic_load(&drill_nvml.page->lines), bit;
	uint32_t xid;

	if (set->line > lines)
		set->line = lines; /* another page, or a damaged one */
	if (lines - set->line > DRILL_DEVICE_LINES)
		set->line = lines - DRILL_DEVICE_LINES;
	for (;;) {
		if (set->bits) {
			bit = set->bits & -set->bits;
			set->bits &= ~bit;
			give(set, bit, 0, data, size);
			return true;
		}
		if (set->line >= lines)
			return false;
		xid = take_line(set);
		if (xid) {
			give(set, nvmlEventTypeXidCriticalError, xid, data,
			     size);
			return true;
		}
	}
}

static bool is_lost_now(nvmlEventSet_t set)
{
	uint32_t health;

	for (unsigned int i = 0; i < DRILL_DEVICES; i++) {
		health = drill_nvml_health(i);
		if (health != DRILL_DEVICE_LOST)
			set->said_lost &= ~(1ull << i);
		else if (set->wanted[i] && !(set->said_lost >> i & 1)) {
			set->said_lost |= 1ull << i;
			return true;
		}
	}
	return false;
}

/* What the page has for this set now; NVML_ERROR_TIMEOUT: nothing among the
 * *@seen first lines, or nothing of the page is wanted at all. */
static nvmlReturn_t look(nvmlEventSet_t set, nvmlEventData_t *data,
			 size_t size, bool *started, uint32_t *seen)
{
	nvmlReturn_t r = NVML_ERROR_TIMEOUT;

	pthread_mutex_lock(&set->lock);
	*started = set->started;
	if (*started) {
		*seen = (uint32_t)atomic_load(&drill_nvml.page->lines);
		if (next_event(set, data, size))
			r = NVML_SUCCESS;
		else if (is_lost_now(set))
			r = NVML_ERROR_GPU_IS_LOST;
	}
	pthread_mutex_unlock(&set->lock);
	return r;
}

/* Until another line is there than the @seen first ones, or @ms are over. */
static void wait_for_line(bool started, uint32_t seen, int64_t ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000 };
	int e = errno;

	if (started)
		syscall(SYS_futex, &drill_nvml.page->lines, FUTEX_WAIT, seen,
			&t, NULL, 0);
	else
		clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
	errno = e;
}

static nvmlReturn_t wait_for_next(nvmlEventSet_t set, nvmlEventData_t *data,
				  size_t size, int64_t ms)
{
	if (size == sizeof(*data))
		return NVML_NEXT(nvmlEventSetWait_v2)(set->next, data,
						      (unsigned int)ms);
	return NVML_NEXT(nvmlEventSetWait)(set->next, data, (unsigned int)ms);
}

static nvmlReturn_t wait_for(nvmlEventSet_t set, nvmlEventData_t *data,
			     size_t size, unsigned int ms)
{
	int64_t until = now_ms() + ms, turn = set->next ? TURN_MS : LOOK_MS;
	int64_t left = ms;
	uint32_t seen = 0;
	bool started;
	nvmlReturn_t r;

	for (;;) {
		r = look(set, data, size, &started, &seen);
		if (r != NVML_ERROR_TIMEOUT)
			return r;
		if (set->next)
			r = wait_for_next(set, data, size,
					  left < turn ? left : turn);
		else if (left > 0)
			wait_for_line(started, seen, left < turn ? left : turn);
		if (r != NVML_ERROR_TIMEOUT)
			return r;
		if (left <= 0)
			return r;
		left = until - now_ms();
		left = left > 0 ? left : 0;
	}
}

static nvmlReturn_t wait_checked(nvmlEventSet_t set, nvmlEventData_t *data,
				 size_t size, unsigned int ms)
{
	nvmlReturn_t r = drill_nvml_ready();

	if (!r && (!is_set(set) || !data))
		r = NVML_ERROR_INVALID_ARGUMENT;
	return r ? r : wait_for(set, data, size, ms);
}

nvmlReturn_t nvmlEventSetWait_v2(nvmlEventSet_t set, nvmlEventData_t *data,
				 unsigned int ms)
{
	return wait_checked(set, data, sizeof(*data), ms);
}

nvmlReturn_t nvmlEventSetWait(nvmlEventSet_t set, nvmlEventData_t *data,
			      unsigned int ms)
{
	return wait_checked(set, data, offsetof(nvmlEventData_t, gpuInstanceId),
			    ms);
}
