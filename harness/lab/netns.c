/* netns.c - a lab of namespace hosts on this machine
 * SPDX-License-Identifier: MIT
 *
 * A host is a process of ours (host-init) born in its own network, mount, UTS
 * and PID namespaces and in its own cgroup. One more such process, the head,
 * holds the network namespace of the bridges, in which the launcher runs.
 * Everything in the lab hangs below one cgroup: killing that is the way back.
 */
#include "netns_impl.h"

#include "cgroup.h"
#include "lab_record.h"
#include "netns_link.h"
#include "provider.h"
#include "spec.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

static const char who[] = "lab.netns";


/* --- where processes are put --------------------------------------------- */

/* The agent sees the host's network, mounts and name, but the processes that
 * we see: it must find ranks by their outer pids. */
static void place_agent(struct drill_lab *lab, int host, struct drill_spawn *s)
{
	struct netns *n = lab->impl;

	s->join = n->hosts[host].pidfd;
	s->join_ns = DRILL_HEAD_NS;
	s->our_proc = true;
}

static int place_job(struct drill_lab *lab, const char *job,
		     struct drill_spawn *s, struct drill_err *err)
{
	struct netns *n = lab->impl;

	(void)job;
	(void)err;
	s->join = n->head.pidfd;
	s->join_ns = DRILL_HEAD_NS;
	s->cgroup = n->head_cgroup;
	return 0;
}

static void place_each(struct drill_lab *lab, void (*fn)(pid_t, void *),
		       void *arg)
{
	struct netns *n = lab->impl;

	drill_cgroup_each(n->base.cgroup, fn, arg);
}

static int place_welcome(struct drill_lab *lab, int host, json_t *welcome)
{
	struct netns *n = lab->impl;

	return json_object_set_new(welcome, "cgroup",
				   json_string(lab->hosts[host].cgroup)) |
	       json_object_set_new(welcome, "netns_pid",
				   json_integer(n->hosts[host].pid));
}

static const struct drill_place place = {
	.agent = place_agent,
	.job = place_job,
	.each = place_each,
	.welcome = place_welcome,
};

/* --- up ------------------------------------------------------------------ */

static void name_all(struct drill_lab *lab, const char *base)
{
	struct netns *n = lab->impl;
	char path[PATH_MAX];
	int i;

	snprintf(n->base.cgroup, sizeof(n->base.cgroup), "%.200s/faultdrill-%s.%.8s",
		 base, lab->spec.name, lab->mark);
	snprintf(n->head_cgroup, sizeof(n->head_cgroup), "%s/head", n->base.cgroup);
	for (i = 0; i < lab->n_hosts; i++) {
		struct drill_lab_host *h = &lab->hosts[i];

		snprintf(h->name, sizeof(h->name), "h%d", i);
		h->spare = i >= lab->spec.hosts;
		snprintf(h->cgroup, sizeof(h->cgroup), "%.240s/h%d", n->base.cgroup,
			 i);
	}
	snprintf(lab->head, sizeof(lab->head), "%s", DRILL_HEAD_MGMT);
	snprintf(lab->data_if, sizeof(lab->data_if), "%s", DRILL_IF_DATA);
	snprintf(lab->mgmt_if, sizeof(lab->mgmt_if), "%s", DRILL_IF_MGMT);
	drill_agent_path(path, sizeof(path));
	snprintf(lab->enter, sizeof(lab->enter), "%.300s enter %.180s", path,
		 lab->dir);
}

static int allocate(struct drill_lab *lab, struct drill_err *err)
{
	int i, all = lab->spec.hosts + lab->spec.spares;
	struct netns *n = calloc(1, sizeof(*n));

	if (all < 1 || all > DRILL_LAB_HOSTS) {
		free(n);
		return drill_err_set(err, -EINVAL, who,
				     "a lab has 1 to %d hosts, not %d",
				     DRILL_LAB_HOSTS, all);
	}
	lab->hosts = calloc((size_t)all, sizeof(*lab->hosts));
	if (n) {
		n->hosts = calloc((size_t)all, sizeof(*n->hosts));
		n->pidfds = calloc((size_t)all, sizeof(*n->pidfds));
	}
	lab->impl = n;
	lab->n_hosts = all;
	if (!n || !lab->hosts || !n->hosts || !n->pidfds)
		return drill_err_set(err, -ENOMEM, who, "no memory");
	n->life[0] = n->life[1] = n->head.pidfd = n->head.status = -1;
	for (i = 0; i < all; i++)
		n->hosts[i].pidfd = n->hosts[i].status = -1;
	if (!lab->keep && pipe2(n->life, O_CLOEXEC) < 0)
		return drill_err_errno(err, errno, who, "no pipe");
	return 0;
}

static void close_holder(struct holder *h)
{
	if (h->pidfd >= 0)
		close(h->pidfd);
	if (h->status >= 0)
		close(h->status);
	if (h->pid > 0)
		waitpid(h->pid, NULL, WNOHANG);
}

static void release(struct drill_lab *lab)
{
	struct netns *n = lab->impl;
	int i;

	if (n) {
		close_holder(&n->head);
		for (i = 0; n->hosts && i < lab->n_hosts; i++)
			close_holder(&n->hosts[i]);
		for (i = 0; i < 2; i++)
			if (n->life[i] >= 0)
				close(n->life[i]);
		free(n->hosts);
		free(n->pidfds);
	}
	free(n);
	free(lab->hosts);
	lab->impl = NULL;
	lab->hosts = NULL;
	lab->n_hosts = 0;
}

static int make_names(struct drill_lab *lab, struct drill_err *err)
{
	char base[256];
	int rc;

	rc = drill_cgroup_own(base, sizeof(base), err);
	if (rc == 0)
		rc = allocate(lab, err);
	if (rc == 0)
		name_all(lab, base);
	return rc;
}

static const struct drill_lab_how how = {
	.kind = drill_lab_netns_kind,
	.place = &place,
	.allocate = make_names,
	.make = drill_netns_make,
	.attach = drill_netns_attach,
	.release = release,
};

static int up(struct drill_lab *lab, struct drill_err *err)
{
	return drill_lab_up(lab, &how, err);
}

static int down(struct drill_lab *lab, struct drill_err *err)
{
	return drill_lab_down(lab, &how, err);
}

/* --- probe --------------------------------------------------------------- */

/* In a child: what is tried is gone with it. */
static int try_namespaces(int out)
{
	struct drill_err err = {0};

	if (unshare(DRILL_HOST_NS) < 0)
		dprintf(out, "no namespaces: %s", strerror(errno));
	else if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		dprintf(out, "no private mounts: %s", strerror(errno));
	else if (drill_links_probe(&err) < 0)
		dprintf(out, "no bridges and veth pairs: %s", err.msg);
	return 0;
}

static int ask_child(struct drill_err *err)
{
	char text[300] = "";
	int p[2];
	ssize_t n;
	pid_t pid;

	if (pipe2(p, O_CLOEXEC) < 0)
		return drill_err_errno(err, errno, who, "no pipe");
	pid = fork();
	if (pid == 0)
		_exit(try_namespaces(p[1]));
	close(p[1]);
	n = pid < 0 ? -1 : read(p[0], text, sizeof(text) - 1);
	close(p[0]);
	if (pid > 0)
		waitpid(pid, NULL, 0);
	if (n == 0)
		return 0;
	text[n > 0 ? n : 0] = '\0';
	return drill_err_set(err, -ENOTSUP, who, "%s",
			     n > 0 ? text : "cannot fork");
}

static int probe(const struct drill_lab_spec *spec, struct drill_err *err)
{
	char base[256], path[PATH_MAX];
	int rc;

	if (spec->hosts + spec->spares > DRILL_LAB_HOSTS)
		return drill_err_set(err, -EINVAL, who, "at most %d hosts",
				     DRILL_LAB_HOSTS);
	if (geteuid() != 0)
		return drill_err_set(err, -EPERM, who,
				     "namespaces with a network need root");
	drill_agent_path(path, sizeof(path));
	if (access(path, X_OK) < 0)
		return drill_err_errno(err, errno, who,
				       "no agent to run at '%s'", path);
	rc = drill_cgroup_own(base, sizeof(base), err);
	return rc < 0 ? rc : ask_child(err);
}

const struct drill_lab_ops drill_lab_netns = {
	.name = "netns",
	.doc = "Namespaces and cgroups on this machine; needs root.",
	.probe = probe,
	.up = up,
	.down = down,
	.agent_start = drill_provider_agent_start,
	.agent_send = drill_provider_agent_send,
	.agent_stop = drill_provider_agent_stop,
	.to_local = drill_provider_to_local,
	.job_start = drill_provider_job_start,
	.job_stop = drill_provider_job_stop,
	.clock = drill_provider_clock,
	.timer = drill_provider_timer,
	.timer_cancel = drill_provider_timer_cancel,
	.run = drill_provider_run,
	.stop = drill_provider_stop,
};
