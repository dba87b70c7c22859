/* xid_log.h - writes a page's lines to a file or FIFO as the kernel's log
 * SPDX-License-Identifier: MIT
 *
 * For the agent. Lines come in the order of the ring, stamped as dmesg does,
 * each GPU introduced before its first Xid:
 *
 *   [ 4254.197816] NVRM: GPU at PCI:0000:5d:00: GPU-f1906b9b-...
 *   [ 4254.197816] NVRM: GPU Board Serial Number: 1653923026510
 *   [ 4254.197816] NVRM: Xid (PCI:0000:5d:00): 79, GPU has fallen off the bus.
 *
 * How far it has come stands on the page (`logged`): an agent that takes over
 * goes on in the middle of a line if it must, so a file never lacks a line nor
 * has one twice. With a FIFO the line whose write the dead agent had not noted
 * yet can come twice.
 */
#ifndef DRILL_XID_LOG_H
#define DRILL_XID_LOG_H

#include "device_page.h"

#include "harness/core/err.h"

#include <stdbool.h>

struct drill_xid_log {
	struct drill_device_page *page; /* borrowed until close */
	int fd;
	bool is_fifo;
	char path[256];
};

/* @path: made, mode 0600, unless a file or FIFO is there already; anything else
 * is -EINVAL. Never waits for a reader. */
int drill_xid_log_open(struct drill_xid_log *l, struct drill_device_page *page,
		       const char *path, struct drill_err *err);
/* Writes what is new; returns how many of the ring's lines. A FIFO that is full
 * is no error: the rest comes with the next call, while the ring holds it.
 * *@lost: lines that the ring no longer held (NULL: not of interest). */
int drill_xid_log_drain(struct drill_xid_log *l, uint64_t *lost,
			struct drill_err *err);
void drill_xid_log_close(struct drill_xid_log *l);

#define DRILL_KMSG "/dev/kmsg"

/* The kernel's own log, which the whole machine reads and which forgets nothing:
 * -EPERM unless @disruptive was allowed and the lab is not of namespaces on this
 * machine. */
int drill_xid_kmsg_may(bool disruptive, bool lab_is_netns,
		       struct drill_err *err);
/* Says @line ("NVRM: Xid ...") there. @device: DRILL_KMSG. */
int drill_xid_kmsg(const char *device, const char *line, struct drill_err *err);

#endif
