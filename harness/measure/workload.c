/* workload.c - what the job did, and the state it ended in
 * SPDX-License-Identifier: MIT
 */
#include "print.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *const parts[] = {"parameters", "optimizer", "sampler"};

static int64_t last_state(const struct trial *t)
{
	int64_t last = -1;
	size_t i;

	for (i = 0; i < t->state.n; i++)
		if (t->state.v[i].step > last)
			last = t->state.v[i].step;
	return last;
}

/* FNV-1a, for states that differ from rank to rank. */
static uint64_t mix(uint64_t h, const char *s)
{
	for (; *s; s++)
		h = (h ^ (unsigned char)*s) * 0x100000001b3u;
	return h;
}

/* The state of one part after @step: the hash that all ranks have, else one
 * over all of them; of a rank that told it twice the last one counts. */
static bool part_state(const struct trial *t, int64_t step, const char *of,
		       char *buf, size_t size)
{
	const char *one = NULL;
	uint64_t all = 0;
	bool differ = false;
	size_t i, k;

	for (i = t->state.n; i-- > 0;) {
		const struct state_mark *s = &t->state.v[i];
		char rank[32];

		if (s->step != step || strcmp(s->of, of))
			continue;
		for (k = i + 1; k < t->state.n; k++)
			if (t->state.v[k].step == step &&
			    t->state.v[k].rank == s->rank &&
			    !strcmp(t->state.v[k].of, of))
				break;
		if (k < t->state.n)
			continue;
		snprintf(rank, sizeof(rank), "%d:", s->rank);
		all ^= mix(mix(0xcbf29ce484222325u, rank), s->hash);
		differ = differ || (one && strcmp(one, s->hash));
		one = s->hash;
	}
	if (differ)
		snprintf(buf, size, "ranks:%016" PRIx64, all);
	else
		snprintf(buf, size, "%.64s", one ? one : "");
	return one;
}

static json_t *state_at(const struct trial *t, int64_t step)
{
	char text[512], part[128];
	size_t used = 0, i;

	text[0] = '\0';
	for (i = 0; step >= 0 && i < sizeof(parts) / sizeof(*parts); i++)
		if (part_state(t, step, parts[i], part, sizeof(part)))
			used += snprintf(text + used, sizeof(text) - used,
					 "%s%s=%s", used ? " " : "", parts[i],
					 part);
	return used ? json_string(text) : json_null();
}

static json_t *baseline_state(const struct measure *m, int64_t step)
{
	json_t *s;
	size_t i;

	for (i = 0; i < m->trial.n; i++) {
		if (m->trial.v[i].role != ROLE_BASELINE)
			continue;
		s = state_at(&m->trial.v[i], step);
		if (!json_is_null(s))
			return s;
	}
	return json_null();
}

json_t *drill_workload_print(const struct measure *m, const struct trial *t)
{
	int64_t step = last_state(t);
	json_t *o = json_object(), *own = state_at(t, step);
	json_t *base = baseline_state(m, step);
	bool known = !json_is_null(own) && !json_is_null(base);

	put_string(o, "name", t->workload);
	put_count(o, "steps", t->steady.n ? t->steady.v[t->steady.n - 1].step : 0);
	put_count(o, "state_step", step);
	json_object_set_new(o, "final_state", own);
	json_object_set_new(o, "baseline_state", base);
	json_object_set_new(o, "state_equal",
			    known ? json_boolean(json_equal(own, base))
				  : json_null());
	put_number(o, "tokens", t->useful_tokens > 0 ? t->useful_tokens : NAN);
	put_number(o, "throughput",
		   t->useful_tokens > 0 ? t->useful_tokens / t->wall : NAN);
	return o;
}

json_t *drill_throughput_print(const struct trial *t)
{
	json_t *list = json_array(), *o;
	size_t g, i;

	for (g = 0; g < t->gen.n; g++) {
		double from = t->gen.v[g].first_begin;

		for (i = 0; i < t->gen.v[g].step.n; i++) {
			const struct gstep *s = &t->gen.v[g].step.v[i];
			double took = s->done - from;

			if (!s->complete || !(took > 0))
				continue;
			o = json_object();
			put_number(o, "t_s", s->done);
			put_count(o, "step", s->step);
			put_bool(o, "kept", s->useful);
			put_number(o, "tokens", s->counted ? s->tokens : NAN);
			put_number(o, "steps_per_s", 1 / took);
			put_number(o, "tokens_per_s",
				   s->counted ? s->tokens / took : NAN);
			json_array_append_new(list, o);
			from = s->done;
		}
	}
	return list;
}
