/* exec_place.h - what surrounds a command that exec starts: pages, hooks, driver
 * SPDX-License-Identifier: MIT
 */
#ifndef DRILL_EXEC_PLACE_H
#define DRILL_EXEC_PLACE_H

#include <stdbool.h>

/* Set by exec for itself, in words: "cuda" the driver's proxies are wanted,
 * "audit" absolute paths to the driver are to be caught too, "wait" the command
 * begins when the fault is armed. */
#define DRILL_EXEC_WANT "FAULTDRILL_EXEC_WANT"

/* Sets the environment of the command, in this process. @dir holds the pages,
 * @bin our programs and hooks. */
void drill_exec_surround(const char *dir, const char *bin);

/* Waits until a fault lies on the device page in @dir, where that is wanted; for
 * some seconds at most. */
void drill_exec_await(const char *dir);

#endif
