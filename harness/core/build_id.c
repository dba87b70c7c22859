/* build_id.c - which build this is, so that two ends can compare
 * SPDX-License-Identifier: MIT
 */
#include "proto.h"

#include "build_id.h" /* made by the build */

const char *drill_build_id(void)
{
	return DRILL_VERSION "+" DRILL_BUILD_ID;
}

const char *drill_version(void)
{
	return DRILL_VERSION;
}
