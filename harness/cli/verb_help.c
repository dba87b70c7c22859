/* verb_help.c - faultdrill help: everything from the tables
 * SPDX-License-Identifier: MIT
 */
#include "load.h"

#include "harness/core/event.h"
#include "harness/core/unit.h"
#include "injectors/injector.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_option(const struct drill_option *o)
{
	char left[48];

	if (!o->doc)
		return;
	snprintf(left, sizeof(left), "%c%c --%s%s%s", o->letter ? '-' : ' ',
		 o->letter ? o->letter : ' ', o->name, o->arg ? " " : "",
		 o->arg ? o->arg : "");
	printf("  %-26s %s\n", left, o->doc);
}

static void help_verb(const struct drill_verb *v)
{
	const struct drill_option *o;

	printf("faultdrill %s [OPTIONS] %s\n\n  %s\n\n", v->name, v->args,
	       v->doc);
	for (o = v->options; o->name; o++)
		print_option(o);
	for (o = drill_common_options(); o->name; o++)
		if (v->json || strcmp(o->name, "format") != 0)
			print_option(o);
}

static void help_all(void)
{
	const struct drill_verb *v;
	int i;

	printf("faultdrill breaks one thing in a training run and measures "
	       "what it cost.\n\nfaultdrill VERB [OPTIONS] ...\n\n");
	for (v = drill_verbs(); v->name; v++)
		printf("  %-8s %s\n", v->name, v->doc);
	printf("\nExit status\n\n");
	for (i = 0; i <= DRILL_INCONCLUSIVE; i++)
		printf("  %d  %-13s %s\n", i,
		       drill_outcome_name((enum drill_outcome)i),
		       drill_outcome_doc((enum drill_outcome)i));
	printf("\nMore: faultdrill help VERB | INJECTOR | WORKLOAD | metrics | "
	       "lua | FILE.lua\n");
}

static void print_params(const struct drill_param *p)
{
	const char *const *v;

	for (; p && p->name; p++) {
		printf("  %-18s %-10s %s\n", p->name,
		       p->def ? (p->def[0] ? p->def : "\"\"") : "required",
		       p->doc);
		if (p->type != DRILL_ENUM)
			continue;
		printf("%32sOne of:", "");
		for (v = p->values; *v; v++)
			printf(" %s%s", *v, v[1] ? "," : ".\n");
	}
}

static void print_words(const char *what, const char *const *list)
{
	if (!list || !*list)
		return;
	printf("  %-12s", what);
	for (; *list; list++)
		printf(" %s%s", *list, list[1] ? "," : "");
	printf("\n");
}

static void help_injector(const struct drill_injector *inj)
{
	int k;

	printf("%s { ... }\n\n  %s\n\n", inj->name, inj->doc);
	printf("  class        %s\n", drill_class_name(inj->class));
	printf("  fidelity     %s\n", drill_fidelity_name(inj->fidelity));
	printf("  risk         %s\n", drill_risk_name(inj->risk));
	printf("  survives     %s\n", drill_survives_name(inj->survives));
	printf("  acts on     ");
	for (k = 0; k < 8; k++)
		if (inj->targets & (1u << k))
			printf(" %s", drill_target_kind_name(
					      (enum drill_target_kind)(1u << k)));
	printf("\n");
	print_words("stands for", inj->stands_for);
	print_words("needs", inj->needs);
	if (inj->missing)
		printf("  cannot run   %s\n", inj->missing);
	printf("\n");
	print_params(inj->params);
	printf("\nEvery fault also takes: a target, at, duration, refire, "
	       "follow: faultdrill help lua\n");
	if (strcmp(inj->name, "device.xid") == 0)
		printf("The Xids that are known: faultdrill list xids\n");
}

static void help_metrics(void)
{
	const struct drill_metric *m;
	char name[64];

	for (m = drill_metrics(); m->name; m++) {
		snprintf(name, sizeof(name), "%s.%s",
			 m->of == DRILL_OF_FAULT ? "FAULT" : "JOB", m->name);
		printf("%-30s %-11s %s\n%43s(%s)\n", name,
		       drill_quantity_unit(m->quantity), m->doc, "",
		       drill_metric_supplier(m));
	}
}

static void help_workload(const struct drill_workload_kind *k)
{
	printf("workload.%s { ... }\n\n  %s\n\n", k->name, k->doc);
	if (strcmp(k->name, "command") == 0)
		printf("  %-18s %-10s %s\n  %-18s %-10s %s\n", "command",
		       "required", "Its words, as in { \"./job\", \"--fast\" }.",
		       "env", "{}", "What its environment gets, by name.");
	print_params(k->params);
}

static enum drill_outcome help_file(const char *path)
{
	struct drill_script *s = NULL;
	struct drill_err err = { 0 };
	enum drill_outcome o = DRILL_PASS;
	const char *name;
	json_t *p, *sc;
	size_t i;

	if (drill_script_load(path, NULL, &s, &err) < 0) {
		o = drill_cli_fail(&err);
		drill_script_free(s);
		return o;
	}
	json_array_foreach(drill_script_scenarios(s), i, sc)
		printf("%s: %s\n", path,
		       json_string_value(json_object_get(sc, "name")));
	json_object_foreach(drill_script_params(s), name, p) {
		char *v = json_dumps(json_object_get(p, "value"),
				     JSON_ENCODE_ANY);

		printf("  -p %s=%s  %s\n", name, v ? v : "?",
		       json_string_value(json_object_get(p, "doc")));
		free(v);
	}
	drill_script_free(s);
	return DRILL_PASS;
}

static const char lua_page[] =
	"A scenario is a file that returns scenario { ... }.\n"
	"\n"
	"  name lab workloads faults trials deadline   what is run, and on what\n"
	"  always expect abort                         { metric, op, limit }\n"
	"  needs risk seed measure detectors           conditions\n"
	"  hypothesis owner runbook ticket tags        for the report\n"
	"  run = function(t) ... end                   a longer story\n"
	"\n"
	"  lab.auto { hosts, spares, devices }         lab.netns  lab.local_\n"
	"  workload.train { ranks, steps, ... }        workload.command { ... }\n"
	"  FAMILY.FAULT { TARGET, at, duration, refire, follow, ... }\n"
	"    TARGET   rank | host = 3, \"h1\", { 0, 2 }, \"all\" or a picker\n"
	"             device = \"h1/gpu0\", or 5: counted over all hosts\n"
	"    picker   pick.any \"rank\"  pick.some(\"rack-b\", 2)\n"
	"             pick.share(\"host\", \"10%\")  pick.other(f)  pick.peer(f)\n"
	"    at       at.time \"5s\"  at.step(n)  at.step { 37, 203 }\n"
	"             at.step(n):before|inside|after(\"allreduce\", nth)\n"
	"             at.every { from, to, steps, probability }\n"
	"             at.event(\"checkpoint.writing\", nth)\n"
	"             at.launch(\"adamw\", nth)   a kernel with that in its name\n"
	"             at.call(\"cuMemAlloc\", nth)   a call of the CUDA driver\n"
	"             at.after(\"lost.restarted\", \"1s\")  at.same \"lost\"\n"
	"             at.log { file, match }  at.poisson { mtbf, per }  at.manual()\n"
	"    duration \"5s\"  \"10 steps\"  until_(\"two.resumed\")\n"
	"             without at: when the job runs steadily (its 5th step, or\n"
	"             5s where it tells none); in a story when it says so\n"
	"    refire   \"once\" (default)  \"every_attempt\"  n\n"
	"    follow   \"rank\"  \"host\"  \"device\": what it sticks to when the job\n"
	"             starts again; default: it ends with the attempt\n"
	"    form     \"both\"  \"effect\"  \"signal\": of device faults\n"
	"  params { steps = { 300, \"Training steps.\" } }   -p steps=100\n"
	"  detect.mark()            faultdrill mark NAME\n"
	"  require \"lib.NAME\"       scenarios/lib/NAME.lua\n"
	"\n"
	"  t:start NAME             t:during(FAULT, fn)     t:inject FAULT\n"
	"  t:revert FAULT           t:wait \"5s\"             t:wait \"lost.detected\"\n"
	"  t:expect(metric, op, limit)      t:eventually(\"10s\", metric, op, limit)\n"
	"  t:now()  t:log(text)  t:random \"name\"  t:skip(why)\n"
	"\n"
	"  op     < <= > >= == != in is\n"
	"  limit  \"5s\"  \"240 rank*s\"  \"3 steps\"  \"watchdog + 3 steps\"\n"
	"         \"95% of baseline\"  \"target\"  \"never\"  \"in\", { ... }\n"
	"         \"is\", \"finite\"; a fourth field: p50 p90 mean rate\n";

static enum drill_outcome unknown(const char *name)
{
	const char *names[128], *near;
	const struct drill_injector *const *p;
	const struct drill_verb *v;
	int n = 0;

	for (v = drill_verbs(); v->name; v++)
		names[n++] = v->name;
	for (p = drill_injectors(); *p && n < 120; p++)
		names[n++] = (*p)->name;
	names[n++] = "metrics";
	names[n] = NULL;
	near = drill_nearest(name, names);
	return drill_cli_usage("help: nothing is called '%s'%s%s%s: faultdrill "
			       "list names all there is", name,
			       near ? " (did you mean '" : "",
			       near ? near : "", near ? "'?)" : "");
}

/* "device": all faults of that family. */
static bool help_family(const char *name)
{
	const struct drill_injector *const *p = drill_injectors();
	size_t len = strlen(name);
	bool found = false;

	for (; *p; p++) {
		if (strncmp((*p)->name, name, len) || (*p)->name[len] != '.')
			continue;
		printf("  %-17s %s\n", (*p)->name, (*p)->doc);
		found = true;
	}
	return found;
}

static bool is_of_name(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Does the page of the language explain the word, "at.launch" or "follow"? */
static bool on_lua_page(const char *name)
{
	const char *p = lua_page;
	size_t len = strlen(name);

	while (is_of_name(*name) && (p = strstr(p, name))) {
		if ((p == lua_page || !is_of_name(p[-1])) &&
		    !is_of_name(p[len]))
			return true;
		p += len;
	}
	return false;
}

static bool help_known(const char *name)
{
	const struct drill_workload_kind *k;
	const struct drill_injector *inj;
	const struct drill_verb *v;

	for (v = drill_verbs(); v->name; v++)
		if (strcmp(v->name, name) == 0)
			return help_verb(v), true;
	inj = drill_injector_find(name, NULL);
	if (inj)
		return help_injector(inj), true;
	for (k = drill_workload_kinds(); k->name; k++)
		if (strcmp(k->name, name) == 0 ||
		    (strncmp(name, "workload.", 9) == 0 &&
		     strcmp(k->name, name + 9) == 0))
			return help_workload(k), true;
	if (strcmp(name, "metrics") == 0)
		return help_metrics(), true;
	if (strcmp(name, "lua") == 0 || strcmp(name, "scenario") == 0)
		return fputs(lua_page, stdout), true;
	if (strcmp(name, "xid") == 0)
		name = "xids";
	if (drill_list_print(name) || help_family(name))
		return true;
	return on_lua_page(name) && fputs(lua_page, stdout) >= 0;
}

enum drill_outcome drill_verb_help(struct drill_cli *cli)
{
	const char *name = cli->n_args ? cli->args[0] : NULL;
	size_t len = name ? strlen(name) : 0;

	if (!name) {
		help_all();
		return DRILL_PASS;
	}
	if (help_known(name))
		return DRILL_PASS;
	if (len > 4 && strcmp(name + len - 4, ".lua") == 0)
		return help_file(name);
	return unknown(name);
}
