/* revert.h - the kinds of record that are not an injector's
 * SPDX-License-Identifier: MIT
 */
#ifndef DRILL_REVERT_H
#define DRILL_REVERT_H

#include "heal.h"

/* NULL when nobody registered such a kind. */
const struct drill_revertible *drill_revertible_find(const char *kind);

#endif
