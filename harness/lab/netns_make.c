/* netns_make.c - makes the hosts of a namespace lab
 * SPDX-License-Identifier: MIT
 */
#include "netns_impl.h"

#include "cgroup.h"
#include "netns_link.h"
#include "provider.h"

#include "harness/agent/process.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char who[] = "lab.netns";

#define READY_MS 10000

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

	rc = drill_cgroup_make(n->base.cgroup, err);
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
	s.new_ns = head ? DRILL_HEAD_NS : DRILL_HOST_NS;
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
	json_t *file = drill_lab_file_new(lab, n->base.cgroup);
	int rc;

	if (!file || fill_file(lab, file) < 0)
		rc = drill_err_set(err, -ENOMEM, who, "no memory");
	else
		rc = drill_lab_file_write(lab->dir, file, err);
	json_decref(file);
	return rc;
}

int drill_netns_make(struct drill_lab *lab, struct drill_err *err)
{
	struct netns *n = lab->impl;
	int rc;

	rc = drill_lab_dir_make(lab, n->base.cgroup, err);
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

