/* device_peer.c - a device can no longer reach the memory of its peers
 * SPDX-License-Identifier: MIT
 *
 * What is asked from now on says no; access that a context already has stays,
 * as it does when a path is taken away from new users only.
 */
#include "silent.h"

static const char who[] = "device.peer";

struct peer_args {
	int form;
};

static const struct drill_param params[] = {
	{ .name = "form",
	  .type = DRILL_ENUM,
	  .offset = offsetof(struct peer_args, form),
	  .def = "effect",
	  .values = drill_form_names,
	  .doc = "What of it there is: access that is refused, an NVLink that "
		 "log (Xid 136) and NVML say is down, or both." },
	{ 0 },
};

static bool alarm(const void *args)
{
	const struct peer_args *a = args;

	return a->form == DRILL_FORM_SIGNAL;
}

static int probe(const struct drill_act *act, struct drill_err *err)
{
	return drill_device_probe(act, false, err);
}

static int fill(const struct drill_act *act, struct drill_device_aim *aim,
		struct drill_device_fault *f, struct drill_err *err)
{
	const struct peer_args *a = act->args;
	const int training_failed = 136;
	struct drill_xid_story s = {
		.code = &training_failed,
		.n = 1,
		.gap_ns = -1,
		.device = aim->device < 0 ? 0 : aim->device,
		.peer = -1,
		.effect = a->form != DRILL_FORM_SIGNAL,
		.signal = a->form != DRILL_FORM_EFFECT,
	};
	int r = s.signal ? drill_silent_link(aim, -1, &s, err) : 0;

	aim->rank = -1;
	aim->attempt = 0;
	return r ? r : drill_xid_steps(&s, f, err);
}

/* A refusal is there when somebody has asked; what is told is there at once. */
static int apply(struct drill_act *act, struct drill_err *err)
{
	const struct peer_args *a = act->args;

	return drill_device_order(act, a->form != DRILL_FORM_EFFECT, fill, err);
}

static int verify(struct drill_act *act, struct drill_err *err)
{
	struct drill_device_found d;
	int r = drill_device_find(act, &d, err);

	if (r > 0) {
		r = drill_device_felt(act, &d);
		d.told = true; /* NVML answers for the device as before */
		r = r && drill_device_told(act, &d);
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
	.targets = DRILL_TARGETS_DEVICE,
	.alone = true,
	.stands_for = (const char *const[]){ "NVLink error", NULL },
	.needs = (const char *const[]){ "hook:cuda", NULL },
	.params = params,
	.args_size = sizeof(struct peer_args),
	.alarm = alarm,
	.probe = probe,
	.apply = apply,
	.verify = verify,
	.revert = drill_device_revert,
};
