/* devices.h - the agent's side of a device page: make, arm, see, take off
 * SPDX-License-Identifier: MIT
 *
 * device_page.h holds the format and the states, device_step.h what agent and
 * proxies do alike. One agent writes a page's faults at a time; proxies may do
 * what they like with it, so everything read here is bounded and checked.
 */
#ifndef DRILL_DEVICES_H
#define DRILL_DEVICES_H

#include "device_page.h"

#include "harness/core/err.h"

#include <stdbool.h>

struct drill_devices {
	struct drill_device_page *page; /* mapped; drill_devices_close */
};

/* How many devices the kernel's driver shows; 0: there is none. */
int drill_devices_of_driver(void);

/* Makes @path (must not exist) with the devices of @host: @software > 0: that
 * many software devices, named as the software libcuda names them; 0: those
 * that the driver shows below /proc/driver/nvidia (-ENODEV: none). */
int drill_devices_create(struct drill_devices *d, const char *path,
			 const char *host, int software,
			 struct drill_err *err);

/* Maps an existing page after the checks of device_page.h. -ENOENT when there
 * is none. */
int drill_devices_open(struct drill_devices *d, const char *path,
		       struct drill_err *err);
void drill_devices_close(struct drill_devices *d);

/* Devices of the host, those that are gone now too; they are numbered from 0
 * without a gap. */
int drill_devices_count(const struct drill_devices *d);
/* "ok", "lost", "reset_required", "gone"; "?" beyond. Lives for ever. */
const char *drill_device_health_name(uint32_t health);
/* The device called "GPU-8f3a...", or -1. */
int drill_devices_by_name(const struct drill_devices *d, const char *name);
/* Does the device stand as when the page was made, wear and clocks included?
 * If not, @why says what differs. */
bool drill_devices_as_new(const struct drill_devices *d, unsigned int device,
			  char *why, size_t size);

/* Where an armed fault lies, and whose it is: goes into a journal record. */
struct drill_device_armed {
	int fault;
	uint64_t mark;
};

/* In two steps, for a record that must be durable in between: pick changes
 * nothing (-ENOSPC: all are taken), arm_at copies what the agent writes of
 * @order (-EBUSY: no longer free; -EINVAL: out of bounds). */
int drill_devices_pick(const struct drill_devices *d,
		       struct drill_device_armed *ret, struct drill_err *err);
int drill_devices_arm_at(struct drill_devices *d,
			 const struct drill_device_fault *order,
			 const struct drill_device_armed *a,
			 struct drill_err *err);

/* A copy of the fault as it stands. -ESTALE when it is not ours any more,
 * -ENOENT when it is free. */
int drill_devices_read(const struct drill_devices *d,
		       const struct drill_device_armed *a,
		       struct drill_device_fault *ret, struct drill_err *err);

/* Takes the fault off: what hangs goes on, and its devices stand as before it,
 * but for what other faults did to them. Twice is a no-op. */
int drill_devices_disarm(struct drill_devices *d,
			 const struct drill_device_armed *a,
			 struct drill_err *err);

/* The first line from number *@n on that the ring holds, and *@n then the number
 * behind it. -ENOENT: there is none yet. */
int drill_devices_line(const struct drill_devices *d, uint64_t *n,
		       struct drill_device_line *ret);

/* A process of this host that loaded a proxy. */
struct drill_device_seen {
	int client; /* of the page */
	bool here;  /* false: it has said bye */
	int pid, rank, attempt; /* pid as the process sees it */
	unsigned int proxies;	/* bits of enum drill_proxies */
	int64_t hello_ns;
	char build[64], program[64], next[256];
	uint64_t linked, remapped, passed, bypassed, calls, launches, contexts;
	bool forked, audited;
};

/* Those that said hello, in order of their coming; returns their number, at
 * most @max. */
int drill_devices_clients(const struct drill_devices *d,
			  struct drill_device_seen *ret, int max);

#endif
