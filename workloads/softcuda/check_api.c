/* check_api.c - proves our declarations against the toolkit's cuda.h
 * SPDX-License-Identifier: MIT
 *
 * Compiled only where the toolkit is installed; makes no code.
 */
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#include <stddef.h>

#define FAULTDRILL_CUDA_API_LISTS_ONLY
#include "faultdrill/cuda_api.h"

#define RESULT(name, value, text) _Static_assert(name == value, #name);
#define ATTRIBUTE(name, value, answer)                                         \
	_Static_assert(CU_DEVICE_ATTRIBUTE_##name == value, #name);
#define CONSTANT(name, value) _Static_assert((int)name == value, #name);
#define FUNCTION(name, since, symbol, args)                                    \
	_Static_assert(__builtin_types_compatible_p(__typeof__(symbol),        \
						    CUresult args), #symbol);

FAULTDRILL_CUDA_RESULTS(RESULT)
FAULTDRILL_CUDA_ATTRIBUTES(ATTRIBUTE)
FAULTDRILL_CUDA_CONSTANTS(CONSTANT)
FAULTDRILL_CUDA_FUNCTIONS(FUNCTION)
FAULTDRILL_CUDA_MORE_FUNCTIONS(FUNCTION)

_Static_assert(sizeof(CUlaunchConfig) == 56 &&
		       offsetof(CUlaunchConfig, hStream) == 32 &&
		       offsetof(CUlaunchConfig, numAttrs) == 48,
	       "CUlaunchConfig");
_Static_assert(sizeof(CUstreamCaptureMode) == sizeof(int), "enum size");
_Static_assert(sizeof(CUdeviceptr) == 8 && (CUdeviceptr)-1 > 0, "CUdeviceptr");
_Static_assert(sizeof(CUuuid) == 16, "CUuuid");
_Static_assert(sizeof(CUfunction_attribute) == sizeof(int), "enum size");
_Static_assert(sizeof(CUdriverProcAddressQueryResult) == sizeof(int), "enum");
