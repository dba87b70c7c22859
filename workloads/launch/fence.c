/* fence.c - proof that an attempt is gone from every host it ran on
 * SPDX-License-Identifier: MIT
 *
 * `launch-rank --fence JOB ATTEMPT` runs on each such host, through the lab's
 * `enter`, and says by its exit status that nothing is left. A host that does
 * not answer in time is lost: it is not used again until a later fence proves
 * it clean.
 */
#include "job.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

/* The starter's own limit, and for a host that was silent before what is added
 * for getting there; one that was well may be on a machine that is very busy. */
#define KILL_MS 1500
#define SILENT_MS (KILL_MS + 1000)
#define LIMIT_MS 10000
#define WORDS 64

static bool here(const struct launch_job *j)
{
	return *j->o->enter == '\0';
}

static bool was_silent(const struct launch_job *j, int host)
{
	int i;

	for (i = 0; i < j->n_ranks; i++)
		if (j->ranks[i].report.host == host &&
		    (j->ranks[i].mute ||
		     j->ranks[i].report.state == LAUNCH_GONE))
			return true;
	return false;
}

/* Is there an answer to wait for? A lost host is asked again each time, but
 * only when nothing can go on without it is it worth waiting for. */
static bool waiting(const struct launch_job *j)
{
	int64_t ms = (launch_now() - j->phase_ns) / LAUNCH_MS;
	int i;

	for (i = 0; i < j->n_hosts; i++) {
		const struct launch_host *h = &j->hosts[i];
		bool slow = h->lost || was_silent(j, i);

		if (h->asked && (!h->lost || j->wait_ns) &&
		    h->fence.pid && /* until on_end has been called */
		    ms < (slow ? SILENT_MS : LIMIT_MS))
			return true;
	}
	return false;
}

static void conclude(struct launch_job *j)
{
	int i;

	for (i = 0; i < j->n_hosts; i++) {
		struct launch_host *h = &j->hosts[i];

		if (!h->asked)
			continue;
		h->asked = false;
		launch_child_kill(&h->fence, SIGKILL);
		if (h->fenced == h->lost) {
			h->lost = !h->fenced;
			launch_tell(j, h->lost ? "host.down" : "host.up",
				    json_pack("{ss ss}", "host", h->name,
					      "reason", h->lost
					      ? "cannot be fenced"
					      : "proven clean"));
			launch_say(j, "host %s %s", h->name,
				   h->lost ? "cannot be fenced: excluded"
					   : "is clean: can be used again");
		}
	}
	launch_job_fenced(j);
}

static void on_end(struct launch_child *c)
{
	struct launch_host *h = c->ctx;
	struct launch_job *j = h->job;

	if (!h->asked) /* too late */
		return;
	h->fenced = WIFEXITED(c->status) && WEXITSTATUS(c->status) == 0;
	if (!waiting(j))
		conclude(j);
}

static void ask(struct launch_host *h)
{
	struct launch_job *j = h->job;
	char enter[4096], attempt[16], limit[16], *argv[WORDS + 8];
	struct drill_err err = {0};
	int n;

	snprintf(enter, sizeof(enter), "%s", j->o->enter);
	snprintf(attempt, sizeof(attempt), "%d", j->attempt);
	snprintf(limit, sizeof(limit), "%d", KILL_MS);
	n = launch_child_words(enter, argv, WORDS);
	if (n > 0)
		argv[n++] = h->name;
	argv[n++] = j->starter;
	argv[n++] = (char[]){"--fence"};
	argv[n++] = j->id;
	argv[n++] = attempt;
	argv[n++] = limit;
	argv[n] = NULL;
	h->asked = true;
	h->fenced = false;
	if (h->fence.pid) /* the one before, killed but not yet gone */
		return;
	h->fence.on_end = on_end;
	h->fence.ctx = h;
	if (launch_child_start(&h->fence, &j->loop, argv, NULL, &err) < 0)
		launch_say(j, "fence: %s", err.msg);
}

void launch_fence(struct launch_job *j)
{
	int i;

	for (i = 0; i < j->n_hosts; i++) {
		struct launch_host *h = &j->hosts[i];

		if (h->used && (i == 0 || !here(j)))
			ask(h);
	}
	/* On one machine one answer is the answer for all "hosts". */
	if (here(j) && !j->hosts[0].asked)
		ask(&j->hosts[0]);
}

void launch_fence_tick(struct launch_job *j)
{
	if (!waiting(j))
		conclude(j);
}
