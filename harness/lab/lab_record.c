/* lab_record.c - how a lab is removed from what its undo record says
 * SPDX-License-Identifier: MIT
 *
 * The mark is in the cgroup's name, in the directory and in the environment of
 * every process of a job: nothing that lacks it is touched.
 */
#include "lab_record.h"

#include "cgroup.h"
#include "lab_dir.h"
#include "lab_mark.h"
#include "marked.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char who[] = "lab";

#define GONE_MS 10000

/* "faultdrill-NAME.MARK": ours by the mark's first eight digits. */
static bool ours(const char *cgroup, const char *mark)
{
	const char *base = strrchr(cgroup, '/'), *dot;

	if (!base || strncmp(base, "/faultdrill-", 12) != 0)
		return false;
	dot = strrchr(base, '.');
	return dot && strlen(mark) >= 8 && strncmp(dot + 1, mark, 8) == 0 &&
	       strlen(dot + 1) == 8;
}

/* Its processes and cgroups. */
static int end(const char *mark, const char *cgroup, struct drill_err *err)
{
	if (*cgroup && !ours(cgroup, mark))
		return drill_err_set(err, -EUCLEAN, who,
				     "cgroup '%s' does not carry our mark: "
				     "left alone",
				     cgroup);
	return *cgroup ? drill_cgroup_remove(cgroup, GONE_MS, err)
		       : drill_marked_kill_all(mark, err);
}

int drill_lab_remove(const char *dir, const char *mark, const char *cgroup,
		     struct drill_err *err)
{
	int rc = end(mark, cgroup, err);

	return rc < 0 ? rc : drill_lab_dir_remove(dir, mark, err);
}

static const char *value(const struct drill_record *r, const char *key)
{
	const char *s = drill_record_get(r, key);

	return s ? s : "";
}

static int verify(const struct drill_record *r, struct drill_err *err)
{
	const char *cgroup = value(r, "cgroup");

	(void)err;
	return drill_lab_dir_has(value(r, "dir"), value(r, "lab_mark")) ||
	       (*cgroup && access(cgroup, F_OK) == 0);
}

/* A lab of that name which is another's by now is not in our way: ours is gone. */
static bool replaced(const char *dir, const char *mark)
{
	struct drill_lab_mark m;

	return drill_lab_mark_read(dir, &m) && strcmp(m.mark, mark) != 0;
}

/* Another boot: the processes are gone, and a cgroup of this name is not. */
static int revert(const struct drill_record *r, struct drill_err *err)
{
	if (!*value(r, "lab_mark") || !*value(r, "dir"))
		return drill_err_set(err, -EUCLEAN, who,
				     "the record does not say which lab");
	if (replaced(value(r, "dir"), value(r, "lab_mark")))
		return end(value(r, "lab_mark"), value(r, "cgroup"), err);
	return drill_lab_remove(value(r, "dir"), value(r, "lab_mark"),
				value(r, "cgroup"), err);
}

const struct drill_revertible drill_lab_revertibles[] = {
	{drill_lab_netns_kind, verify, revert},
	{drill_lab_local_kind, verify, revert},
	{0},
};
