/* snapshot.h - what a host looks like, so that before and after can be compared
 * SPDX-License-Identifier: MIT
 */
#ifndef DRILL_SNAPSHOT_H
#define DRILL_SNAPSHOT_H

#include "harness/core/err.h"

#include <jansson.h>

/* Reads the network namespace and the mounts that the caller is in, and
 * processes and cgroups below @cgroup. "": the machine is not the lab's alone, and
 * its processes are those with @mark, the beginning of a variable of their
 * environment.
 * *ret: {class: [line, ...]}, lines sorted; classes: addresses, cgroups,
 * devices, dm, filters, links, loops, mounts, nft, processes, qdiscs, routes,
 * sysctls. What cannot be read is a line that says so. Yours: json_decref. */
int drill_snapshot(const char *cgroup, const char *mark, json_t **ret,
		   struct drill_err *err);

/* Each line that only one of the two has: ["qdiscs: - eth0 ...", ...], "-" was
 * there before, "+" is new. Empty: equal. Yours: json_decref. */
json_t *drill_snapshot_compare(json_t *before, json_t *after);

#endif
