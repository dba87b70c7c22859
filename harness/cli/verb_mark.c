/* verb_mark.c - faultdrill mark: a person has noticed something
 * SPDX-License-Identifier: MIT
 *
 * One line, with the instant it was typed, at the end of the file `marks` in the
 * folder of the drill that runs; the drill reads it and notes a detection by
 * `user`. Which drills run is known from the locks that they hold.
 */
#include "verbs.h"

#include "harness/agent/lock.h"
#include "harness/core/clock.h"
#include "harness/core/jsonx.h"
#include "harness/core/unit.h"
#include "harness/engine/drill.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_name(const char *s)
{
	const char *p;

	for (p = s; *p; p++)
		if (!isalnum((unsigned char)*p) && !strchr("_.-", *p))
			return false;
	return p > s && p - s < 64;
}

/* Is @dir, as a person named it, the folder of the run or of its results? */
static bool is_in(const char *run, const char *dir)
{
	char *real = realpath(dir, NULL);
	size_t n = real ? strlen(real) : 0;
	bool ret = real && strncmp(run, real, n) == 0 &&
		   (!run[n] || (run[n] == '/' && !strchr(run + n + 1, '/')));

	free(real);
	return ret;
}

/* The drills that run, of those in @dir alone when it is given; yours. */
static json_t *running(const char *dir)
{
	json_t *held = drill_lock_held(DRILL_RUNS), *ret = json_array(), *v, *d;
	size_t i;

	json_array_foreach(held, i, v) {
		d = json_loads(json_string_value(v), 0, NULL);
		if (d && (!dir || is_in(drill_json_text(d, "dir"), dir)))
			json_array_append(ret, d);
		json_decref(d);
	}
	json_decref(held);
	return ret;
}

static enum drill_outcome which(json_t *drills)
{
	enum drill_outcome o;
	json_t *d;
	size_t i;

	o = drill_cli_usage("mark: %d drills run; name the folder of one: "
			    "-o DIR", (int)json_array_size(drills));
	json_array_foreach(drills, i, d)
		fprintf(stderr, "  %s  %s\n", drill_json_text(d, "dir"),
			drill_json_text(d, "scenario"));
	return o;
}

/* A typing mistake is no detection. A scenario that declares nobody is told
 * all the same, and notes it. */
static enum drill_outcome check_name(json_t *drill, const char *name)
{
	json_t *list = json_object_get(drill, "detectors"), *v;
	const char *in = drill_json_text(drill, "scenario");
	const char *names[65] = { NULL }, *near;
	char all[300] = "";
	size_t i, len = 0;

	json_array_foreach(list, i, v) {
		if (i < 64)
			names[i] = json_string_value(v);
		if (strcmp(json_string_value(v), name) == 0)
			return DRILL_PASS;
		if (len < sizeof(all))
			len += (size_t)snprintf(all + len, sizeof(all) - len,
						"%s%s", i ? ", " : "",
						json_string_value(v));
	}
	if (!names[0])
		return DRILL_PASS;
	near = drill_nearest(name, names);
	return near ? drill_cli_usage("mark: no detector '%s' in \"%s\" (did "
				      "you mean '%s'?)", name, in, near)
		    : drill_cli_usage("mark: no detector '%s' in \"%s\" (there "
				      "are: %s)", name, in, all);
}

static enum drill_outcome write_mark(json_t *drill, const char *name,
				     int64_t now)
{
	struct drill_err err = { 0 };
	char line[128], path[600];
	int fd, n, rc = 0;

	n = snprintf(line, sizeof(line), "%s %" PRId64 "\n", name, now);
	snprintf(path, sizeof(path), "%.580s/marks",
		 drill_json_text(drill, "dir"));
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	if (fd < 0 || write(fd, line, (size_t)n) != n)
		rc = drill_err_errno(&err, errno, "mark", "cannot write %s",
				     path);
	if (fd >= 0)
		close(fd);
	if (rc < 0)
		return drill_cli_fail(&err);
	if (json_array_size(json_object_get(drill, "detectors")) == 0)
		printf("noted in \"%s\"; it declares no detector, so it is no "
		       "detection\n", drill_json_text(drill, "scenario"));
	return DRILL_PASS;
}

enum drill_outcome drill_verb_mark(struct drill_cli *cli)
{
	int64_t now = drill_raw_ns(drill_clock_system());
	const char *name = cli->args[0], *dir = drill_opt(cli, "out");
	enum drill_outcome o;
	json_t *drills, *first;

	if (!is_name(name))
		return drill_cli_usage("mark: '%s' is no name: letters, digits "
				       "and _.-", name);
	drills = running(dir);
	first = json_array_get(drills, 0);
	if (!first && dir)
		o = drill_cli_usage("mark: no drill runs in %s", dir);
	else if (!first)
		o = drill_cli_usage("mark: no drill runs here");
	else if (json_array_size(drills) > 1)
		o = which(drills);
	else
		o = check_name(first, name);
	if (o == DRILL_PASS)
		o = write_mark(first, name, now);
	json_decref(drills);
	return o;
}
