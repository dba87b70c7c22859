/* xid_line.c - reads the lines in which NVIDIA's driver tells of device errors
 * SPDX-License-Identifier: MIT
 */
#include "xid_line.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* strtoul() would take blanks and signs. Digits of @base, at most @max of them;
 * NULL when there are none, or too many. */
static const char *number(const char *p, int base, int max, unsigned int *ret)
{
	int n = 0;

	while (base == 16 ? isxdigit((unsigned char)p[n])
			  : isdigit((unsigned char)p[n]))
		n++;
	if (n == 0 || n > max)
		return NULL;
	*ret = (unsigned int)strtoul(p, NULL, base);
	return p + n;
}

static const char *word(const char *p, const char *want)
{
	size_t n = strlen(want);

	return p && strncmp(p, want, n) == 0 ? p + n : NULL;
}

static const char *hex(const char *p, int max, unsigned int *ret)
{
	return p ? number(p, 16, max, ret) : NULL;
}

static const char *decimal(const char *p, int max, unsigned int *ret)
{
	return p ? number(p, 10, max, ret) : NULL;
}

/* "0000:3b:00", and the ".0" that other drivers' lines have. */
static const char *address(const char *p, struct launch_xid *x)
{
	unsigned int function;
	const char *dot;

	p = hex(p, 8, &x->domain);
	p = hex(word(p, ":"), 2, &x->bus);
	p = hex(word(p, ":"), 2, &x->dev);
	dot = hex(word(p, "."), 1, &function);
	return dot ? dot : p;
}

/* " GPU-I:01" and " GPU-CI:00", each if it is there. */
static const char *instances(const char *p, struct launch_xid *x)
{
	unsigned int n = 0;
	const char *q = decimal(word(p, " GPU-I:"), 4, &n);

	x->gpu_instance = q ? (int)n : -1;
	p = q ? q : p;
	q = decimal(word(p, " GPU-CI:"), 4, &n);
	return q ? q : p;
}

/* Copies up to @end or the field's room; what cannot be printed is '?'. */
static void copy(char *to, size_t size, const char *from, const char *end)
{
	size_t i = 0;

	for (; from < end && i + 1 < size; from++, i++)
		to[i] = (char)(isprint((unsigned char)*from) ? *from : '?');
	to[i] = '\0';
}

/* "pid=812, name=train, ": only where the driver knew a process. Older ones say
 * pid='<unknown>', name=<unknown>. */
static const char *process(const char *p, struct launch_xid *x)
{
	unsigned int pid;
	const char *q = word(p, "pid="), *end;

	x->pid = -1;
	if (!q)
		return p;
	if (word(q, "'<unknown>'"))
		q = word(q, "'<unknown>'");
	else if ((q = decimal(q, 9, &pid)))
		x->pid = (int)pid;
	q = word(q, ", ");
	if (!q)
		return p;
	p = q;
	q = word(p, "name=");
	end = q ? strstr(q, ", ") : NULL;
	if (!end)
		return p;
	if (!word(q, "<unknown>"))
		copy(x->name, sizeof(x->name), q, end);
	return end + 2;
}

static void rest(const char *p, struct launch_xid *x)
{
	static const char cause[] = "caused by previous Xid ";
	const char *end = p + strcspn(p, "\r\n"), *q = strstr(p, cause);
	unsigned int by;

	copy(x->text, sizeof(x->text), p, end);
	if (q && q < end && decimal(q + strlen(cause), 4, &by) &&
	    by <= LAUNCH_XID_MAX)
		x->caused_by = (int)by;
}

int launch_xid_parse(const char *line, struct launch_xid *ret)
{
	const char *p = strstr(line, "NVRM: Xid (PCI:");
	unsigned int xid = 0;

	memset(ret, 0, sizeof(*ret));
	ret->gpu_instance = ret->pid = -1;
	if (!p)
		return -ENOMSG;
	p = instances(address(p + strlen("NVRM: Xid (PCI:"), ret), ret);
	p = decimal(word(p, "): "), 4, &xid);
	if (!p || xid == 0 || xid > LAUNCH_XID_MAX ||
	    (*p != ',' && *p != '\0' && *p != '\n' && *p != '\r'))
		return -EBADMSG;
	ret->xid = (int)xid;
	p += *p == ',';
	p += *p == ' ';
	rest(process(p, ret), ret);
	return 0;
}
