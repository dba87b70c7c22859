/* target.h - who is hit: numbers, names and pickers become ranks and hosts
 * SPDX-License-Identifier: MIT
 */
#ifndef DRILL_ENGINE_TARGET_H
#define DRILL_ENGINE_TARGET_H

#include "plan.h"
#include "stream.h"

/* Fills @plan->faults[i].fault.target with {kind, is, hosts}. -EINVAL: no such
 * rank, host, domain. Sets plan->skip when a picker finds nothing. */
int drill_target_resolve(struct drill_plan_made *plan, int i,
			 const struct drill_lab_spec *lab,
			 const struct drill_lab_host *hosts, int n_hosts,
			 struct drill_err *err);

#endif
