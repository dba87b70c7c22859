/* host_kill.c - a rank's process gets a signal that ends it
 * SPDX-License-Identifier: MIT
 *
 * Nothing is held and nothing can be brought back. The record is there all the
 * same: after a crash it says what was done to whom.
 */
#include "host_process.h"

#include "harness/agent/process.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>

static const char who[] = "host.kill";

#define DEATH_MS 50

struct kill_args {
	int signal; /* index into signals */
};

static const char *const signals[] = { "KILL", "TERM", "INT",  "QUIT",
				       "ABRT", "SEGV", "BUS",  "FPE",
				       "ILL",  "HUP",  "USR1", "USR2",
				       NULL };
static const int numbers[] = { SIGKILL, SIGTERM, SIGINT, SIGQUIT,
			       SIGABRT, SIGSEGV, SIGBUS, SIGFPE,
			       SIGILL,	SIGHUP,	 SIGUSR1, SIGUSR2 };

static const struct drill_param params[] = {
	{ .name = "signal",
	  .type = DRILL_ENUM,
	  .offset = offsetof(struct kill_args, signal),
	  .def = "KILL",
	  .values = signals,
	  .doc = "The signal that is sent; it counts once the process is gone." },
	{ 0 },
};

static int probe(const struct drill_act *act, struct drill_err *err)
{
	return drill_host_probe(act, who, err);
}

static int apply(struct drill_act *act, struct drill_err *err)
{
	const struct kill_args *a = act->args;
	struct drill_process p;
	int rc;

	rc = drill_host_target(act->record, &p, err);
	if (rc == 0)
		rc = drill_record_put(act->record, "signal", signals[a->signal],
				      err);
	if (rc == 0)
		rc = drill_record_hold(act->record, "process", p.pidfd, err);
	if (rc == 0)
		rc = drill_record_commit(act->record, err);
	if (rc == 0) {
		act->before_ns = drill_raw_ns(act->clock);
		rc = drill_process_signal(&p, numbers[a->signal], err);
		act->after_ns = drill_raw_ns(act->clock);
	}
	/* From here on it runs no instruction of its own; that its memory and
	 * sockets are gone takes the kernel a moment more. Waiting for that
	 * here keeps the act's own bracket as the instant of the effect. */
	if (rc == 0)
		poll(&(struct pollfd){ .fd = p.pidfd, .events = POLLIN }, 1,
		     DEATH_MS);
	drill_process_close(&p);
	return rc;
}

/* Gone, a zombie included: asked of the kernel, not of who waits for it. */
static int verify(struct drill_act *act, struct drill_err *err)
{
	struct drill_err gone = { 0 };
	struct drill_process p;
	char state[2] = { 0 };
	int rc = drill_host_target(act->record, &p, &gone);

	if (rc == 0)
		state[0] = drill_process_state(p.pid);
	drill_process_close(&p);
	if (rc == -EUCLEAN)
		return drill_err_set(err, rc, who, "%s", gone.msg);
	json_object_set_new(act->evidence, "process",
			    json_string(rc == -ESRCH ? "gone" : state));
	return rc == -ESRCH;
}

static int revert(const struct drill_record *record, struct drill_err *err)
{
	(void)record;
	(void)err;
	return 0;
}

const struct drill_injector drill_host_kill = {
	.name = who,
	.doc = "A rank's process is ended by a signal.",
	.class = DRILL_CLASS_FAIL_STOP,
	.fidelity = DRILL_FIDELITY_PROCESS,
	.survives = DRILL_SURVIVES_NOTHING,
	.risk = DRILL_RISK_DISRUPTIVE,
	.targets = DRILL_TARGET_RANK,
	.stands_for = (const char *const[]){ "Software bug", "System memory",
					     "CUDA error", NULL },
	.needs = (const char *const[]){ "cap:kill", NULL },
	.params = params,
	.args_size = sizeof(struct kill_args),
	.probe = probe,
	.apply = apply,
	.verify = verify,
	.revert = revert,
};
