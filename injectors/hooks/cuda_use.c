/* cuda_use.c - lets monitors see what this process holds and does on a device
 * SPDX-License-Identifier: MIT
 *
 * The software device fills the process's records of the page by itself, so that
 * no call of the program takes longer for it. A driver of hardware has NVML of
 * its own; what is added then is what a fault adds.
 */
#include "cuda_call.h"
#include "cuda_parts.h"
#include "device_load.h"

#include "faultdrill/softcuda.h"

static uint64_t held_by_others(int dev)
{
	int i = drill_device_index(dev);

	return i < 0 ? 0 : drill_device_used(drill_cuda.page, (unsigned int)i,
					     drill_cuda.index);
}

static bool share(__typeof__(&softcuda_share) fn, int dev, int device,
		  struct faultdrill_device_use *use)
{
	struct softcuda_share s = { use, 0, held_by_others };
	struct drill_device d;

	drill_device_read(drill_cuda.page, (unsigned int)device, &d);
	s.memory_bytes = d.memory_bytes;
	return fn && !fn(dev, &s);
}

void drill_use_start(void)
{
	struct drill_device_client *c = drill_cuda.client;
	__typeof__(&softcuda_share) fn =
		(__typeof__(fn))drill_cuda_next_extra("softcuda_share");
	bool all = fn != NULL;
	int n = 0, dev, device;

	if (!c || drill_next(cuDeviceGetCount)(&n))
		return;
	for (dev = 0; dev < n && dev < DRILL_DEVICE_USES; dev++) {
		device = drill_device_index(dev);
		if (device < 0)
			continue;
		atomic_store(&c->use[dev].device_1, (uint32_t)device + 1);
		all &= share(fn, dev, device, &c->use[dev]);
	}
	atomic_store(&c->shows, all);
}

void drill_use_kernel(int device, bool executes)
{
	struct drill_device_client *c = drill_cuda.client;
	unsigned int bit = FAULTDRILL_USE_KERNEL;

	for (int i = 0; c && device >= 0 && i < DRILL_DEVICE_USES; i++)
		if (atomic_load(&c->use[i].device_1) == (uint32_t)device + 1)
			faultdrill_use_change(&c->use[i], executes ? 0 : bit,
					      executes ? bit : 0);
}
