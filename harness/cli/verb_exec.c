/* verb_exec.c - faultdrill exec: one command with one fault, without a lab
 * SPDX-License-Identifier: MIT
 *
 * The command is the only rank of a job on this machine; agent, keeper and
 * journal are the same as in a drill. We start ourselves once more, in the
 * place where the job is to be, to make the ring that names the process to the
 * agent; then we become the command.
 */
#include "bin.h"
#include "exec_place.h"
#include "exec_tell.h"
#include "load.h"

#include "faultdrill/progress.h"
#include "harness/agent/heal.h"
#include "harness/engine/drill.h"
#include "harness/engine/stream.h"
#include "harness/lab/lab_record.h"
#include "harness/lab/spec.h"
#include "injectors/hooks/devices.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* As a shell says it. */
static int no_command(int why)
{
	return why == ENOENT ? 127 : 126;
}

#define EVENTS_FD 3 /* where a launcher would speak; see jobs.c */

/* To the half of us that started us: no fault of the command. */
static enum drill_outcome give_up(struct drill_err *err)
{
	json_t *e = json_pack("{s:s s:s}", "kind", "error", "reason", err->msg);
	char *text = e ? json_dumps(e, JSON_COMPACT) : NULL;

	if (!text || dprintf(EVENTS_FD, "%s\n", text) < 0)
		drill_cli_fail(err);
	free(text);
	json_decref(e);
	return DRILL_ERROR;
}

static enum drill_outcome become(struct drill_cli *cli, const char *path)
{
	const char *slash = strrchr(path, '/');
	struct faultdrill_ring *ring;
	struct drill_err err = { 0 };
	char bin[400], dir[600] = "";

	if (slash)
		snprintf(dir, sizeof(dir), "%.*s", (int)(slash - path), path);
	setenv("FAULTDRILL_RING", path, 1);
	drill_exec_surround(dir, drill_bin_dir(bin, sizeof(bin)));
	ring = faultdrill_ring_create(path, 0, 0, 1);
	if (!ring) {
		drill_err_errno(&err, errno, "exec", "cannot make %s", path);
		return give_up(&err);
	}
	ring->pid = getpid();
	faultdrill_put(ring, FAULTDRILL_RANK_BEGIN, 0, 0, 0, 0, 0, 0, NULL);
	drill_exec_await(dir);
	unsetenv(DRILL_EXEC_WANT);
	unsetenv("FAULTDRILL_EVENTS_FD");
	fcntl(EVENTS_FD, F_SETFD, FD_CLOEXEC); /* nothing of the command's */
	execvp(cli->rest[0], cli->rest);
	fprintf(stderr, "faultdrill: exec: %s: %s\n", cli->rest[0],
		strerror(errno));
	_exit(no_command(errno));
}

/* Looked for as execvp will; an errno, 0: it is there. */
static int cannot_run(const char *command)
{
	const char *path = getenv("PATH"), *end;
	int why = ENOENT;
	char full[PATH_MAX];

	if (strchr(command, '/'))
		return access(command, X_OK) < 0 ? errno : 0;
	for (path = path ? path : "/bin:/usr/bin"; *path; path = end + !!*end) {
		end = path + strcspn(path, ":");
		snprintf(full, sizeof(full), "%.*s%s%s", (int)(end - path), path,
			 end > path ? "/" : "", command);
		if (access(full, X_OK) == 0)
			return 0;
		if (errno == EACCES)
			why = EACCES;
	}
	return why;
}

/* A scenario of one fault and one command. Takes over @fault. */
static json_t *scenario(struct drill_cli *cli, json_t *fault)
{
	json_t *command = json_array();
	int i;

	for (i = 0; i < cli->n_rest; i++)
		json_array_append_new(command, json_string(cli->rest[i]));
	if (!json_object_get(fault, "at"))
		json_object_set_new(fault, "at",
				    json_pack("{s:s s:i}", "on", "time", "ns",
					      0));
	json_object_del(fault, "id");
	/* The command may use every device, as ranks would, one each. */
	return json_pack("{s:s s:s s:{s:{s:s s:i s:i s:o}} s:{s:o} "
			 "s:{s:i s:i s:i} s:s}", "name", "exec", "file",
			 "--fault", "workloads", "command", "kind", "command",
			 "ranks", 1, "ppn", DRILL_DEVICES, "command", command,
			 "faults", "fault", fault, "trials", "baseline", 0, "null", 0, "fault", 1,
			 "deadline", drill_opt(cli, "deadline") ?: "365d");
}

/* As a shell has it; a Ctrl-C ended the command, whatever we sent it then. */
static int status_of(const struct drill_result *r)
{
	int code = r->signum ? -r->signum : r->job_code;

	return code < 0 ? 128 - code : code;
}

/* The command's own status, unless ours has to be heard. */
static enum drill_outcome conclude(struct drill_cli *cli,
				   const struct drill_result *r)
{
	int hits = drill_exec_count(r->events, "fault.effective");

	if (drill_cli_json(cli))
		drill_cli_print(json_pack("{s:s s:s s:i s:i s:i s:o s:o}",
					  "outcome",
					  drill_outcome_name(r->outcome),
					  "reason", r->reason, "status",
					  status_of(r),
					  "effective", hits, "reverted",
					  drill_exec_count(r->events,
							   "fault.reverted"),
					  "evidence",
					  drill_exec_evidence(r->events),
					  "proxies",
					  drill_exec_proxies(r->events)));
	else
		drill_exec_tell(r->events);
	if (!r->run)
		return r->outcome; /* it was told already */
	if (r->outcome == DRILL_DIRTY || r->outcome == DRILL_ERROR ||
	    r->outcome == DRILL_SKIP || r->outcome == DRILL_FAIL) {
		fprintf(stderr, "faultdrill: exec: %s\n", r->reason);
		return r->outcome;
	}
	if ((hits == 0 || r->outcome == DRILL_INCONCLUSIVE) && !r->signum) {
		fprintf(stderr, "faultdrill: exec: %s%s\n", hits ? "" :
			"the fault never took effect: ", r->reason);
		return DRILL_INCONCLUSIVE;
	}
	return (enum drill_outcome)status_of(r);
}

/* What the command is to have around it: our own other half reads it. */
static void want(struct drill_cli *cli, json_t *fault)
{
	json_t *at = json_object_get(fault, "at");
	const char *in = json_string_value(json_object_get(fault, "injector"));
	const char *on = json_string_value(json_object_get(at, "on"));
	bool call = on && strcmp(on, "call") == 0;
	bool cuda = call || (in && strncmp(in, "device.", 7) == 0);
	bool first = on && (call ||
			    (strcmp(on, "time") == 0 &&
			     json_integer_value(json_object_get(at, "ns")) ==
				     0));
	char words[32];

	snprintf(words, sizeof(words), "%s%s%s",
		 cuda ? "cuda " : "",
		 drill_opt_set(cli, "audit") ? "audit " : "",
		 cuda && first ? "wait" : "");
	setenv(DRILL_EXEC_WANT, words, 1);
}

/* 0: it is none that a host can have. */
static int count_of(const char *text)
{
	char *end;
	long n = strtol(text, &end, 10);

	return end == text || *end || n < 1 || n > DRILL_DEVICES ? 0 : (int)n;
}

/* The devices of this machine's driver, or software ones. */
static void place_devices(struct drill_cli *cli, struct drill_lab_spec *lab)
{
	const char *n = drill_opt(cli, "devices");
	char count[16];

	lab->devices = n ? count_of(n) : drill_devices_of_driver();
	lab->driver = !n && lab->devices > 0;
	if (!lab->devices)
		lab->devices = 1;
	snprintf(count, sizeof(count), "%d", lab->devices);
	if (!lab->driver)
		setenv("FAULTDRILL_DEVICE_COUNT", count, 1);
}

/* A fault without duration that is not one act stays until the end. */
static bool is_held(const struct drill_spec *spec)
{
	const struct drill_spec_fault *f = &spec->faults[0];

	return f->injector->survives != DRILL_SURVIVES_NOTHING &&
	       !json_object_get(f->json, "duration");
}

/* Said once, when it is in force: the command may stand for ever. */
static void tell_held(void *ctx, const struct drill_progress *p)
{
	bool *held = ctx;

	if (*held && p->fired)
		fprintf(stderr, "faultdrill: exec: in force until the command "
				"ends or Ctrl-C; give duration = \"5s\" to "
				"revert it earlier\n");
	*held &= !p->fired;
}

static enum drill_outcome run(struct drill_cli *cli, json_t *doc)
{
	char state[256], bin[512], self[512] = "";
	struct drill_err err = { 0 };
	struct drill_result r;
	struct drill_lab_spec lab;
	struct drill_spec spec;
	char culprit[64];
	bool held;
	enum drill_outcome o;
	struct drill_options opt = {
		.progress = tell_held, .ctx = &held,
		.ops = &drill_lab_local, .lab = &lab, .bin = bin,
		.allow = DRILL_RISK_DISRUPTIVE, .direct = self,
		.kmsg = drill_opt_set(cli, "kmsg"),
		.state = drill_state_dir(drill_opt(cli, "state"), state,
					 sizeof(state)),
		.repeat = "", .seed = drill_stream_fresh_seed() };

	drill_lab_spec_init(&lab);
	lab.hosts = 1;
	place_devices(cli, &lab);
	drill_bin_dir(bin, sizeof(bin));
	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0) {
		drill_err_errno(&err, errno, "exec", "cannot find ourselves");
		return drill_cli_fail(&err);
	}
	if (drill_spec_read(doc, &spec, culprit, &err) < 0) {
		o = drill_cli_fail(&err);
	} else {
		held = is_held(&spec);
		if (drill_run(&spec, &opt, &r, &err) < 0 && !r.run)
			drill_cli_fail(&err);
		o = conclude(cli, &r);
		drill_result_done(&r);
	}
	drill_spec_done(&spec);
	drill_lab_spec_done(&lab);
	return o;
}

enum drill_outcome drill_verb_exec(struct drill_cli *cli)
{
	json_t *faults = json_object_get(cli->opts, "fault");
	const char *text = json_string_value(json_array_get(faults, 0));
	struct drill_err err = { 0 };
	int missing;
	json_t *fault = NULL, *doc;
	enum drill_outcome o;

	if (!cli->rest || cli->n_rest == 0)
		return drill_cli_usage("exec: no command: faultdrill exec "
				       "--fault '...' -- COMMAND");
	if (drill_opt(cli, "ring"))
		return become(cli, drill_opt(cli, "ring"));
	if (!text)
		return drill_cli_usage("exec: no fault: --fault 'host.stop { "
				       "at = at.time \"1s\" }'");
	if (json_array_size(faults) > 1)
		return drill_cli_usage("exec: one fault, not two: more than "
				       "one needs a scenario (faultdrill run)");
	if (drill_opt(cli, "devices") && !count_of(drill_opt(cli, "devices")))
		return drill_cli_usage("exec: --devices is a number from 1 to "
				       "%d", DRILL_DEVICES);
	if (drill_script_fault(text, &fault, &err) < 0)
		return drill_cli_fail(&err);
	missing = cannot_run(cli->rest[0]);
	if (missing) {
		fprintf(stderr, "faultdrill: exec: %s: %s; nothing was "
				"started\n", cli->rest[0], strerror(missing));
		json_decref(fault);
		return (enum drill_outcome)no_command(missing);
	}
	drill_heal_register(drill_lab_revertibles);
	doc = scenario(cli, fault);
	want(cli, fault);
	o = run(cli, doc);
	json_decref(doc);
	return o;
}
