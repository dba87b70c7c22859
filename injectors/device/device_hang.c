/* device_hang.c - a kernel never ends, and the driver says nothing
 * SPDX-License-Identifier: MIT
 *
 * No Xid, no error: queries say "not ready", and whoever synchronises waits.
 * The stream that the kernel was put into is held by the CUDA proxy.
 */
#include "silent.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>

static const char who[] = "device.hang";

struct hang_args {
	const char *kernel;
	int64_t nth, code;
	int form;
};

static const struct drill_param params[] = {
	DRILL_KERNEL_PARAM(struct hang_args, kernel),
	{ .name = "nth",
	  .type = DRILL_INT,
	  .offset = offsetof(struct hang_args, nth),
	  .def = "1",
	  .min = 1,
	  .max = DRILL_NTH_MAX,
	  .doc = "Which such launch of the process hangs, from the act on." },
	DRILL_SILENT_PARAMS(struct hang_args, code, "8"),
	{ 0 },
};

static int check(const void *args, struct drill_err *err)
{
	const struct hang_args *a = args;

	return drill_silent_check(a->code, a->form, err);
}

static bool alarm(const void *args)
{
	const struct hang_args *a = args;

	return a->form == DRILL_FORM_SIGNAL;
}

static int probe(const struct drill_act *act, struct drill_err *err)
{
	return drill_device_probe(act, !alarm(act->args), err);
}

static int fill(const struct drill_act *act, struct drill_device_aim *aim,
		struct drill_device_fault *f, struct drill_err *err)
{
	const struct hang_args *a = act->args;

	int r = drill_silent_tell(a->code, a->form, aim, f, err);

	if (!alarm(a))
		f->action = DRILL_DEVICE_HANG;
	f->nth = a->nth;
	snprintf(f->kernel, sizeof(f->kernel), "%s", a->kernel);
	return r;
}

static int apply(struct drill_act *act, struct drill_err *err)
{
	return drill_device_order(act, false, fill, err);
}

/* It looks at its fault once a second: then it is off the futex for a moment. */
static int blocked(const struct drill_act *act,
		   const struct drill_device_found *d, int want)
{
	const struct timespec t = { .tv_nsec = 1000000 };
	int r = drill_device_blocked(act, d);

	for (int i = 0; i < (want ? 10 : 500) && r == !want; i++) {
		nanosleep(&t, NULL);
		r = drill_device_blocked(act, d);
	}
	return r;
}

/* The page says that a call waits; the kernel, which knows nothing of pages, says
 * that a thread of the rank waits for exactly this fault. */
static int verify(struct drill_act *act, struct drill_err *err)
{
	struct drill_device_found d;
	int r = drill_device_find(act, &d, err), waits;

	if (r > 0 && !d.felt) {
		r = drill_device_told(act, &d);
	} else if (r > 0) {
		waits = drill_device_felt(act, &d) ? blocked(act, &d, 1) : 0;
		json_object_set_new(act->evidence, "thread_waits", waits < 0 ?
				    json_string("not readable") :
				    json_boolean(waits));
		r = (waits != 0 || (d.f.surfaced_ns && !d.f.waiting)) &&
		    drill_device_told(act, &d);
	} else if (r == 0 && d.devices.page) {
		r = blocked(act, &d, 0) > 0;
	}
	drill_devices_close(&d.devices);
	return r;
}

const struct drill_injector drill_device_hang = {
	.name = who,
	.doc = "A kernel never ends, and the driver says nothing.",
	.class = DRILL_CLASS_HANG,
	.fidelity = DRILL_FIDELITY_DRIVER,
	.survives = DRILL_SURVIVES_PROCESS,
	.risk = DRILL_RISK_CONTAINED,
	.targets = DRILL_TARGETS_DEVICE,
	.alone = true,
	.stands_for = (const char *const[]){
		"Job hang", "NCCL watchdog timeout",
		"Hang with no NCCL timeout at eval", NULL },
	.needs = (const char *const[]){ "hook:cuda", NULL },
	.params = params,
	.args_size = sizeof(struct hang_args),
	.check = check,
	.alarm = alarm,
	.probe = probe,
	.apply = apply,
	.verify = verify,
	.revert = drill_device_revert,
};
