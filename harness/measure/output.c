/* output.c - everything measured, as one object
 * SPDX-License-Identifier: MIT
 */
#include "print.h"

#include <string.h>

const char *const drill_cat_names[NCATS] = {
	"useful", "checkpoint", "data", "stalled",
	"redone", "restart", "degraded", "idle",
};

static const char *const role_names[] = {"baseline", "null", "fault"};

static json_t *print_baseline(const struct baseline *b)
{
	json_t *o = json_object(), *stages = json_object(), *s;
	size_t i;

	put_count(o, "trials", b->trials);
	for (i = 0; i < b->stage.n; i++) {
		const struct stage *st = &b->stage.v[i];

		s = json_object();
		put_number(s, "step_s", st->samples ? st->b : NAN);
		put_number(s, "sigma_s", st->samples ? st->sigma : NAN);
		put_number(s, "band_s", st->samples ? st->h : NAN);
		put_number(s, "data_s", st->samples ? st->d : NAN);
		put_number(s, "data_band_s", st->samples ? st->d_band : NAN);
		put_count(s, "samples", st->samples);
		json_object_set_new(stages, st->name, s);
	}
	json_object_set_new(o, "stages", stages);
	put_number(o, "wall_rank_s", b->wall_rank);
	put_number(o, "tokens_per_step", b->tokens_mean);
	return o;
}

static json_t *print_collapsed(const struct trial *t)
{
	return t->log ? json_pack("[sss]", "checkpoint", "data", "idle")
		      : json_array();
}

json_t *drill_cats_print(const double *by_cat, bool known)
{
	json_t *o = known ? json_object() : json_null();
	int c;

	for (c = 0; known && c < NCATS; c++)
		put_number(o, drill_cat_names[c], by_cat[c]);
	return o;
}

static json_t *print_ledger(const struct trial *t)
{
	json_t *o = json_object();
	double rest = t->wall_rank;
	int c;

	put_number(o, "wall_rank_s", t->wall_rank);
	for (c = 0; c < NCATS; c++) {
		put_number(o, drill_cat_names[c], t->ledger[c]);
		rest -= t->ledger[c];
	}
	put_number(o, "residual", rest);
	put_number(o, "spare_rank_s", t->spares * t->wall);
	put_number(o, "queued_rank_s", t->queued);
	json_object_set_new(o, "collapsed", print_collapsed(t));
	return o;
}

/* Pieces of one category that touch are one segment. */
static json_t *print_segments(const struct trial *t)
{
	json_t *list = json_array(), *o;
	size_t i, k;

	for (i = 0; i < t->piece.n; i = k) {
		const struct piece *p = &t->piece.v[i];
		double to = p->to;

		for (k = i + 1; k < t->piece.n; k++) {
			const struct piece *q = &t->piece.v[k];

			if (q->slot != p->slot || q->cat != p->cat ||
			    fabs(q->from - to) > TIME_EPS)
				break;
			to = q->to;
		}
		o = json_object();
		put_count(o, "slot", p->slot);
		put_number(o, "from_s", p->from);
		put_number(o, "to_s", to);
		put_string(o, "category", drill_cat_names[p->cat]);
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *print_attempts(const struct trial *t)
{
	json_t *list = json_array(), *o;
	size_t i;

	for (i = 0; i < t->attempt.n; i++) {
		const struct attempt *a = &t->attempt.v[i];

		o = json_object();
		put_count(o, "attempt", a->number);
		put_number(o, "from_s", a->from);
		put_number(o, "to_s", a->to);
		put_string(o, "reason", a->reason);
		put_count(o, "high_water", a->high_after);
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *print_false_alarms(const struct trial *t)
{
	json_t *list = json_array(), *o;
	const struct mark *m;

	for (m = t->mark.v; m < t->mark.v + t->mark.n; m++) {
		if (m->kind < MARK_SYMPTOM || m->kind > MARK_BLAMED ||
		    m->incident >= 0)
			continue;
		o = json_object();
		put_string(o, "by", m->by);
		put_number(o, "t_s", m->t);
		put_string(o, "what", m->what ? m->what : m->blame);
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *print_incidents(const struct measure *m, const struct trial *t)
{
	json_t *list = json_array();
	int i;

	for (i = 0; i < (int)t->incident.n; i++)
		json_array_append_new(list, drill_incident_print(m, t, i));
	return list;
}

static void put_lost(json_t *o, const struct measure *m, const struct trial *t)
{
	double by_cat[NCATS];
	json_t *cost;
	int c;

	for (c = 0; c < NCATS; c++)
		by_cat[c] = t->ledger[c] - t->paid[c];
	put_number(o, "work_steps", t->work);
	put_number(o, "lost_compute_rank_s", t->lost);
	put_number(o, "lost_ledger_rank_s", t->lost_ledger);
	put_number(o, "drift_rank_s", t->drift);
	put_number(o, "unattributed_rank_s", t->unattributed);
	json_object_set_new(o, "baseline_cut",
			    drill_cats_print(t->paid, t->has_paid));
	cost = drill_cost_print(m, t, t->lost, by_cat);
	json_object_set(o, "lost_steps", json_object_get(cost, "steps"));
	json_object_set(o, "lost_tokens", json_object_get(cost, "tokens"));
	json_object_set_new(o, "cost", cost);
}

static void put_counts(json_t *o, const struct trial *t)
{
	put_count(o, "attempts", t->attempts);
	put_count(o, "attempts_without_progress", t->no_progress);
	put_bool(o, "livelock", t->livelock);
	put_count(o, "late_events", t->late);
	put_count(o, "false_alarms", t->false_alarms);
	json_object_set_new(o, "false_alarm_list", print_false_alarms(t));
	put_number(o, "spare_rank_s", t->spares * t->wall);
	put_number(o, "queued_rank_s", t->queued);
	put_number(o, "boundary_u_s", t->u_max);
}

static json_t *print_trial(const struct measure *m, const struct trial *t)
{
	json_t *o = json_object();

	put_count(o, "trial", t->id);
	put_string(o, "role", role_names[t->role]);
	put_string(o, "outcome", t->outcome);
	put_count(o, "ranks", t->n);
	put_number(o, "begin_s", t->j0);
	put_number(o, "end_s", t->j1);
	put_number(o, "wall_s", t->wall);
	put_bool(o, "finished", t->finished);
	put_bool(o, "truncated", t->truncated);
	put_bool(o, "conclusive", !json_array_size(t->reasons));
	json_object_set(o, "reasons", t->reasons);
	json_object_set_new(o, "ledger", print_ledger(t));
	json_object_set_new(o, "collapsed", print_collapsed(t));
	put_lost(o, m, t);
	put_counts(o, t);
	drill_ratios_print(m, t, o);
	json_object_set_new(o, "workload", drill_workload_print(m, t));
	json_object_set_new(o, "incidents", print_incidents(m, t));
	json_object_set_new(o, "attempt_list", print_attempts(t));
	json_object_set_new(o, "segments", print_segments(t));
	json_object_set_new(o, "throughput", drill_throughput_print(t));
	return o;
}

json_t *drill_measure_print(const struct measure *m)
{
	json_t *o = json_object(), *list = json_array(), *null = json_object();
	size_t i;

	json_object_set_new(o, "baseline", m->base.real
						   ? print_baseline(&m->base)
						   : json_null());
	put_number(o, "noise_floor_rank_s", m->noise_floor);
	put_number(null, "p", m->null_p);
	put_count(null, "n_null", m->n_null);
	put_count(null, "n_baseline", m->n_base);
	put_string(null, "why", isnan(m->null_p) ? "fewer than 4 of each" : NULL);
	json_object_set_new(o, "null_test", null);
	for (i = 0; i < m->trial.n; i++)
		json_array_append_new(list, print_trial(m, &m->trial.v[i]));
	json_object_set_new(o, "trials", list);
	return o;
}
