/* cost.c - lost rank-seconds in steps, tokens, money and energy
 * SPDX-License-Identifier: MIT
 */
#include "print.h"

/* With the power of each category where it is known; else one for all. */
static void put_energy(json_t *o, json_t *price, double lost,
		       const double *by_cat)
{
	json_t *by = json_object_get(price, "kw_by");
	double kw = get_number(price, "kw"), sum = 0;
	int c;

	for (c = 0; c < NCATS; c++) {
		double own = get_number(by, drill_cat_names[c]);

		sum += by_cat[c] * (isnan(own) ? kw : own);
	}
	put_number(o, "kwh", by ? sum / 3600 : lost / 3600 * kw);
	put_string(o, "kwh_from", by ? "category" : isnan(kw) ? NULL : "total");
}

json_t *drill_cost_print(const struct measure *m, const struct trial *t,
			 double lost, const double *by_cat)
{
	json_t *price = json_object_get(t->begin_event, "price");
	json_t *o = json_object(), *currency;
	double steps = lost / (t->n * m->base.step_mean);

	put_number(o, "rank_s", lost);
	put_number(o, "steps", steps);
	put_number(o, "tokens", steps * m->base.tokens_mean);
	put_number(o, "money", lost / 3600 * get_number(price, "rank_hour"));
	currency = json_object_get(price, "currency");
	put_string(o, "currency", json_string_value(currency));
	put_energy(o, price, lost, by_cat);
	return o;
}
