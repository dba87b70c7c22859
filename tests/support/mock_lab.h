/* mock_lab.h - a lab on a virtual clock: agents and a training job as models
 * SPDX-License-Identifier: MIT
 *
 * The same struct of functions as a real lab, so that scenario logic runs in
 * microseconds. One at a time; set the knobs, run a drill, read the counts.
 */
#ifndef DRILL_MOCK_LAB_H
#define DRILL_MOCK_LAB_H

#include "harness/lab/lab.h"

struct drill_mock {
	/* Knobs. */
	double step_s;		/* 0: 0.1 */
	double restart_s;	/* from the end of an attempt to the next; 0: 1 */
	bool never_fires;	/* agents ignore triggers */
	bool revert_fails;	/* reverts end dirty */
	bool no_hook;		/* ranks say no hello */
	bool no_proxy;		/* rank 1 does not load the CUDA proxy */
	bool bypass;		/* rank 2 loads a driver beside it */
	int refused;		/* processes without a place on h0's page */
	bool no_detection;	/* nobody notices */
	bool dies_again;	/* each attempt dies at the same step */
	bool probe_says_no;
	bool snapshot_differs;
	double bite_s;		/* from issued to effective */
	double sigint_s, sigint2_s; /* 0: none; since up */
	int signum;		/* 0: SIGINT */
	int64_t wall_step_ns;	/* the wall clock jumps so far at each reading */
	/* What happened. */
	int ups, downs, plans, jobs, stops;
	int effective, reverted; /* acts that can be reverted */
	double effective_s, reverted_s; /* the last, since up */
	int fired;
	int wall_steps;
	int64_t events; /* pulled from the queue */
};

extern struct drill_mock drill_mock;
extern const struct drill_lab_ops drill_lab_mock;

#endif
