/* device_slow.c - a device computes more slowly than its likes
 * SPDX-License-Identifier: MIT
 *
 * Each kernel takes a factor longer, by the CUDA proxy; NVML shows the clock that
 * would explain it, and why it is low. Asked for as a longer step, the factor is
 * turned after each step until the step takes as long as wanted.
 */
#include "device.h"

#include "injectors/hooks/device_step.h"

#include "faultdrill/nvml_api.h"

#include <errno.h>
#include <stdio.h>

static const char who[] = "device.slow";

#define ONE 1000000 /* parts per million */
#define MOST 1000   /* times as long */

struct slow_args {
	double factor;
	int64_t step_time;
	const char *kernel;
	int reason, form;
};

static const char *const reasons[] = { "hw_thermal", "sw_thermal",
				       "hw_slowdown", "power_brake",
				       "power_cap", NULL };

static const uint64_t reason_bits[] = {
	nvmlClocksThrottleReasonHwThermalSlowdown,
	nvmlClocksEventReasonSwThermalSlowdown,
	nvmlClocksThrottleReasonHwSlowdown,
	nvmlClocksThrottleReasonHwPowerBrakeSlowdown,
	nvmlClocksEventReasonSwPowerCap,
};

static const struct drill_param params[] = {
	{ .name = "factor",
	  .type = DRILL_NUMBER,
	  .offset = offsetof(struct slow_args, factor),
	  .def = "0",
	  .max = MOST,
	  .doc = "How many times as long each kernel takes." },
	{ .name = "step_time",
	  .type = DRILL_PERCENT,
	  .offset = offsetof(struct slow_args, step_time),
	  .def = "0%",
	  .max = INT64_C(100) * ONE,
	  .doc = "How much longer a step is to take; the factor follows." },
	DRILL_KERNEL_PARAM(struct slow_args, kernel),
	{ .name = "reason",
	  .type = DRILL_ENUM,
	  .offset = offsetof(struct slow_args, reason),
	  .def = "hw_thermal",
	  .values = reasons,
	  .doc = "Why NVML says that the clock is low." },
	DRILL_FORM_PARAM(struct slow_args, form),
	{ 0 },
};

static int check(const void *args, struct drill_err *err)
{
	const struct slow_args *a = args;

	if (!a->factor == !a->step_time)
		return drill_err_set(err, -EINVAL, who,
				     "write either factor = 2, say, or "
				     "step_time = \"20%%\"");
	if (a->factor && a->factor <= 1)
		return drill_err_set(err, -EINVAL, who,
				     "factor = %g makes nothing slower: it "
				     "must be above 1", a->factor);
	return 0;
}

static bool alarm(const void *args)
{
	const struct slow_args *a = args;

	return a->form == DRILL_FORM_SIGNAL;
}

static int probe(const struct drill_act *act, struct drill_err *err)
{
	return drill_device_probe(act, !alarm(act->args), err);
}

/* A step is not kernels alone, so they must be slower than it is to be. */
static double first_factor(const struct slow_args *a)
{
	return a->factor ? a->factor : 1 + 2 * (double)a->step_time / ONE;
}

static void signal_step(const struct slow_args *a,
			const struct drill_device_aim *aim,
			struct drill_device_fault *f)
{
	double by = a->factor ? a->factor : 1 + (double)a->step_time / ONE;
	struct drill_device d;

	f->steps = 1;
	f->step[0].device = aim->device < 0 ? 0 : (uint32_t)aim->device;
	drill_device_read(aim->devices.page, f->step[0].device, &d);
	f->step[0].clock_mhz = (uint32_t)(d.sm_max_mhz / by) + 1;
	f->step[0].clock_reasons = reason_bits[a->reason];
	f->step[0].events = nvmlEventTypeClock;
}

static int fill(const struct drill_act *act, struct drill_device_aim *aim,
		struct drill_device_fault *f, struct drill_err *err)
{
	const struct slow_args *a = act->args;

	(void)err;
	if (a->form != DRILL_FORM_SIGNAL) {
		f->action = DRILL_DEVICE_SLOW;
		f->factor_ppm = (uint32_t)(first_factor(a) * ONE);
		snprintf(f->kernel, sizeof(f->kernel), "%s", a->kernel);
	}
	if (a->form != DRILL_FORM_EFFECT)
		signal_step(a, aim, f);
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
		if (d.felt)
			json_object_set_new(act->evidence, "kernels",
				json_pack("{s:f s:f}", "added_s",
					  (double)d.f.added_ns * 1e-9,
					  "factor",
					  (double)d.f.factor_ppm / ONE));
		r = (!d.felt || d.f.added_ns > 0) && drill_device_told(act, &d);
	}
	drill_devices_close(&d.devices);
	return r;
}

/* Towards the step that is wanted; by half or by double at most, for one step
 * says little. */
static double turn(double factor, double want_ns, double got_ns)
{
	double by = got_ns <= 0 ? 2 : want_ns / got_ns;

	by = by < 0.5 ? 0.5 : by > 2 ? 2 : by;
	factor = 1 + (factor - 1) * by;
	return factor > MOST ? MOST : factor < 1.0001 ? 1.0001 : factor;
}

static void pace(struct drill_act *act, int64_t base_ns, int64_t step_ns)
{
	const struct slow_args *a = act->args;
	struct drill_device_found d;
	uint32_t *factor;

	if (!a->step_time || base_ns <= 0)
		return;
	if (drill_device_find(act, &d, NULL) > 0 && d.felt) {
		factor = &d.devices.page->fault[d.armed.fault].factor_ppm;
		__atomic_store_n(factor, (uint32_t)(ONE * turn(
				(double)d.f.factor_ppm / ONE,
				(double)base_ns * (double)a->step_time / ONE,
				(double)(step_ns - base_ns))),
				 __ATOMIC_RELAXED);
	}
	drill_devices_close(&d.devices);
}

const struct drill_injector drill_device_slow = {
	.name = who,
	.doc = "A device computes more slowly than its likes.",
	.class = DRILL_CLASS_FAIL_SLOW,
	.fidelity = DRILL_FIDELITY_DRIVER,
	.survives = DRILL_SURVIVES_PROCESS,
	.risk = DRILL_RISK_CONTAINED,
	.targets = DRILL_TARGETS_DEVICE,
	.alone = true,
	.stands_for = (const char *const[]){
		"GPU thermal interface and sensor", "Jobs with a fail-slow",
		"Performance issues (not crashes)", NULL },
	.needs = (const char *const[]){ "hook:cuda", NULL },
	.params = params,
	.args_size = sizeof(struct slow_args),
	.check = check,
	.alarm = alarm,
	.probe = probe,
	.apply = apply,
	.verify = verify,
	.revert = drill_device_revert,
	.pace = pace,
};
