/* watcher.c - one host's `launch-rank --health`: started, heard, started again
 * SPDX-License-Identifier: MIT
 */
#include "watcher.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define AGAIN_MS 1000 /* until one that ended is started again */
#define WORDS 64

static void on_alloc(uv_handle_t *h, size_t hint, uv_buf_t *buf)
{
	struct launch_watcher *w = h->data;

	(void)hint;
	buf->base = w->in + w->in_len;
	buf->len = sizeof(w->in) - 1 - w->in_len;
}

static void shut(struct launch_watcher *w)
{
	if (w->open)
		uv_close((uv_handle_t *)&w->pipe, NULL);
	w->open = false;
}

static void on_read(uv_stream_t *s, ssize_t n, const uv_buf_t *buf)
{
	struct launch_watcher *w = s->data;
	char *end;

	(void)buf;
	if (n < 0) { /* its end, or a line without one */
		launch_child_kill(&w->child, SIGKILL);
		shut(w);
		return;
	}
	w->in_len += (size_t)n;
	while ((end = memchr(w->in, '\n', w->in_len))) {
		*end++ = '\0';
		w->hear(w, w->in);
		w->in_len -= (size_t)(end - w->in);
		memmove(w->in, end, w->in_len);
	}
}

void launch_watcher_say(struct launch_watcher *w, const char *line)
{
	uv_buf_t buf = uv_buf_init((char *)(uintptr_t)line,
				   (unsigned int)strlen(line));

	if (w->open)
		uv_try_write((uv_stream_t *)&w->pipe, &buf, 1);
}

static void on_end(struct launch_child *c)
{
	struct launch_watcher *w = c->ctx;
	struct launch_job *j = w->host->job;

	shut(w);
	w->ended_ns = launch_now();
	if (!w->quiet && j->phase != LAUNCH_OVER)
		launch_say(j, "the health check of %s has ended",
			   w->host->name);
	w->quiet = true;
}

static void fill_argv(struct launch_watcher *w, char *enter, char *ms,
		      char *argv[WORDS + 12])
{
	struct launch_job *j = w->host->job;
	int n = launch_child_words(enter, argv, WORDS);

	if (n > 0)
		argv[n++] = w->host->name;
	argv[n++] = j->starter;
	argv[n++] = (char *)(uintptr_t)"--health";
	argv[n++] = (char *)(uintptr_t)j->o->health;
	argv[n++] = (char *)(uintptr_t)j->o->dir;
	argv[n++] = w->host->name;
	argv[n++] = ms;
	if (*j->o->library_path)
		argv[n++] = (char *)(uintptr_t)j->o->library_path;
	argv[n] = NULL;
}

int launch_watcher_start(struct launch_watcher *w, struct drill_err *err)
{
	struct launch_job *j = w->host->job;
	char enter[4096], ms[24], *argv[WORDS + 12];
	int pair[2], rc;

	snprintf(enter, sizeof(enter), "%s", j->o->enter);
	snprintf(ms, sizeof(ms), "%" PRId64,
		 j->o->health_interval_ns / LAUNCH_MS);
	fill_argv(w, enter, ms, argv);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return drill_err_errno(err, errno, "launch", "socketpair");
	w->child.on_end = on_end;
	w->child.ctx = w;
	w->child.io = pair[1];
	rc = launch_child_start(&w->child, &j->loop, argv, NULL, err);
	close(pair[1]);
	if (rc < 0) {
		close(pair[0]);
		return rc;
	}
	w->in_len = 0;
	uv_pipe_init(&j->loop, &w->pipe, 0);
	w->pipe.data = w;
	w->open = true;
	uv_pipe_open(&w->pipe, pair[0]);
	return uv_read_start((uv_stream_t *)&w->pipe, on_alloc, on_read);
}

void launch_watcher_tick(struct launch_watcher *w)
{
	if (!w->child.pid && !w->open && w->ended_ns &&
	    launch_now() - w->ended_ns > AGAIN_MS * LAUNCH_MS &&
	    launch_watcher_start(w, NULL) < 0)
		w->ended_ns = launch_now();
}

void launch_watcher_close(struct launch_watcher *w)
{
	launch_child_kill(&w->child, SIGKILL);
	shut(w);
}
