/* spec.c - reads a scenario object and says what is wrong with it
 * SPDX-License-Identifier: MIT
 */
#include "spec.h"

#include "harness/core/unit.h"
#include "injectors/device/cuda_calls.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAMES_MAX 64

static const char *const role_names[] = { "baseline", "null", "fault", NULL };

const char *drill_role_name(enum drill_role r)
{
	return role_names[r];
}

/* -EINVAL, with the word to look for. */
static int wrong(struct drill_err *err, char culprit[64], const char *word,
		 const char *fmt, ...) __attribute__((format(printf, 4, 5)));

static int wrong(struct drill_err *err, char culprit[64], const char *word,
		 const char *fmt, ...)
{
	char text[400];
	va_list ap;

	snprintf(culprit, 64, "%s", word ? word : "");
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return drill_err_set(err, -EINVAL, NULL, "%s", text);
}

static const char *did_you_mean(const char *name, const char *const *names,
				char *buf, size_t size)
{
	const char *near = drill_nearest(name, names);

	buf[0] = '\0';
	if (near)
		snprintf(buf, size, " (did you mean '%s'?)", near);
	return buf;
}

int drill_spec_fault_index(const struct drill_spec *spec, const char *name)
{
	int i;

	for (i = 0; i < spec->n_faults; i++)
		if (strcmp(spec->faults[i].name, name) == 0)
			return i;
	return -1;
}

/* A trigger at a call needs the proxy of whoever calls. */
static const char *trigger_needs(json_t *fault)
{
	json_t *at = json_object_get(fault, "at");
	const char *on = json_string_value(json_object_get(at, "on"));

	return json_object_get(at, "where") ? "hook:mpi"
	       : on && strcmp(on, "call") == 0 ? "hook:cuda"
					       : "";
}

static bool fault_needs(const struct drill_spec_fault *f, const char *what)
{
	return drill_injector_needs(f->injector, what) ||
	       strcmp(trigger_needs(f->json), what) == 0;
}

bool drill_spec_needs(const struct drill_spec *spec, const char *what)
{
	int i;

	for (i = 0; i < spec->n_faults; i++)
		if (fault_needs(&spec->faults[i], what))
			return true;
	return false;
}

static bool is_name(const char *s)
{
	const char *p;

	for (p = s; *p; p++)
		if (!(*p == '_' || (*p >= '0' && *p <= '9' && p > s) ||
		      (*p >= 'a' && *p <= 'z')))
			return false;
	return p > s && p - s < 32;
}

/* ---- workloads and faults ---- */

static int read_workloads(struct drill_spec *spec, char culprit[64],
			  struct drill_err *err)
{
	json_t *all = json_object_get(spec->json, "workloads"), *w;
	const char *want, *name;

	want = json_string_value(json_object_get(spec->json, "measure"));
	if (json_object_size(all) == 0)
		return wrong(err, culprit, "workloads", "no workload: write "
			     "workloads = { job = workload.train { ... } }");
	if (json_object_size(all) > 1)
		return wrong(err, culprit, "workloads", "not yet: a second "
			     "workload beside the job under test");
	json_object_foreach(all, name, w) {
		if (!is_name(name))
			return wrong(err, culprit, name, "'%s' is no name for "
				     "a workload: lower-case letters", name);
		spec->job = name;
		spec->workload = w;
	}
	if (want && strcmp(want, spec->job) != 0)
		return wrong(err, culprit, want, "measure: no workload '%s'",
			     want);
	return 0;
}

static int read_fault(struct drill_spec *spec, const char *name, json_t *f,
		      char culprit[64], struct drill_err *err)
{
	struct drill_spec_fault *out = &spec->faults[spec->n_faults];
	struct drill_err why = { 0 };
	const char *call;

	if (!is_name(name) || strcmp(name, spec->job) == 0)
		return wrong(err, culprit, name, "'%s' is no name for a fault: "
			     "lower-case letters, and not a workload's", name);
	out->name = name;
	out->json = f;
	out->line = (int)json_integer_value(json_object_get(f, "line"));
	out->injector = drill_injector_find(
		json_string_value(json_object_get(f, "injector")), err);
	if (!out->injector)
		return -EINVAL;
	json_object_set_new(f, "name", json_string(name));
	spec->n_faults++;
	call = json_string_value(json_object_get(json_object_get(f, "at"),
						 "call"));
	if (call && drill_cuda_call(call, &why) < 0)
		return wrong(err, culprit, call, "%s: %s", name, why.msg);
	return 0;
}

static int read_faults(struct drill_spec *spec, char culprit[64],
		       struct drill_err *err)
{
	json_t *all = json_object_get(spec->json, "faults"), *f;
	size_t n = json_object_size(all);
	const char *name;
	int rc = 0;

	if (n >= NAMES_MAX)
		return wrong(err, culprit, "faults", "more than %d faults",
			     NAMES_MAX - 1);
	spec->faults = calloc(n + 1, sizeof(*spec->faults));
	if (!spec->faults)
		return drill_err_set(err, -ENOMEM, NULL, "no memory");
	json_object_foreach(all, name, f)
		if (rc == 0)
			rc = read_fault(spec, name, f, culprit, err);
	return rc;
}

/* The names a reference may have: faults, then the job. */
static void subjects(const struct drill_spec *spec, const char **names)
{
	int i;

	for (i = 0; i < spec->n_faults; i++)
		names[i] = spec->faults[i].name;
	names[i++] = spec->job;
	names[i] = NULL;
}

const char *drill_spec_nearest(const struct drill_spec *spec, const char *name,
			       bool job_too, char *buf, size_t size)
{
	const char *names[NAMES_MAX + 2];

	subjects(spec, names);
	if (!job_too)
		names[spec->n_faults] = NULL;
	return did_you_mean(name, names, buf, size);
}

/* "lost.restarted" or "lost": does the part before the dot exist? */
static int check_reference(const struct drill_spec *spec, const char *what,
			   char culprit[64], struct drill_err *err)
{
	const char *names[NAMES_MAX + 2];
	char subject[64], hint[80];
	int i;

	snprintf(subject, sizeof(subject), "%.*s", (int)strcspn(what, ".["),
		 what);
	subjects(spec, names);
	for (i = 0; names[i]; i++)
		if (strcmp(names[i], subject) == 0)
			return 0;
	return wrong(err, culprit, what, "'%s': no fault or workload '%s'%s",
		     what, subject,
		     did_you_mean(subject, names, hint, sizeof(hint)));
}

/* "lost", or "lost.restarted". */
static int check_place(const struct drill_spec *spec, const char *what,
		       char culprit[64], struct drill_err *err)
{
	struct drill_err why = { 0 };
	const char *name;
	int fault;

	if (!what || !strchr(what, '.'))
		return what ? check_reference(spec, what, culprit, err) : 0;
	if (drill_instant_check(spec, what, &fault, &name, &why) < 0)
		return wrong(err, culprit, what, "%s", why.msg);
	return 0;
}

static int check_fault_references(struct drill_spec *spec, char culprit[64],
				  struct drill_err *err)
{
	int i, rc = 0;

	for (i = 0; i < spec->n_faults && rc == 0; i++) {
		json_t *f = spec->faults[i].json;
		json_t *at = json_object_get(f, "at"),
		       *lasts = json_object_get(f, "duration"),
		       *pick = json_object_get(json_object_get(f, "target"),
					       "pick");
		json_t *const refs[] = { json_object_get(at, "of"),
					 json_object_get(lasts, "until"),
					 json_object_get(pick, "of") };
		int k;

		for (k = 0; k < 3 && rc == 0; k++)
			rc = check_place(spec, json_string_value(refs[k]),
					 culprit, err);
	}
	return rc;
}

/* ---- expectations ---- */

static int find_metric(struct drill_expect *e,
		       char culprit[64], struct drill_err *err)
{
	enum drill_metric_of of = e->fault >= 0 ? DRILL_OF_FAULT
						: DRILL_OF_WORKLOAD;
	const char *name = strrchr(e->text, '.');
	const char *names[128];
	const struct drill_metric *m;
	char hint[80];
	int n = 0;

	name = name ? name + 1 : "";
	e->metric = drill_metric_find(name, of);
	if (e->metric)
		return 0;
	for (m = drill_metrics(); m->name; m++)
		if (m->of == of && n < 127)
			names[n++] = m->name;
	names[n] = NULL;
	return wrong(err, culprit, e->text, "%s: no metric '%s' of a %s%s",
		     e->text, name, of == DRILL_OF_FAULT ? "fault" : "workload",
		     did_you_mean(name, names, hint, sizeof(hint)));
}

static int check_supply(const struct drill_spec *spec, struct drill_expect *e,
			char culprit[64], struct drill_err *err)
{
	unsigned int has = drill_workload_supplies(spec->workload);
	const struct drill_injector *inj;
	json_t *args;

	if (e->metric->supplies & ~has)
		return wrong(err, culprit, e->text,
			     "%s: this workload cannot supply it (needs %s)",
			     e->text, drill_metric_supplier(e->metric));
	if (e->fault < 0)
		return 0;
	inj = spec->faults[e->fault].injector;
	args = json_object_get(spec->faults[e->fault].json, "args");
	if (e->metric->recovery &&
	    (drill_injector_fidelity(inj, args) == DRILL_FIDELITY_TELEMETRY ||
	     drill_injector_class(inj, args) == DRILL_CLASS_FALSE_ALARM))
		return wrong(err, culprit, e->text,
			     "%s: %s acts on telemetry only, so it can show an "
			     "alarm, not a recovery", e->text, inj->name);
	return 0;
}

static int read_subject(const struct drill_spec *spec, struct drill_expect *e,
			char culprit[64], struct drill_err *err)
{
	char subject[64];
	const char *p = e->text + strcspn(e->text, ".[");
	int rc = check_reference(spec, e->text, culprit, err);

	if (rc < 0)
		return rc;
	snprintf(subject, sizeof(subject), "%.*s", (int)(p - e->text), e->text);
	e->fault = drill_spec_fault_index(spec, subject);
	if (*p == '[') {
		char *end;

		e->nth = (int)strtol(p + 1, &end, 10);
		if (e->fault < 0 || e->nth < 1 || strncmp(end, "].", 2) != 0)
			return wrong(err, culprit, e->text, "%s: write "
				     "\"fault[2].metric\"", e->text);
		p = end + 1;
	}
	return *p == '.' ? 0
			 : wrong(err, culprit, e->text,
				 "%s: no metric: write \"%s.time_to_detect\", "
				 "say", e->text, subject);
}

int drill_expect_read(const struct drill_spec *spec, json_t *triple,
		      struct drill_expect *e, char culprit[64],
		      struct drill_err *err)
{
	static const char *const stats[] = { "p50", "p90", "mean", "rate",
					     NULL };
	const char *op = json_string_value(json_array_get(triple, 1));
	struct drill_err why = { 0 };
	char hint[80];
	int rc, i;

	memset(e, 0, sizeof(*e));
	e->triple = triple;
	e->text = json_string_value(json_array_get(triple, 0));
	e->stat = json_string_value(json_array_get(triple, 3));
	if (!e->text || !op || json_array_size(triple) < 3 ||
	    json_array_size(triple) > 4)
		return wrong(err, culprit, e->text ? e->text : "expect",
			     "an expectation is { metric, op, limit }, as in "
			     "{ \"lost.time_to_detect\", \"<\", \"5s\" }");
	rc = read_subject(spec, e, culprit, err);
	if (rc == 0)
		rc = find_metric(e, culprit, err);
	if (rc == 0)
		rc = check_supply(spec, e, culprit, err);
	if (rc < 0)
		return rc;
	if (drill_limit_read(e->metric, op, json_array_get(triple, 2),
			     &e->limit, &why) < 0)
		return wrong(err, culprit, e->text, "%s: %s", e->text, why.msg);
	if (e->limit.timeout[0] &&
	    drill_workload_timeout_ns(spec->workload, e->limit.timeout) < 0)
		return wrong(err, culprit, e->text, "%s: the job has no "
			     "time-out '%s' (watchdog, heartbeat)", e->text,
			     e->limit.timeout);
	for (i = 0; e->stat && stats[i] && strcmp(stats[i], e->stat) != 0; i++)
		;
	if (e->stat && !stats[i])
		return wrong(err, culprit, e->stat, "%s: no statistic '%s'%s",
			     e->text, e->stat,
			     did_you_mean(e->stat, stats, hint, sizeof(hint)));
	return 0;
}

static int read_list(struct drill_spec *spec, const char *field,
		     struct drill_expect_list *list, char culprit[64],
		     struct drill_err *err)
{
	json_t *all = json_object_get(spec->json, field), *t;
	size_t i;
	int rc = 0;

	if (all && !json_is_array(all) && json_object_size(all))
		return wrong(err, culprit, field, "%s: a list of "
			     "{ metric, op, limit } is wanted", field);
	list->v = calloc(json_array_size(all) + 1, sizeof(*list->v));
	if (!list->v)
		return drill_err_set(err, -ENOMEM, NULL, "no memory");
	json_array_foreach(all, i, t) {
		if (rc == 0)
			rc = drill_expect_read(spec, t, &list->v[list->n++],
					       culprit, err);
	}
	return rc;
}

/* ---- the rest ---- */

static int read_trials(struct drill_spec *spec, char culprit[64],
		       struct drill_err *err)
{
	json_t *t = json_object_get(spec->json, "trials"), *v;
	const char *key;
	char hint[80];
	int i;

	spec->trials[DRILL_BASELINE] = 1;
	spec->trials[DRILL_NULL] = spec->n_faults > 0;
	spec->trials[DRILL_FAULT_TRIAL] = spec->n_faults > 0;
	if (json_is_integer(t)) {
		spec->trials[DRILL_FAULT_TRIAL] = (int)json_integer_value(t);
		t = NULL;
	}
	json_object_foreach(t, key, v) {
		for (i = 0; i < DRILL_ROLES && strcmp(role_names[i], key); i++)
			;
		if (i == DRILL_ROLES)
			return wrong(err, culprit, key, "trials: no role '%s'%s",
				     key, did_you_mean(key, role_names, hint,
						       sizeof(hint)));
		if (!json_is_integer(v) || json_integer_value(v) < 0 ||
		    json_integer_value(v) > 10000)
			return wrong(err, culprit, key, "trials: %s: a whole "
				     "number from 0 to 10000", key);
		spec->trials[i] = (int)json_integer_value(v);
	}
	return 0;
}

static int read_risk(struct drill_spec *spec, char culprit[64],
		     struct drill_err *err)
{
	const char *word = json_string_value(json_object_get(spec->json,
							     "risk"));
	const char *names[] = { "none", "contained", "disruptive",
				"destructive", NULL };
	char hint[80];
	int i, worst = 0;

	for (i = 0; i < spec->n_faults; i++)
		if ((int)spec->faults[i].injector->risk > worst)
			worst = (int)spec->faults[i].injector->risk;
	if (!json_object_get(spec->json, "risk"))
		return 0;
	for (i = 0; names[i] && (!word || strcmp(names[i], word) != 0); i++)
		;
	if (!names[i])
		return wrong(err, culprit, "risk", "risk: no '%s'%s",
			     word ? word : "?",
			     did_you_mean(word ? word : "", names, hint,
					  sizeof(hint)));
	spec->has_risk = true;
	spec->risk = (enum drill_risk)i;
	if (worst > i)
		return wrong(err, culprit, "risk", "risk: the scenario says "
			     "'%s' but its faults are '%s'", word,
			     names[worst]);
	return 0;
}

static int read_needs(struct drill_spec *spec, char culprit[64],
		      struct drill_err *err)
{
	static const char *const known[] = { "hosts", "spares", "devices",
					     NULL };
	json_t *needs = json_object_get(spec->json, "needs"), *v;
	const char *key, *s;
	char hint[80];
	int i;

	json_object_foreach(needs, key, v) {
		struct drill_need *n = &spec->needs[spec->n_needs];

		for (i = 0; known[i] && strcmp(known[i], key) != 0; i++)
			;
		s = json_string_value(v);
		if (!known[i])
			return wrong(err, culprit, key, "needs: no '%s'%s", key,
				     did_you_mean(key, known, hint,
						  sizeof(hint)));
		if (!s || strncmp(s, ">=", 2) != 0 || atoi(s + 2) < 1)
			return wrong(err, culprit, key, "needs: %s: write "
				     "\">=4\", say", key);
		snprintf(n->what, sizeof(n->what), "%s", key);
		n->least = atoi(s + 2);
		spec->n_needs++;
	}
	return 0;
}

/* An empty list of Lua comes as an object. */
static bool is_tags(json_t *tags)
{
	json_t *v;
	size_t i;

	json_array_foreach(tags, i, v)
		if (!json_is_string(v))
			return false;
	return !tags || json_is_string(tags) || json_is_array(tags) ||
	       (json_is_object(tags) && json_object_size(tags) == 0);
}

static int read_scalars(struct drill_spec *spec, char culprit[64],
			struct drill_err *err)
{
	json_t *name = json_object_get(spec->json, "name");
	json_t *seed = json_object_get(spec->json, "seed");
	json_t *deadline = json_object_get(spec->json, "deadline");
	struct drill_err why = { 0 };

	spec->name = json_string_value(name);
	spec->file = json_string_value(json_object_get(spec->json, "file"));
	spec->file = spec->file ? spec->file : "?";
	if (!spec->name || !spec->name[0] || strlen(spec->name) > 200)
		return wrong(err, culprit, "name", "name: a text of 1 to 200 "
			     "characters is wanted");
	if (seed && (!json_is_integer(seed) || json_integer_value(seed) < 0))
		return wrong(err, culprit, "seed", "seed: a whole number from "
			     "0 on is wanted");
	spec->has_seed = seed != NULL;
	spec->seed = (uint64_t)json_integer_value(seed);
	spec->deadline_ns = 600000000000;
	if (json_is_number(deadline))
		return wrong(err, culprit, "deadline", "deadline: a bare "
			     "number is no duration: write \"3min\", say");
	if (deadline &&
	    drill_unit_parse(json_string_value(deadline) ?: "",
			     DRILL_UNIT_DURATION, &spec->deadline_ns, &why) < 0)
		return wrong(err, culprit, "deadline", "deadline: %s", why.msg);
	if (spec->deadline_ns <= 0)
		return wrong(err, culprit, "deadline", "deadline: above 0");
	if (!is_tags(json_object_get(spec->json, "tags")))
		return wrong(err, culprit, "tags", "tags: a text or a list of "
			     "texts is wanted");
	spec->has_run = json_is_true(json_object_get(spec->json, "run"));
	spec->run_starts =
		json_is_true(json_object_get(spec->json, "run_starts"));
	spec->lab = json_object_get(spec->json, "lab");
	return 0;
}

int drill_spec_read(json_t *scenario, struct drill_spec *spec,
		    char culprit[64], struct drill_err *err)
{
	int rc;

	memset(spec, 0, sizeof(*spec));
	culprit[0] = '\0';
	spec->json = json_incref(scenario);
	rc = read_scalars(spec, culprit, err);
	if (rc == 0)
		rc = read_workloads(spec, culprit, err);
	if (rc == 0)
		rc = read_faults(spec, culprit, err);
	if (rc == 0)
		rc = check_fault_references(spec, culprit, err);
	if (rc == 0)
		rc = read_trials(spec, culprit, err);
	if (rc == 0)
		rc = read_risk(spec, culprit, err);
	if (rc == 0)
		rc = read_needs(spec, culprit, err);
	if (rc == 0)
		rc = read_list(spec, "expect", &spec->expect, culprit, err);
	if (rc == 0)
		rc = read_list(spec, "always", &spec->always, culprit, err);
	if (rc == 0)
		rc = read_list(spec, "abort", &spec->abort, culprit, err);
	return rc;
}

static void list_done(struct drill_expect_list *list)
{
	int i;

	for (i = 0; i < list->n; i++)
		drill_limit_done(&list->v[i].limit);
	free(list->v);
}

void drill_spec_done(struct drill_spec *spec)
{
	list_done(&spec->expect);
	list_done(&spec->always);
	list_done(&spec->abort);
	free(spec->faults);
	json_decref(spec->json);
	memset(spec, 0, sizeof(*spec));
}
