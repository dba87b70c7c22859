/* live.h - a drill as it runs: one moving line on a terminal, else plain lines
 * SPDX-License-Identifier: MIT
 */
#ifndef DRILL_LIVE_H
#define DRILL_LIVE_H

#include "harness/engine/drill.h"

#include <stdio.h>

struct drill_live {
	FILE *to; /* stderr */
	bool moving, quiet, line_open;
	/* What the last plain line of the state said, and when. */
	int last_trial, last_fired;
	const char *last_phase;
	double last_s;
};

void drill_live_begin(struct drill_live *l, const char *scenario,
		      const char *repeat, bool quiet);
void drill_live_show(void *live, const struct drill_progress *p);
void drill_live_end(struct drill_live *l);

#endif
