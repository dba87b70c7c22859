/* incident_out.c - an incident as run.json shows it
 * SPDX-License-Identifier: MIT
 */
#include "print.h"

#include <stdio.h>
#include <string.h>

static const struct span_name {
	const char *name;
	enum instant to;
	bool after_stop; /* not applicable to a job that was never stopped */
} times[] = {
	{"detect", AT_DETECTED, false},  {"blame", AT_BLAMED, false},
	{"resume", AT_RESUMED, true},	 {"catch_up", AT_CAUGHT_UP, true},
	{"steady", AT_STEADY, false},
};

static const struct {
	const char *name;
	enum instant to;
} phases[] = {
	{"detect", AT_DETECTED},   {"blame", AT_BLAMED},
	{"stop", AT_STOPPED},	   {"allocate", AT_ALLOCATED},
	{"start", AT_RESTARTED},   {"connect", AT_CONNECTED},
	{"restore", AT_RESTORED},  {"first_step", AT_RESUMED},
	{"redo", AT_CAUGHT_UP},	   {"settle", AT_STEADY},
};

static bool has(const struct incident *i, enum instant what)
{
	return !isnan(i->at[what].t);
}

static bool stopped(const struct incident *i)
{
	return i->stop_gen >= 0 || i->never_stopped;
}

static json_t *print_instants(const struct incident *i)
{
	json_t *o = json_object(), *w;
	int a;

	for (a = 0; a < NINSTANTS; a++) {
		if (!has(i, a))
			continue;
		w = json_object();
		put_number(w, "t_s", i->at[a].t);
		put_string(w, "host", i->at[a].host);
		put_number(w, "uncertainty_s", i->at[a].u);
		json_object_set_new(o, drill_instant_names[a], w);
	}
	return o;
}

static void put_time_to(json_t *o, const char *name, const char *suffix,
			json_t *value)
{
	char key[64];

	snprintf(key, sizeof(key), "time_to_%s_%s", name, suffix);
	json_object_set_new(o, key, value);
}

static void put_time(json_t *o, const struct incident *i,
		     const struct span_name *s)
{
	const struct when *from = &i->at[AT_EFFECTIVE], *to = &i->at[s->to];
	struct interval v = drill_interval(from, to);

	if (!has(i, s->to)) {
		put_time_to(o, s->name, "s", json_null());
		put_time_to(o, s->name, "why", json_string(s->after_stop && !stopped(i)
					      ? "not_applicable" : "never"));
		return;
	}
	put_time_to(o, s->name, "s", print_number(v.v));
	put_time_to(o, s->name, "u_s", print_number(v.u));
	put_time_to(o, s->name, "lo_s", print_number(v.lo));
	put_time_to(o, s->name, "hi_s", print_number(v.hi));
	if (s->to == AT_DETECTED)
		put_string(o, "detect_order", v.order == ORDER_SURE
						      ? "sure" : "undecidable");
}

/* What nobody noticed lasted at least this long. */
static void put_lower(json_t *o, const struct trial *t, const struct incident *i)
{
	double until = t->j1;

	if (has(i, AT_DETECTED))
		return;
	if (has(i, AT_STOPPED))
		until = i->at[AT_STOPPED].t;
	else if (has(i, AT_REVERTED))
		until = i->at[AT_REVERTED].t;
	put_number(o, "time_to_detect_lower_s",
		   fmax(0, until - i->at[AT_EFFECTIVE].t));
}

/* An instant that is missing, or not later than the ones before it, adds
 * nothing: so the phases sum to time_to_steady. */
static json_t *print_phases(const struct incident *i)
{
	double at = i->at[AT_EFFECTIVE].t;
	json_t *o = json_object();
	size_t k;

	for (k = 0; k < sizeof(phases) / sizeof(*phases); k++) {
		double to = i->at[phases[k].to].t;

		put_number(o, phases[k].name, isnan(to) ? NAN : fmax(0, to - at));
		at = fmax(at, to);
	}
	return o;
}

static void put_detections(json_t *o, const struct trial *t,
			   const struct incident *i, int me)
{
	json_t *all = json_array(), *by = json_array(), *near = json_array(), *d;
	const struct mark *first = NULL, *m;

	for (m = t->mark.v; m < t->mark.v + t->mark.n; m++) {
		const char *name = m->blame ? m->blame : m->what;

		if (m->kind != MARK_DETECTED || m->incident != me)
			continue;
		if (first && m->by && m->t - first->t <= first->u + m->u)
			json_array_append_new(near, json_string(m->by));
		d = json_object();
		put_string(d, "by", m->by);
		put_number(d, "t_s", m->t);
		put_string(d, "blame", name);
		put_string(d, "level", drill_blame_level(t, i, name));
		put_bool(d, "correct", drill_is_right(i, name));
		put_bool(d, "first", !first);
		json_array_append_new(all, d);
		json_array_append_new(by, json_string(m->by ? m->by : "none"));
		first = first ? first : m;
	}
	put_string(o, "detected_by", first ? first->by : NULL);
	json_object_set_new(o, "detected_by_or", near);
	json_object_set_new(o, "detectors", by);
	json_object_set_new(o, "detections", all);
}

static void put_blame(json_t *o, const struct trial *t, const struct incident *i,
		      int me)
{
	const struct mark *m, *first = NULL;
	const char *name = NULL;

	for (m = t->mark.v; !first && m < t->mark.v + t->mark.n; m++)
		if (m->kind == MARK_BLAMED && m->incident == me)
			first = m;
	if (first)
		name = first->blame ? first->blame : first->what;
	put_string(o, "blame", name);
	put_string(o, "blame_level", drill_blame_level(t, i, name));
	json_object_set_new(o, "blame_correct",
			    first ? json_boolean(drill_is_right(i, name))
				  : json_null());
}

static const char *stop_name(const struct trial *t, const struct incident *i)
{
	if (i->never_stopped)
		return "never_stopped";
	if (i->stop_gen < 0)
		return "none";
	return t->gen.v[i->stop_gen].closing == CLOSE_IN_JOB ? "in_job"
							     : "restart";
}

static const char *outcome(const struct trial *t, const struct incident *i)
{
	const char *class = json_string_value(json_object_get(i->request, "class"));

	if (class && !strcmp(class, "corruption") && !has(i, AT_DETECTED))
		return "silent";
	if (stopped(i) && !has(i, AT_RESUMED))
		return t->livelock ? "livelock" : "lost";
	if (!has(i, AT_STEADY))
		return "degraded";
	return stopped(i) ? "recovered" : "tolerated";
}

static json_t *print_reverted(const struct trial *t, const struct incident *i)
{
	const char *state = NULL;
	size_t k;

	for (k = 0; k < t->mark.n; k++)
		if (t->mark.v[k].kind == MARK_REVERTED &&
		    t->mark.v[k].t == i->at[AT_REVERTED].t &&
		    !strcmp(t->mark.v[k].fault, i->fault))
			state = json_string_value(
				json_object_get(t->mark.v[k].event, "state"));
	if (state && !strcmp(state, "irreversible"))
		return json_string(state);
	return json_boolean(has(i, AT_REVERTED) &&
			    !(state && !strcmp(state, "dirty")));
}

/* Several targets are shown as one text. */
static json_t *print_target(const struct incident *i)
{
	json_t *text = json_null(), *longer, *v;
	size_t k;

	json_array_foreach(i->targets, k, v) {
		if (!k) {
			text = json_copy(v);
			continue;
		}
		longer = json_sprintf("%s, %s", json_string_value(text),
				      json_string_value(v));
		json_decref(text);
		text = longer;
	}
	return text;
}

static void put_about(json_t *o, const struct trial *t, const struct incident *i)
{
	static const char *const about[] = {"injector", "class", "fidelity"};
	size_t k;

	put_string(o, "fault", i->fault);
	for (k = 0; k < sizeof(about) / sizeof(*about); k++)
		put_string(o, about[k], json_string_value(json_object_get(
						i->request, about[k])));
	json_object_set_new(o, "target", print_target(i));
	put_bool(o, "natural",
		 i->natural ||
			 json_is_true(json_object_get(i->request, "natural")));
	put_string(o, "outcome", outcome(t, i));
	put_count(o, "occurrences", i->effects.n);
}

static void put_lost(json_t *o, const struct measure *m, const struct trial *t,
		     const struct incident *i)
{
	double lost = t->has_paid ? i->lost : NAN;

	put_number(o, "lost_compute_rank_s", lost);
	put_number(o, "lost_alone_rank_s", t->has_paid ? i->lost_alone : NAN);
	put_number(o, "lost_any_rank_s", t->has_paid ? i->lost_any : NAN);
	put_bool(o, "shared", i->lost_any - i->lost_alone > 0.1 * i->lost);
	json_object_set_new(o, "below_noise",
			    fabs(i->lost) < m->noise_floor
				    ? print_number(m->noise_floor)
				    : json_null());
	json_object_set_new(o, "cost", drill_cost_print(m, t, lost, i->by_cat));
	json_object_set_new(o, "made_of",
			    drill_cats_print(i->by_cat, t->has_paid));
}

json_t *drill_incident_print(const struct measure *m, const struct trial *t,
			     int incident)
{
	const struct incident *i = &t->incident.v[incident];
	json_t *o = json_object();
	size_t k;

	put_about(o, t, i);
	json_object_set_new(o, "instants", print_instants(i));
	put_string(o, "stop", stop_name(t, i));
	put_detections(o, t, i, incident);
	put_blame(o, t, i, incident);
	for (k = 0; k < sizeof(times) / sizeof(*times); k++)
		put_time(o, i, &times[k]);
	put_lower(o, t, i);
	json_object_set_new(o, "phases", print_phases(i));
	put_lost(o, m, t, i);
	json_object_set_new(o, "reverted", print_reverted(t, i));
	return o;
}
