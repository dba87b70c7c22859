/* collective_hang.c - a rank goes into a collective and does not come out
 * SPDX-License-Identifier: MIT
 *
 * The MPI hook keeps it there, after it has entered and before it contributes,
 * so its peers wait for it: what a lost completion or a dead progress thread
 * looks like from outside.
 */
#include "collective.h"

#include <time.h>

static const char who[] = "collective.hang";

struct hang_args {
	const char *op;
	int64_t nth;
};

static const struct drill_param params[] = {
	{ .name = "op",
	  .type = DRILL_STRING,
	  .offset = offsetof(struct hang_args, op),
	  .def = "allreduce",
	  .doc = "The call that hangs, as one word or by any library's name." },
	{ .name = "nth",
	  .type = DRILL_INT,
	  .offset = offsetof(struct hang_args, nth),
	  .def = "1",
	  .min = 1,
	  .max = INT64_C(1000000000),
	  .doc = "Which such call of the rank hangs, counted from the act." },
	{ 0 },
};

static int probe(const struct drill_act *act, struct drill_err *err)
{
	const struct hang_args *a = act->args;

	return drill_collective_probe(act, a->op, err);
}

static int apply(struct drill_act *act, struct drill_err *err)
{
	const struct hang_args *a = act->args;
	struct drill_hook_order order = { .action = DRILL_HOOK_HANG,
					  .nth = a->nth };

	return drill_collective_apply(act, a->op, &order, err);
}

/* It looks at its entry once a second: then it is off the futex for a moment. */
static int blocked(const struct drill_collective *c)
{
	const struct timespec t = { .tv_nsec = 1000000 };
	int r = drill_collective_blocked(c);

	for (int i = 0; i < 10 && r == 0 && c->seen.waiting; i++) {
		nanosleep(&t, NULL);
		r = drill_collective_blocked(c);
	}
	return r;
}

/* The page says that it is armed and hit; the kernel, which knows nothing of
 * the page, says that a thread of the rank waits for exactly this entry. */
static int verify(struct drill_act *act, struct drill_err *err)
{
	struct drill_collective c;
	int r = drill_collective_see(act, &c, err), waits;

	if (r > 0) {
		waits = blocked(&c);
		json_object_set_new(act->evidence, "held_at_call",
				    json_boolean(c.held));
		json_object_set_new(act->evidence, "thread_waits",
				    waits < 0 ? json_string("not readable") :
						  json_boolean(waits));
		r = c.held || (c.seen.waiting > 0 && waits);
	} else if (r == 0) {
		r = drill_collective_lingers(&c);
	}
	drill_hooks_close(&c.hooks);
	return r;
}

const struct drill_injector drill_collective_hang = {
	.name = who,
	.doc = "A rank goes into a collective and does not come out.",
	.class = DRILL_CLASS_HANG,
	.fidelity = DRILL_FIDELITY_LIBRARY,
	.survives = DRILL_SURVIVES_PROCESS,
	.risk = DRILL_RISK_CONTAINED,
	.targets = DRILL_TARGET_RANK,
	.stands_for = (const char *const[]){ "Job hang", "NCCL watchdog timeout",
					     "Hang with no NCCL timeout at eval",
					     NULL },
	.needs = (const char *const[]){ "hook:mpi", NULL },
	.params = params,
	.args_size = sizeof(struct hang_args),
	.probe = probe,
	.apply = apply,
	.verify = verify,
	.revert = drill_collective_revert,
};
