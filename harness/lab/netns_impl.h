/* netns_impl.h - the inside of the namespace lab, for its own files
 * SPDX-License-Identifier: MIT
 */
#ifndef DRILL_NETNS_IMPL_H
#define DRILL_NETNS_IMPL_H

#include "updown.h"

#include <sched.h>

#define DRILL_HOST_NS                                                          \
	(CLONE_NEWNET | CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWPID)
#define DRILL_HEAD_NS (CLONE_NEWNET | CLONE_NEWNS | CLONE_NEWUTS)

/* A process that holds a host's namespaces. */
struct holder {
	pid_t pid;
	int pidfd;
	int status; /* its "ready" comes here; -1: has come */
};

struct netns {
	struct drill_lab_base base; /* first */
	struct holder head;
	struct holder *hosts;
	int *pidfds; /* of the hosts, as the networks want them */
	char head_cgroup[320];
	int life[2]; /* its end ends the holders; -1 when the lab is kept */
	bool v6;
};

/* Makes directory, cgroups, holders, networks and lab.json. After the record is
 * durable: what is made here the record can undo. */
int drill_netns_make(struct drill_lab *lab, struct drill_err *err);

/* Takes hold of the hosts of a kept lab as @file (its lab.json) has them. */
int drill_netns_attach(struct drill_lab *lab, json_t *file,
		       struct drill_err *err);

#endif
