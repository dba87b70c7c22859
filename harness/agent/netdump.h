/* netdump.h - what a network namespace holds, asked of the kernel
 * SPDX-License-Identifier: MIT
 */
#ifndef DRILL_NETDUMP_H
#define DRILL_NETDUMP_H

#include <jansson.h>

/* Each adds sorted-later lines to an array; what cannot be read is one line
 * that says so. */
void drill_net_links(json_t *lines);
void drill_net_addresses(json_t *lines);
void drill_net_routes(json_t *lines);
void drill_net_qdiscs(json_t *lines);
void drill_net_filters(json_t *lines);
void drill_net_nft(json_t *lines);

#endif
