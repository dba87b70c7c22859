/* cuda_kernel.c - a kernel's name, and the memory its arguments point to
 * SPDX-License-Identifier: MIT
 */
#include "cuda_call.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define KERNELS 4096 /* places; a power of two */
#define PARAMS 64

/* Of launches with one buffer instead of pointers to each argument. */
#define PARAM_BUFFER_POINTER ((void *)1)
#define PARAM_BUFFER_SIZE ((void *)2)

CUresult cuKernelGetName(const char **name, void *kernel);

/* Names as the functions were asked for, found without a lock. */
static struct {
	_Atomic(const void *) fn;
	_Atomic(const char *) name;
} kernels[KERNELS];

static size_t place(const void *fn)
{
	return (size_t)((uintptr_t)fn * UINT64_C(0x9e3779b97f4a7c15) >> 40) &
	       (KERNELS - 1);
}

void drill_kernel_is(const void *fn, const char *name)
{
	size_t at = place(fn);
	const void *there;
	char *copy;

	if (!fn || !name)
		return;
	for (int i = 0; i < KERNELS; i++, at = (at + 1) & (KERNELS - 1)) {
		there = NULL;
		if (!atomic_compare_exchange_strong(&kernels[at].fn, &there,
						    fn) && there != fn)
			continue;
		copy = atomic_load(&kernels[at].name) &&
		       !strcmp(atomic_load(&kernels[at].name), name) ?
			       NULL : strdup(name);
		/* The old one may be in use: a module that came again. */
		if (copy)
			atomic_store(&kernels[at].name, copy);
		return;
	}
}

static const char *seen_name(const void *fn)
{
	size_t at = place(fn);
	const void *there;

	for (int i = 0; i < KERNELS; i++, at = (at + 1) & (KERNELS - 1)) {
		there = atomic_load_explicit(&kernels[at].fn,
					     memory_order_acquire);
		if (there == fn)
			return atomic_load(&kernels[at].name);
		if (!there)
			return NULL;
	}
	return NULL;
}

/* A launch takes a CUkernel in place of a CUfunction, too. */
const char *drill_kernel_name(CUfunction fn)
{
	const char *name = seen_name(fn);

	if (name)
		return name;
	if (drill_next(cuFuncGetName)(&name, fn) &&
	    drill_next(cuKernelGetName)(&name, fn))
		return NULL;
	drill_kernel_is(fn, name);
	return name;
}

bool drill_range_of(uint64_t at, struct drill_range *ret)
{
	CUdeviceptr base = 0;
	size_t size = 0;

	if (!at || drill_next(cuMemGetAddressRange_v2)(&base, &size, at) ||
	    !size || at < base || at - base >= size)
		return false;
	*ret = (struct drill_range){ at, base, size };
	return true;
}

static int add(struct drill_range *ret, int n, uint64_t at)
{
	struct drill_range r;

	if (n == DRILL_MAX_CANDIDATES || !drill_range_of(at, &r))
		return n;
	for (int i = 0; i < n; i++)
		if (ret[i].at == at)
			return n;
	ret[n] = r;
	return n + 1;
}

/* Whatever in it is an address of device memory is taken for a pointer. */
static int scan(const void *from, size_t bytes, struct drill_range *ret, int n)
{
	uint64_t v;

	for (size_t i = 0; i + sizeof(v) <= bytes; i += sizeof(v)) {
		memcpy(&v, (const char *)from + i, sizeof(v));
		n = add(ret, n, v);
	}
	return n;
}

static int scan_buffer(void **extra, struct drill_range *ret)
{
	const void *buffer = NULL;
	size_t bytes = 0;

	for (; *extra; extra += 2)
		if (*extra == PARAM_BUFFER_POINTER)
			buffer = extra[1];
		else if (*extra == PARAM_BUFFER_SIZE)
			bytes = *(const size_t *)extra[1];
	return buffer ? scan(buffer, bytes, ret, 0) : 0;
}

int drill_kernel_memory(const struct drill_call *c,
			struct drill_range ret[DRILL_MAX_CANDIDATES])
{
	size_t at, bytes;
	int n = 0;

	if (!c->fn)
		return 0;
	if (!c->params)
		return c->extra ? scan_buffer(c->extra, ret) : 0;
	for (size_t i = 0; i < PARAMS; i++) {
		if (drill_next(cuFuncGetParamInfo)(c->fn, i, &at, &bytes))
			break;
		n = scan(c->params[i], bytes, ret, n);
	}
	return n;
}
