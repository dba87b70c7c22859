/* nvml_rig.h - a device page and the built NVML library, for tests
 * SPDX-License-Identifier: MIT
 */
#ifndef DRILL_NVML_RIG_H
#define DRILL_NVML_RIG_H

#include "injectors/hooks/devices.h"
#include "injectors/hooks/xid_log.h"

#include "faultdrill/nvml_api.h"

#include <check.h>
#include <stdint.h>

#define OK(call) ck_assert_int_eq((call), NVML_SUCCESS)
#define SAYS(call, code) ck_assert_int_eq((call), (code))

struct nvml_rig {
	char dir[64], page_path[96], log_path[96];
	struct drill_devices devices;
	struct drill_device_page *p;
	void *lib;
};

/* All of the library's functions, as dlsym gave them. */
#define NVML_RIG_POINTER(name, arguments) nvmlReturn_t(*name) arguments;
struct nvml_calls {
	FAULTDRILL_NVML_FUNCTIONS(NVML_RIG_POINTER)
	const char *(*nvmlErrorString)(nvmlReturn_t);
};

/* Two devices: UUIDs GPU-{00,ff}010203-0405-.. , buses 3b and ca, the first
 * with a board number. */
#define NVML_RIG_UUID0 "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f"
#define NVML_RIG_UUID1 "GPU-ff010203-0405-0607-0809-0a0b0c0d0e0f"

int64_t nvml_rig_now_ms(void);
void nvml_rig_init(struct nvml_rig *rig);
void nvml_rig_done(struct nvml_rig *rig);

/* Opens the proxy as a client would. @next: what FAULTDRILL_NVML_NEXT says,
 * "toy" is the toy library's path. Not started yet. */
void nvml_rig_load(struct nvml_rig *rig, const char *next,
		   struct nvml_calls *ret);
/* The same, started, with the handles of its two devices. */
void nvml_rig_start(struct nvml_rig *rig, const char *next,
		    struct nvml_calls *ret, nvmlDevice_t device[2]);
/* A file below the folder of what was built. Borrowed until the next call. */
const char *nvml_rig_built(const char *name);

/* Arms fault 0 with the chain 48 -> 63 -> 94 on device @device. */
void nvml_rig_arm_ecc(struct nvml_rig *rig, unsigned int device);

#endif
