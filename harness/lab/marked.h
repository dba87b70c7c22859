/* marked.h - processes that carry a lab's mark in their environment
 * SPDX-License-Identifier: MIT
 *
 * Whatever a launcher starts, over mpirun and into hosts, inherits one variable
 * that names lab and job. By it, and by nothing else, a job's processes are
 * found: pids and names are other people's too.
 */
#ifndef DRILL_MARKED_H
#define DRILL_MARKED_H

#include "harness/core/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define DRILL_MARK_ENV "FAULTDRILL_LAB"

struct drill_marked {
	char want[128];
	bool whole_lab; /* @want is how it begins */
	int found;	/* alive ones, killed just now */
};

/* "FAULTDRILL_LAB=MARK/JOB"; @job NULL: any of the lab. */
void drill_marked_init(struct drill_marked *m, const char *mark,
		       const char *job);

/* Kills @pid through a pidfd if it carries the mark (@arg is the drill_marked)
 * and counts it. */
void drill_marked_kill(pid_t pid, void *arg);

/* Calls @fn for each process that might be one; as drill_place.each. */
struct drill_lab;
typedef void drill_marked_each(struct drill_lab *lab,
			       void (*fn)(pid_t pid, void *arg), void *arg);

/* Every process of this machine that we can see; @lab is not looked at. */
drill_marked_each drill_marked_each_process;

/* Kills those of @each that carry the mark, until none is left. -EBUSY: some
 * would not die. */
int drill_marked_end(struct drill_marked *m, drill_marked_each *each,
		     struct drill_lab *lab);

/* Every process of the lab, until none is left. -EBUSY: some would not die. */
int drill_marked_kill_all(const char *mark, struct drill_err *err);

#endif
