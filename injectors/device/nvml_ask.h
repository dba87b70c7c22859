/* nvml_ask.h - what an NVML client is told of a device that has a fault
 * SPDX-License-Identifier: MIT
 */
#ifndef DRILL_NVML_ASK_H
#define DRILL_NVML_ASK_H

#include "device.h"

/* Asks the NVML that the job has in front of it, from a process of its own. True
 * when it says the same as the page, or when there is no such library here
 * (then the evidence says so). */
bool drill_nvml_tells(struct drill_act *act,
		      const struct drill_device_found *d);

#endif
