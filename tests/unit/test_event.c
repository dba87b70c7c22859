/* test_event.c - every kind to the byte, what is refused, torn files
 * SPDX-License-Identifier: MIT
 */
#include "check_main.h"

#include "harness/core/event.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define GOLDEN "tests/data/golden/events.jsonl"

static char *slurp(const char *path, size_t *ret_n)
{
	char *text = calloc(1, 1 << 16);
	FILE *f = fopen(path, "rb");

	ck_assert_msg(f, "run it in the top directory: no %s", path);
	*ret_n = fread(text, 1, (1 << 16) - 1, f);
	fclose(f);
	return text;
}

START_TEST(every_kind_reads_and_writes_back_to_the_byte)
{
	char path[] = "/tmp/drill-events.XXXXXX", *want, *got;
	struct drill_event_log log;
	struct drill_err err = {0};
	json_t *events, *event;
	size_t i, n, m;
	bool torn;

	close(mkstemp(path));
	unlink(path);
	ck_assert_msg(drill_events_read(GOLDEN, &events, &torn, &err) == 0,
		      "%s", err.msg);
	ck_assert(!torn);
	ck_assert_int_eq(drill_event_log_open(&log, path, &err), 0);
	json_array_foreach (events, i, event)
		ck_assert_int_eq(drill_event_log_write(&log, event, &err), 0);
	ck_assert_uint_eq(log.lines, json_array_size(events));
	ck_assert_int_eq(drill_event_log_close(&log, &err), 0);
	want = slurp(GOLDEN, &n);
	got = slurp(path, &m);
	for (i = 0; i < n && want[i] == got[i]; i++)
		;
	ck_assert_msg(i == n && n == m, "byte %zu: ...%.60s", i,
		      got + (i > 20 ? i - 20 : 0));
	unlink(path);
	free(want);
	free(got);
	json_decref(events);
}
END_TEST

START_TEST(the_golden_file_has_every_kind_and_every_required_field)
{
	const struct drill_event_kind *k;
	struct drill_err err = {0};
	json_t *events, *event;
	size_t i = 0;
	bool torn;

	ck_assert_int_eq(drill_events_read(GOLDEN, &events, &torn, &err), 0);
	for (k = drill_event_kinds(); k->name; k++, i++) {
		event = json_array_get(events, i);
		ck_assert_str_eq(
			json_string_value(json_object_get(event, "kind")),
			k->name);
		ck_assert_int_eq(k->doc[strlen(k->doc) - 1], '.');
	}
	ck_assert_uint_eq(i, json_array_size(events));
	json_decref(events);
}
END_TEST

/* Each required field in turn is left out, then made a list, which no field
 * of an event can be. */
START_TEST(without_a_required_field_no_event_is_one)
{
	const struct drill_event_kind *k = drill_event_kinds();
	struct drill_err err = {0};
	json_t *events, *event, *copy;
	char needs[200], *field, *save;
	size_t i;
	bool torn;

	ck_assert_int_eq(drill_events_read(GOLDEN, &events, &torn, &err), 0);
	json_array_foreach (events, i, event) {
		snprintf(needs, sizeof(needs), "kind:s t_s:n %s", k[i].needs);
		for (field = strtok_r(needs, " ", &save); field;
		     field = strtok_r(NULL, " ", &save)) {
			*strchr(field, ':') = '\0';
			copy = json_deep_copy(event);
			json_object_del(copy, field);
			ck_assert_int_eq(drill_event_check(copy, NULL),
					 -EINVAL);
			json_object_set_new(copy, field,
					    json_pack("[i]", 1));
			ck_assert_int_eq(drill_event_check(copy, NULL),
					 -EINVAL);
			json_decref(copy);
		}
	}
	json_decref(events);
}
END_TEST

static const struct {
	const char *json, *says;
} bad[] = {
	{"{}", "an event without a kind"},
	{"{\"kind\":5}", "an event without a kind"},
	{"{\"kind\":\"step.bgein\"}",
	 "no kind 'step.bgein', did you mean 'step.begin'?"},
	{"{\"kind\":\"log\",\"text\":\"x\"}", "'log' lacks 't_s'"},
	{"{\"kind\":\"log\",\"t_s\":\"1\",\"text\":\"x\"}",
	 "'t_s' of 'log' must be a number, not '1'"},
	{"{\"kind\":\"log\",\"t_s\":1,\"text\":\"x\",\"rank\":1.5}",
	 "'rank' of 'log' must be an integer, not a number"},
	{"{\"kind\":\"phase.begin\",\"t_s\":1,\"attempt\":1,\"rank\":0,"
	 "\"phase\":\"dat\"}",
	 "must be one of init|connect|data|compute|comm|checkpoint|restore, "
	 "not 'dat'"},
	{"{\"kind\":\"phase.begin\",\"t_s\":1,\"attempt\":1,\"rank\":0,"
	 "\"phase\":7}",
	 "not an integer"},
	{"{\"kind\":\"sample\",\"t_s\":1,\"metric\":\"x\",\"value\":\"big\"}",
	 "must be a number, not 'big'"},
	{"{\"kind\":\"fault.issued\",\"t_s\":1,\"fault\":\"x\",\"target\":[1]}",
	 "must be a string or a list of strings"},
	{"{\"kind\":\"expectation\",\"t_s\":1,\"metric\":\"x\",\"op\":\"<\","
	 "\"held\":1}",
	 "must be a boolean or null, not an integer"},
};

START_TEST(what_is_wrong_is_said)
{
	json_t *event = json_loads(bad[_i].json, 0, NULL);
	struct drill_err err = {0};

	ck_assert_int_eq(drill_event_check(event, &err), -EINVAL);
	ck_assert_msg(strstr(err.msg, bad[_i].says), "%s", err.msg);
	json_decref(event);
}
END_TEST

START_TEST(other_fields_are_kept)
{
	json_t *event = json_loads("{\"kind\":\"log\",\"t_s\":1,\"text\":\"x\","
				   "\"mine\":[1,{\"a\":2}]}",
				   0, NULL);

	ck_assert_int_eq(drill_event_check(event, NULL), 0);
	json_decref(event);
}
END_TEST

#define ONE "{\"kind\":\"log\",\"t_s\":1,\"text\":\"x\"}\n"

static const struct {
	const char *text;
	int rc, events;
	bool torn;
	const char *says;
} files[] = {
	{"", 0, 0, false, NULL},
	{ONE ONE, 0, 2, false, NULL},
	{ONE "{\"kind\":\"log\",\"t_s\":1,\"te", 0, 1, true, NULL},
	{ONE "{", 0, 1, true, NULL},
	{ONE "{\"kind\":\"log\",\"t_s\":1,\"text\":\"x\"}", 0, 2, false, NULL},
	{ONE "nonsense\n" ONE, -EPROTO, 0, false, ":2: no JSON"},
	{ONE "\n", -EPROTO, 0, false, ":2: "},
	{ONE "[]\n", -EPROTO, 0, false, ":2: a list where an object"},
	{ONE "{\"kind\":\"lgo\",\"t_s\":1}\n", -EINVAL, 0, false,
	 ":2: no kind 'lgo', did you mean 'log'?"},
};

START_TEST(files_are_read_line_by_line)
{
	char path[] = "/tmp/drill-events.XXXXXX";
	int fd = mkstemp(path);
	struct drill_err err = {0};
	json_t *events;
	bool torn = false;

	ck_assert_int_eq(write(fd, files[_i].text, strlen(files[_i].text)),
			 (int)strlen(files[_i].text));
	close(fd);
	ck_assert_int_eq(drill_events_read(path, &events, &torn, &err),
			 files[_i].rc);
	ck_assert_uint_eq(json_array_size(events), (size_t)files[_i].events);
	ck_assert(torn == files[_i].torn);
	if (files[_i].says) {
		ck_assert_msg(strstr(err.msg, files[_i].says), "%s", err.msg);
		ck_assert_ptr_nonnull(strstr(err.msg, path));
	}
	json_decref(events);
	unlink(path);
}
END_TEST

START_TEST(a_log_is_never_overwritten)
{
	char path[] = "/tmp/drill-events.XXXXXX";
	struct drill_event_log log;
	struct drill_err err = {0};

	close(mkstemp(path));
	ck_assert_int_eq(drill_event_log_open(&log, path, &err), -EEXIST);
	ck_assert_ptr_nonnull(strstr(err.msg, path));
	unlink(path);
}
END_TEST

START_TEST(a_full_disk_is_an_error)
{
	struct drill_event_log log = {.f = fopen("/dev/full", "w")};
	json_t *event = json_loads(ONE, 0, NULL);
	struct drill_err err = {0};

	if (!log.f)
		SKIP("no /dev/full");
	ck_assert_int_eq(drill_event_log_write(&log, event, &err), -ENOSPC);
	ck_assert_uint_eq(log.lines, 0);
	fclose(log.f);
	json_decref(event);
}
END_TEST

#define ROWS(a) ((int)(sizeof(a) / sizeof((a)[0])))

int main(void)
{
	Suite *s = suite_create("event");
	TCase *t = tcase_create("event");

	tcase_add_test(t, every_kind_reads_and_writes_back_to_the_byte);
	tcase_add_test(t,
		       the_golden_file_has_every_kind_and_every_required_field);
	tcase_add_test(t, without_a_required_field_no_event_is_one);
	tcase_add_loop_test(t, what_is_wrong_is_said, 0, ROWS(bad));
	tcase_add_test(t, other_fields_are_kept);
	tcase_add_loop_test(t, files_are_read_line_by_line, 0, ROWS(files));
	tcase_add_test(t, a_log_is_never_overwritten);
	tcase_add_test(t, a_full_disk_is_an_error);
	suite_add_tcase(s, t);
	return drill_check_main(s);
}
