/* find.c - which provider a lab gets: the one named, or the best that works
 * SPDX-License-Identifier: MIT
 */
#include "lab.h"

#include "harness/core/unit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char who[] = "lab";

static const struct drill_lab_ops *const providers[] = {
	&drill_lab_netns,
	&drill_lab_local,
};

#define PROVIDERS (sizeof(providers) / sizeof(providers[0]))

static const struct drill_lab_ops *find_auto(const struct drill_lab_spec *spec,
					     char *ret_why, int why_size)
{
	struct drill_err no = {0};

	if (drill_lab_netns.probe(spec, &no) == 0) {
		snprintf(ret_why, (size_t)why_size,
			 "lab netns: namespace hosts on this machine");
		return &drill_lab_netns;
	}
	snprintf(ret_why, (size_t)why_size,
		 "lab local (no netns: %s): faults of processes, libraries and "
		 "hooks only; those of links, mounts, cgroups and whole hosts "
		 "are skipped",
		 no.msg);
	return &drill_lab_local;
}

static const struct drill_lab_ops *unknown(const char *name,
					   struct drill_err *err)
{
	const char *names[] = {"netns", "local", "auto", NULL}, *near;

	near = drill_nearest(name, names);
	drill_err_set(err, -EINVAL, who,
		      "no provider '%s'%s%s%s (netns, local or auto)", name,
		      near ? ", did you mean '" : "", near ? near : "",
		      near ? "'?" : "");
	return NULL;
}

const struct drill_lab_ops *drill_lab_find(const struct drill_lab_spec *spec,
					   char *ret_why, int why_size,
					   struct drill_err *err)
{
	size_t i;

	if (!spec->provider[0] || strcmp(spec->provider, "auto") == 0)
		return find_auto(spec, ret_why, why_size);
	for (i = 0; i < PROVIDERS; i++) {
		if (strcmp(spec->provider, providers[i]->name) == 0) {
			snprintf(ret_why, (size_t)why_size, "lab %s, as named",
				 spec->provider);
			return providers[i];
		}
	}
	return unknown(spec->provider, err);
}
