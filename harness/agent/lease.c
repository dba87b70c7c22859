/* lease.c - who may change things on a host, and until when
 * SPDX-License-Identifier: MIT
 */
#include "lease.h"

#include "process.h"

#include "harness/core/clock.h"

#include <stdio.h>
#include <unistd.h>

static int64_t boot_now(void)
{
	const struct drill_clock *c = drill_clock_system();

	return c->boot_ns(c->ctx);
}

void drill_lease_init(struct drill_lease *l, const char *run, const char *host,
		      int64_t lease_ns)
{
	l->magic = DRILL_LEASE_MAGIC;
	l->lease_ns = lease_ns > 0 ? lease_ns : DRILL_LEASE_NS;
	l->holder_pid = getpid();
	l->holder_start = drill_process_start(getpid());
	snprintf(l->boot_id, sizeof(l->boot_id), "%s", drill_boot_id());
	snprintf(l->run, sizeof(l->run), "%s", run);
	snprintf(l->host, sizeof(l->host), "%s", host);
	atomic_store(&l->epoch, 1);
	drill_lease_renew(l);
}

void drill_lease_renew(struct drill_lease *l)
{
	atomic_store(&l->renewed_ns, boot_now());
}

int64_t drill_lease_left(const struct drill_lease *l)
{
	return atomic_load(&l->renewed_ns) + l->lease_ns - boot_now();
}

bool drill_lease_valid(const struct drill_lease *l)
{
	return l->magic == DRILL_LEASE_MAGIC;
}
