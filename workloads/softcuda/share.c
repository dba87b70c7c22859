/* share.c - a device that several processes share, and what it says of its use
 * SPDX-License-Identifier: MIT
 *
 * What this process holds and executes is always counted; softcuda_share() says
 * where others see it. Bytes are shown first and then looked at: two processes
 * that take the last ones at once may both be refused, never both be given.
 */
#include "soft.h"

static size_t others(const struct soft_device *d)
{
	return d->others ? (size_t)d->others((int)(d - soft.device)) : 0;
}

static void show(struct soft_device *d)
{
	atomic_store(&d->use->used_bytes, d->used);
}

size_t soft_left(const struct soft_device *d)
{
	size_t held = others(d);

	return held < d->limit - d->used ? d->limit - d->used - held : 0;
}

bool soft_take(struct soft_device *d, size_t n)
{
	if (n > d->limit - d->used)
		return false;
	d->used += n;
	show(d);
	if (!d->others || others(d) <= d->limit - d->used)
		return true;
	soft_give(d, n);
	return false;
}

void soft_give(struct soft_device *d, size_t n)
{
	d->used -= n;
	show(d);
}

void soft_occupy(struct CUstream_st *s, unsigned int bits)
{
	if (s->occupies == bits)
		return;
	faultdrill_use_change(s->ctx->device->use, s->occupies, bits);
	s->occupies = bits;
}

static bool has_contexts(const struct soft_device *d)
{
	const struct CUctx_st *c;

	for (c = soft.made; c; c = c->next)
		if (c->alive && c->device == d)
			return true;
	return d->primary.alive;
}

SOFT_API int softcuda_share(int device, const struct softcuda_share *share)
{
	struct soft_device *d;
	int r = 1;

	if (soft_ready() || device < 0 || device >= soft.devices)
		return r;
	d = &soft.device[device];
	pthread_mutex_lock(&soft.lock);
	if (!has_contexts(d)) {
		d->use = share->use;
		if (share->memory_bytes) /* what shows it may not know */
			d->limit = (size_t)share->memory_bytes;
		d->others = share->others;
		r = 0;
	}
	pthread_mutex_unlock(&soft.lock);
	return r;
}
