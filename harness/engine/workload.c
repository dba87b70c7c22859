/* workload.c - the reference job and one's own: their fields, their command
 * SPDX-License-Identifier: MIT
 */
#include "workload.h"

#include "harness/core/unit.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ARGV_MAX 256
#define START_S 3.0 /* mpirun, MPI_Init, the first restore, the end */
#define HOUR INT64_C(3600000000000)

struct job_args {
	int64_t ranks, ppn, steps, checkpoint_every, hash_every, seed;
	int64_t no_progress;
	int64_t watchdog, heartbeat, step_time, health_interval;
	int64_t batch, seq, width, layers, heads, vocab;
	const char *layout;
	int recovery, health;
	bool progress;
};

static const char *const recoveries[] = { "restart", NULL };
static const char *const healths[] = { "off", "nvml", "xid", "both", NULL };

#define AT(f) offsetof(struct job_args, f)
#define JOB_PARAMS                                                             \
	{ "ranks", DRILL_INT, AT(ranks), NULL, 1, 4096, NULL,                  \
	  "Ranks of the job." },                                               \
	{ "ppn", DRILL_INT, AT(ppn), "0", 0, 4096, NULL,                       \
	  "Ranks on each host; 0 spreads them evenly." },                      \
	{ "recovery", DRILL_ENUM, AT(recovery), "restart", 0, 0, recoveries,   \
	  "What the launcher does when a rank is lost." },                     \
	{ "watchdog", DRILL_DURATION, AT(watchdog), "5s", 1000000, HOUR, NULL,    \
	  "A collective that takes longer is a failure." },                    \
	{ "heartbeat", DRILL_DURATION, AT(heartbeat), "500ms", 1000000, HOUR,  \
	  NULL, "How often each rank says that it lives." },                   \
	{ "health", DRILL_ENUM, AT(health), "off", 0, 0, healths,              \
	  "Who watches the devices: nvml, xid (the kernel's log), both." },    \
	{ "health_interval", DRILL_DURATION, AT(health_interval), "1s",        \
	  10000000, HOUR, NULL, "How often NVML is asked." },                  \
	{ "max_no_progress", DRILL_INT, AT(no_progress), "3", 1, 1000, NULL,   \
	  "Attempts without progress before the launcher gives up." }

#define SIZE(name, field, doc)                                                 \
	{ name, DRILL_INT, AT(field), "0", 0, 0, NULL, doc " 0: its own." }

static const struct drill_param train_params[] = {
	JOB_PARAMS,
	{ "layout", DRILL_STRING, AT(layout), "", 0, 0, NULL,
	  "How the ranks share the model, as in dp=4." },
	{ "steps", DRILL_INT, AT(steps), "40", 1, 1000000000, NULL,
	  "Training steps." },
	{ "checkpoint_every", DRILL_INT, AT(checkpoint_every), "10", 0,
	  1000000000, NULL, "Steps between two checkpoints; 0: none." },
	{ "hash_every", DRILL_INT, AT(hash_every), "0", 0, 1000000000, NULL,
	  "Steps between comparisons of the replicas' states; 0: none." },
	{ "seed", DRILL_INT, AT(seed), "1", 0, 0, NULL,
	  "Seed of model and corpus." },
	{ "step_time", DRILL_DURATION, AT(step_time), "50ms", 0, 0, NULL,
	  "Modelled time of one step." },
	SIZE("batch", batch, "Sequences of one rank in one step."),
	SIZE("seq", seq, "Tokens of a sequence."),
	SIZE("width", width, "Width of the model."),
	SIZE("layers", layers, "Layers of the model."),
	SIZE("heads", heads, "Attention heads."),
	SIZE("vocab", vocab, "Size of the vocabulary."),
	{ 0 },
};

static const struct drill_param command_params[] = {
	JOB_PARAMS,
	{ "progress", DRILL_BOOL, AT(progress), "false", 0, 0, NULL,
	  "The job writes events through faultdrill/progress.h." },
	{ "steps", DRILL_INT, AT(steps), "0", 0, 0, NULL,
	  "Training steps it will do, where it counts them." },
	{ 0 },
};

static const struct drill_workload_kind kinds[] = {
	{ "train", "The reference job: a small transformer in C, MPI and CUDA.",
	  DRILL_SUPPLIES_JOB | DRILL_SUPPLIES_STEPS | DRILL_SUPPLIES_STATE |
		  DRILL_SUPPLIES_LOSS, train_params },
	{ "command", "Your own MPI program.", DRILL_SUPPLIES_JOB,
	  command_params },
	{ NULL, NULL, 0, NULL },
};

const struct drill_workload_kind *drill_workload_kinds(void)
{
	return kinds;
}

const struct drill_workload_kind *drill_workload_kind(json_t *workload)
{
	const char *name = json_string_value(json_object_get(workload, "kind"));
	const struct drill_workload_kind *k = kinds;

	while (k->name && (!name || strcmp(k->name, name) != 0))
		k++;
	return k->name ? k : NULL;
}

unsigned int drill_workload_supplies(json_t *workload)
{
	const struct drill_workload_kind *k = drill_workload_kind(workload);

	if (!k)
		return 0;
	if (json_is_true(json_object_get(workload, "progress")))
		return k->supplies | DRILL_SUPPLIES_STEPS |
		       DRILL_SUPPLIES_STATE | DRILL_SUPPLIES_LOSS;
	return k->supplies;
}

static bool is_ours(const char *key)
{
	return strcmp(key, "kind") == 0 || strcmp(key, "command") == 0 ||
	       strcmp(key, "env") == 0;
}

static int check_command(json_t *w, char culprit[64], struct drill_err *err)
{
	json_t *cmd = json_object_get(w, "command"), *v;
	size_t i;

	snprintf(culprit, 64, "command");
	if (json_is_string(cmd))
		return 0;
	if (!json_is_array(cmd) || json_array_size(cmd) == 0 ||
	    json_array_size(cmd) > 200)
		return drill_err_set(err, -EINVAL, NULL,
				     "command: a list is wanted, as in "
				     "{ \"./job\", \"--steps\", \"100\" }");
	json_array_foreach(cmd, i, v)
		if (!json_is_string(v))
			return drill_err_set(err, -EINVAL, NULL,
					     "command: word %zu is no text",
					     i + 1);
	culprit[0] = '\0';
	return 0;
}

static int check_env(json_t *w, char culprit[64], struct drill_err *err)
{
	json_t *env = json_object_get(w, "env"), *v;
	const char *key;

	if (env && !json_is_object(env) && json_array_size(env)) {
		snprintf(culprit, 64, "env");
		return drill_err_set(err, -EINVAL, NULL,
				     "env: write env = { NAME = \"value\" }");
	}
	json_object_foreach(env, key, v)
		if (!json_is_string(v)) {
			snprintf(culprit, 64, "%s", key);
			return drill_err_set(err, -EINVAL, NULL,
					     "env: %s: a text is wanted", key);
		}
	return 0;
}

static json_t *without_ours(json_t *w, bool command)
{
	json_t *out = json_object(), *v;
	const char *key;

	json_object_foreach(w, key, v)
		if (!is_ours(key) || (!command && strcmp(key, "kind") != 0))
			json_object_set(out, key, v);
	return out;
}

/* What the job would refuse, said where it is written. */
static int check_layout(json_t *w, char culprit[64], struct drill_err *err)
{
	const char *p = json_string_value(json_object_get(w, "layout"));
	int ranks = drill_workload_ranks(w), n, len;
	char name[3];

	for (; p && *p; p += len + (p[len] == ',')) {
		snprintf(culprit, 64, "layout");
		len = 0;
		if (sscanf(p, "%2[a-z]=%d%n", name, &n, &len) != 2 || n < 1 ||
		    !name[1] || !strstr("dp tp pp cp ep", name) ||
		    (p[len] && p[len] != ','))
			return drill_err_set(err, -EINVAL, NULL, "layout: "
					     "write it as in dp=%d", ranks);
		if (n > 1 && strcmp(name, "dp") != 0)
			return drill_err_set(err, -EINVAL, NULL, "layout: %s "
					     "above 1: not yet", name);
		if (n != ranks && strcmp(name, "dp") == 0)
			return drill_err_set(err, -EINVAL, NULL, "layout: dp=%d "
					     "needs %d ranks, here are %d", n,
					     n, ranks);
	}
	culprit[0] = '\0';
	return 0;
}

int drill_workload_check(json_t *w, char culprit[64], struct drill_err *err)
{
	const struct drill_workload_kind *k = drill_workload_kind(w);
	bool command = k && strcmp(k->name, "command") == 0;
	struct drill_err first = { 0 };
	struct job_args args;
	json_t *known, *v;
	const char *key;
	int rc;

	culprit[0] = '\0';
	if (!k)
		return drill_err_set(err, -EINVAL, NULL, "no such workload");
	known = without_ours(w, command);
	rc = drill_params_parse(k->params, NULL, known, &args, &first);
	json_object_foreach(known, key, v)
		if (rc < 0 && strstr(first.msg, key))
			snprintf(culprit, 64, "%s", key);
	json_decref(known);
	if (rc < 0)
		return drill_err_set(err, rc, NULL, "%s", first.msg);
	rc = command ? check_command(w, culprit, err)
		     : check_layout(w, culprit, err);
	return rc < 0 || !command ? rc : check_env(w, culprit, err);
}

static int read_args(json_t *w, struct job_args *args)
{
	const struct drill_workload_kind *k = drill_workload_kind(w);
	json_t *known = without_ours(w, strcmp(k->name, "command") == 0);
	int rc = drill_params_parse(k->params, NULL, known, args, NULL);

	args->layout = NULL; /* was borrowed from known */
	json_decref(known);
	return rc;
}

int drill_workload_ranks(json_t *w)
{
	return (int)json_integer_value(json_object_get(w, "ranks"));
}

int64_t drill_workload_steps(json_t *w)
{
	struct job_args args = { 0 };

	return read_args(w, &args) < 0 ? 0 : args.steps;
}

double drill_workload_expected_s(json_t *w)
{
	struct job_args args = { 0 };

	if (read_args(w, &args) < 0 || !args.step_time)
		return 0;
	return START_S + (double)args.steps * (double)args.step_time / 1e9;
}

int64_t drill_workload_timeout_ns(json_t *w, const char *name)
{
	struct job_args args = { 0 };

	if (read_args(w, &args) < 0)
		return -1;
	if (strcmp(name, "watchdog") == 0)
		return args.watchdog;
	if (strcmp(name, "heartbeat") == 0)
		return args.heartbeat;
	return -1;
}

/* ---- the launcher's command line ---- */

struct words {
	char *argv[ARGV_MAX + 1];
	int n;
	bool failed;
};

static void word(struct words *w, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static void word(struct words *w, const char *fmt, ...)
{
	va_list ap;

	if (w->n == ARGV_MAX || w->failed) {
		w->failed = true;
		return;
	}
	va_start(ap, fmt);
	w->failed = vasprintf(&w->argv[w->n], fmt, ap) < 0;
	va_end(ap);
	if (w->failed)
		w->argv[w->n] = NULL;
	else
		w->n++;
}

/* The names of those hosts that are spares, or not. */
static void host_words(struct words *w, const struct drill_lab *lab, bool spare)
{
	char list[4096] = "";
	size_t len = 0;
	int i;

	for (i = 0; i < lab->n_hosts && len < sizeof(list); i++)
		if (lab->hosts[i].spare == spare)
			len += (size_t)snprintf(list + len, sizeof(list) - len,
						"%s%s", len ? "," : "",
						lab->hosts[i].name);
	if (len >= sizeof(list))
		w->failed = true;
	if (len)
		word(w, spare ? "--spares" : "--hosts"), word(w, "%s", list);
}

static void duration_words(struct words *w, const char *name, int64_t ns)
{
	char buf[32];

	word(w, "--%s", name);
	word(w, "%s", drill_unit_print(ns, DRILL_UNIT_DURATION, buf,
				       sizeof(buf)));
}

static int spread(int64_t ranks, const struct drill_lab *lab)
{
	int hosts = 0, i;

	for (i = 0; i < lab->n_hosts; i++)
		hosts += !lab->hosts[i].spare;
	return hosts ? (int)((ranks + hosts - 1) / hosts) : (int)ranks;
}

/* Each trial has a store of its own, or it would go on from the checkpoints of
 * the one before. */
static const char *store_of(const struct drill_lab *lab, const char *dir,
			    char *buf, size_t size)
{
	const char *name = strrchr(dir, '/');

	snprintf(buf, size, "%s%s", lab->store, name ? name : "");
	mkdir(buf, 0755);
	return buf;
}

static void launcher_words(struct words *w, const struct job_args *a,
			   const struct drill_lab *lab, const char *dir,
			   const char *bin, bool cuda)
{
	char store[600], hook[600], proxy[600];
	bool driver = lab->spec.driver;

	word(w, "%s/launch", bin);
	word(w, "--ranks"), word(w, "%d", (int)a->ranks);
	host_words(w, lab, false);
	host_words(w, lab, true);
	word(w, "--ppn");
	word(w, "%d", a->ppn ? (int)a->ppn : spread(a->ranks, lab));
	word(w, "--dir"), word(w, "%s", dir);
	word(w, "--store"), word(w, "%s", store_of(lab, dir, store,
						    sizeof(store)));
	word(w, "--head"), word(w, "%s", lab->head);
	word(w, "--enter"), word(w, "%s", lab->enter);
	word(w, "--recovery"), word(w, "%s", recoveries[a->recovery]);
	word(w, "--max-no-progress"), word(w, "%d", (int)a->no_progress);
	duration_words(w, "watchdog", a->watchdog);
	duration_words(w, "heartbeat", a->heartbeat);
	word(w, "--log"), word(w, "%s", dir);
	if (a->health) {
		word(w, "--health"), word(w, "%s", healths[a->health]);
		duration_words(w, "health-interval", a->health_interval);
	}
	if (lab->spec.devices)
		word(w, "--devices"), word(w, "%d", lab->spec.devices);
	if (lab->mgmt_if[0])
		word(w, "--control-if"), word(w, "%s", lab->mgmt_if);
	if (lab->data_if[0])
		word(w, "--data-if"), word(w, "%s", lab->data_if);
	snprintf(hook, sizeof(hook), "%.500s/libfaultdrill-mpi.so", bin);
	snprintf(proxy, sizeof(proxy), "%.500s/hooks/cuda/libcuda.so.1", bin);
	/* The proxy takes the next library of this path, else the system's. */
	word(w, "--library-path");
	word(w, "%s%s%s%s%s", cuda ? bin : "", cuda ? "/hooks/cuda" : "",
	     cuda && !driver ? ":" : "", driver ? "" : bin,
	     driver ? "" : "/softcuda");
	if (access(hook, R_OK) < 0)
		hook[0] = '\0';
	if (hook[0] || cuda)
		word(w, "--preload"),
			word(w, "%s%s%s", hook, hook[0] && cuda ? ":" : "",
			     cuda ? proxy : "");
}

static void size_words(struct words *w, const char *name, int64_t n)
{
	if (n)
		word(w, "--%s", name), word(w, "%d", (int)n);
}

static void train_words(struct words *w, json_t *workload,
			const struct job_args *a, const struct drill_lab *lab,
			const char *dir, const char *bin)
{
	char store[600];

	const char *layout = json_string_value(json_object_get(workload,
							       "layout"));

	word(w, "%s/train", bin);
	word(w, "--steps"), word(w, "%d", (int)a->steps);
	word(w, "--checkpoint-every"), word(w, "%d", (int)a->checkpoint_every);
	size_words(w, "hash-every", a->hash_every);
	word(w, "--seed"), word(w, "%d", (int)a->seed);
	word(w, "--store"), word(w, "%s", store_of(lab, dir, store,
						    sizeof(store)));
	duration_words(w, "watchdog", a->watchdog);
	duration_words(w, "step-time", a->step_time);
	size_words(w, "batch", a->batch);
	size_words(w, "seq", a->seq);
	size_words(w, "width", a->width);
	size_words(w, "layers", a->layers);
	size_words(w, "heads", a->heads);
	size_words(w, "vocab", a->vocab);
	if (layout && layout[0])
		word(w, "--layout"), word(w, "%s", layout);
}

static void command_words(struct words *w, json_t *workload)
{
	json_t *cmd = json_object_get(workload, "command"), *v;
	size_t i;

	if (json_is_string(cmd)) {
		word(w, "/bin/sh"), word(w, "-c");
		word(w, "%s", json_string_value(cmd));
	}
	json_array_foreach(cmd, i, v)
		word(w, "%s", json_string_value(v));
}

char **drill_workload_argv(json_t *workload, const struct drill_lab *lab,
			   const char *dir, const char *bin, bool cuda,
			   struct drill_err *err)
{
	struct words *w = calloc(1, sizeof(*w));
	struct job_args args = { 0 };

	if (!w || read_args(workload, &args) < 0) {
		drill_err_set(err, -EINVAL, "workload", "unreadable workload");
		free(w);
		return NULL;
	}
	launcher_words(w, &args, lab, dir, bin, cuda);
	word(w, "--");
	if (json_object_get(workload, "command"))
		command_words(w, workload);
	else
		train_words(w, workload, &args, lab, dir, bin);
	if (w->failed) {
		drill_err_set(err, -E2BIG, "workload", "command line too long");
		drill_workload_argv_free(w->argv);
		return NULL;
	}
	return w->argv; /* the first member: freed as a whole */
}

void drill_workload_argv_free(char **argv)
{
	struct words *w = (struct words *)(void *)argv;
	int i;

	for (i = 0; w && i < w->n; i++)
		free(w->argv[i]);
	free(w);
}
