/* options.c - command line of the training job, and its layout
 * SPDX-License-Identifier: MIT
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "train.h"

enum kind { INT, INT64, TIME, TEXT, REAL, LAYOUT, FLAG };

/* The one table: parser and help are made of it. */
#define AT(field) offsetof(struct train_options, field)
static const struct option {
	const char *name, *arg;
	enum kind kind;
	size_t at;
	int64_t lo, hi;
	const char *otherwise, *doc;
} table[] = {
	{ "steps", "N", INT64, AT(steps), 0, INT64_MAX, "200",
	  "training steps" },
	{ "layout", "dp=N,..", LAYOUT, AT(layout), 0, 0, NULL,
	  "parallelism; tp, pp, cp, ep above 1: not yet" },
	{ "store", "DIR", TEXT, AT(store), 0, 0, NULL,
	  "folder of data and checkpoints ($FAULTDRILL_STORE)" },
	{ "checkpoint-every", "N", INT64, AT(checkpoint_every), 0, INT_MAX,
	  "25", "steps between checkpoints, 0 for none" },
	{ "keep", "N", INT, AT(keep), 1, 1000, "3",
	  "committed checkpoints to keep" },
	{ "hash-every", "N", INT64, AT(hash_every), 0, INT_MAX, "0",
	  "steps between comparisons of the replicas, also made before each "
	  "checkpoint; 0 for none" },
	{ "watchdog", "TIME", TIME, AT(watchdog_s), 0, 0, "5s",
	  "limit of one collective, 0s for none" },
	{ "step-time", "TIME", TIME, AT(step_s), 0, 0, "50ms",
	  "modelled time of a step, 0s for as fast as can be" },
	{ "seed", "N", INT64, AT(seed), 0, INT64_MAX, "1",
	  "of parameters, corpus and sampler" },
	{ "batch", "N", INT, AT(batch), 1, 4096, "4",
	  "sequences of one rank in one step" },
	{ "seq", "N", INT, AT(seq), 2, 4096, "32", "tokens of a sequence" },
	{ "width", "N", INT, AT(width), 1, 8192, "64", "of the model" },
	{ "layers", "N", INT, AT(layers), 1, LAYERS_MAX, "2", "of the model" },
	{ "heads", "N", INT, AT(heads), 1, 1024, "4", "attention heads" },
	{ "vocab", "N", INT, AT(vocab), 32, 256, "64", "different tokens" },
	{ "lr", "X", REAL, AT(lr), 0, 0, "0.003", "learning rate" },
	{ "device", "WHICH", TEXT, AT(device), 0, 0, "auto",
	  "auto, real or software" },
	{ "log-every", "N", INT, AT(log_every), 1, INT_MAX, "25",
	  "steps between lines of rank 0" },
	{ "self-test", "", FLAG, AT(self_test), 0, 0, NULL,
	  "gradients against finite differences, one rank" },
};
#define OPTIONS (sizeof(table) / sizeof(*table))

static int64_t number(const struct option *o, const char *s)
{
	char *end;
	long long x = strtoll(s, &end, 10);

	if (end == s || *end || x < o->lo || x > o->hi)
		train_die(TRAIN_USAGE,
			  "--%s: a number from %lld to %lld, not \"%s\"",
			  o->name, (long long)o->lo, (long long)o->hi, s);
	return x;
}

static double duration(const struct option *o, const char *s)
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
	train_die(TRAIN_USAGE, "--%s: a time like 50ms or 5s, not \"%s\"",
		  o->name, s);
}

static double real(const struct option *o, const char *s)
{
	char *end;
	double x = strtod(s, &end);

	if (end == s || *end || !(x > 0))
		train_die(TRAIN_USAGE, "--%s: a number above 0, not \"%s\"",
			  o->name, s);
	return x;
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

static void set(struct train_options *out, const struct option *o, const char *s)
{
	void *field = (char *)out + o->at;

	switch (o->kind) {
	case INT:
		*(int *)field = (int)number(o, s);
		break;
	case INT64:
		*(int64_t *)field = number(o, s);
		break;
	case TIME:
		*(double *)field = duration(o, s);
		break;
	case TEXT:
		*(const char **)field = s;
		break;
	case REAL:
		*(double *)field = real(o, s);
		break;
	case LAYOUT:
		layout_parse(s, field);
		break;
	case FLAG:
		*(bool *)field = true;
		break;
	}
}

static void __attribute__((noreturn)) help(void)
{
	size_t i;

	puts("usage: train [options]");
	for (i = 0; i < OPTIONS; i++) {
		printf("  --%-16s %-8s %s", table[i].name, table[i].arg,
		       table[i].doc);
		if (table[i].otherwise)
			printf(" (%s)", table[i].otherwise);
		putchar('\n');
	}
	exit(0);
}

/* The row that argv[i] names; its value in *value, maybe from argv[i + 1]. */
static const struct option *match(int argc, char **argv, int *i, char **value)
{
	char *word = argv[*i], *equal = strchr(word, '=');
	size_t n = equal ? (size_t)(equal - word) : strlen(word), k;

	for (k = 0; k < OPTIONS; k++)
		if (!strncmp(word, "--", 2) && n == strlen(table[k].name) + 2 &&
		    !strncmp(word + 2, table[k].name, n - 2))
			break;
	if (k == OPTIONS)
		train_die(TRAIN_USAGE, "what is \"%s\"? --help lists the options",
			  word);
	*value = equal ? equal + 1 : NULL;
	if (!equal && table[k].kind != FLAG) {
		if (++*i == argc)
			train_die(TRAIN_USAGE, "%s needs a value", word);
		*value = argv[*i];
	}
	return &table[k];
}

static void validate(const struct train_options *o)
{
	if (o->width % o->heads)
		train_die(TRAIN_USAGE, "--width %d is no multiple of --heads %d",
			  o->width, o->heads);
	/* The kernels count elements in int. */
	if ((double)o->batch * o->seq * (o->width * 4.0 + o->heads * o->seq) >
	    INT_MAX)
		train_die(TRAIN_USAGE, "batch, seq, width and heads together "
			  "are too large");
	if (strcmp(o->device, "auto") && strcmp(o->device, "real") &&
	    strcmp(o->device, "software"))
		train_die(TRAIN_USAGE,
			  "--device: auto, real or software, not \"%s\"",
			  o->device);
	if (!o->self_test && !o->store)
		train_die(TRAIN_USAGE, "--store DIR is needed");
}

void options_parse(int argc, char **argv, struct train_options *o)
{
	const struct option *row;
	char *value;
	size_t k;
	int i;

	*o = (struct train_options){ .store = getenv("FAULTDRILL_STORE") };
	for (k = 0; k < OPTIONS; k++)
		if (table[k].otherwise)
			set(o, &table[k], table[k].otherwise);
	for (i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--help"))
			help();
		row = match(argc, argv, &i, &value);
		set(o, row, value);
	}
	validate(o);
}
