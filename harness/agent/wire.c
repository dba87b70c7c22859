/* wire.c - from the agent to its controller
 * SPDX-License-Identifier: MIT
 */
#include "agent.h"
#include "line.h"

#include "harness/core/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A controller that stops reading may cost this much memory, no more. */
#define QUEUE_MAX ((size_t)32 << 20)

struct sending {
	uv_write_t req;
	struct agent *agent;
	char *bytes;
	size_t n;
};

int64_t agent_now(void)
{
	return drill_raw_ns(drill_clock_system());
}

static void on_sent(uv_write_t *req, int status)
{
	struct sending *s = req->data;

	(void)status; /* a closed pipe shows up as the end of input */
	s->agent->queued -= s->n;
	free(s->bytes);
	free(s);
}

static void queue(struct agent *a, const char *bytes, size_t n)
{
	struct sending *s = calloc(1, sizeof(*s));
	uv_buf_t buf;

	if (!s || a->queued + n > QUEUE_MAX || !(s->bytes = malloc(n))) {
		free(s);
		return;
	}
	memcpy(s->bytes, bytes, n);
	buf = uv_buf_init(s->bytes, n);
	s->req.data = s;
	s->agent = a;
	s->n = n;
	a->queued += n;
	if (uv_write(&s->req, (uv_stream_t *)&a->out, &buf, 1, on_sent) < 0)
		on_sent(&s->req, -1);
}

void agent_flush(struct agent *a)
{
	uv_buf_t buf = uv_buf_init(a->ready, a->n_ready);
	int done = 0;

	if (!a->n_ready)
		return;
	if (a->queued == 0)
		done = uv_try_write((uv_stream_t *)&a->out, &buf, 1);
	if (done < 0)
		done = 0;
	if ((size_t)done < a->n_ready)
		queue(a, a->ready + done, a->n_ready - done);
	a->n_ready = 0;
}

/* Many small frames become one write: a step of two ranks is a dozen events. */
static void append(struct agent *a, const char *bytes, size_t n)
{
	char *room;

	if (a->n_ready + n > a->ready_room) {
		room = realloc(a->ready, a->n_ready + n + 4096);
		if (!room)
			abort();
		a->ready = room;
		a->ready_room = a->n_ready + n + 4096;
	}
	memcpy(a->ready + a->n_ready, bytes, n);
	a->n_ready += n;
}

void agent_send(struct agent *a, json_t *msg)
{
	char *bytes = NULL;
	size_t n = 0;

	if (msg)
		bytes = drill_frame_encode(msg, &n, NULL);
	json_decref(msg);
	if (bytes)
		append(a, bytes, n);
	free(bytes);
}

void agent_line(struct agent *a, struct drill_line *l)
{
	static const char head[] = "{\"kind\":\"event\",\"event\":";
	unsigned char size[4];
	json_t *event;
	size_t n;

	drill_line_end(l);
	n = sizeof(head) - 1 + l->n + 1;
	size[0] = n >> 24;
	size[1] = n >> 16;
	size[2] = n >> 8;
	size[3] = n;
	append(a, (char *)size, sizeof(size));
	append(a, head, sizeof(head) - 1);
	append(a, l->text, l->n);
	append(a, "}", 1);
	if (!a->listens)
		return;
	event = json_loadb(l->text, l->n, 0, NULL);
	if (event)
		fire_event(a, event);
	json_decref(event);
}

void agent_event(struct agent *a, json_t *event)
{
	if (!event)
		return;
	json_object_set_new(event, "host", json_string(a->host));
	if (!json_object_get(event, "source"))
		json_object_set_new(event, "source", json_string("agent"));
	agent_send(a, json_pack("{s:s,s:O}", "kind", "event", "event", event));
	fire_event(a, event);
	json_decref(event);
}

void agent_error(struct agent *a, const char *text)
{
	agent_send(a, json_pack("{s:s,s:s}", "kind", "error", "reason", text));
}

uv_timer_t *agent_timer(struct agent *a, void *data)
{
	uv_timer_t *t = calloc(1, sizeof(*t));

	if (!t)
		abort();
	uv_timer_init(&a->loop, t);
	t->data = data;
	return t;
}

static void free_handle(uv_handle_t *h)
{
	free(h);
}

void agent_timer_free(uv_timer_t *t)
{
	if (t)
		uv_close((uv_handle_t *)t, free_handle);
}
