/* evidence.c - what the MPI hook saw here: calls, bytes, and who waits where
 * SPDX-License-Identifier: MIT
 */
#include "agent.h"

#include "faultdrill/progress.h"

#include <stdlib.h>

#define LANES (DRILL_HOOK_SLOTS * DRILL_HOOK_LANES)

/* [{word, calls, bytes, s}] of one process. */
static json_t *calls_of(const struct agent *a, int slot)
{
	struct drill_hook_calls c[DRILL_WORDS];
	int i, n = drill_hooks_calls(&a->hooks, slot, c, DRILL_WORDS);
	json_t *list = json_array();

	for (i = 0; i < n; i++)
		json_array_append_new(
			list, json_pack("{s:s,s:I,s:I,s:f}", "word",
					drill_word_name(c[i].word), "calls",
					(json_int_t)c[i].calls, "bytes",
					(json_int_t)c[i].bytes, "s",
					(double)c[i].ns / 1e9));
	return list;
}

/* [{peer, messages, bytes}]: what it sent point to point. */
static json_t *sent_by(const struct agent *a, int slot)
{
	struct drill_hook_sent s[DRILL_HOOK_PEERS];
	int i, n = drill_hooks_peers(&a->hooks, slot, s, DRILL_HOOK_PEERS);
	json_t *list = json_array();

	for (i = 0; i < n; i++)
		json_array_append_new(
			list, json_pack("{s:i,s:I,s:I}", "peer", s[i].peer,
					"messages", (json_int_t)s[i].messages,
					"bytes", (json_int_t)s[i].bytes));
	return list;
}

json_t *evidence_hooks(struct agent *a)
{
	struct drill_hello_seen *seen = calloc(DRILL_HOOK_SLOTS, sizeof(*seen));
	int i, n = a->hooked && seen ? drill_hooks_hellos(&a->hooks, seen,
							  DRILL_HOOK_SLOTS)
				     : 0;
	json_t *list = json_array();

	for (i = 0; i < n; i++)
		json_array_append_new(
			list,
			json_pack("{s:i,s:i,s:s,s:s,s:o,s:o}", "rank",
				  seen[i].rank, "attempt", seen[i].attempt,
				  "transport", seen[i].transport, "build",
				  seen[i].build, "calls",
				  calls_of(a, seen[i].slot), "sent",
				  sent_by(a, seen[i].slot)));
	free(seen);
	return list;
}

/* ---- at one moment ---- */

static double age_s(int64_t now, int64_t since)
{
	return since > 0 && since < now ? (double)(now - since) / 1e9 : 0;
}

/* The call that the hook sees it in; a test is one that polls. */
static void put_call(const struct agent *a, const struct drill_hook_wait *w,
		     int n, const struct rank *r, int64_t now, json_t *to)
{
	int i;

	for (i = 0; i < n; i++) {
		const struct drill_hook_slot *s =
			&a->hooks.page->slot[w[i].slot];

		if (w[i].rank != r->rank || s->attempt != r->attempt)
			continue;
		json_object_set_new(to, "word",
				    json_string(drill_word_name(w[i].word)));
		json_object_set_new(to, "where", json_string(
						 drill_hook_where_name(
							 w[i].where)));
		json_object_set_new(to, "call", json_integer(w[i].call));
		json_object_set_new(to, "call_s",
				    json_real(age_s(now, w[i].since_ns)));
		return;
	}
}

/* What the job says itself: a collective that it only starts and then polls
 * for is no call that it is in. */
static json_t *wait_of(const struct agent *a, const struct drill_hook_wait *w,
		       int n, const struct rank *r, int64_t now)
{
	const struct faultdrill_ring *ring = r->ring;
	int64_t since = FAULTDRILL_LOAD(&ring->collective_since_ns);
	json_t *to = json_pack("{s:i,s:i,s:I,s:I,s:f}", "rank", r->rank,
			       "attempt", r->attempt, "step",
			       (json_int_t)FAULTDRILL_LOAD(&ring->step),
			       "collective",
			       (json_int_t)FAULTDRILL_LOAD(&ring->collective),
			       "silent_s",
			       age_s(now, FAULTDRILL_LOAD(&ring->heartbeat_ns)));

	if (since > 0)
		json_object_set_new(to, "collective_s",
				    json_real(age_s(now, since)));
	put_call(a, w, n, r, now, to);
	return to;
}

void evidence_waits(struct agent *a, const char *why)
{
	struct drill_hook_wait *w = calloc(LANES, sizeof(*w));
	int n = a->hooked && w ? drill_hooks_in_calls(&a->hooks, w, LANES) : 0;
	json_t *list = json_array();
	int64_t now = agent_now();
	struct rank *r;

	for (r = a->ranks; r; r = r->next)
		if (r->begun && !r->ended && r->ring)
			json_array_append_new(list, wait_of(a, w, n, r, now));
	free(w);
	if (json_array_size(list))
		agent_event(a, json_pack("{s:s,s:I,s:I,s:s,s:s,s:o}", "kind",
					 "evidence", "h_ns", (json_int_t)now,
					 "u_ns", (json_int_t)0, "of", "waits",
					 "at", why, "waits", list));
	else
		json_decref(list);
}
