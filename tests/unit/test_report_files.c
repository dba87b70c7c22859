/* test_report_files.c - what the writers write, compared to the byte
 * SPDX-License-Identifier: MIT
 *
 * tests/data/runs/NAME.json are finished runs of every kind; NAME.run.golden,
 * .junit.golden and .terminal.golden are what must come out. GOLDEN=write
 * writes them again: then read the difference.
 */
#include "check_main.h"

#include "reports/look.h"
#include "reports/reporter.h"
#include "reports/summary.h"

#include <ctype.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/wait.h>
#include <sys/stat.h>
#include <unistd.h>

#define RUNS "tests/data/runs"

static const char *const names[] = { "fail", "pass", "unnoticed", "livelock",
	"null", "inconclusive", "skip", "dirty", "error", "hooks" };

#define COUNT(a) ((int)(sizeof(a) / sizeof(*(a))))

static json_t *load(const char *name)
{
	char path[200];
	json_error_t err;
	json_t *run;

	snprintf(path, sizeof(path), RUNS "/%s.json", name);
	run = json_load_file(path, 0, &err);
	ck_assert_msg(run != NULL, "%s: %s", path, err.text);
	return run;
}

static char *written(const struct drill_reporter *rep, json_t *run,
		     json_t *events, bool colour)
{
	struct drill_report r = { .run = run, .events = events, .trial = -1,
				  .dir = "runs/latest", .colour = colour };
	struct drill_err err = { 0 };
	char *out = NULL;
	size_t n;
	FILE *f = open_memstream(&out, &n);

	ck_assert_int_eq(rep->write(&r, f, &err), 0);
	fclose(f);
	return out;
}

static char *slurp(const char *path)
{
	char *text = NULL;
	size_t n;
	FILE *out, *f = fopen(path, "r");

	if (!f)
		return strdup("");
	out = open_memstream(&text, &n);
	for (int c; (c = getc(f)) != EOF;)
		putc(c, out);
	fclose(out);
	fclose(f);
	return text;
}

static void golden(const char *name, const char *kind, const char *text)
{
	const char *write = getenv("GOLDEN");
	char path[200], *want;
	size_t at = 0;

	snprintf(path, sizeof(path), RUNS "/%s.%s.golden", name, kind);
	if (write && !strcmp(write, "write")) {
		FILE *f = fopen(path, "w");

		fputs(text, f);
		fclose(f);
	}
	want = slurp(path);
	while (want[at] && want[at] == text[at])
		at++;
	ck_assert_msg(!strcmp(want, text), "%s differs at byte %zu: want "
		      "\"%.60s\", got \"%.60s\"", path, at, want + at,
		      text + at);
	free(want);
}

START_TEST(run_json_has_one_order_of_fields)
{
	json_t *run = load(names[_i]);
	char *text = written(&drill_report_json, run, NULL, false);

	golden(names[_i], "run", text);
	free(text);
	json_decref(run);
}
END_TEST

START_TEST(run_json_read_again_is_written_the_same)
{
	json_t *run = load(names[_i]), *again;
	char *one = written(&drill_report_json, run, NULL, false), *two;

	again = json_loads(one, 0, NULL);
	ck_assert_ptr_nonnull(again);
	two = written(&drill_report_json, again, NULL, false);
	ck_assert_str_eq(one, two);
	free(one);
	free(two);
	json_decref(run);
	json_decref(again);
}
END_TEST

START_TEST(drawing_data_stays_out_of_run_json)
{
	json_t *run = load("pass"), *out;
	json_t *trial = json_array_get(json_object_get(run, "trials"), 1);
	char *text;

	json_object_set_new(trial, "segments", json_pack("[{s:i}]", "slot", 0));
	json_object_set_new(trial, "throughput", json_array());
	text = written(&drill_report_json, run, NULL, false);
	out = json_loads(text, 0, NULL);
	ck_assert_ptr_null(drill_look(out, "trials.1.segments"));
	ck_assert_ptr_null(drill_look(out, "trials.1.throughput"));
	ck_assert_ptr_nonnull(drill_look(out, "trials.1.ledger"));
	/* The run in memory keeps them for the page. */
	ck_assert_ptr_nonnull(drill_look(run, "trials.1.segments"));
	free(text);
	json_decref(out);
	json_decref(run);
}
END_TEST

/* Columns of the longest line, not counting escape sequences. */
static int widest(const char *text)
{
	int most = 0, n = 0;

	for (; *text; text++) {
		if (*text == '\033')
			text += strcspn(text, "m");
		else if (*text == '\n')
			n = 0;
		else
			n += ((unsigned char)*text & 0xc0) != 0x80;
		most = n > most ? n : most;
	}
	return most;
}

START_TEST(the_summary_fits_and_says_the_verdict_first)
{
	json_t *run = load(names[_i]);
	char *text = written(&drill_report_terminal, run, NULL, false);
	const char *word = drill_outcome_name(drill_run_outcome(run));

	golden(names[_i], "terminal", text);
	ck_assert_int_le(widest(text), 80);
	ck_assert_ptr_null(strchr(text, '\033'));
	for (size_t i = 0; word[i]; i++)
		ck_assert_int_eq(text[i], toupper((unsigned char)word[i]));
	ck_assert_ptr_nonnull(strstr(text, "runs/latest/report.html\n"));
	ck_assert_ptr_nonnull(strstr(strstr(text, "report.html"),
				     "repeat         faultdrill run "));
	free(text);
	json_decref(run);
}
END_TEST

START_TEST(colour_changes_nothing_but_colour)
{
	json_t *run = load("fail");
	char *plain = written(&drill_report_terminal, run, NULL, false);
	char *paint = written(&drill_report_terminal, run, NULL, true);
	char *to = paint;

	ck_assert_ptr_nonnull(strchr(paint, '\033'));
	for (char *c = paint; *c; c++) {
		if (*c == '\033')
			c += strcspn(c, "m");
		else
			*to++ = *c;
	}
	*to = '\0';
	ck_assert_str_eq(plain, paint);
	free(plain);
	free(paint);
	json_decref(run);
}
END_TEST

START_TEST(colour_is_for_terminals_that_want_it)
{
	FILE *file = tmpfile(), *tty = NULL;
	int pty = posix_openpt(O_RDWR | O_NOCTTY);

	setenv("TERM", "xterm", 1);
	unsetenv("NO_COLOR");
	ck_assert(!drill_report_colour(file));
	if (pty >= 0 && !grantpt(pty) && !unlockpt(pty))
		tty = fopen(ptsname(pty), "r+");
	if (tty) {
		ck_assert(drill_report_colour(tty));
		setenv("NO_COLOR", "1", 1);
		ck_assert(!drill_report_colour(tty));
		unsetenv("NO_COLOR");
		setenv("TERM", "dumb", 1);
		ck_assert(!drill_report_colour(tty));
		fclose(tty);
	}
	fclose(file);
}
END_TEST

/* Is @text well-formed, by a parser that is not ours? 127: there is none. */
static int xmllint(const char *text, const char *option)
{
	char path[] = "/tmp/faultdrill-report-XXXXXX", cmd[300];
	int fd = mkstemp(path), status;
	size_t n = strlen(text);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, text, n), (ssize_t)n);
	close(fd);
	snprintf(cmd, sizeof(cmd), "xmllint --noout --nonet %s %s 2>&1",
		 option, path);
	status = system(cmd);
	unlink(path);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

START_TEST(junit_is_well_formed_and_says_why)
{
	json_t *run = load(names[_i]);
	char *text = written(&drill_report_junit, run, NULL, false);
	int r = xmllint(text, "");

	golden(names[_i], "junit", text);
	free(text);
	json_decref(run);
	if (r == 127)
		SKIP("no xmllint here");
	ck_assert_int_eq(r, 0);
}
END_TEST

START_TEST(a_skip_names_what_it_needs_and_where)
{
	json_t *run = load("skip");
	char *text = written(&drill_report_junit, run, NULL, false);

	ck_assert_ptr_nonnull(strstr(text, "skipped=\"1\""));
	ck_assert_ptr_nonnull(strstr(text,
		"<skipped message=\"needs sch_netem on host h1.\"/>"));
	free(text);
	json_decref(run);
}
END_TEST

START_TEST(several_scenarios_are_one_junit_file)
{
	struct drill_report r[2] = { { .run = load("fail") },
				     { .run = load("skip") } };
	struct drill_err err = { 0 };
	char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);
	int rc;

	ck_assert_int_eq(drill_junit_write(r, 2, f, &err), 0);
	fclose(f);
	ck_assert_ptr_nonnull(strstr(text, "<testsuites name=\"faultdrill\" "
		"tests=\"6\" failures=\"1\" errors=\"0\" skipped=\"1\">"));
	rc = xmllint(text, "");
	free(text);
	json_decref(r[0].run);
	json_decref(r[1].run);
	if (rc == 127)
		SKIP("no xmllint here");
	ck_assert_int_eq(rc, 0);
}
END_TEST

#define EVIL "</script></style><script>alert(1)</script>\"'><img src=x " \
	     "onerror=alert(1)>&amp;]]>\xe2\x80\xae\x1b[31m"

/* Every text in the run becomes hostile, except what is one of our words. */
static void poison(json_t *v)
{
	static const char *const ours[] = { "schema", "outcome", "role", "op",
		"kind", "category", NULL };
	json_t *item;
	const char *key;
	size_t i;
	void *next;

	json_array_foreach (v, i, item) {
		if (json_is_string(item))
			json_array_set_new(v, i, json_string(EVIL));
		else
			poison(item);
	}
	if (!json_is_object(v))
		return;
	json_object_foreach_safe (v, next, key, item) {
		for (i = 0; ours[i] && strcmp(ours[i], key); i++)
			;
		if (json_is_string(item) && !ours[i])
			json_object_set_new(v, key, json_string(EVIL));
		else
			poison(item);
	}
}

static size_t occurrences(const char *text, const char *of)
{
	size_t n = 0;

	while ((text = strstr(text, of))) {
		text += strlen(of);
		n++;
	}
	return n;
}

static json_t *events_of_a_fault(void)
{
	return json_pack("[{s:s,s:i,s:f,s:s,s:s,s:{s:s,s:{s:s}}},"
			 "{s:s,s:i,s:f,s:i,s:s},{s:s,s:s,s:f}]",
			 "kind", "fault.effective", "trial", 1, "t_s", 117.6,
			 "fault", EVIL, "host", EVIL, "evidence", EVIL, EVIL,
			 "deeper", EVIL, EVIL, "kind", "rank.begin", "trial", 1,
			 "t_s", 100.5, "rank", 3, "host", EVIL, "kind",
			 "clock.offset", "host", EVIL, "offset_s", 1e-6);
}

START_TEST(hostile_text_stays_text_on_the_page)
{
	json_t *run = load(names[_i]), *events = events_of_a_fault();
	char *clean = written(&drill_report_html, run, NULL, false), *page;

	poison(run);
	page = written(&drill_report_html, run, events, false);
	ck_assert_ptr_null(strstr(page, "<script>alert"));
	ck_assert_ptr_null(strstr(page, "<img"));
	ck_assert_ptr_null(strchr(page, '\033'));
	ck_assert_ptr_null(strstr(page, "\xe2\x80\xae"));
	/* Not one element more that can do something. */
	ck_assert_uint_le(occurrences(page, "<script"),
			  occurrences(clean, "<script") + 1);
	ck_assert_uint_eq(occurrences(page, "</style>"), 1);
	ck_assert_ptr_null(strstr(page, "onerror=alert(1)>&amp;]"));
	ck_assert_ptr_nonnull(strstr(page, "&lt;script&gt;alert(1)"));
	free(clean);
	free(page);
	json_decref(events);
	json_decref(run);
}
END_TEST

START_TEST(hostile_text_stays_text_in_junit)
{
	json_t *run = load(names[_i]);
	char *text;
	int r;

	poison(run);
	text = written(&drill_report_junit, run, NULL, false);
	r = xmllint(text, "");
	free(text);
	json_decref(run);
	if (r == 127)
		SKIP("no xmllint here");
	ck_assert_int_eq(r, 0);
}
END_TEST

/* Takes fields away, one after another: a writer copes with what is absent,
 * and with what is of another type. */
static void without_each(json_t *run, json_t *in)
{
	json_t *whole = json_copy(in), *v;
	const char *key;

	json_object_foreach (whole, key, v) {
		json_object_del(in, key);
		free(written(&drill_report_terminal, run, NULL, false));
		free(written(&drill_report_junit, run, NULL, false));
		free(written(&drill_report_html, run, NULL, false));
		json_object_set_new(in, key, json_array());
		free(written(&drill_report_terminal, run, NULL, false));
		free(written(&drill_report_html, run, NULL, false));
		json_object_set(in, key, v);
	}
	json_decref(whole);
}

START_TEST(a_writer_copes_with_what_is_absent)
{
	json_t *run = load("fail");
	json_t *trial = drill_look(run, "trials.2");

	without_each(run, run);
	without_each(run, trial);
	without_each(run, drill_look(trial, "ledger"));
	without_each(run, drill_look(trial, "incidents.0"));
	without_each(run, drill_look(trial, "incidents.0.instants"));
	without_each(run, drill_look(run, "expectations.0"));
	json_object_clear(run);
	without_each(run, run);
	free(written(&drill_report_html, run, NULL, false));
	free(written(&drill_report_json, run, NULL, false));
	free(written(&drill_report_junit, run, NULL, false));
	json_decref(run);
}
END_TEST

START_TEST(the_page_loads_nothing_from_anywhere)
{
	json_t *run = load(names[_i]);
	char *page = written(&drill_report_html, run, NULL, false);

	ck_assert_ptr_null(strstr(page, "http://"));
	ck_assert_ptr_null(strstr(page, "https://"));
	ck_assert_ptr_null(strstr(page, "src="));
	ck_assert_ptr_null(strstr(page, "@import"));
	ck_assert_ptr_nonnull(strstr(page, "</html>\n"));
	free(page);
	json_decref(run);
}
END_TEST

START_TEST(a_saved_file_is_whole_or_not_there)
{
	char dir[] = "/tmp/faultdrill-report-XXXXXX", path[100];
	struct drill_report r = { .run = load("pass"), .trial = -1 };
	struct drill_err err = { 0 };

	r.dir = mkdtemp(dir);
	ck_assert_int_eq(drill_report_save(&drill_report_html, &r, &err), 0);
	snprintf(path, sizeof(path), "%s/report.html", dir);
	ck_assert_int_eq(access(path, R_OK), 0);
	unlink(path);
	ck_assert_int_eq(rmdir(dir), 0); /* nothing else was left in it */
	ck_assert_int_lt(drill_report_save(&drill_report_html, &r, &err), 0);
	ck_assert_ptr_nonnull(strstr(err.msg, dir));
	json_decref(r.run);
}
END_TEST

START_TEST(one_writer_that_fails_keeps_none_of_the_others)
{
	static const char *const files[] = { "run.json", "junit.xml",
					     "report.html" };
	char dir[] = "/tmp/faultdrill-report-XXXXXX", path[100], block[100];
	struct drill_report r = { .run = load("pass"), .trial = -1 };
	struct drill_err err = { 0 };

	r.dir = mkdtemp(dir);
	snprintf(block, sizeof(block), "%s/junit.xml.tmp", dir);
	ck_assert_int_eq(mkdir(block, 0755), 0);
	ck_assert_int_lt(drill_report_save_all(&r, &err), 0);
	ck_assert_msg(strstr(err.msg, "junit.xml: "), "%s", err.msg);
	for (int i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, files[i]);
		ck_assert_int_eq(access(path, R_OK), i == 1 ? -1 : 0);
		unlink(path);
	}
	rmdir(block);
	ck_assert_int_eq(drill_report_save_all(&r, &err), 0);
	for (int i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, files[i]);
		ck_assert_int_eq(unlink(path), 0);
	}
	ck_assert_int_eq(rmdir(dir), 0);
	json_decref(r.run);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("report files");
	TCase *t = tcase_create("files");

	tcase_set_timeout(t, 60);
	tcase_add_loop_test(t, run_json_has_one_order_of_fields, 0,
			    COUNT(names));
	tcase_add_loop_test(t, run_json_read_again_is_written_the_same, 0,
			    COUNT(names));
	tcase_add_test(t, drawing_data_stays_out_of_run_json);
	tcase_add_loop_test(t, the_summary_fits_and_says_the_verdict_first, 0,
			    COUNT(names));
	tcase_add_test(t, colour_changes_nothing_but_colour);
	tcase_add_test(t, colour_is_for_terminals_that_want_it);
	tcase_add_loop_test(t, junit_is_well_formed_and_says_why, 0,
			    COUNT(names));
	tcase_add_test(t, a_skip_names_what_it_needs_and_where);
	tcase_add_test(t, several_scenarios_are_one_junit_file);
	tcase_add_loop_test(t, hostile_text_stays_text_on_the_page, 0,
			    COUNT(names));
	tcase_add_loop_test(t, hostile_text_stays_text_in_junit, 0,
			    COUNT(names));
	tcase_add_test(t, a_writer_copes_with_what_is_absent);
	tcase_add_loop_test(t, the_page_loads_nothing_from_anywhere, 0,
			    COUNT(names));
	tcase_add_test(t, a_saved_file_is_whole_or_not_there);
	tcase_add_test(t, one_writer_that_fails_keeps_none_of_the_others);
	suite_add_tcase(s, t);
	return drill_check_main(s);
}
