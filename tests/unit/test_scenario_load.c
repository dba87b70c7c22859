/* test_scenario_load.c - a mistake raises at its line, with the nearest name
 * SPDX-License-Identifier: MIT
 */
#include "check_main.h"
#include "harness/engine/stream.h"
#include "tests/support/drill_test.h"

#include <stdlib.h>
#include <string.h>

#define JOB "  workloads = { job = workload.train { ranks = 4 } },\n"

/* Each row: a text, and what its error has to say. */
static const struct {
	const char *text, *says;
} bad[] = {
	{ "return 7", "t.lua:1: the file must return scenario" },
	{ "return {}", "t.lua:1: the file returns no scenario" },
	{ "return scenario {", "t.lua:1:" },
	{ "x = 1", "t.lua:1: assignment to global 'x'" },
	{ "\nreturn scenaro { }", "t.lua:2: undefined global 'scenaro' (did you "
				  "mean 'scenario'?)" },
	{ "local x = os.time()", "undefined global 'os'" },
	{ "print 'x'", "t:log" },
	{ "return scenario { name = 'x' }", "t.lua:1: no workload" },
	{ "return scenario {\n  name = 'x',\n  dedline = '3min',\n" JOB "}",
	  "t.lua:3: scenario: no field 'dedline' (did you mean 'deadline'?)" },
	{ "return scenario {\n  name = 'x',\n" JOB "  deadline = 3,\n}",
	  "t.lua:4: deadline: a bare number is no duration" },
	{ "return scenario {\n  name = 'x',\n  workloads = { job = "
	  "workload.train {\n    rank = 4 } } }",
	  "t.lua:4: workload.train: " },
	{ "local f = host.kil { rank = 0 }", "no host.kil (did you mean "
					     "host.kill?)" },
	{ "local f = host.kill {\n  rnk = 0 }", "t.lua:2: host.kill: no "
	  "parameter 'rnk' (did you mean 'rank'?)" },
	{ "local f = host.kill { }", "host.kill: no target" },
	{ "local f = host.kill { host = 1 }", "acts on no host" },
	{ "local f = host.kill { rank = 1, host = 1 }", "host.kill: " },
	{ "local f = host.kill { rank = 1, at = 5 }", "at wants a trigger" },
	{ "local f = host.stop { rank = 1, duration = 5 }",
	  "duration: 5 is no duration: write \"5s\"" },
	{ "local f = host.kill { rank = 1, refire = 0 }", "refire is" },
	{ "local f = link.delay { rank = 1 }", "not yet: link.delay" },
	{ "local f = device.xid { code = 79 }", "no target: write rank = 0" },
	{ "local f = device.xid {\n  code = 78, rank = 1 }",
	  "t.lua:2: device.xid: code = 78: no such Xid is known; the "
	  "nearest is 79 (GPU has fallen off the bus)" },
	{ "local f = device.xid { rank = 1,\n  code = 63, form = 'effect' }",
	  "Xid 63 has no effect on programs" },
	{ "local f = device.xid { code = 79, rank = 1, form = 'efect' }",
	  "did you mean 'effect'" },
	{ "local f = device.xid { code = 48, rank = 1, error = 700 }",
	  "error = 700 is none that Xid 48 is known with: write 214" },
	{ "local f = device.xid { code = 48, rank = 1, chain = '48 -> 99' }",
	  "chain = \"48 -> 99\": 99: no such Xid is known" },
	{ "local f = device.slow { rank = 1, factor = 0.5 }",
	  "factor = 0.5 makes nothing slower: it must be above 1" },
	{ "local f = device.xid { code = 48, rank = 1, chain = '63 -> 94' }",
	  "does not begin with the code" },
	{ "local f = host.kill { rank = 1, form = 'signal' }",
	  "host.kill: has no form to choose; these have: device.absent, "
	  "device.call" },
	{ "local f = device.alarm { rank = 1, code = 79, form = 'effect' }",
	  "device.alarm: has no form to choose" },
	{ "local f = device.xid { code = 48, path = '/x' }",
	  "acts on no path (it acts on: rank, host, device)" },
	{ "local f = device.xid { code = 48, rank = 1, follow = 'hosts' }",
	  "'follow' has no value 'hosts', did you mean 'host'? (one of: rank, "
	  "host, device)" },
	{ "return scenario { name = 'x',\n" JOB "  faults = { a = device.xid { "
	  "code = 79, rank = 1, form = 'signal' } },\n"
	  "  expect = { { 'a.time_to_resume', '<', '5s' } } }",
	  "device.xid acts on telemetry only" },
	{ "return scenario { name = 'x',\n" JOB "  faults = { a = host.kill { "
	  "rank = 1, at = at.call 'cuLaunchKernl' } } }",
	  "no call 'cuLaunchKernl' (did you mean 'cuLaunchKernel'?)" },
	{ "return scenario { name = 'x',\n" JOB "  faults = { a = host.kill { "
	  "rank = 1 }, b = host.stop { rank = 0, at = at.after 'a.restartd' } } }",
	  "no instant 'restartd' of a fault (did you mean 'restarted'?)" },
	{ "return scenario { name = 'x',\n" JOB "  faults = { a = host.stop { "
	  "rank = 1, duration = until_ 'job.stedy' } } }",
	  "no instant 'stedy' of a workload (did you mean 'steady'?)" },
	{ "local l = lab.ssh { }", "not yet: lab.ssh" },
	{ "local a = at.call('MPI_Send', 3)", "no call of the CUDA driver" },
	{ "local a = at.stp(3)", "no at.stp (did you mean at.step?)" },
	{ "local a = at.step(0)", "from 1 on" },
	{ "local a = at.step { 3, 2 }", "steps must rise" },
	{ "local a = at.step(3):within 'allreduce'", "no field 'within'" },
	{ "local a = at.time(5)", "5 is no duration" },
	{ "local a = at.event 'checkpoint.writin'", "did you mean "
						     "'checkpoint.writing'?" },
	{ "local a = at.every { from = 1, too = 9 }", "no field 'too'" },
	{ "local a = at.after 'lost'", "is no instant" },
	{ "return scenario { name = 'x', collect = {},\n" JOB "}",
	  "not yet: collect" },
	{ "return scenario { name = 'x', variants = {},\n" JOB "}",
	  "not yet: variants" },
	{ "return scenario {\n  name = 'x',\n" JOB
	  "  expect = {\n    { 'job.walll', '<', '5s' } } }",
	  "t.lua:5: job.walll: no metric 'walll' of a workload (did you mean "
	  "'wall'?)" },
	{ "return scenario {\n  name = 'x',\n" JOB
	  "  expect = {\n    { 'jb.wall', '<', '5s' } } }",
	  "t.lua:5: 'jb.wall': no fault or workload 'jb'" },
	{ "return scenario {\n  name = 'x',\n" JOB
	  "  expect = {\n    { 'job.wall', '<', 5 } } }",
	  "t.lua:5: job.wall: limit '5': write a duration" },
	{ "return scenario {\n  name = 'x',\n" JOB
	  "  expect = {\n    { 'job.wall', '<', 'dog + 3 steps' } } }",
	  "the job has no time-out 'dog'" },
	{ "return scenario {\n  name = 'x',\n" JOB
	  "  expect = {\n    { 'job.wall', '<', '5s', 'p95' } } }",
	  "no statistic 'p95'" },
	{ "return scenario {\n  name = 'x',\n" JOB
	  "  expect = {\n    { 'job.final_state', '<', 'baseline' } } }",
	  "is a word" },
	{ "return scenario { name = 'x',\n" JOB "  faults = { a = host.kill { "
	  "rank = 1 } },\n  expect = {\n    { 'a.outcome', 'in', { 'lost', "
	  "'recoverd' } } } }",
	  "t.lua:5: a.outcome: limit 'recoverd': outcome is never that, did you "
	  "mean 'recovered'? (one of: tolerated, recovered, degraded" },
	{ "return scenario { name = 'x',\n" JOB "  faults = { a = host.kill { "
	  "rank = 1 } },\n  expect = {\n    { 'a.blame', '==', 'device' } } }",
	  "blame is never that (one of: target, other, none)" },
	{ "return scenario { name = 'x',\n  workloads = { job = "
	  "workload.command { ranks = 2, command = { 'true' } } },\n"
	  "  expect = {\n    { 'job.loss', 'is', 'finite' } } }",
	  "t.lua:4: job.loss: this workload cannot supply it" },
	{ "return scenario { name = 'x',\n" JOB "  faults = { a = host.kill { "
	  "rank = 1, at = at.after 'b.effective' } } }",
	  "no fault or workload 'b'" },
	{ "return scenario { name = 'x', risk = 'none',\n" JOB
	  "  faults = { a = host.kill { rank = 1 } } }",
	  "risk: the scenario says 'none'" },
	{ "return scenario { name = 'x', trials = { falt = 3 },\n" JOB "}",
	  "no role 'falt' (did you mean 'fault'?)" },
	{ "return scenario { name = 'x', needs = { spares = 2 },\n" JOB "}",
	  "needs: spares" },
	{ "setmetatable({}, { __gc = function() end })", "no __gc" },
	{ "while true do end", "was stopped" },
	{ "while true do pcall(function() while true do end end) end",
	  "was stopped" },
	{ "local s = 'x' while true do s = s .. s end", "MiB of memory" },
	{ "local function f() return 1 + f() end f()", "stack overflow" },
	{ "local t = {} t.t = t return scenario { name = 'x', tags = t,\n" JOB
	  "}", "nested deeper" },
	{ "require 'os'", "only lib.NAME" },
	{ "require 'lib.../../etc/passwd'", "only lib.NAME" },
	{ "require 'lib.absent'", "require 'lib.absent'" },
	{ "\033Lua", "t.lua:1: this is no text" },
	{ "return string.dump(function() end)", "dump" },
	{ "return math.random()", "random" },
};

START_TEST(each_mistake_says_where_and_what)
{
	struct drill_tested t;

	ck_assert_int_ne(drill_test_load(bad[_i].text, &t), 0);
	ck_assert_msg(strstr(t.err.msg, bad[_i].says) != NULL,
		      "%s\n  says    %s\n  wanted  %s", bad[_i].text, t.err.msg,
		      bad[_i].says);
}
END_TEST

#define GOOD                                                                   \
	"local p = params { steps = { 30, 'Steps.' } }\n"                      \
	"return scenario {\n"                                                  \
	"  name = 'all words', seed = 3, risk = 'destructive', owner = 'me',\n"\
	"  hypothesis = 'h', runbook = 'r', ticket = 't', tags = { 'a' },\n"   \
	"  lab = lab.netns { hosts = 4, spares = 1, devices = 2,\n"            \
	"    domains = { rack = { a = { 'h0', 'h1' } } } },\n"                 \
	"  workloads = { job = workload.train { ranks = 4, layout = 'dp=4',\n" \
	"    steps = p.steps } },\n"                                           \
	"  needs = { hosts = '>=4', spares = '>=1' },\n"                       \
	"  detectors = { oncall = detect.mark() },\n"                          \
	"  faults = {\n"                                                       \
	"    a = host.kill { rank = 3, at = at.step(20):inside('allreduce', 2),\n" \
	"      refire = 'every_attempt', follow = 'rank' },\n"                 \
	"    b = host.stop { rank = pick.any 'rank', at = at.time '5s',\n"     \
	"      duration = '2s' },\n"                                           \
	"    c = host.freeze { host = pick.some('rack-a', 1),\n"               \
	"      at = at.every { from = 5, to = 25, steps = 5,\n"                \
	"        probability = '50%' }, duration = '3 steps' },\n"             \
	"    d = host.stop { rank = pick.other 'a', at = at.same 'a',\n"       \
	"      duration = until_('a.resumed') },\n"                            \
	"    e = null.noop { rank = pick.peer 'a',\n"                          \
	"      at = at.after('a.restarted', '1s'), refire = 2 },\n"            \
	"    f = null.noop { host = pick.share('host', '50%'),\n"              \
	"      at = at.poisson { mtbf = '1min', per = 'host' } },\n"           \
	"    g = null.noop { rank = 'all', at = at.log { file = 'x',\n"        \
	"      match = 'y' } },\n"                                             \
	"    h = null.noop { rank = { 0, 2 }, at = at.event('checkpoint.writing', 2) },\n" \
	"    i = null.noop { host = 'h1', at = at.step { 3, 7 } },\n"          \
	"    j = null.noop { rank = 0, at = at.manual() },\n"                  \
	"  },\n"                                                               \
	"  trials = { baseline = 4, null = 4, fault = 5 }, deadline = '3min',\n" \
	"  always = { { 'job.loss', 'is', 'finite' } },\n"                     \
	"  abort = { { 'a.lost_compute', '>', '50 GPU*h' } },\n"               \
	"  expect = {\n"                                                       \
	"    { 'a.time_to_detect', '<', 'watchdog + 3 steps' },\n"             \
	"    { 'a.time_to_steady', '<', 'never' },\n"                          \
	"    { 'a[2].time_to_resume', '<', '30s', 'p50' },\n"                  \
	"    { 'a.count', '<=', 3 }, { 'a.blame', 'in', { 'target' } },\n"     \
	"    { 'job.goodput', '>', '95% of baseline', 'mean' },\n"             \
	"    { 'job.livelock', '==', false, 'rate' },\n"                       \
	"    { 'job.final_state', '==', 'baseline' },\n"                       \
	"  },\n"                                                               \
	"  run = function(t) t:start 'job' end,\n"                             \
	"}\n"

START_TEST(every_word_of_the_language_loads)
{
	struct drill_tested t;

	ck_assert_msg(drill_test_load(GOOD, &t) == 0, "%s", t.err.msg);
}
END_TEST

static int plan(const char *text, struct drill_err *err, json_t **ret)
{
	struct drill_script *s = NULL;
	struct drill_plan_made p = { 0 };
	struct drill_lab_spec lab = { .hosts = 4, .spares = 1, .devices = 2 };
	struct drill_lab_host *hosts;
	struct drill_spec spec;
	char culprit[64];
	int n, rc;

	rc = drill_script_load_text("t.lua", text, strlen(text), NULL, &s, err);
	ck_assert_msg(rc == 0, "%s", err->msg);
	rc = drill_spec_read(json_array_get(drill_script_scenarios(s), 0),
			     &spec, culprit, err);
	lab.domains = json_object_get(spec.lab, "domains");
	hosts = drill_plan_hosts(&lab, &n);
	if (rc == 0)
		rc = drill_plan_make(&spec, &lab, hosts, n, 5, &p, err);
	if (rc == 0 && ret)
		*ret = drill_plan_json(&p, &lab);
	drill_plan_made_done(&p);
	free(hosts);
	drill_spec_done(&spec);
	drill_script_free(s);
	return rc;
}

START_TEST(a_plan_draws_every_picker_and_fixes_every_trigger)
{
	struct drill_err err = { 0 };
	json_t *p = NULL, *f, *is;
	size_t i;

	ck_assert_msg(plan(GOOD, &err, &p) == 0, "%s", err.msg);
	json_array_foreach(json_object_get(p, "faults"), i, f) {
		is = json_object_get(json_object_get(f, "target"), "is");
		ck_assert_msg(json_array_size(is) > 0, "fault %zu", i);
	}
	ck_assert_uint_eq(i, 10);
	ck_assert_uint_ge(json_array_size(json_object_get(p, "draws")), 7);
	json_decref(p);
}
END_TEST

START_TEST(a_rank_or_host_that_does_not_exist_is_refused_at_its_line)
{
	static const struct {
		const char *target, *says;
	} rows[] = {
		{ "host.kill { rank = 7 }", "t.lua:3: f: no rank 7: the job has "
					    "ranks 0 to 3" },
		{ "host.kill { rank = -1 }", "no rank -1" },
		{ "host.freeze { host = 'h11' }", "t.lua:3: f: no host 'h11' (did "
						 "you mean 'h1'?)" },
		{ "host.freeze { host = 5 }", "no host 5" },
		{ "host.freeze { host = pick.any 'shelf-b' }", "nothing is "
							       "called" },
	};
	struct drill_err err = { 0 };
	char text[512];

	snprintf(text, sizeof(text), "return scenario { name = 'x',\n" JOB
		 "  faults = { f = %s } }", rows[_i].target);
	ck_assert_int_eq(plan(text, &err, NULL), -22);
	ck_assert_msg(strstr(err.msg, rows[_i].says) != NULL, "%s", err.msg);
}
END_TEST

/* Cut, doubled, flipped: any answer will do but a crash. */
START_TEST(mangled_scenarios_never_crash)
{
	struct drill_stream rng;
	char text[sizeof(GOOD) * 2];
	struct drill_tested t;
	size_t len;
	int i, k;

	drill_stream_init(&rng, (uint64_t)_i, "mangle");
	for (i = 0; i < 60; i++) {
		len = sizeof(GOOD) - 1;
		memcpy(text, GOOD, len + 1);
		for (k = 0; k < 1 + i % 4; k++) {
			size_t at = drill_stream_below(&rng, len);

			text[at] = (char)(32 + drill_stream_below(&rng, 95));
		}
		if (i % 3 == 0)
			text[drill_stream_below(&rng, len)] = '\0';
		drill_test_load(text, &t);
	}
}
END_TEST

static Suite *suite(void)
{
	Suite *s = suite_create("scenario load");
	TCase *c = tcase_create("load");

	tcase_set_timeout(c, 60);
	tcase_add_loop_test(c, each_mistake_says_where_and_what, 0,
			    (int)(sizeof(bad) / sizeof(bad[0])));
	tcase_add_test(c, every_word_of_the_language_loads);
	tcase_add_test(c, a_plan_draws_every_picker_and_fixes_every_trigger);
	tcase_add_loop_test(c, a_rank_or_host_that_does_not_exist_is_refused_at_its_line,
			    0, 5);
	tcase_add_loop_test(c, mangled_scenarios_never_crash, 0, 5);
	suite_add_tcase(s, c);
	return s;
}

int main(void)
{
	return drill_check_main(suite());
}
