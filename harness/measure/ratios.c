/* ratios.c - goodput, ETTR and their relatives, each with its denominator
 * SPDX-License-Identifier: MIT
 */
#include "print.h"

static double commit_ratio(const struct trial *t)
{
	size_t g, i, begun = 0, useful = 0;

	for (g = 0; g < t->gen.n; g++)
		for (i = 0; i < t->gen.v[g].step.n; i++) {
			begun++;
			useful += t->gen.v[g].step.v[i].useful;
		}
	return begun ? (double)useful / begun : NAN;
}

/* Model FLOPs of the useful tokens over what the ranks could have done. */
static double mfu(const struct trial *t)
{
	json_t *model = json_object_get(t->begin_event, "model");
	double attention = 12 * get_number(model, "layers") *
			   get_number(model, "width") * get_number(model, "seq");
	double a_token = 6 * get_number(model, "parameters") +
			 (isnan(attention) ? 0 : attention);

	return a_token * t->useful_tokens /
	       (t->wall_rank * get_number(model, "peak_flops"));
}

void drill_ratios_print(const struct measure *m, const struct trial *t,
			json_t *o)
{
	const double *l = t->ledger;

	(void)m;
	put_number(o, "goodput", l[CAT_USEFUL] / t->wall_rank);
	put_number(o, "ettr_wall", t->useful_seconds / (t->n * t->wall));
	put_number(o, "step_commit_ratio", commit_ratio(t));
	put_number(o, "checkpoint_overhead",
		   l[CAT_CHECKPOINT] /
			   (t->wall_rank - l[CAT_RESTART] - l[CAT_IDLE]));
	put_number(o, "data_stall_share", l[CAT_DATA] / t->wall_rank);
	put_number(o, "communication_share", t->comm_s / t->useful_window_s);
	put_number(o, "transfer_share",
		   t->transfer_s * t->n / t->useful_window_s);
	put_number(o, "mfu", mfu(t));
}
