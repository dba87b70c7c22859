/* watch.c - what counts as trouble while the job runs
 * SPDX-License-Identifier: MIT
 */
#include "job.h"

#include <faultdrill/progress.h>

#include <stdio.h>
#include <string.h>

static const char *rank_name(int rank, char *buf, size_t size)
{
	snprintf(buf, size, "rank %d", rank);
	return buf;
}

/* The rank that a watchdog named, NULL when it named nobody. */
static const char *named(const struct launch_job *j, int word, char *buf,
			 size_t size)
{
	return word > 0 && word <= j->n_ranks ? rank_name(word - 1, buf, size)
					      : NULL;
}

static void watchdog_spoke(struct launch_job *j, int rank)
{
	char name[32], detail[64];
	const char *blame = named(j, j->ranks[rank].report.watchdog, name,
				  sizeof(name));

	snprintf(detail, sizeof(detail), "the watchdog of rank %d", rank);
	launch_job_trouble(j, "watchdog", "collective time-out", blame,
			   "timeout", detail);
}

static const char *how_ended(const struct launch_report *r, char *buf,
			     size_t size)
{
	if (r->state == LAUNCH_GONE)
		snprintf(buf, size, "its starter is gone");
	else if (r->signal)
		snprintf(buf, size, "killed by signal %d", r->signal);
	else
		snprintf(buf, size, "exit status %d%s", r->code,
			 r->code == FAULTDRILL_EXIT_DEVICE
				 ? ": its device failed" :
			 r->code == FAULTDRILL_EXIT_CORRUPT
				 ? ": its state is another" :
			 r->code == FAULTDRILL_EXIT_PEER
				 ? ": another rank failed" : "");
	return buf;
}

void launch_watch_exit(struct launch_job *j, int rank)
{
	const struct launch_report *r = &j->ranks[rank].report;
	char name[32], detail[48];

	if (j->phase != LAUNCH_RUNNING)
		return;
	if (r->state == LAUNCH_EXITED && r->code == 0 && r->signal == 0)
		return;
	if (r->watchdog != 0) {
		watchdog_spoke(j, rank);
		return;
	}
	rank_name(rank, name, sizeof(name));
	launch_job_trouble(j, "launcher", name,
			   r->state == LAUNCH_EXITED && !r->signal &&
			   r->code == FAULTDRILL_EXIT_PEER ? NULL : name,
			   "failed", how_ended(r, detail, sizeof(detail)));
}

static int64_t unheard(const struct launch_job *j, int rank)
{
	return launch_now() - j->ranks[rank].report.heard_ns;
}

/* Is its whole host about as silent? Its starters beat at different times. */
static bool host_is_silent(const struct launch_job *j, int rank)
{
	int i, ppn = (int)j->o->ppn, first = rank / ppn * ppn;

	for (i = first; i < first + ppn && i < j->n_ranks; i++)
		if (j->ranks[i].report.state == LAUNCH_ALIVE &&
		    unheard(j, i) < j->o->silence_ns - 2 * j->o->heartbeat_ns)
			return false;
	return j->n_places > 1;
}

static void fell_silent(struct launch_job *j, int rank)
{
	char name[80];

	if (host_is_silent(j, rank))
		snprintf(name, sizeof(name), "host %s",
			 launch_host_of(j, rank));
	else
		rank_name(rank, name, sizeof(name));
	launch_job_trouble(j, "heartbeat", name, name, "timeout",
			   "no heartbeat");
}

static void look_at(struct launch_job *j, int rank)
{
	const struct launch_report *r = &j->ranks[rank].report;
	char name[32];

	if (r->state == LAUNCH_ALIVE && r->watchdog != 0)
		watchdog_spoke(j, rank);
	else if (r->state == LAUNCH_ALIVE &&
		 unheard(j, rank) > j->o->silence_ns)
		fell_silent(j, rank);
	else if (r->state == LAUNCH_ABSENT &&
		 launch_now() - j->begun_ns > j->o->start_ns)
		launch_job_trouble(j, "launcher",
				   rank_name(rank, name, sizeof(name)), name,
				   "timeout", "its starter never came");
}

/* The job's own watchdog has the first word. This one is for jobs without, and
 * for the case that it hangs with the rest: somebody waits half as long again,
 * or nobody shows any sign of life for very much longer. */
static void look_at_progress(struct launch_job *j)
{
	int64_t limit = j->o->watchdog_ns * 3 / 2, silent = INT64_MAX;
	bool waits = false;
	int i;

	for (i = 0; i < j->n_ranks; i++) {
		const struct launch_report *r = &j->ranks[i].report;

		if (r->state == LAUNCH_ALIVE && r->waiting_ns > limit)
			waits = true;
		if (r->silent_ns < silent)
			silent = r->silent_ns;
	}
	if (limit > 0 && (waits || silent > 8 * limit))
		launch_job_trouble(j, "launcher", "no progress", NULL,
				   "timeout", "and no word of a watchdog");
}

void launch_watch(struct launch_job *j)
{
	int i;

	for (i = 0; i < j->n_ranks && j->phase == LAUNCH_RUNNING; i++)
		look_at(j, i);
	if (j->phase == LAUNCH_RUNNING)
		look_at_progress(j);
}
