/* watcher.h - one host's `launch-rank --health`: started, heard, started again
 * SPDX-License-Identifier: MIT
 *
 * starter_health.c has the lines that go either way. A host's watcher lives
 * through all attempts; while it is away nothing is heard of its devices.
 */
#ifndef LAUNCH_WATCHER_H
#define LAUNCH_WATCHER_H

#include "job.h"

struct launch_watcher {
	/* The caller's, before the start; stays where it is. */
	struct launch_host *host;
	void (*hear)(struct launch_watcher *w, const char *line);
	/* Ours. */
	struct launch_child child;
	uv_pipe_t pipe;
	bool open;  /* the pipe */
	bool quiet; /* its end was said once */
	int64_t ended_ns;
	char in[512];
	size_t in_len;
};

int launch_watcher_start(struct launch_watcher *w, struct drill_err *err);
/* Starts it again when it has ended for a while. */
void launch_watcher_tick(struct launch_watcher *w);
/* @line ends with a line feed; lost when nobody is there. */
void launch_watcher_say(struct launch_watcher *w, const char *line);
void launch_watcher_close(struct launch_watcher *w);

#endif
