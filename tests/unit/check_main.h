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

#ifdef __has_feature
#define DRILL_ASAN __has_feature(address_sanitizer)
#else
#define DRILL_ASAN 0
#endif
#if DRILL_ASAN || defined(__SANITIZE_ADDRESS__)
#define DRILL_SANITIZED 1
#else
#define DRILL_SANITIZED 0
#endif

/* How often a simulation is repeated: fewer times where each takes ten times as
 * long; a test whose bounds follow from the number stays as sharp as that. */
#define REPEAT(n) (DRILL_SANITIZED ? (n) / 5 : (n))

/* A limit says that a test hangs, not that the machine is slow. */
__attribute__((constructor)) static void drill_check_patience(void)
{
	setenv("CK_TIMEOUT_MULTIPLIER", DRILL_SANITIZED ? "10" : "4", 0);
}

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
