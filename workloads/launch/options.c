/* options.c - what the launcher's command line says: one table
 * SPDX-License-Identifier: MIT
 */
#include "options.h"

#include "harness/core/unit.h"

#include <errno.h>
#include <string.h>

#define OPTION(text, kind, field, value, ...)                                  \
	{.name = text, .type = DRILL_##kind,                                   \
	 .offset = offsetof(struct launch_options, field), .def = value,       \
	 __VA_ARGS__}
#define FROM_1 .min = 1, .max = 1000000
#define MINUTE INT64_C(60000000000)

static const char who[] = "launch";

static const struct drill_param table[] = {
	OPTION("ranks", INT, ranks, NULL, FROM_1, .doc = "Ranks of the job."),
	OPTION("hosts", STRING, hosts, "local",
	       .doc = "Hosts with commas; rank i runs on number i / ppn."),
	OPTION("spares", STRING, spares, "",
	       .doc = "Hosts that stand by to replace a lost one."),
	OPTION("ppn", INT, ppn, "1", FROM_1, .doc = "Ranks on each host."),
	OPTION("devices", INT, devices, "0", .max = 1000,
	       .doc = "Devices of a host; 0: FAULTDRILL_DEVICE_COUNT or ppn."),
	OPTION("dir", STRING, dir, NULL,
	       .doc = "The trial's folder: rings, host files, scratch."),
	OPTION("store", STRING, store, "",
	       .doc = "The shared store, told to ranks as FAULTDRILL_STORE."),
	OPTION("log", STRING, log, "",
	       .doc = "Folder for one log a rank and attempt; else stdout."),
	OPTION("head", STRING, head, "127.0.0.1",
	       .doc = "Our IPv4 address on the management network."),
	OPTION("enter", STRING, enter, "",
	       .doc = "Remote shell: CMD HOST COMMAND...; empty: all is here."),
	OPTION("recovery", STRING, recovery, "restart",
	       .doc = "What follows a failure; only restart so far."),
	OPTION("max-no-progress", INT, max_no_progress, "3", FROM_1,
	       .doc = "Attempts in a row with no new step, then gave_up."),
	OPTION("watchdog", DURATION, watchdog_ns, "5s", .max = 60 * MINUTE,
	       .doc = "The job's collective time-out; 0s: it has none."),
	OPTION("heartbeat", DURATION, heartbeat_ns, "500ms", .min = 1000000,
	       .max = MINUTE, .doc = "How often a rank starter reports."),
	OPTION("silence", DURATION, silence_ns, "0s", .max = 60 * MINUTE,
	       .doc = "Silent that long is lost; 0s: 6 heartbeats, from 2s."),
	OPTION("start-timeout", DURATION, start_ns, "60s", .min = 1000000,
	       .max = 60 * MINUTE, .doc = "All ranks must be there by then."),
	OPTION("host-wait", DURATION, host_wait_ns, "30s", .max = 60 * MINUTE,
	       .doc = "Wait for a lost host when there is no spare."),
	OPTION("health", STRING, health, "off",
	       .doc = "Watch devices: off, nvml, xid (kernel log) or both."),
	OPTION("health-interval", DURATION, health_interval_ns, "1s",
	       .min = 10000000, .max = 60 * MINUTE,
	       .doc = "How often NVML is asked; the log is read at once."),
	OPTION("preload", STRING, preload, "",
	       .doc = "Library put first in the LD_PRELOAD of each rank."),
	OPTION("library-path", STRING, library_path, "",
	       .doc = "Folder put first in each rank's LD_LIBRARY_PATH."),
	OPTION("control-if", STRING, control_if, "",
	       .doc = "mpirun's own network; default: the one of --head."),
	OPTION("data-if", STRING, data_if, "",
	       .doc = "The ranks' network; default: all but --control-if."),
	{0},
};

const struct drill_param *launch_options_table(void)
{
	return table;
}

/* Collects "--name value" and "--name=value" up to "--". */
static int collect(json_t *obj, char ***argv, struct drill_err *err)
{
	char **a = *argv, *eq;

	for (; *a && strcmp(*a, "--") != 0; a++) {
		if (strcmp(*a, "--help") == 0)
			return 1;
		if (strncmp(*a, "--", 2) != 0)
			return drill_err_set(err, -EINVAL, who,
					     "'%s' is no option (the command "
					     "comes after --)", *a);
		eq = strchr(*a, '=');
		if (eq)
			*eq = '\0';
		else if (!a[1])
			return drill_err_set(err, -EINVAL, who,
					     "'%s' needs a value", *a);
		if (json_object_set_new(obj, *a + 2,
					json_string(eq ? eq + 1 : a[1])) < 0)
			return drill_err_set(err, -EINVAL, who,
					     "'%s' is not UTF-8", *a);
		a += !eq;
	}
	*argv = *a ? a + 1 : a;
	return 0;
}

static int judge_health(const char *word, struct drill_err *err)
{
	static const char *const words[] = {"off", "nvml", "xid", "both", NULL};
	const char *near;
	int i;

	for (i = 0; words[i]; i++)
		if (strcmp(words[i], word) == 0)
			return 0;
	near = drill_nearest(word, words);
	return drill_err_set(err, -EINVAL, who,
			     "'health' is off, nvml, xid or both, not "
			     "'%.20s'%s%s%s", word,
			     near ? ", did you mean '" : "", near ? near : "",
			     near ? "'?" : "");
}

static int judge(const struct launch_options *o, struct drill_err *err)
{
	int64_t hosts = 1;
	const char *p;

	if (!o->command[0])
		return drill_err_set(err, -EINVAL, who,
				     "no command (it comes after --)");
	if (o->dir[0] != '/')
		return drill_err_set(err, -EINVAL, who,
				     "'dir' must be an absolute path, not '%s'",
				     o->dir);
	for (p = o->hosts; (p = strchr(p, ',')); p++)
		hosts++;
	if (hosts * o->ppn < o->ranks)
		return drill_err_set(err, -EINVAL, who,
				     "%d ranks do not fit on %d hosts of %d",
				     (int)o->ranks, (int)hosts, (int)o->ppn);
	return judge_health(o->health, err);
}

int launch_options_parse(struct launch_options *o, int argc, char **argv,
			 struct drill_err *err)
{
	char **rest = argv + (argc > 0);
	int rc;

	*o = (struct launch_options){.parsed = json_object()};
	if (!o->parsed)
		return drill_err_set(err, -ENOMEM, who, "no memory");
	rc = collect(o->parsed, &rest, err);
	if (rc != 0)
		return rc;
	rc = drill_params_parse(table, who, o->parsed, o, err);
	if (rc < 0)
		return rc;
	o->command = rest;
	if (o->silence_ns == 0)
		o->silence_ns = 6 * o->heartbeat_ns;
	if (o->silence_ns < INT64_C(2000000000))
		o->silence_ns = INT64_C(2000000000);
	return judge(o, err);
}

void launch_options_done(struct launch_options *o)
{
	json_decref(o->parsed);
	o->parsed = NULL;
}
