/* cuda_linked.c - a program that is linked with -lcuda; see cuda_steps.h
 * SPDX-License-Identifier: MIT
 */
#include "cuda_steps.h"

int main(int argc, char **argv)
{
	static const struct calls calls = {
#define LINKED(name, version, symbol) .symbol = symbol,
		CALLS(LINKED)
	};
	struct steps s = { .c = &calls };

	steps_options(&s, argc, argv);
	return steps_go(&s);
}
