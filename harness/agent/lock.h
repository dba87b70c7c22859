/* lock.h - one drill a host: a lock at a fixed place, whatever --state says
 * SPDX-License-Identifier: MIT
 */
#ifndef DRILL_LOCK_H
#define DRILL_LOCK_H

#include "harness/core/err.h"

#include <jansson.h>

/* Takes the lock @name ("h0" of a lab: "LAB.h0") in /run/faultdrill/lock as
 * root, else in $XDG_RUNTIME_DIR/faultdrill/lock or /tmp/faultdrill-UID/lock.
 * @what is written into it for people ("drill 20260101-1 (pid 12)"). Held:
 * -EBUSY and a text that names the holder. The lock goes with the last process
 * that has the descriptor open: a keeper inherits it. *ret_fd is yours: close. */
int drill_lock_take(const char *name, const char *what, int *ret_fd,
		    struct drill_err *err);

/* Gives it back and removes its file. Only when no keeper holds it any more;
 * -1 is allowed. */
void drill_lock_drop(const char *name, int fd);

/* Removes the files of locks that nobody holds: a killed holder, or one whose
 * keeper outlived it, left them. */
void drill_lock_sweep(void);

/* What was written into each lock that is held and whose name begins so; yours.
 * A text of more than one page is cut. */
json_t *drill_lock_held(const char *prefix);

#endif
