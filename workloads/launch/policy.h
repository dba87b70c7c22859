/* policy.h - what is done about a device that a health check complains of
 * SPDX-License-Identifier: MIT
 *
 * Pure functions over one table each: what the launcher does is written down
 * here and nowhere else.
 */
#ifndef LAUNCH_POLICY_H
#define LAUNCH_POLICY_H

#include <stddef.h>
#include <stdint.h>

/* From the least to the most; a device keeps the most that was said of it. */
enum launch_action {
	LAUNCH_IGNORE,	/* the application's own error, or mere information */
	LAUNCH_TELL,	/* said and blamed; the job goes on */
	LAUNCH_NOTE,	/* likewise; the device is reset when the job stops */
	LAUNCH_RESTART, /* the job starts again, also on this device */
	LAUNCH_RESET,	/* the device is reset before anything runs on it */
	LAUNCH_REPLACE, /* nothing runs on it any more: a spare host does */
};

/* What Xid @xid with @text asks for; *why is a static sentence. 154 is judged by
 * the action it names, NVLink's 144 to 150 by Fatal or Nonfatal. One that the
 * table does not know is taken for critical, as device plugins do. */
enum launch_action launch_policy_xid(int xid, const char *text,
				     const char **why);

/* What NVML's poller reports, by the word on its line. */
enum launch_sign {
	LAUNCH_SIGN_LOST,	   /* NVML says that the GPU is lost */
	LAUNCH_SIGN_MISSING,	   /* there were more devices before */
	LAUNCH_SIGN_RESET_REQUIRED,
	LAUNCH_SIGN_RECOVERY,	   /* value: field 230 */
	LAUNCH_SIGN_ECC,	   /* value: uncorrected errors, volatile */
	LAUNCH_SIGN_REMAP_PENDING, /* rows wait for a reset */
	LAUNCH_SIGN_REMAP_FAILED,
	LAUNCH_SIGN_PAGES_PENDING, /* retired pages wait for a reset */
	LAUNCH_SIGN_LINKS,	   /* value: mask of links that went down */
	LAUNCH_SIGN_SLOW,	   /* value: reasons why clocks are held down */
	LAUNCH_SIGNS
};

const char *launch_sign_name(enum launch_sign s);
/* LAUNCH_SIGNS when there is no such word. */
enum launch_sign launch_sign_parse(const char *word);
enum launch_action launch_policy_sign(enum launch_sign s, uint64_t value,
				      const char **why);

#endif
