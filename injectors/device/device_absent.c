/* device_absent.c - a device is not there when a program starts
 * SPDX-License-Identifier: MIT
 *
 * Who uses it already goes on: it is missed at the next start, as after a boot
 * that did not find it.
 */
#include "device.h"

#include "faultdrill/cuda_api.h"

static const char who[] = "device.absent";

struct absent_args {
	int form;
};

static const struct drill_param params[] = {
	{ .name = "form",
	  .type = DRILL_ENUM,
	  .offset = offsetof(struct absent_args, form),
	  .def = "both",
	  .values = drill_form_names,
	  .doc = "Whom it is not there for: programs, NVML, or both." },
	{ 0 },
};

static bool alarm(const void *args)
{
	const struct absent_args *a = args;

	return a->form == DRILL_FORM_SIGNAL;
}

static int probe(const struct drill_act *act, struct drill_err *err)
{
	return drill_device_probe(act, false, err);
}

static int fill(const struct drill_act *act, struct drill_device_aim *aim,
		struct drill_device_fault *f, struct drill_err *err)
{
	const struct absent_args *a = act->args;

	(void)err;
	if (!alarm(a)) {
		f->action = DRILL_DEVICE_ABSENT;
		f->error = CUDA_ERROR_NO_DEVICE;
	}
	aim->rank = -1;
	aim->attempt = 0;
	if (a->form == DRILL_FORM_EFFECT)
		return 0;
	f->steps = 1;
	f->step[0].device = aim->device < 0 ? 0 : (uint32_t)aim->device;
	if (alarm(a))
		f->step[0].nvml_health = DRILL_DEVICE_GONE;
	else
		f->step[0].health = DRILL_DEVICE_GONE;
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
		d.told = d.f.steps > 0;
		r = drill_device_told(act, &d) && drill_device_felt(act, &d);
	}
	drill_devices_close(&d.devices);
	return r;
}

const struct drill_injector drill_device_absent = {
	.name = who,
	.doc = "A device is not there when a program starts.",
	.class = DRILL_CLASS_FAIL_STOP,
	.fidelity = DRILL_FIDELITY_DRIVER,
	.survives = DRILL_SURVIVES_PROCESS,
	.risk = DRILL_RISK_CONTAINED,
	.targets = DRILL_TARGETS_DEVICE,
	.alone = true,
	.stands_for = (const char *const[]){ "Faulty GPU", "GPU death", NULL },
	.needs = (const char *const[]){ "hook:cuda", NULL },
	.params = params,
	.args_size = sizeof(struct absent_args),
	.alarm = alarm,
	.probe = probe,
	.apply = apply,
	.verify = verify,
	.revert = drill_device_revert,
};
