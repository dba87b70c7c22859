/* agents.c - the agents of a lab: started, greeted, asked for their clocks
 * SPDX-License-Identifier: MIT
 *
 * An agent speaks frames on its stdin and stdout. What it says before a valid
 * hello, or what is no frame, ends it with a reason; its keeper then reverts.
 */
#include "provider_impl.h"

#include "harness/agent/process.h"
#include "harness/core/proto.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char who[] = "lab.agent";

#define HELLO_NS INT64_C(10000000000) /* it may be started on a busy machine */
#define STOP_NS INT64_C(8000000000)   /* for its reverts, after bye */
#define PING_NS INT64_C(1000000000)
#define FIRST_PINGS 8 /* at once: a good offset from the start */

struct agent {
	struct child c; /* first: they are one address */
	struct drill_provider *p;
	int host;
	struct drill_frame_reader reader;
	json_t *welcome; /* until it is said */
	bool greeted, same_clock;
	struct drill_offset offset;
	int64_t ping_ns; /* when the one under way was sent; 0: none */
	int64_t pings;
	int ping_timer, end_timer;
	char reason[600];
};

static struct agent *agent_of(struct drill_lab *lab, int host)
{
	if (host < 0 || host >= lab->n_hosts)
		return NULL;
	return lab->provider->agents[host];
}

static const char *name_of(const struct agent *a)
{
	return a->p->lab->hosts[a->host].name;
}

/* The first reason is the cause; what follows from it is not told. */
static void end(struct agent *a, const char *reason)
{
	if (!a->reason[0])
		snprintf(a->reason, sizeof(a->reason), "%s", reason);
	if (a->c.pidfd >= 0)
		drill_pidfd_kill(a->c.pidfd, SIGKILL);
}

/* --- sending ------------------------------------------------------------- */

struct writing {
	uv_write_t uv;
	char *data;
};

static void on_written(uv_write_t *uv, int status)
{
	struct writing *w = uv->data;

	(void)status; /* its death is told by itself */
	free(w->data);
	free(w);
}

static int send_frame(struct agent *a, json_t *msg, struct drill_err *err)
{
	struct writing *w = calloc(1, sizeof(*w));
	size_t n = 0;
	uv_buf_t buf;
	int rc;

	if (!w)
		return drill_err_set(err, -ENOMEM, who, "no memory");
	w->data = drill_frame_encode(msg, &n, err);
	if (!w->data) {
		free(w);
		return -EMSGSIZE;
	}
	w->uv.data = w;
	buf = uv_buf_init(w->data, (unsigned int)n);
	rc = uv_write(&w->uv, (uv_stream_t *)&a->c.in, &buf, 1, on_written);
	if (rc == 0)
		return 0;
	free(w->data);
	free(w);
	return drill_err_set(err, rc, who, "cannot write to the agent of '%s'",
			     name_of(a));
}

static void send_new(struct agent *a, json_t *msg)
{
	if (msg && !a->c.dead)
		send_frame(a, msg, NULL);
	json_decref(msg);
}

/* --- its clock ----------------------------------------------------------- */

static void ping(struct agent *a)
{
	if (a->ping_ns) /* one under way is enough */
		return;
	a->ping_ns = drill_raw_ns(drill_clock_system());
	send_new(a, json_pack("{s:s, s:I}", "kind", "ping", "n",
			      (json_int_t)++a->pings));
}

static void on_ping_timer(void *arg)
{
	struct agent *a = arg;

	ping(a);
	a->ping_timer = drill_provider_timer(a->p->lab, PING_NS, on_ping_timer,
					     a);
}

static int take_pong(struct agent *a, json_t *msg, struct drill_err *err)
{
	int64_t now = drill_raw_ns(drill_clock_system());
	json_t *n = json_object_get(msg, "n"), *h = json_object_get(msg, "h_ns");

	if (!json_is_integer(n) || !json_is_integer(h) || !a->ping_ns ||
	    json_integer_value(n) != a->pings)
		return drill_err_set(err, -EPROTO, who, "a pong to no ping");
	drill_offset_add(&a->offset, a->ping_ns, now, json_integer_value(h));
	a->ping_ns = 0;
	if (a->pings < FIRST_PINGS)
		ping(a);
	return 0;
}

/* One kernel, one CLOCK_MONOTONIC_RAW: nothing to estimate. */
int64_t drill_provider_to_local(struct drill_lab *lab, int host, int64_t h_ns,
				int64_t *ret_u_ns)
{
	struct agent *a = agent_of(lab, host);

	if (!a || a->same_clock) {
		*ret_u_ns = 0;
		return h_ns;
	}
	return drill_offset_local(&a->offset, h_ns,
				  drill_raw_ns(drill_clock_system()), ret_u_ns);
}

/* --- receiving ----------------------------------------------------------- */

static int check_build(struct agent *a, json_t *msg, struct drill_err *err)
{
	const char *build = json_string_value(json_object_get(msg, "build"));

	if (!build)
		return drill_err_set(err, -EPROTO, who,
				     "its hello names no build");
	if (strcmp(build, drill_build_id()) == 0)
		return 0;
	return drill_err_set(err, -EPROTO, who,
			     "the agent on '%s' is of another build (%.60s, "
			     "this is %s): install the faultdrill-agent that "
			     "was built with this faultdrill",
			     name_of(a), build, drill_build_id());
}

static int say_welcome(struct agent *a, struct drill_err *err)
{
	json_t *w = a->welcome;
	int rc;

	a->welcome = NULL;
	rc = json_object_set_new(w, "kind", json_string("welcome")) |
	     json_object_set_new(w, "build", json_string(drill_build_id())) |
	     json_object_set_new(w, "host", json_string(name_of(a))) |
	     a->p->place->welcome(a->p->lab, a->host, w);
	rc = rc ? drill_err_set(err, -ENOMEM, who, "no memory")
		: send_frame(a, w, err);
	json_decref(w);
	return rc;
}

static int take_hello(struct agent *a, json_t *msg, struct drill_err *err)
{
	const char *kind = json_string_value(json_object_get(msg, "kind"));
	const char *boot = json_string_value(json_object_get(msg, "boot_id"));
	int rc;

	if (!kind || strcmp(kind, "hello") != 0)
		return drill_err_set(err, -EPROTO, who,
				     "'%.40s' came before hello",
				     kind ? kind : "something without a kind");
	rc = check_build(a, msg, err);
	if (rc == 0)
		rc = say_welcome(a, err);
	if (rc < 0)
		return rc;
	a->greeted = true;
	a->same_clock = boot && strcmp(boot, drill_boot_id()) == 0;
	drill_provider_timer_cancel(a->p->lab, a->end_timer);
	a->end_timer = 0;
	on_ping_timer(a);
	return 0;
}

static int on_message(void *ctx, json_t *msg, struct drill_err *err)
{
	struct agent *a = ctx;
	const char *kind = json_string_value(json_object_get(msg, "kind"));
	struct drill_lab *lab = a->p->lab;
	int rc = 0;

	if (!a->greeted)
		rc = take_hello(a, msg, err);
	else if (!kind)
		rc = drill_err_set(err, -EPROTO, who,
				   "a message without a kind");
	if (rc < 0)
		return rc;
	if (kind && strcmp(kind, "pong") == 0)
		return take_pong(a, msg, err);
	if (lab->cb.on_agent && !a->p->quiet)
		lab->cb.on_agent(lab->cb.ctx, a->host, msg);
	return 0;
}

static void taken(struct child *c, const char *data, size_t n)
{
	struct agent *a = (struct agent *)c;
	struct drill_err err = {0};

	if (!a->reason[0] && drill_frame_feed(&a->reader, data, n, &err) < 0)
		end(a, err.msg);
}

/* --- its life ------------------------------------------------------------ */

static void log_path(struct drill_lab *lab, int host, char *buf, size_t size)
{
	snprintf(buf, size, "%s/agent-%s.log", lab->dir, lab->hosts[host].name);
}

/* What it said last on stderr is most often why it ended. */
static void last_words(struct agent *a, char *buf, size_t size)
{
	char path[320], text[512] = "", *p;
	int fd;
	ssize_t n = 0;

	log_path(a->p->lab, a->host, path, sizeof(path));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		if (lseek(fd, -(off_t)sizeof(text) + 1, SEEK_END) < 0)
			lseek(fd, 0, SEEK_SET);
		n = read(fd, text, sizeof(text) - 1);
		close(fd);
	}
	text[n > 0 ? n : 0] = '\0';
	if (n > 0 && text[n - 1] == '\n')
		text[n - 1] = '\0';
	p = strrchr(text, '\n');
	snprintf(buf, size, "%s", p ? p + 1 : text);
}

static void give_reason(struct agent *a)
{
	char words[300];
	int s = a->c.status;

	if (a->reason[0])
		return;
	if (WIFEXITED(s) && WEXITSTATUS(s) == 0) {
		snprintf(a->reason, sizeof(a->reason), "it ended");
		return;
	}
	last_words(a, words, sizeof(words));
	snprintf(a->reason, sizeof(a->reason), "it ended with %s %d%s%s",
		 WIFEXITED(s) ? "status" : "signal",
		 WIFEXITED(s) ? WEXITSTATUS(s) : WTERMSIG(s),
		 words[0] ? ": " : "", words);
}

static void over(struct child *c)
{
	struct agent *a = (struct agent *)c;
	struct drill_lab *lab = a->p->lab;

	lab->provider->agents[a->host] = NULL;
	drill_provider_timer_cancel(lab, a->ping_timer);
	drill_provider_timer_cancel(lab, a->end_timer);
	give_reason(a);
	if (lab->cb.on_agent_gone && !a->p->quiet)
		lab->cb.on_agent_gone(lab->cb.ctx, a->host, a->reason);
	drill_frame_reader_done(&a->reader);
	json_decref(a->welcome);
	free(a);
}

static void no_hello(void *arg)
{
	struct agent *a = arg;

	a->end_timer = 0;
	end(a, "it said no hello in 10 s");
}

static void no_end(void *arg)
{
	struct agent *a = arg;

	a->end_timer = 0;
	end(a, "it did not end in 8 s after bye");
}

static int spawn(struct drill_lab *lab, int host, const int in[2],
		 const int out[2], pid_t *ret_pid, int *ret_pidfd,
		 struct drill_err *err)
{
	char path[4096], log[320], *argv[] = {path, NULL};
	struct drill_spawn s;
	int fd, rc;

	drill_agent_path(path, sizeof(path));
	log_path(lab, host, log, sizeof(log));
	fd = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	drill_spawn_init(&s);
	s.argv = argv;
	s.fd[0] = in[0];
	s.fd[1] = out[1];
	s.fd[2] = fd;
	s.session = true; /* a Ctrl-C of the terminal is for us alone */
	lab->provider->place->agent(lab, host, &s);
	rc = drill_spawn(&s, ret_pid, ret_pidfd, err);
	if (fd >= 0)
		close(fd);
	return rc;
}

static int start(struct agent *a, struct drill_err *err)
{
	struct drill_lab *lab = a->p->lab;
	int in[2], out[2], pidfd, rc;
	pid_t pid;

	if (pipe2(in, O_CLOEXEC) < 0)
		return drill_err_errno(err, errno, who, "no pipe");
	if (pipe2(out, O_CLOEXEC) < 0) {
		close(in[0]);
		close(in[1]);
		return drill_err_errno(err, errno, who, "no pipe");
	}
	rc = spawn(lab, a->host, in, out, &pid, &pidfd, err);
	close(in[0]);
	close(out[1]);
	if (rc == 0)
		return drill_child_watch(a->p, &a->c, pid, pidfd, out[0], in[1],
					 err);
	close(in[1]);
	close(out[0]);
	return rc;
}

int drill_provider_agent_start(struct drill_lab *lab, int host, json_t *welcome,
			       struct drill_err *err)
{
	struct agent *a = calloc(1, sizeof(*a));
	int rc;

	if (!a || agent_of(lab, host)) {
		free(a);
		return drill_err_set(err, a ? -EEXIST : -ENOMEM, who,
				     "host '%s' has an agent already",
				     lab->hosts[host].name);
	}
	a->p = lab->provider;
	a->host = host;
	a->c.taken = taken;
	a->c.over = over;
	a->reader.on_message = on_message;
	a->reader.ctx = a;
	a->welcome = welcome ? json_deep_copy(welcome) : json_object();
	rc = start(a, err);
	if (rc < 0) {
		json_decref(a->welcome);
		free(a);
		return rc;
	}
	lab->provider->agents[host] = a;
	a->end_timer = drill_provider_timer(lab, HELLO_NS, no_hello, a);
	return 0;
}

int drill_provider_agent_send(struct drill_lab *lab, int host, json_t *msg,
			      struct drill_err *err)
{
	struct agent *a = agent_of(lab, host);

	if (!a || a->c.dead)
		return drill_err_set(err, -ENOTCONN, who, "no agent on host %d",
				     host);
	if (!a->greeted)
		return drill_err_set(err, -EAGAIN, who,
				     "the agent on '%s' has not said hello",
				     name_of(a));
	return send_frame(a, msg, err);
}

int drill_provider_agent_stop(struct drill_lab *lab, int host,
			      struct drill_err *err)
{
	struct agent *a = agent_of(lab, host);

	if (!a)
		return drill_err_set(err, -ENOTCONN, who, "no agent on host %d",
				     host);
	if (!a->greeted) {
		end(a, "stopped before it said hello");
		return 0;
	}
	send_new(a, json_pack("{s:s}", "kind", "bye"));
	if (!a->end_timer)
		a->end_timer = drill_provider_timer(lab, STOP_NS, no_end, a);
	return 0;
}

void drill_agents_kill(struct drill_provider *p)
{
	int i;

	for (i = 0; i < p->lab->n_hosts; i++)
		if (p->agents[i])
			end(p->agents[i], "the lab goes down");
}
