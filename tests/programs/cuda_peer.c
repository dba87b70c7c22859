/* cuda_peer.c - asks for access between devices 0 and 1, and uses it
 * SPDX-License-Identifier: MIT
 *
 *   peer cuDeviceCanAccessPeer 0 can 1
 *   peer cuCtxEnablePeerAccess 0
 *
 * Exit status 0 when both say yes, 1 when one does not, 4 without two devices.
 */
#include "cuda_steps.h"

int main(int argc, char **argv)
{
	CUresult (*can_access)(int *, CUdevice, CUdevice);
	CUresult (*enable)(CUcontext, unsigned int);
	void *lib = calls_open("libcuda.so.1");
	CUcontext ctx[2];
	struct steps s = { 0 };
	struct calls calls;
	int can = 0, n = 0, i;
	CUresult r;

	if (!lib || !calls_dlsym(&calls, lib))
		return 4;
	s.c = &calls;
	steps_options(&s, argc, argv);
	*(void **)&can_access = dlsym(lib, "cuDeviceCanAccessPeer");
	*(void **)&enable = dlsym(lib, "cuCtxEnablePeerAccess");
	if (!can_access || !enable || calls.cuInit(0) ||
	    calls.cuDeviceGetCount(&n) || n < 2)
		return 4;
	r = can_access(&can, 0, 1);
	printf("peer cuDeviceCanAccessPeer %d can %d\n", (int)r, can);
	for (i = 0; i < 2; i++)
		if (calls.cuDevicePrimaryCtxRetain(&ctx[i], i))
			return 4;
	calls.cuCtxSetCurrent(ctx[0]);
	r = steps_say(&s, "peer", 0, "cuCtxEnablePeerAccess",
		      enable(ctx[1], 0));
	return r || !can;
}
