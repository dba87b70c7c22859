/* lease.h - who may change things on a host, and until when
 * SPDX-License-Identifier: MIT
 *
 * The first slot of a journal, mapped by the agent, its keeper and heal. The
 * agent renews it; when it runs out, or the agent dies, the keeper takes over
 * and raises the epoch. Who finds another epoch than its own is fenced and
 * changes nothing any more.
 */
#ifndef DRILL_LEASE_H
#define DRILL_LEASE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define DRILL_LEASE_MAGIC UINT64_C(0x3165736165646466) /* "fddease1" */
#define DRILL_LEASE_NS INT64_C(10000000000)
#define DRILL_RENEW_NS INT64_C(2000000000)

struct drill_lease {
	uint64_t magic;
	_Atomic uint64_t epoch;
	_Atomic int64_t renewed_ns; /* CLOCK_BOOTTIME */
	int64_t lease_ns;
	int32_t holder_pid, keeper_pid;
	uint64_t holder_start, keeper_start; /* process.h */
	char boot_id[40];
	char run[64], host[64];
};

/* For a zeroed block: this process is the holder, epoch 1, renewed now. */
void drill_lease_init(struct drill_lease *l, const char *run, const char *host,
		      int64_t lease_ns);
void drill_lease_renew(struct drill_lease *l);
/* How long it still runs, in ns; 0 or less: it has run out. */
int64_t drill_lease_left(const struct drill_lease *l);
bool drill_lease_valid(const struct drill_lease *l);

#endif
