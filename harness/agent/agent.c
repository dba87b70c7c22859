/* agent.c - the agent's loop, and what its controller tells it
 * SPDX-License-Identifier: MIT
 */
#include "agent.h"
#include "heal.h"
#include "journal_file.h"
#include "lease.h"
#include "lock.h"
#include "process.h"
#include "snapshot.h"

#include "harness/core/clock.h"
#include "harness/core/jsonx.h"
#include "harness/core/outcome.h"
#include "harness/core/proto.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char who[] = "agent";

#define LAST_WORDS_MS 100

static int64_t boot_now(void)
{
	const struct drill_clock *c = drill_clock_system();

	return c->boot_ns(c->ctx);
}

static int64_t number(const json_t *msg, const char *field)
{
	return json_integer_value(json_object_get(msg, field));
}

/* ---- stopping ---- */

static void close_handle(uv_handle_t *h, void *arg)
{
	(void)arg;
	if (!uv_is_closing(h))
		uv_close(h, NULL);
}

/* First nothing new is put in force, then all of it is taken off. */
static void end_trial(struct agent *a)
{
	bool was = a->stopping;

	a->stopping = true;
	fault_revert(a, NULL);
	ranks_end(a);
	fire_end(a);
	drill_plan_done(&a->plan);
	a->planned = a->started = false;
	a->attempt = 0;
	a->stopping = was;
}

static void stop(struct agent *a, int code)
{
	if (a->exit_code >= 0)
		return;
	end_trial(a);
	a->stopping = true;
	a->exit_code = a->dirty ? DRILL_DIRTY : code;
	uv_stop(&a->loop);
}

/* Stop injecting, revert; the connection stays, so that it can be told. */
static void disarm(struct agent *a, const char *reason)
{
	if (a->stopping)
		return;
	a->stopping = true;
	fault_revert(a, NULL);
	agent_error(a, reason);
}

static void on_signal(uv_signal_t *s, int signum)
{
	(void)signum;
	stop(s->data, DRILL_ERROR);
}

static void on_keeper_gone(uv_poll_t *h, int status, int events)
{
	struct agent *a = h->data;

	(void)status;
	(void)events;
	uv_poll_stop(h);
	disarm(a, "the keeper is gone: everything was reverted");
}

static void on_renew(uv_timer_t *t)
{
	struct agent *a = t->data;

	if (!a->journal)
		return;
	if (atomic_load(&a->journal->lease->epoch) != a->journal->epoch)
		_exit(DRILL_ERROR); /* fenced: change nothing any more */
	drill_lease_renew(a->journal->lease);
	if (boot_now() - a->heard_ns > a->lease_ns)
		disarm(a, "the controller has not renewed the lease: "
			  "everything was reverted");
}

/* ---- welcome ---- */

static int enter_host(pid_t pid, struct drill_err *err)
{
	int fd = syscall(SYS_pidfd_open, pid, 0), rc = 0;

	if (fd < 0)
		return drill_err_errno(err, errno, who,
				       "cannot find the host's pid %d",
				       (int)pid);
	/* Not its mounts: our /proc must go on showing our own PID namespace,
	 * and /proc/PID/root leads there. */
	if (setns(fd, CLONE_NEWNET) < 0 || setns(fd, CLONE_NEWUTS) < 0)
		rc = drill_err_errno(err, errno, who,
				     "cannot enter the host of pid %d",
				     (int)pid);
	close(fd);
	return rc;
}

/* A host of a lab on this machine is told from its likes by its cgroup, whose
 * parent carries the lab's name; without one the welcome names the lab. */
static int take_lock(struct agent *a, const char *lab, struct drill_err *err)
{
	char *name = a->lock_name, what[200], *p;
	int size = sizeof(a->lock_name);

	if (a->cgroup[0])
		snprintf(name, size, "%s", a->cgroup + 1);
	else
		snprintf(name, size, "%s%s%s", lab, lab[0] ? "." : "", a->host);
	while ((p = strchr(name, '/')))
		*p = '-';
	snprintf(what, sizeof(what), "drill %.63s (agent pid %d)", a->run,
		 (int)getpid());
	return drill_lock_take(name, what, &a->lock_fd, err);
}

/* What dead runs left behind is reverted before anything new is done. */
static void heal_first(struct agent *a)
{
	struct drill_err err = { 0 };
	json_t *found = NULL, *bad, *r;
	size_t i;

	if (drill_heal(a->state, false, &found, &err) < 0) {
		bad = json_array();
		json_array_foreach(found, i, r) {
			const char *state = drill_json_text(r, "state");

			if (!strcmp(state, "dirty") || !strcmp(state, "torn"))
				json_array_append(bad, r);
		}
		agent_send(a, json_pack("{s:s,s:o,s:s}", "kind", "dirty",
					"records", bad, "reason", err.msg));
	}
	json_decref(found);
}

static int guard(struct agent *a, struct drill_err *err)
{
	int rc = drill_journal_open(a->state, a->run, a->host, &a->journal,
				    err);

	if (rc < 0)
		return rc;
	a->journal->boundary = a->opts->boundary;
	a->journal->lease->lease_ns = a->lease_ns;
	rc = drill_keeper_start(a->journal, a->lock_fd, &a->keeper, err);
	if (rc < 0)
		return rc;
	uv_poll_init(&a->loop, &a->keeper_gone, a->keeper.pidfd);
	a->keeper_gone.data = a;
	a->keeper_watched = true;
	uv_poll_start(&a->keeper_gone, UV_READABLE, on_keeper_gone);
	uv_timer_start(&a->renew, on_renew, a->renew_ns / 1000000,
		       a->renew_ns / 1000000);
	return 0;
}

static int on_welcome(struct agent *a, json_t *msg, struct drill_err *err)
{
	pid_t pid = number(msg, "netns_pid");
	int rc = 0;

	if (strcmp(drill_json_text(msg, "build"), drill_build_id()))
		return drill_err_set(
			err, -EPROTO, who,
			"the controller is build %.40s, this agent "
			"is %s: copy the agent of the same build",
			drill_json_text(msg, "build"), drill_build_id());
	snprintf(a->run, sizeof(a->run), "%s", drill_json_text(msg, "run"));
	snprintf(a->host, sizeof(a->host), "%s", drill_json_text(msg, "host"));
	snprintf(a->cgroup, sizeof(a->cgroup), "%s",
		 drill_json_text(msg, "cgroup"));
	snprintf(a->mark, sizeof(a->mark), "%s", drill_json_text(msg, "mark"));
	drill_state_dir(drill_json_text(msg, "state"), a->state,
			sizeof(a->state));
	if (number(msg, "lease_ns") > 0)
		a->lease_ns = number(msg, "lease_ns");
	if (number(msg, "renew_ns") > 0)
		a->renew_ns = number(msg, "renew_ns");
	if (pid > 0)
		rc = enter_host(pid, err);
	if (rc == 0)
		rc = take_lock(a, drill_json_text(msg, "lab"), err);
	if (rc < 0)
		return rc;
	heal_first(a);
	rc = guard(a, err);
	a->welcomed = rc == 0;
	return rc;
}

/* ---- the other messages ---- */

static int on_ping(struct agent *a, json_t *msg, struct drill_err *err)
{
	(void)err;
	agent_send(a, json_pack("{s:s,s:I,s:I}", "kind", "pong", "n",
				(json_int_t)number(msg, "n"), "h_ns",
				(json_int_t)agent_now()));
	return 0;
}

static int on_probe(struct agent *a, json_t *msg, struct drill_err *err)
{
	struct drill_fault f;
	struct drill_err no;
	json_t *v;
	size_t i;
	int rc;

	(void)err;
	json_array_foreach(json_object_get(msg, "faults"), i, v) {
		memset(&no, 0, sizeof(no));
		rc = drill_fault_read(v, &f, &no);
		if (rc == 0)
			rc = fault_probe(a, &f, &no);
		agent_send(a,
			   json_pack("{s:s,s:s,s:b,s:s}", "kind", "probed",
				     "fault", drill_json_text(v, "name"), "ok",
				     rc == 0, "reason", rc == 0 ? "" : no.msg));
		drill_fault_done(&f);
	}
	return 0;
}

static int on_plan(struct agent *a, json_t *msg, struct drill_err *err)
{
	int rc;

	if (a->planned)
		return drill_err_set(err, -EPROTO, who,
				     "a plan before the end of the last one");
	rc = drill_plan_read(msg, &a->plan, err);
	a->planned = true;
	if (rc == 0)
		rc = fire_begin(a, err);
	if (rc == 0)
		rc = ranks_begin(a, err);
	if (rc == 0)
		fire_ready(a);
	if (rc == 0)
		agent_send(a, json_pack("{s:s,s:I}", "kind", "planned", "trial",
					(json_int_t)a->plan.trial));
	return rc;
}

static int on_renewal(struct agent *a, json_t *msg, struct drill_err *err)
{
	(void)a; /* any word of the controller renews */
	(void)msg;
	(void)err;
	return 0;
}

static int on_placed(struct agent *a, json_t *msg, struct drill_err *err)
{
	(void)err;
	if (number(msg, "attempt") > a->attempt)
		a->attempt = number(msg, "attempt");
	fire_start(a);
	return 0;
}

static int on_event(struct agent *a, json_t *msg, struct drill_err *err)
{
	json_t *event = json_object_get(msg, "event");

	if (!json_is_object(event))
		return drill_err_set(err, -EPROTO, who, "an event that is none");
	if (!strcmp(drill_json_text(event, "kind"), "attempt.begin"))
		on_placed(a, event, err);
	fire_event(a, event);
	return 0;
}

static int on_fire(struct agent *a, json_t *msg, struct drill_err *err)
{
	(void)err;
	fire_manual(a, drill_json_text(msg, "fault"));
	return 0;
}

static int on_spent(struct agent *a, json_t *msg, struct drill_err *err)
{
	(void)err;
	fire_spent(a, msg);
	return 0;
}

static int on_revert(struct agent *a, json_t *msg, struct drill_err *err)
{
	(void)err;
	fault_revert(a, drill_json_text(msg, "fault"));
	return 0;
}

/* {"how": "reset"|"replace", "device": "h1/gpu0"}, or with "fault": where that
 * is in force. Other hosts' are not ours. */
static int on_device(struct agent *a, json_t *msg, struct drill_err *err)
{
	const char *name = drill_json_text(msg, "device");
	const char *how = drill_json_text(msg, "how");
	size_t n = strlen(a->host);
	int device;

	for (device = 0; device < DRILL_DEVICES; device++)
		if (devices_have(a, drill_json_text(msg, "fault"), device) &&
		    devices_renew(a, how, device, err) < 0)
			return -ENXIO;
	if (strncmp(name, a->host, n) ||
	    sscanf(name + n, "/gpu%d", &device) != 1)
		return 0;
	return devices_renew(a, how, device, err);
}

static int on_snapshot(struct agent *a, json_t *msg, struct drill_err *err)
{
	json_t *entries = NULL;
	int rc = drill_snapshot(a->cgroup, a->mark, &entries, err);

	if (rc == 0 && devices_worn(a))
		json_array_extend(json_object_get(entries, "devices"),
				  devices_worn(a));
	if (rc == 0)
		agent_send(a, json_pack("{s:s,s:s,s:o}", "kind", "snapshot",
					"when", drill_json_text(msg, "when"),
					"entries", entries));
	return rc;
}

/* The ids of records that could not be closed, for the operator. */
static json_t *dirty_records(struct agent *a)
{
	json_t *list = json_array();
	struct drill_record *r;
	int i;

	for (i = 1; i < DRILL_SLOTS; i++) {
		r = a->journal->slot[i];
		if (r && drill_record_state(r) == DRILL_RECORD_DIRTY)
			json_array_append_new(
				list, json_pack("{s:s,s:s}", "id",
						drill_record_id(r), "reason",
						drill_record_reason(r)));
	}
	return list;
}

/* Something was noticed: what did the job wait for at that moment? */
static int on_look(struct agent *a, json_t *msg, struct drill_err *err)
{
	(void)err;
	evidence_waits(a, drill_json_text(msg, "at"));
	return 0;
}

static int on_trial_end(struct agent *a, json_t *msg, struct drill_err *err)
{
	json_t *hooks = evidence_hooks(a), *proxies = devices_clients(a);
	int refused = devices_refused(a);

	(void)err;
	end_trial(a);
	agent_send(a, json_pack("{s:s,s:I,s:o,s:o,s:o,s:i}", "kind", "ended",
				"trial", (json_int_t)number(msg, "trial"),
				"dirty", dirty_records(a), "hooks", hooks,
				"proxies", proxies, "refused", refused));
	return 0;
}

static int on_bye(struct agent *a, json_t *msg, struct drill_err *err)
{
	(void)msg;
	(void)err;
	stop(a, 0);
	return 0;
}

static const struct {
	const char *kind;
	int (*take)(struct agent *a, json_t *msg, struct drill_err *err);
	bool first; /* allowed before welcome */
} messages[] = {
	{ "welcome", on_welcome, true }, { "ping", on_ping, true },
	{ "bye", on_bye, true },	 { "probe", on_probe, false },
	{ "plan", on_plan, false },	 { "renew", on_renewal, false },
	{ "placed", on_placed, false },	 { "event", on_event, false },
	{ "fire", on_fire, false },	 { "spent", on_spent, false },
	{ "revert", on_revert, false },	 { "device", on_device, false },
	{ "look", on_look, false },	 { "snapshot", on_snapshot, false },
	{ "trial.end", on_trial_end, false },
};

static int on_message(void *ctx, json_t *msg, struct drill_err *err)
{
	struct agent *a = ctx;
	const char *kind = drill_json_text(msg, "kind");
	unsigned int i;

	a->heard_ns = boot_now();
	for (i = 0; i < sizeof(messages) / sizeof(messages[0]); i++) {
		if (strcmp(messages[i].kind, kind))
			continue;
		if (messages[i].take == on_welcome ? a->welcomed
						   : !a->welcomed &&
							     !messages[i].first)
			return drill_err_set(err, -EPROTO, who,
					     "'%s' out of order", kind);
		return messages[i].take(a, msg, err);
	}
	return drill_err_set(err, -EPROTO, who, "unknown message '%.40s'",
			     kind);
}

/* ---- the loop ---- */

static void on_alloc(uv_handle_t *h, size_t hint, uv_buf_t *buf)
{
	static char bytes[65536];

	(void)h;
	(void)hint;
	*buf = uv_buf_init(bytes, sizeof(bytes));
}

static void on_read(uv_stream_t *s, ssize_t n, const uv_buf_t *buf)
{
	struct agent *a = s->data;
	struct drill_err err = { 0 };
	int rc = 0;

	if (n > 0)
		rc = drill_frame_feed(&a->reader, buf->base, n, &err);
	if (rc < 0)
		agent_error(a, err.msg);
	if (rc < 0 || n < 0) {
		uv_read_stop(s);
		stop(a, rc < 0 ? DRILL_ERROR : 0);
	}
}

static void say_hello(struct agent *a)
{
	agent_send(a, json_pack("{s:s,s:s,s:s,s:s,s:i,s:s,s:s}", "kind",
				"hello", "proto", DRILL_PROTO, "build",
				drill_build_id(), "host", a->host, "pid",
				(int)getpid(), "boot_id", drill_boot_id(),
				"provider", ""));
}

static void on_flush(uv_prepare_t *p)
{
	agent_flush(p->data);
}

static int open_loop(struct agent *a)
{
	if (uv_loop_init(&a->loop) < 0)
		return -1;
	a->loop.data = a;
	uv_pipe_init(&a->loop, &a->in, 0);
	uv_pipe_init(&a->loop, &a->out, 0);
	uv_timer_init(&a->loop, &a->renew);
	uv_timer_init(&a->loop, &a->tick);
	uv_prepare_init(&a->loop, &a->flush);
	a->flush.data = a;
	uv_prepare_start(&a->flush, on_flush);
	uv_signal_init(&a->loop, &a->sigint);
	uv_signal_init(&a->loop, &a->sigterm);
	a->in.data = a->out.data = a->renew.data = a->tick.data = a;
	a->sigint.data = a->sigterm.data = a;
	if (uv_pipe_open(&a->in, a->opts->in) < 0 ||
	    uv_pipe_open(&a->out, a->opts->out) < 0)
		return -1;
	uv_signal_start(&a->sigint, on_signal, SIGINT);
	uv_signal_start(&a->sigterm, on_signal, SIGTERM);
	signal(SIGPIPE, SIG_IGN);
	return uv_read_start((uv_stream_t *)&a->in, on_alloc, on_read);
}

static void too_late(uv_timer_t *t)
{
	uv_stop(t->loop);
}

/* What is queued gets a moment, a reader that is gone gets none. */
static void send_rest(struct agent *a)
{
	agent_flush(a);
	uv_timer_start(&a->tick, too_late, LAST_WORDS_MS, 0);
	while (a->queued && uv_is_active((uv_handle_t *)&a->tick) &&
	       uv_is_writable((uv_stream_t *)&a->out))
		uv_run(&a->loop, UV_RUN_ONCE);
}

static void close_loop(struct agent *a)
{
	send_rest(a);
	uv_walk(&a->loop, close_handle, NULL);
	uv_run(&a->loop, UV_RUN_DEFAULT);
	uv_loop_close(&a->loop);
}

int drill_agent_run(const struct drill_agent_opts *opts)
{
	struct agent *a = calloc(1, sizeof(*a));
	int code;

	if (!a)
		return DRILL_ERROR;
	a->opts = opts;
	a->exit_code = -1;
	a->lock_fd = a->wake_fd = a->kernel_log.fd = -1;
	a->lease_ns = DRILL_LEASE_NS;
	a->renew_ns = DRILL_RENEW_NS;
	a->heard_ns = boot_now();
	a->reader.on_message = on_message;
	a->reader.ctx = a;
	snprintf(a->host, sizeof(a->host), "%s", opts->host);
	if (open_loop(a) < 0) {
		free(a);
		return DRILL_ERROR;
	}
	say_hello(a);
	uv_run(&a->loop, UV_RUN_DEFAULT);
	close_loop(a);
	drill_frame_reader_done(&a->reader);
	if (a->journal) {
		drill_keeper_stop(a->journal, &a->keeper);
		drill_journal_close(a->journal);
	}
	drill_lock_drop(a->lock_name, a->lock_fd);
	json_decref(a->worn);
	free(a->ready);
	code = a->exit_code < 0 ? DRILL_ERROR : a->exit_code;
	free(a);
	return code;
}
