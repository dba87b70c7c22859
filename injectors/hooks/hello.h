/* hello.h - what each hook knows of its process when it says hello on a page
 * SPDX-License-Identifier: MIT
 *
 * libc only; inline, for each hook is a library of its own.
 */
#ifndef DRILL_HELLO_H
#define DRILL_HELLO_H

#include <stdint.h>
#include <stdlib.h>

enum drill_hello { DRILL_HELLO_NONE, DRILL_HELLO_HERE, DRILL_HELLO_BYE };

/* A number that the launcher gave the process; @none: it gave none. */
static inline int32_t drill_env_int(const char *name, int32_t none)
{
	const char *v = getenv(name);
	int32_t n = 0;

	if (!v || *v < '0' || *v > '9')
		return none;
	for (; *v >= '0' && *v <= '9' && n < 100000000; v++)
		n = n * 10 + *v - '0';
	return n;
}

/* Of a process that need not use MPI; -1: it is no rank. */
static inline int32_t drill_env_rank(void)
{
	return drill_env_int("OMPI_COMM_WORLD_RANK",
			     drill_env_int("FAULTDRILL_RANK", -1));
}

/* From 1; 0: not known. */
static inline int32_t drill_env_attempt(void)
{
	return drill_env_int("FAULTDRILL_ATTEMPT", 0);
}

#endif
