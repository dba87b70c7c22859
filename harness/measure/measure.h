/* measure.h - events in, every number of a drill out
 * SPDX-License-Identifier: MIT
 *
 * Numbers come from the events alone; docs for each are in the tables of the
 * manual. Times are seconds on the events' clock, costs rank-seconds.
 */
#ifndef DRILL_MEASURE_H
#define DRILL_MEASURE_H

#include "harness/core/err.h"

#include <jansson.h>

/* The objects of events.jsonl, in any order (they are sorted by t_s, ties keep
 * the order of the lines). Events without "trial" are not looked at. Beyond the
 * fields of the event table these are read where they are given:
 *   trial.begin     spares, follow ("events"|"log"), faults ["name", ...],
 *                   workload, model {parameters layers width seq peak_flops},
 *                   price {rank_hour currency kw kw_by {category: kW}}
 *   fault.requested target ("rank 3" | ["rank 3", ...]), injector, class,
 *                   fidelity, natural
 *   fault.reverted  state ("clean" | "dirty" | "irreversible")
 *
 * *ret (yours, json_decref) gets
 *   baseline  trials, stages {name: step_s sigma_s band_s data_s data_band_s
 *             samples}, wall_rank_s, tokens_per_step
 *   noise_floor_rank_s (null without null trials), null_test {p, n_null,
 *             n_baseline, why}
 *   trials[]  trial role outcome ranks begin_s end_s wall_s finished truncated
 *             conclusive reasons[] ledger{} collapsed[] work_steps
 *             lost_compute_rank_s lost_ledger_rank_s drift_rank_s lost_steps
 *             lost_tokens unattributed_rank_s attempts
 *             attempts_without_progress livelock late_events false_alarms
 *             spare_rank_s queued_rank_s boundary_u_s
 *             goodput ettr_wall step_commit_ratio checkpoint_overhead
 *             data_stall_share communication_share transfer_share mfu
 *             workload {name steps final_state baseline_state state_equal
 *                       tokens throughput}
 *             segments[] {slot from_s to_s category}
 *             baseline_cut {category: rank_s} what the baseline took to do
 *                       the same work, by category: Rb_c(W)
 *             throughput[] {t_s step tokens steps_per_s tokens_per_s}
 *             attempt_list[] {attempt from_s to_s reason}
 *             incidents[] fault injector class fidelity target natural outcome
 *               occurrences instants {name: {t_s host uncertainty_s}} stop
 *               detected_by detected_by_or[] detectors[]
 *               detections[] {by t_s blame level correct first}
 *               blame blame_level blame_correct detect_order
 *               time_to_{detect,blame,resume,catch_up,steady}_s, each with _u_s
 *               _lo_s _hi_s, or null and time_to_X_why (never, not_applicable);
 *               time_to_detect_lower_s; phases {detect blame stop allocate
 *               start connect restore first_step redo settle}
 *               lost_{compute,alone,any}_rank_s shared below_noise
 *               made_of {category: rank_s} its share of each, sums to
 *                       lost_compute_rank_s
 *               cost {rank_s steps tokens money currency kwh kwh_from}
 *               reverted (true | false | "irreversible")
 *   Incidents of a rank that died by no fault of ours come last: fault
 *   "natural", natural true; their loss is part of unattributed_rank_s.
 *   false_alarms is a count; they stand in false_alarm_list[] {by t_s what}.
 *
 * A trial that cannot be judged has conclusive false and says why in reasons;
 * events that cannot be read at all are -EINVAL and name the event. */
int drill_measure(json_t *events, json_t **ret, struct drill_err *err);

#endif
