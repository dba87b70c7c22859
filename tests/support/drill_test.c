/* drill_test.c - runs a scenario's text on the mock lab
 * SPDX-License-Identifier: MIT
 */
#include "drill_test.h"

#include "harness/lab/spec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int drill_test_load(const char *text, struct drill_tested *t)
{
	struct drill_script *s = NULL;

	memset(t, 0, sizeof(*t));
	t->loaded = drill_script_load_text("t.lua", text, strlen(text), NULL,
					   &s, &t->err);
	snprintf(t->trace, sizeof(t->trace), "%s", drill_script_trace(s));
	drill_script_free(s);
	return t->loaded;
}

static void run(struct drill_script *s, uint64_t seed, struct drill_tested *t)
{
	struct drill_lab_spec lab;
	struct drill_story story;
	struct drill_options o = { .ops = &drill_lab_mock, .lab = &lab,
				   .seed = seed, .out = t->out, .bin = "/bin",
				   .allow = DRILL_RISK_DISRUPTIVE };
	struct drill_spec spec;
	char culprit[64];

	drill_lab_spec_init(&lab);
	if (drill_spec_read(json_array_get(drill_script_scenarios(s), 0), &spec,
			    culprit, &t->err) == 0) {
		if (spec.lab)
			drill_lab_spec_from_json(spec.lab, &lab, NULL);
		snprintf(lab.provider, sizeof(lab.provider), "mock");
		if (drill_script_story(s, 0, &story))
			o.story = &story;
		drill_run(&spec, &o, &t->result, &t->err);
	}
	drill_spec_done(&spec);
	drill_lab_spec_done(&lab);
}

void drill_test_run(const char *text, uint64_t seed, struct drill_tested *t)
{
	struct drill_script *s = NULL;

	memset(t, 0, sizeof(*t));
	snprintf(t->out, sizeof(t->out), "/tmp/faultdrill-test-XXXXXX");
	if (!mkdtemp(t->out))
		abort();
	t->loaded = drill_script_load_text("t.lua", text, strlen(text), NULL,
					   &s, &t->err);
	if (t->loaded == 0)
		run(s, seed, t);
	drill_script_free(s);
}

void drill_tested_done(struct drill_tested *t)
{
	char cmd[128];

	snprintf(cmd, sizeof(cmd), "rm -rf '%s'", t->out);
	if (strncmp(t->out, "/tmp/faultdrill-test-", 21) == 0 &&
	    system(cmd) != 0)
		perror(t->out);
	drill_result_done(&t->result);
}

json_t *drill_test_trial(const struct drill_tested *t, int trial)
{
	return json_array_get(json_object_get(t->result.run, "trials"),
			      (size_t)trial);
}

const char *drill_test_reasons(const struct drill_tested *t, int trial)
{
	static char text[4000];
	json_t *v;
	size_t i, len = 0;

	text[0] = '\0';
	json_array_foreach(json_object_get(drill_test_trial(t, trial),
					   "reasons"), i, v)
		if (len < sizeof(text))
			len += (size_t)snprintf(text + len, sizeof(text) - len,
						"%s\n", json_string_value(v));
	return text;
}

int drill_test_count(const struct drill_tested *t, int trial, const char *kind,
		     const char *fault)
{
	json_t *e;
	size_t i;
	int n = 0;

	json_array_foreach(t->result.events, i, e) {
		const char *k = json_string_value(json_object_get(e, "kind"));
		const char *f = json_string_value(json_object_get(e, "fault"));

		n += json_integer_value(json_object_get(e, "trial")) == trial &&
		     strcmp(k, kind) == 0 &&
		     (!fault || (f && strcmp(f, fault) == 0));
	}
	return n;
}
