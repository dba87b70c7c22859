/* watch.c - the collective watchdog: ends a rank whose collective hangs
 * SPDX-License-Identifier: MIT
 *
 * A thread looks at when the main thread entered the collective that it is in.
 * Past the limit it says so, names who is behind if it can see that, and ends
 * the rank with status 86, as a NCCL user's watchdog aborts the process. Who is
 * behind: the one rank that has entered fewer collectives than this one, or
 * whose main thread shows no sign of life, read from the rings of the ranks
 * whose files are in reach.
 */
#include <glob.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "train.h"

static pthread_t thread;
static _Atomic int64_t since_ns, entered;
static _Atomic(const char *) doing;
static _Atomic bool stop;

void watch_enter(const char *what)
{
	doing = what;
	entered++;
	since_ns = faultdrill_now();
	faultdrill_heartbeat(train.ring);
	faultdrill_collective_enter(train.ring);
}

void watch_leave(void)
{
	since_ns = 0;
	faultdrill_collective_leave(train.ring);
	faultdrill_heartbeat(train.ring);
}

static bool is_behind(struct faultdrill_ring *r)
{
	int64_t quiet = faultdrill_now() - FAULTDRILL_LOAD(&r->heartbeat_ns);

	return FAULTDRILL_LOAD(&r->collective) <
		       FAULTDRILL_LOAD(&train.ring->collective) ||
	       (double)quiet > train.o.watchdog_s * 0.5e9;
}

/* Slot of the last rank in reach that is behind, and how many are. */
static int behind_in(const char *pattern, int *found)
{
	struct faultdrill_ring *r;
	int slot = -1;
	glob_t g;
	size_t i;

	if (glob(pattern, 0, NULL, &g))
		return -1;
	for (i = 0; i < g.gl_pathc; i++) {
		r = faultdrill_ring_map(g.gl_pathv[i]);
		if (r && r->rank != train.rank && is_behind(r)) {
			slot = r->slot;
			(*found)++;
		}
		faultdrill_ring_unmap(r);
	}
	globfree(&g);
	return slot;
}

/* Rings lie in the host's folder, the hosts' folders side by side. */
static int behind(void)
{
	const char *path = getenv("FAULTDRILL_RING");
	const char *slash = path ? strrchr(path, '/') : NULL;
	char pattern[PATH_MAX];
	int found = 0, slot;

	if (!slash || !train.ring)
		return -1;
	snprintf(pattern, sizeof(pattern), "%.*s/../*/rank*.a%d.ring",
		 (int)(slash - path), path, train.ring->attempt);
	slot = behind_in(pattern, &found);
	return found == 1 ? slot : -1;
}

static void fire(int64_t age_ns)
{
	/* One rank's end ends all: let the others' watchdogs speak first. */
	const struct timespec grace = { 0, 400000000 };
	int slot = behind();

	faultdrill_detected(train.ring, FAULTDRILL_BY_WATCHDOG, slot, doing);
	if (train.ring)
		FAULTDRILL_STORE(&train.ring->watchdog,
				 slot < 0 ? -1 : 1 + slot);
	train_say("watchdog: collective %lld (%s) has taken %.1f s, limit %g s",
		  (long long)entered, doing, (double)age_ns / 1e9,
		  train.o.watchdog_s);
	nanosleep(&grace, NULL);
	_exit(TRAIN_WATCHDOG);
}

static void *watch(void *unused)
{
	const struct timespec nap = { 0, 20000000 };
	const int64_t limit = (int64_t)(train.o.watchdog_s * 1e9);
	int64_t since, age;

	(void)unused;
	while (!stop) {
		nanosleep(&nap, NULL);
		since = since_ns;
		age = since ? faultdrill_now() - since : 0;
		if (age > limit)
			fire(age);
	}
	return NULL;
}

void watch_open(void)
{
	stop = train.o.watchdog_s <= 0;
	if (!stop && pthread_create(&thread, NULL, watch, NULL))
		train_die(TRAIN_FAILED, "no thread for the watchdog");
}

void watch_close(void)
{
	if (train.o.watchdog_s > 0) {
		stop = true;
		pthread_join(thread, NULL);
	}
}
