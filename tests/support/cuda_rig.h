/* cuda_rig.h - a program, its CUDA proxy and an agent, all in one test
 * SPDX-License-Identifier: MIT
 *
 * The proxy is linked into the test program, so a sanitizer sees it; behind it
 * is the software device. The test arms faults as the agent does.
 */
#ifndef DRILL_CUDA_RIG_H
#define DRILL_CUDA_RIG_H

#include "faultdrill/cuda_api.h"
#include "injectors/hooks/cuda_symbols.h"
#include "injectors/hooks/device_step.h"
#include "injectors/hooks/devices.h"

#define OK(call) ck_assert_int_eq((call), CUDA_SUCCESS)
#define FAILS(call, error) ck_assert_int_eq((call), (error))

#define RIG_CALL(number, symbol, since) RIG_##symbol = number + 1,
/* As device_page.h has them: 1 + number. */
enum rig_call { DRILL_CUDA_SYMBOLS(RIG_CALL) };

#define RIG_N 256

struct rig {
	struct drill_devices devices;
	struct drill_device_page *page;
	CUcontext ctx;
	CUmodule module;
	CUfunction add, mul, slow;
	CUdeviceptr x, y;
	uint32_t host[RIG_N];
};

extern struct rig rig;

/* A page with so many devices, and the environment of a hooked process. */
void rig_page(int devices);
/* A checked fixture's teardown. */
void rig_end(void);
/* And a program that is ready to launch on device 0. */
void rig_begin(int devices);
/* The program alone, in a child say: contexts, module, memory. */
void rig_start_program(void);

/* x[i] += by, y[i] = 7 * x[i], and something that takes 20 ms. */
CUresult rig_add(CUstream s, uint32_t by);
CUresult rig_mul(CUstream s);
CUresult rig_slow(CUstream s);
/* On memory of the caller's: streams that run at once must not share any. */
CUresult rig_add_to(CUstream s, CUdeviceptr x, uint32_t by);
CUresult rig_mul_to(CUstream s, CUdeviceptr y, CUdeviceptr x);

/* Arms; what is 0 in device and rank means any. */
struct drill_device_fault *rig_arm(const struct drill_device_fault *order);
void rig_disarm(const struct drill_device_fault *f);
/* As the agent fires what waits for nothing in the process. */
void rig_fire(const struct drill_device_fault *f);

#endif
