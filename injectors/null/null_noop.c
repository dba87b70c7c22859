/* null_noop.c - does nothing to anybody, through the whole life of a fault
 * SPDX-License-Identifier: MIT
 *
 * The fault of a null trial, which shows what the harness itself costs, and the
 * example of how an injector is written: injectors/README.md points here. All
 * it changes is a file with our mark in the trial's own directory, which nobody
 * reads. It is there so that record, read-back and way back are real.
 */
#include "injectors/injector.h"

#include "harness/agent/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char who[] = "null.noop";

/* What the rows below fill: plain C, checked and bounded before any hook runs. */
struct noop_args {
	int64_t bite_ns;
};

static const struct drill_param params[] = {
	{ .name = "bite",
	  .type = DRILL_DURATION,
	  .offset = offsetof(struct noop_args, bite_ns),
	  .def = "0ms",
	  .max = INT64_C(60000000000),
	  .doc = "Time from the act until it counts as in force." },
	{ 0 },
};

/* The file as it is now. -ENOENT: there is none. */
static int read_back(const char *path, char *buf, int size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = read(fd, buf, size - 1);
	close(fd);
	if (n < 0)
		return -EIO;
	buf[n] = 0;
	return 0;
}

/* Required. Changes nothing; a "no" is a skip, and the text is its reason. */
static int probe(const struct drill_act *act, struct drill_err *err)
{
	if (access(act->target->dir, W_OK) < 0)
		return drill_err_errno(err, errno, who,
				       "needs a writable trial directory, '%s'",
				       act->target->dir);
	return 0;
}

static int write_mark(const char *path, const char *text, struct drill_err *err)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	ssize_t n = strlen(text);

	if (fd < 0)
		return drill_err_errno(err, errno, who, "cannot make '%s'",
				       path);
	if (write(fd, text, n) != n || close(fd) < 0)
		return drill_err_errno(err, errno, who, "cannot write '%s'",
				       path);
	return 0;
}

/* Required. First the record, durable when commit returns; then the change;
 * the two clock readings lie as close around it as they can. */
static int apply(struct drill_act *act, struct drill_err *err)
{
	const struct noop_args *a = act->args;
	const char *mark = drill_record_mark(act->record);
	char path[400], ours[128];
	int rc;

	snprintf(path, sizeof(path), "%s/%s.noop", act->target->dir, mark);
	snprintf(ours, sizeof(ours), "%s %" PRId64 "\n", mark,
		 drill_raw_ns(act->clock) + a->bite_ns);
	rc = drill_record_original(act->record, path, "", ours, err);
	if (rc == 0)
		rc = drill_record_put(act->record, "path", path, err);
	if (rc == 0)
		rc = drill_record_commit(act->record, err);
	if (rc < 0)
		return rc;
	act->before_ns = drill_raw_ns(act->clock);
	rc = write_mark(path, ours, err);
	act->after_ns = drill_raw_ns(act->clock);
	return rc;
}

/* Required. 1 in force, 0 not, negative: cannot tell. Asks the system, never
 * our memory; @act->args may be NULL, the record says all. */
static int verify(struct drill_act *act, struct drill_err *err)
{
	const char *path = drill_record_get(act->record, "path");
	const char *ours;
	char now[128];
	int rc;

	if (!path) /* the record never became durable, so nothing was changed */
		return 0;
	ours = drill_record_get_ours(act->record, path);
	rc = read_back(path, now, sizeof(now));
	if (rc == -ENOENT)
		return 0;
	if (rc < 0 || !ours)
		return drill_err_errno(err, -rc, who, "cannot read '%s'", path);
	json_object_set_new(act->evidence, "read_back", json_string(now));
	return !strcmp(now, ours) &&
	       drill_raw_ns(act->clock) >= strtoll(strchr(now, ' '), NULL, 10);
}

/* Required. From the record alone; twice is a no-op; what is not ours is left
 * alone and called dirty. */
static int revert(const struct drill_record *record, struct drill_err *err)
{
	const char *path = drill_record_get(record, "path");
	const char *ours = path ? drill_record_get_ours(record, path) : NULL;
	char now[128];
	int rc;

	if (!path)
		return 0;
	rc = read_back(path, now, sizeof(now));
	if (rc == -ENOENT)
		return 0;
	if (rc < 0)
		return drill_err_errno(err, -rc, who, "cannot read '%s'", path);
	/* Empty or half written: we were killed in the middle of it. */
	if (!ours || strncmp(ours, now, strlen(now)))
		return drill_err_set(err, -EUCLEAN, who,
				     "foreign change of '%s'", path);
	if (unlink(path) < 0 && errno != ENOENT)
		return drill_err_errno(err, errno, who, "cannot remove '%s'",
				       path);
	return 0;
}

const struct drill_injector drill_null_noop = {
	.name = who,
	.doc = "Does nothing: shows what the harness itself costs.",
	.class = DRILL_CLASS_CONTROL,
	.fidelity = DRILL_FIDELITY_PROCESS,
	.survives = DRILL_SURVIVES_BOOT,
	.risk = DRILL_RISK_NONE,
	.targets = DRILL_TARGET_RANK | DRILL_TARGET_HOST |
		   DRILL_TARGET_DEVICE,
	.stands_for = (const char *const[]){ NULL },
	.needs = (const char *const[]){ NULL },
	.params = params,
	.args_size = sizeof(struct noop_args),
	.probe = probe,
	.apply = apply,
	.verify = verify,
	.revert = revert,
};
