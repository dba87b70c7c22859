/* result.c - the run's folder: events.jsonl, run.json, and what is in it
 * SPDX-License-Identifier: MIT
 */
#include "drill_impl.h"

#include "harness/core/jsonx.h"
#include "harness/core/proto.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

static int make_dirs(const char *path, struct drill_err *err)
{
	char part[512];
	char *p;

	snprintf(part, sizeof(part), "%s", path);
	for (p = part + 1; *p; p++) {
		if (*p != '/')
			continue;
		*p = '\0';
		if (mkdir(part, 0755) < 0 && errno != EEXIST)
			return drill_err_errno(err, errno, "run",
					       "cannot make %s", part);
		*p = '/';
	}
	if (mkdir(part, 0755) < 0 && errno != EEXIST)
		return drill_err_errno(err, errno, "run", "cannot make %s",
				       part);
	return 0;
}

/* runs/latest: made aside and renamed, so that it always points somewhere. */
static void point_latest(const char *out, const char *id)
{
	char link[600], aside[640];

	snprintf(link, sizeof(link), "%s/latest", out);
	snprintf(aside, sizeof(aside), "%s.%d", link, (int)getpid());
	unlink(aside);
	if (symlink(id, aside) == 0 && rename(aside, link) < 0)
		unlink(aside);
}

static void begin_id(struct drill *d)
{
	const struct drill_clock *c = d->lab.ops->clock(&d->lab);
	time_t now = (time_t)(c->wall_ns(c->ctx) / DRILL_S);
	struct tm tm;

	gmtime_r(&now, &tm);
	strftime(d->id, sizeof(d->id), "%Y%m%d-%H%M%S", &tm);
}

int drill_result_open(struct drill *d, struct drill_err *err)
{
	const char *out = d->o->out ? d->o->out : "runs";
	char path[600], second[20];
	int n, rc;

	begin_id(d);
	snprintf(second, sizeof(second), "%.19s", d->id);
	if (d->o->direct) {
		/* Nothing is written, and no folder makes the name the only
		 * one: the lab's mark does. */
		snprintf(d->id, sizeof(d->id), "%s-%.12s", second, d->lab.mark);
		return 0;
	}
	rc = make_dirs(out, err);
	for (n = 1; rc == 0 && n < 1000; n++) {
		snprintf(d->id, sizeof(d->id), "%s", second);
		if (n > 1)
			snprintf(d->id + strlen(d->id), 8, "-%d", n);
		snprintf(d->ret->dir, sizeof(d->ret->dir), "%.400s/%s", out,
			 d->id);
		if (mkdir(d->ret->dir, 0755) == 0)
			break;
		if (errno != EEXIST)
			rc = drill_err_errno(err, errno, "run",
					     "cannot make %s", d->ret->dir);
	}
	snprintf(path, sizeof(path), "%s/events.jsonl", d->ret->dir);
	if (rc == 0)
		rc = drill_event_log_open(&d->log, path, err);
	d->log_open = rc == 0;
	if (rc == 0)
		point_latest(out, d->id);
	return rc;
}

static json_t *when(struct drill *d)
{
	const struct drill_clock *c = d->lab.ops->clock(&d->lab);
	int64_t ago = drill_raw_ns(c) - d->start_ns;
	time_t t = (time_t)((c->wall_ns(c->ctx) - ago) / DRILL_S);
	char buf[40];
	struct tm tm;

	gmtime_r(&t, &tm);
	strftime(buf, sizeof(buf), "%Y-%m-%dT%H:%M:%SZ", &tm);
	return json_string(buf);
}

static json_t *lab_json(struct drill *d)
{
	json_t *hosts = json_array(), *out;
	int i;

	for (i = 0; i < d->lab.n_hosts; i++)
		json_array_append_new(hosts,
				      json_pack("{s:s s:b}", "name",
						d->lab.hosts[i].name, "spare",
						d->lab.hosts[i].spare));
	out = json_pack("{s:s s:o s:i s:i}", "provider", d->lab.ops->name,
			"hosts", hosts, "devices", d->lab.spec.devices,
			"spares", d->lab.spec.spares);
	if (d->lab.spec.domains)
		json_object_set(out, "domains", d->lab.spec.domains);
	if (d->lab.spec.rates)
		json_object_set(out, "rates", d->lab.spec.rates);
	return out;
}

static json_t *scope_json(struct drill *d)
{
	bool own = json_object_get(d->spec->workload, "command") != NULL;

	return json_pack("{s:s s:s s:[] s:i s:i s:s s:b}", "workload",
			 own ? "own" : "reference", "device",
			 own ? "none" : "software", "transport", "ranks",
			 drill_workload_ranks(d->spec->workload),
			 "hosts", d->lab.spec.hosts, "provider",
			 d->lab.ops->name, "virtual",
			 strcmp(d->lab.ops->name, "mock") == 0);
}

static json_t *subject_json(struct drill *d)
{
	json_t *w = d->spec->workload;
	int64_t dog = drill_workload_timeout_ns(w, "watchdog");
	int64_t beat = drill_workload_timeout_ns(w, "heartbeat");
	json_t *every = json_object_get(w, "checkpoint_every");
	json_t *config = json_pack("{s:f s:f}", "collective_timeout_s",
				   (double)dog / 1e9, "heartbeat_s",
				   (double)beat / 1e9);
	json_t *out;

	if (every)
		json_object_set(config, "checkpoint_every", every);
	out = json_pack("{s:s s:s s:s s:s s:o}", "name", d->spec->job,
			"version", drill_build_id(), "framework", "mpi",
			"launcher", "launch", "config", config);
	if (d->o->subject)
		json_object_update(out, d->o->subject);
	return out;
}

static json_t *runner_json(void)
{
	struct utsname u;
	double load = 0;

	getloadavg(&load, 1);
	uname(&u);
	return json_pack("{s:I s:s s:f}", "cores",
			 (json_int_t)sysconf(_SC_NPROCESSORS_ONLN), "kernel",
			 u.release, "load", load);
}

static void put_text(json_t *run, const char *key, const char *value)
{
	if (value && value[0])
		json_object_set_new(run, key, json_string(value));
}

static void put_words(struct drill *d, json_t *run)
{
	static const char *const words[] = { "hypothesis", "owner", "runbook",
					     "ticket", "tags" };
	json_t *v;
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if ((v = json_object_get(d->spec->json, words[i])))
			json_object_set(run, words[i], v);
	if (d->o->kmsg)
		json_object_set_new(run, "kmsg", json_true());
	put_text(run, "repeat", d->o->repeat);
	put_text(run, "operator", d->o->operator_);
	put_text(run, "operator_reason", d->o->reason);
}

json_t *drill_result_head(struct drill *d)
{
	json_t *run = json_pack(
		"{s:s s:s s:s s:s s:I s:o s:{s:s s:s} s:o s:o s:o s:o}", "schema",
		"faultdrill.run/1", "id", d->id, "scenario", d->spec->name,
		"file", d->spec->file, "seed", (json_int_t)d->plan.seed,
		"started", when(d), "faultdrill", "version", drill_version(),
		"build", drill_build_id(), "lab", lab_json(d), "scope", scope_json(d), "subject",
		subject_json(d), "runner", runner_json());

	json_object_set(run, "spec", d->spec->json);
	json_object_set(run, "draws", d->plan.draws);
	json_object_set(run, "skips", d->skips);
	json_object_set(run, "dirty", d->dirty);
	json_object_set(run, "findings", d->trial_infos);
	put_words(d, run);
	return run;
}

/* What the proxies passed calls on to, if any did. */
static void put_device(struct drill *d, json_t *scope)
{
	const char *next;
	json_t *e;
	size_t i;

	json_array_foreach(d->ret->events, i, e) {
		next = drill_json_text(e, "next");
		if (strcmp(drill_json_text(e, "kind"), "evidence") == 0 &&
		    strcmp(drill_json_text(e, "of"), "cuda") == 0 && next[0])
			json_object_set_new(scope, "device", json_string(
				strstr(next, "/softcuda/") ? "software" :
							     "real"));
	}
}

/* Arguments as asked, beside each incident; snapshots beside each trial. */
static void put_more(struct drill *d, json_t *run)
{
	json_t *t, *inc, *found;
	const char *name;
	size_t i, k;

	found = json_object_get(json_object_get(run, "scope"), "transport");
	json_object_foreach(d->transports, name, t)
		json_array_append_new(found, json_string(name));
	put_device(d, json_object_get(run, "scope"));

	json_array_foreach(json_object_get(run, "trials"), i, t) {
		json_t *snap = json_array_get(d->snapshots, i);

		if (snap)
			json_object_set(t, "snapshot", snap);
		json_array_foreach(json_object_get(t, "incidents"), k, inc) {
			const char *f = json_string_value(
				json_object_get(inc, "fault"));
			int n = f ? drill_fault_index(d, f) : -1;

			if (n >= 0)
				json_object_set(inc, "args", json_object_get(
						d->spec->faults[n].json,
						"args"));
		}
	}
}

static enum drill_outcome outcome_of(json_t *run)
{
	enum drill_outcome o = DRILL_ERROR;

	drill_outcome_parse(json_string_value(json_object_get(run, "outcome")),
			    &o);
	return o;
}

static void override(json_t *run, enum drill_outcome o, const char *reason)
{
	json_object_set_new(run, "outcome", json_string(drill_outcome_name(o)));
	json_object_set_new(run, "reason", json_string(reason));
}

static int save(json_t *run, const char *dir, struct drill_err *err)
{
	char path[600], aside[640];

	snprintf(path, sizeof(path), "%s/run.json", dir);
	snprintf(aside, sizeof(aside), "%s.new", path);
	if (json_dump_file(run, aside, JSON_INDENT(1) |
					       JSON_REAL_PRECISION(12)) < 0 ||
	    rename(aside, path) < 0) {
		int rc = drill_err_errno(err, errno, "run", "cannot write %s",
					 path);

		unlink(aside);
		return rc;
	}
	return 0;
}

int drill_result_write(struct drill *d, struct drill_err *err)
{
	json_t *run = json_incref(d->head);
	struct drill_err why = { 0 };
	int rc = 0;

	d->ret->run = run;
	if (json_array_size(d->trial_infos) == 0) {
		override(run, DRILL_SKIP, "nothing was run");
		json_object_set_new(run, "trials", json_array());
		json_object_set_new(run, "expectations", json_array());
	} else if (drill_judge(d->spec, d->trial_infos, d->ret->events, run,
			       &why) < 0) {
		override(run, DRILL_ERROR, why.msg);
	}
	put_more(d, run);
	if (json_array_size(d->skips)) {
		json_t *s = json_array_get(d->skips, 0);
		char text[500];

		snprintf(text, sizeof(text), "needs %s on host %s",
			 json_string_value(json_object_get(s, "needs")),
			 json_string_value(json_object_get(s, "host")));
		override(run, DRILL_SKIP, text);
	}
	if (d->plan.skip)
		override(run, DRILL_SKIP, d->plan.skip);
	/* Dirty stays dirty, whatever failed beside it. */
	if (d->failed && outcome_of(run) != DRILL_DIRTY)
		override(run, DRILL_ERROR, d->failure.msg);
	if (json_array_size(d->dirty))
		override(run, DRILL_DIRTY, "not everything could be reverted: "
					   "run faultdrill heal");
	d->ret->outcome = outcome_of(run);
	snprintf(d->ret->reason, sizeof(d->ret->reason), "%s",
		 json_string_value(json_object_get(run, "reason")) ?: "");
	if (d->log_open)
		rc = save(run, d->ret->dir, err);
	return rc;
}
