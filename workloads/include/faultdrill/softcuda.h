/* softcuda.h - what kernel modules and monitors are to the software device
 * SPDX-License-Identifier: MIT
 *
 * A module is a shared object that exports one `const struct softcuda_module
 * softcuda_module`; cuModuleLoad() opens it. cuModuleLoadData() also takes the
 * address of such a descriptor, which must live as long as the module.
 */
#ifndef FAULTDRILL_SOFTCUDA_H
#define FAULTDRILL_SOFTCUDA_H

#include <stdint.h>

#include "faultdrill/device_use.h"

#define SOFTCUDA_MAGIC UINT64_C(0x6c75646f4d74666f)
#define SOFTCUDA_VERSION 1

/* One block of a launch. */
struct softcuda_block {
	unsigned int grid[3], block[3], index[3];
	unsigned int shared_bytes;
	void *shared; /* the launch's dynamic shared memory, or NULL */
};

/* What a launch costs in the pace model. */
struct softcuda_cost {
	double flops, bytes;
};

struct softcuda_kernel {
	const char *name;
	/* Runs one block with all its threads; params[i] points to a copy. */
	void (*run)(void *const *params, const struct softcuda_block *b);
	/* The whole launch's cost; index is 0. NULL: nothing. */
	struct softcuda_cost (*cost)(void *const *params,
				     const struct softcuda_block *b);
	unsigned int params;
	unsigned int param_bytes[4];
};

struct softcuda_module {
	uint64_t magic;
	uint32_t version;
	uint32_t kernels;
	const char *isa; /* instruction set that it was compiled for */
	const struct softcuda_kernel *kernel;
};

/* How the processes of a host share a device: each is told by what surrounds it
 * where to show its use, and how to learn of that of the others. */
struct softcuda_share {
	struct faultdrill_device_use *use; /* filled from now on */
	uint64_t memory_bytes;		   /* of the device; 0: not known */
	uint64_t (*others)(int device);	   /* bytes that are not this process's;
					      calls nothing of the driver */
};

/* After cuInit and before the first context of that device; lives as long as
 * the process. 0, or not 0: it is too late, nothing is shown. Not part of
 * CUDA. */
int softcuda_share(int device, const struct softcuda_share *share);

#endif
