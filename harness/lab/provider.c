/* provider.c - the loop of the providers on this machine: timers, signals, children
 * SPDX-License-Identifier: MIT
 */
#include "provider_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char who[] = "lab";

const char *drill_agent_path(char *buf, size_t size)
{
	/* Beside us, installed, and as seen from tests and benches. */
	static const char *const near[] = {"/faultdrill-agent",
					   "/../lib/faultdrill/faultdrill-agent",
					   "/../faultdrill-agent",
					   "/../../faultdrill-agent"};
	const char *named = getenv("FAULTDRILL_AGENT");
	char self[PATH_MAX], path[PATH_MAX + 64];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	size_t i;

	if (named && *named) {
		snprintf(buf, size, "%s", named);
		return buf;
	}
	self[n < 0 ? 0 : n] = '\0';
	if (strrchr(self, '/'))
		*strrchr(self, '/') = '\0';
	for (i = 0; i < sizeof(near) / sizeof(near[0]); i++) {
		snprintf(path, sizeof(path), "%s%s", self, near[i]);
		if (access(path, X_OK) == 0)
			break;
	}
	snprintf(buf, size, "%s", path);
	return buf;
}

/* --- children ---------------------------------------------------------- */

static void closed(uv_handle_t *h)
{
	struct child *c = h->data;

	if (--c->open == 0)
		c->over(c);
}

static void close_all(struct child *c)
{
	if (!c->dead || !c->ended)
		return;
	uv_close((uv_handle_t *)&c->death, closed);
	uv_close((uv_handle_t *)&c->out, closed);
	if (c->open == 3)
		uv_close((uv_handle_t *)&c->in, closed);
}

/* What it wrote before it died; then no more, for a grandchild may hold the
 * pipe open for ever. */
static void drain(struct child *c)
{
	ssize_t n;
	int fd;

	if (c->ended || uv_fileno((uv_handle_t *)&c->out, &fd) < 0)
		return;
	while ((n = read(fd, c->buf, sizeof(c->buf))) > 0)
		c->taken(c, c->buf, (size_t)n);
}

static void on_death(uv_poll_t *h, int status, int events)
{
	struct child *c = h->data;

	(void)status;
	(void)events;
	if (waitpid(c->pid, &c->status, WNOHANG) == 0)
		return;
	uv_poll_stop(h);
	close(c->pidfd);
	c->pidfd = -1;
	drain(c);
	c->dead = c->ended = true;
	close_all(c);
}

static void on_alloc(uv_handle_t *h, size_t suggested, uv_buf_t *ret)
{
	struct child *c = h->data;

	(void)suggested;
	*ret = uv_buf_init(c->buf, sizeof(c->buf));
}

static void on_read(uv_stream_t *h, ssize_t n, const uv_buf_t *buf)
{
	struct child *c = h->data;

	if (n > 0)
		c->taken(c, buf->base, (size_t)n);
	if (n >= 0)
		return;
	uv_read_stop(h);
	c->ended = true;
	close_all(c);
}

static int watch(struct drill_provider *p, struct child *c, int out, int in)
{
	int rc = uv_poll_init(&p->loop, &c->death, c->pidfd);

	if (rc == 0)
		rc = uv_pipe_init(&p->loop, &c->out, 0);
	if (rc == 0 && in >= 0)
		rc = uv_pipe_init(&p->loop, &c->in, 0);
	if (rc == 0)
		rc = uv_pipe_open(&c->out, out);
	if (rc == 0 && in >= 0)
		rc = uv_pipe_open(&c->in, in);
	if (rc == 0)
		rc = uv_read_start((uv_stream_t *)&c->out, on_alloc, on_read);
	if (rc == 0)
		rc = uv_poll_start(&c->death, UV_READABLE, on_death);
	return rc;
}

int drill_child_watch(struct drill_provider *p, struct child *c, pid_t pid,
		      int pidfd, int out, int in, struct drill_err *err)
{
	int rc;

	c->pid = pid;
	c->pidfd = pidfd;
	c->open = in < 0 ? 2 : 3;
	c->death.data = c->out.data = c->in.data = c;
	rc = watch(p, c, out, in);
	if (rc < 0)
		return drill_err_set(err, rc, who, "cannot watch a child: %s",
				     uv_strerror(rc));
	return 0;
}

/* --- timers -------------------------------------------------------------- */

static void timer_closed(uv_handle_t *h)
{
	free(h->data);
}

static struct timer *timer_take(struct drill_provider *p, int id)
{
	struct timer **at, *t;

	for (at = &p->timers; *at; at = &(*at)->next) {
		if ((*at)->id != id)
			continue;
		t = *at;
		*at = t->next;
		uv_close((uv_handle_t *)&t->uv, timer_closed);
		return t;
	}
	return NULL;
}

/* Off the list first: the function may cancel or add timers. */
static void on_timer(uv_timer_t *h)
{
	struct timer *t = h->data;
	drill_timer_fn *fn = t->fn;
	void *arg = t->arg;

	timer_take(t->lab->provider, t->id);
	fn(arg);
}

/* The loop counts in milliseconds: rounded up, never early. */
int drill_provider_timer(struct drill_lab *lab, int64_t after_ns,
			 drill_timer_fn *fn, void *arg)
{
	struct drill_provider *p = lab->provider;
	struct timer *t = calloc(1, sizeof(*t));
	uint64_t ms = after_ns > 0 ? ((uint64_t)after_ns + 999999) / 1000000
				   : 0;

	if (!t)
		return -ENOMEM;
	t->lab = lab;
	t->fn = fn;
	t->arg = arg;
	t->id = ++p->next_timer;
	t->next = p->timers;
	p->timers = t;
	uv_timer_init(&p->loop, &t->uv);
	t->uv.data = t;
	uv_update_time(&p->loop);
	uv_timer_start(&t->uv, on_timer, ms, 0);
	return t->id;
}

void drill_provider_timer_cancel(struct drill_lab *lab, int id)
{
	timer_take(lab->provider, id);
}

/* --- the loop ------------------------------------------------------------ */

static void on_signal(uv_signal_t *h, int signum)
{
	struct drill_provider *p = h->data;

	if (p->lab->cb.on_signal && !p->quiet)
		p->lab->cb.on_signal(p->lab->cb.ctx, signum);
}

/* A signal does not keep the loop alive by itself. */
static int watch_signal(struct drill_provider *p, uv_signal_t *h, int signum)
{
	int rc = uv_signal_init(&p->loop, h);

	h->data = p;
	if (rc == 0)
		rc = uv_signal_start(h, on_signal, signum);
	uv_unref((uv_handle_t *)h);
	return rc;
}

int drill_provider_new(struct drill_lab *lab, const struct drill_place *place,
		       struct drill_err *err)
{
	struct drill_provider *p = calloc(1, sizeof(*p));
	int rc;

	if (!p)
		return drill_err_set(err, -ENOMEM, who, "no memory");
	p->lab = lab;
	p->place = place;
	p->agents = calloc((size_t)(lab->spec.hosts + lab->spec.spares) + 1,
			   sizeof(struct agent *));
	rc = p->agents ? uv_loop_init(&p->loop) : -ENOMEM;
	if (rc < 0) {
		free(p->agents);
		free(p);
		return drill_err_set(err, rc, who, "no event loop: %s",
				     uv_strerror(rc));
	}
	/* An agent that has died must be an error of the write, not our end. */
	signal(SIGPIPE, SIG_IGN);
	watch_signal(p, &p->sigint, SIGINT);
	watch_signal(p, &p->sigterm, SIGTERM);
	watch_signal(p, &p->sighup, SIGHUP); /* the terminal was closed */
	lab->provider = p;
	return 0;
}

static void close_left(uv_handle_t *h, void *arg)
{
	(void)arg;
	if (!uv_is_closing(h))
		uv_close(h, NULL);
}

void drill_provider_free(struct drill_lab *lab)
{
	struct drill_provider *p = lab->provider;

	if (!p)
		return;
	p->quiet = true;
	while (p->timers)
		timer_take(p, p->timers->id);
	drill_agents_kill(p);
	drill_jobs_kill(p);
	uv_run(&p->loop, UV_RUN_DEFAULT);
	uv_walk(&p->loop, close_left, NULL);
	uv_run(&p->loop, UV_RUN_DEFAULT);
	uv_loop_close(&p->loop);
	free(p->agents);
	free(p);
	lab->provider = NULL;
}

const struct drill_clock *drill_provider_clock(struct drill_lab *lab)
{
	(void)lab;
	return drill_clock_system();
}

int drill_provider_run(struct drill_lab *lab, struct drill_err *err)
{
	struct drill_provider *p = lab->provider;
	bool alive;

	uv_ref((uv_handle_t *)&p->sigint);
	alive = uv_run(&p->loop, UV_RUN_DEFAULT);
	uv_unref((uv_handle_t *)&p->sigint);
	if (!alive)
		return drill_err_set(err, -ENODATA, who, "the loop ran dry");
	return 0;
}

void drill_provider_stop(struct drill_lab *lab)
{
	if (lab->provider)
		uv_stop(&lab->provider->loop);
}
