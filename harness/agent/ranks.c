/* ranks.c - the job's processes on this host: their rings, pids and ends
 * SPDX-License-Identifier: MIT
 */
#include "agent.h"
#include "line.h"
#include "members.h"
#include "process.h"

#include "faultdrill/progress.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char who[] = "agent";

/* A look at the rings: soon where a fault waits for an event, else seldom, for
 * each look wakes a processor. Holds have `wake` and do not depend on it. */
#define SOON_MS 20
#define TICK_MS 200
#define IDLE_MS 500
#define PATIENCE 40 /* looks, 5 ms apart, for an exit status */

static const char *const event_names[] = {
	[FAULTDRILL_RANK_BEGIN] = "rank.begin",
	[FAULTDRILL_STEP_BEGIN] = "step.begin",
	[FAULTDRILL_STEP_END] = "step.end",
	[FAULTDRILL_PHASE_BEGIN] = "phase.begin",
	[FAULTDRILL_PHASE_END] = "phase.end",
	[FAULTDRILL_CKPT_WRITING] = "checkpoint.writing",
	[FAULTDRILL_CKPT_BEFORE_RENAME] = "checkpoint.before_rename",
	[FAULTDRILL_CKPT_COMMITTED] = "checkpoint.committed",
	[FAULTDRILL_CKPT_FAILED] = "checkpoint.failed",
	[FAULTDRILL_RESTORE_READING] = "restore.reading",
	[FAULTDRILL_RESTORE_DONE] = "restore.done",
	[FAULTDRILL_STATE] = "state",
	[FAULTDRILL_SYMPTOM] = "symptom",
	[FAULTDRILL_DETECTED] = "detected",
	[FAULTDRILL_SAMPLE] = "sample",
	[FAULTDRILL_RANK_END] = "rank.end",
};
static const char *const phase_names[] = {
	"?",	"init", "connect",    "data",
	"compute", "comm", "checkpoint", "restore"
};
static const char *const state_names[] = { "?", "parameters", "optimizer",
					   "sampler" };
static const char *const by_names[] = { "none",	     "watchdog", "mpi",
					"framework", "numerics", "checksum",
					"storage",   "replica.hash" };

#define NAME_OF(table, i)                                                      \
	((unsigned int)(i) < sizeof(table) / sizeof((table)[0]) ? (table)[i]   \
								 : "?")

struct rank *ranks_find(struct agent *a, int rank)
{
	struct rank *r, *best = NULL;

	for (r = a->ranks; r; r = r->next)
		if (r->begun && !r->ended && r->rank == rank &&
		    (!best || r->attempt > best->attempt))
			best = r;
	return best;
}

struct rank *ranks_counting(struct agent *a, const struct target *t)
{
	struct rank *r, *best = NULL;

	if (t->rank >= 0)
		return ranks_find(a, t->rank);
	for (r = a->ranks; r; r = r->next)
		if (r->begun && !r->ended &&
		    (!best || r->attempt > best->attempt ||
		     (r->attempt == best->attempt && r->rank < best->rank)))
			best = r;
	return best;
}

static void begin(struct drill_line *l, const struct rank *r, const char *kind,
		  int64_t t_ns, int64_t u_ns)
{
	drill_line_begin(l);
	drill_line_text(l, "kind", kind, 64);
	drill_line_int(l, "h_ns", t_ns);
	drill_line_int(l, "u_ns", u_ns);
	drill_line_text(l, "host", r->agent->host, 64);
	drill_line_int(l, "attempt", r->attempt);
	drill_line_int(l, "rank", r->rank);
	drill_line_int(l, "slot", r->slot);
	drill_line_text(l, "source", "ring", 4);
}

static void put_text(struct drill_line *l, const char *field,
		     const struct faultdrill_record *rec)
{
	if (rec->text[0])
		drill_line_text(l, field, rec->text, sizeof(rec->text));
}

static void put_step(struct drill_line *l, const struct faultdrill_record *rec)
{
	drill_line_int(l, "step", rec->step);
}

static void put_step_end(struct drill_line *l,
			 const struct faultdrill_record *rec)
{
	put_step(l, rec);
	drill_line_int(l, "tokens", rec->a);
	drill_line_pair(l, "samples", "first", rec->b, "count", rec->n);
	drill_line_number(l, "loss", rec->f);
}

static void put_state(struct drill_line *l, const struct faultdrill_record *rec)
{
	char hash[20];

	snprintf(hash, sizeof(hash), "%016" PRIx64, (uint64_t)rec->a);
	put_step(l, rec);
	drill_line_text(l, "of", NAME_OF(state_names, rec->detail), 32);
	drill_line_text(l, "hash", hash, sizeof(hash));
}

static void put_detected(struct drill_line *l,
			 const struct faultdrill_record *rec)
{
	char blame[32], what[41];

	drill_line_text(l, "by", NAME_OF(by_names, rec->detail), 32);
	faultdrill_detected_what(rec, what);
	if (what[0])
		drill_line_text(l, "what", what, sizeof(what));
	if (rec->n < 0)
		return;
	snprintf(blame, sizeof(blame), "rank %d", (int)rec->n);
	drill_line_text(l, "blame", blame, sizeof(blame));
}

static void put(struct drill_line *l, const struct faultdrill_record *rec)
{
	switch (rec->kind) {
	case FAULTDRILL_STEP_END:
		put_step_end(l, rec);
		break;
	case FAULTDRILL_PHASE_BEGIN:
	case FAULTDRILL_PHASE_END:
		drill_line_text(l, "phase", NAME_OF(phase_names, rec->detail),
				32);
		break;
	case FAULTDRILL_CKPT_WRITING:
		drill_line_int(l, "bytes", rec->a);
		/* fall through */
	case FAULTDRILL_RESTORE_READING:
		put_text(l, "tier", rec);
		put_step(l, rec);
		break;
	case FAULTDRILL_CKPT_FAILED:
		put_text(l, "reason", rec);
		put_step(l, rec);
		break;
	case FAULTDRILL_STATE:
		put_state(l, rec);
		break;
	case FAULTDRILL_SYMPTOM:
		put_text(l, "what", rec);
		break;
	case FAULTDRILL_DETECTED:
		put_detected(l, rec);
		break;
	case FAULTDRILL_SAMPLE:
		put_text(l, "metric", rec);
		drill_line_number(l, "value", rec->f);
		break;
	default:
		put_step(l, rec);
	}
}

/* ---- the process behind a ring ---- */

static void free_handle(uv_handle_t *h)
{
	free(h);
}

static void stop_watch(struct rank *r)
{
	if (!r->watch)
		return;
	uv_poll_stop(r->watch);
	uv_close((uv_handle_t *)r->watch, free_handle);
	r->watch = NULL;
}

static void tell_end(struct rank *r, int status, bool known)
{
	struct drill_line l;

	begin(&l, r, "rank.end", r->end_ns, r->end_u_ns);
	if (r->process.pid)
		drill_line_int(&l, "pid", r->process.pid);
	if (known && WIFSIGNALED(status))
		drill_line_int(&l, "signal", WTERMSIG(status));
	else if (known)
		drill_line_int(&l, "code", WEXITSTATUS(status));
	else if (r->has_code)
		drill_line_int(&l, "code", r->code);
	r->ended = true;
	stop_watch(r);
	agent_line(r->agent, &l);
	drill_process_close(&r->process);
	faultdrill_ring_unmap(r->ring); /* a dead process writes no more */
	r->ring = NULL;
}

/* The kernel says how a process ended while it is a zombie, and, where it can,
 * after it was reaped; between the two nobody knows, so a few looks. */
static void look_for_end(struct rank *r)
{
	int status = 0, rc = drill_process_status(&r->process, &status);

	if (rc == -EAGAIN && r->patience-- > 0)
		return;
	tell_end(r, status, rc == 0);
}

static void on_exit_fd(uv_poll_t *h, int status, int events)
{
	struct rank *r = h->data;

	(void)status;
	(void)events;
	r->end_ns = agent_now();
	stop_watch(r);
	ranks_drain(r->agent); /* its last words come before its end */
}

static void watch(struct rank *r)
{
	r->watch = calloc(1, sizeof(*r->watch));
	if (!r->watch)
		abort();
	uv_poll_init(&r->agent->loop, r->watch, r->process.pidfd);
	r->watch->data = r;
	uv_poll_start(r->watch, UV_READABLE, on_exit_fd);
}

static void resolve(struct rank *r, int64_t begin_ns)
{
	pid_t pid = r->agent->cgroup[0]
			    ? drill_member_by_inner(r->agent->cgroup,
						    r->ring->pid)
			    : r->ring->pid;

	r->patience = PATIENCE;
	if (pid > 0 && drill_process_open(pid, &r->process, NULL) == 0) {
		watch(r);
		return;
	}
	memset(&r->process, 0, sizeof(r->process));
	r->process.pidfd = -1;
	/* Gone before we saw it: some time since it began. */
	r->end_u_ns = (agent_now() - begin_ns) / 2;
	r->end_ns = begin_ns + r->end_u_ns;
}

static void on_begin(struct rank *r, int64_t t_ns)
{
	struct drill_line l;

	r->rank = r->ring->rank;
	r->slot = r->ring->slot;
	r->attempt = r->ring->attempt;
	resolve(r, t_ns);
	r->begun = true;
	if (r->attempt > r->agent->attempt)
		r->agent->attempt = r->attempt;
	fire_start(r->agent);
	begin(&l, r, "rank.begin", t_ns, 0);
	drill_line_int(&l, "pid",
		       r->process.pid ? r->process.pid : r->ring->pid);
	if (devices_of(r->agent, r->process.pid) >= 0)
		drill_line_int(&l, "device",
			       devices_of(r->agent, r->process.pid));
	agent_line(r->agent, &l);
	fire_rank_begin(r->agent, r);
}

static void note_step(struct rank *r, int64_t step, int64_t t_ns)
{
	if (r->step_at_ns && step == r->step + 1) {
		r->step_ns = t_ns - r->step_at_ns;
		r->took_ns[r->n_took++ % RANK_STEPS] = r->step_ns;
	}
	r->step = step;
	r->step_at_ns = t_ns;
}

static int by_length(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

int64_t ranks_usual_step(const struct rank *r)
{
	size_t n = r->n_took < RANK_STEPS ? r->n_took : RANK_STEPS;
	int64_t sorted[RANK_STEPS];

	memcpy(sorted, r->took_ns, sizeof(sorted));
	qsort(sorted, n, sizeof(sorted[0]), by_length);
	return n ? sorted[n / 2] : 0;
}

static void on_record(struct rank *r, const struct faultdrill_record *rec)
{
	struct drill_line l;

	if (rec->kind == FAULTDRILL_RANK_BEGIN) {
		if (!r->begun)
			on_begin(r, rec->t_ns);
		return;
	}
	if (rec->kind == FAULTDRILL_RANK_END) {
		r->has_code = true;
		r->code = rec->n;
		return;
	}
	if (rec->kind > FAULTDRILL_RANK_END || !event_names[rec->kind])
		return;
	begin(&l, r, event_names[rec->kind], rec->t_ns, 0);
	put(&l, rec);
	if (rec->kind == FAULTDRILL_STEP_BEGIN)
		note_step(r, rec->step, rec->t_ns);
	agent_line(r->agent, &l);
	if (rec->kind == FAULTDRILL_STEP_BEGIN) {
		fault_step(r->agent, r, rec->step);
		fire_step(r->agent, r, rec->step, rec->t_ns);
	}
}

/* Lost records make a drill inconclusive; so does a ring that was overwritten. */
static void check_ring(struct rank *r, int rc)
{
	uint64_t lost = FAULTDRILL_LOAD(&r->ring->lost);
	struct drill_line l;
	char text[128];

	if (rc < 0 && !r->broken) {
		r->broken = true;
		snprintf(text, sizeof(text), "the ring of rank %d is damaged",
			 r->rank);
		agent_error(r->agent, text);
	}
	if (lost != r->lost) {
		begin(&l, r, "sample", agent_now(), 0);
		drill_line_text(&l, "metric", "ring.lost", 16);
		drill_line_int(&l, "value", lost);
		agent_line(r->agent, &l);
		r->lost = lost;
	}
}

static void drain(struct rank *r)
{
	struct faultdrill_record rec;
	int rc = 0;

	while (!r->broken && (rc = faultdrill_ring_next(r->ring, &rec)) > 0)
		on_record(r, &rec);
	check_ring(r, rc);
	if (r->begun && !r->ended && r->end_ns)
		look_for_end(r);
}

/* ---- all of them ---- */

static void attach(struct agent *a, const char *file)
{
	struct rank *r;
	char path[400];
	struct faultdrill_ring *ring;

	for (r = a->ranks; r; r = r->next)
		if (!strcmp(r->file, file))
			return;
	snprintf(path, sizeof(path), "%s/%s", a->plan.dir, file);
	ring = faultdrill_ring_map(path);
	if (!ring)
		return; /* still being made: the next look finds it */
	r = calloc(1, sizeof(*r));
	if (!r)
		abort();
	r->agent = a;
	r->ring = ring;
	r->rank = ring->rank;
	r->slot = ring->slot;
	r->attempt = ring->attempt;
	r->process.pidfd = -1;
	snprintf(r->file, sizeof(r->file), "%s", file);
	r->next = a->ranks;
	a->ranks = r;
	fire_arm(a, r); /* before its first step */
}

static void look(struct agent *a)
{
	DIR *d = opendir(a->plan.dir);
	struct dirent *e;
	size_t n;

	if (!d)
		return;
	while ((e = readdir(d))) {
		n = strlen(e->d_name);
		if (!strncmp(e->d_name, "rank", 4) && n > 5 && n < 64 &&
		    !strcmp(e->d_name + n - 5, ".ring"))
			attach(a, e->d_name);
	}
	closedir(d);
}

void ranks_drain(struct agent *a)
{
	struct rank *r;
	bool waiting, alive = false;
	uint64_t ms;

	for (r = a->ranks; r; r = r->next)
		if (!r->ended)
			drain(r);
	devices_drain(a);
	a->impatient = false;
	fire_poll(a);
	waiting = a->impatient;
	for (r = a->ranks; r; r = r->next) {
		waiting |= r->begun && !r->ended && r->end_ns;
		alive |= !r->ended;
	}
	ms = waiting ? 5 : alive ? a->tick_ms : IDLE_MS;
	if (uv_timer_get_repeat(&a->tick) != ms) {
		uv_timer_set_repeat(&a->tick, ms);
		uv_timer_again(&a->tick);
	}
}

static void on_tick(uv_timer_t *t)
{
	ranks_drain(t->data);
}

static void on_dir(uv_fs_event_t *h, const char *file, int events, int status)
{
	struct agent *a = h->data;

	(void)events;
	(void)status;
	if (file && !strstr(file, ".ring"))
		return;
	look(a);
	ranks_drain(a);
}

static void on_wake(uv_poll_t *h, int status, int events)
{
	struct agent *a = h->data;
	char bytes[64];

	(void)status;
	(void)events;
	while (read(a->wake_fd, bytes, sizeof(bytes)) > 0)
		;
	ranks_drain(a);
	fault_woken(a);
}

static int make_wake(struct agent *a, struct drill_err *err)
{
	char path[300];

	snprintf(path, sizeof(path), "%s/wake", a->plan.dir);
	if (mkfifo(path, 0622) < 0 && errno != EEXIST)
		return drill_err_errno(err, errno, who, "cannot make '%s'",
				       path);
	/* Read and write: without a writer of its own it would be at its end. */
	a->wake_fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (a->wake_fd < 0)
		return drill_err_errno(err, errno, who, "cannot open '%s'",
				       path);
	a->wake = calloc(1, sizeof(*a->wake));
	a->dir_watch = calloc(1, sizeof(*a->dir_watch));
	if (!a->wake || !a->dir_watch)
		abort();
	uv_poll_init(&a->loop, a->wake, a->wake_fd);
	a->wake->data = a;
	uv_poll_start(a->wake, UV_READABLE, on_wake);
	uv_fs_event_init(&a->loop, a->dir_watch);
	a->dir_watch->data = a;
	uv_fs_event_start(a->dir_watch, on_dir, a->plan.dir, 0);
	return 0;
}

int ranks_begin(struct agent *a, struct drill_err *err)
{
	char path[300];
	int rc;

	if (mkdir(a->plan.dir, 0755) < 0 && errno != EEXIST)
		return drill_err_errno(err, errno, who, "cannot make '%s'",
				       a->plan.dir);
	rc = make_wake(a, err);
	if (rc < 0)
		return rc;
	snprintf(path, sizeof(path), "%s/hooks.page", a->plan.dir);
	rc = drill_hooks_create(&a->hooks, path, err);
	if (rc < 0)
		return rc;
	a->hooked = true;
	drill_hooks_waits(&a->hooks, true);
	rc = devices_begin(a, err);
	if (rc < 0)
		return rc;
	a->tick.data = a;
	a->listens = fire_listens(a);
	a->tick_ms = a->listens ? SOON_MS : TICK_MS;
	uv_timer_start(&a->tick, on_tick, a->tick_ms, a->tick_ms);
	look(a);
	return 0;
}

static void end_rank(struct rank *r)
{
	if (!r->ended)
		drain(r);
	if (r->begun && !r->ended &&
	    (r->process.pidfd < 0 || drill_process_dead(&r->process))) {
		r->end_ns = r->end_ns ? r->end_ns : agent_now();
		r->patience = 0;
		look_for_end(r);
	}
}

static void free_rank(struct rank *r)
{
	stop_watch(r);
	drill_process_close(&r->process);
	faultdrill_ring_unmap(r->ring);
	free(r);
}

void ranks_end(struct agent *a)
{
	struct rank *r;

	if (!a->planned)
		return;
	look(a);
	for (r = a->ranks; r; r = r->next)
		end_rank(r);
	while ((r = a->ranks)) {
		a->ranks = r->next;
		free_rank(r);
	}
	uv_timer_stop(&a->tick);
	if (a->wake)
		uv_close((uv_handle_t *)a->wake, free_handle);
	if (a->dir_watch)
		uv_close((uv_handle_t *)a->dir_watch, free_handle);
	a->wake = NULL;
	a->dir_watch = NULL;
	if (a->wake_fd >= 0)
		close(a->wake_fd);
	a->wake_fd = -1;
	devices_end(a);
	if (a->hooked)
		drill_hooks_close(&a->hooks);
	a->hooked = false;
}
