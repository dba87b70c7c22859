/* mock_agent.c - the agents of the mock lab: one model that answers for all
 * SPDX-License-Identifier: MIT
 */
#include "mock_impl.h"

#include "harness/core/jsonx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct said {
	int host;
	json_t *msg;
};

static void deliver(void *arg)
{
	struct said *s = arg;

	mock.lab->cb.on_agent(mock.lab->cb.ctx, s->host, s->msg);
	json_decref(s->msg);
	free(s);
}

static void fire_later(void *arg);

/* Answers come from the loop, never inside the call. */
static void say(int host, json_t *msg)
{
	struct said *s = calloc(1, sizeof(*s));

	s->host = host;
	s->msg = msg;
	mock_in(0.0001, deliver, s);
}

void mock_agent_drop(struct mock_timer *t)
{
	struct said *s = t->arg;

	if (t->fn == fire_later)
		json_decref(t->arg);
	if (t->fn != deliver)
		return;
	json_decref(s->msg);
	free(s);
}

void mock_agent_event(int host, json_t *event)
{
	json_t *msg;

	json_object_set_new(event, "h_ns", json_integer(mock.now));
	json_object_set_new(event, "u_ns", json_integer(1000));
	msg = json_pack("{s:s s:o}", "kind", "event", "event", event);
	mock.lab->cb.on_agent(mock.lab->cb.ctx, host, msg);
	json_decref(msg);
}

static int host_of(const struct mock_fault *f)
{
	const char *name = json_string_value(json_array_get(
		json_object_get(json_object_get(f->json, "target"), "hosts"),
		0));

	return name ? atoi(name + 1) : 0;
}

static void note(struct mock_fault *f, const char *kind, json_t *more)
{
	json_t *is = json_object_get(json_object_get(f->json, "target"), "is");
	char target[40];

	snprintf(target, sizeof(target), "%s %s",
		 drill_json_text(json_object_get(f->json, "target"), "kind"),
		 json_string_value(json_array_get(is, 0)) ?: "");
	if (json_is_integer(json_array_get(is, 0)))
		snprintf(target, sizeof(target), "rank %d",
			 (int)json_integer_value(json_array_get(is, 0)));
	json_object_set_new(more, "kind", json_string(kind));
	json_object_set_new(more, "fault", json_string(f->name));
	json_object_set_new(more, "target", json_string(target));
	json_object_set_new(more, "attempt", json_integer(mock.attempt));
	mock_agent_event(host_of(f), more);
}

static bool irreversible(const struct mock_fault *f)
{
	return f->injector->survives == DRILL_SURVIVES_NOTHING;
}

static void revert(struct mock_fault *f)
{
	const char *state = irreversible(f) ? "irreversible"
			    : drill_mock.revert_fails ? "dirty" : "clean";

	if (!f->in_force)
		return;
	f->in_force = false;
	mock_cancel(&f->end_timer);
	if (!irreversible(f) && !drill_mock.revert_fails) {
		drill_mock.reverted++;
		drill_mock.reverted_s = (double)(mock.now - mock.up_ns) / 1e9;
	}
	mock_job_heal(f);
	note(f, "fault.reverted", json_pack("{s:s}", "state", state));
	say(host_of(f), json_pack("{s:s s:s s:s s:s}", "kind", "reverted",
				  "fault", f->name, "state", state, "reason",
				  strcmp(state, "dirty") ? "" : "a stranger's"));
}

static void ended(void *arg)
{
	struct mock_fault *f = arg;

	f->end_timer = 0;
	revert(f);
}

static void effective(void *arg)
{
	struct mock_fault *f = arg;
	json_t *d = json_object_get(f->json, "duration_ns");

	if (!irreversible(f)) {
		drill_mock.effective++;
		drill_mock.effective_s = (double)(mock.now - mock.up_ns) / 1e9;
	}
	mock_job_hit(f);
	note(f, "fault.effective", json_object());
	if (irreversible(f))
		revert(f);
	else if (json_is_integer(d))
		f->end_timer = mock_in((double)json_integer_value(d) / 1e9,
				       ended, f);
}

static bool may_fire(struct mock_fault *f)
{
	json_t *refire = json_object_get(f->json, "refire");
	json_int_t times = json_integer_value(json_object_get(refire, "times"));

	if (drill_mock.never_fires || f->in_force)
		return false;
	if (json_is_string(refire) &&
	    strcmp(json_string_value(refire), "every_attempt") == 0)
		return f->fired_attempt != mock.attempt;
	return f->fired < (times ? times : 1);
}

static void fire(struct mock_fault *f, json_t *evidence)
{
	f->in_force = true;
	f->fired++;
	f->fired_attempt = mock.attempt;
	drill_mock.fired++;
	note(f, "fault.requested",
	     evidence ? json_pack("{s:o}", "evidence", evidence)
		      : json_object());
	note(f, "fault.issued", json_object());
	say(host_of(f), json_pack("{s:s s:s s:i}", "kind", "fired", "fault",
				  f->name, "count", f->fired));
	if (drill_mock.bite_s > 0)
		mock_in(drill_mock.bite_s, effective, f);
	else
		effective(f);
}

/* ---- triggers ---- */

static void time_is_up(void *arg)
{
	if (may_fire(arg))
		fire(arg, NULL);
}

static void gap_is_over(void *arg)
{
	struct mock_fault *f = arg;
	json_t *gaps = json_object_get(json_object_get(f->json, "at"),
				       "gaps_ns");
	double gap = (double)json_integer_value(
			     json_array_get(gaps, (size_t)f->gap)) / 1e9;

	f->gap++;
	fire(f, json_pack("{s:f s:f}", "drawn_gap_s", gap, "achieved_gap_s",
			  gap));
	if ((size_t)f->gap < json_array_size(gaps))
		mock_in((double)json_integer_value(json_array_get(
				gaps, (size_t)f->gap)) / 1e9, gap_is_over, f);
}

void mock_agents_start(void)
{
	int i;

	for (i = 0; i < mock.n_faults; i++) {
		json_t *at = json_object_get(mock.faults[i].json, "at");
		json_t *gaps = json_object_get(at, "gaps_ns");

		if (strcmp(drill_json_text(at, "on"), "time") == 0)
			mock_in((double)json_integer_value(
					json_object_get(at, "ns")) / 1e9,
				time_is_up, &mock.faults[i]);
		if (gaps)
			mock_in((double)json_integer_value(
					json_array_get(gaps, 0)) / 1e9,
				gap_is_over, &mock.faults[i]);
	}
}

static bool at_this_step(json_t *at, int64_t step)
{
	json_t *v, *draws = json_object_get(at, "draws");
	json_int_t from = json_integer_value(json_object_get(at, "from"));
	json_int_t every = json_integer_value(json_object_get(at, "every"));
	size_t i;

	json_array_foreach(json_object_get(at, "steps"), i, v)
		if (json_integer_value(v) == step)
			return true;
	if (strcmp(drill_json_text(at, "on"), "every") != 0)
		return false;
	every = json_integer_value(json_object_get(at, "steps"));
	if (step < from || (step - from) % every ||
	    step > json_integer_value(json_object_get(at, "to")))
		return false;
	return !draws || json_is_true(json_array_get(
				 draws, (size_t)((step - from) / every)));
}

void mock_agents_saw(const char *kind, int64_t step)
{
	int i;

	for (i = 0; i < mock.n_faults; i++) {
		struct mock_fault *f = &mock.faults[i];
		json_t *at = json_object_get(f->json, "at");
		bool hit = false;

		if (strcmp(kind, "step.begin") == 0 && at_this_step(at, step))
			hit = true;
		if (strcmp(drill_json_text(at, "on"), "event") == 0 &&
		    strcmp(drill_json_text(at, "kind"), kind) == 0)
			hit = ++f->seen == json_integer_value(
						   json_object_get(at, "nth"));
		if (hit && may_fire(f))
			fire(f, NULL);
	}
}

/* An event of another host: at.after, at.same. */
static void saw_event(json_t *event)
{
	char what[96];
	const char *kind = drill_json_text(event, "kind");
	int i;

	if (strncmp(kind, "fault.", 6) == 0)
		kind += 6;
	snprintf(what, sizeof(what), "%s.%s", drill_json_text(event, "fault"),
		 kind);
	for (i = 0; i < mock.n_faults; i++) {
		struct mock_fault *f = &mock.faults[i];
		json_t *at = json_object_get(f->json, "at");

		if (strcmp(drill_json_text(at, "on"), "same") == 0 &&
		    strcmp(drill_json_text(at, "of"),
			   drill_json_text(event, "fault")) == 0 &&
		    strcmp(kind, "issued") == 0 && may_fire(f))
			fire(f, NULL);
		if (strcmp(drill_json_text(at, "on"), "after") == 0 &&
		    strcmp(drill_json_text(at, "of"), what) == 0 && may_fire(f))
			mock_in((double)json_integer_value(json_object_get(
					at, "delay_ns")) / 1e9, time_is_up, f);
	}
}

/* ---- messages ---- */

static void forget(void)
{
	int i;

	for (i = 0; i < mock.n_faults; i++)
		json_decref(mock.faults[i].json);
	memset(mock.faults, 0, sizeof(mock.faults));
	mock.n_faults = 0;
}

/* All hosts get the same faults: the model holds them once. */
static void take_plan(int host, json_t *msg)
{
	json_t *list = json_object_get(msg, "faults"), *v;
	size_t i;

	if (host == 0) {
		forget();
		drill_mock.plans++;
		json_array_foreach(list, i, v) {
			struct mock_fault *f = &mock.faults[mock.n_faults++];

			f->json = json_incref(v);
			f->name = drill_json_text(v, "name");
			f->injector = drill_injector_find(
				drill_json_text(v, "injector"), NULL);
		}
	}
	say(host, json_pack("{s:s s:O}", "kind", "planned", "trial",
			    json_object_get(msg, "trial")));
}

static void take_probe(int host, json_t *msg)
{
	json_t *list = json_object_get(msg, "faults"), *v;
	size_t i;

	json_array_foreach(list, i, v)
		say(host, json_pack("{s:s s:s s:b s:s}", "kind", "probed",
				    "fault", drill_json_text(v, "name"), "ok",
				    !drill_mock.probe_says_no, "reason",
				    "a thing that is not here"));
}

static void take_snapshot(int host, json_t *msg)
{
	bool after = strcmp(drill_json_text(msg, "when"), "after") == 0;
	json_t *lines = json_pack("[s]", "eth0 noqueue");

	if (after && drill_mock.snapshot_differs)
		json_array_append_new(lines, json_string("eth1 netem"));
	say(host, json_pack("{s:s s:s s:{s:o}}", "kind", "snapshot", "when",
			    drill_json_text(msg, "when"), "entries", "qdiscs",
			    lines));
}

static struct mock_fault *find(const char *name)
{
	int i;

	for (i = 0; i < mock.n_faults; i++)
		if (strcmp(mock.faults[i].name, name) == 0)
			return &mock.faults[i];
	return NULL;
}

static void take_fire(json_t *msg)
{
	struct mock_fault *f = find(drill_json_text(msg, "fault"));

	if (f && !f->in_force && !drill_mock.never_fires)
		fire(f, NULL);
}

static void revert_later(void *arg)
{
	revert(arg);
}

static void fire_later(void *arg)
{
	take_fire(arg);
	json_decref(arg);
}

static json_t *hooks(int host)
{
	json_t *list = json_array();
	int r;

	for (r = 0; r < mock.ranks && host == 0 && !drill_mock.no_hook; r++)
		json_array_append_new(list, json_pack("{s:i s:s}", "rank", r,
						      "transport", "tcp"));
	return list;
}

static json_t *proxies(int host)
{
	json_t *list = json_array();
	int r;

	for (r = 0; r < mock.ranks && host == 0; r++)
		if (r != 1 || !drill_mock.no_proxy)
			json_array_append_new(
				list,
				json_pack("{s:i s:i s:i s:b s:i s:i s:i s:i}",
					  "rank", r, "attempt", 1, "pid", 7,
					  "cuda", 1, "linked", 40, "remapped",
					  0, "passed", 0, "bypassed",
					  r == 2 && drill_mock.bypass));
	return list;
}

/* As if rank 3 kept the others waiting. */
static json_t *waits(json_t *why)
{
	json_t *list = json_array();
	int r;

	for (r = 0; r < mock.ranks; r++)
		json_array_append_new(
			list, json_pack("{s:i s:i s:i s:f s:f}", "rank", r,
					"attempt", 1, "collective", 40 - (r == 3),
					"silent_s", r == 3 ? 1.0 : 0.0,
					"collective_s", 1.0));
	return json_pack("{s:s s:s s:O s:o}", "kind", "evidence", "of",
			 "waits", "at", why, "waits", list);
}

int mock_agent_send(struct drill_lab *lab, int host, json_t *msg,
		    struct drill_err *err)
{
	const char *kind = drill_json_text(msg, "kind");
	struct mock_fault *f = find(drill_json_text(msg, "fault"));

	(void)lab;
	(void)err;
	if (strcmp(kind, "plan") == 0)
		take_plan(host, msg);
	else if (strcmp(kind, "probe") == 0)
		take_probe(host, msg);
	else if (strcmp(kind, "snapshot") == 0)
		take_snapshot(host, msg);
	else if (strcmp(kind, "fire") == 0 && host == 0)
		mock_in(0.0001, fire_later, json_incref(msg));
	else if (strcmp(kind, "revert") == 0 && host == 0 && f)
		mock_in(0.0001, revert_later, f);
	else if (strcmp(kind, "event") == 0 && host == 0)
		saw_event(json_object_get(msg, "event"));
	else if (strcmp(kind, "trial.end") == 0)
		say(host, json_pack("{s:s s:O s:[] s:o s:o s:i}", "kind",
				    "ended", "trial",
				    json_object_get(msg, "trial"), "dirty",
				    "hooks", hooks(host), "proxies",
				    proxies(host), "refused",
				    host ? 0 : drill_mock.refused));
	else if (strcmp(kind, "look") == 0 && host == 0)
		say(host, json_pack("{s:s s:o}", "kind", "event", "event",
				    waits(json_object_get(msg, "at"))));
	return 0;
}

int mock_agent_start(struct drill_lab *lab, int host, json_t *welcome,
		     struct drill_err *err)
{
	(void)lab;
	(void)welcome;
	(void)err;
	say(host, json_pack("{s:s}", "kind", "hello"));
	return 0;
}

static void gone(void *arg)
{
	mock.lab->cb.on_agent_gone(mock.lab->cb.ctx, (int)(intptr_t)arg,
				   "bye");
}

int mock_agent_stop(struct drill_lab *lab, int host, struct drill_err *err)
{
	int i;

	(void)lab;
	(void)err;
	for (i = 0; i < mock.n_faults && host == 0; i++)
		revert(&mock.faults[i]);
	mock_in(0.001, gone, (void *)(intptr_t)host);
	return 0;
}

void mock_agents_free(void)
{
	forget();
}
