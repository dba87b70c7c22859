/* device_alarm.c - a device looks ill to those who watch it, and is well
 * SPDX-License-Identifier: MIT
 *
 * Log and NVML say so, every call goes on. A job that gives up a device for it
 * gives it up for nothing.
 */
#include "device.h"
#include "xid.h"

#include "faultdrill/nvml_api.h"

#include <errno.h>

static const char who[] = "device.alarm";

struct alarm_args {
	int64_t code, count;
	const char *chain;
	int what;
};

enum { XID, ECC, REMAP, CLOCKS, LINK };
static const char *const signs[] = { "xid", "ecc", "remap", "clocks", "link",
				     NULL };

static const struct drill_param params[] = {
	{ .name = "what",
	  .type = DRILL_ENUM,
	  .offset = offsetof(struct alarm_args, what),
	  .def = "xid",
	  .values = signs,
	  .doc = "What is seen: an Xid, ECC errors, a remap that is pending, "
		 "low clocks, or errors of a link." },
	{ .name = "code",
	  .type = DRILL_INT,
	  .offset = offsetof(struct alarm_args, code),
	  .def = "0",
	  .max = 1000,
	  .doc = "The Xid that is logged." },
	{ .name = "chain",
	  .type = DRILL_STRING,
	  .offset = offsetof(struct alarm_args, chain),
	  .def = "",
	  .doc = "Xids that come, as of device.xid." },
	{ .name = "count",
	  .type = DRILL_INT,
	  .offset = offsetof(struct alarm_args, count),
	  .def = "1",
	  .min = 1,
	  .max = 1000000,
	  .doc = "How many errors the counters show." },
	{ 0 },
};

static int check(const void *args, struct drill_err *err)
{
	const struct alarm_args *a = args;
	int code[DRILL_XID_CHAIN], n;

	if (!a->code == (a->what == XID))
		return drill_err_set(err, -EINVAL, who, a->code ?
				     "code belongs to what = \"xid\"" :
				     "write code = 79, say, or another what");
	n = a->code ? drill_xid_chain(a->code, a->chain, true, code, err) : 0;
	return n < 0 ? n : 0;
}

static bool alarm(const void *args)
{
	(void)args;
	return true;
}

static int probe(const struct drill_act *act, struct drill_err *err)
{
	return drill_device_probe(act, false, err);
}

static int fill_xid(const struct alarm_args *a, int device,
		    struct drill_device_fault *f, struct drill_err *err)
{
	int code[DRILL_XID_CHAIN];
	struct drill_xid_story s = {
		.code = code,
		.n = drill_xid_chain(a->code, a->chain, true, code, err),
		.gap_ns = -1,
		.device = device,
		.peer = -1,
		.signal = true,
	};

	return s.n < 0 ? s.n : drill_xid_steps(&s, f, err);
}

static void fill_sign(const struct alarm_args *a, struct drill_device_step *s)
{
	uint32_t n = (uint32_t)a->count;

	switch (a->what) {
	case ECC:
		s->ecc_uncorrected = n;
		s->events = nvmlEventTypeDoubleBitEccError;
		break;
	case REMAP:
		s->remap_unc = n;
		s->pending_1 = 2;
		break;
	case CLOCKS:
		s->clock_mhz = 345;
		s->clock_reasons = nvmlClocksThrottleReasonHwThermalSlowdown;
		s->events = nvmlEventTypeClock;
		break;
	default:
		s->link_crc = s->link_replay = n;
		break;
	}
}

static int fill(const struct drill_act *act, struct drill_device_aim *aim,
		struct drill_device_fault *f, struct drill_err *err)
{
	const struct alarm_args *a = act->args;
	int device = aim->device < 0 ? 0 : aim->device;

	f->action = DRILL_DEVICE_NOTHING;
	aim->rank = act->call || act->kernel ? aim->rank : -1;
	if (a->what == XID)
		return fill_xid(a, device, f, err);
	f->steps = 1;
	f->step[0].device = (uint32_t)device;
	fill_sign(a, &f->step[0]);
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
		d.told = true;
		r = drill_device_told(act, &d);
	}
	drill_devices_close(&d.devices);
	return r;
}

const struct drill_injector drill_device_alarm = {
	.name = who,
	.doc = "A device looks ill to those who watch it, and is well.",
	.class = DRILL_CLASS_FALSE_ALARM,
	.fidelity = DRILL_FIDELITY_TELEMETRY,
	.survives = DRILL_SURVIVES_PROCESS,
	.risk = DRILL_RISK_CONTAINED,
	.targets = DRILL_TARGETS_DEVICE,
	.stands_for = (const char *const[]){ "XID-identified GPU failure",
					     NULL },
	.needs = (const char *const[]){ "hook:cuda", NULL },
	.params = params,
	.args_size = sizeof(struct alarm_args),
	.check = check,
	.alarm = alarm,
	.probe = probe,
	.apply = apply,
	.verify = verify,
	.revert = drill_device_revert,
};
