/* silent.h - a signal for failures that have none of their own
 * SPDX-License-Identifier: MIT
 *
 * A hang, a flipped bit, a call that fails: the driver says nothing of them. Where
 * `form` asks for a signal, log and NVML tell an Xid with what is known to come in
 * its train, and no program feels anything of that.
 */
#ifndef DRILL_SILENT_H
#define DRILL_SILENT_H

#include "device.h"
#include "xid.h"

/* "form" and "code": by default there is the effect alone. */
#define DRILL_SILENT_PARAMS(type_, code_, default_)                            \
	{ .name = "form",                                                      \
	  .type = DRILL_ENUM,                                                  \
	  .offset = offsetof(type_, form),                                     \
	  .def = "effect",                                                     \
	  .values = drill_form_names,                                          \
	  .doc = "What of the failure there is: its effect on programs, a "    \
		 "signal in NVML and log, or both." },                         \
	{ .name = "code",                                                      \
	  .type = DRILL_INT,                                                   \
	  .offset = offsetof(type_, code_),                                    \
	  .def = default_,                                                     \
	  .max = 1000,                                                         \
	  .doc = "The Xid of the signal, with what comes in its train." }

/* Can that be told? */
int drill_silent_check(int64_t code, int form, struct drill_err *err);

/* The steps of the signal, if there is one; before action and error of @f are
 * written. */
int drill_silent_tell(int64_t code, int form,
		      const struct drill_device_aim *aim,
		      struct drill_device_fault *f, struct drill_err *err);

/* Link, peer and device of @s: the link to the device @peer, the first of all
 * when -1. -ENXIO: there is none. */
int drill_silent_link(const struct drill_device_aim *aim, int64_t peer,
		      struct drill_xid_story *s, struct drill_err *err);

#endif
