/* crew.c - the TCP side: one connection for each rank starter
 * SPDX-License-Identifier: MIT
 *
 * Whoever connects gets two seconds and one short line to show the attempt's
 * token; anything else is cut off. There are never more strangers than
 * STRANGERS at a time.
 */
#include "job.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STRANGERS 64
#define SHOW_MS 2000

struct crew_member {
	uv_tcp_t tcp;
	uv_timer_t timer;
	struct launch_job *job;
	int rank; /* -1: a stranger */
	int open_handles;
	char in[LAUNCH_LINE];
	size_t in_len;
};

static int strangers;

static void on_closed(uv_handle_t *h)
{
	struct crew_member *m = h->data;

	if (--m->open_handles == 0)
		free(m);
}

static void cut(struct crew_member *m)
{
	struct launch_rank *r = m->rank < 0 ? NULL : &m->job->ranks[m->rank];

	if (uv_is_closing((uv_handle_t *)&m->tcp))
		return;
	if (!r)
		strangers--;
	else if (r->member == m)
		r->member = NULL;
	uv_close((uv_handle_t *)&m->tcp, on_closed);
	uv_close((uv_handle_t *)&m->timer, on_closed);
}

static void on_late(uv_timer_t *t)
{
	cut(t->data);
}

/* The connection ended. Of a rank that had not said how it ended, nothing will
 * be heard any more. */
static void leave(struct crew_member *m)
{
	struct launch_rank *r = m->rank < 0 ? NULL : &m->job->ranks[m->rank];
	int rank = m->rank;
	struct launch_job *j = m->job;
	bool ours = r && r->member == m;

	cut(m);
	if (!ours || r->report.state != LAUNCH_ALIVE)
		return;
	r->report.state = LAUNCH_GONE;
	r->report.end_ns = launch_now();
	launch_watch_exit(j, rank);
}

static bool same_token(const char *a, const char *b)
{
	unsigned char differ = 0;
	int i;

	for (i = 0; i < LAUNCH_TOKEN; i++)
		differ |= (unsigned char)(a[i] ^ b[i]);
	return differ == 0;
}

/* The line by which a starter shows that it is one of this attempt. */
static int hear_start(struct crew_member *m, const char *line)
{
	struct launch_job *j = m->job;
	char token[LAUNCH_TOKEN + 1] = "", host[64] = "";
	int rank, attempt, pid;

	if (sscanf(line, "start %32s %d %d %63s %d", token, &rank, &attempt,
		   host, &pid) != 5 ||
	    strlen(token) != LAUNCH_TOKEN || !same_token(token, j->token) ||
	    rank < 0 || rank >= j->n_ranks || attempt != j->attempt ||
	    strcmp(host, launch_host_of(j, rank)) != 0 ||
	    j->ranks[rank].report.state != LAUNCH_ABSENT)
		return -EPERM;
	strangers--;
	m->rank = rank;
	uv_timer_stop(&m->timer);
	j->ranks[rank].member = m;
	j->ranks[rank].report.state = LAUNCH_ALIVE;
	j->ranks[rank].report.heard_ns = launch_now();
	return 0;
}

/* How busy a rank is while it waits in a collective, over all of the wait: one
 * that hangs sleeps, one that waits polls. @run is 0 once it has ended. */
static void reckon_busy(struct launch_rank *r, int64_t now, int64_t run)
{
	if (r->report.waiting_ns == 0 || run == 0)
		return;
	if (r->run_at_ns == 0) {
		r->run_at_ns = now;
		r->run_ns = run;
	} else if (now - r->run_at_ns > 100 * LAUNCH_MS) {
		r->report.busy = (double)(run - r->run_ns) /
				 (double)(now - r->run_at_ns);
	}
}

static int hear_beat(struct launch_rank *r, const char *line)
{
	int64_t now, step, collective, since, heartbeat, word, run;

	if (sscanf(line,
		   "beat %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64
		   " %" SCNd64 " %" SCNd64 " %" SCNd64,
		   &now, &step, &collective, &since, &heartbeat, &word,
		   &run) != 7)
		return -EPROTO;
	if (collective != r->report.collective) {
		r->run_at_ns = 0;
		r->report.busy = -1;
	}
	r->report.step = step;
	r->report.collective = collective;
	r->report.waiting_ns = since > 0 && since < now ? now - since : 0;
	r->report.silent_ns =
		heartbeat > 0 && heartbeat < now ? now - heartbeat : 0;
	r->report.watchdog = (int)word;
	reckon_busy(r, now, run);
	return 0;
}

static int hear_exit(struct crew_member *m, const char *line)
{
	struct launch_report *r = &m->job->ranks[m->rank].report;
	int told;

	if (r->state != LAUNCH_ALIVE ||
	    sscanf(line, "exit %d %d %d", &r->code, &r->signal, &told) != 3)
		return -EPROTO;
	r->told = told;
	r->state = LAUNCH_EXITED;
	r->end_ns = launch_now();
	launch_watch_exit(m->job, m->rank);
	return 0;
}

static int hear(struct crew_member *m, const char *line)
{
	if (m->rank < 0)
		return hear_start(m, line);
	m->job->ranks[m->rank].report.heard_ns = launch_now();
	if (strncmp(line, "beat ", 5) == 0)
		return hear_beat(&m->job->ranks[m->rank], line);
	return hear_exit(m, line);
}

static void on_alloc(uv_handle_t *h, size_t hint, uv_buf_t *buf)
{
	struct crew_member *m = h->data;

	(void)hint;
	buf->base = m->in + m->in_len;
	buf->len = sizeof(m->in) - 1 - m->in_len;
}

static void on_read(uv_stream_t *s, ssize_t n, const uv_buf_t *buf)
{
	struct crew_member *m = s->data;
	char *end;

	(void)buf;
	if (n == 0)
		return;
	if (n < 0) { /* the end; also ENOBUFS: a line without end */
		leave(m);
		return;
	}
	m->in_len += (size_t)n;
	while ((end = memchr(m->in, '\n', m->in_len))) {
		*end++ = '\0';
		if (hear(m, m->in) < 0) {
			leave(m);
			return;
		}
		if (uv_is_closing((uv_handle_t *)s))
			return;
		m->in_len -= (size_t)(end - m->in);
		memmove(m->in, end, m->in_len);
	}
}

static void on_connection(uv_stream_t *server, int status)
{
	struct launch_job *j = server->data;
	struct crew_member *m = status < 0 ? NULL : calloc(1, sizeof(*m));

	if (!m)
		return;
	m->job = j;
	m->rank = -1;
	m->open_handles = 2;
	m->tcp.data = m->timer.data = m;
	uv_tcp_init(&j->loop, &m->tcp);
	uv_timer_init(&j->loop, &m->timer);
	strangers++;
	if (uv_accept(server, (uv_stream_t *)&m->tcp) < 0 ||
	    strangers > STRANGERS) {
		cut(m);
		return;
	}
	uv_tcp_nodelay(&m->tcp, 1);
	uv_timer_start(&m->timer, on_late, SHOW_MS, 0);
	uv_read_start((uv_stream_t *)&m->tcp, on_alloc, on_read);
}

int launch_crew_open(struct launch_job *j, struct drill_err *err)
{
	struct sockaddr_in a;
	int len = sizeof(a), rc;

	rc = uv_ip4_addr(j->o->head, 0, &a);
	if (rc < 0)
		return drill_err_set(err, -EINVAL, "launch",
				     "'head' must be an IPv4 address, not '%s'",
				     j->o->head);
	uv_tcp_init(&j->loop, &j->server);
	j->server.data = j;
	rc = uv_tcp_bind(&j->server, (struct sockaddr *)&a, 0);
	if (rc == 0)
		rc = uv_listen((uv_stream_t *)&j->server, 512, on_connection);
	if (rc == 0)
		rc = uv_tcp_getsockname(&j->server, (struct sockaddr *)&a,
					&len);
	if (rc < 0)
		return drill_err_set(err, rc, "launch",
				     "cannot listen on '%s': %s", j->o->head,
				     uv_strerror(rc));
	j->port = ntohs(a.sin_port);
	return 0;
}

void launch_crew_say(struct launch_job *j, const char *line)
{
	uv_buf_t buf = uv_buf_init((char *)(uintptr_t)line,
				   (unsigned int)strlen(line));
	int i;

	/* A starter that does not read is mute; its line may be lost. */
	for (i = 0; i < j->n_ranks; i++)
		if (j->ranks[i].member)
			uv_try_write((uv_stream_t *)&j->ranks[i].member->tcp,
				     &buf, 1);
}

void launch_crew_close(struct launch_job *j)
{
	int i;

	for (i = 0; i < j->n_ranks; i++)
		if (j->ranks[i].member)
			cut(j->ranks[i].member);
}

static void close_handle(uv_handle_t *h, void *arg)
{
	struct launch_job *j = arg;
	bool member = h->data != j && h->type != UV_POLL;

	if (!uv_is_closing(h))
		uv_close(h, member ? on_closed : NULL);
}

void launch_crew_end(struct launch_job *j)
{
	uv_walk(&j->loop, close_handle, j);
	uv_run(&j->loop, UV_RUN_DEFAULT);
	uv_loop_close(&j->loop);
}
