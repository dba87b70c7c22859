/* err.c - the first cause is kept, later ones are appended
 * SPDX-License-Identifier: MIT
 */
#include "err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void append(struct drill_err *err, const char *text)
{
	size_t len = strlen(err->msg);
	const char *sep = len ? "; " : "";

	snprintf(err->msg + len, sizeof(err->msg) - len, "%s%s", sep, text);
}

static void take(struct drill_err *err, int code, const char *who,
		 const char *text)
{
	if (!err)
		return;
	if (!err->code) {
		err->code = code;
		err->who = who;
		err->msg[0] = '\0';
	}
	append(err, text);
}

/* The text is made apart first: an argument may be @err's own message. */
int drill_err_set(struct drill_err *err, int code, const char *who,
		  const char *fmt, ...)
{
	char text[sizeof(err->msg)];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	take(err, code, who, text);
	return code;
}

/* Signs differ between libraries; both are the same errno. */
static int positive(int errnum)
{
	return errnum < 0 ? -errnum : errnum;
}

int drill_err_errno(struct drill_err *err, int errnum, const char *who,
		    const char *fmt, ...)
{
	char text[sizeof(err->msg)];
	va_list ap;
	size_t len;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	errnum = positive(errnum);
	len = strlen(text);
	snprintf(text + len, sizeof(text) - len, ": %s", strerror(errnum));
	take(err, -errnum, who, text);
	return -errnum;
}

const char *drill_err_text(const struct drill_err *err, char *buf, int size)
{
	if (!err->code)
		snprintf(buf, (size_t)size, "no error");
	else
		snprintf(buf, (size_t)size, "%s: %s", err->who, err->msg);
	return buf;
}
