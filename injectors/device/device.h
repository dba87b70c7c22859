/* device.h - what the faults of devices share: a fault of a device page
 * SPDX-License-Identifier: MIT
 *
 * Such a fault is one entry of the host's device page. Either the agent fires it
 * when it is applied, or it lies there armed until a process meets its trigger.
 * The record holds page, entry and mark; nothing else is needed to take it off.
 */
#ifndef DRILL_DEVICE_H
#define DRILL_DEVICE_H

#include "harness/agent/journal.h"
#include "injectors/hooks/devices.h"

/* A host is all of its devices. */
#define DRILL_TARGETS_DEVICE                                                   \
	(DRILL_TARGET_RANK | DRILL_TARGET_HOST | DRILL_TARGET_DEVICE)

/* "form": what of a failure there is. */
enum drill_form { DRILL_FORM_BOTH, DRILL_FORM_EFFECT, DRILL_FORM_SIGNAL };
extern const char *const drill_form_names[];

#define DRILL_FORM_PARAM(type_, field_)                                        \
	{ .name = "form",                                                      \
	  .type = DRILL_ENUM,                                                  \
	  .offset = offsetof(type_, field_),                                   \
	  .def = "both",                                                       \
	  .values = drill_form_names,                                          \
	  .doc = "What of the failure there is: its effect on programs, its "  \
		 "signal in NVML and log, or both." }

/* "kernel": bound to launches of kernels whose name contains it. */
#define DRILL_KERNEL_PARAM(type_, field_)                                      \
	{ .name = "kernel",                                                    \
	  .type = DRILL_STRING,                                                \
	  .offset = offsetof(type_, field_),                                   \
	  .def = "",                                                           \
	  .doc = "Only launches of kernels with this in their name; \"\": of "  \
		 "any." }

#define DRILL_NTH_MAX INT64_C(1000000000)
#define DRILL_HOUR_NS INT64_C(3600000000000)

/* What the target comes to on this host, now. */
struct drill_device_aim {
	struct drill_devices devices; /* borrowed */
	int device;		      /* index; -1: any of the host */
	int rank;		      /* -1: any process */
	int attempt;		      /* 0: any */
};

/* Is a page there, does it have that device, and where the fault is to be felt
 * (@felt): has the process said hello to the CUDA proxy? -EAGAIN: not yet.
 * Before the trial there is no page: nothing says no. */
int drill_device_probe(const struct drill_act *act, bool felt,
		       struct drill_err *err);

/* The apply of all of them: aims (-ENXIO: no such device), lets @fill write
 * what the fault is and narrow or widen the aim, adds what the trigger says,
 * records, commits and arms, with the bracket of the act in @act. @now: nothing
 * in a process need be met: it is fired at once, unless the trigger lies in
 * one. */
int drill_device_order(struct drill_act *act, bool now,
		       int (*fill)(const struct drill_act *act,
				   struct drill_device_aim *aim,
				   struct drill_device_fault *f,
				   struct drill_err *err),
		       struct drill_err *err);

/* The revert of all of them. */
int drill_device_revert(const struct drill_record *record,
			struct drill_err *err);

/* The fault that a record speaks of: the page in *@d, yours to close in every
 * case. -ENODATA: nothing was ever recorded. -ENOENT: the page is gone, and
 * nobody has it any more; -EUCLEAN: its name is gone, but not it. */
int drill_device_recorded(const struct drill_record *record,
			  struct drill_devices *d,
			  struct drill_device_armed *ret,
			  struct drill_err *err);

/* ---- device_process.c ---- */

/* 0: the target's process is there, or the target is a device, which needs none.
 * Negative: it is not, or another has its number. */
int drill_device_process(const struct drill_act *act, struct drill_err *err);

/* Where a process has the page, a file that may have no name any more; 0: it
 * has not, or it cannot be seen. */
uint64_t drill_device_mapped(pid_t pid, uint64_t dev, uint64_t ino);

/* Does a thread of the process wait on the futex at its address @futex? 1 yes, 0
 * no, -ESRCH: it cannot be seen. */
int drill_device_waits(pid_t pid, uint64_t futex);

/* ---- device_seen.c ---- */

/* A fault as verify finds it. */
struct drill_device_found {
	struct drill_devices devices; /* yours: drill_devices_close */
	struct drill_device_armed armed;
	struct drill_device_fault f;
	bool felt, told; /* as recorded: does it have an effect, a signal? */
};

/* 1: it has fired and stands as it was armed; then before_ns and after_ns of
 * @act are its own stamp. 0: it has not fired, it is not there, or nothing was
 * ever armed; negative: cannot tell. What was read back goes into the
 * evidence. Close the devices in every case. */
int drill_device_find(struct drill_act *act, struct drill_device_found *ret,
		      struct drill_err *err);

/* Does a thread of the target's process wait in this fault, as the kernel sees
 * it? 1 yes, 0 no, negative: cannot be seen. */
int drill_device_blocked(const struct drill_act *act,
			 const struct drill_device_found *d);

/* Has its error come back from a call, or whatever else its process stamps, or
 * does it need none? Evidence: which call of whom. */
bool drill_device_felt(struct drill_act *act,
		       const struct drill_device_found *d);

/* Do the log and NVML tell it, as far as they can be asked, or need they not?
 * Each that contradicts the page makes it false. */
bool drill_device_told(struct drill_act *act,
		       const struct drill_device_found *d);

/* The verify of those that need nothing else. */
int drill_device_verify(struct drill_act *act, struct drill_err *err);

#endif
