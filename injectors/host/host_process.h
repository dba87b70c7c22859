/* host_process.h - what the injectors that act on one rank's process share
 * SPDX-License-Identifier: MIT
 */
#ifndef DRILL_HOST_PROCESS_H
#define DRILL_HOST_PROCESS_H

#include "harness/agent/journal.h"

/* The target must be a living process of which we know pid and start time.
 * Puts what is read into act->target's own words in @err. */
int drill_host_probe(const struct drill_act *act, const char *who,
		     struct drill_err *err);

/* The process that a record is about, through the descriptor that was held for
 * it or else by its identity. -ESRCH: gone. -EUCLEAN: nobody can say. Yours:
 * drill_process_close. */
int drill_host_target(const struct drill_record *r, struct drill_process *ret,
		      struct drill_err *err);

/* CPU time of a whole process in ns, exact to the scheduler; -1 when gone. */
int64_t drill_host_cpu_ns(pid_t pid);

/* Does it use no CPU time over @sample_ns? Sleeps that long. */
bool drill_host_still(pid_t pid, int64_t sample_ns);

#endif
