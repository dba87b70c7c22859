/* job.c - one attempt after the other: run, settle, stop, fence, go on
 * SPDX-License-Identifier: MIT
 *
 * A state machine on one tick. Everything that waits has a deadline, so that
 * no rank, starter, mpirun or host can hold the launcher up.
 */
#include "job.h"

#include "health.h"
#include "recover.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <time.h>

#define TICK_MS 20
/* Evidence: at least so long after the first sign, at most so long. */
#define SETTLE_MIN_MS 100
#define SETTLE_WATCHDOG_MS 300 /* watchdogs of one hang fire this far apart */
#define SETTLE_MAX_MS 1000
/* From TERM to KILL for the ranks; then for mpirun; then it is left to the
 * fence. */
#define TERM_MS 500
#define STOP_MS 2000
#define MPIRUN_NS (500 * LAUNCH_MS)
#define REPORTS_MS 500 /* mpirun ended: what may still be under way */

int64_t launch_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static void enter_phase(struct launch_job *j, enum launch_phase phase)
{
	j->phase = phase;
	j->phase_ns = launch_now();
}

static int64_t phase_ms(const struct launch_job *j)
{
	return (launch_now() - j->phase_ns) / LAUNCH_MS;
}

static int draw_hex(char *hex, struct drill_err *err)
{
	unsigned char raw[LAUNCH_TOKEN / 2];
	size_t i;

	if (getrandom(raw, sizeof(raw), 0) != sizeof(raw))
		return drill_err_errno(err, errno, "launch", "getrandom");
	for (i = 0; i < sizeof(raw); i++)
		sprintf(hex + 2 * i, "%02x", raw[i]);
	return 0;
}

static void over(struct launch_job *j, int status)
{
	if (j->phase == LAUNCH_OVER)
		return;
	enter_phase(j, LAUNCH_OVER);
	j->status = status;
	uv_stop(&j->loop);
}

static void end_attempt(struct launch_job *j, const char *reason,
			const char *what)
{
	json_t *event = json_pack("{ss}", "reason", reason);

	if (event && what)
		json_object_set_new(event, "what", json_string(what));
	launch_tell(j, "attempt.end", event);
	launch_say(j, "%s%s%s", reason, what ? ": " : "", what ? what : "");
}

static void tell_placed(struct launch_job *j)
{
	json_t *ranks = json_array();
	int i;

	for (i = 0; i < j->n_ranks; i++)
		json_array_append_new(ranks,
				      json_pack("{si ss}", "rank", i, "host",
						launch_host_of(j, i)));
	launch_tell(j, "placed", json_pack("{so}", "ranks", ranks));
}

static int begin_attempt(struct launch_job *j, struct drill_err *err)
{
	int i, rc;

	launch_crew_close(j);
	for (i = 0; i < j->n_ranks; i++) {
		j->ranks[i] = (struct launch_rank){0};
		j->ranks[i].report.host = j->place[i / j->o->ppn];
		j->ranks[i].report.busy = -1;
	}
	for (i = 0; i < j->n_places; i++)
		j->hosts[j->place[i]].used = true;
	j->attempt++;
	j->reason = "failed";
	j->begun_ns = launch_now();
	j->wait_ns = 0;
	j->mpirun_asked = j->blamed = false;
	j->ranks_end_ns = 0;
	launch_health_begin(j);
	rc = draw_hex(j->token, err);
	if (rc < 0)
		return rc;
	launch_tell(j, "attempt.begin",
		    json_pack("{ss}", "reason",
			      j->attempt == 1 ? "start" : "restart"));
	tell_placed(j);
	enter_phase(j, LAUNCH_RUNNING);
	return launch_mpirun(j, err);
}

/* Our own failure: nothing more can be started. */
static void fail(struct launch_job *j, const struct drill_err *err)
{
	launch_error(j, err);
	end_attempt(j, "gave_up", err->msg);
	over(j, 3);
}

static void give_up(struct launch_job *j, const char *why)
{
	end_attempt(j, "gave_up", why);
	over(j, 1);
}

/* The step that all ranks of the attempt have begun. */
static int64_t reached(const struct launch_job *j)
{
	int64_t least = INT64_MAX;
	int i;

	for (i = 0; i < j->n_ranks; i++)
		if (j->ranks[i].report.step < least)
			least = j->ranks[i].report.step;
	return least;
}

static bool makes_progress(struct launch_job *j, char *why, size_t size)
{
	if (reached(j) > j->high_water) {
		j->high_water = reached(j);
		j->no_progress = 0;
	} else {
		j->no_progress++;
	}
	snprintf(why, size,
		 "livelock: %d attempts in a row did not get above step "
		 "%" PRId64, j->no_progress, j->high_water);
	return j->no_progress < j->o->max_no_progress;
}

static void go_on(struct launch_job *j)
{
	struct drill_err err = {0};
	int rc = j->recovery->next(j, &err);

	if (rc == -EAGAIN && launch_now() - j->wait_ns < j->o->host_wait_ns) {
		if (j->phase != LAUNCH_WAITING)
			launch_say(j, "%s: waiting for it", err.msg);
		enter_phase(j, LAUNCH_WAITING);
		return;
	}
	if (rc < 0) {
		give_up(j, err.msg);
		return;
	}
	end_attempt(j, j->reason, NULL);
	if (begin_attempt(j, &err) < 0)
		fail(j, &err);
}

static void tell_blamed(struct launch_job *j, const struct launch_blame *b)
{
	char name[80] = "nobody";

	if (b->level == LAUNCH_RANK)
		snprintf(name, sizeof(name), "rank %d", b->index);
	else if (b->level == LAUNCH_HOST)
		snprintf(name, sizeof(name), "host %s",
			 j->hosts[b->index].name);
	launch_say(j, "blame: %s (%s)", name, b->why);
	if (b->level == LAUNCH_NOBODY)
		return;
	j->blamed = true;
	launch_tell(j, "blamed",
		    json_pack("{ss ss ss ss}", "by", b->by, "blame", name,
			      "level", b->level == LAUNCH_RANK ? "exact"
							       : "host",
			      "what", b->why));
}

/* Nobody was blamed, and now the fence has found a host dead: it is the one. */
static void blame_late(struct launch_job *j)
{
	struct launch_blame b = {LAUNCH_HOST, -1, "launcher",
				 "it could not be fenced"};
	int i, n = 0;

	for (i = 0; i < j->n_places; i++) {
		if (!j->hosts[j->place[i]].lost)
			continue;
		b.index = j->place[i];
		n++;
	}
	if (n == 1 && j->n_places > 1)
		tell_blamed(j, &b);
}

static void tell_fenced(struct launch_job *j)
{
	json_t *lost = json_array();
	int i;

	for (i = 0; i < j->n_hosts; i++)
		if (j->hosts[i].lost)
			json_array_append_new(lost,
					      json_string(j->hosts[i].name));
	if (!j->blamed)
		blame_late(j);
	launch_tell(j, "fenced", json_pack("{ss so}", "by", "launcher",
					   "excluded", lost));
}

/* Devices that need it are reset while nothing runs on them. */
static void mending(struct launch_job *j)
{
	if (!launch_health_mend(j))
		go_on(j);
}

void launch_job_fenced(struct launch_job *j)
{
	char why[128];

	if (j->phase == LAUNCH_OVER)
		return;
	if (strcmp(j->reason, "done") == 0) { /* told already */
		over(j, 0);
		return;
	}
	if (j->wait_ns == 0)
		tell_fenced(j);
	if (j->stop_signal) {
		end_attempt(j, "stopped", "by a signal");
		over(j, 128 + j->stop_signal);
	} else if (j->wait_ns == 0 && !makes_progress(j, why, sizeof(why))) {
		give_up(j, why);
	} else {
		if (j->wait_ns == 0)
			j->wait_ns = launch_now();
		launch_health_starts(j);
		enter_phase(j, LAUNCH_MENDING);
		mending(j);
	}
}

static void fence(struct launch_job *j)
{
	enter_phase(j, LAUNCH_FENCING);
	launch_health_look(j);
	launch_fence(j);
}

static void stop(struct launch_job *j)
{
	char line[32];

	enter_phase(j, LAUNCH_STOPPING);
	memset(j->token, 0, sizeof(j->token)); /* latecomers are refused */
	snprintf(line, sizeof(line), "stop %d\n", TERM_MS);
	launch_crew_say(j, line);
}

static void decide(struct launch_job *j)
{
	struct launch_blame b;
	int i;

	for (i = 0; i < j->n_ranks; i++) {
		struct launch_rank *r = &j->ranks[i];

		j->table[i] = r->report;
		r->mute = r->report.state == LAUNCH_ALIVE &&
			  r->report.heard_ns < j->asked_ns;
	}
	b = launch_blame(j->table, j->n_ranks, j->asked_ns);
	if (launch_health_blame(j))
		j->blamed = true;
	else
		tell_blamed(j, &b);
	stop(j);
}

static bool answered(const struct launch_job *j)
{
	int i;

	for (i = 0; i < j->n_ranks; i++)
		if (j->ranks[i].report.state == LAUNCH_ALIVE &&
		    j->ranks[i].report.heard_ns < j->asked_ns)
			return false;
	return true;
}

static void settle(struct launch_job *j)
{
	bool hang = strcmp(j->reason, "timeout") == 0;
	int64_t least = hang ? SETTLE_WATCHDOG_MS : SETTLE_MIN_MS;

	if (phase_ms(j) >= SETTLE_MAX_MS ||
	    (phase_ms(j) >= least && answered(j)))
		decide(j);
}

void launch_job_trouble(struct launch_job *j, const char *by, const char *what,
			const char *blame, const char *reason,
			const char *detail)
{
	json_t *event = json_pack("{ss ss ss}", "by", by, "what", what,
				  "detail", detail);

	if (j->phase != LAUNCH_RUNNING) {
		json_decref(event);
		return;
	}
	if (event && blame)
		json_object_set_new(event, "blame", json_string(blame));
	launch_tell(j, "detected", event);
	launch_say(j, "%s says: %s: %s%s%s", by, what, detail,
		   blame ? ", blames " : "", blame ? blame : "");
	launch_job_settle(j, reason);
}

void launch_job_settle(struct launch_job *j, const char *reason)
{
	if (j->phase != LAUNCH_RUNNING)
		return;
	j->reason = reason;
	j->asked_ns = launch_now();
	enter_phase(j, LAUNCH_SETTLING);
	launch_crew_say(j, "ask\n");
	launch_health_look(j);
}

/* Is there a rank that can still be heard to end? */
static bool ranks_left(const struct launch_job *j)
{
	int i;

	for (i = 0; i < j->n_ranks; i++)
		if (j->ranks[i].report.state == LAUNCH_ALIVE &&
		    !j->ranks[i].mute)
			return true;
	return false;
}

static bool any_mute(const struct launch_job *j)
{
	int i;

	for (i = 0; i < j->n_ranks; i++)
		if (j->ranks[i].mute)
			return true;
	return false;
}

static bool any_absent(const struct launch_job *j)
{
	int i;

	for (i = 0; i < j->n_ranks; i++)
		if (j->ranks[i].report.state == LAUNCH_ABSENT)
			return true;
	return false;
}

/* mpirun ends by itself when its ranks have: at once after one failed, after
 * two seconds when several did, never while one is frozen. Too slow: the fence
 * proves what matters. It is asked to end only while it still starts ranks, and
 * once: asked twice it crashes. */
static void stopping(struct launch_job *j)
{
	if (!j->mpirun.pid) {
		launch_tell(j, "stopped", json_pack("{ss}", "by", "launcher"));
		fence(j);
		return;
	}
	if (j->ranks_end_ns == 0 && !ranks_left(j))
		j->ranks_end_ns = launch_now();
	if (phase_ms(j) > STOP_MS ||
	    (j->ranks_end_ns &&
	     (any_mute(j) || launch_now() - j->ranks_end_ns > MPIRUN_NS))) {
		launch_child_kill(&j->mpirun, SIGKILL);
	} else if (any_absent(j) && !j->mpirun_asked) {
		j->mpirun_asked = true;
		launch_child_kill(&j->mpirun, SIGTERM);
	}
}

static bool all_well(const struct launch_job *j)
{
	int i;

	for (i = 0; i < j->n_ranks; i++) {
		const struct launch_report *r = &j->ranks[i].report;

		if (r->state != LAUNCH_EXITED || r->code || r->signal)
			return false;
	}
	return WIFEXITED(j->mpirun_status) &&
	       WEXITSTATUS(j->mpirun_status) == 0;
}

void launch_job_ended(struct launch_job *j)
{
	if (j->phase == LAUNCH_STOPPING)
		stopping(j);
}

static void running(struct launch_job *j)
{
	char what[64];

	if (j->mpirun.pid) {
		launch_watch(j);
		return;
	}
	if (all_well(j)) {
		j->reason = "done";
		end_attempt(j, "done", NULL);
		fence(j); /* children that a rank left behind */
		return;
	}
	if (launch_now() - j->mpirun_end_ns < REPORTS_MS * LAUNCH_MS)
		return;
	snprintf(what, sizeof(what), "ended by %s %d",
		 WIFSIGNALED(j->mpirun_status) ? "signal" : "status",
		 WIFSIGNALED(j->mpirun_status) ? WTERMSIG(j->mpirun_status)
					       : WEXITSTATUS(j->mpirun_status));
	launch_job_trouble(j, "mpi", "mpirun", NULL, "failed", what);
}

static void on_tick(uv_timer_t *t)
{
	struct launch_job *j = t->data;

	launch_health_tick(j);
	switch (j->phase) {
	case LAUNCH_RUNNING:
		running(j);
		break;
	case LAUNCH_SETTLING:
		settle(j);
		break;
	case LAUNCH_STOPPING:
		stopping(j);
		break;
	case LAUNCH_FENCING:
		launch_fence_tick(j);
		break;
	case LAUNCH_MENDING:
		mending(j);
		break;
	case LAUNCH_WAITING:
		if (phase_ms(j) > 500)
			fence(j);
		break;
	case LAUNCH_IDLE:
	case LAUNCH_OVER:
		break;
	}
}

void launch_job_stop(struct launch_job *j, int signum)
{
	if (j->stop_signal || strcmp(j->reason, "done") == 0)
		return;
	j->stop_signal = signum;
	j->reason = "stopped";
	if (j->phase == LAUNCH_RUNNING || j->phase == LAUNCH_SETTLING)
		stop(j);
	else if (j->phase == LAUNCH_WAITING || j->phase == LAUNCH_MENDING)
		fence(j);
}

int launch_job_run(struct launch_job *j, struct drill_err *err)
{
	int rc;

	rc = draw_hex(j->id, err);
	if (rc == 0)
		rc = launch_crew_open(j, err);
	if (rc == 0)
		rc = launch_health_open(j, err);
	if (rc == 0)
		rc = begin_attempt(j, err);
	if (rc < 0)
		return rc;
	uv_timer_init(&j->loop, &j->tick);
	j->tick.data = j;
	uv_timer_start(&j->tick, on_tick, TICK_MS, TICK_MS);
	uv_run(&j->loop, UV_RUN_DEFAULT);
	return 0;
}
