/* summary.h - what a run comes down to: the trial to show, why, what missed
 * SPDX-License-Identifier: MIT
 */
#ifndef DRILL_SUMMARY_H
#define DRILL_SUMMARY_H

#include "harness/core/outcome.h"
#include "harness/measure/verdict.h"
#include "reporter.h"

/* One row of expectations[], read once. Strings and JSON are borrowed. */
struct drill_expect {
	const char *metric, *op, *stat, *unit, *why;
	json_t *limit, *value, *per_trial;
	double lim, val;  /* in the base unit; NAN when not a number */
	double used;	  /* share of the allowance: value / limit, or limit /
			   * value for > and >=; NAN without one */
	enum drill_held held;
};

/* The run's word; what is missing or unknown is "error". */
enum drill_outcome drill_run_outcome(json_t *run);
enum drill_outcome drill_trial_outcome(json_t *trial);

/* The rows in the order in which they are shown: missed first, by how far,
 * then undecided, then held by how close. Yours: free. */
struct drill_expect *drill_expects(json_t *run, size_t *ret_n);

/* The row's value in trial @trial of trials[]: per_trial counts the fault
 * trials, or all of them when it has one for each. NULL: none. */
json_t *drill_expect_in(json_t *run, const struct drill_expect *e, int trial,
			int *ret_index);

/* Did this value hold by itself? For the dots of single trials. */
enum drill_held drill_expect_held(const struct drill_expect *e, json_t *value);

/* The index in trials[] to show, -1 when there is none: report->trial, else
 * the worst fault trial, else the last trial. */
int drill_trial_shown(const struct drill_report *report);

/* Which of the trials of its role that is, from 0: the index in per_trial. */
int drill_trial_ordinal(json_t *run, int trial);
int drill_trials_of(json_t *run, const char *role);

/* One sentence with a full stop: why the run has its outcome. @plain as in
 * drill_value_text. Returns @buf. */
const char *drill_verdict_why(json_t *run, bool plain, char *buf, size_t size);

/* "lost.time_to_detect is 11.6 s, must be < 10 s". Returns @buf. */
const char *drill_expect_text(const struct drill_expect *e, bool plain,
			      char *buf, size_t size);

/* "needs X on host Y", or the run's reason. Returns @buf. */
const char *drill_skip_text(json_t *skip, char *buf, size_t size);

#endif
