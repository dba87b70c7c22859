/* story.h - the seam between a trial and the story that is told in it
 * SPDX-License-Identifier: MIT
 *
 * The engine knows no Lua: a story is three functions. The story acts through
 * the drill_stage_ functions below, each of which either does its work at once
 * or sets what the trial waits for; then the story returns and is resumed when
 * that has come, or failed.
 */
#ifndef DRILL_STORY_H
#define DRILL_STORY_H

#include "harness/core/err.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct drill_trial;

struct drill_story {
	void *ctx;
	/* Both: 1 the story waits, 0 it is over, negative it failed. */
	int (*begin)(void *ctx, struct drill_trial *t, struct drill_err *err);
	/* @cause: NULL, or why what was waited for cannot come. */
	int (*resume)(void *ctx, const struct drill_err *cause,
		      struct drill_err *err);
	/* The trial is over; drops whatever still waits. */
	void (*end)(void *ctx);
};

/* At once. */
int drill_stage_start(struct drill_trial *t, const char *workload,
		      struct drill_err *err);
int drill_stage_inject(struct drill_trial *t, const char *fault,
		       struct drill_err *err);
int drill_stage_revert(struct drill_trial *t, const char *fault,
		       struct drill_err *err);
/* @how "reset" or "replace"; @what: "h1/gpu0", or a fault: the devices on which
 * it is in force. */
int drill_stage_device(struct drill_trial *t, const char *how,
		       const char *what, struct drill_err *err);
int drill_stage_expect(struct drill_trial *t, json_t *triple,
		       const char *where, bool *ret_held,
		       struct drill_err *err);
double drill_stage_now_s(struct drill_trial *t);
void drill_stage_log(struct drill_trial *t, const char *text);
/* A draw from the stream @name, in [0, 1); recorded. */
double drill_stage_random(struct drill_trial *t, const char *name);
void drill_stage_skip(struct drill_trial *t, const char *why);

/* Sets what the trial waits for; then the story must return 1. */
int drill_stage_wait_time(struct drill_trial *t, int64_t ns,
			  struct drill_err *err);
/* "job.steady", "job.done", "lost.effective", "lost.reverted", ...: an instant
 * of a workload or a fault. Never later than the trial's deadline. */
int drill_stage_wait_instant(struct drill_trial *t, const char *what,
			     struct drill_err *err);
int drill_stage_wait_metric(struct drill_trial *t, int64_t within_ns,
			    json_t *triple, const char *where,
			    struct drill_err *err);

#endif
