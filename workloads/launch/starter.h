/* starter.h - the parts of the rank starter
 * SPDX-License-Identifier: MIT
 */
#ifndef LAUNCH_STARTER_H
#define LAUNCH_STARTER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* What the command line and the environment say; borrowed from them. */
struct starter {
	const char *dir, *log, *preload, *library_path;
	char host[64];
	int rank, local, attempt, ppn, devices;
	bool remote; /* several hosts: mpirun counts our place on each */
	int64_t heartbeat_ms;
	char **argv; /* of the rank */
};

/* The rank's ring header as far as the launcher wants it; all 0 without. */
struct pulse {
	int64_t now, step, collective, since, heartbeat, watchdog, run;
};

/* Starts the rank in a process group of its own, dying with us. */
pid_t starter_spawn(const struct starter *s);

/* Path of the rank's ring. Returns @buf. */
const char *starter_ring(const struct starter *s, char *buf, size_t size);

/* Reads the ring at @path (@fd: -1, kept open between calls) and the processor
 * time of @pid. */
void starter_pulse(const char *path, int *fd, pid_t pid, struct pulse *ret);

/* Kills every process of job @job up to @attempt that this PID namespace
 * shows, and proves by two empty scans that none is left. 0, or -ETIMEDOUT
 * when some were still there after @limit_ms; their number in *ret_left. */
int starter_fence(const char *job, int attempt, int limit_ms, int *ret_left);

/* launch-rank --health. Returns only when its arguments are wrong. */
int starter_health(int argc, char **argv);

int64_t starter_raw_ns(void);

#endif
