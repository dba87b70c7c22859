/* marks.c - people are detectors too: what `faultdrill mark` wrote
 * SPDX-License-Identifier: MIT
 */
#include "drill_impl.h"

#include "harness/agent/lock.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOOK_NS (200 * DRILL_MS)

static bool is_declared(struct drill *d, const char *name)
{
	return json_object_get(json_object_get(d->spec->json, "detectors"),
			       name);
}

/* The instant is the one at which it was typed, on this machine's clock. Who is
 * no declared detector has noted something, no more. */
static void take(struct drill *d, const char *line)
{
	char name[64], text[80];
	json_t *event;
	int64_t ns;

	if (sscanf(line, "%63s %" SCNd64, name, &ns) != 2)
		return;
	snprintf(text, sizeof(text), "mark %s", name);
	if (is_declared(d, name)) {
		event = json_pack("{s:s s:s s:s}", "kind", "detected", "by",
				  "user", "what", name);
	} else {
		event = json_pack("{s:s s:s}", "kind", "log", "text", text);
		drill_say(d, "trial", "%s (noted; no detector of this scenario)",
			  text);
	}
	json_object_set_new(event, "source", json_string("mark"));
	json_object_set_new(event, "h_ns", json_integer((json_int_t)ns));
	drill_intake(d, -1, event);
}

static void look(void *arg)
{
	struct drill *d = arg;
	char path[600], line[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/marks", d->ret->dir);
	f = d->ret->dir[0] ? fopen(path, "re") : NULL;
	if (f) {
		fseek(f, d->marks_read, SEEK_SET);
		while (fgets(line, sizeof(line), f) && strchr(line, '\n')) {
			d->marks_read += (long)strlen(line);
			take(d, line);
		}
		fclose(f);
	}
	d->marks_timer = d->lab.ops->timer(&d->lab, LOOK_NS, look, d);
	if (d->trial) {
		drill_stage_tick(d->trial);
		drill_show(d); /* also of a job that says nothing */
	}
	drill_poke(d);
}

/* What `mark` has to know of us, wherever it is typed. */
static char *announcement(struct drill *d)
{
	char *dir = realpath(d->ret->dir, NULL), *text = NULL;
	json_t *all = json_object_get(d->spec->json, "detectors"), *v;
	json_t *marks = json_array(), *out;
	const char *name;

	json_object_foreach(all, name, v)
		json_array_append_new(marks, json_string(name));
	out = json_pack("{s:s s:s s:o}", "dir", dir ? dir : "", "scenario",
			d->spec->name, "detectors", marks);
	if (dir && out)
		text = json_dumps(out, JSON_COMPACT);
	json_decref(out);
	free(dir);
	return text;
}

static const char *announced_as(char *buf, size_t size)
{
	snprintf(buf, size, DRILL_RUNS "%d", (int)getpid());
	return buf;
}

/* A drill that nobody can mark is a drill all the same. */
void drill_marks_begin(struct drill *d)
{
	char name[40], *text = d->o->direct ? NULL : announcement(d);

	d->marks_fd = -1;
	if (text)
		drill_lock_take(announced_as(name, sizeof(name)), text,
				&d->marks_fd, NULL);
	free(text);
	d->marks_timer = d->lab.ops->timer(&d->lab, LOOK_NS, look, d);
}

void drill_marks_end(struct drill *d)
{
	char name[40];

	if (d->marks_timer > 0)
		d->lab.ops->timer_cancel(&d->lab, d->marks_timer);
	d->marks_timer = 0;
	drill_lock_drop(announced_as(name, sizeof(name)), d->marks_fd);
	d->marks_fd = -1;
}
