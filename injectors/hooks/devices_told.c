/* devices_told.c - reads what proxies wrote on a device page: lines and clients
 * SPDX-License-Identifier: MIT
 */
#include "devices.h"

#include "device_step.h"
#include "hook_ticks.h"

#include <errno.h>
#include <string.h>

static bool read_line(const struct drill_devices *d, uint64_t n,
		      struct drill_device_line *ret)
{
	const struct drill_device_line *l =
		&d->page->line[n % DRILL_DEVICE_LINES];

	memcpy(ret, l, sizeof(*ret));
	atomic_thread_fence(memory_order_acquire);
	ret->text[sizeof(ret->text) - 1] = '\0';
	return ret->seq == n + 1 && atomic_load(&l->seq) == n + 1;
}

/* A damaged page may speak of any number of lines: no more are looked at than
 * the ring holds. */
int drill_devices_line(const struct drill_devices *d, uint64_t *n,
		       struct drill_device_line *ret)
{
	uint64_t lines = atomic_load_explicit(&d->page->lines,
					      memory_order_acquire);

	if (lines > *n && lines - *n > DRILL_DEVICE_LINES)
		*n = lines - DRILL_DEVICE_LINES;
	while (*n < lines)
		if (read_line(d, (*n)++, ret))
			return 0;
	return -ENOENT;
}

/* What a proxy wrote need not end with a zero. */
static void copy_text(char *ret, const char *text, size_t size)
{
	memcpy(ret, text, size);
	ret[size - 1] = '\0';
}

static void see_client(const struct drill_device_page *p, int i,
		       struct drill_device_seen *ret)
{
	const struct drill_device_client *c = &p->client[i];

	*ret = (struct drill_device_seen){
		.client = i,
		.here = atomic_load(&c->hello) == DRILL_HELLO_HERE,
		.pid = c->pid,
		.rank = c->rank,
		.attempt = c->attempt,
		.proxies = c->proxies,
		.hello_ns = c->hello_ns,
		.linked = atomic_load(&c->linked),
		.remapped = atomic_load(&c->remapped),
		.passed = atomic_load(&c->passed),
		.bypassed = atomic_load(&c->bypassed),
		.calls = drill_device_calls(c),
		.launches = drill_device_launches(c),
		.contexts = atomic_load(&c->contexts),
		.forked = atomic_load(&c->forked) != 0,
		.audited = atomic_load(&c->audited) != 0,
	};
	copy_text(ret->build, c->build, sizeof(ret->build));
	copy_text(ret->program, c->program, sizeof(ret->program));
	copy_text(ret->next, c->next, sizeof(ret->next));
}

/* Clients are claimed in order: the first that never was ends the list, so that
 * an agent touches only what is used. */
int drill_devices_clients(const struct drill_devices *d,
			  struct drill_device_seen *ret, int max)
{
	const struct drill_device_client *c = d->page->client;
	int n = 0;

	for (int i = 0; i < DRILL_DEVICE_CLIENTS && n < max &&
			atomic_load_explicit(&c[i].claimed,
					     memory_order_acquire); i++)
		if (atomic_load_explicit(&c[i].hello, memory_order_acquire))
			see_client(d->page, i, &ret[n++]);
	return n;
}
