/* html_fold.h - what each slot did, read once and folded to what can be drawn
 * SPDX-License-Identifier: MIT
 *
 *   up to 32 ranks   one lane a rank, 10 px high, every rank numbered
 *   33 to 128        one lane a rank, 5 px high; only hosts named, and the
 *                    ranks that a fault hit
 *   above            one lane a host, 8 px high, split in each time bin by the
 *                    share of each category over its ranks. The ranks that a
 *                    fault hit, and those that differ from their host for more
 *                    than 1% of the trial, have a lane of their own below it.
 *                    Beyond 128 hosts neighbours share a lane.
 *
 * A stretch narrower than 0.1% of the trial joins its neighbours in a mixed
 * run, drawn as a split lane; the readout has its milliseconds.
 */
#ifndef DRILL_HTML_FOLD_H
#define DRILL_HTML_FOLD_H

#include "html_part.h"

/* A stretch of a lane: seconds of each category in it. */
struct drill_run {
	double from, to;
	double s[CATS];
};

struct drill_lane {
	struct drill_run *runs;
	size_t n, room;
};

enum drill_fold { FOLD_RANK, FOLD_THIN, FOLD_HOST };

struct drill_lanes {
	enum drill_fold mode;
	size_t n;		 /* slots */
	struct drill_lane *slot; /* by slot number */
	size_t *order;		 /* slots in the order of their hosts */
	const char **host;	 /* by slot: where it began; "" unknown */
	const char **moved;	 /* by slot: where it ended, "" the same */
};

/* Reads segments[] of the trial shown. -1 when it has none. */
int drill_lanes_read(struct html *h, struct drill_lanes *ret);
void drill_lanes_done(struct drill_lanes *l);

/* The lane of several slots together, in bins. Yours: free lane->runs. */
void drill_lanes_merge(struct html *h, const struct drill_lanes *l,
		       const size_t *slots, size_t n, struct drill_lane *ret);

/* Those of @slots that need a lane of their own, in @ret (room for @n). */
size_t drill_lanes_odd(struct html *h, const struct drill_lanes *l,
		       const size_t *slots, size_t n, size_t *ret);

/* The category with most time in a run, and whether it is all of it. */
enum drill_cat drill_run_most(const struct drill_run *run, bool *ret_pure);

bool drill_slot_hit(struct html *h, size_t slot);

#endif
