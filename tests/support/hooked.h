/* hooked.h - a rank for tests: calls collectives through the hook, without MPI
 * SPDX-License-Identifier: MIT
 */
#ifndef DRILL_TEST_HOOKED_H
#define DRILL_TEST_HOOKED_H

#include "injectors/hooks/hooks.h"

#include <sys/types.h>

/* A child that says hello on @page as @rank of attempt @attempt and then calls
 * @word each millisecond until it is killed (it dies with its parent). Returns
 * its pid once it has said hello; yours: kill and wait. */
pid_t drill_hooked_start(const char *page, int rank, int attempt,
			 enum drill_word word);

#endif
