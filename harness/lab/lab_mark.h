/* lab_mark.h - the mark in a lab's directory: whose it is, and who made it
 * SPDX-License-Identifier: MIT
 *
 * ROOT/NAME/mark, written in one piece when the directory is made:
 *
 *   0123456789abcdef01234567
 *   owner PID START BOOT-ID
 *   cgroup /sys/fs/cgroup/.../faultdrill-NAME.01234567
 *
 * It is all that is needed to remove a lab whose maker is gone, also one that
 * is half made and one whose undo record lies in a folder that nobody names.
 */
#ifndef DRILL_LAB_MARK_H
#define DRILL_LAB_MARK_H

#include "harness/core/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct drill_lab_mark {
	char mark[40];
	pid_t pid; /* of its maker; 0: an older build did not say */
	uint64_t start;
	char boot[40];
	char cgroup[300]; /* "": none */
};

/* Names us as the maker. -EEXIST, -ENOSPC, ...: nothing is there. */
int drill_lab_mark_write(const char *dir, const char *mark, const char *cgroup,
			 struct drill_err *err);
/* False: there is none, or an empty one. */
bool drill_lab_mark_read(const char *dir, struct drill_lab_mark *ret);

/* Does its maker live? True where nobody can say. */
bool drill_lab_mark_owned(const struct drill_lab_mark *m);

/* Held while a directory gets its mark or loses it, so that whoever looks under
 * this lock sees no half of it. A descriptor, yours: close; -ENOENT: no root. */
int drill_lab_root_lock(struct drill_err *err);

#endif
