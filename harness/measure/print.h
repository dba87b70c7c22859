/* print.h - numbers as JSON: what is not known is null
 * SPDX-License-Identifier: MIT
 */
#ifndef DRILL_MEASURE_PRINT_H
#define DRILL_MEASURE_PRINT_H

#include "model.h"

/* null for NAN and infinities; rounding noise around zero is 0. */
static inline json_t *print_number(double x)
{
	if (!isfinite(x))
		return json_null();
	return json_real(fabs(x) < 1e-9 ? 0 : x);
}

static inline void put_number(json_t *o, const char *name, double x)
{
	json_object_set_new(o, name, print_number(x));
}

static inline void put_count(json_t *o, const char *name, json_int_t n)
{
	json_object_set_new(o, name, json_integer(n));
}

static inline void put_bool(json_t *o, const char *name, bool b)
{
	json_object_set_new(o, name, json_boolean(b));
}

/* @s NULL: null. */
static inline void put_string(json_t *o, const char *name, const char *s)
{
	json_object_set_new(o, name, s ? json_string(s) : json_null());
}

/* {category: rank-s}; null while nothing is known. Yours: json_decref. */
json_t *drill_cats_print(const double *by_cat, bool known);

/* A number of @o, or NAN. @o may be NULL. */
static inline double get_number(json_t *o, const char *name)
{
	json_t *v = json_object_get(o, name);

	return json_is_number(v) ? json_number_value(v) : NAN;
}

/* cost.c: what lost rank-seconds are in steps, tokens, money and energy.
 * @by_cat: the same loss by category. Yours: json_decref. */
json_t *drill_cost_print(const struct measure *m, const struct trial *t,
			 double lost, const double *by_cat);

/* ratios.c: the ratios of a trial, put into @o. */
void drill_ratios_print(const struct measure *m, const struct trial *t,
			json_t *o);

/* workload.c: what the job did and the state it ended in. Yours. */
json_t *drill_workload_print(const struct measure *m, const struct trial *t);
/* One entry a completed step, in order of time. Yours. */
json_t *drill_throughput_print(const struct trial *t);

/* incident_out.c. Yours. */
json_t *drill_incident_print(const struct measure *m, const struct trial *t,
			     int incident);

/* blame.c: how near @name is to what was hurt: exact device host other none. */
const char *drill_blame_level(const struct trial *t, const struct incident *i,
			      const char *name);

/* output.c. The object that drill_measure returns. Yours. */
json_t *drill_measure_print(const struct measure *m);

#endif
