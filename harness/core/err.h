/* err.h - what went wrong, where, and what to do about it
 * SPDX-License-Identifier: MIT
 *
 * One zeroed struct an operation. The callee fills it, the caller prints it;
 * library code never prints. The first cause is kept, later ones are appended
 * after "; " as far as they fit.
 */
#ifndef DRILL_ERR_H
#define DRILL_ERR_H

#include <stdbool.h>

/* Beyond the errnos, -EUCLEAN means "dirty": something could not be reverted. */

struct drill_err {
	int code;	 /* negative errno; 0 while nothing has failed */
	const char *who; /* static string: "link.delay", "lab.netns" */
	char msg[512];	 /* lower case, no full stop, names in 'quotes' */
};

/* Sets code and text unless something failed before (then appends the text).
 * @err may be NULL. @code is a negative errno. Returns @code, so that a failing
 * line is one statement: return drill_err_set(err, -EIO, who, "..."). */
int drill_err_set(struct drill_err *err, int code, const char *who,
		  const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* The same, with ": " and the text of the errno appended. */
int drill_err_errno(struct drill_err *err, int errnum, const char *who,
		    const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* "who: msg" in a buffer that lives in @err's caller. Returns @buf. */
const char *drill_err_text(const struct drill_err *err, char *buf, int size);

#endif
