/* xid.h - what is known of an Xid, and the chains in which they come
 * SPDX-License-Identifier: MIT
 */
#ifndef DRILL_XID_H
#define DRILL_XID_H

#include "injectors/hooks/device_page.h"

#include "harness/core/err.h"

#include <stdbool.h>

enum drill_xid_scope {
	DRILL_XID_CONTEXT,
	DRILL_XID_DEVICE,
	DRILL_XID_LINK,
	DRILL_XID_LINK_DOWN,
	DRILL_XID_ABSENT,
	DRILL_XID_NONE,
};

/* NVML field 230. */
enum drill_recovery {
	DRILL_RECOVERY_NONE,
	DRILL_RECOVERY_RESET,
	DRILL_RECOVERY_REBOOT,
	DRILL_RECOVERY_DRAIN_P2P,
	DRILL_RECOVERY_DRAIN_RESET,
};

#define DRILL_XID_ERRORS 4

struct drill_xid {
	int code;
	const char *name;
	enum drill_xid_scope scope;
	int error[DRILL_XID_ERRORS]; /* CUresult, the usual one first; 0 ends */
	int new_context;	     /* CUresult of contexts to come; 0: fine */
	enum drill_recovery action;
	unsigned int events; /* bits of nvmlEventType beside Xid */
	const char *meaning, *text, *source;
};

/* NULL when unknown; then @err names the nearest. */
const struct drill_xid *drill_xid_find(int64_t code, struct drill_err *err);
/* All of them, in order; a row of code 0 ends. */
const struct drill_xid *drill_xids(void);

#define DRILL_XID_CHAIN 8 /* codes of a chain at most */

/* "48 -> 63 -> 94" into codes; returns their number. "" is the chain that @code
 * is known to come with (74: 45 and 154 follow), "alone" the code itself. A
 * chain must begin with @code. */
int drill_xid_chain(int64_t code, const char *text, bool contained,
		    int ret[DRILL_XID_CHAIN], struct drill_err *err);

/* How a chain is told. */
struct drill_xid_story {
	const int *code; /* of the chain */
	int n;
	int error;	   /* CUresult instead of the table's; 0: the table's */
	int64_t gap_ns;	   /* between its lines; -1: as they are known to come */
	int device, peer;  /* peer: at the other end of the link; -1: none */
	int link;	   /* its number on the device */
	bool effect, signal;
};

/* Fills action, error and steps of @f. -E2BIG: too many steps. */
int drill_xid_steps(const struct drill_xid_story *s,
		    struct drill_device_fault *f, struct drill_err *err);

#endif
