/* collective_delay.c - a rank is late at its collectives, and all wait for it
 * SPDX-License-Identifier: MIT
 *
 * The MPI hook keeps each call back for the time asked for, after the rank has
 * entered and before it contributes: a straggler whose cause is the rank, not
 * the network.
 */
#include "collective.h"

static const char who[] = "collective.delay";

struct delay_args {
	const char *op;
	int64_t delay_ns, every, nth, probability, seed;
};

#define MOST INT64_C(1000000000)

static const struct drill_param params[] = {
	{ .name = "op",
	  .type = DRILL_STRING,
	  .offset = offsetof(struct delay_args, op),
	  .def = "allreduce",
	  .doc = "The call that is late, as one word or by any library's name." },
	{ .name = "delay",
	  .type = DRILL_DURATION,
	  .offset = offsetof(struct delay_args, delay_ns),
	  .min = 1000,
	  .max = INT64_C(3600000000000),
	  .doc = "How much longer each such call of the rank takes." },
	{ .name = "every",
	  .type = DRILL_INT,
	  .offset = offsetof(struct delay_args, every),
	  .def = "1",
	  .max = MOST,
	  .doc = "Each how-manieth call is late; 0: only the nth." },
	{ .name = "nth",
	  .type = DRILL_INT,
	  .offset = offsetof(struct delay_args, nth),
	  .def = "1",
	  .min = 1,
	  .max = MOST,
	  .doc = "The first call that is late, counted from the act." },
	{ .name = "probability",
	  .type = DRILL_PERCENT,
	  .offset = offsetof(struct delay_args, probability),
	  .def = "100%",
	  .min = 1,
	  .max = 1000000,
	  .doc = "Share of those calls that are late, drawn by the seed." },
	{ .name = "seed",
	  .type = DRILL_INT,
	  .offset = offsetof(struct delay_args, seed),
	  .def = "1",
	  .min = 0,
	  .max = UINT32_MAX,
	  .doc = "Of the draw; the same seed takes the same calls." },
	{ 0 },
};

static int probe(const struct drill_act *act, struct drill_err *err)
{
	const struct delay_args *a = act->args;

	return drill_collective_probe(act, a->op, err);
}

static int apply(struct drill_act *act, struct drill_err *err)
{
	const struct delay_args *a = act->args;
	struct drill_hook_order order = {
		.action = DRILL_HOOK_DELAY,
		.delay_ns = a->delay_ns,
		.every = a->every,
		.nth = a->nth,
		.ppm = (uint32_t)a->probability,
		.seed = (uint32_t)a->seed,
	};

	return drill_collective_apply(act, a->op, &order, err);
}

/* By the hook's clock over all calls that were hit, and for the last one from
 * the job's own stamp of that call, which the hook does not write. */
static bool measured(struct drill_act *act, const struct drill_hook_seen *s)
{
	int64_t mean = s->hits ? s->total_ns / s->hits : 0;
	int64_t by_job = s->end_ns - s->job_ns;
	bool job_says = s->job_ns > 0 && s->job_ns <= s->begin_ns &&
			s->end_ns > s->begin_ns;

	if (!s->hits)
		return false;
	json_object_set_new(act->evidence, "mean_delay_ns", json_integer(mean));
	if (job_says)
		json_object_set_new(act->evidence, "last_by_job_clock_ns",
				    json_integer(by_job));
	return mean >= s->order.delay_ns &&
	       (!job_says || by_job >= s->order.delay_ns);
}

/* While no call has ended: is one being kept back now? The kernel sees a thread
 * wait for this entry then. */
static bool under_way(struct drill_act *act, const struct drill_collective *c)
{
	bool waits = c->seen.begin_ns && !c->seen.end_ns &&
		     drill_collective_blocked(c) == 1;

	json_object_set_new(act->evidence, "held_at_call",
			    json_boolean(c->held));
	json_object_set_new(act->evidence, "thread_waits",
			    json_boolean(waits));
	return waits || c->held;
}

static int verify(struct drill_act *act, struct drill_err *err)
{
	struct drill_collective c;
	int r = drill_collective_see(act, &c, err);

	if (r > 0)
		r = measured(act, &c.seen) || under_way(act, &c);
	else if (r == 0)
		r = drill_collective_lingers(&c);
	drill_hooks_close(&c.hooks);
	return r;
}

const struct drill_injector drill_collective_delay = {
	.name = who,
	.doc = "A rank is late at its collectives, and all wait for it.",
	.class = DRILL_CLASS_FAIL_SLOW,
	.fidelity = DRILL_FIDELITY_LIBRARY,
	.survives = DRILL_SURVIVES_PROCESS,
	.risk = DRILL_RISK_CONTAINED,
	.targets = DRILL_TARGET_RANK,
	.stands_for = (const char *const[]){ "Jobs with a fail-slow",
					     "Performance issues (not crashes)",
					     NULL },
	.needs = (const char *const[]){ "hook:mpi", NULL },
	.params = params,
	.args_size = sizeof(struct delay_args),
	.probe = probe,
	.apply = apply,
	.verify = verify,
	.revert = drill_collective_revert,
};
