/* hosts.c - the agents of the lab, as the engine talks to them
 * SPDX-License-Identifier: MIT
 */
#include "drill_impl.h"

#include "harness/agent/lease.h"
#include "harness/core/jsonx.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool is_kind(json_t *msg, const char *kind)
{
	return strcmp(drill_json_text(msg, "kind"), kind) == 0;
}

static void send_one(struct drill *d, int host, json_t *msg)
{
	struct drill_err err = { 0 };

	if (d->hosts[host].gone)
		return;
	if (d->lab.ops->agent_send(&d->lab, host, msg, &err) < 0)
		drill_on_agent_gone(d, host, err.msg);
}

void drill_hosts_send(struct drill *d, json_t *msg)
{
	int i;

	for (i = 0; i < d->lab.n_hosts; i++)
		send_one(d, i, msg);
	json_decref(msg);
}

/* ---- what agents say ---- */

static void on_probed(struct drill *d, int host, json_t *msg)
{
	d->hosts[host].probes--;
	if (json_is_true(json_object_get(msg, "ok")))
		return;
	json_array_append_new(d->skips,
			      json_pack("{s:s s:s s:s}", "needs",
					drill_json_text(msg, "reason"), "host",
					d->lab.hosts[host].name, "what",
					drill_json_text(msg, "fault")));
}

static void on_reverted(struct drill *d, int host, json_t *msg)
{
	int i = drill_fault_index(d, drill_json_text(msg, "fault"));
	struct drill_fault_state *f;

	if (!d->trial || i < 0)
		return;
	f = &d->trial->faults[i];
	snprintf(f->last_state, sizeof(f->last_state), "%s",
		 drill_json_text(msg, "state"));
	f->irreversible |= strcmp(f->last_state, "irreversible") == 0;
	if (strcmp(f->last_state, "dirty") == 0 && !f->dirty) {
		f->dirty = true;
		drill_trial_find(d->trial, DRILL_DIRTY,
				 "'%s' could not be reverted on host %s: %s",
				 drill_json_text(msg, "fault"),
				 d->lab.hosts[host].name,
				 drill_json_text(msg, "reason"));
	}
}

/* Spent here: the others must not fire it again. */
static void on_fired(struct drill *d, int host, json_t *msg)
{
	json_t *spent = json_copy(msg);
	int i;

	json_object_set_new(spent, "kind", json_string("spent"));
	for (i = 0; i < d->lab.n_hosts; i++)
		if (i != host)
			send_one(d, i, spent);
	json_decref(spent);
}

static void on_failed(struct drill *d, int host, json_t *msg)
{
	if (d->trial)
		drill_trial_find(d->trial, DRILL_INCONCLUSIVE,
				 "'%s' could not be put in force on host %s: "
				 "%s",
				 drill_json_text(msg, "fault"),
				 d->lab.hosts[host].name,
				 drill_json_text(msg, "reason"));
}

static void on_snapshot(struct drill *d, int host, json_t *msg)
{
	struct drill_host_state *h = &d->hosts[host];
	json_t **slot = strcmp(drill_json_text(msg, "when"), "before") == 0
				? &h->before
				: &h->after;

	json_decref(*slot);
	*slot = json_incref(json_object_get(msg, "entries"));
	if (!*slot)
		*slot = json_object();
}

static void on_dirty(struct drill *d, int host, json_t *list)
{
	json_t *v;
	size_t i;

	json_array_foreach(list, i, v) {
		char *what = json_is_string(v) ? NULL
					       : json_dumps(v, JSON_COMPACT);

		json_array_append_new(
			d->dirty,
			json_pack("{s:s s:s s:s}", "what",
				  what ? what : json_string_value(v), "host",
				  d->lab.hosts[host].name, "command",
				  "faultdrill heal"));
		free(what);
	}
	if (json_array_size(list) && d->trial)
		drill_trial_find(d->trial, DRILL_DIRTY,
				 "host %s is not clean",
				 d->lab.hosts[host].name);
}

static void on_error(struct drill *d, int host, json_t *msg)
{
	struct drill_err err = { 0 };

	snprintf(d->hosts[host].said, sizeof(d->hosts[host].said), "%s",
		 drill_json_text(msg, "reason"));
	if (d->trial) {
		drill_trial_find(d->trial, DRILL_ERROR, "agent of %s: %s",
				 d->lab.hosts[host].name,
				 drill_json_text(msg, "reason"));
		return;
	}
	drill_err_set(&err, -EIO, "agent", "%s: %s", d->lab.hosts[host].name,
		      drill_json_text(msg, "reason"));
	drill_give_up(d, &err);
}

void drill_on_agent(void *ctx, int host, json_t *msg)
{
	struct drill *d = ctx;
	struct drill_host_state *h = &d->hosts[host];

	if (is_kind(msg, "event"))
		drill_intake(d, host, json_incref(json_object_get(msg,
								  "event")));
	else if (is_kind(msg, "hello"))
		h->greeted = true;
	else if (is_kind(msg, "probed"))
		on_probed(d, host, msg);
	else if (is_kind(msg, "planned"))
		h->planned = true;
	else if (is_kind(msg, "fired"))
		on_fired(d, host, msg);
	else if (is_kind(msg, "failed"))
		on_failed(d, host, msg);
	else if (is_kind(msg, "reverted"))
		on_reverted(d, host, msg);
	else if (is_kind(msg, "snapshot"))
		on_snapshot(d, host, msg);
	else if (is_kind(msg, "ended")) {
		h->ended = true;
		drill_evidence_ended(d, host, msg);
		on_dirty(d, host, json_object_get(msg, "dirty"));
	} else if (is_kind(msg, "dirty")) {
		json_t *list = json_object_get(msg, "records");
		json_t *why = json_pack("[s]", drill_json_text(msg, "reason"));

		on_dirty(d, host, json_array_size(list) ? list : why);
		json_decref(why);
	} else if (is_kind(msg, "error"))
		on_error(d, host, msg);
	if (d->trial)
		drill_stage_tick(d->trial);
	drill_poke(d);
}

void drill_on_agent_gone(void *ctx, int host, const char *reason)
{
	struct drill *d = ctx;
	struct drill_host_state *h = &d->hosts[host];
	struct drill_err err = { 0 };

	if (h->gone)
		return;
	h->gone = true;
	snprintf(h->gone_why, sizeof(h->gone_why), "%s", reason);
	if (d->lab_up && d->head && !d->ret->run) {
		d->unproven = true; /* what its keeper did is in the journal */
		drill_err_set(&err, -EPIPE, "agent", "host %s: %s%s%s",
			      d->lab.hosts[host].name, reason,
			      h->said[0] ? ", after: " : "", h->said);
		drill_give_up(d, &err);
	}
	drill_poke(d);
}

bool drill_hosts_hear(const struct drill *d, int fault)
{
	json_t *target = json_object_get(d->plan.faults[fault].fault, "target");
	json_t *v;
	size_t k;
	int i;

	json_array_foreach(json_object_get(target, "hosts"), k, v)
		for (i = 0; i < d->lab.n_hosts; i++)
			if (!strcmp(d->lab.hosts[i].name,
				    json_string_value(v) ?: "") &&
			    !d->hosts[i].gone)
				return true;
	return false;
}

/* ---- asking all of them ---- */

/* drill_await asks without an argument: one question of each host a function. */
#define ALL(name, is)                                                          \
	static bool all_##name(struct drill *d)                                \
	{                                                                      \
		const struct drill_host_state *h = d->hosts;                   \
                                                                               \
		for (; h < d->hosts + d->lab.n_hosts; h++)                     \
			if (!(is))                                             \
				return false;                                  \
		return true;                                                   \
	}

ALL(greeted, h->greeted)
ALL(probed, h->probes <= 0)
ALL(planned, h->planned)
ALL(ended, h->ended || h->gone)
ALL(before, h->before || h->gone)
ALL(after, h->after || h->gone)
ALL(gone, h->gone)

/* An agent goes on alone until its lease is out; we say that we live. */
static void renew(void *arg)
{
	struct drill *d = arg;

	drill_hosts_send(d, json_pack("{s:s}", "kind", "renew"));
	d->renew_timer = d->lab.ops->timer(&d->lab, DRILL_RENEW_NS, renew, d);
}

static json_t *welcome(struct drill *d)
{
	const char *name = d->o->lab->name[0] ? d->o->lab->name : d->lab.mark;

	return json_pack("{s:s s:s s:s s:I s:I}", "run", d->id, "lab", name,
			 "state", d->o->state ? d->o->state : "", "lease_ns",
			 (json_int_t)DRILL_LEASE_NS, "renew_ns",
			 (json_int_t)DRILL_RENEW_NS);
}

int drill_hosts_up(struct drill *d, struct drill_err *err)
{
	int i, rc = 0;

	d->hosts = calloc((size_t)d->lab.n_hosts + 1, sizeof(*d->hosts));
	if (!d->hosts)
		return drill_err_set(err, -ENOMEM, "drill", "no memory");
	d->n_hosts = d->lab.n_hosts;
	for (i = 0; i < d->lab.n_hosts && rc == 0; i++) {
		json_t *w = welcome(d);

		rc = d->lab.ops->agent_start(&d->lab, i, w, err);
		json_decref(w);
	}
	if (rc == 0)
		rc = drill_await(d, all_greeted, DRILL_ANSWER_NS,
				 "the agents' hello", err);
	if (rc == 0)
		renew(d);
	return rc;
}

static json_t *faults_of(struct drill *d, enum drill_role role)
{
	json_t *list = json_array();
	int i;

	for (i = 0; i < d->plan.n && role != DRILL_BASELINE; i++)
		json_array_append(list, role == DRILL_NULL
						? d->plan.faults[i].null
						: d->plan.faults[i].fault);
	return list;
}

/* Each fault is asked about where its targets are. */
int drill_hosts_probe(struct drill *d, struct drill_err *err)
{
	int i, k, n;

	if (d->plan.n == 0)
		return 0;
	for (i = 0; i < d->lab.n_hosts; i++) {
		json_t *list = json_array(), *v;
		size_t j;

		for (k = n = 0; k < d->plan.n; k++) {
			json_t *f = d->plan.faults[k].fault;

			json_array_foreach(json_object_get(json_object_get(
						f, "target"), "hosts"), j, v)
				if (strcmp(json_string_value(v) ?: "",
					   d->lab.hosts[i].name) == 0) {
					json_array_append(list, f);
					n++;
				}
		}
		d->hosts[i].probes = n;
		if (n) {
			json_t *msg = json_pack("{s:s s:O}", "kind", "probe",
						"faults", list);

			send_one(d, i, msg);
			json_decref(msg);
		}
		json_decref(list);
	}
	return drill_await(d, all_probed, DRILL_ANSWER_NS, "the probes", err);
}

static int make_dir(const char *path, struct drill_err *err)
{
	if (mkdir(path, 0755) < 0 && errno != EEXIST)
		return drill_err_errno(err, errno, "drill", "cannot make %s",
				       path);
	return 0;
}

int drill_hosts_plan(struct drill *d, struct drill_trial *t,
		     struct drill_err *err)
{
	char dir[512];
	int i, rc = make_dir(t->dir, err);

	for (i = 0; i < d->lab.n_hosts && rc == 0; i++) {
		json_t *msg;

		snprintf(dir, sizeof(dir), "%s/%s", t->dir,
			 d->lab.hosts[i].name);
		rc = make_dir(dir, err);
		if (rc < 0)
			return rc;
		msg = json_pack("{s:s s:i s:s s:s s:i s:i s:b s:o}", "kind",
				"plan",
				"trial", t->index, "role",
				drill_role_name(t->role), "dir", dir, "ranks",
				drill_workload_ranks(d->spec->workload),
				"devices",
				d->lab.spec.driver ? 0 :
				drill_plan_devices(d->spec, &d->lab.spec),
				"kmsg", d->o->kmsg,
				"faults", faults_of(d, t->role));
		d->hosts[i].planned = d->hosts[i].ended = false;
		send_one(d, i, msg);
		json_decref(msg);
	}
	return rc < 0 ? rc
		      : drill_await(d, all_planned, DRILL_ANSWER_NS,
				    "the agents to take the plan", err);
}

int drill_hosts_snapshot(struct drill *d, const char *when,
			 struct drill_err *err)
{
	bool before = strcmp(when, "before") == 0;
	int i;

	for (i = 0; i < d->lab.n_hosts; i++) {
		json_t **slot = before ? &d->hosts[i].before
				       : &d->hosts[i].after;

		json_decref(*slot);
		*slot = NULL;
	}
	drill_hosts_send(d, json_pack("{s:s s:s}", "kind", "snapshot", "when",
				      when));
	return drill_await(d, before ? all_before : all_after, DRILL_ANSWER_NS,
			   "the hosts' snapshots", err);
}

int drill_hosts_end_trial(struct drill *d, struct drill_trial *t,
			  struct drill_err *err)
{
	drill_hosts_send(d, json_pack("{s:s s:i}", "kind", "trial.end", "trial",
				      t->index));
	return drill_await(d, all_ended, DRILL_ANSWER_NS,
			   "the agents to end the trial", err);
}

void drill_hosts_down(struct drill *d)
{
	struct drill_err err = { 0 };
	int i;

	if (!d->hosts)
		return;
	if (d->renew_timer > 0)
		d->lab.ops->timer_cancel(&d->lab, d->renew_timer);
	d->renew_timer = 0;
	for (i = 0; i < d->lab.n_hosts; i++)
		if (!d->hosts[i].gone)
			d->lab.ops->agent_stop(&d->lab, i, &err);
	drill_await(d, all_gone, DRILL_ANSWER_NS, "the agents to leave", &err);
}

void drill_hosts_free(struct drill *d)
{
	int i;

	for (i = 0; d->hosts && i < d->n_hosts; i++) {
		json_decref(d->hosts[i].before);
		json_decref(d->hosts[i].after);
	}
	free(d->hosts);
	d->hosts = NULL;
}
