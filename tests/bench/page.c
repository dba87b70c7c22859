/* page.c - makes an empty hook page, as an agent would
 * SPDX-License-Identifier: MIT
 *
 * usage: page FILE
 */
#include "injectors/hooks/hooks.h"

#include <stdio.h>

int main(int argc, char **argv)
{
	struct drill_err err = { 0 };
	struct drill_hooks h;

	if (argc != 2 || drill_hooks_create(&h, argv[1], &err)) {
		fprintf(stderr, "page: %s\n", err.msg);
		return 3;
	}
	return 0;
}
