/* limit.h - (metric, op, limit): what an expectation says, and whether it holds
 * SPDX-License-Identifier: MIT
 */
#ifndef DRILL_LIMIT_H
#define DRILL_LIMIT_H

#include "metrics.h"

enum drill_op {
	DRILL_OP_LT,
	DRILL_OP_LE,
	DRILL_OP_GT,
	DRILL_OP_GE,
	DRILL_OP_EQ,
	DRILL_OP_NE,
	DRILL_OP_IN,
	DRILL_OP_IS,
};

struct drill_limit {
	enum drill_op op;
	/* A sum: number + steps x step time + a named time-out. */
	double number;
	double steps;
	char timeout[32];
	double share;	/* of the baseline's value; 0: absolute */
	bool never;	/* "never" */
	bool finite;	/* is finite */
	json_t *words;	/* ==, !=, in: an array; ours */
};

/* Reads ops and limits for @m; -EINVAL says what to write instead. */
int drill_limit_read(const struct drill_metric *m, const char *op,
		     json_t *limit, struct drill_limit *ret,
		     struct drill_err *err);
void drill_limit_done(struct drill_limit *l);

/* What relative limits need. Unknown: negative or NaN. */
struct drill_limit_context {
	double step_s;
	double (*timeout_s)(void *ctx, const char *name);
	void *ctx;
	struct drill_value baseline; /* of the same metric */
};

enum drill_verdict { DRILL_HELD, DRILL_BROKEN, DRILL_UNDECIDED };

enum drill_verdict drill_limit_judge(const struct drill_limit *l,
				     const struct drill_value *v,
				     const struct drill_limit_context *c,
				     char *why, int why_size);
const char *drill_op_text(enum drill_op op);
int drill_op_parse(const char *text, enum drill_op *ret);

#endif
