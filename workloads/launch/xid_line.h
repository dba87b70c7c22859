/* xid_line.h - reads the lines in which NVIDIA's driver tells of device errors
 * SPDX-License-Identifier: MIT
 *
 *   NVRM: Xid (PCI:0000:3b:00): 48, pid=812, name=train, DBE ...
 *
 * with whatever dmesg, syslog or /dev/kmsg put in front. Lines come from a file
 * that anybody may write: nothing in them is trusted, every number is bounded.
 */
#ifndef LAUNCH_XID_LINE_H
#define LAUNCH_XID_LINE_H

#include <stdint.h>

#define LAUNCH_XID_MAX 1023

struct launch_xid {
	unsigned int domain, bus, dev; /* of the PCI address */
	int gpu_instance;	       /* of a MIG device; -1: none said */
	int xid;
	int pid;	    /* -1: none said, or <unknown> */
	char name[32];	    /* of that process; "" likewise */
	char text[128];	    /* the rest, cut and made printable */
	int caused_by;	    /* "caused by previous Xid"; 0: not said */
};

/* 0; -ENOMSG when it is no Xid line; -EBADMSG when it is one that is damaged. */
int launch_xid_parse(const char *line, struct launch_xid *ret);

#endif
