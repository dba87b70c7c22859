/* starter_nvml.h - asks NVML how the devices of this host are
 * SPDX-License-Identifier: MIT
 */
#ifndef LAUNCH_STARTER_NVML_H
#define LAUNCH_STARTER_NVML_H

#include "policy.h"

#include <stdint.h>

/* What it has to say; called from starter_nvml_look() and _wait(). */
struct starter_nvml_ear {
	void (*sign)(int device, enum launch_sign sign, uint64_t value);
	void (*xid)(int device, int xid);
};

/* Loads libnvidia-ml.so.1 from the folders @first ("a:b"; may be NULL), else
 * from where the loader finds it, and counts the devices: their number, or -1 with the
 * reason in @why. Devices keep the index they have now. */
int starter_nvml_open(const char *first, char *why, size_t size);

/* The index of the device at that PCI address, -1 when there is none. */
int starter_nvml_at(unsigned int domain, unsigned int bus, unsigned int dev);

/* Looks at each device; each thing found is told once, and again when it has
 * been gone meanwhile. */
void starter_nvml_look(const struct starter_nvml_ear *ear);

/* Waits up to @ms for an Xid event and tells it. False: there are no events
 * here, nobody waited. */
int starter_nvml_wait(const struct starter_nvml_ear *ear, int ms);

#endif
