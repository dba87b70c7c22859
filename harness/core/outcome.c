/* outcome.c - the seven ways a drill can end, and how several fold into one
 * SPDX-License-Identifier: MIT
 */
#include "outcome.h"

#include <errno.h>
#include <string.h>

struct row {
	const char *name, *doc;
	int across;   /* badness across trials and scenarios */
	int in_trial; /* badness within one trial */
};

static const struct row rows[] = {
	[DRILL_PASS] = {"pass",
			"Every expectation held, everything was reverted and "
			"verified gone.",
			0, 0},
	[DRILL_FAIL] = {"fail",
			"The system under test did not hold; what was broken "
			"is reverted.",
			3, 2},
	[DRILL_USAGE] = {"usage",
			 "Bad command line, or a scenario that does not load; "
			 "nothing was started.",
			 5, 5},
	[DRILL_ERROR] = {"error",
			 "The harness failed, not the system under test; what "
			 "was broken is reverted.",
			 4, 4},
	[DRILL_SKIP] = {"skip", "Cannot run here; the reason is printed.", 1,
			1},
	[DRILL_DIRTY] = {"dirty",
			 "Something could not be proven clean; the command "
			 "that finishes the job is printed.",
			 6, 6},
	[DRILL_INCONCLUSIVE] = {"inconclusive",
				"No or too little data: nothing is known about "
				"the system under test.",
				2, 3},
};

#define ROWS ((int)(sizeof(rows) / sizeof(rows[0])))

const char *drill_outcome_name(enum drill_outcome o)
{
	return (int)o < ROWS ? rows[o].name : "unknown";
}

const char *drill_outcome_doc(enum drill_outcome o)
{
	return (int)o < ROWS ? rows[o].doc : "";
}

int drill_outcome_parse(const char *name, enum drill_outcome *ret)
{
	int i;

	for (i = 0; i < ROWS; i++) {
		if (strcmp(rows[i].name, name) == 0) {
			*ret = (enum drill_outcome)i;
			return 0;
		}
	}
	return -EINVAL;
}

enum drill_outcome drill_outcome_worse(enum drill_outcome a,
				       enum drill_outcome b)
{
	return rows[b].across > rows[a].across ? b : a;
}

enum drill_outcome drill_outcome_in_trial(enum drill_outcome a,
					  enum drill_outcome b)
{
	return rows[b].in_trial > rows[a].in_trial ? b : a;
}
