/* sample_events.c - the events of a made-up drill with any number of ranks
 * SPDX-License-Identifier: MIT
 *
 * Steps take half a second give or take a few milliseconds, the same for every
 * run of the program. Every 15th step is followed by a checkpoint.
 */
#include "sample_events.h"

#include <stdint.h>
#include <stdio.h>

#define STEP 0.5
#define STEPS 120
#define EVERY 15 /* steps from one checkpoint to the next */
#define KILL_AT 45
#define SLOW_AT 75
#define SLOW_FOR 10.0

struct sample {
	json_t *events;
	int ranks, per_host;
	int trial, attempt;
	double t;      /* now, on the drill's clock */
	uint32_t seed;
	int moved;     /* host whose ranks are on the spare, -1: none */
};

/* A few milliseconds, never the same twice in a row. */
static double jitter(struct sample *s)
{
	s->seed = s->seed * 1664525u + 1013904223u;
	return ((int)(s->seed >> 20) % 19 - 9) * 1e-3;
}

static json_t *add(struct sample *s, double t, const char *kind)
{
	json_t *ev = json_pack("{s:f,s:f,s:i,s:s}", "t_s", t, "u_s", 0.0005,
			       "trial", s->trial, "kind", kind);

	if (s->attempt)
		json_object_set_new(ev, "attempt", json_integer(s->attempt));
	json_array_append_new(s->events, ev);
	return ev;
}

static json_t *add_rank(struct sample *s, double t, const char *kind, int rank)
{
	json_t *ev = add(s, t, kind);

	json_object_set_new(ev, "rank", json_integer(rank));
	return ev;
}

static void text(json_t *ev, const char *key, const char *value)
{
	json_object_set_new(ev, key, json_string(value));
}

static void host(struct sample *s, json_t *ev, int rank)
{
	int h = rank / s->per_host;
	char name[16];

	if (h == s->moved)
		h = (s->ranks + s->per_host - 1) / s->per_host;
	snprintf(name, sizeof(name), "h%d", h);
	text(ev, "host", name);
}

static void begin_attempt(struct sample *s, const char *reason, int from)
{
	s->attempt++;
	text(add(s, s->t, "attempt.begin"), "reason", reason);
	for (int r = 0; r < s->ranks; r++) {
		json_t *ev = add_rank(s, s->t + 0.3, "rank.begin", r);

		json_object_set_new(ev, "pid", json_integer(1000 + r));
		host(s, ev, r);
	}
	s->t += 1.5;
	if (!from)
		return;
	s->t += 0.8;
	for (int r = 0; r < s->ranks; r++)
		json_object_set_new(add_rank(s, s->t, "restore.done", r),
				    "step", json_integer(from));
	s->t += 0.1;
}

/* One step of all ranks, @longer by some seconds; the hit ones stop inside. */
static void step(struct sample *s, int n, double longer)
{
	double end = s->t + STEP + longer + jitter(s);

	for (int r = 0; r < s->ranks; r++) {
		json_t *ev = add_rank(s, s->t, "step.begin", r);

		json_object_set_new(ev, "step", json_integer(n));
		ev = add_rank(s, end, "step.end", r);
		json_object_set_new(ev, "step", json_integer(n));
		json_object_set_new(ev, "tokens", json_integer(2048));
	}
	s->t = end;
}

static void checkpoint(struct sample *s, int n)
{
	for (int r = 0; r < s->ranks; r++) {
		text(add_rank(s, s->t, "phase.begin", r), "phase",
		     "checkpoint");
		text(add_rank(s, s->t + 0.3, "phase.end", r), "phase",
		     "checkpoint");
	}
	s->t += 0.3;
	json_object_set_new(add(s, s->t, "checkpoint.committed"), "step",
			    json_integer(n));
}

static json_t *fault(struct sample *s, double t, const char *kind,
		     const char *name, const char *at)
{
	json_t *ev = add(s, t, kind);

	text(ev, "fault", name);
	text(ev, "host", at);
	return ev;
}

static void say(struct sample *s, double t, const char *kind, const char *by,
		const char *blame)
{
	json_t *ev = add(s, t, kind);

	text(ev, "by", by);
	text(ev, "blame", blame);
	text(ev, "host", "h0");
}

static void requested(struct sample *s, double t, const char *name,
		      const char *injector, const char *class,
		      const char *target)
{
	json_t *ev = fault(s, t - 0.02, "fault.requested", name, "h0");

	text(ev, "target", target);
	text(ev, "injector", injector);
	text(ev, "class", class);
	fault(s, t - 0.01, "fault.issued", name, "h1");
}

/* A rank dies inside a step; the launcher sees it and starts again. */
static void killed(struct sample *s, int n)
{
	int victim = s->per_host + 1 < s->ranks ? s->per_host + 1 : 1;
	double te = s->t + 0.3;
	json_t *ev;
	char target[32];

	snprintf(target, sizeof(target), "rank %d", victim);
	requested(s, te, "kill", "host.kill", "fail_stop", target);
	for (int r = 0; r < s->ranks; r++)
		json_object_set_new(add_rank(s, s->t, "step.begin", r), "step",
				    json_integer(n));
	ev = fault(s, te, "fault.effective", "kill", "h1");
	json_object_set_new(ev, "evidence", json_pack("{s:s,s:b}", "process",
		"gone", "answers", 0));
	text(fault(s, te, "fault.reverted", "kill", "h1"), "state",
	     "irreversible");
	json_object_set_new(add_rank(s, te, "rank.end", victim), "signal",
			    json_integer(9));
	say(s, te + 0.4, "detected", "launcher", target);
	say(s, te + 0.5, "blamed", "launcher", target);
	s->t = te + 1.1;
	text(add(s, s->t, "attempt.end"), "reason", "failed");
	s->t += 0.9;
	s->moved = victim / s->per_host;
	begin_attempt(s, "restart", n / EVERY * EVERY);
}

static void slow_begins(struct sample *s, char *target, size_t size)
{
	int h = s->ranks / s->per_host > 2 ? 2 : 0;
	json_t *ev;

	snprintf(target, size, "link h%d/eth0", h);
	requested(s, s->t, "slow", "link.rate", "fail_slow", target);
	ev = fault(s, s->t, "fault.effective", "slow", "h1");
	json_object_set_new(ev, "evidence", json_pack("{s:s,s:f}", "rate",
		"2.5 Gbit/s", "measured_gbit_s", 2.38));
}

static void fault_trial(struct sample *s)
{
	char target[32];
	double slow = 0, until = 0;
	int n = 1, kills = 0;

	begin_attempt(s, "start", 0);
	while (n <= STEPS) {
		if (n == KILL_AT + 2 && !kills++) {
			killed(s, n);
			n = n / EVERY * EVERY + 1;
			continue;
		}
		if (n == SLOW_AT + 1 && until == 0) {
			slow_begins(s, target, sizeof(target));
			until = s->t + SLOW_FOR;
			slow = 0.5;
			say(s, s->t + 6.4, "detected", "telemetry", target);
		}
		if (slow > 0 && s->t >= until) {
			text(fault(s, s->t, "fault.reverted", "slow", "h1"),
			     "state", "clean");
			slow = 0;
		}
		step(s, n, slow);
		if (n % EVERY == 0)
			checkpoint(s, n);
		n++;
	}
}

static void baseline_trial(struct sample *s)
{
	begin_attempt(s, "start", 0);
	for (int n = 1; n <= STEPS; n++) {
		step(s, n, 0);
		if (n % EVERY == 0)
			checkpoint(s, n);
	}
}

static void trial(struct sample *s, const char *role,
		  void (*run)(struct sample *s))
{
	json_t *ev;

	s->attempt = 0;
	s->moved = -1;
	s->t += 1;
	ev = add(s, s->t, "trial.begin");
	text(ev, "role", role);
	json_object_set_new(ev, "ranks", json_integer(s->ranks));
	s->t += 0.5;
	run(s);
	s->t += 0.3;
	text(add(s, s->t, "attempt.end"), "reason", "done");
	s->attempt = 0;
	text(add(s, s->t + 0.5, "trial.end"), "outcome", "pass");
	s->t += 1;
	s->trial++;
}

json_t *sample_events(int ranks, int per_host)
{
	struct sample s = { .events = json_array(), .ranks = ranks,
			    .per_host = per_host, .seed = 20260314 };

	trial(&s, "baseline", baseline_trial);
	trial(&s, "fault", fault_trial);
	trial(&s, "baseline", baseline_trial);
	return s.events;
}
