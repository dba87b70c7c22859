/* device_step.h - what the proxies and the agent do to a device page alike
 * SPDX-License-Identifier: MIT
 *
 * libc only; linked into the CUDA proxy, the NVML proxy and the agent. Nothing
 * here trusts the page: what does not fit is left out.
 */
#ifndef DRILL_DEVICE_STEP_H
#define DRILL_DEVICE_STEP_H

#include "device_page.h"

#include <stdbool.h>

#pragma GCC visibility push(hidden)

/* Maps the page at @path after the checks of device_page.h. NULL: *why says
 * what is wrong ("" when there is no such file); it lives for ever. */
struct drill_device_page *drill_device_map(const char *path, const char **why);

/* Takes and gives back `lock`; a dead holder's is taken over. Not twice by one
 * thread. What is below takes it by itself. */
void drill_device_lock(struct drill_device_page *p);
void drill_device_unlock(struct drill_device_page *p);

/* ARMED > FIRED by this process. False: somebody else was first. On true the
 * steps that are due have been done. */
bool drill_device_fire(struct drill_device_page *p, unsigned int fault,
		       int pid, const char *comm);

/* Does the steps that are due at @now; returns when the next one is, 0: none
 * is left. Any process may call it at any time. */
int64_t drill_device_steps(struct drill_device_page *p, unsigned int fault,
			   int64_t now);

/* Appends to the ring. With an @xid the line is "NVRM: Xid (PCI:..): N, @text",
 * else @text as it is; @text "" is an event only. */
void drill_device_say(struct drill_device_page *p, unsigned int device,
		      uint32_t xid, uint32_t events, int pid,
		      const char *text);

/* Sends every entry point through the slow way from now on (DRILL_HOT_SICK): a
 * context or device is sick. Firings and steps that make one sick do so. */
void drill_device_sicken(struct drill_device_page *p);

/* One byte into the FIFO beside the page that was mapped last by map. */
void drill_device_wake(void);

/* As on hardware: a reset clears what a reset clears (health, errors to come,
 * volatile counters, pending remaps become done), a replacement all but what it
 * is called by: the library behind the proxies goes on to name it so. A GONE
 * device comes back by a replacement only. */
void drill_device_reset(struct drill_device_page *p, unsigned int device);
void drill_device_replace(struct drill_device_page *p, unsigned int device);

/* The devices of this fault's steps stand as before it: as new, but for what
 * other faults that have fired did to them. It must be OVER. */
void drill_device_restore(struct drill_device_page *p, unsigned int fault);

/* The device with that UUID, or -1. */
int drill_device_by_uuid(const struct drill_device_page *p,
			 const uint8_t uuid[16]);

/* Calls and launches of all threads of a client, those that ended too. */
uint64_t drill_device_calls(const struct drill_device_client *c);
uint64_t drill_device_launches(const struct drill_device_client *c);

/* A consistent copy (seq); what a writer's death tore is copied as it is. */
void drill_device_read(const struct drill_device_page *p, unsigned int device,
		       struct drill_device *ret);

#pragma GCC visibility pop

#endif
