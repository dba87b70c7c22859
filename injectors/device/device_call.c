/* device_call.c - one entry of the CUDA driver fails, or takes its time
 * SPDX-License-Identifier: MIT
 */
#include "cuda_calls.h"
#include "silent.h"
#include "xid.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char who[] = "device.call";

struct call_args {
	const char *call, *kernel;
	int64_t error, delay_ns, nth, every, probability, count, seed, code;
	int form;
};

static const struct drill_param params[] = {
	{ .name = "call",
	  .type = DRILL_STRING,
	  .offset = offsetof(struct call_args, call),
	  .doc = "The call, as \"cuStreamSynchronize\": all its entries; with "
		 "_v2 or _ptsz that one alone." },
	{ .name = "error",
	  .type = DRILL_INT,
	  .offset = offsetof(struct call_args, error),
	  .def = "0",
	  .max = 999,
	  .doc = "The CUDA error that it returns, without being done." },
	{ .name = "delay",
	  .type = DRILL_DURATION,
	  .offset = offsetof(struct call_args, delay_ns),
	  .def = "0s",
	  .max = DRILL_HOUR_NS,
	  .doc = "Or how much longer it takes." },
	DRILL_KERNEL_PARAM(struct call_args, kernel),
	{ .name = "nth",
	  .type = DRILL_INT,
	  .offset = offsetof(struct call_args, nth),
	  .def = "1",
	  .min = 1,
	  .max = DRILL_NTH_MAX,
	  .doc = "The first such call of the process that is hit, from the act "
		 "on." },
	{ .name = "every",
	  .type = DRILL_INT,
	  .offset = offsetof(struct call_args, every),
	  .def = "0",
	  .max = DRILL_NTH_MAX,
	  .doc = "Then each how-manieth is; 0: that one only, or each where "
		 "probability or count choose among several." },
	{ .name = "probability",
	  .type = DRILL_PERCENT,
	  .offset = offsetof(struct call_args, probability),
	  .def = "100%",
	  .min = 1,
	  .max = 1000000,
	  .doc = "Share of those calls that are hit, drawn by the seed." },
	{ .name = "count",
	  .type = DRILL_INT,
	  .offset = offsetof(struct call_args, count),
	  .def = "0",
	  .max = DRILL_NTH_MAX,
	  .doc = "Hits at most; 0: no limit." },
	{ .name = "seed",
	  .type = DRILL_INT,
	  .offset = offsetof(struct call_args, seed),
	  .def = "1",
	  .max = UINT32_MAX,
	  .doc = "Of the draw; the same seed takes the same calls." },
	DRILL_SILENT_PARAMS(struct call_args, code, "0"),
	{ 0 },
};

/* Of the signal: 0 in the scenario is the first Xid that is known with that
 * error; 0 back: there is none. */
static int64_t code_of(const struct call_args *a)
{
	const struct drill_xid *x = drill_xids();

	while (!a->code && x->code && (!a->error || x->error[0] != a->error))
		x++;
	return a->code ? a->code : x->code;
}

static int check(const void *args, struct drill_err *err)
{
	const struct call_args *a = args;
	int call = drill_cuda_call(a->call, err);

	if (call < 0)
		return call;
	if (!a->error == !a->delay_ns)
		return drill_err_set(err, -EINVAL, who,
				     "write either error = 2, say, or delay = "
				     "\"5ms\"");
	if (*a->kernel && strncmp(a->call, "cuLaunchKernel", 14))
		return drill_err_set(err, -EINVAL, who,
				     "kernel = \"%.60s\": only cuLaunchKernel "
				     "has a kernel, not %s", a->kernel,
				     a->call);
	if (a->form != DRILL_FORM_EFFECT && !code_of(a))
		return drill_err_set(err, -EINVAL, who,
				     "form: no Xid is known to come with that: "
				     "write code = 31, say");
	return drill_silent_check(code_of(a), a->form, err);
}

static bool alarm(const void *args)
{
	const struct call_args *a = args;

	return a->form == DRILL_FORM_SIGNAL;
}

/* Its own call, or when that begins to count. */
static bool meets(const void *args, const char *call)
{
	const struct call_args *a = args;

	return drill_cuda_call(a->call, NULL) == drill_cuda_call(call, NULL);
}

/* What is met while a program starts is armed before it says hello; then its
 * device is not known yet, but its rank is. */
static int probe(const struct drill_act *act, struct drill_err *err)
{
	return drill_device_probe(act, false, err);
}

static int64_t every(const struct call_args *a)
{
	bool among = a->count > 1 || a->probability < 1000000;

	return a->every || !among ? a->every : 1;
}

static int fill(const struct drill_act *act, struct drill_device_aim *aim,
		struct drill_device_fault *f, struct drill_err *err)
{
	const struct call_args *a = act->args;
	int call = drill_cuda_call(a->call, err), r;

	if (call < 0)
		return call;
	r = drill_silent_tell(code_of(a), a->form, aim, f, err);
	if (aim->rank >= 0)
		aim->device = -1;
	if (!alarm(a))
		f->action = a->error ? DRILL_DEVICE_RETURN : DRILL_DEVICE_DELAY;
	f->call = 1 + (uint32_t)call;
	f->family = drill_cuda_call_any(a->call);
	f->error = (int)a->error;
	f->delay_ns = a->delay_ns;
	f->nth = a->nth;
	f->every = every(a);
	f->ppm = (uint32_t)a->probability;
	f->count = a->count;
	f->seed = (uint32_t)a->seed;
	snprintf(f->kernel, sizeof(f->kernel), "%s", a->kernel);
	return r;
}

static int apply(struct drill_act *act, struct drill_err *err)
{
	return drill_device_order(act, false, fill, err);
}

const struct drill_injector drill_device_call = {
	.name = who,
	.doc = "One entry of the CUDA driver fails, or takes its time.",
	.class = DRILL_CLASS_FAIL_STOP,
	.fidelity = DRILL_FIDELITY_DRIVER,
	.survives = DRILL_SURVIVES_PROCESS,
	.risk = DRILL_RISK_CONTAINED,
	.targets = DRILL_TARGETS_DEVICE,
	.stands_for = (const char *const[]){ "CUDA error",
					     "CUDA execution error",
					     "GPU execution error", NULL },
	.needs = (const char *const[]){ "hook:cuda", NULL },
	.params = params,
	.args_size = sizeof(struct call_args),
	.check = check,
	.alarm = alarm,
	.meets = meets,
	.probe = probe,
	.apply = apply,
	.verify = drill_device_verify,
	.revert = drill_device_revert,
};
