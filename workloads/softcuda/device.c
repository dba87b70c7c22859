/* device.c - start-up of the software device, its properties, error texts
 * SPDX-License-Identifier: MIT
 *
 * Environment: FAULTDRILL_DEVICE_COUNT (devices of this host, 1),
 * CUDA_VISIBLE_DEVICES, FAULTDRILL_DEVICE_MEMORY (bytes of a device,
 * 256 MiB; where the processes of a host share it, what its device page says),
 * FAULTDRILL_PACE (on, or off), FAULTDRILL_DEVICE_FLOPS and
 * FAULTDRILL_DEVICE_BYTES (a second, the pace model), FAULTDRILL_ISA.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "faultdrill/soft_identity.h"
#include "soft.h"

struct soft soft = { .lock = PTHREAD_MUTEX_INITIALIZER };

const char *const soft_isas[] = {
#ifdef __x86_64__
	"avx512", "avx2", "x86-64",
#else
	"generic",
#endif
	NULL,
};

bool soft_isa_runs(const char *isa)
{
#ifdef __x86_64__
	__builtin_cpu_init();
	if (!strcmp(isa, "avx512"))
		return __builtin_cpu_supports("avx512f") &&
		       __builtin_cpu_supports("avx512vl") &&
		       __builtin_cpu_supports("avx512dq") &&
		       __builtin_cpu_supports("avx512bw");
	if (!strcmp(isa, "avx2"))
		return __builtin_cpu_supports("avx2");
#endif
	return !strcmp(isa, soft_isas[sizeof(soft_isas) / sizeof(*soft_isas) -
				      2]);
}

static const char *isa(void)
{
	const char *want = getenv("FAULTDRILL_ISA");
	int i;

	if (want && *want)
		return want;
	for (i = 0; !soft_isa_runs(soft_isas[i]); i++)
		;
	return soft_isas[i];
}

static double number(const char *name, double otherwise)
{
	const char *v = getenv(name);
	char *end;
	double x = v ? strtod(v, &end) : 0;

	return v && end != v && x > 0 ? x : otherwise;
}

static void child_after_fork(void)
{
	soft.forked = true;
}

static int of_uuid(const char *v, int present, char **end)
{
	struct faultdrill_soft_identity id;
	char text[64];
	size_t n = strcspn(v, ",");
	int i, k, at;

	*end = (char *)v + n;
	for (i = 0; i < present; i++) {
		faultdrill_soft_identity(&id, getenv("FAULTDRILL_HOST"), i);
		at = snprintf(text, sizeof(text), "GPU-");
		for (k = 0; k < 16; k++)
			at += snprintf(text + at, sizeof(text) - (size_t)at,
				       k == 4 || k == 6 || k == 8 || k == 10 ?
				       "-%02x" : "%02x", id.uuid[k]);
		if (n > 4 && n <= strlen(text) && !strncasecmp(v, text, n))
			return i;
	}
	return -1;
}

/* The devices that CUDA_VISIBLE_DEVICES leaves, by number or the beginning of
 * their UUID; the first bad entry ends it. */
static int visible(int present, int *ordinal)
{
	const char *v = getenv("CUDA_VISIBLE_DEVICES");
	int i, n = 0;
	char *end;
	long o;

	if (!v) {
		for (i = 0; i < present; i++)
			ordinal[i] = i;
		return present;
	}
	while (n < SOFT_DEVICES_MAX) {
		o = strncmp(v, "GPU-", 4) ? strtol(v, &end, 10) :
					    of_uuid(v, present, &end);
		if (end == v || o < 0 || o >= present)
			break;
		ordinal[n++] = (int)o;
		if (*end != ',')
			break;
		v = end + 1;
	}
	return n;
}

static void start(void)
{
	int ordinal[SOFT_DEVICES_MAX], i;
	double n = number("FAULTDRILL_DEVICE_COUNT", 1);
	const char *pace = getenv("FAULTDRILL_PACE");

	soft.devices = visible(n > SOFT_DEVICES_MAX ? SOFT_DEVICES_MAX : (int)n,
			       ordinal);
	for (i = 0; i < soft.devices; i++) {
		soft.device[i].ordinal = ordinal[i];
		soft.device[i].limit = (size_t)faultdrill_soft_memory();
		soft.device[i].use = &soft.device[i].own;
	}
	soft.pace = !pace || strcmp(pace, "off");
	soft.flops = number("FAULTDRILL_DEVICE_FLOPS", 20e9);
	soft.bytes = number("FAULTDRILL_DEVICE_BYTES", 10e9);
	soft.isa = isa();
	pthread_atfork(NULL, NULL, child_after_fork);
}

CUresult soft_ready(void)
{
	return soft.ready && !soft.forked ? CUDA_SUCCESS :
					    CUDA_ERROR_NOT_INITIALIZED;
}

CUresult soft_enter(struct CUctx_st **ctx)
{
	CUresult e = soft_ready();

	if (e)
		return e;
	pthread_mutex_lock(&soft.lock);
	*ctx = soft_current();
	e = *ctx ? (*ctx)->error : CUDA_ERROR_INVALID_CONTEXT;
	if (e)
		pthread_mutex_unlock(&soft.lock);
	return e;
}

CUresult soft_leave(CUresult e)
{
	pthread_mutex_unlock(&soft.lock);
	return e;
}

SOFT_API CUresult cuInit(unsigned int flags)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	if (soft.forked)
		return CUDA_ERROR_NOT_INITIALIZED;
	if (flags)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_once(&once, start);
	if (!soft.devices)
		return CUDA_ERROR_NO_DEVICE;
	soft.ready = true;
	return CUDA_SUCCESS;
}

SOFT_API CUresult softcuda_break(int device, CUresult error)
{
	if (soft_ready() || device < 0 || device >= soft.devices)
		return CUDA_ERROR_INVALID_DEVICE;
	pthread_mutex_lock(&soft.lock);
	soft.device[device].broken = error;
	return soft_leave(CUDA_SUCCESS);
}

SOFT_API CUresult cuDriverGetVersion(int *version)
{
	if (!version)
		return CUDA_ERROR_INVALID_VALUE;
	*version = 13000;
	return CUDA_SUCCESS;
}

static CUresult device_of(CUdevice dev, const void *out,
			  struct soft_device **d)
{
	CUresult e = soft_ready();

	if (e)
		return e;
	if (dev < 0 || dev >= soft.devices)
		return CUDA_ERROR_INVALID_DEVICE;
	*d = &soft.device[dev];
	return out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

SOFT_API CUresult cuDeviceGetCount(int *count)
{
	CUresult e = soft_ready();

	if (!e && !count)
		e = CUDA_ERROR_INVALID_VALUE;
	if (!e)
		*count = soft.devices;
	return e;
}

SOFT_API CUresult cuDeviceGet(CUdevice *dev, int ordinal)
{
	struct soft_device *d;
	CUresult e = device_of(ordinal, dev, &d);

	if (!e)
		*dev = ordinal;
	return e;
}

SOFT_API CUresult cuDeviceGetName(char *name, int len, CUdevice dev)
{
	struct soft_device *d;
	CUresult e = device_of(dev, name, &d);

	if (e)
		return e;
	if (len <= 0)
		return CUDA_ERROR_INVALID_VALUE;
	snprintf(name, (size_t)len, FAULTDRILL_SOFT_NAME " (%s)", soft.isa);
	return CUDA_SUCCESS;
}

/* The same device of the same host has the same identity in every process. */
static struct faultdrill_soft_identity identity(const struct soft_device *d)
{
	struct faultdrill_soft_identity id;

	faultdrill_soft_identity(&id, getenv("FAULTDRILL_HOST"), d->ordinal);
	return id;
}

SOFT_API CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice dev)
{
	struct soft_device *d;
	CUresult e = device_of(dev, uuid, &d);

	if (!e)
		memcpy(uuid->bytes, identity(d).uuid, sizeof(uuid->bytes));
	return e;
}

SOFT_API CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice dev)
{
	return cuDeviceGetUuid_v2(uuid, dev);
}

SOFT_API CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice dev)
{
	struct soft_device *d;
	CUresult e = device_of(dev, bytes, &d);

	if (!e)
		*bytes = d->limit;
	return e;
}

static int bus_of(const struct soft_device *d)
{
	return (int)identity(d).bus;
}

/* -1 in the list: the one attribute that differs from device to device. */
SOFT_API CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute,
				       CUdevice dev)
{
#define ANSWER(name, number, answer) { number, answer },
	static const int answers[][2] = { FAULTDRILL_CUDA_ATTRIBUTES(ANSWER) };
	struct soft_device *d;
	CUresult e = device_of(dev, value, &d);
	size_t i;

	if (e)
		return e;
	for (i = 0; i < sizeof(answers) / sizeof(*answers); i++)
		if (answers[i][0] == (int)attribute)
			break;
	if (i == sizeof(answers) / sizeof(*answers))
		return CUDA_ERROR_INVALID_VALUE;
	*value = answers[i][1] == -1 ? bus_of(d) : answers[i][1];
	return CUDA_SUCCESS;
}

SOFT_API CUresult cuDeviceGetPCIBusId(char *id, int len, CUdevice dev)
{
	struct soft_device *d;
	CUresult e = device_of(dev, id, &d);

	if (e)
		return e;
	if (len <= 0)
		return CUDA_ERROR_INVALID_VALUE;
	snprintf(id, (size_t)len, "0000:%02x:00.0", (unsigned int)bus_of(d));
	return CUDA_SUCCESS;
}

SOFT_API CUresult cuDeviceGetByPCIBusId(CUdevice *dev, const char *id)
{
	CUresult e = soft_ready();
	unsigned int domain, bus, slot, fn;
	int i;

	if (e)
		return e;
	if (!dev || !id || sscanf(id, "%x:%x:%x.%x", &domain, &bus, &slot,
				  &fn) != 4)
		return CUDA_ERROR_INVALID_VALUE;
	for (i = 0; i < soft.devices; i++)
		if ((int)bus == bus_of(&soft.device[i])) {
			*dev = i;
			return CUDA_SUCCESS;
		}
	return CUDA_ERROR_INVALID_DEVICE;
}

static const struct {
	CUresult result;
	const char *name, *text;
} results[] = {
#define ROW(name, value, text) { name, #name, text },
	FAULTDRILL_CUDA_RESULTS(ROW)
};

static CUresult result_text(CUresult error, const char **out, bool name)
{
	size_t i;

	if (!out)
		return CUDA_ERROR_INVALID_VALUE;
	*out = NULL;
	for (i = 0; i < sizeof(results) / sizeof(*results); i++)
		if (results[i].result == error)
			*out = name ? results[i].name : results[i].text;
	return *out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

SOFT_API CUresult cuGetErrorName(CUresult error, const char **name)
{
	return result_text(error, name, true);
}

SOFT_API CUresult cuGetErrorString(CUresult error, const char **text)
{
	return result_text(error, text, false);
}
