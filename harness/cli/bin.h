/* bin.h - where the other programs of this build are
 * SPDX-License-Identifier: MIT
 */
#ifndef DRILL_BIN_H
#define DRILL_BIN_H

#include <stddef.h>

/* $FAULTDRILL_BIN, else the folder of this program. Returns @buf. */
const char *drill_bin_dir(char *buf, size_t size);

#endif
