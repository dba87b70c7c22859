/* lab_record.h - how a lab is removed from what its undo record says
 * SPDX-License-Identifier: MIT
 */
#ifndef DRILL_LAB_RECORD_H
#define DRILL_LAB_RECORD_H

#include "harness/agent/heal.h"
#include "harness/core/err.h"

/* The kinds of record that a lab writes. */
#define drill_lab_netns_kind "lab.netns"
#define drill_lab_local_kind "lab.local"

/* For drill_heal_register: both kinds, ends with a NULL name. */
extern const struct drill_revertible drill_lab_revertibles[];

/* Ends every process of the lab, removes its cgroups (@cgroup "": has none)
 * and its directory, and proves it. Needs nothing but what a record holds.
 * Twice is a no-op. */
int drill_lab_remove(const char *dir, const char *mark, const char *cgroup,
		     struct drill_err *err);

#endif
