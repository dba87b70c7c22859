/* policy.c - what is done about a device that a health check complains of
 * SPDX-License-Identifier: MIT
 *
 * The Xids' actions follow NVIDIA's catalog; those that the Kubernetes device
 * plugin takes for the application's own (13, 31, 43, 45, 68, 69, 109) cordon
 * nothing here either.
 */
#include "policy.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const struct rule {
	int xid;
	enum launch_action action;
	const char *why;
} rules[] = {
	{8, LAUNCH_RESTART, "a channel timed out"},
	{13, LAUNCH_IGNORE, "the application's own exception"},
	{31, LAUNCH_IGNORE, "the application's own page fault"},
	{32, LAUNCH_RESTART, "a damaged push buffer"},
	{38, LAUNCH_IGNORE, "a driver's watchdog"},
	{39, LAUNCH_RESTART, "a copy engine's exception"},
	{40, LAUNCH_RESTART, "a copy engine's exception"},
	{41, LAUNCH_RESTART, "a copy engine's exception"},
	{43, LAUNCH_IGNORE, "the application's own error"},
	{44, LAUNCH_IGNORE, "a fault in a context switch"},
	{45, LAUNCH_IGNORE, "clean-up after an error told before"},
	{46, LAUNCH_RESET, "the GPU stopped processing"},
	{48, LAUNCH_RESET, "an uncorrectable memory error"},
	{61, LAUNCH_REPLACE, "a micro-controller's breakpoint"},
	{62, LAUNCH_RESET, "a micro-controller halted"},
	{63, LAUNCH_NOTE, "a row remap waits for a reset"},
	{64, LAUNCH_RESET, "a row could not be remapped"},
	{68, LAUNCH_IGNORE, "a video decoder's exception"},
	{69, LAUNCH_IGNORE, "the application's own class error"},
	{74, LAUNCH_RESET, "an NVLink error"},
	{79, LAUNCH_REPLACE, "the GPU has fallen off the bus"},
	{92, LAUNCH_TELL, "many corrected memory errors"},
	{94, LAUNCH_RESTART, "a contained memory error"},
	{95, LAUNCH_RESET, "an uncontained memory error"},
	{109, LAUNCH_IGNORE, "a context switch timed out"},
	{110, LAUNCH_RESET, "a security fault"},
	{119, LAUNCH_RESET, "the GSP does not answer"},
	{120, LAUNCH_RESET, "the GSP failed"},
	{121, LAUNCH_IGNORE, "a corrected chip-to-chip error"},
	{122, LAUNCH_TELL, "the InfoROM cannot be read"},
	{123, LAUNCH_TELL, "the InfoROM cannot be written"},
	{136, LAUNCH_RESET, "NVLink training failed"},
	{137, LAUNCH_IGNORE, "an NVLink privilege error"},
	{140, LAUNCH_RESET, "an unrecoverable memory error"},
	{143, LAUNCH_RESET, "the GPU could not be initialised"},
	{155, LAUNCH_RESET, "an NVLink error of software"},
	{156, LAUNCH_NOTE, "a retired unit waits for a reset"},
	{157, LAUNCH_TELL, "a unit could not be retired"},
	{158, LAUNCH_RESET, "a fatal GPU timeout"},
	{171, LAUNCH_RESET, "an uncorrectable DRAM error"},
	{172, LAUNCH_RESET, "an uncorrectable SRAM error"},
};

/* The driver's own word on what a device needs: field 230, and Xid 154. */
static enum launch_action recovery(uint64_t action, const char **why)
{
	static const struct rule by_action[] = {
		{0, LAUNCH_IGNORE, "the driver asks for nothing"},
		{1, LAUNCH_RESET, "the driver asks for a reset"},
		{2, LAUNCH_REPLACE, "the driver asks for a reboot"},
		{3, LAUNCH_RESET, "the driver asks to drain peers"},
		{4, LAUNCH_RESET, "the driver asks for drain and reset"},
		{5, LAUNCH_RESTART, "the driver asks to recover IMEX"},
	};

	if (action >= sizeof(by_action) / sizeof(*by_action))
		action = 1;
	*why = by_action[action].why;
	return by_action[action].action;
}

/* "GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)" */
static enum launch_action changed(const char *text, const char **why)
{
	const char *to = strstr(text, " to 0x");

	return recovery(to ? strtoul(to + 6, NULL, 16) : 1, why);
}

static enum launch_action fifth_nvlink(const char *text, const char **why)
{
	bool fatal = !strstr(text, "Nonfatal");

	*why = fatal ? "a fatal NVLink error" : "an NVLink error, not fatal";
	return fatal ? LAUNCH_RESET : LAUNCH_IGNORE;
}

enum launch_action launch_policy_xid(int xid, const char *text,
				     const char **why)
{
	size_t i;

	if (xid == 154)
		return changed(text, why);
	if (xid >= 144 && xid <= 150)
		return fifth_nvlink(text, why);
	for (i = 0; i < sizeof(rules) / sizeof(*rules); i++)
		if (rules[i].xid == xid) {
			*why = rules[i].why;
			return rules[i].action;
		}
	*why = "an Xid that the table does not know";
	return LAUNCH_RESET;
}

static const struct {
	const char *name;
	enum launch_action action;
	const char *why;
} signs[LAUNCH_SIGNS] = {
	[LAUNCH_SIGN_LOST] = {"lost", LAUNCH_REPLACE, "the GPU is lost"},
	[LAUNCH_SIGN_MISSING] = {"missing", LAUNCH_REPLACE,
				 "the GPU is not there any more"},
	[LAUNCH_SIGN_RESET_REQUIRED] = {"reset_required", LAUNCH_RESET,
					"the GPU requires a reset"},
	[LAUNCH_SIGN_RECOVERY] = {"recovery_action", LAUNCH_RESET, NULL},
	[LAUNCH_SIGN_ECC] = {"ecc", LAUNCH_RESET,
			     "uncorrected memory errors were counted"},
	[LAUNCH_SIGN_REMAP_PENDING] = {"remap_pending", LAUNCH_NOTE,
				       "a row remap waits for a reset"},
	[LAUNCH_SIGN_REMAP_FAILED] = {"remap_failed", LAUNCH_REPLACE,
				      "a row could not be remapped"},
	[LAUNCH_SIGN_PAGES_PENDING] = {"pages_pending", LAUNCH_NOTE,
				       "retired pages wait for a reset"},
	[LAUNCH_SIGN_LINKS] = {"links", LAUNCH_RESET, "an NVLink went down"},
	[LAUNCH_SIGN_SLOW] = {"slow", LAUNCH_TELL,
			      "the clocks are held down"},
};

const char *launch_sign_name(enum launch_sign s)
{
	return (unsigned int)s < LAUNCH_SIGNS ? signs[s].name : "?";
}

enum launch_sign launch_sign_parse(const char *word)
{
	enum launch_sign s;

	for (s = 0; s < LAUNCH_SIGNS; s++)
		if (strcmp(signs[s].name, word) == 0)
			break;
	return s;
}

enum launch_action launch_policy_sign(enum launch_sign s, uint64_t value,
				      const char **why)
{
	if (s == LAUNCH_SIGN_RECOVERY)
		return recovery(value, why);
	*why = signs[s].why;
	return signs[s].action;
}
