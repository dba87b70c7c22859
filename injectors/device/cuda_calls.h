/* cuda_calls.h - the entries of the CUDA driver by name
 * SPDX-License-Identifier: MIT
 */
#ifndef DRILL_CUDA_CALLS_H
#define DRILL_CUDA_CALLS_H

#include "harness/core/err.h"

#include <stdbool.h>

/* The number of an entry in the device page (hot, call): of "cuMemAlloc" that of
 * its newest version, of "cuMemAlloc_v2" that very one. -EINVAL names the
 * nearest. */
int drill_cuda_call(const char *name, struct drill_err *err);
/* Is it written without _v2 or _ptsz, so that any of its entries is meant? */
bool drill_cuda_call_any(const char *name);
/* "?" beyond. Lives for ever. */
const char *drill_cuda_call_name(unsigned int number);

#endif
