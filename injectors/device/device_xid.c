/* device_xid.c - a device fails as an Xid says, with what comes in its train
 * SPDX-License-Identifier: MIT
 *
 * The kernel's lines, NVML's counters and the errors of the driver's calls tell
 * one story, in the order in which they come on hardware.
 */
#include "silent.h"
#include "xid.h"

#include <errno.h>

static const char who[] = "device.xid";

struct xid_args {
	int64_t code, error, gap_ns, peer;
	const char *chain;
	bool contained;
	int form;
};

static const struct drill_param params[] = {
	{ .name = "code",
	  .type = DRILL_INT,
	  .offset = offsetof(struct xid_args, code),
	  .min = 1,
	  .max = 1000,
	  .doc = "The Xid, as in NVIDIA's catalog." },
	{ .name = "chain",
	  .type = DRILL_STRING,
	  .offset = offsetof(struct xid_args, chain),
	  .def = "",
	  .doc = "Xids that come, as in \"48 -> 63 -> 94\"; \"\" is what is "
		 "known to come with the code, \"alone\" nothing else." },
	{ .name = "contained",
	  .type = DRILL_BOOL,
	  .offset = offsetof(struct xid_args, contained),
	  .def = "true",
	  .doc = "Does an ECC error (48) stay in the process that met it?" },
	{ .name = "error",
	  .type = DRILL_INT,
	  .offset = offsetof(struct xid_args, error),
	  .def = "0",
	  .max = 999,
	  .doc = "The CUDA error that calls return, where the Xid is known "
		 "with several; 0 is the usual one." },
	{ .name = "gap",
	  .type = DRILL_DURATION,
	  .offset = offsetof(struct xid_args, gap_ns),
	  .def = "0s",
	  .max = DRILL_HOUR_NS,
	  .doc = "Time between the Xids of a chain; 0s: as on hardware." },
	{ .name = "peer",
	  .type = DRILL_INT,
	  .offset = offsetof(struct xid_args, peer),
	  .def = "-1",
	  .min = -1,
	  .max = DRILL_DEVICES - 1,
	  .doc = "Index of the device at the other end of the NVLink; -1: the "
		 "one at its first link." },
	DRILL_FORM_PARAM(struct xid_args, form),
	{ 0 },
};

static int chain_of(const struct xid_args *a, int code[DRILL_XID_CHAIN],
		    struct drill_err *err)
{
	return drill_xid_chain(a->code, a->chain, a->contained, code, err);
}

static bool has_error(const struct drill_xid *x, int64_t error)
{
	for (int i = 0; i < DRILL_XID_ERRORS; i++)
		if (x->error[i] && (!error || x->error[i] == error))
			return true;
	return false;
}

static bool any_error(const int *code, int n, int64_t error)
{
	for (int i = 0; i < n; i++)
		if (has_error(drill_xid_find(code[i], NULL), error))
			return true;
	return false;
}

/* ": write 214 or 226"; "" when there is none. */
static const char *errors_text(const int *code, int n, char *buf, size_t size)
{
	const struct drill_xid *x;
	size_t len = 0;

	buf[0] = '\0';
	for (int i = 0; i < n; i++) {
		x = drill_xid_find(code[i], NULL);
		for (int k = 0; k < DRILL_XID_ERRORS && x->error[k]; k++)
			if (len < size && !any_error(code, i, x->error[k]))
				len += (size_t)snprintf(
					buf + len, size - len, "%s%d",
					len ? " or " : ": write ", x->error[k]);
	}
	return buf;
}

static int check(const void *args, struct drill_err *err)
{
	const struct xid_args *a = args;
	struct drill_device_fault f = { 0 };
	struct drill_xid_story s = { .gap_ns = a->gap_ns ? a->gap_ns : -1,
				     .peer = 1, .effect = true, .signal = true };
	int code[DRILL_XID_CHAIN], n = chain_of(a, code, err);
	char list[80];

	if (n < 0)
		return n;
	if (a->form == DRILL_FORM_EFFECT && !any_error(code, n, 0))
		return drill_err_set(err, -EINVAL, who,
				     "Xid %lld has no effect on programs: form "
				     "\"effect\" would be nothing, write "
				     "\"signal\"", (long long)a->code);
	if (a->error && !any_error(code, n, a->error))
		return drill_err_set(err, -EINVAL, who,
				     "error = %lld is none that Xid %lld is "
				     "known with%s", (long long)a->error,
				     (long long)a->code,
				     errors_text(code, n, list, sizeof(list)));
	s.code = code;
	s.n = n;
	return drill_xid_steps(&s, &f, err);
}

static bool alarm(const void *args)
{
	const struct xid_args *a = args;
	int code[DRILL_XID_CHAIN], n = chain_of(a, code, NULL);

	return a->form == DRILL_FORM_SIGNAL || (n > 0 && !any_error(code, n, 0));
}

static bool felt(const struct xid_args *a)
{
	return !alarm(a);
}

static int probe(const struct drill_act *act, struct drill_err *err)
{
	return drill_device_probe(act, felt(act->args), err);
}

/* ---- the other end of a link ---- */

static bool needs_link(const struct drill_xid *x)
{
	return x->scope == DRILL_XID_LINK || x->scope == DRILL_XID_LINK_DOWN;
}

static int take_link(const struct drill_act *act,
		     const struct drill_device_aim *aim,
		     struct drill_xid_story *s, struct drill_err *err)
{
	const struct xid_args *a = act->args;

	s->peer = -1;
	if (!needs_link(drill_xid_find(a->code, NULL)))
		return 0;
	return drill_silent_link(aim, a->peer, s, err);
}

/* An error of the device meets whoever uses it, in every attempt until a reset;
 * one of a context meets one process, and ends with it. */
static void spread(const struct drill_act *act, struct drill_device_aim *aim,
		   struct drill_device_fault *f)
{
	const struct xid_args *a = act->args;
	const struct drill_xid *x;
	int code[DRILL_XID_CHAIN], n = chain_of(a, code, NULL), i = 0;

	while (i < n - 1 && !has_error(drill_xid_find(code[i], NULL), 0))
		i++;
	x = drill_xid_find(code[i], NULL);
	if (x->scope != DRILL_XID_CONTEXT)
		aim->rank = -1;
	else if (act->attempt)
		f->count = 1;
	if (x->scope == DRILL_XID_DEVICE || x->scope == DRILL_XID_ABSENT)
		aim->attempt = 0;
}

static int tell(const struct drill_act *act, struct drill_device_aim *aim,
		struct drill_device_fault *f, struct drill_err *err)
{
	const struct xid_args *a = act->args;
	int code[DRILL_XID_CHAIN];
	struct drill_xid_story s = {
		.code = code,
		.n = chain_of(a, code, err),
		.error = (int)a->error,
		.gap_ns = a->gap_ns ? a->gap_ns : -1,
		.device = aim->device < 0 ? 0 : aim->device,
		.effect = a->form != DRILL_FORM_SIGNAL,
		.signal = a->form != DRILL_FORM_EFFECT,
	};
	int r = s.n < 0 ? s.n : take_link(act, aim, &s, err);

	if (!r)
		r = drill_xid_steps(&s, f, err);
	if (!r)
		spread(act, aim, f);
	return r;
}

static int apply(struct drill_act *act, struct drill_err *err)
{
	return drill_device_order(act, true, tell, err);
}

const struct drill_injector drill_device_xid = {
	.name = who,
	.doc = "A device fails as an Xid says, with what comes in its train.",
	.class = DRILL_CLASS_FAIL_STOP,
	.fidelity = DRILL_FIDELITY_DRIVER,
	.survives = DRILL_SURVIVES_PROCESS,
	.risk = DRILL_RISK_CONTAINED,
	.targets = DRILL_TARGETS_DEVICE,
	.stands_for = (const char *const[]){
		"Faulty GPU", "GPU HBM3 memory", "GPU SRAM memory",
		"GPU system processor", "CUDA error", "ECC error",
		"CUDA execution error", "GPU execution error", "MMU error",
		"GSP error", "NVLink error", "PMU SPI error",
		"Row-remap failure", "GPU recoverable fault",
		"XID-identified GPU failure", NULL },
	.needs = (const char *const[]){ "hook:cuda", NULL },
	.params = params,
	.args_size = sizeof(struct xid_args),
	.check = check,
	.alarm = alarm,
	.probe = probe,
	.apply = apply,
	.verify = drill_device_verify,
	.revert = drill_device_revert,
};
