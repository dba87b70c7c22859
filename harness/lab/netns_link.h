/* netns_link.h - the networks of a namespace lab, by netlink in batches
 * SPDX-License-Identifier: MIT
 *
 * Two networks, data and management, each a bridge in the head's network
 * namespace with one veth pair a host. Nothing of it is ever seen in the
 * machine's own network namespace.
 *
 *   head    mgmt0 (bridge, 10.78.255.254, fd78::ffff), data0 (bridge, no
 *           address: the launcher's path and the job's stay apart)
 *   host i  data0 10.77.x.y fd77::n, mgmt0 10.78.x.y fd78::n, n = i + 1
 */
#ifndef DRILL_NETNS_LINK_H
#define DRILL_NETNS_LINK_H

#include "harness/core/err.h"

#include <stdbool.h>
#include <stddef.h>

#define DRILL_IF_DATA "data0"
#define DRILL_IF_MGMT "mgmt0"
#define DRILL_HEAD_MGMT "10.78.255.254"

/* An address of host @i as text: @net 77 (data) or 78 (management). */
const char *drill_link_v4(int net, int i, char *buf, size_t size);
const char *drill_link_v6(int net, int i, char *buf, size_t size);

/* Bridges in the network namespace of the process behind @head, a pair to each
 * of the @n processes behind @hosts, addresses, everything up. @mark becomes
 * the bridges' alias. *@ret_v6 says whether the kernel has IPv6. */
int drill_links_up(int head, const int *hosts, int n, const char *mark,
		   bool *ret_v6, struct drill_err *err);

/* Can bridges and veth pairs be made in the caller's network namespace? For a
 * child in a throw-away one. */
int drill_links_probe(struct drill_err *err);

#endif
