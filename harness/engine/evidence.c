/* evidence.c - what the hooks in the job saw: told by agents, kept as events
 * SPDX-License-Identifier: MIT
 *
 * A fault in a library bites only processes that went through the hook. So each
 * process of the job is asked for: its hello, its calls, what it sent to whom,
 * and how its driver's entry points were reached. And when somebody notices
 * something, the agents say at once who waits in which call since when, before
 * the job is stopped.
 */
#include "drill_impl.h"

#include "harness/core/jsonx.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* One look for all that is noticed together, and an end to them. */
#define APART_NS (250 * DRILL_MS)
#define LOOKS 8

static void say(struct drill_trial *t, json_t *event)
{
	const char *what = drill_json_text(event, "what");
	const char *who = drill_json_text(event, "blame");
	bool named = *who && strcmp(who, what) != 0;

	drill_say(t->d, "trial", "detected by %s%s%.60s%s%.40s%s",
		  drill_json_text(event, "by"), *what ? ": " : "", what,
		  named ? " (" : "", named ? who : "", named ? ")" : "");
}

void drill_evidence_look(struct drill_trial *t, json_t *event)
{
	int64_t now = drill_now(t->d);

	say(t, event);
	if (t->looks == LOOKS ||
	    (t->looks && now - t->looked_ns < APART_NS))
		return;
	t->looks++;
	t->looked_ns = now;
	drill_hosts_send(t->d,
			 json_pack("{s:s s:o}", "kind", "look", "at",
				   json_sprintf("detected by %s",
						drill_json_text(event, "by"))));
}

/* ---- the agents' last word ---- */

/* "tcp,self": what carries bytes between ranks; a rank's own is none. */
static void keep_transports(struct drill *d, const char *list)
{
	char copy[64], *save = NULL, *word;

	snprintf(copy, sizeof(copy), "%s", list);
	for (word = strtok_r(copy, ",", &save); word;
	     word = strtok_r(NULL, ",", &save))
		if (strcmp(word, "self") != 0)
			json_object_set_new(d->transports, word, json_true());
}

static void note(struct drill *d, int host, const char *of, json_t *process)
{
	json_t *e = json_copy(process);

	json_object_del(e, "transport");
	json_object_del(e, "pid"); /* as that process sees it */
	json_object_set_new(e, "kind", json_string("evidence"));
	json_object_set_new(e, "of", json_string(of));
	json_object_set_new(e, "host", json_string(d->lab.hosts[host].name));
	drill_note(d, e);
}

/* The rank that a process says it is; -1: none of the job's. */
static int rank_of(struct drill *d, json_t *process)
{
	json_t *v = json_object_get(process, "rank");
	json_int_t r = json_integer_value(v);

	return json_is_integer(v) && r >= 0 &&
	       r < drill_workload_ranks(d->spec->workload) ? (int)r : -1;
}

static void take_hook(struct drill *d, int host, json_t *process)
{
	int r = rank_of(d, process);

	keep_transports(d, drill_json_text(process, "transport"));
	if (!d->trial || r < 0)
		return;
	d->trial->hello[r] = true;
	note(d, host, "mpi", process);
}

static void take_proxy(struct drill *d, int host, json_t *process)
{
	int r = rank_of(d, process);

	if (!d->trial || r < 0)
		return;
	d->trial->proxied[r].hello |=
		json_is_true(json_object_get(process, "cuda"));
	d->trial->proxied[r].bypassed += json_integer_value(
		json_object_get(process, "bypassed"));
	d->trial->proxied[r].launches += json_integer_value(
		json_object_get(process, "launches"));
	note(d, host, "cuda", process);
}

const char *drill_evidence_unfelt(const struct drill_trial *t,
				  const struct drill_injector *in)
{
	int r, ranks = drill_workload_ranks(t->d->spec->workload);
	int64_t launches = 0;
	bool hello = false;

	if (!drill_injector_needs(in, "hook:cuda"))
		return "";
	for (r = 0; r < ranks; r++) {
		hello |= t->proxied[r].hello;
		launches += t->proxied[r].launches;
	}
	return !hello ? ": no process has opened the CUDA driver"
	       : !launches ? ": no process has launched a kernel"
			   : ": no process that uses that device felt it";
}

static void take_refused(struct drill *d, int host, json_t *msg)
{
	json_int_t n = json_integer_value(json_object_get(msg, "refused"));

	if (d->trial && d->trial->proxy_needed && n > 0)
		drill_trial_find(d->trial, DRILL_INCONCLUSIVE,
				 "%" JSON_INTEGER_FORMAT " processes found no "
				 "place on the device page of host %s: faults "
				 "could not reach them", n, d->lab.hosts[host].name);
}

void drill_evidence_ended(struct drill *d, int host, json_t *msg)
{
	json_t *v;
	size_t i;

	take_refused(d, host, msg);
	json_array_foreach(json_object_get(msg, "hooks"), i, v)
		take_hook(d, host, v);
	json_array_foreach(json_object_get(msg, "proxies"), i, v)
		take_proxy(d, host, v);
}

/* ---- what is not to be believed ---- */

void drill_evidence_find(struct drill_trial *t)
{
	int r, ranks = drill_workload_ranks(t->d->spec->workload);

	for (r = 0; r < ranks; r++) {
		const struct drill_proxied *p = &t->proxied[r];

		if (t->began[r] && t->hook_needed && !t->hello[r])
			drill_trial_find(t, DRILL_INCONCLUSIVE,
					 "rank %d runs without the hook (no "
					 "hello)", r);
		if (t->began[r] && t->proxy_needed && !p->hello)
			drill_trial_find(t, DRILL_INCONCLUSIVE,
					 "rank %d runs without the CUDA proxy "
					 "(no hello)", r);
		if (t->proxy_needed && p->bypassed)
			drill_trial_find(t, DRILL_INCONCLUSIVE,
					 "rank %d has a second libcuda, whose "
					 "calls bypass the proxy (%" PRId64
					 " seen): faults could not reach them",
					 r, p->bypassed);
	}
}

/* ---- into run.json ---- */

static json_t *without_frame(json_t *event)
{
	static const char *const frame[] = { "kind", "of", "u_s", "h_s",
					     "epoch", "workload", "trial",
					     "source", "slot" };
	json_t *out = json_copy(event);
	size_t i;

	for (i = 0; i < sizeof(frame) / sizeof(frame[0]); i++)
		json_object_del(out, frame[i]);
	return out;
}

/* {"mpi": [process...], "cuda": [process...], "waits": [moment...]} */
void drill_evidence_put(json_t *trial, json_t *events)
{
	json_t *hooks = json_object(), *e, *list;
	size_t i;

	json_array_foreach(events, i, e) {
		if (strcmp(drill_json_text(e, "kind"), "evidence") != 0 ||
		    !json_equal(json_object_get(e, "trial"),
				json_object_get(trial, "trial")))
			continue;
		list = json_object_get(hooks, drill_json_text(e, "of"));
		if (!list) {
			list = json_array();
			json_object_set_new(hooks, drill_json_text(e, "of"),
					    list);
		}
		json_array_append_new(list, without_frame(e));
	}
	if (json_object_size(hooks))
		json_object_set(trial, "hooks", hooks);
	json_decref(hooks);
}
