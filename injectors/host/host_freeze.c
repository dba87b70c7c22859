/* host_freeze.c - a rank, or all of a host, is frozen by the cgroup freezer
 * SPDX-License-Identifier: MIT
 *
 * A host's cgroup is ours, so its own switch is used. A rank is moved to a
 * cgroup of its own beside its siblings, named after our mark, and back. The
 * way back goes through the cgroup, so it also finds a process that came into
 * it later. With version 1 a frozen process does not even die of SIGKILL: thaw
 * first.
 */
#include "freezer.h"
#include "host_process.h"

#include "harness/agent/process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char who[] = "host.freeze";

#define SAMPLE_NS 3000000

static const struct drill_param params[] = { { 0 } };

static bool is_rank(const struct drill_target *t)
{
	return t->process.pid > 0;
}

static int probe(const struct drill_act *act, struct drill_err *err)
{
	const struct drill_target *t = act->target;
	struct drill_freezer f;
	char dir[400];
	int rc = drill_freezer_find(&f, err);

	if (rc < 0)
		return rc;
	if (is_rank(t))
		rc = drill_host_probe(act, who, err);
	else if (!t->cgroup[0])
		rc = drill_err_set(err, -EOPNOTSUPP, who,
				   "'%s' has no cgroup of its own", t->name);
	if (rc == 0 && is_rank(t))
		rc = drill_freezer_of(&f, t->process.pid, dir, sizeof(dir), err);
	else
		snprintf(dir, sizeof(dir), "%s", t->cgroup);
	if (rc == 0 && access(dir, W_OK) < 0)
		rc = drill_err_errno(err, errno, who, "cgroup '%s'", dir);
	if (rc == 0 && drill_freezer_get(f.version, dir, NULL) > 0)
		rc = drill_err_set(err, -EBUSY, who,
				   "'%s' is frozen already, not by us", dir);
	return rc;
}

/* Where a rank comes from and where it goes; nothing is changed yet. */
static int record_rank(struct drill_act *act, const struct drill_freezer *f,
		       char *dir, int size, struct drill_err *err)
{
	struct drill_process p;
	char from[300];
	int rc = drill_host_target(act->record, &p, err);

	if (rc == 0)
		rc = drill_freezer_of(f, p.pid, from, sizeof(from), err);
	if (rc == 0)
		rc = drill_record_hold(act->record, "process", p.pidfd, err);
	drill_process_close(&p);
	if (rc < 0)
		return rc;
	snprintf(dir, size, "%s/%s", from, drill_record_mark(act->record));
	return drill_record_put(act->record, "from", from, err);
}

static int record(struct drill_act *act, const struct drill_freezer *f,
		  char *dir, int size, struct drill_err *err)
{
	int rc = 0;

	if (is_rank(act->target))
		rc = record_rank(act, f, dir, size, err);
	else
		snprintf(dir, size, "%s", act->target->cgroup);
	if (rc == 0)
		rc = drill_record_put(act->record, "cgroup", dir, err);
	if (rc == 0)
		rc = drill_record_put_int(act->record, "version", f->version,
					  err);
	if (rc == 0)
		rc = drill_record_original(act->record, "frozen", "0", "1",
					   err);
	return rc == 0 ? drill_record_commit(act->record, err) : rc;
}

static int apply(struct drill_act *act, struct drill_err *err)
{
	struct drill_freezer f;
	char dir[400];
	int rc;

	rc = drill_freezer_find(&f, err);
	if (rc == 0)
		rc = record(act, &f, dir, sizeof(dir), err);
	if (rc < 0)
		return rc;
	if (is_rank(act->target)) {
		if (mkdir(dir, 0755) < 0)
			return drill_err_errno(err, errno, who,
					       "cannot make '%s'", dir);
		rc = drill_freezer_move(dir, act->target->process.pid, err);
	}
	act->before_ns = drill_raw_ns(act->clock);
	if (rc == 0)
		rc = drill_freezer_set(f.version, dir, true, err);
	act->after_ns = drill_raw_ns(act->clock);
	return rc;
}

/* The switch is the read-back; that no CPU time passes is the effect. */
static int verify(struct drill_act *act, struct drill_err *err)
{
	const char *dir = drill_record_get(act->record, "cgroup");
	int version = drill_record_get_int(act->record, "version", 2);
	bool done = false, still;
	pid_t pid;
	int rc;

	if (!dir)
		return 0;
	rc = drill_freezer_get(version, dir, &done);
	json_object_set_new(act->evidence, "frozen", json_boolean(rc > 0));
	json_object_set_new(act->evidence, "cgroup", json_string(dir));
	if (rc == -ENOENT) /* of a rank: gone with what was in it */
		return 0;
	if (rc < 0)
		return drill_err_errno(err, -rc, who, "cannot read '%s'", dir);
	pid = drill_freezer_member(dir);
	still = pid <= 0 || drill_host_still(pid, SAMPLE_NS);
	json_object_set_new(act->evidence, "cpu_time_stands",
			    json_boolean(still));
	return rc > 0 && done && still;
}

/* Back to where they came from, and the cgroup of ours away. */
static int put_back(const char *dir, const char *from, struct drill_err *err)
{
	struct drill_err gone = { 0 };
	pid_t pid;
	int rc, i;

	for (i = 0; i < 10000 && (pid = drill_freezer_member(dir)) > 0; i++) {
		rc = drill_freezer_move(from, pid, &gone);
		if (rc < 0 && rc != -ESRCH)
			return drill_err_set(err, rc, who, "%s", gone.msg);
	}
	/* A zombie keeps a cgroup busy although it is in nobody's list. */
	for (i = 0; i < 1000; i++) {
		if (rmdir(dir) == 0 || errno == ENOENT)
			return 0;
		if (errno != EBUSY)
			break;
		usleep(1000);
	}
	return drill_err_errno(err, errno, who, "cannot remove '%s'", dir);
}

static int revert(const struct drill_record *record, struct drill_err *err)
{
	const char *dir = drill_record_get(record, "cgroup");
	const char *from = drill_record_get(record, "from");
	int version = drill_record_get_int(record, "version", 2), rc;

	if (!dir)
		return 0;
	rc = drill_freezer_get(version, dir, NULL);
	if (rc == -ENOENT)
		return 0;
	if (rc != 0) {
		rc = drill_freezer_set(version, dir, false, err);
		if (rc < 0)
			return rc;
	}
	return from ? put_back(dir, from, err) : 0;
}

const struct drill_injector drill_host_freeze = {
	.name = who,
	.doc = "A rank or a whole host is frozen and later thawed.",
	.class = DRILL_CLASS_HANG,
	.fidelity = DRILL_FIDELITY_KERNEL,
	.survives = DRILL_SURVIVES_PROCESS,
	.risk = DRILL_RISK_CONTAINED,
	.targets = DRILL_TARGET_RANK | DRILL_TARGET_HOST,
	.stands_for = (const char *const[]){ "Job hang",
					     "Unplanned host maintenance",
					     NULL },
	.needs = (const char *const[]){ "cgroup:freezer", NULL },
	.params = params,
	.probe = probe,
	.apply = apply,
	.verify = verify,
	.revert = revert,
};
