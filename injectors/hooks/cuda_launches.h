/* cuda_launches.h - the entry points that launch kernels, for who counts them
 * SPDX-License-Identifier: MIT
 *
 * Used from assembly too.
 */
#ifndef DRILL_CUDA_LAUNCHES_H
#define DRILL_CUDA_LAUNCHES_H

#define DRILL_CUDA_LAUNCHES(L) \
	L(cuLaunch) L(cuLaunchGrid) L(cuLaunchGridAsync) \
	L(cuLaunchKernel) L(cuLaunchKernel_ptsz) \
	L(cuLaunchKernelEx) L(cuLaunchKernelEx_ptsz) \
	L(cuLaunchCooperativeKernel) L(cuLaunchCooperativeKernel_ptsz) \
	L(cuLaunchCooperativeKernelMultiDevice) \
	L(cuGraphLaunch) L(cuGraphLaunch_ptsz)

#endif
