/* xid_line.h - how the NVIDIA driver words its lines in the kernel's log
 * SPDX-License-Identifier: MIT
 *
 *   NVRM: GPU at PCI:0000:3b:00: GPU-<uuid>
 *   NVRM: GPU Board Serial Number: 1653923026510
 *   NVRM: Xid (PCI:0000:3b:00): 48, pid=4711, name=train, An uncorrectable ..
 *   NVRM: Xid (PCI:0000:3b:00): 45, Ch 00000008 caused by previous Xid 145
 *   NVRM: Xid (PCI:0000:3b:00): 154, GPU recovery action changed from
 *     0x0 (None) to 0x1 (GPU Reset Required)   (one line)
 *
 * The first two come once, before the first Xid of a GPU; the second only when
 * the board has a number. No PCI function follows the device. pid and name are
 * there when a process is known; then they stand in the text as "pid=%p,
 * name=%n". As krcReportXid, krcLogUuidOnce and gpu.c of the open kernel
 * modules (df1c9a3) print them, no line feed at their ends.
 *
 * Inline, for it is part of three libraries and of the agent; libc only.
 */
#ifndef DRILL_XID_LINE_H
#define DRILL_XID_LINE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct drill_xid_place {
	uint32_t domain, bus, dev;
};

/* One piece at *@n; what would end a line or is no text becomes '?'. */
static inline void drill_xid_put(char *ret, size_t size, size_t *n,
				 const char *s)
{
	for (; *s && *n + 1 < size; s++)
		ret[(*n)++] = (unsigned char)*s < ' ' || *s == 0x7f ? '?' : *s;
}

/* @text, of at most @max bytes, with %p and %n filled in; what is not known
 * (@pid 0 or less, @name NULL or "") as the driver says it. Any other % stays.
 * Always ends @ret. */
static inline void drill_xid_text(char *ret, size_t size, const char *text,
				  size_t max, int pid, const char *name)
{
	char number[16], one[2] = "";
	size_t n = 0;

	snprintf(number, sizeof(number), "%d", pid);
	for (size_t i = 0; i < max && text[i]; i++) {
		int next = text[i] == '%' && i + 1 < max ? text[i + 1] : 0;

		one[0] = text[i];
		if (next == 'p')
			drill_xid_put(ret, size, &n,
				      pid > 0 ? number : "'<unknown>'");
		else if (next == 'n')
			drill_xid_put(ret, size, &n,
				      name && *name ? name : "<unknown>");
		else
			drill_xid_put(ret, size, &n, one);
		i += next == 'p' || next == 'n';
	}
	if (size)
		ret[n] = '\0';
}

/* The line of an Xid; @text as drill_xid_text gave it. */
static inline void drill_xid_line(char *ret, size_t size,
				  struct drill_xid_place at, uint32_t xid,
				  const char *text)
{
	snprintf(ret, size, "NVRM: Xid (PCI:%04x:%02x:%02x): %u, %s",
		 at.domain, at.bus & 0xff, at.dev & 0xff, xid, text);
}

/* What the driver puts behind the text of a 45 that another Xid led to. */
static inline void drill_xid_caused_by(char *text, size_t size, uint32_t xid)
{
	size_t n = strnlen(text, size);

	if (n < size)
		snprintf(text + n, size - n, " caused by previous Xid %u", xid);
}

/* The names that 154 and NVML's field 230 use, by number; "?" beyond. */
static inline const char *drill_xid_action_name(uint32_t action)
{
	static const char *const name[] = {
		"None", "GPU Reset Required", "Node Reboot Required",
		"Drain P2P", "Drain and Reset", "Recover IMEX Domain",
	};

	return action < sizeof(name) / sizeof(*name) ? name[action] : "?";
}

/* "GPU-1b2c..", 40 characters. */
static inline void drill_xid_uuid(char ret[48], const uint8_t uuid[16])
{
	size_t n = 4;

	memcpy(ret, "GPU-", 5);
	for (int i = 0; i < 16; i++)
		n += (size_t)snprintf(ret + n, 48 - n, "%s%02x",
				      i == 4 || i == 6 || i == 8 || i == 10 ?
					      "-" : "", uuid[i]);
}

/* The two lines before a GPU's first Xid; @ret_serial "" without @serial. */
static inline void drill_xid_first(char *ret, size_t size, char *ret_serial,
				   size_t serial_size,
				   struct drill_xid_place at,
				   const uint8_t uuid[16], const char *serial)
{
	char id[48], number[32] = "";
	size_t n = 0;

	drill_xid_uuid(id, uuid);
	snprintf(ret, size, "NVRM: GPU at PCI:%04x:%02x:%02x: %s", at.domain,
		 at.bus & 0xff, at.dev & 0xff, id);
	drill_xid_put(number, sizeof(number), &n, serial);
	snprintf(ret_serial, serial_size, *number ?
		 "NVRM: GPU Board Serial Number: %s" : "%s", number);
}

#endif
