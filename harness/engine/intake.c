/* intake.c - every event on its way into events.jsonl
 * SPDX-License-Identifier: MIT
 *
 * The stamp of the host becomes a time of the drill, with its uncertainty; the
 * host's own stamp stays beside it, so that offsets can be fitted again.
 */
#include "drill_impl.h"

#include "harness/core/jsonx.h"

#include <errno.h>
#include <string.h>

static void set_default(json_t *event, const char *key, json_t *value)
{
	if (json_object_get(event, key))
		json_decref(value);
	else
		json_object_set_new(event, key, value);
}

static void stamp(struct drill *d, int host, json_t *event)
{
	json_t *h = json_object_get(event, "h_ns");
	int64_t own_u = json_integer_value(json_object_get(event, "u_ns"));
	int64_t ns = json_is_integer(h) ? json_integer_value(h) : drill_now(d);
	int64_t u = 0;

	if (json_is_integer(h)) {
		json_object_set_new(event, "h_s", json_real((double)ns / 1e9));
		json_object_set_new(event, "epoch", json_integer(0));
	}
	if (host >= 0)
		ns = d->lab.ops->to_local(&d->lab, host, ns, &u);
	json_object_del(event, "h_ns");
	json_object_del(event, "u_ns");
	json_object_set_new(event, "t_s", json_real(drill_t_s(d, ns)));
	json_object_set_new(event, "u_s",
			    json_real(u >= INT64_MAX - own_u
					      ? 1e9 : (double)(u + own_u) / 1e9));
}

static void place(struct drill *d, int host, json_t *event)
{
	set_default(event, "workload", json_string(d->spec->job));
	if (d->trial) {
		set_default(event, "trial", json_integer(d->trial->index));
		if (d->trial->attempt)
			set_default(event, "attempt",
				    json_integer(d->trial->attempt));
	}
	if (host >= 0) {
		set_default(event, "host", json_string(d->lab.hosts[host].name));
		set_default(event, "source", json_string("agent"));
	}
}

/* Kinds that triggers on other hosts may wait for. */
static bool is_for_others(const char *kind)
{
	static const char *const not_for[] = { "step.", "phase.", "sample",
					       "state", "clock." };
	size_t i;

	for (i = 0; i < sizeof(not_for) / sizeof(not_for[0]); i++)
		if (strncmp(kind, not_for[i], strlen(not_for[i])) == 0)
			return false;
	return true;
}

static bool somebody_waits(struct drill *d, const char *kind)
{
	int i;

	for (i = 0; i < d->plan.n; i++) {
		json_t *at = json_object_get(d->plan.faults[i].fault, "at");
		const char *on = drill_json_text(at, "on");

		if (strcmp(on, "same") == 0 || strcmp(on, "after") == 0)
			return is_for_others(kind);
		if (strcmp(on, "event") == 0 &&
		    strcmp(drill_json_text(at, "kind"), kind) == 0)
			return true;
	}
	return false;
}

static void forward(struct drill *d, int from, json_t *event)
{
	json_t *msg;
	int i;

	if (!d->trial || d->trial->role == DRILL_BASELINE ||
	    !somebody_waits(d, drill_json_text(event, "kind")))
		return;
	msg = json_pack("{s:s s:O}", "kind", "event", "event", event);
	for (i = 0; i < d->lab.n_hosts; i++)
		if (i != from && !d->hosts[i].gone)
			d->lab.ops->agent_send(&d->lab, i, msg, NULL);
	json_decref(msg);
}

static void keep(struct drill *d, json_t *event)
{
	struct drill_err err = { 0 };

	json_array_append(d->ret->events, event);
	if (d->log_open && drill_event_log_write(&d->log, event, &err) < 0)
		drill_give_up(d, &err);
}

static void take(struct drill *d, int host, json_t *event)
{
	struct drill_err err = { 0 };

	stamp(d, host, event);
	place(d, host, event);
	if (drill_event_check(event, &err) < 0) {
		if (d->trial)
			drill_trial_find(
				d->trial, DRILL_ERROR, "bad event from %s: %s",
				drill_json_text(event, "source"), err.msg);
		return;
	}
	keep(d, event);
	forward(d, host, event);
	if (d->trial)
		drill_trial_event(d->trial, event);
}

void drill_intake(struct drill *d, int host, json_t *event)
{
	if (json_is_object(event))
		take(d, host, event);
	json_decref(event);
}

void drill_note(struct drill *d, json_t *event)
{
	set_default(event, "source", json_string("drill"));
	take(d, -1, event);
	json_decref(event);
}

void drill_on_job(void *ctx, const char *job, json_t *event)
{
	struct drill *d = ctx;
	const char *kind = drill_json_text(event, "kind");
	json_t *msg;

	(void)job;
	if (strcmp(kind, "placed") == 0) {
		msg = json_deep_copy(event);
		drill_hosts_send(d, msg);
		if (d->trial) {
			drill_stage_tick(d->trial);
			drill_show(d);
		}
	} else if (strcmp(kind, "error") == 0) {
		if (d->trial)
			drill_trial_find(d->trial, DRILL_ERROR, "%s%s",
					 d->o->direct ? "" : "launcher: ",
					 drill_json_text(event, "reason"));
	} else {
		event = json_deep_copy(event);
		set_default(event, "source", json_string("launcher"));
		drill_intake(d, -1, event);
	}
	if (d->trial)
		drill_stage_tick(d->trial);
	drill_poke(d);
}
