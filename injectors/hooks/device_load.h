/* device_load.h - how full and how busy a device is, by all its processes
 * SPDX-License-Identifier: MIT
 *
 * libc only; for both proxies. A process counts while it holds its record of
 * the page, so that one that was killed counts no more, as on hardware.
 */
#ifndef DRILL_DEVICE_LOAD_H
#define DRILL_DEVICE_LOAD_H

#include "device_page.h"

#include <stdbool.h>

#pragma GCC visibility push(hidden)

/* ---- device_map.c: of the page that was mapped last ---- */

/* Holds @client's record as long as the process lives: a file descriptor, or
 * -1. Its locks go on in a forked child that does not let go. */
int drill_device_hold(int client);
void drill_device_let_go(int fd);
/* To ask who holds which: a file descriptor to close, -1 when the file is not
 * there any more. */
int drill_device_look(void);
/* Is the record held? Yes, when that cannot be asked. */
bool drill_device_held(int look, int client);

/* ---- device_load.c ---- */

/* Is that process there, with contexts on the device? */
bool drill_device_computes(const struct drill_device_page *p, int look,
			   int client, unsigned int device);
/* The process's record of its use of the device. NULL: it shows none. */
const struct faultdrill_device_use *
drill_device_use(const struct drill_device_client *c, unsigned int device);
/* What all processes but @except (-1: none) hold of the device. */
uint64_t drill_device_used(const struct drill_device_page *p,
			   unsigned int device, int except);
/* What faults that fill the device leave of @left, with @used taken, for a
 * process of that rank and attempt. */
uint64_t drill_device_room(const struct drill_device_page *p, int device,
			   int32_t rank, int32_t attempt, uint64_t used,
			   uint64_t left);

/* The same for all processes that are there, as NVML says it: the least. */
uint64_t drill_device_left(const struct drill_device_page *p, int device,
			   uint64_t used, uint64_t left);

/* The last complete period, and whether it is all that can be said. */
struct drill_device_load {
	bool unknown; /* a process computes there and does not show its use */
	unsigned int kernel_pct, memory_pct;
};

void drill_device_load(const struct drill_device_page *p, unsigned int device,
		       struct drill_device_load *ret);

#pragma GCC visibility pop

#endif
