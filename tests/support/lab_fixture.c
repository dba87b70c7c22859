/* lab_fixture.c - labs for tests: up, what they say, down, what is left
 * SPDX-License-Identifier: MIT
 */
#include "lab_fixture.h"

#include "harness/lab/lab_dir.h"
#include "harness/lab/lab_mark.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int count(const char *said, const char *prefix)
{
	size_t n = strlen(prefix);
	int found = 0;

	while (said && *said) {
		found += strncmp(said, prefix, n) == 0;
		said = strchr(said, '\n');
		said = said ? said + 1 : NULL;
	}
	return found;
}

static void say(struct drill_test_lab *t, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static void say(struct drill_test_lab *t, const char *fmt, ...)
{
	size_t n = strlen(t->said);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(t->said + n, sizeof(t->said) - n, fmt, ap);
	va_end(ap);
	if (t->until[0] && count(t->said, t->until) >= t->times)
		t->lab.ops->stop(&t->lab);
}

static void keep(struct drill_test_lab *t, json_t *msg)
{
	json_decref(t->last);
	t->last = json_incref(msg);
}

static void on_agent(void *ctx, int host, json_t *msg)
{
	keep(ctx, msg);
	say(ctx, "agent %d %s\n", host,
	    json_string_value(json_object_get(msg, "kind")));
}

static void on_agent_gone(void *ctx, int host, const char *reason)
{
	say(ctx, "gone %d %s\n", host, reason);
}

static void on_job(void *ctx, const char *job, json_t *event)
{
	keep(ctx, event);
	say(ctx, "job %s %s\n", job,
	    json_string_value(json_object_get(event, "kind")));
}

static void on_job_exit(void *ctx, const char *job, int code)
{
	say(ctx, "exit %s %d\n", job, code);
}

static void on_signal(void *ctx, int signum)
{
	say(ctx, "signal %d\n", signum);
}

const char *drill_test_lab_up(struct drill_test_lab *t,
			      const struct drill_lab_ops *ops, int hosts,
			      const char *name, const char *state)
{
	static struct drill_err err;

	memset(t, 0, sizeof(*t));
	memset(&err, 0, sizeof(err));
	t->lab.ops = ops;
	t->lab.spec.hosts = hosts;
	t->lab.spec.devices = 1;
	snprintf(t->lab.spec.name, sizeof(t->lab.spec.name), "%s", name);
	snprintf(t->lab.state, sizeof(t->lab.state), "%s", state);
	t->lab.cb = (struct drill_lab_callbacks){t,	 on_agent, on_agent_gone,
						 on_job, on_job_exit, on_signal};
	return ops->up(&t->lab, &err) < 0 ? err.msg : NULL;
}

const char *drill_test_lab_down(struct drill_test_lab *t)
{
	static struct drill_err err;

	memset(&err, 0, sizeof(err));
	json_decref(t->last);
	t->last = NULL;
	return t->lab.ops->down(&t->lab, &err) < 0 ? err.msg : NULL;
}

static void too_late(void *arg)
{
	struct drill_test_lab *t = arg;

	t->times = -1;
	t->lab.ops->stop(&t->lab);
}

bool drill_test_lab_until(struct drill_test_lab *t, const char *prefix,
			  int times)
{
	int id;

	snprintf(t->until, sizeof(t->until), "%s", prefix);
	t->times = times;
	if (count(t->said, prefix) >= times)
		return true;
	id = t->lab.ops->timer(&t->lab, INT64_C(30000000000), too_late, t);
	t->lab.ops->run(&t->lab, NULL);
	if (t->times < 0)
		return false;
	t->lab.ops->timer_cancel(&t->lab, id);
	t->until[0] = '\0';
	return true;
}

/* Is it the lab of somebody else who is at work on this machine? We and what we
 * forked are one process group. */
static bool is_others(const char *name)
{
	struct drill_lab_mark m;
	char root[128], dir[400];

	snprintf(dir, sizeof(dir), "%s/%.250s",
		 drill_lab_root(root, sizeof(root)), name);
	return drill_lab_mark_read(dir, &m) && drill_lab_mark_owned(&m) &&
	       getpgid(m.pid) != getpgrp();
}

/* @line names a lab, or a cgroup of one: ".../faultdrill-NAME.MARK/...". */
static bool of_others(const char *line)
{
	const char *p = strstr(line, "/faultdrill-");
	char name[64];

	if (p)
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(p + 12, "."),
			 p + 12);
	else
		snprintf(name, sizeof(name), "%.*s",
			 (int)strcspn(line, "\n"), line);
	return name[0] && !strchr(name, '/') && is_others(name);
}

char *drill_test_machine(void)
{
	static const char command[] =
		"cat /proc/self/mounts; ls /sys/class/net; ls /run/faultdrill "
		"${XDG_RUNTIME_DIR:-/nonexistent}/faultdrill "
		"/tmp/faultdrill-$(id -u) 2>/dev/null | grep -v '^lock$'; "
		"find /sys/fs/cgroup -name 'faultdrill-*' 2>/dev/null; true";
	FILE *f = popen(command, "r");
	char line[4096], *text = calloc(1, 1 << 17);
	size_t n = 0;

	while (f && text && fgets(line, sizeof(line), f))
		if (!of_others(line) && n + strlen(line) < 1 << 17)
			n += (size_t)sprintf(text + n, "%s", line);
	if (f)
		pclose(f);
	return text;
}
