/* netns_attach.c - takes hold of the hosts of a kept namespace lab
 * SPDX-License-Identifier: MIT
 *
 * Pids in its file are believed only with their start times: a pidfd first,
 * then the look.
 */
#include "netns_impl.h"

#include "harness/agent/process.h"
#include "harness/core/jsonx.h"
#include "harness/core/spawn.h"

#include <errno.h>
#include <stdio.h>

static const char who[] = "lab.netns";

static int hold(const json_t *entry, const char *name, struct holder *ret,
		struct drill_err *err)
{
	json_int_t start = json_integer_value(json_object_get(entry, "start"));
	pid_t pid = (pid_t)json_integer_value(json_object_get(entry, "pid"));

	ret->pidfd = pid > 0 ? drill_pidfd_open(pid) : -1;
	if (ret->pidfd < 0 || (json_int_t)drill_process_start(pid) != start ||
	    drill_pidfd_wait(ret->pidfd, 0) == 0)
		return drill_err_set(err, -EHOSTDOWN, who,
				     "host '%s' of the kept lab is down: take "
				     "the lab down and up again",
				     name);
	ret->pid = pid;
	return 0;
}

int drill_netns_attach(struct drill_lab *lab, json_t *file,
		       struct drill_err *err)
{
	json_t *hosts = json_object_get(file, "hosts"),
	       *head = json_object_get(file, "head"), *entry;
	struct netns *n = lab->impl;
	int i, rc;

	snprintf(n->base.cgroup, sizeof(n->base.cgroup), "%s",
		 drill_json_text(file, "cgroup"));
	snprintf(n->head_cgroup, sizeof(n->head_cgroup), "%s",
		 drill_json_text(head, "cgroup"));
	rc = hold(head, "head", &n->head, err);
	for (i = 0; i < lab->n_hosts && rc == 0; i++) {
		entry = json_array_get(hosts, (size_t)i);
		snprintf(lab->hosts[i].cgroup, sizeof(lab->hosts[i].cgroup),
			 "%s", drill_json_text(entry, "cgroup"));
		rc = hold(entry, lab->hosts[i].name, &n->hosts[i], err);
	}
	return rc;
}
