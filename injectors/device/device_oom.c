/* device_oom.c - a device has no memory left for a process
 * SPDX-License-Identifier: MIT
 *
 * An allocation that fails is not sticky: whoever frees and asks again may get
 * it, and an allocator that does so once hides a single failure.
 */
#include "device.h"

#include "faultdrill/cuda_api.h"

static const char who[] = "device.oom";

struct oom_args {
	int64_t limit, nth, every, count;
	int form;
};

static const struct drill_param params[] = {
	{ .name = "limit",
	  .type = DRILL_SIZE,
	  .offset = offsetof(struct oom_args, limit),
	  .def = "0B",
	  .doc = "What a process may hold at most; 0: the nth allocation fails "
		 "whatever is held." },
	{ .name = "nth",
	  .type = DRILL_INT,
	  .offset = offsetof(struct oom_args, nth),
	  .def = "1",
	  .min = 1,
	  .max = DRILL_NTH_MAX,
	  .doc = "Without a limit: which allocation fails, from the act on." },
	{ .name = "every",
	  .type = DRILL_INT,
	  .offset = offsetof(struct oom_args, every),
	  .def = "1",
	  .max = DRILL_NTH_MAX,
	  .doc = "Then each how-manieth fails; 0: that one only." },
	{ .name = "count",
	  .type = DRILL_INT,
	  .offset = offsetof(struct oom_args, count),
	  .def = "0",
	  .max = DRILL_NTH_MAX,
	  .doc = "Failures at most; 0: no limit." },
	{ .name = "form",
	  .type = DRILL_ENUM,
	  .offset = offsetof(struct oom_args, form),
	  .def = "both",
	  .values = drill_form_names,
	  .doc = "What of it there is: allocations that fail, NVML that says "
		 "the memory is full, or both." },
	{ 0 },
};

static bool alarm(const void *args)
{
	const struct oom_args *a = args;

	return a->form == DRILL_FORM_SIGNAL;
}

/* What is met while a program starts is armed before it says hello; then its
 * device is not known yet, but its rank is. */
static int probe(const struct drill_act *act, struct drill_err *err)
{
	return drill_device_probe(act, false, err);
}

static int fill(const struct drill_act *act, struct drill_device_aim *aim,
		struct drill_device_fault *f, struct drill_err *err)
{
	const struct oom_args *a = act->args;

	(void)err;
	if (alarm(a)) {
		f->steps = 1;
		f->step[0].device = aim->device < 0 ? 0 :
						      (uint32_t)aim->device;
		f->step[0].memory_full_1 = 2;
		return 0;
	}
	f->untold = a->form == DRILL_FORM_EFFECT;
	f->action = DRILL_DEVICE_OOM;
	f->error = CUDA_ERROR_OUT_OF_MEMORY;
	f->limit_bytes = (uint64_t)a->limit;
	f->nth = a->nth;
	f->every = a->every;
	f->count = a->count;
	/* Memory is short for whoever comes, until it is short no more. */
	aim->attempt = 0;
	if (aim->rank >= 0)
		aim->device = -1;
	return 0;
}

static int apply(struct drill_act *act, struct drill_err *err)
{
	return drill_device_order(act, alarm(act->args), fill, err);
}

const struct drill_injector drill_device_oom = {
	.name = who,
	.doc = "A device has no memory left for a process.",
	.class = DRILL_CLASS_FAIL_STOP,
	.fidelity = DRILL_FIDELITY_DRIVER,
	.survives = DRILL_SURVIVES_PROCESS,
	.risk = DRILL_RISK_CONTAINED,
	.targets = DRILL_TARGETS_DEVICE,
	.alone = true,
	.stands_for = (const char *const[]){ "CUDA error",
					     "CUDA execution error", NULL },
	.needs = (const char *const[]){ "hook:cuda", NULL },
	.params = params,
	.args_size = sizeof(struct oom_args),
	.alarm = alarm,
	.probe = probe,
	.apply = apply,
	.verify = drill_device_verify,
	.revert = drill_device_revert,
};
