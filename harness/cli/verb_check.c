/* verb_check.c - faultdrill check, plan: what a scenario is and would do
 * SPDX-License-Identifier: MIT
 */
#include "load.h"

#include "harness/core/jsonx.h"
#include "harness/core/unit.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The plan on the lab that the scenario names, whether or not it is up. */
static enum drill_outcome make(struct drill_loaded *l,
			       struct drill_plan_made *plan)
{
	struct drill_err err = { 0 };
	struct drill_lab_host *hosts;
	int n, rc;

	hosts = drill_plan_hosts(&l->lab, &n);
	rc = drill_plan_make(&l->spec, &l->lab, hosts, n, l->seed, plan, &err);
	free(hosts);
	return rc < 0 ? drill_cli_fail(&err) : DRILL_PASS;
}

/* A step that the job never comes to: perhaps meant, for a fault that must not
 * fire, so it is no error. */
static void warn_steps(const struct drill_loaded *l,
		       const struct drill_plan_made *plan)
{
	int64_t all = drill_workload_steps(l->spec.workload);
	json_int_t first;
	json_t *at;
	int i;

	for (i = 0; i < plan->n && all > 0; i++) {
		at = json_object_get(plan->faults[i].fault, "at");
		first = json_integer_value(json_object_get(at, "from")) ?:
			json_integer_value(json_array_get(
				json_object_get(at, "steps"), 0));
		if (first > all)
			fprintf(stderr, "faultdrill: %s:%d: warning: %s fires "
				"at step %" PRId64 ", but the job has %" PRId64
				"\n", l->spec.file, plan->faults[i].spec->line,
				plan->faults[i].spec->name, (int64_t)first,
				all);
	}
}

/* A detector's name that nobody here has: a job of one's own may, so it is no
 * error. */
static void warn_detector(const struct drill_loaded *l,
			  const struct drill_expect *e, const char *word)
{
	static const char *const known[] = {
		"none",	     "launcher", "watchdog", "heartbeat",   "mpi",
		"framework", "numerics", "checksum", "storage",	    "replica.hash",
		"health.nvml", "health.xid", "user", NULL };
	const char *near = drill_nearest(word, known);
	int i;

	for (i = 0; known[i] && strcmp(known[i], word) != 0; i++)
		;
	if (known[i])
		return;
	if (strcmp(word, "health") == 0)
		near = "health.nvml";
	if (json_object_get(json_object_get(l->spec.json, "detectors"), word))
		near = "user"; /* all marks are a person's */
	fprintf(stderr, "faultdrill: %s: warning: %s: no detector is called "
		"'%s'%s%s%s, unless the job itself says so\n", l->spec.file,
		e->text, word, near ? " (did you mean '" : "", near ? near : "",
		near ? "'?)" : "");
}

static void warn_detectors(const struct drill_loaded *l)
{
	const struct drill_expect *e = l->spec.expect.v;
	json_t *word;
	size_t k;
	int i;

	for (i = 0; i < l->spec.expect.n; i++)
		if (strcmp(e[i].metric->name, "detected_by") == 0)
			json_array_foreach(e[i].limit.words, k, word)
				warn_detector(l, &e[i],
					      json_string_value(word));
}

static enum drill_outcome check_one(struct drill_cli *cli,
				    struct drill_loaded *l, void *arg)
{
	struct drill_plan_made plan;
	enum drill_outcome o = make(l, &plan);

	if (o == DRILL_PASS) {
		warn_steps(l, &plan);
		warn_detectors(l);
	}
	if (o == DRILL_PASS && drill_cli_json(cli))
		json_array_append_new(arg, json_pack("{s:s s:s s:s}", "file",
						     l->spec.file, "scenario",
						     l->spec.name, "outcome",
						     "pass"));
	else if (o == DRILL_PASS)
		printf("ok  %s: %s\n", l->spec.file, l->spec.name);
	drill_plan_made_done(&plan);
	return o;
}

enum drill_outcome drill_verb_check(struct drill_cli *cli)
{
	json_t *list = json_array();
	enum drill_outcome o = drill_load_each(cli, check_one, list);

	if (drill_cli_json(cli))
		drill_cli_print(list);
	else
		json_decref(list);
	return o;
}

static void print_list(json_t *list)
{
	json_t *v;
	size_t i;

	json_array_foreach(list, i, v) {
		if (json_is_integer(v))
			printf("%s%" JSON_INTEGER_FORMAT, i ? ", " : "",
			       json_integer_value(v));
		else
			printf("%s%s", i ? ", " : "", json_string_value(v));
	}
}

/* at.launch and at.call: a launch is told by its kernel. */
static void print_call(json_t *at)
{
	json_int_t nth = json_integer_value(json_object_get(at, "nth"));
	const char *kernel = json_string_value(json_object_get(at, "kernel"));

	if (!kernel)
		printf("at call %" JSON_INTEGER_FORMAT " of %s", nth,
		       drill_json_text(at, "call"));
	else if (kernel[0])
		printf("at launch %" JSON_INTEGER_FORMAT " of a kernel with "
		       "'%s' in its name", nth, kernel);
	else
		printf("at launch %" JSON_INTEGER_FORMAT " of any kernel", nth);
}

/* at.every: all steps of it, or those that the seed has drawn. */
static void print_every(json_t *at)
{
	json_int_t step = json_integer_value(json_object_get(at, "from"));
	json_int_t by = json_integer_value(json_object_get(at, "steps"));
	json_t *draws = json_object_get(at, "draws"), *v;
	const char *comma = "";
	size_t i;

	if (!draws) {
		printf("every %" JSON_INTEGER_FORMAT " steps from step %"
		       JSON_INTEGER_FORMAT " to %" JSON_INTEGER_FORMAT, by,
		       step, json_integer_value(json_object_get(at, "to")));
		return;
	}
	printf("at those steps that the seed draws: ");
	json_array_foreach(draws, i, v) {
		if (json_is_true(v)) {
			printf("%s%" JSON_INTEGER_FORMAT, comma, step);
			comma = ", ";
		}
		step += by;
	}
	if (!*comma)
		printf("none");
}

static void print_other_trigger(json_t *at, const char *on)
{
	char time[32];
	char *text;

	if (strcmp(on, "call") == 0) {
		print_call(at);
	} else if (strcmp(on, "after") == 0) {
		if (json_integer_value(json_object_get(at, "delay_ns")))
			printf("%s ", drill_unit_print(
				       json_integer_value(json_object_get(
					       at, "delay_ns")),
				       DRILL_UNIT_DURATION, time,
				       sizeof(time)));
		printf("after %s", drill_json_text(at, "of"));
	} else if (strcmp(on, "same") == 0) {
		printf("together with %s", drill_json_text(at, "of"));
	} else if (strcmp(on, "log") == 0) {
		printf("when '%s' stands in %s", drill_json_text(at, "match"),
		       drill_json_text(at, "file"));
	} else if (strcmp(on, "every") == 0) {
		print_every(at);
	} else if (strcmp(on, "poisson") == 0) {
		printf("%zu times, at random", json_array_size(
			       json_object_get(at, "gaps_ns")));
	} else {
		text = json_dumps(at, JSON_COMPACT);
		printf("at %s", text ? text : "?");
		free(text);
	}
}

static void print_trigger(json_t *f)
{
	json_t *at = json_object_get(f, "at");
	const char *on;
	char time[32];

	if (json_array_size(json_object_get(at, "steps"))) {
		printf("at step ");
		print_list(json_object_get(at, "steps"));
		if (json_object_get(at, "where"))
			printf(", %s %s number %" JSON_INTEGER_FORMAT,
			       drill_json_text(at, "where"),
			       drill_json_text(at, "collective"),
			       json_integer_value(json_object_get(at, "nth")));
		return;
	}
	on = drill_json_text(at, "on");
	if (strcmp(on, "manual") == 0) {
		if (!drill_json_text(f, "after")[0])
			printf("when the story says so");
		else
			printf("after %s", drill_json_text(f, "after"));
	} else if (strcmp(on, "time") == 0) {
		printf("at %s", drill_unit_print(
			json_integer_value(json_object_get(at, "ns")),
			DRILL_UNIT_DURATION, time, sizeof(time)));
	} else if (strcmp(on, "event") == 0) {
		printf("at event %s number %" JSON_INTEGER_FORMAT,
		       drill_json_text(at, "kind"),
		       json_integer_value(json_object_get(at, "nth")));
	} else {
		print_other_trigger(at, on);
	}
}

static void print_fault(json_t *f)
{
	json_t *target = json_object_get(f, "target");

	printf("  %-10s %s on %s ", drill_json_text(f, "name"),
	       drill_json_text(f, "injector"), drill_json_text(target, "kind"));
	print_list(json_object_get(target, "is"));
	printf(" (host ");
	print_list(json_object_get(target, "hosts"));
	printf(")\n             ");
	print_trigger(f);
	printf("\n             risk %s, acts in the %s layer",
	       drill_json_text(f, "risk"), drill_json_text(f, "fidelity"));
	if (json_array_size(json_object_get(f, "needs"))) {
		printf(", needs ");
		print_list(json_object_get(f, "needs"));
	}
	printf("\n             way back: %s\n", drill_json_text(f, "way_back"));
}

static void print_plan(json_t *p, const struct drill_loaded *l,
		       const struct drill_lab_spec *lab)
{
	json_t *price = json_object_get(p, "price");
	json_t *trials = json_object_get(p, "trials"), *f;
	char deadline[32];
	size_t i;

	printf("%s (%s)\n", drill_json_text(p, "scenario"),
	       drill_json_text(p, "file"));
	printf("  lab        %s, %d hosts, %d spares, %d devices a host%s%s\n",
	       lab->provider, lab->hosts, lab->spares, lab->devices,
	       l->ops ? "" : "; cannot come up here: ", l->ops ? "" : l->why);
	printf("  job        %s, %d ranks\n",
	       drill_json_text(l->spec.workload, "kind"),
	       drill_workload_ranks(l->spec.workload));
	json_array_foreach(json_object_get(p, "faults"), i, f)
		print_fault(f);
	printf("  touches    hosts ");
	print_list(json_object_get(p, "hosts_touched"));
	printf("; %d ranks stop\n", (int)json_integer_value(
		       json_object_get(price, "ranks_that_stop")));
	printf("  trials     %d baseline, %d null, %d fault; each at most %s\n",
	       (int)json_integer_value(json_object_get(trials, "baseline")),
	       (int)json_integer_value(json_object_get(trials, "null")),
	       (int)json_integer_value(json_object_get(trials, "fault")),
	       drill_unit_print(l->spec.deadline_ns, DRILL_UNIT_DURATION,
				deadline, sizeof(deadline)));
	printf("  price      ");
	if (json_object_get(price, "accelerator_hours_expected"))
		printf("about %.3g, ", json_number_value(json_object_get(
				price, "accelerator_hours_expected")));
	printf("at most %.3g accelerator-hours\n",
	       json_number_value(json_object_get(
		       price, "accelerator_hours_at_most")));
	printf("  risk       %s\n  seed       %" PRIu64 "\n",
	       drill_json_text(p, "risk"), l->seed);
	if (drill_json_text(p, "skip")[0])
		printf("  skipped    %s\n", drill_json_text(p, "skip"));
}

static enum drill_outcome plan_one(struct drill_cli *cli,
				   struct drill_loaded *l, void *arg)
{
	struct drill_err err = { 0 };
	struct drill_plan_made plan;
	enum drill_outcome o = make(l, &plan);
	json_t *p;

	if (o == DRILL_PASS) {
		p = drill_plan_json(&plan, &l->lab);
		if (drill_cli_json(cli))
			json_array_append(arg, p);
		else
			print_plan(p, l, &l->lab);
		json_decref(p);
		if (drill_plan_allowed(&plan, l->allow, &err) < 0) {
			err.code = -EINVAL;
			o = drill_cli_fail(&err);
		} else if (plan.skip || !l->ops) {
			o = DRILL_SKIP;
		}
	}
	drill_plan_made_done(&plan);
	return o;
}

enum drill_outcome drill_verb_plan(struct drill_cli *cli)
{
	json_t *list = json_array();
	enum drill_outcome o = drill_load_each(cli, plan_one, list);

	if (drill_cli_json(cli))
		drill_cli_print(list);
	else
		json_decref(list);
	return o;
}
