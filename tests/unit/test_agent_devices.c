/* test_agent_devices.c - a whole agent with the devices of its host
 * SPDX-License-Identifier: MIT
 *
 * The job here makes no CUDA calls: what a fault does to those is tested with
 * the proxy. This is about what the agent does with its page.
 */
#include "check_main.h"

#include "harness/core/outcome.h"
#include "injectors/hooks/device_step.h"
#include "injectors/hooks/devices.h"
#include "tests/support/agent_rig.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct rig g;
static pid_t job;

static void setup(void)
{
	rig_init(&g);
	job = 0;
}

static void teardown(void)
{
	rig_end_process(job);
	rig_down(&g);
}

static json_t *event(const char *kind, const char *fault, int ms)
{
	char name[64];

	snprintf(name, sizeof(name), "event.%s", kind);
	return json_object_get(rig_wait(&g, name, fault, ms), "event");
}

static const char *text(json_t *o, const char *name)
{
	const char *s = json_string_value(json_object_get(o, name));

	return s ? s : "";
}

static json_t *on_device(const char *name, const char *injector,
			 const char *more)
{
	json_t *f = rig_fault(name, injector, more);

	json_object_set_new(f, "target",
			    json_pack("{s:s,s:[o]}", "kind", "device", "is",
				      json_sprintf("%s/gpu0", g.host)));
	return f;
}

/* The page as a proxy sees it. */
static struct drill_devices page(void)
{
	struct drill_devices d;
	char path[200];

	snprintf(path, sizeof(path), "%s/devices.page", g.trial);
	ck_assert_int_eq(drill_devices_open(&d, path, NULL), 0);
	return d;
}

static bool in_log(const char *line)
{
	char path[200], text_[512];
	bool found = false;
	FILE *f;

	snprintf(path, sizeof(path), "%s/kernel.log", g.trial);
	f = fopen(path, "re");
	while (f && !found && fgets(text_, sizeof(text_), f))
		found = strstr(text_, line) != NULL;
	if (f)
		fclose(f);
	return found;
}

#define NOW "{\"at\":{\"on\":\"time\",\"ns\":0},"

START_TEST(an_alarm_is_in_the_log_in_nvml_s_page_and_in_the_events)
{
	json_t *e;

	rig_up(&g, json_pack("[o]", on_device("f", "device.alarm",
			NOW "\"args\":{\"code\":63}}")));
	job = rig_job(&g, 0, 1, 200, 20000);
	ck_assert_ptr_nonnull(e = event("fault.effective", "f", 10000));
	ck_assert_ptr_nonnull(event("device.state", NULL, 10000));
	ck_assert(in_log("NVRM: GPU at PCI:0000:10:00: GPU-"));
	ck_assert(in_log("): 63, pid="));
	e = event("fault.requested", "f", 0);
	ck_assert_str_eq(text(e, "class"), "false_alarm");
	ck_assert_str_eq(text(e, "fidelity"), "telemetry");
}
END_TEST

START_TEST(the_late_lines_of_a_chain_come_in_their_time)
{
	rig_up(&g, json_pack("[o]", on_device("f", "device.alarm",
			NOW "\"args\":{\"code\":79}}")));
	job = rig_job(&g, 0, 1, 200, 20000);
	ck_assert_ptr_nonnull(event("fault.effective", "f", 10000));
	for (int i = 0; i < 200 && !in_log("): 154, GPU recovery"); i++)
		rig_pump(&g, 10);
	ck_assert(in_log("): 154, GPU recovery action changed from 0x0 (None) "
			 "to 0x2 (Node Reboot Required)"));
}
END_TEST

/* c21: on a node where nothing calls, it never fires, and somebody says so. */
START_TEST(c21_what_no_call_meets_names_the_host_that_held_it)
{
	json_t *m;

	rig_up(&g, json_pack("[o]", on_device("f", "device.hang", NOW
			"\"args\":{}}")));
	job = rig_job(&g, 0, 1, 20, 20000);
	ck_assert_ptr_nonnull(event("fault.issued", "f", 10000));
	ck_assert_ptr_nonnull(event("rank.end", NULL, 10000));
	rig_send(&g, json_pack("{s:s,s:i}", "kind", "trial.end", "trial", 1));
	ck_assert_ptr_nonnull(rig_wait(&g, "ended", NULL, 10000));
	m = rig_wait(&g, "failed", "f", 0);
	ck_assert_ptr_nonnull(m);
	ck_assert_msg(strstr(text(m, "reason"), g.host) != NULL, "%s",
		      text(m, "reason"));
	ck_assert_ptr_null(event("fault.effective", "f", 0));
}
END_TEST

START_TEST(a_reset_ends_what_was_wrong_and_a_replacement_what_follows_it)
{
	struct drill_devices d;
	json_t *e;

	rig_up(&g, json_pack("[o]", on_device("f", "device.alarm", NOW
			"\"follow\":\"device\",\"args\":{\"what\":\"ecc\"}}")));
	job = rig_job(&g, 0, 1, 400, 20000);
	ck_assert_ptr_nonnull(event("fault.effective", "f", 10000));
	d = page();
	rig_send(&g, json_pack("{s:s,s:s,s:o}", "kind", "device", "how",
			       "reset", "device",
			       json_sprintf("%s/gpu0", g.host)));
	for (int i = 0; i < 300 && !d.page->device[0].generation; i++)
		rig_pump(&g, 10);
	ck_assert_uint_eq(d.page->device[0].generation, 1);
	ck_assert_ptr_null(event("fault.reverted", "f", 0));
	rig_send(&g, json_pack("{s:s,s:s,s:s}", "kind", "device", "how",
			       "replace", "fault", "f"));
	ck_assert_ptr_nonnull(e = event("fault.reverted", "f", 5000));
	ck_assert_str_eq(text(e, "state"), "clean");
	ck_assert_uint_eq(d.page->device[0].ecc_aggregate[1], 0);
	drill_devices_close(&d);
}
END_TEST

static void alarm_in_force(void)
{
	rig_up(&g, json_pack("[o]", on_device("f", "device.alarm",
			NOW "\"args\":{\"code\":63}}")));
	job = rig_job(&g, 0, 1, 400, 20000);
	ck_assert_ptr_nonnull(event("fault.effective", "f", 10000));
}

/* The job's health check does it on the page, not through us. */
START_TEST(a_reset_by_the_job_ends_the_fault)
{
	struct drill_devices d;

	alarm_in_force();
	d = page();
	drill_device_reset(d.page, 0);
	ck_assert_ptr_nonnull(event("fault.reverted", "f", 5000));
	drill_devices_close(&d);
}
END_TEST

START_TEST(a_device_that_is_left_ill_is_a_difference_of_the_host)
{
	struct drill_devices d;
	json_t *m;
	char *all;

	rig_up(&g, json_array());
	d = page();
	d.page->device[0].ecc_aggregate[1] = 3; /* somebody else's doing */
	rig_send(&g, json_pack("{s:s,s:i}", "kind", "trial.end", "trial", 1));
	ck_assert_ptr_nonnull(rig_wait(&g, "ended", NULL, 10000));
	rig_send(&g, json_pack("{s:s,s:s}", "kind", "snapshot", "when",
			       "after"));
	ck_assert_ptr_nonnull(m = rig_wait(&g, "snapshot", NULL, 10000));
	all = json_dumps(json_object_get(json_object_get(m, "entries"),
					 "devices"), 0);
	ck_assert_msg(strstr(all, "gpu0: uncorrected ECC errors: 3, was 0") !=
			      NULL, "%s", all);
	free(all);
	drill_devices_close(&d);
}
END_TEST

START_TEST(a_call_that_is_armed_and_then_met_takes_effect_there)
{
	struct drill_devices d;
	json_t *e;

	rig_up(&g, json_pack("[o]", on_device("f", "device.alarm",
			"{\"at\":{\"on\":\"call\",\"call\":\"cuLaunchKernel\","
			"\"nth\":3},\"args\":{\"code\":63}}")));
	job = rig_job(&g, 0, 1, 400, 20000);
	ck_assert_ptr_nonnull(event("fault.issued", "f", 10000));
	d = page();
	ck_assert_int_eq(d.page->fault[0].nth, 3);
	ck_assert_uint_eq(d.page->fault[0].state, DRILL_DEVICE_ARMED);
	ck_assert_ptr_null(event("fault.effective", "f", 0));
	/* As the proxy does at the third launch. */
	ck_assert(drill_device_fire(d.page, 0, 7, "x"));
	ck_assert_ptr_nonnull(e = event("fault.effective", "f", 5000));
	ck_assert_int_eq(json_integer_value(json_object_get(e, "h_ns")),
			 d.page->fault[0].fired_ns);
	drill_devices_close(&d);
}
END_TEST

/* The job's steps stay as they are: what asks for longer ones turns itself up,
 * and not by what a single step before it took. */
START_TEST(a_step_that_is_to_take_longer_turns_the_factor)
{
	_Atomic uint32_t *factor;
	struct drill_devices d;
	uint32_t first;

	rig_up(&g, json_pack("[o]", on_device("f", "device.slow",
			"{\"at\":{\"on\":\"step\",\"steps\":[8]},\"args\":"
			"{\"step_time\":\"50%\"}}")));
	job = rig_job(&g, 0, 1, 400, 20000);
	ck_assert_ptr_nonnull(event("fault.issued", "f", 10000));
	d = page();
	factor = (_Atomic uint32_t *)&d.page->fault[0].factor_ppm;
	first = *factor;
	ck_assert_uint_eq(first, 2000000); /* kernels are half of it, say */
	d.page->fault[0].added_ns = 1; /* as the proxy does after a kernel */
	ck_assert_ptr_nonnull(event("fault.effective", "f", 5000));
	for (int i = 0; i < 500 && *factor < 8 * first; i++)
		rig_pump(&g, 10);
	ck_assert_uint_ge(*factor, 8 * first);
	drill_devices_close(&d);
}
END_TEST

/* What a controller gone mad may say: an error or nothing, never a crash, and
 * what is in force goes back. */
static const char *const mad[] = {
	"{\"kind\":\"device\"}",
	"{\"kind\":\"device\",\"how\":7,\"device\":[],\"fault\":{}}",
	"{\"kind\":\"device\",\"how\":\"reset\",\"device\":\"HOST/gpu64\"}",
	"{\"kind\":\"device\",\"how\":\"reset\",\"device\":\"HOST/gpu-1\"}",
	"{\"kind\":\"device\",\"how\":\"replace\","
	"\"device\":\"HOST/gpu99999999999999999999\"}",
	"{\"kind\":\"device\",\"how\":\"replace\",\"device\":\"HOST\"}",
	"{\"kind\":\"device\",\"how\":\"reset\",\"fault\":\"f\"}",
	"{\"kind\":\"plan\",\"trial\":2,\"dir\":\"/nonexistent\",\"ranks\":1,"
	"\"devices\":-5,\"faults\":[]}",
	"{\"kind\":\"plan\",\"trial\":2,\"dir\":\"TRIAL\",\"ranks\":1,"
	"\"devices\":1000000000,\"faults\":[{\"name\":\"g\"}]}",
	"{\"kind\":\"plan\",\"trial\":2,\"dir\":\"TRIAL\",\"ranks\":1,"
	"\"devices\":1,\"faults\":[{\"name\":\"g\",\"injector\":\"device.xid\","
	"\"target\":{\"kind\":\"device\",\"is\":[\"HOST/gpu70000\"]},"
	"\"at\":{\"on\":\"call\",\"call\":7,\"nth\":-9}}]}",
	"{\"kind\":\"trial.end\",\"trial\":[]}",
	"{\"kind\":\"revert\",\"fault\":{\"f\":1}}",
	"{\"kind\":\"look\",\"at\":null}",
};

static json_t *mad_message(int i)
{
	char text[600], *out = text;

	for (const char *in = mad[i]; *in; in++)
		if (!strncmp(in, "HOST", 4) || !strncmp(in, "TRIAL", 5)) {
			out += sprintf(out, "%s", *in == 'H' ? g.host : g.trial);
			in += *in == 'H' ? 3 : 4;
		} else {
			*out++ = *in;
		}
	*out = '\0';
	return json_loads(text, 0, NULL);
}

START_TEST(a_controller_gone_mad_crashes_nobody)
{
	int code;

	alarm_in_force();
	rig_send(&g, mad_message(_i));
	rig_pump(&g, 200);
	rig_send(&g, json_pack("{s:s}", "kind", "bye"));
	code = rig_agent_end(&g, 10000);
	ck_assert_msg(code == 0 || code == DRILL_ERROR, "%d", code);
	ck_assert(rig_is_clean(&g, job));
}
END_TEST

/* Whoever has the page mapped, as this test, feels what lies on it. */
START_TEST(a_page_taken_away_from_who_uses_it_is_not_reverted)
{
	struct drill_devices d;
	char path[200];
	json_t *said;

	alarm_in_force();
	d = page();
	snprintf(path, sizeof(path), "%s/devices.page", g.trial);
	ck_assert_int_eq(unlink(path), 0);
	rig_send(&g, json_pack("{s:s,s:s}", "kind", "revert", "fault", "f"));
	said = rig_wait(&g, "reverted", "f", 10000);
	ck_assert_str_eq(text(said, "state"), "dirty");
	ck_assert_ptr_nonnull(strstr(text(said, "reason"), "taken away"));
	drill_devices_close(&d);
}
END_TEST

START_TEST(a_damaged_page_ends_with_the_trial)
{
	struct drill_devices d;

	alarm_in_force();
	d = page();
	memset(d.page->line, 0xff, sizeof(d.page->line));
	memset((void *)d.page->logged, 0xff, sizeof(d.page->logged));
	d.page->lines = UINT64_MAX;
	drill_device_wake();
	rig_send(&g, json_pack("{s:s,s:i}", "kind", "trial.end", "trial", 1));
	ck_assert_ptr_nonnull(rig_wait(&g, "ended", NULL, 10000));
	ck_assert_ptr_nonnull(event("fault.reverted", "f", 0));
	drill_devices_close(&d);
}
END_TEST

/* The program ends right behind the call that met it: by then nobody has woken
 * the agent, and the end of the trial is what it hears of next. */
START_TEST(what_was_met_before_the_end_is_seen_at_the_end)
{
	char wake[200], away[210];
	struct drill_devices d;

	rig_up(&g, json_pack("[o]", on_device("f", "device.alarm",
			"{\"at\":{\"on\":\"call\",\"call\":\"cuLaunchKernel\","
			"\"nth\":3},\"args\":{\"code\":63}}")));
	job = rig_job(&g, 0, 1, 400, 20000);
	ck_assert_ptr_nonnull(event("fault.issued", "f", 10000));
	snprintf(wake, sizeof(wake), "%s/wake", g.trial);
	snprintf(away, sizeof(away), "%s.away", wake);
	ck_assert_int_eq(rename(wake, away), 0);
	d = page();
	ck_assert(drill_device_fire(d.page, 0, 7, "x"));
	rig_send(&g, json_pack("{s:s,s:i}", "kind", "trial.end", "trial", 1));
	ck_assert_ptr_nonnull(rig_wait(&g, "ended", NULL, 10000));
	ck_assert_ptr_nonnull(event("fault.effective", "f", 0));
	ck_assert_ptr_nonnull(event("fault.reverted", "f", 0));
	ck_assert_ptr_null(rig_wait(&g, "failed", "f", 0));
	drill_devices_close(&d);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("agent devices");
	TCase *t = tcase_create("devices");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t,
		       an_alarm_is_in_the_log_in_nvml_s_page_and_in_the_events);
	tcase_add_test(t, the_late_lines_of_a_chain_come_in_their_time);
	tcase_add_test(t, c21_what_no_call_meets_names_the_host_that_held_it);
	tcase_add_test(t,
		a_reset_ends_what_was_wrong_and_a_replacement_what_follows_it);
	tcase_add_test(t, a_reset_by_the_job_ends_the_fault);
	tcase_add_test(t, a_device_that_is_left_ill_is_a_difference_of_the_host);
	tcase_add_test(t, a_call_that_is_armed_and_then_met_takes_effect_there);
	tcase_add_test(t, a_step_that_is_to_take_longer_turns_the_factor);
	tcase_add_loop_test(t, a_controller_gone_mad_crashes_nobody, 0,
			    (int)(sizeof(mad) / sizeof(mad[0])));
	tcase_add_test(t,
		       a_page_taken_away_from_who_uses_it_is_not_reverted);
	tcase_add_test(t, a_damaged_page_ends_with_the_trial);
	tcase_add_test(t, what_was_met_before_the_end_is_seen_at_the_end);
	suite_add_tcase(s, t);
	return drill_check_main(s);
}
