/* tell.c - events for the controller, lines for people
 * SPDX-License-Identifier: MIT
 */
#include "job.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A controller that is gone costs us its events, nothing else. */
static void write_all(struct launch_job *j, const char *text, size_t n)
{
	while (n > 0 && j->events_fd >= 0) {
		ssize_t done = write(j->events_fd, text, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0) {
			j->events_fd = -1;
			return;
		}
		text += done;
		n -= (size_t)done;
	}
}

void launch_tell(struct launch_job *j, const char *kind, json_t *event)
{
	char *text;
	size_t n;

	if (!event)
		return;
	json_object_set_new(event, "kind", json_string(kind));
	json_object_set_new(event, "attempt", json_integer(j->attempt));
	json_object_set_new(event, "source", json_string("launcher"));
	json_object_set_new(event, "h_ns", json_integer(launch_now()));
	text = json_dumps(event, JSON_COMPACT);
	json_decref(event);
	if (!text)
		return;
	n = strlen(text);
	text[n] = '\n'; /* in the place of the zero: one write a line */
	write_all(j, text, n + 1);
	free(text);
}

void launch_say(const struct launch_job *j, const char *fmt, ...)
{
	char line[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	fprintf(stderr, "launch: attempt %d: %s\n", j->attempt, line);
}

void launch_error(struct launch_job *j, const struct drill_err *err)
{
	launch_tell(j, "error", json_pack("{ss}", "reason", err->msg));
	fprintf(stderr, "launch: %s\n", err->msg);
}
