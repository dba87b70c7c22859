/* jobs.c - the launchers of a lab: started, listened to, ended with all theirs
 * SPDX-License-Identifier: MIT
 */
#include "marked.h"
#include "provider_impl.h"

#include "harness/core/jsonx.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char who[] = "lab.job";

#define GRACE_NS INT64_C(5000000000) /* from TERM to KILL */
#define MAX_LINE 65536

struct job {
	struct child c; /* first: they are one address */
	struct drill_provider *p;
	char *name;
	char line[MAX_LINE]; /* an event not yet at its end */
	size_t len;
	unsigned long lines;
	bool too_long;
	int kill_timer;
	struct job *next;
};

static struct job *find(struct drill_provider *p, const char *name)
{
	struct job *j;

	for (j = p->jobs; j; j = j->next)
		if (strcmp(j->name, name) == 0)
			return j;
	return NULL;
}

/* --- its processes ------------------------------------------------------- */

/* As many as die in time: down proves it for good. */
static void kill_theirs(struct job *j)
{
	struct drill_marked m;

	drill_marked_init(&m, j->p->lab->mark, j->name);
	drill_marked_end(&m, j->p->place->each, j->p->lab);
}

/* --- its events ---------------------------------------------------------- */

static void bad_line(struct job *j, const char *why)
{
	struct drill_lab *lab = j->p->lab;
	json_t *e = json_pack("{s:s, s:s++}", "kind", "error", "reason",
			      "the launcher's events: ", why, "");

	if (e && lab->cb.on_job && !j->p->quiet)
		lab->cb.on_job(lab->cb.ctx, j->name, e);
	json_decref(e);
}

static void take_line(struct job *j)
{
	struct drill_lab *lab = j->p->lab;
	struct drill_err err = {0};
	char why[700];
	json_t *e;

	j->lines++;
	e = drill_json_object(j->line, j->len, who, &err);
	if (e && !json_is_string(json_object_get(e, "kind")))
		drill_err_set(&err, -EPROTO, who, "an event without a kind");
	if (err.code) {
		snprintf(why, sizeof(why), "line %lu: %s", j->lines, err.msg);
		bad_line(j, why);
	} else if (lab->cb.on_job && !j->p->quiet) {
		lab->cb.on_job(lab->cb.ctx, j->name, e);
	}
	json_decref(e);
}

static void take_byte(struct job *j, char ch)
{
	if (ch != '\n') {
		if (j->len < sizeof(j->line))
			j->line[j->len++] = ch;
		else
			j->too_long = true;
		return;
	}
	if (j->too_long)
		bad_line(j, "a line is too long");
	else if (j->len)
		take_line(j);
	j->len = 0;
	j->too_long = false;
}

static void taken(struct child *c, const char *data, size_t n)
{
	struct job *j = (struct job *)c;
	size_t i;

	for (i = 0; i < n; i++)
		take_byte(j, data[i]);
}

/* --- its life ------------------------------------------------------------ */

static void forget(struct job *j)
{
	struct job **at;

	for (at = &j->p->jobs; *at && *at != j; at = &(*at)->next)
		;
	if (*at)
		*at = j->next;
	drill_provider_timer_cancel(j->p->lab, j->kill_timer);
}

/* Nothing of it may run on when its end is told. */
static void over(struct child *c)
{
	struct job *j = (struct job *)c;
	struct drill_lab *lab = j->p->lab;
	int s = c->status;

	forget(j);
	kill_theirs(j);
	if (j->len)
		bad_line(j, "the last line has no end");
	if (lab->cb.on_job_exit && !j->p->quiet)
		lab->cb.on_job_exit(lab->cb.ctx, j->name,
				    WIFEXITED(s) ? WEXITSTATUS(s)
						 : -WTERMSIG(s));
	free(j->name);
	free(j);
}

static size_t count(char *const *list)
{
	size_t n = 0;

	while (list && list[n])
		n++;
	return n;
}

/* Ours first: glibc takes the first of two. Yours: free the array; the strings
 * of @own are borrowed. */
static char **environment(char *const *more, char *const *own)
{
	size_t n = 0, i;
	char **env = calloc(count(own) + count(more) + count(environ) + 1,
			    sizeof(*env));

	if (!env)
		return NULL;
	for (i = 0; own && own[i]; i++)
		env[n++] = own[i];
	for (i = 0; more && more[i]; i++)
		env[n++] = more[i];
	for (i = 0; environ[i]; i++)
		env[n++] = environ[i];
	return env;
}

static int spawn(struct job *j, const struct drill_job *job, int events,
		 int log, pid_t *ret_pid, int *ret_pidfd,
		 struct drill_err *err)
{
	struct drill_lab *lab = j->p->lab;
	struct drill_marked m;
	char tmp[300], fd[] = "FAULTDRILL_EVENTS_FD=3";
	char data[64], mgmt[64];
	char *own[] = {m.want, tmp, fd, data, mgmt, NULL};
	struct drill_spawn s;
	int rc;

	drill_marked_init(&m, lab->mark, j->name);
	snprintf(tmp, sizeof(tmp), "TMPDIR=%s/tmp", lab->dir);
	snprintf(data, sizeof(data), "FAULTDRILL_DATA_IF=%s", lab->data_if);
	snprintf(mgmt, sizeof(mgmt), "FAULTDRILL_MGMT_IF=%s", lab->mgmt_if);
	drill_spawn_init(&s);
	s.argv = job->argv;
	s.env = environment(job->env, own);
	s.fd[0] = log < 0 ? 0 : -1;
	s.fd[1] = log < 0 ? 1 : log;
	s.fd[2] = log < 0 ? 2 : log;
	s.fd[3] = events;
	s.session = true;
	s.deathsig = SIGKILL;
	rc = s.env ? j->p->place->job(lab, j->name, &s, err) : -ENOMEM;
	if (rc == 0)
		rc = drill_spawn(&s, ret_pid, ret_pidfd, err);
	free((void *)(uintptr_t)s.env);
	return rc;
}

static int start(struct job *j, const struct drill_job *job,
		 struct drill_err *err)
{
	int events[2], log = -1, pidfd, rc;
	pid_t pid;

	if (job->log_path)
		log = open(job->log_path,
			   O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	if (job->log_path && log < 0)
		return drill_err_errno(err, errno, who, "cannot write '%s'",
				       job->log_path);
	if (pipe2(events, O_CLOEXEC) < 0) {
		if (log >= 0)
			close(log);
		return drill_err_errno(err, errno, who, "no pipe");
	}
	rc = spawn(j, job, events[1], log, &pid, &pidfd, err);
	if (log >= 0)
		close(log);
	close(events[1]);
	if (rc == 0)
		return drill_child_watch(j->p, &j->c, pid, pidfd, events[0],
					 -1, err);
	close(events[0]);
	return rc;
}

int drill_provider_job_start(struct drill_lab *lab, const struct drill_job *job,
			     struct drill_err *err)
{
	struct job *j;
	int rc;

	if (find(lab->provider, job->name))
		return drill_err_set(err, -EEXIST, who,
				     "job '%s' runs already", job->name);
	j = calloc(1, sizeof(*j));
	if (j)
		j->name = strdup(job->name);
	if (!j || !j->name) {
		free(j);
		return drill_err_set(err, -ENOMEM, who, "no memory");
	}
	j->p = lab->provider;
	j->c.taken = taken;
	j->c.over = over;
	rc = start(j, job, err);
	if (rc < 0) {
		free(j->name);
		free(j);
		return rc;
	}
	j->next = lab->provider->jobs;
	lab->provider->jobs = j;
	return 0;
}

static void kill_now(void *arg)
{
	struct job *j = arg;

	j->kill_timer = 0;
	if (j->c.pidfd >= 0)
		drill_pidfd_kill(j->c.pidfd, SIGKILL);
}

int drill_provider_job_stop(struct drill_lab *lab, const char *job,
			    struct drill_err *err)
{
	struct job *j = find(lab->provider, job);

	if (!j)
		return drill_err_set(err, -ENOENT, who, "no job '%s' runs",
				     job);
	if (j->c.pidfd >= 0) {
		drill_pidfd_kill(j->c.pidfd, SIGCONT);
		drill_pidfd_kill(j->c.pidfd, SIGTERM);
	}
	if (!j->kill_timer)
		j->kill_timer = drill_provider_timer(lab, GRACE_NS, kill_now,
						     j);
	return 0;
}

void drill_jobs_kill(struct drill_provider *p)
{
	struct job *j;

	for (j = p->jobs; j; j = j->next)
		if (j->c.pidfd >= 0)
			drill_pidfd_kill(j->c.pidfd, SIGKILL);
}
