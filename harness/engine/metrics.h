/* metrics.h - the one table of what can be asserted, and how a value is read
 * SPDX-License-Identifier: MIT
 */
#ifndef DRILL_METRICS_H
#define DRILL_METRICS_H

#include "harness/core/err.h"
#include "injectors/injector.h"

#include <jansson.h>
#include <stdbool.h>

enum drill_metric_of { DRILL_OF_FAULT, DRILL_OF_WORKLOAD };

enum drill_quantity {
	DRILL_Q_DURATION, /* seconds */
	DRILL_Q_RANK_S,	  /* rank-seconds */
	DRILL_Q_STEPS,
	DRILL_Q_COUNT,
	DRILL_Q_RATIO,
	DRILL_Q_NUMBER,
	DRILL_Q_WORD,
	DRILL_Q_FLAG,
};

struct drill_metric {
	const char *name;
	enum drill_metric_of of;
	enum drill_quantity quantity;
	unsigned int supplies; /* what the workload must supply */
	bool recovery; /* says something about coming back: a fault that only
			  tells the watchers something cannot show it */
	const char *field; /* where the measured object has it */
	const char *doc;
};

/* Ends with a NULL name. Borrowed, lives for ever. */
const struct drill_metric *drill_metrics(void);
const struct drill_metric *drill_metric_find(const char *name,
					     enum drill_metric_of of);
const char *drill_quantity_unit(enum drill_quantity q);
/* The words that a word's metric can have, NULL-terminated; NULL: any. */
const char *const *drill_metric_words(const struct drill_metric *m);
/* "step events", "launcher": who has to supply it. */
const char *drill_metric_supplier(const struct drill_metric *m);

enum drill_value_type {
	DRILL_V_ABSENT, /* not measured: why */
	DRILL_V_NUMBER,
	DRILL_V_NEVER,	/* greater than every duration */
	DRILL_V_NA,	/* not applicable: such an expectation holds */
	DRILL_V_WORD,
};

struct drill_value {
	enum drill_value_type type;
	double v, lo, hi;
	char word[96];
	char why[128];
};

/* Reads @m from a measured trial; for a fault's metric @incident is one of the
 * trial's incidents, else NULL. */
void drill_metric_read(const struct drill_metric *m, json_t *trial,
		       json_t *incident, struct drill_value *ret);

/* As JSON for run.json: a number, "never", a word, null. */
json_t *drill_metric_json(const struct drill_value *v);
/* As people read it. Returns @buf. */
const char *drill_metric_text(const struct drill_value *v,
			     enum drill_quantity q, char *buf, int size);

#endif
