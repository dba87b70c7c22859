/* marks.c - people are detectors too: what `faultdrill mark` wrote
 * SPDX-License-Identifier: MIT
 */
#include "drill_impl.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define LOOK_NS (200 * DRILL_MS)

static bool is_declared(struct drill *d, const char *name)
{
	json_t *all = json_object_get(d->spec->json, "detectors");

	return json_object_size(all) == 0 || json_object_get(all, name);
}

/* The instant is the one at which it was typed, on this machine's clock. */
static void take(struct drill *d, const char *line)
{
	char name[64];
	int64_t ns;

	if (sscanf(line, "%63s %" SCNd64, name, &ns) != 2)
		return;
	if (!is_declared(d, name))
		drill_say(d, "trial", "mark '%s' is no detector of this "
				      "scenario", name);
	drill_intake(d, -1, json_pack("{s:s s:s s:s s:s s:I}", "kind",
				      "detected", "by", "user", "source",
				      "mark", "what", name, "h_ns",
				      (json_int_t)ns));
}

static void look(void *arg)
{
	struct drill *d = arg;
	char path[600], line[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/marks", d->ret->dir);
	f = fopen(path, "re");
	if (f) {
		fseek(f, d->marks_read, SEEK_SET);
		while (fgets(line, sizeof(line), f) && strchr(line, '\n')) {
			d->marks_read += (long)strlen(line);
			take(d, line);
		}
		fclose(f);
	}
	d->marks_timer = d->lab.ops->timer(&d->lab, LOOK_NS, look, d);
	if (d->trial)
		drill_stage_tick(d->trial);
	drill_poke(d);
}

void drill_marks_begin(struct drill *d)
{
	d->marks_timer = d->lab.ops->timer(&d->lab, LOOK_NS, look, d);
}

void drill_marks_end(struct drill *d)
{
	if (d->marks_timer > 0)
		d->lab.ops->timer_cancel(&d->lab, d->marks_timer);
	d->marks_timer = 0;
}
