/* lab_sweep.h - labs whose makers are gone, removed by what lies in them
 * SPDX-License-Identifier: MIT
 *
 * Beside the undo records: those lie wherever --state said, and a test's folder
 * may be gone with the test. The labs all lie in one place.
 */
#ifndef DRILL_LAB_SWEEP_H
#define DRILL_LAB_SWEEP_H

#include "harness/core/err.h"

#include <jansson.h>
#include <stdbool.h>

/* Removes each lab that is not kept and whose maker is dead; with @list_only
 * only names it. Adds to @found one object a lab, as drill_heal has them (id is
 * the directory), none for a lab that @found tells of already. 0, or -EUCLEAN
 * when one could not be removed. Call after drill_heal. */
int drill_lab_sweep(bool list_only, json_t *found, struct drill_err *err);

#endif
