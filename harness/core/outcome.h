/* outcome.h - the seven ways a drill can end, and how several fold into one
 * SPDX-License-Identifier: MIT
 *
 * Within a trial inconclusive beats fail: a fault that never bit fails nobody.
 * Across trials and scenarios the worst wins:
 * dirty > error > fail > inconclusive > skip > pass. When everything was
 * skipped the fold is skip.
 */
#ifndef DRILL_OUTCOME_H
#define DRILL_OUTCOME_H

#include "err.h"

/* The value is the exit status. */
enum drill_outcome {
	DRILL_PASS = 0,
	DRILL_FAIL = 1,		/* the system under test did not hold */
	DRILL_USAGE = 2,	/* bad command line, or a scenario that does not load */
	DRILL_ERROR = 3,	/* ours */
	DRILL_SKIP = 4,		/* cannot run here; the reason is printed */
	DRILL_DIRTY = 5,	/* something could not be proven clean */
	DRILL_INCONCLUSIVE = 6, /* no or too little data */
};

/* "pass", "fail", ...; borrowed, lives for ever. */
const char *drill_outcome_name(enum drill_outcome o);

/* One sentence for the EXIT STATUS table. */
const char *drill_outcome_doc(enum drill_outcome o);

int drill_outcome_parse(const char *name, enum drill_outcome *ret);

/* Across trials and scenarios: the worse of the two. */
enum drill_outcome drill_outcome_worse(enum drill_outcome a,
				       enum drill_outcome b);

/* Within one trial: as above, but inconclusive beats fail. */
enum drill_outcome drill_outcome_in_trial(enum drill_outcome a,
					  enum drill_outcome b);

#endif
