/* drill_test.h - a scenario's text in, what the drill said out
 * SPDX-License-Identifier: MIT
 */
#ifndef DRILL_TEST_H
#define DRILL_TEST_H

#include "harness/engine/drill.h"
#include "harness/lua/face.h"
#include "mock_lab.h"

struct drill_tested {
	int loaded; /* 0, or the error of loading */
	struct drill_err err;
	char trace[4096];
	struct drill_result result;
	char out[64]; /* folder of the runs, removed by _done */
};

/* Loads @text as t.lua and runs its first scenario on the mock lab. */
void drill_test_run(const char *text, uint64_t seed, struct drill_tested *ret);
void drill_tested_done(struct drill_tested *t);

/* Only loads; 0 or the error, with its text in @ret->err. */
int drill_test_load(const char *text, struct drill_tested *ret);

/* reasons of trial @i as one text; borrowed until the next call. */
const char *drill_test_reasons(const struct drill_tested *t, int trial);
json_t *drill_test_trial(const struct drill_tested *t, int trial);
/* How many events of @kind, of fault @fault or any (NULL), in trial @i. */
int drill_test_count(const struct drill_tested *t, int trial, const char *kind,
		     const char *fault);

#endif
