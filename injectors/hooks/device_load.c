/* device_load.c - how full and how busy a device is, by all its processes
 * SPDX-License-Identifier: MIT
 */
#include "device_load.h"

#include <unistd.h>

const struct faultdrill_device_use *
drill_device_use(const struct drill_device_client *c, unsigned int device)
{
	for (int i = 0; i < DRILL_DEVICE_USES; i++)
		if (FAULTDRILL_USE_GET(c->use[i].device_1) == device + 1)
			return &c->use[i];
	return NULL;
}

bool drill_device_computes(const struct drill_device_page *p, int look,
			   int client, unsigned int device)
{
	const struct drill_device_client *c = &p->client[client];

	return atomic_load(&c->hello) == DRILL_HELLO_HERE &&
	       c->proxies & DRILL_PROXY_CUDA && device < DRILL_DEVICES &&
	       atomic_load(&c->devices) >> device & 1 &&
	       drill_device_held(look, client);
}

uint64_t drill_device_used(const struct drill_device_page *p,
			   unsigned int device, int except)
{
	const struct faultdrill_device_use *u;
	uint64_t sum = 0, n;
	int look = -2;

	for (int i = 0; i < DRILL_DEVICE_CLIENTS; i++) {
		if (!atomic_load_explicit(&p->client[i].claimed,
					  memory_order_acquire))
			break; /* they are claimed in order */
		u = i == except ? NULL : drill_device_use(&p->client[i], device);
		n = u ? atomic_load(&u->used_bytes) : 0;
		if (!n)
			continue;
		if (look == -2)
			look = drill_device_look();
		if (drill_device_computes(p, look, i, device))
			sum += n;
	}
	if (look >= 0)
		close(look);
	return sum;
}

/* Does the fault, in force or waiting, fill that device for that process? */
static bool fills(const struct drill_device_fault *f, int device, int32_t rank,
		  int32_t attempt)
{
	uint32_t state = atomic_load_explicit(&f->state, memory_order_acquire);

	return f->action == DRILL_DEVICE_OOM &&
	       (state == DRILL_DEVICE_ARMED || state == DRILL_DEVICE_FIRED) &&
	       (f->limit_bytes || f->every == 1) &&
	       (f->device < 0 || f->device == device) &&
	       (f->rank == -1 || f->rank == rank) &&
	       (f->attempt == 0 || f->attempt == attempt);
}

static uint64_t room(const struct drill_device_page *p, int device,
		     int32_t rank, int32_t attempt, bool untold, uint64_t used,
		     uint64_t left)
{
	const struct drill_device_fault *f;

	for (int i = 0; i < DRILL_DEVICE_FAULTS; i++) {
		f = &p->fault[i];
		if (!fills(f, device, rank, attempt) || (f->untold && !untold))
			continue;
		if (f->limit_bytes <= used)
			left = 0;
		else if (f->limit_bytes - used < left)
			left = f->limit_bytes - used;
	}
	return left;
}

uint64_t drill_device_room(const struct drill_device_page *p, int device,
			   int32_t rank, int32_t attempt, uint64_t used,
			   uint64_t left)
{
	return room(p, device, rank, attempt, true, used, left);
}

static unsigned int percent(int64_t ns)
{
	int64_t pct = (ns * 100 + FAULTDRILL_USE_PERIOD_NS / 2) /
		      FAULTDRILL_USE_PERIOD_NS;

	return pct < 100 ? (unsigned int)pct : 100;
}

uint64_t drill_device_left(const struct drill_device_page *p, int device,
			   uint64_t used, uint64_t left)
{
	const struct drill_device_client *c = p->client;
	int look = drill_device_look();

	left = room(p, device, -1, 0, false, used, left);
	for (int i = 0; i < DRILL_DEVICE_CLIENTS; i++)
		if (drill_device_computes(p, look, i, (unsigned int)device))
			left = room(p, device, c[i].rank, c[i].attempt, false,
				    used, left);
	if (look >= 0)
		close(look);
	return left;
}

/* Contexts of several processes take turns on a device: what each has of the
 * period adds up. */
void drill_device_load(const struct drill_device_page *p, unsigned int device,
		       struct drill_device_load *ret)
{
	int64_t now = faultdrill_use_now(), kernel_ns = 0, memory_ns = 0;
	const struct drill_device_client *c = p->client;
	const struct faultdrill_device_use *u;
	int look = drill_device_look();

	*ret = (struct drill_device_load){ 0 };
	for (int i = 0; i < DRILL_DEVICE_CLIENTS; i++) {
		if (!drill_device_computes(p, look, i, device))
			continue;
		u = drill_device_use(&c[i], device);
		ret->unknown |= !u || !atomic_load(&c[i].shows);
		if (!u)
			continue;
		kernel_ns += faultdrill_use_ns(u, FAULTDRILL_USE_KERNEL, now);
		memory_ns += faultdrill_use_ns(u, FAULTDRILL_USE_MEMORY, now);
	}
	if (look >= 0)
		close(look);
	ret->kernel_pct = percent(kernel_ns);
	ret->memory_pct = percent(memory_ns);
}
