/* blame.h - who is to blame, decided from what the rank starters reported
 * SPDX-License-Identifier: MIT
 *
 * A pure function over a table: no clock, no I/O, so that every judgement can
 * be written down as a test.
 */
#ifndef LAUNCH_BLAME_H
#define LAUNCH_BLAME_H

#include <stdbool.h>
#include <stdint.h>

enum launch_state {
	LAUNCH_ABSENT, /* its starter never connected */
	LAUNCH_ALIVE,
	LAUNCH_EXITED, /* its starter said so: code and signal hold */
	LAUNCH_GONE,   /* the connection ended with no word of an exit */
};

/* Of exit statuses those of faultdrill_exit (progress.h) speak for themselves.
 *
 * One rank as the launcher saw it last; stamps are the launcher's. */
struct launch_report {
	int host; /* index of the host it was placed on */
	enum launch_state state;
	int64_t heard_ns;      /* its last message */
	int64_t end_ns;	       /* EXITED or GONE: when that was heard */
	int code, signal;      /* EXITED */
	bool told;	       /* EXITED: its starter had passed on a signal */
	int64_t step;	       /* the ring's; 0: none begun, or no ring */
	int64_t collective;    /* collectives entered */
	int64_t waiting_ns;    /* how long it is in one; 0: in none */
	int64_t silent_ns;     /* since its main thread's last sign of life */
	int watchdog;	       /* 0 quiet, 1 + rank blamed, -1: fired, nobody */
	double busy;	       /* share of a core in this wait; negative: unknown */
};

enum launch_level { LAUNCH_NOBODY, LAUNCH_RANK, LAUNCH_HOST };

struct launch_blame {
	enum launch_level level;
	int index;	 /* of the rank or host */
	const char *by;	 /* detector: a word of the event `detected` */
	const char *why; /* a static sentence for people */
};

/* @asked_ns: when all were asked for a sign of life; who has not answered by
 * now is mute. Reports are in rank order. */
struct launch_blame launch_blame(const struct launch_report *r, int n,
				 int64_t asked_ns);

#endif
