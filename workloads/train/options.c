/* options.c - command line of the training job, and its layout
 * SPDX-License-Identifier: MIT
 */
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "train.h"

static const char help[] =
	"usage: train [options]\n"
	"  --steps N             training steps (200)\n"
	"  --layout dp=N,...     parallelism; tp, pp, cp, ep above 1: not yet\n"
	"  --store DIR           folder of data and checkpoints ($FAULTDRILL_STORE)\n"
	"  --checkpoint-every N  steps between checkpoints, 0 for none (25)\n"
	"  --keep N              committed checkpoints to keep (3)\n"
	"  --watchdog TIME       limit of one collective, 0s for none (5s)\n"
	"  --step-time TIME      modelled time of a step (50ms)\n"
	"  --seed N              of parameters, corpus and sampler (1)\n"
	"  --batch N --seq N --width N --layers N --heads N --vocab N --lr X\n"
	"  --device WHICH        auto, real or software (auto)\n"
	"  --log-every N         steps between lines of rank 0 (25)\n"
	"  --self-test           gradients against finite differences, one rank\n";

enum {
	STEPS = 256, LAYOUT, STORE, EVERY, KEEP, WATCHDOG, STEP_TIME, SEED,
	BATCH, SEQ, WIDTH, LAYERS, HEADS, VOCAB, LR, DEVICE, LOG, SELF, HELP,
};

static const struct option table[] = {
	{ "steps", 1, NULL, STEPS },	 { "layout", 1, NULL, LAYOUT },
	{ "store", 1, NULL, STORE },	 { "checkpoint-every", 1, NULL, EVERY },
	{ "keep", 1, NULL, KEEP },	 { "watchdog", 1, NULL, WATCHDOG },
	{ "step-time", 1, NULL, STEP_TIME }, { "seed", 1, NULL, SEED },
	{ "batch", 1, NULL, BATCH },	 { "seq", 1, NULL, SEQ },
	{ "width", 1, NULL, WIDTH },	 { "layers", 1, NULL, LAYERS },
	{ "heads", 1, NULL, HEADS },	 { "vocab", 1, NULL, VOCAB },
	{ "lr", 1, NULL, LR },		 { "device", 1, NULL, DEVICE },
	{ "log-every", 1, NULL, LOG },	 { "self-test", 0, NULL, SELF },
	{ "help", 0, NULL, HELP },	 { NULL, 0, NULL, 0 },
};

static int64_t number(const char *name, const char *s, int64_t lo, int64_t hi)
{
	char *end;
	long long x = strtoll(s, &end, 10);

	if (end == s || *end || x < lo || x > hi)
		train_die(TRAIN_USAGE,
			  "--%s: a number from %lld to %lld, not \"%s\"", name,
			  (long long)lo, (long long)hi, s);
	return x;
}

static double duration(const char *name, const char *s)
{
	static const struct {
		const char *unit;
		double s;
	} units[] = { { "us", 1e-6 }, { "ms", 1e-3 }, { "s", 1 },
		      { "min", 60 } };
	char *end;
	double x = strtod(s, &end);
	size_t i;

	for (i = 0; end != s && x >= 0 && i < 4; i++)
		if (!strcmp(end, units[i].unit))
			return x * units[i].s;
	train_die(TRAIN_USAGE, "--%s: a time like 50ms or 5s, not \"%s\"", name,
		  s);
}

static void layout_parse(const char *s, struct train_layout *l)
{
	const struct {
		const char *name;
		int *value;
	} parts[] = { { "dp=", &l->dp }, { "tp=", &l->tp }, { "pp=", &l->pp },
		      { "cp=", &l->cp }, { "ep=", &l->ep } };
	const char *p = s;
	char *end;
	size_t i;

	while (*p) {
		for (i = 0; i < 5 && strncmp(p, parts[i].name, 3); i++)
			;
		if (i == 5)
			break;
		*parts[i].value = (int)strtol(p + 3, &end, 10);
		if (end == p + 3 || *parts[i].value < 1)
			break;
		p = *end == ',' && end[1] ? end + 1 : end;
		if (p == end && *end)
			break;
	}
	if (*p)
		train_die(TRAIN_USAGE,
			  "--layout: dp=N,tp=N,pp=N,cp=N,ep=N, not \"%s\"", s);
}

const char *layout_check(const struct train_layout *l, int world)
{
	static char why[96];

	if (l->tp > 1 || l->pp > 1 || l->cp > 1 || l->ep > 1)
		return "--layout: tp, pp, cp and ep above 1: not yet";
	if (!l->dp || l->dp == world)
		return NULL;
	snprintf(why, sizeof(why), "--layout: dp=%d needs %d ranks, here are %d",
		 l->dp, l->dp, world);
	return why;
}

static void one(struct train_options *o, int c, const char *a)
{
	switch (c) {
	case STEPS: o->steps = number("steps", a, 0, INT64_MAX); break;
	case LAYOUT: layout_parse(a, &o->layout); break;
	case STORE: o->store = a; break;
	case EVERY:
		o->checkpoint_every = number("checkpoint-every", a, 0, INT_MAX);
		break;
	case KEEP: o->keep = (int)number("keep", a, 1, 1000); break;
	case WATCHDOG: o->watchdog_s = duration("watchdog", a); break;
	case STEP_TIME: o->step_s = duration("step-time", a); break;
	case SEED: o->seed = (uint64_t)number("seed", a, 0, INT64_MAX); break;
	case BATCH: o->batch = (int)number("batch", a, 1, 4096); break;
	case SEQ: o->seq = (int)number("seq", a, 2, 4096); break;
	case WIDTH: o->width = (int)number("width", a, 1, 8192); break;
	case LAYERS:
		o->layers = (int)number("layers", a, 1, LAYERS_MAX);
		break;
	case HEADS: o->heads = (int)number("heads", a, 1, 1024); break;
	case VOCAB: o->vocab = (int)number("vocab", a, 32, 256); break;
	case LR: o->lr = strtod(a, NULL); break;
	case DEVICE: o->device = a; break;
	case LOG: o->log_every = (int)number("log-every", a, 1, INT_MAX); break;
	case SELF: o->self_test = true; break;
	case HELP: fputs(help, stdout); exit(0);
	default: exit(TRAIN_USAGE);
	}
}

static void validate(const struct train_options *o)
{
	if (o->width % o->heads)
		train_die(TRAIN_USAGE, "--width %d is no multiple of --heads %d",
			  o->width, o->heads);
	if (strcmp(o->device, "auto") && strcmp(o->device, "real") &&
	    strcmp(o->device, "software"))
		train_die(TRAIN_USAGE,
			  "--device: auto, real or software, not \"%s\"",
			  o->device);
	if (o->lr <= 0)
		train_die(TRAIN_USAGE, "--lr: a number above 0");
	if (!o->self_test && !o->store)
		train_die(TRAIN_USAGE, "--store DIR is needed");
}

void options_parse(int argc, char **argv, struct train_options *o)
{
	int c;

	*o = (struct train_options){
		.steps = 200, .checkpoint_every = 25, .keep = 3,
		.log_every = 25, .batch = 4, .seq = 32, .width = 64,
		.layers = 2, .heads = 4, .vocab = 64, .seed = 1,
		.watchdog_s = 5, .step_s = 0.05, .lr = 3e-3, .device = "auto",
		.store = getenv("FAULTDRILL_STORE"),
	};
	while ((c = getopt_long(argc, argv, "", table, NULL)) != -1)
		one(o, c, optarg);
	if (optind < argc)
		train_die(TRAIN_USAGE, "what is \"%s\"? --help lists the options",
			  argv[optind]);
	validate(o);
}
