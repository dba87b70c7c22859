/* netns.c - a lab of namespace hosts on this machine
 * SPDX-License-Identifier: MIT
 *
 * A host is a process of ours (host-init) born in its own network, mount, UTS
 * and PID namespaces and in its own cgroup. One more such process, the head,
 * holds the network namespace of the bridges, in which the launcher runs.
 * Everything in the lab hangs below one cgroup: killing that is the way back.
 */
#include "lab_dir.h"
#include "lab_record.h"
#include "cgroup.h"
#include "netns_link.h"
#include "provider.h"

#include "harness/agent/process.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

static const char who[] = "lab.netns";

#define MAX_HOSTS 250
#define READY_MS 10000
#define GONE_MS 10000
#define HOST_NS (CLONE_NEWNET | CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWPID)
#define HEAD_NS (CLONE_NEWNET | CLONE_NEWNS | CLONE_NEWUTS)

/* A process that holds a host's namespaces. */
struct holder {
	pid_t pid;
	int pidfd;
	int status; /* its "ready" comes here; -1: has come */
};

struct netns {
	struct holder head;
	struct holder *hosts;
	int *pidfds; /* of the hosts, as the networks want them */
	char cgroup[300];
	char head_cgroup[320];
	int life[2]; /* its end ends the holders; -1 when the lab is kept */
	bool v6;
	struct drill_lab_record record;
};

/* --- where processes are put --------------------------------------------- */

/* The agent sees the host's network, mounts and name, but the processes that
 * we see: it must find ranks by their outer pids. */
static void place_agent(struct drill_lab *lab, int host, struct drill_spawn *s)
{
	struct netns *n = lab->impl;

	s->join = n->hosts[host].pidfd;
	s->join_ns = HEAD_NS;
	s->our_proc = true;
}

static int place_job(struct drill_lab *lab, const char *job,
		     struct drill_spawn *s, struct drill_err *err)
{
	struct netns *n = lab->impl;

	(void)job;
	(void)err;
	s->join = n->head.pidfd;
	s->join_ns = HEAD_NS;
	s->cgroup = n->head_cgroup;
	return 0;
}

static void place_each(struct drill_lab *lab, void (*fn)(pid_t, void *),
		       void *arg)
{
	struct netns *n = lab->impl;

	drill_cgroup_each(n->cgroup, fn, arg);
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

static int make_hosts_file(const struct drill_lab *lab, struct drill_err *err)
{
	char path[320], a[48];
	FILE *f;
	int i;

	snprintf(path, sizeof(path), "%s/hosts", lab->dir);
	f = fopen(path, "we");
	if (!f)
		return drill_err_errno(err, errno, who, "cannot write '%s'",
				       path);
	fprintf(f, "127.0.0.1 localhost\n::1 localhost\n%s head\n",
		DRILL_HEAD_MGMT);
	for (i = 0; i < lab->n_hosts; i++) {
		const char *name = lab->hosts[i].name;

		fprintf(f, "%s %s\n", drill_link_v4(78, i, a, sizeof(a)), name);
		fprintf(f, "%s %s-data\n", drill_link_v4(77, i, a, sizeof(a)),
			name);
	}
	if (fclose(f) == EOF)
		return drill_err_errno(err, errno, who, "cannot write '%s'",
				       path);
	return 0;
}

static int make_cgroups(struct drill_lab *lab, struct drill_err *err)
{
	struct netns *n = lab->impl;
	int i, rc;

	rc = drill_cgroup_make(n->cgroup, err);
	if (rc == 0)
		rc = drill_cgroup_make(n->head_cgroup, err);
	for (i = 0; i < lab->n_hosts && rc == 0; i++)
		rc = drill_cgroup_make(lab->hosts[i].cgroup, err);
	return rc;
}

static int start_holder(struct drill_lab *lab, const char *name,
			const char *cgroup, struct holder *ret,
			struct drill_err *err)
{
	struct netns *n = lab->impl;
	bool head = ret == &n->head;
	char path[PATH_MAX], kind[] = "head", host[] = "host";
	char init[] = "host-init", name_arg[32];
	char *argv[] = {path, init, lab->dir, name_arg,
			lab->mark, head ? kind : host, NULL};
	struct drill_spawn s;
	int status[2], rc;

	if (pipe2(status, O_CLOEXEC) < 0)
		return drill_err_errno(err, errno, who, "no pipe");
	snprintf(name_arg, sizeof(name_arg), "%s", name);
	drill_agent_path(path, sizeof(path));
	drill_spawn_init(&s);
	s.argv = argv;
	s.fd[3] = status[1];
	s.fd[4] = n->life[0];
	s.new_ns = head ? HEAD_NS : HOST_NS;
	s.cgroup = cgroup;
	rc = drill_spawn(&s, &ret->pid, &ret->pidfd, err);
	close(status[1]);
	ret->status = status[0];
	return rc;
}

static int start_holders(struct drill_lab *lab, struct drill_err *err)
{
	struct netns *n = lab->impl;
	int i, rc;

	rc = start_holder(lab, "head", n->head_cgroup, &n->head, err);
	for (i = 0; i < lab->n_hosts && rc == 0; i++) {
		rc = start_holder(lab, lab->hosts[i].name,
				  lab->hosts[i].cgroup, &n->hosts[i], err);
		n->pidfds[i] = n->hosts[i].pidfd;
	}
	return rc;
}

/* One line: "ready", or what failed in there. */
static int wait_ready(struct holder *h, const char *name, struct drill_err *err)
{
	struct pollfd p = {.fd = h->status, .events = POLLIN};
	char text[300] = "";
	ssize_t n = 0;

	if (poll(&p, 1, READY_MS) > 0)
		n = read(h->status, text, sizeof(text) - 1);
	close(h->status);
	h->status = -1;
	text[n > 0 ? n : 0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	if (strcmp(text, "ready") == 0)
		return 0;
	return drill_err_set(err, -EIO, who, "host '%s' did not come up: %s",
			     name, text[0] ? text : "no word from it");
}

static int wait_all_ready(struct drill_lab *lab, struct drill_err *err)
{
	struct netns *n = lab->impl;
	int i, rc;

	rc = wait_ready(&n->head, "head", err);
	for (i = 0; i < lab->n_hosts && rc == 0; i++)
		rc = wait_ready(&n->hosts[i], lab->hosts[i].name, err);
	return rc;
}

static int add_host(const struct drill_lab *lab, int i, json_t *host)
{
	struct netns *n = lab->impl;
	char d4[48], m4[48], d6[48] = "", m6[48] = "";
	json_t *more;
	int rc;

	drill_link_v4(77, i, d4, sizeof(d4));
	drill_link_v4(78, i, m4, sizeof(m4));
	if (n->v6) {
		drill_link_v6(77, i, d6, sizeof(d6));
		drill_link_v6(78, i, m6, sizeof(m6));
	}
	more = json_pack("{s:i, s:I, s:s, s:s, s:s, s:s}", "pid",
			 (int)n->hosts[i].pid, "start",
			 (json_int_t)drill_process_start(n->hosts[i].pid),
			 "data4", d4, "mgmt4", m4, "data6", d6, "mgmt6", m6);
	rc = json_object_update(host, more);
	json_decref(more);
	return rc;
}

static int fill_file(const struct drill_lab *lab, json_t *file)
{
	json_t *hosts = json_object_get(file, "hosts");
	struct netns *n = lab->impl;
	int i, rc;

	rc = json_object_set_new(
		file, "head",
		json_pack("{s:i, s:I, s:s, s:s}", "pid", (int)n->head.pid,
			  "start",
			  (json_int_t)drill_process_start(n->head.pid),
			  "cgroup", n->head_cgroup, "mgmt4", DRILL_HEAD_MGMT));
	for (i = 0; i < lab->n_hosts && rc == 0; i++)
		rc = add_host(lab, i, json_array_get(hosts, (size_t)i));
	return rc;
}

static int write_file(const struct drill_lab *lab, struct drill_err *err)
{
	struct netns *n = lab->impl;
	json_t *file = drill_lab_file_new(lab, n->cgroup);
	int rc;

	if (!file || fill_file(lab, file) < 0)
		rc = drill_err_set(err, -ENOMEM, who, "no memory");
	else
		rc = drill_lab_file_write(lab->dir, file, err);
	json_decref(file);
	return rc;
}

/* After the record is durable: what is made here the record can undo. */
static int make_all(struct drill_lab *lab, struct drill_err *err)
{
	struct netns *n = lab->impl;
	int rc;

	rc = drill_lab_dir_make(lab, err);
	if (rc == 0)
		rc = make_hosts_file(lab, err);
	if (rc == 0)
		rc = make_cgroups(lab, err);
	if (rc == 0)
		rc = start_holders(lab, err);
	if (rc == 0)
		rc = wait_all_ready(lab, err);
	if (rc == 0)
		rc = drill_links_up(n->head.pidfd, n->pidfds, lab->n_hosts,
				    lab->mark, &n->v6, err);
	if (rc == 0)
		rc = write_file(lab, err);
	return rc;
}

static void name_all(struct drill_lab *lab, const char *base)
{
	struct netns *n = lab->impl;
	char path[PATH_MAX];
	int i;

	snprintf(n->cgroup, sizeof(n->cgroup), "%.200s/faultdrill-%s.%.8s",
		 base, lab->spec.name, lab->mark);
	snprintf(n->head_cgroup, sizeof(n->head_cgroup), "%s/head", n->cgroup);
	for (i = 0; i < lab->n_hosts; i++) {
		struct drill_lab_host *h = &lab->hosts[i];

		snprintf(h->name, sizeof(h->name), "h%d", i);
		h->spare = i >= lab->spec.hosts;
		snprintf(h->cgroup, sizeof(h->cgroup), "%.240s/h%d", n->cgroup,
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

	if (all < 1 || all > MAX_HOSTS) {
		free(n);
		return drill_err_set(err, -EINVAL, who,
				     "a lab has 1 to %d hosts, not %d",
				     MAX_HOSTS, all);
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

static int remove_all(struct drill_lab *lab, struct drill_err *err)
{
	struct netns *n = lab->impl;

	return drill_lab_remove(lab->dir, lab->mark, n->cgroup, err);
}

static int bring_up(struct drill_lab *lab, struct drill_err *err)
{
	struct netns *n = lab->impl;
	struct drill_err undo = {0};
	int rc;

	rc = drill_lab_record_open(lab, drill_lab_netns_kind, n->cgroup,
				   &n->record, err);
	if (rc < 0)
		return rc;
	rc = make_all(lab, err);
	/* A lab that is to stay is its own record from now on. */
	if (rc == 0)
		return lab->keep ? drill_lab_record_end(&n->record, 0, err) : 0;
	if (rc != -EBUSY) { /* -EBUSY: it is another's, do not touch it */
		int undone = remove_all(lab, &undo);

		drill_lab_record_end(&n->record, undone, &undo);
		if (undone < 0)
			drill_err_set(err, undone, who, "%s", undo.msg);
		return rc;
	}
	drill_lab_record_end(&n->record, 0, NULL);
	return rc;
}

static int up(struct drill_lab *lab, struct drill_err *err)
{
	char base[256];
	int rc;

	rc = drill_cgroup_own(base, sizeof(base), err);
	if (rc == 0)
		rc = drill_lab_dir_name(lab, err);
	if (rc == 0)
		rc = allocate(lab, err);
	if (rc == 0) {
		name_all(lab, base);
		rc = drill_provider_new(lab, &place, err);
	}
	if (rc == 0)
		rc = bring_up(lab, err);
	if (rc < 0) {
		drill_provider_free(lab);
		release(lab);
	}
	return rc;
}

/* --- down ---------------------------------------------------------------- */

/* A lab that is to stay loses only our hold on it. */
static int down(struct drill_lab *lab, struct drill_err *err)
{
	struct netns *n = lab->impl;
	int rc = 0;

	drill_provider_free(lab);
	if (n && !lab->keep) {
		rc = remove_all(lab, err);
		drill_lab_record_end(&n->record, rc, err);
	}
	release(lab);
	return rc;
}

/* --- probe --------------------------------------------------------------- */

/* In a child: what is tried is gone with it. */
static int try_namespaces(int out)
{
	struct drill_err err = {0};

	if (unshare(HOST_NS) < 0)
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

	if (spec->hosts + spec->spares > MAX_HOSTS)
		return drill_err_set(err, -EINVAL, who, "at most %d hosts",
				     MAX_HOSTS);
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
