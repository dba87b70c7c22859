/* local.c - a lab of names: process groups on this machine, no privilege
 * SPDX-License-Identifier: MIT
 *
 * For containers and CI runners. A host is a name that the rank starter gives
 * to a process group; all hosts share network, mounts and processes, so only
 * faults of processes, libraries and hooks are possible.
 */
#include "attach.h"
#include "lab_dir.h"
#include "lab_record.h"
#include "marked.h"
#include "provider.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char who[] = "lab.local";

#define MAX_HOSTS 250

struct local {
	bool attached; /* to one that was up before us, and stays */
	struct drill_lab_record record;
};

static void place_agent(struct drill_lab *lab, int host, struct drill_spawn *s)
{
	(void)lab;
	(void)host;
	(void)s;
}

static int place_job(struct drill_lab *lab, const char *job,
		     struct drill_spawn *s, struct drill_err *err)
{
	(void)lab;
	(void)job;
	(void)s;
	(void)err;
	return 0;
}

static void place_each(struct drill_lab *lab, void (*fn)(pid_t, void *),
		       void *arg)
{
	(void)lab;
	drill_marked_each_process(fn, arg);
}

static int place_welcome(struct drill_lab *lab, int host, json_t *welcome)
{
	struct drill_marked m;

	(void)host;
	drill_marked_init(&m, lab->mark, NULL);
	return json_object_set_new(welcome, "cgroup", json_string("")) |
	       json_object_set_new(welcome, "mark", json_string(m.want));
}

static const struct drill_place place = {
	.agent = place_agent,
	.job = place_job,
	.each = place_each,
	.welcome = place_welcome,
};

static int name_all(struct drill_lab *lab, struct drill_err *err)
{
	int i, all = lab->spec.hosts + lab->spec.spares;

	if (all < 1 || all > MAX_HOSTS)
		return drill_err_set(err, -EINVAL, who,
				     "a lab has 1 to %d hosts, not %d",
				     MAX_HOSTS, all);
	lab->hosts = calloc((size_t)all, sizeof(*lab->hosts));
	if (!lab->hosts)
		return drill_err_set(err, -ENOMEM, who, "no memory");
	lab->n_hosts = all;
	for (i = 0; i < all; i++) {
		snprintf(lab->hosts[i].name, sizeof(lab->hosts[i].name), "h%d",
			 i);
		lab->hosts[i].spare = i >= lab->spec.hosts;
	}
	snprintf(lab->head, sizeof(lab->head), "127.0.0.1");
	snprintf(lab->data_if, sizeof(lab->data_if), "lo");
	snprintf(lab->mgmt_if, sizeof(lab->mgmt_if), "lo");
	return 0;
}

static int write_file(const struct drill_lab *lab, struct drill_err *err)
{
	json_t *file = drill_lab_file_new(lab, "");
	int rc;

	rc = file ? drill_lab_file_write(lab->dir, file, err)
		  : drill_err_set(err, -ENOMEM, who, "no memory");
	json_decref(file);
	return rc;
}

static void release(struct drill_lab *lab)
{
	free(lab->hosts);
	free(lab->impl);
	lab->hosts = NULL;
	lab->impl = NULL;
	lab->n_hosts = 0;
}

static int bring_up(struct drill_lab *lab, struct drill_err *err)
{
	struct drill_lab_record *r = &((struct local *)lab->impl)->record;
	struct drill_err undo = {0};
	int rc;

	rc = drill_lab_record_open(lab, drill_lab_local_kind, "", r, err);
	if (rc < 0)
		return rc;
	rc = drill_lab_dir_make(lab, "", err);
	if (rc == 0)
		rc = write_file(lab, err);
	if (rc == 0)
		return lab->keep ? drill_lab_record_end(r, 0, err) : 0;
	if (rc != -EBUSY)
		drill_lab_remove(lab->dir, lab->mark, "", &undo);
	drill_lab_record_end(r, undo.code, &undo);
	return rc;
}

static int up_or_attach(struct drill_lab *lab, bool attach,
			struct drill_err *err)
{
	struct local *l = calloc(1, sizeof(*l));
	int rc;

	lab->impl = l;
	if (!l)
		return drill_err_set(err, -ENOMEM, who, "no memory");
	l->attached = attach;
	rc = name_all(lab, err);
	if (rc == 0)
		rc = drill_provider_new(lab, &place, err);
	if (rc < 0)
		return rc;
	return attach ? drill_lab_attach_clean(lab, err) : bring_up(lab, err);
}

static int up(struct drill_lab *lab, struct drill_err *err)
{
	json_t *file = NULL;
	int rc;

	rc = drill_lab_dir_name(lab, err);
	if (rc == 0 && !lab->keep)
		rc = drill_lab_attach_find(lab, &file, err);
	if (rc == 0)
		rc = up_or_attach(lab, file != NULL, err);
	json_decref(file);
	if (rc < 0) {
		drill_provider_free(lab);
		release(lab);
	}
	return rc;
}

static int down(struct drill_lab *lab, struct drill_err *err)
{
	struct local *l = lab->impl;
	int rc = 0;

	drill_provider_free(lab);
	if (l && l->attached) {
		rc = drill_lab_attach_clean(lab, err);
	} else if (l && !lab->keep) {
		rc = drill_lab_remove(lab->dir, lab->mark, "", err);
		drill_lab_record_end(&l->record, rc, err);
	}
	release(lab);
	return rc;
}

static int probe(const struct drill_lab_spec *spec, struct drill_err *err)
{
	char path[PATH_MAX];

	(void)spec;
	drill_agent_path(path, sizeof(path));
	if (access(path, X_OK) < 0)
		return drill_err_errno(err, errno, who,
				       "no agent to run at '%s'", path);
	return 0;
}

const struct drill_lab_ops drill_lab_local = {
	.name = "local",
	.shared = true,
	.doc = "Process groups on this machine; no namespace, no root.",
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
