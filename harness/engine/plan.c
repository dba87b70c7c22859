/* plan.c - makes the plan of a drill: everything drawn, priced and allowed
 * SPDX-License-Identifier: MIT
 */
#include "plan.h"
#include "target.h"

#include "harness/core/unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WARM_UP_STEPS 4 /* harness/measure/baseline.c leaves out three */

struct drill_lab_host *drill_plan_hosts(const struct drill_lab_spec *lab,
					int *ret_n)
{
	int i, n = lab->hosts + lab->spares;
	struct drill_lab_host *h = calloc((size_t)n + 1, sizeof(*h));

	for (i = 0; h && i < n; i++) {
		snprintf(h[i].name, sizeof(h[i].name), "h%d", i);
		h[i].spare = i >= lab->hosts;
	}
	*ret_n = h ? n : 0;
	return h;
}

static json_int_t ranks_per_host(const struct drill_spec *spec, int hosts)
{
	int ranks = drill_workload_ranks(spec->workload);
	json_int_t ppn = json_integer_value(json_object_get(spec->workload,
							    "ppn"));

	return ppn > 0 || !hosts ? ppn : (ranks + hosts - 1) / hosts;
}

int drill_plan_devices(const struct drill_spec *spec,
		       const struct drill_lab_spec *lab)
{
	json_int_t ppn = ranks_per_host(spec, lab->hosts);

	return lab->devices ? lab->devices : ppn > 0 ? (int)ppn : 1;
}

int drill_plan_used_devices(const struct drill_spec *spec,
			    const struct drill_lab_spec *lab)
{
	int devices = drill_plan_devices(spec, lab);
	json_int_t ppn = ranks_per_host(spec, lab->hosts);

	return ppn > 0 && ppn < devices ? (int)ppn : devices;
}

static void place_ranks(struct drill_plan_made *p,
			const struct drill_lab_host *hosts, int n_hosts)
{
	int ranks = drill_workload_ranks(p->spec->workload), r, h, used = 0;
	json_int_t ppn;

	for (h = 0; h < n_hosts; h++)
		used += !hosts[h].spare;
	ppn = ranks_per_host(p->spec, used);
	for (r = 0; r < ranks; r++) {
		h = ppn > 0 ? (int)(r / ppn) : 0;
		json_array_append_new(p->where,
				      h < used ? json_string(hosts[h].name)
					       : json_null());
	}
	if (ppn * used < ranks) {
		snprintf(p->skip_text, sizeof(p->skip_text),
			 "%d ranks do not fit on %d hosts", ranks, used);
		p->skip = p->skip_text;
	}
}

static void check_needs(struct drill_plan_made *p,
			const struct drill_lab_spec *lab)
{
	int i, have;

	for (i = 0; i < p->spec->n_needs && !p->skip; i++) {
		const struct drill_need *n = &p->spec->needs[i];

		have = strcmp(n->what, "hosts") == 0	? lab->hosts
		       : strcmp(n->what, "spares") == 0 ? lab->spares
							: lab->devices;
		if (have >= n->least)
			continue;
		snprintf(p->skip_text, sizeof(p->skip_text),
			 "needs %d %s, this lab has %d", n->least, n->what,
			 have);
		p->skip = p->skip_text;
	}
}

/* ---- triggers ---- */

static void note_draw(struct drill_plan_made *p, const char *fault,
		      const char *what, json_t *value)
{
	json_array_append_new(p->draws,
			      json_pack("{s:s s:s s:O}", "stream", fault,
					"what", what, "value", value));
}

/* at.every with a probability: one draw a point, made here and recorded. */
static json_t *draw_every(struct drill_plan_made *p, const char *name,
			  json_t *at)
{
	json_int_t from, to, step, k;
	double share = (double)json_integer_value(
			       json_object_get(at, "probability_ppm")) / 1e6;
	json_t *out = json_copy(at), *draws = json_array();
	struct drill_stream s;
	char stream[80];

	from = json_integer_value(json_object_get(at, "from"));
	to = json_integer_value(json_object_get(at, "to"));
	step = json_integer_value(json_object_get(at, "steps"));
	snprintf(stream, sizeof(stream), "every %s", name);
	drill_stream_init(&s, p->seed, stream);
	json_object_del(out, "probability_ppm");
	for (k = from; k <= to; k += step)
		json_array_append_new(draws, json_boolean(
					      drill_stream_unit(&s) < share));
	if (share < 1) {
		json_object_set(out, "draws", draws);
		note_draw(p, name, "every", draws);
	}
	json_decref(draws);
	return out;
}

static int per_count(const struct drill_plan_made *p, json_t *at, int hosts,
		     int devices)
{
	const char *per = json_string_value(json_object_get(at, "per"));

	if (strcmp(per, "rank") == 0)
		return drill_workload_ranks(p->spec->workload);
	if (strcmp(per, "host") == 0)
		return hosts;
	return strcmp(per, "device") == 0 ? hosts * (devices ? devices : 1) : 1;
}

/* at.poisson: gaps enough for the deadline, drawn here and recorded. */
static json_t *draw_poisson(struct drill_plan_made *p, const char *name,
			    json_t *at, const struct drill_lab_spec *lab)
{
	double mean, sum = 0, gap;
	json_t *gaps = json_array();
	struct drill_stream s;
	char stream[80];

	mean = (double)json_integer_value(json_object_get(at, "mtbf_ns")) /
	       per_count(p, at, lab->hosts, lab->devices);
	snprintf(stream, sizeof(stream), "poisson %s", name);
	drill_stream_init(&s, p->seed, stream);
	while (sum < (double)p->spec->deadline_ns &&
	       json_array_size(gaps) < 1000) {
		gap = drill_stream_exponential(&s, mean);
		sum += gap;
		json_array_append_new(gaps, json_integer((json_int_t)gap));
	}
	note_draw(p, name, "gaps_ns", gaps);
	return json_pack("{s:s s:o}", "on", "poisson", "gaps_ns", gaps);
}

/* What acts in a call is armed where its rank comes to that call: held at the
 * step's begin, it would never get there to show the effect. */
static json_t *at_the_call(const struct drill_planned_fault *f, json_t *at)
{
	json_t *op = json_object_get(json_object_get(f->spec->json, "args"),
				     "op");
	json_t *out = json_copy(at);

	json_object_set_new(out, "where", json_string("before"));
	json_object_set_new(out, "nth", json_integer(1));
	json_object_set_new(out, "collective", op ? json_incref(op)
						  : json_string("allreduce"));
	return out;
}

/* When the workload is steady: after the warm-up, or by hand in a story. */
static json_t *default_at(const struct drill_plan_made *p)
{
	unsigned int has = drill_workload_supplies(p->spec->workload);

	if (p->spec->has_run)
		return json_pack("{s:s}", "on", "manual");
	if (has & DRILL_SUPPLIES_STEPS)
		return json_pack("{s:s s:[i]}", "on", "step", "steps",
				 WARM_UP_STEPS + 1);
	return json_pack("{s:s s:I}", "on", "time", "ns",
			 (json_int_t)5000000000);
}

/* Instants that an event names are seen by agents at once. */
static bool agents_see(const char *of)
{
	static const char *const seen[] = { "requested", "issued", "effective",
					    "reverted", "detected", "blamed" };
	const char *dot = strchr(of, '.');
	size_t i;

	for (i = 0; i < sizeof(seen) / sizeof(seen[0]); i++)
		if (dot && strcmp(dot + 1, seen[i]) == 0)
			return true;
	return false;
}

static json_t *make_after(struct drill_planned_fault *f, json_t *at)
{
	const char *of = json_string_value(json_object_get(at, "of"));

	if (agents_see(of))
		return json_incref(at);
	f->after = of;
	f->after_ns = json_integer_value(json_object_get(at, "delay_ns"));
	return json_pack("{s:s}", "on", "manual");
}

static json_t *make_at(struct drill_plan_made *p, struct drill_planned_fault *f,
		       const struct drill_lab_spec *lab)
{
	json_t *at = json_object_get(f->spec->json, "at");
	const char *on = json_string_value(json_object_get(at, "on"));

	if (!on)
		return default_at(p);
	if (strcmp(on, "every") == 0)
		return draw_every(p, f->spec->name, at);
	if (strcmp(on, "poisson") == 0)
		return draw_poisson(p, f->spec->name, at, lab);
	if (strcmp(on, "after") == 0)
		return make_after(f, at);
	return json_incref(at);
}

static void make_duration(struct drill_planned_fault *f)
{
	json_t *d = json_object_get(f->spec->json, "duration");

	f->lasts = DRILL_LASTS_TRIAL;
	if (json_is_integer(d))
		f->lasts = DRILL_LASTS_TIME;
	f->steps = json_integer_value(json_object_get(d, "steps"));
	f->until = json_string_value(json_object_get(d, "until"));
	if (f->steps)
		f->lasts = DRILL_LASTS_STEPS;
	if (f->until)
		f->lasts = DRILL_LASTS_UNTIL;
	json_object_set_new(f->fault, "duration_ns",
			    f->lasts == DRILL_LASTS_TIME ? json_incref(d)
							 : json_null());
}

/* A story that fires by hand does not run in a null trial: the fault comes when
 * the workload is steady. */
static json_t *null_twin(json_t *fault)
{
	json_t *out = json_deep_copy(fault), *at;

	json_object_set_new(out, "injector", json_string("null.noop"));
	json_object_set_new(out, "args", json_object());
	at = json_object_get(out, "at");
	if (strcmp(json_string_value(json_object_get(at, "on")), "manual") == 0)
		json_object_set_new(out, "at",
				    json_pack("{s:s s:[i]}", "on", "step",
					      "steps", WARM_UP_STEPS + 1));
	return out;
}

static int make_fault(struct drill_plan_made *p, int i,
		      const struct drill_lab_spec *lab,
		      const struct drill_lab_host *hosts, int n_hosts,
		      struct drill_err *err)
{
	struct drill_planned_fault *f = &p->faults[i];
	json_t *from = f->spec->json, *at, *v;
	int rc;

	f->fault = json_pack("{s:s s:s s:O}", "name", f->spec->name, "injector",
			     f->spec->injector->name, "args",
			     json_object_get(from, "args"));
	rc = drill_target_resolve(p, i, lab, hosts, n_hosts, err);
	if (rc < 0)
		return rc;
	at = make_at(p, f, lab);
	if (drill_injector_needs(f->spec->injector, "hook:mpi") && json_object_get(at, "steps") &&
	    strcmp(json_string_value(json_object_get(at, "on")), "step") == 0 &&
	    !json_object_get(at, "where")) {
		v = at_the_call(f, at);
		json_decref(at);
		at = v;
	}
	json_object_set_new(f->fault, "at", at);
	make_duration(f);
	v = json_object_get(from, "refire");
	json_object_set_new(f->fault, "refire",
			    v ? json_incref(v) : json_string("once"));
	v = json_object_get(from, "follow");
	json_object_set_new(f->fault, "follow",
			    v ? json_incref(v) : json_null());
	f->manual = strcmp(json_string_value(json_object_get(
				   json_object_get(f->fault, "at"), "on")),
			   "manual") == 0 && !f->after;
	f->irreversible = f->spec->injector->survives ==
			  DRILL_SURVIVES_NOTHING;
	if (f->spec->injector->risk > p->risk)
		p->risk = f->spec->injector->risk;
	if (!p->skip)
		f->null = null_twin(f->fault);
	return 0;
}

int drill_plan_make(const struct drill_spec *spec,
		    const struct drill_lab_spec *lab,
		    const struct drill_lab_host *hosts, int n_hosts,
		    uint64_t seed, struct drill_plan_made *p,
		    struct drill_err *err)
{
	int i, rc = 0;

	memset(p, 0, sizeof(*p));
	p->spec = spec;
	p->seed = seed;
	p->draws = json_array();
	p->where = json_array();
	p->faults = calloc((size_t)spec->n_faults + 1, sizeof(*p->faults));
	if (!p->faults)
		return drill_err_set(err, -ENOMEM, NULL, "no memory");
	p->n = spec->n_faults;
	for (i = 0; i < p->n; i++)
		p->faults[i].spec = &spec->faults[i];
	place_ranks(p, hosts, n_hosts);
	check_needs(p, lab);
	for (i = 0; i < p->n && rc == 0; i++)
		rc = make_fault(p, i, lab, hosts, n_hosts, err);
	return rc ? rc
		  : drill_plan_compose(p, drill_plan_devices(spec, lab), err);
}

void drill_plan_made_done(struct drill_plan_made *p)
{
	int i;

	for (i = 0; i < p->n; i++) {
		json_decref(p->faults[i].fault);
		json_decref(p->faults[i].null);
	}
	free(p->faults);
	json_decref(p->draws);
	json_decref(p->where);
	memset(p, 0, sizeof(*p));
}

int drill_plan_allowed(const struct drill_plan_made *p, enum drill_risk allow,
		       struct drill_err *err)
{
	int i;

	for (i = 0; i < p->n; i++) {
		const struct drill_injector *inj = p->faults[i].spec->injector;

		if (inj->risk > allow)
			return drill_err_set(err, -EPERM, NULL,
					     "%s:%d: %s (%s) is %s: --allow %s "
					     "lets it run", p->spec->file,
					     p->faults[i].spec->line,
					     p->faults[i].spec->name, inj->name,
					     drill_risk_name(inj->risk),
					     drill_risk_name(inj->risk));
	}
	return 0;
}

/* ---- as JSON, for people and programs ---- */

static json_t *strings(const char *const *list)
{
	json_t *out = json_array();

	while (list && *list)
		json_array_append_new(out, json_string(*list++));
	return out;
}

static json_t *fault_json(const struct drill_planned_fault *f)
{
	const struct drill_injector *inj = f->spec->injector;
	json_t *out = json_deep_copy(f->fault);
	json_t *args = json_object_get(f->fault, "args");

	json_object_set_new(out, "line", json_integer(f->spec->line));
	json_object_set_new(out, "class",
			    json_string(drill_class_name(
				    drill_injector_class(inj, args))));
	json_object_set_new(out, "fidelity",
			    json_string(drill_fidelity_name(
				    drill_injector_fidelity(inj, args))));
	json_object_set_new(out, "risk",
			    json_string(drill_risk_name(inj->risk)));
	json_object_set_new(out, "survives",
			    json_string(drill_survives_name(inj->survives)));
	json_object_set_new(out, "needs", strings(inj->needs));
	if (f->after)
		json_object_set_new(out, "after", json_string(f->after));
	json_object_set_new(out, "way_back",
			    json_string(f->irreversible
						? "none: the act itself is "
						  "final, the job restarts"
						: "from the journal's record, "
						  "proven by reading back"));
	return out;
}

/* Ranks that stop at once: those hit by what ends or halts a rank. */
static int ranks_hit(const struct drill_plan_made *p)
{
	int ranks = drill_workload_ranks(p->spec->workload), n = 0, i;

	for (i = 0; i < p->n; i++) {
		const struct drill_spec_fault *f = p->faults[i].spec;
		enum drill_class c = drill_injector_class(
			f->injector, json_object_get(f->json, "args"));

		if (c == DRILL_CLASS_FAIL_STOP || c == DRILL_CLASS_HANG)
			n = ranks; /* one rank that halts halts them all */
	}
	return n;
}

static json_t *price(const struct drill_plan_made *p)
{
	int trials = 0, i, ranks = drill_workload_ranks(p->spec->workload);
	double most, about = drill_workload_expected_s(p->spec->workload);
	json_t *out;

	for (i = 0; i < DRILL_ROLES; i++)
		trials += p->spec->trials[i];
	most = (double)p->spec->deadline_ns / 1e9 / 3600 * trials * ranks;
	out = json_pack("{s:i s:i s:f s:i}", "trials", trials, "ranks", ranks,
			"accelerator_hours_at_most", most, "ranks_that_stop",
			ranks_hit(p));
	if (about > 0)
		json_object_set_new(out, "accelerator_hours_expected",
				    json_real(about / 3600 * trials * ranks));
	return out;
}

json_t *drill_plan_json(const struct drill_plan_made *p,
			const struct drill_lab_spec *lab)
{
	json_t *faults = json_array(), *hosts = json_array(), *v;
	size_t k;
	int i;

	for (i = 0; i < p->n; i++) {
		json_t *h = json_object_get(json_object_get(
				p->faults[i].fault, "target"), "hosts");

		json_array_append_new(faults, fault_json(&p->faults[i]));
		json_array_foreach(h, k, v) {
			size_t j;
			json_t *e;
			bool have = false;

			json_array_foreach(hosts, j, e)
				have |= json_equal(e, v);
			if (!have)
				json_array_append(hosts, v);
		}
	}
	return json_pack("{s:s s:s s:I s:s s:{s:s s:i s:i s:i} s:o s:o s:o "
			 "s:O s:{s:i s:i s:i} s:s?}",
			 "scenario", p->spec->name, "file", p->spec->file,
			 "seed", (json_int_t)p->seed, "risk",
			 drill_risk_name(p->risk), "lab", "provider",
			 lab->provider, "hosts", lab->hosts, "spares",
			 lab->spares, "devices", lab->devices, "faults", faults,
			 "hosts_touched", hosts, "price", price(p), "draws",
			 p->draws, "trials", "baseline",
			 p->spec->trials[DRILL_BASELINE], "null",
			 p->spec->trials[DRILL_NULL], "fault",
			 p->spec->trials[DRILL_FAULT_TRIAL], "skip", p->skip);
}
