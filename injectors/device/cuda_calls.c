/* cuda_calls.c - the entries of the CUDA driver by name
 * SPDX-License-Identifier: MIT
 */
#include "cuda_calls.h"

#include "harness/core/unit.h"
#include "injectors/hooks/cuda_family.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

static const struct {
	const char *name;
	int since;
} table[] = {
#define ROW(number, symbol, since) [number] = { #symbol, since },
	DRILL_CUDA_SYMBOLS(ROW)
#undef ROW
};

#define COUNT (int)(sizeof(table) / sizeof(table[0]))

const char *drill_cuda_call_name(unsigned int number)
{
	return number < (unsigned int)COUNT && table[number].name ?
		       table[number].name : "?";
}

/* Is @symbol @name itself or a later version of it? */
static bool is_version_of(const char *symbol, const char *name)
{
	size_t n = strlen(name);

	if (strncmp(symbol, name, n))
		return false;
	return !symbol[n] || (!strncmp(symbol + n, "_v", 2) &&
			      isdigit((unsigned char)symbol[n + 2]) &&
			      !symbol[n + 3]);
}

static int unknown(const char *name, struct drill_err *err)
{
	const char *names[COUNT + 1], *near;
	int n = 0;

	for (int i = 0; i < COUNT; i++)
		if (table[i].name)
			names[n++] = table[i].name;
	names[n] = NULL;
	near = drill_nearest(name, names);
	return drill_err_set(err, -EINVAL, "device",
			     "the CUDA driver has no call '%.80s'%s%s%s", name,
			     near ? " (did you mean '" : "", near ? near : "",
			     near ? "'?)" : "");
}

int drill_cuda_call(const char *name, struct drill_err *err)
{
	int best = -1;

	for (int i = 0; i < COUNT; i++)
		if (table[i].name && is_version_of(table[i].name, name) &&
		    (best < 0 || table[i].since > table[best].since))
			best = i;
	return best < 0 ? unknown(name, err) : best;
}

bool drill_cuda_call_any(const char *name)
{
	bool thread;

	return drill_cuda_base(name, &thread) == strlen(name);
}
