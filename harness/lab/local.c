/* local.c - a lab of names: process groups on this machine, no privilege
 * SPDX-License-Identifier: MIT
 *
 * For containers and CI runners. A host is a name that the rank starter gives
 * to a process group; all hosts share network, mounts and processes, so only
 * faults of processes, libraries and hooks are possible.
 */
#include "lab_record.h"
#include "marked.h"
#include "updown.h"
#include "spec.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char who[] = "lab.local";


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
	.each = drill_marked_each_process,
	.welcome = place_welcome,
};

static int allocate(struct drill_lab *lab, struct drill_err *err)
{
	int i, all = lab->spec.hosts + lab->spec.spares;

	if (all < 1 || all > DRILL_LAB_HOSTS)
		return drill_err_set(err, -EINVAL, who,
				     "a lab has 1 to %d hosts, not %d",
				     DRILL_LAB_HOSTS, all);
	lab->impl = calloc(1, sizeof(struct drill_lab_base));
	lab->hosts = calloc((size_t)all, sizeof(*lab->hosts));
	if (!lab->impl || !lab->hosts)
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

static int make(struct drill_lab *lab, struct drill_err *err)
{
	int rc = drill_lab_dir_make(lab, "", err);

	return rc < 0 ? rc : write_file(lab, err);
}

static int attach(struct drill_lab *lab, json_t *file, struct drill_err *err)
{
	(void)lab;
	(void)file;
	(void)err;
	return 0; /* its hosts are names only */
}

static const struct drill_lab_how how = {
	.kind = drill_lab_local_kind,
	.place = &place,
	.allocate = allocate,
	.make = make,
	.attach = attach,
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
