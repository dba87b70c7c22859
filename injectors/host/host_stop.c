/* host_stop.c - a rank's process is stopped: it lives and does nothing
 * SPDX-License-Identifier: MIT
 *
 * SIGSTOP, and SIGCONT on the way back. A stopped process outlives whoever
 * stopped it, so the keeper holds its pidfd.
 */
#include "host_process.h"

#include "harness/agent/process.h"

#include <errno.h>
#include <signal.h>
#include <time.h>

static const char who[] = "host.stop";

#define SAMPLE_NS 3000000

static const struct drill_param params[] = { { 0 } };

static int probe(const struct drill_act *act, struct drill_err *err)
{
	int rc = drill_host_probe(act, who, err);

	if (rc == 0 && drill_process_state(act->target->process.pid) == 'T')
		return drill_err_set(err, -EBUSY, who,
				     "'%s' is stopped already, not by us",
				     act->target->name);
	return rc;
}

static int apply(struct drill_act *act, struct drill_err *err)
{
	struct drill_process p;
	int rc;

	rc = drill_host_target(act->record, &p, err);
	if (rc == 0)
		rc = drill_record_original(act->record, "state", "running",
					   "T", err);
	if (rc == 0)
		rc = drill_record_hold(act->record, "process", p.pidfd, err);
	if (rc == 0)
		rc = drill_record_commit(act->record, err);
	if (rc == 0) {
		act->before_ns = drill_raw_ns(act->clock);
		rc = drill_process_signal(&p, SIGSTOP, err);
		act->after_ns = drill_raw_ns(act->clock);
	}
	drill_process_close(&p);
	return rc;
}

/* State T is the read-back; that no CPU time passes is the effect. */
static int verify(struct drill_act *act, struct drill_err *err)
{
	struct drill_err gone = { 0 };
	struct drill_process p;
	char state[2] = { 0 };
	bool still = false;
	int rc = drill_host_target(act->record, &p, &gone);

	if (rc == 0) {
		state[0] = drill_process_state(p.pid);
		still = state[0] == 'T' && drill_host_still(p.pid, SAMPLE_NS);
	}
	drill_process_close(&p);
	if (rc < 0 && rc != -ESRCH)
		return drill_err_set(err, rc, who, "%s", gone.msg);
	json_object_set_new(act->evidence, "state",
			    json_string(rc < 0 ? "gone" : state));
	json_object_set_new(act->evidence, "cpu_time_stands",
			    json_boolean(still));
	return still;
}

/* Until the kernel has woken it; a frozen one stays in T, and that is not ours
 * to wait for. */
static void wait_running(pid_t pid)
{
	struct timespec t = { .tv_nsec = 1000000 };
	int i;

	for (i = 0; i < 200 && drill_process_state(pid) == 'T'; i++)
		nanosleep(&t, NULL);
}

static int revert(const struct drill_record *record, struct drill_err *err)
{
	struct drill_err why = { 0 };
	struct drill_process p;
	int rc;

	rc = drill_host_target(record, &p, &why);
	if (rc == 0) {
		rc = drill_process_signal(&p, SIGCONT, &why);
		if (rc == 0)
			wait_running(p.pid);
	}
	drill_process_close(&p);
	/* Resuming a dead rank is no error. */
	return rc == -ESRCH || rc == 0
		       ? 0
		       : drill_err_set(err, rc, who, "%s", why.msg);
}

const struct drill_injector drill_host_stop = {
	.name = who,
	.doc = "A rank's process is stopped and later goes on.",
	.class = DRILL_CLASS_HANG,
	.fidelity = DRILL_FIDELITY_PROCESS,
	.survives = DRILL_SURVIVES_PROCESS,
	.risk = DRILL_RISK_CONTAINED,
	.targets = DRILL_TARGET_RANK,
	.stands_for = (const char *const[]){ "Job hang", "NCCL watchdog timeout",
					     NULL },
	.needs = (const char *const[]){ "cap:kill", NULL },
	.params = params,
	.probe = probe,
	.apply = apply,
	.verify = verify,
	.revert = revert,
};
