/* check_main.h - the main of a Check program, and how a test says it skipped
 * SPDX-License-Identifier: MIT
 */
#ifndef DRILL_CHECK_MAIN_H
#define DRILL_CHECK_MAIN_H

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

/* A skip is printed with its reason and counted by tests/run. */
#define SKIP(...)                                                              \
	do {                                                                   \
		printf("SKIP %s: ", __func__);                                 \
		printf(__VA_ARGS__);                                           \
		putchar('\n');                                                 \
		fflush(stdout);                                                \
		return;                                                        \
	} while (0)

static inline int drill_check_main(Suite *s)
{
	SRunner *r = srunner_create(s);
	int failed;

	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif
