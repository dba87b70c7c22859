/* health.h - the health check: who watches the devices, and what follows
 * SPDX-License-Identifier: MIT
 *
 * On each host, spares too, `launch-rank --health` polls NVML and reads the
 * kernel's log (starter_health.c). It only reports; what a report means says
 * policy.h. A device that is to be reset is so when the job has stopped and is
 * fenced; a host whose device is bad is not used again.
 */
#ifndef LAUNCH_HEALTH_H
#define LAUNCH_HEALTH_H

#include "job.h"

/* Starts the watchers; nothing when --health is off. */
int launch_health_open(struct launch_job *j, struct drill_err *err);
/* Starts those again that have ended. */
void launch_health_tick(struct launch_job *j);
/* A new attempt: what was told in the last one may be told again. */
void launch_health_begin(struct launch_job *j);
/* Asks all watchers to look now: something is wrong. */
void launch_health_look(struct launch_job *j);
/* Blames the device that a watcher complained of in this attempt, and says so.
 * False: none did. */
bool launch_health_blame(struct launch_job *j);
/* Of each attempt that failed, with or without watchers: a host on which a
 * rank's device fails again before any step is not used any more. */
void launch_health_starts(struct launch_job *j);
/* Once all is fenced: has devices reset, takes bad hosts out. True while there
 * is an answer to wait for; ask again. */
bool launch_health_mend(struct launch_job *j);
void launch_health_close(struct launch_job *j);

#endif
