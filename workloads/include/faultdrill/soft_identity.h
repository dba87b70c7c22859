/* soft_identity.h - who a software device is: the same to everybody who asks
 * SPDX-License-Identifier: MIT
 *
 * A device's identity follows from its host's name and its physical number
 * alone, so the software libcuda, the software NVML and the agent that fills
 * the device page agree without talking to each other. libc only.
 */
#ifndef FAULTDRILL_SOFT_IDENTITY_H
#define FAULTDRILL_SOFT_IDENTITY_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FAULTDRILL_SOFT_NAME "faultdrill software device"
#define FAULTDRILL_SOFT_MEMORY (UINT64_C(256) << 20)

struct faultdrill_soft_identity {
	uint8_t uuid[16];	   /* as cuDeviceGetUuid gives it */
	uint32_t domain, bus, dev; /* PCI; the function is 0 */
	char name[64], serial[32];
};

/* Bytes of a device: what FAULTDRILL_DEVICE_MEMORY says, if it says a number. */
static inline uint64_t faultdrill_soft_memory(void)
{
	const char *v = getenv("FAULTDRILL_DEVICE_MEMORY");
	double n = v ? strtod(v, NULL) : 0;

	return n >= 1 && n < 0x1p62 ? (uint64_t)n : FAULTDRILL_SOFT_MEMORY;
}

/* FNV-1a over the host's name and the number. */
static inline uint64_t faultdrill_soft_hash(const char *host, int ordinal)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (; host && *host; host++)
		h = (h ^ (unsigned char)*host) * UINT64_C(0x100000001b3);
	return (h ^ (uint64_t)(unsigned int)ordinal) * UINT64_C(0x100000001b3);
}

/* @host: as FAULTDRILL_HOST says, NULL or "" where there is none; @ordinal:
 * physical, below CUDA_VISIBLE_DEVICES. */
static inline void
faultdrill_soft_identity(struct faultdrill_soft_identity *ret,
			 const char *host, int ordinal)
{
	uint64_t h = faultdrill_soft_hash(host, ordinal);
	int i;

	memset(ret, 0, sizeof(*ret));
	for (i = 0; i < 8; i++)
		ret->uuid[i] = (uint8_t)(h >> 8 * i);
	memcpy(ret->uuid + 8, "faultdrl", 8);
	ret->bus = 0x10 + (uint32_t)ordinal;
	snprintf(ret->name, sizeof(ret->name), "%s", FAULTDRILL_SOFT_NAME);
	snprintf(ret->serial, sizeof(ret->serial), "%013llu",
		 (unsigned long long)(h % UINT64_C(10000000000000)));
}

#endif
