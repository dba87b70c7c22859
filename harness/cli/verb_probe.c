/* verb_probe.c - faultdrill probe: which labs and faults could work here
 * SPDX-License-Identifier: MIT
 *
 * Each injector's own probe is asked about a child that only waits; a probe
 * changes nothing.
 */
#include "load.h"

#include "harness/agent/process.h"
#include "harness/lab/spec.h"
#include "injectors/injector.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static void say(json_t *out, const char *what, const char *name, bool ok,
		const char *why)
{
	json_array_append_new(out, json_pack("{s:s s:s s:b s:s}", "what", what,
					     "name", name, "ok", ok, "reason",
					     ok ? "" : why));
}

static void probe_labs(json_t *out)
{
	static const struct drill_lab_ops *const labs[] = { &drill_lab_netns,
							    &drill_lab_local };
	struct drill_lab_spec spec;
	size_t i;

	for (i = 0; i < 2; i++) {
		struct drill_err err = { 0 };

		drill_lab_spec_init(&spec);
		say(out, "lab", labs[i]->name,
		    labs[i]->probe(&spec, &err) == 0, err.msg);
		drill_lab_spec_done(&spec);
	}
}

static pid_t waiting_child(void)
{
	pid_t parent = getpid(), pid = fork();

	if (pid != 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (getppid() == parent)
		pause();
	_exit(0);
}

static void probe_one(json_t *out, const struct drill_injector *inj,
		      const struct drill_target *base)
{
	struct drill_target target = *base;
	struct drill_err err = { 0 };
	void *args = calloc(1, inj->args_size + 1);
	json_t *none = json_object(), *evidence = json_object();
	struct drill_act act = { .args = args, .target = &target,
				 .evidence = evidence,
				 .clock = drill_clock_system() };
	bool ok = false;

	if (inj->missing) {
		say(out, "fault", inj->name, false, inj->missing);
	} else if (args) {
		drill_params_parse(inj->params, inj->name, none, args, NULL);
		ok = inj->probe(&act, &err) == 0;
		say(out, "fault", inj->name, ok, err.msg);
	}
	json_decref(none);
	json_decref(evidence);
	free(args);
}

static int probe_all(json_t *out, pid_t pid, const char *dir,
		     struct drill_err *err)
{
	const struct drill_injector *const *p;
	struct drill_target t = { .kind = DRILL_TARGET_RANK, .name = "rank 0",
				  .process = { .pidfd = -1 } };
	int rc = drill_process_open(pid, &t.process, err);

	if (rc < 0)
		return rc;
	snprintf(t.dir, sizeof(t.dir), "%s", dir);
	for (p = drill_injectors(); *p; p++)
		probe_one(out, *p, &t);
	drill_process_close(&t.process);
	return 0;
}

static int probe_with_child(json_t *out, const char *dir, struct drill_err *err)
{
	pid_t pid = waiting_child();
	int rc;

	if (pid < 0)
		return drill_err_errno(err, errno, "probe",
				       "cannot start a process to ask about");
	rc = probe_all(out, pid, dir, err);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return rc;
}

static int probe_faults(json_t *out, struct drill_err *err)
{
	const char *tmp = getenv("TMPDIR");
	char dir[128];
	int rc;

	if (snprintf(dir, sizeof(dir), "%s/faultdrill-probe-XXXXXX",
		     tmp && *tmp ? tmp : "/tmp") >= (int)sizeof(dir) ||
	    !mkdtemp(dir))
		return drill_err_errno(err, errno, "probe",
				       "cannot make a folder in '%.80s'",
				       tmp && *tmp ? tmp : "/tmp");
	rc = probe_with_child(out, dir, err);
	rmdir(dir);
	return rc;
}

enum drill_outcome drill_verb_probe(struct drill_cli *cli)
{
	json_t *out = json_array(), *v;
	struct drill_err err = { 0 };
	size_t i;

	probe_labs(out);
	if (probe_faults(out, &err) < 0) {
		json_decref(out);
		return drill_cli_fail(&err);
	}
	if (drill_cli_json(cli)) {
		drill_cli_print(out);
		return DRILL_PASS;
	}
	json_array_foreach(out, i, v)
		printf("%-6s %-20s %s%s\n",
		       json_string_value(json_object_get(v, "what")),
		       json_string_value(json_object_get(v, "name")),
		       json_is_true(json_object_get(v, "ok")) ? "works"
							       : "no: ",
		       json_string_value(json_object_get(v, "reason")));
	json_decref(out);
	return DRILL_PASS;
}
