/* exec_place.h - what surrounds a command that exec starts: pages, hooks, driver
 * SPDX-License-Identifier: MIT
 */
#ifndef DRILL_EXEC_PLACE_H
#define DRILL_EXEC_PLACE_H

#include <stdbool.h>

/* Set by exec for itself: absolute paths to the driver are to be caught too. */
#define DRILL_EXEC_AUDIT "FAULTDRILL_EXEC_AUDIT"

/* Is there a CUDA driver that could serve the command? */
bool drill_exec_driver(void);

/* Sets the environment of the command, in this process. @dir holds the pages,
 * @bin our programs and hooks. */
void drill_exec_surround(const char *dir, const char *bin);

#endif
