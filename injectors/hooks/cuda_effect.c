/* cuda_effect.c - what armed faults do to a call of any entry point
 * SPDX-License-Identifier: MIT
 */
#include "cuda_proxy.h"

#include <errno.h>
#include <time.h>

static void sleep_ns(int64_t ns)
{
	struct timespec t = { ns / 1000000000, ns % 1000000000 };
	int e = errno;

	while (nanosleep(&t, &t) && errno == EINTR)
		;
	errno = e;
}

static void delay(struct drill_device_fault *f, unsigned int fault,
		  unsigned int call)
{
	if (f->delay_ns <= 0)
		return;
	drill_cuda_surfaces(fault, call);
	sleep_ns(f->delay_ns);
	atomic_fetch_add(&f->added_ns, f->delay_ns);
}

bool drill_effect_before(unsigned int call, CUresult *result)
{
	uint32_t armed = atomic_load_explicit(&drill_cuda.page->armed,
					      memory_order_relaxed);
	struct drill_device_fault *f;
	unsigned int i;

	for (; armed; armed &= armed - 1) {
		i = (unsigned int)__builtin_ctz(armed);
		if (i >= DRILL_DEVICE_FAULTS)
			return false;
		f = &drill_cuda.page->fault[i];
		if (f->call != call + 1 || !drill_cuda_met(i))
			continue;
		if (f->action == DRILL_DEVICE_DELAY)
			delay(f, i, call);
		if (f->action != DRILL_DEVICE_RETURN)
			continue;
		drill_cuda_surfaces(i, call);
		atomic_fetch_add(&f->returned, 1);
		*result = (CUresult)f->error;
		return true;
	}
	return false;
}

void drill_effect_start(void)
{
}

void drill_effect_child(void)
{
}
