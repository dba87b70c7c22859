/* device_corrupt.c - bits flip in a device's data, and nobody says so
 * SPDX-License-Identifier: MIT
 *
 * Silent data corruption: every call succeeds, no ECC counter moves. What has
 * flipped stays so in the process; going back ends further flips only.
 */
#include "silent.h"

#include <stdio.h>
#include <string.h>

static const char who[] = "device.corrupt";

struct corrupt_args {
	const char *kernel;
	int64_t nth, every, count, bits, seed, code;
	int where, form;
};

static const char *const places[] = { "memory", "output", "copy", NULL };

static const struct drill_param params[] = {
	{ .name = "where",
	  .type = DRILL_ENUM,
	  .offset = offsetof(struct corrupt_args, where),
	  .def = "output",
	  .values = places,
	  .doc = "What is hit: memory that is allocated, what a kernel wrote, "
		 "or what a copy delivered." },
	{ .name = "bits",
	  .type = DRILL_INT,
	  .offset = offsetof(struct corrupt_args, bits),
	  .def = "1",
	  .min = 1,
	  .max = DRILL_DEVICE_SITES,
	  .doc = "How many bits flip at each hit; their places are recorded." },
	DRILL_KERNEL_PARAM(struct corrupt_args, kernel),
	{ .name = "nth",
	  .type = DRILL_INT,
	  .offset = offsetof(struct corrupt_args, nth),
	  .def = "1",
	  .min = 1,
	  .max = DRILL_NTH_MAX,
	  .doc = "Which such launch or copy is hit, from the act on." },
	{ .name = "every",
	  .type = DRILL_INT,
	  .offset = offsetof(struct corrupt_args, every),
	  .def = "0",
	  .max = DRILL_NTH_MAX,
	  .doc = "Then each how-manieth is; 0: that one only, or each up to "
		 "count." },
	{ .name = "count",
	  .type = DRILL_INT,
	  .offset = offsetof(struct corrupt_args, count),
	  .def = "0",
	  .max = DRILL_NTH_MAX,
	  .doc = "Hits at most; 0: no limit." },
	{ .name = "seed",
	  .type = DRILL_INT,
	  .offset = offsetof(struct corrupt_args, seed),
	  .def = "1",
	  .max = UINT32_MAX,
	  .doc = "Of the places; the same seed takes the same ones." },
	DRILL_SILENT_PARAMS(struct corrupt_args, code, "48"),
	{ 0 },
};

static int check(const void *args, struct drill_err *err)
{
	const struct corrupt_args *a = args;

	return drill_silent_check(a->code, a->form, err);
}

static bool alarm(const void *args)
{
	const struct corrupt_args *a = args;

	return a->form == DRILL_FORM_SIGNAL;
}

/* Where there is something to flip; elsewhere it begins to count. */
static bool meets(const void *args, const char *call)
{
	const struct corrupt_args *a = args;
	bool copy = a->where == DRILL_FLIP_COPY - DRILL_FLIP_MEMORY;

	return !strncmp(call, copy ? "cuMemcpy" : "cuLaunchKernel",
			copy ? 8 : 14);
}

static int probe(const struct drill_act *act, struct drill_err *err)
{
	return drill_device_probe(act, !alarm(act->args), err);
}

static int fill(const struct drill_act *act, struct drill_device_aim *aim,
		struct drill_device_fault *f, struct drill_err *err)
{
	const struct corrupt_args *a = act->args;
	int r = drill_silent_tell(a->code, a->form, aim, f, err);

	if (!alarm(a))
		f->action = DRILL_DEVICE_FLIP;
	f->flip_where = DRILL_FLIP_MEMORY + (uint32_t)a->where;
	f->bits = (uint32_t)a->bits;
	f->seed = (uint32_t)a->seed;
	f->nth = a->nth;
	f->every = a->every || a->count < 2 ? a->every : 1;
	f->count = a->count;
	snprintf(f->kernel, sizeof(f->kernel), "%s", a->kernel);
	return r;
}

static int apply(struct drill_act *act, struct drill_err *err)
{
	return drill_device_order(act, false, fill, err);
}

static void put_sites(struct drill_act *act, const struct drill_device_fault *f)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < f->sites && i < DRILL_DEVICE_SITES; i++)
		json_array_append_new(list, json_pack(
			"{s:o s:I s:I}", "range",
			json_sprintf("0x%llx",
				     (unsigned long long)f->site[i].address),
			"bytes", (json_int_t)f->site[i].size, "bit",
			(json_int_t)f->site[i].bit));
	json_object_set_new(act->evidence, "sites", list);
}

/* The process that flipped them says where. Unless a signal was asked for the
 * device says nothing: its counters are as they were. */
static int verify(struct drill_act *act, struct drill_err *err)
{
	struct drill_device_found d;
	int r = drill_device_find(act, &d, err);

	if (r > 0 && d.felt) {
		put_sites(act, &d.f);
		r = d.f.sites > 0 && drill_device_felt(act, &d);
	}
	if (r > 0)
		r = drill_device_told(act, &d);
	drill_devices_close(&d.devices);
	return r;
}

const struct drill_injector drill_device_corrupt = {
	.name = who,
	.doc = "Bits flip in a device's data, and nobody says so.",
	.class = DRILL_CLASS_CORRUPTION,
	.fidelity = DRILL_FIDELITY_DRIVER,
	.survives = DRILL_SURVIVES_PROCESS,
	.risk = DRILL_RISK_CONTAINED,
	.targets = DRILL_TARGETS_DEVICE,
	.stands_for = (const char *const[]){ "Silent data corruption",
					     "NaN value", NULL },
	.needs = (const char *const[]){ "hook:cuda", NULL },
	.params = params,
	.args_size = sizeof(struct corrupt_args),
	.check = check,
	.alarm = alarm,
	.meets = meets,
	.probe = probe,
	.apply = apply,
	.verify = verify,
	.revert = drill_device_revert,
};
