/* recover.h - what follows a failed attempt: one struct of functions each
 * SPDX-License-Identifier: MIT
 */
#ifndef LAUNCH_RECOVER_H
#define LAUNCH_RECOVER_H

#include "job.h"

struct launch_recovery {
	const char *name; /* of --recovery */
	const char *doc;  /* one sentence with a full stop */
	/* All older attempts are fenced, hosts that could not be are .lost.
	 * Decides where the next attempt runs (job.place) and tells what it
	 * allocated. -EAGAIN: a host is missing, ask again later. NULL: not
	 * yet there. */
	int (*next)(struct launch_job *j, struct drill_err *err);
};

/* NULL with @err set when unknown or not yet there. */
const struct launch_recovery *launch_recovery_find(const char *name,
						   struct drill_err *err);

#endif
