/* device_peer.c - a device can no longer reach the memory of its peers
 * SPDX-License-Identifier: MIT
 *
 * What is asked from now on says no; access that a context already has stays,
 * as it does when a path is taken away from new users only.
 */
#include "device.h"

#include "faultdrill/cuda_api.h"

static const char who[] = "device.peer";

struct peer_args {
	char none;
};

static const struct drill_param params[] = { { 0 } };

static int probe(const struct drill_act *act, struct drill_err *err)
{
	return drill_device_probe(act, false, err);
}

static int fill(const struct drill_act *act, struct drill_device_aim *aim,
		struct drill_device_fault *f, struct drill_err *err)
{
	(void)act;
	(void)err;
	f->action = DRILL_DEVICE_NO_PEER;
	f->error = CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
	f->steps = 1;
	f->step[0].device = aim->device < 0 ? 0 : (uint32_t)aim->device;
	f->step[0].no_peer_1 = 2;
	aim->rank = -1;
	aim->attempt = 0;
	return 0;
}

static int apply(struct drill_act *act, struct drill_err *err)
{
	return drill_device_order(act, true, fill, err);
}

static int verify(struct drill_act *act, struct drill_err *err)
{
	struct drill_device_found d;
	int r = drill_device_find(act, &d, err);

	if (r > 0) {
		d.told = true; /* NVML answers for the device as before */
		r = drill_device_told(act, &d) && drill_device_felt(act, &d);
	}
	drill_devices_close(&d.devices);
	return r;
}

const struct drill_injector drill_device_peer = {
	.name = who,
	.doc = "A device can no longer reach the memory of its peers.",
	.class = DRILL_CLASS_FAIL_SLOW,
	.fidelity = DRILL_FIDELITY_DRIVER,
	.survives = DRILL_SURVIVES_PROCESS,
	.risk = DRILL_RISK_CONTAINED,
	.targets = DRILL_TARGET_RANK | DRILL_TARGET_DEVICE,
	.alone = true,
	.stands_for = (const char *const[]){ "NVLink error", NULL },
	.needs = (const char *const[]){ "hook:cuda", NULL },
	.params = params,
	.args_size = sizeof(struct peer_args),
	.probe = probe,
	.apply = apply,
	.verify = verify,
	.revert = drill_device_revert,
};
