/* nvml_rig.c - a device page and the built NVML library, for tests
 * SPDX-License-Identifier: MIT
 */
#include "nvml_rig.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

const char *nvml_rig_built(const char *name)
{
	static char path[2 * PATH_MAX];
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *at;

	ck_assert_int_gt(n, 0);
	self[n] = '\0';
	at = strstr(self, "/tests/unit/");
	ck_assert_ptr_nonnull(at);
	snprintf(path, sizeof(path), "%.*s/%s", (int)(at - self), self, name);
	return path;
}

static void name_devices(struct drill_device_page *p)
{
	for (int i = 0; i < 16; i++)
		p->device[0].uuid[i] = p->device[1].uuid[i] = (uint8_t)i;
	p->device[1].uuid[0] = 0xff;
	p->device[0].bus = 0x3b;
	p->device[1].bus = 0xca;
	strcpy(p->device[0].serial, "1653923026510");
	*p->device[1].serial = '\0';
}

void nvml_rig_init(struct nvml_rig *rig)
{
	struct drill_err err = { 0 };

	memset(rig, 0, sizeof(*rig));
	strcpy(rig->dir, "/tmp/fd-nvml.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(rig->dir));
	snprintf(rig->page_path, sizeof(rig->page_path), "%s/devices.page",
		 rig->dir);
	snprintf(rig->log_path, sizeof(rig->log_path), "%s/kernel.log",
		 rig->dir);
	ck_assert_msg(!drill_devices_create(&rig->devices, rig->page_path,
					    "h0", 2, &err), "%s", err.msg);
	rig->p = rig->devices.page;
	name_devices(rig->p);
}

void nvml_rig_done(struct nvml_rig *rig)
{
	if (rig->lib)
		dlclose(rig->lib);
	drill_devices_close(&rig->devices);
	unlink(rig->page_path);
	unlink(rig->log_path);
	rmdir(rig->dir);
}

void nvml_rig_load(struct nvml_rig *rig, const char *next,
		   struct nvml_calls *ret)
{
	if (!strcmp(next, "toy"))
		next = nvml_rig_built("tests/nvml/toy/libnvidia-ml.so.1");
	setenv("FAULTDRILL_DEVICES", rig->page_path, 1);
	setenv("FAULTDRILL_NVML_NEXT", next, 1);
	rig->lib = dlopen(nvml_rig_built("hooks/cuda/libnvidia-ml.so.1"),
			  RTLD_NOW);
	ck_assert_msg(rig->lib != NULL, "%s", dlerror());
	/* As a client that loads it later by its name alone. */
	ck_assert_ptr_eq(dlopen("libnvidia-ml.so.1", RTLD_NOW), rig->lib);
#define FIND(name, arguments)                                                  \
	*(void **)&ret->name = dlsym(rig->lib, #name);                         \
	ck_assert_msg(ret->name != NULL, #name);
	FAULTDRILL_NVML_FUNCTIONS(FIND)
	*(void **)&ret->nvmlErrorString = dlsym(rig->lib, "nvmlErrorString");
}

void nvml_rig_start(struct nvml_rig *rig, const char *next,
		    struct nvml_calls *ret, nvmlDevice_t device[2])
{
	nvml_rig_load(rig, next, ret);
	OK(ret->nvmlInit_v2());
	for (unsigned int i = 0; i < 2; i++)
		OK(ret->nvmlDeviceGetHandleByIndex_v2(i, &device[i]));
}

int64_t nvml_rig_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000) + t.tv_nsec / 1000000;
}

void nvml_rig_arm_ecc(struct nvml_rig *rig, unsigned int device)
{
	struct drill_device_fault *f = &rig->p->fault[0];

	f->action = DRILL_DEVICE_STICKY;
	f->device = (int32_t)device;
	f->error = 214;
	f->steps = 3;
	f->step[0] = (struct drill_device_step){ .xid = 48, .device = device,
		.events = 2, .ecc_uncorrected = 1,
		.text = "pid=%p, name=%n, DBE" };
	f->step[1] = (struct drill_device_step){ .xid = 63, .device = device,
		.remap_unc = 1, .pending_1 = 2, .text = "Row Remapper" };
	f->step[2] = (struct drill_device_step){ .xid = 94, .device = device,
		.context_error = 46, .recovery_action_1 = 2,
		.text = "Contained" };
	atomic_store(&f->state, DRILL_DEVICE_ARMED);
}
