/* test_report_text.c - numbers and foreign text, as all reports print them
 * SPDX-License-Identifier: MIT
 */
#include "check_main.h"

#include "reports/look.h"

#include <math.h>
#include <string.h>

static const struct {
	double v;
	int digits;
	const char *print, *plain;
} numbers[] = {
	{ 0, 2, "0.00", "0.00" },
	{ -0.0, 0, "0", "0" },
	{ -0.004, 2, "0.00", "0.00" },
	{ -1.5, 1, "\u22121.5", "-1.5" },
	{ 999, 0, "999", "999" },
	{ 1000, 0, "1\u2009000", "1000" },
	{ 1234567.891, 1, "1\u2009234\u2009567.9", "1234567.9" },
	{ -43200, 0, "\u221243\u2009200", "-43200" },
	{ 5.4, -1, "5.40", "5.40" },
	{ 43.2, -1, "43.2", "43.2" },
	{ 155.2, -1, "155", "155" },
	{ 0.0123, -1, "0.012", "0.012" },
	{ 9.9996, -1, "10.0", "10.0" },
	{ 0.0004, -1, "<0.001", "<0.001" },
	{ -0.0004, -1, "0.000", "0.000" },
	{ 0.0005, -1, "0.001", "0.001" },
	{ INFINITY, 3, "never", "never" },
	{ NAN, 3, "", "" },
	{ 1e300, 0, "1.000e+300", "1.000e+300" },
};

START_TEST(numbers_are_printed_by_one_rule)
{
	char buf[DRILL_NUM];

	ck_assert_str_eq(drill_num_print(buf, numbers[_i].v, numbers[_i].digits),
			 numbers[_i].print);
	ck_assert_str_eq(drill_num_plain(buf, numbers[_i].v, numbers[_i].digits),
			 numbers[_i].plain);
}
END_TEST

static const struct {
	const char *in, *out;
} hostile[] = {
	{ "plain", "plain" },
	{ "<script>alert(\"1\")</script>",
	  "&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;" },
	{ "a&b 'c'", "a&amp;b &#39;c&#39;" },
	{ "]]>--!>", "]]&gt;--!&gt;" },
	{ "\x1b[31m\x07\x7f", "\ufffd[31m\ufffd\ufffd" },
	{ "line\nand\ttab", "line\nand\ttab" },
	{ "\u202egnp.exe", "\ufffdgnp.exe" },
	{ "\u2066x\u2069\ufeff", "\ufffdx\ufffd\ufffd" },
	{ "\xff\xfe", "\ufffd\ufffd" },
	{ "\xc0\xaf", "\ufffd\ufffd" },	    /* "/" too long */
	{ "\xed\xa0\x80", "\ufffd\ufffd\ufffd" }, /* half a surrogate */
	{ "\xf4\x90\x80\x80", "\ufffd\ufffd\ufffd\ufffd" },
	{ "\xe2\x82", "\ufffd\ufffd" },	    /* cut off */
	{ "\xe2\x82<", "\ufffd\ufffd&lt;" }, /* cut off before markup */
	{ "\xef\xbf\xbe", "\ufffd" },	    /* no character */
	{ "gr\u00fc\u00dfe \u6c34 \U0001f525", "gr\u00fc\u00dfe \u6c34 \U0001f525" },
};

START_TEST(foreign_text_cannot_become_markup)
{
	char *out = NULL;
	size_t n;
	FILE *f = open_memstream(&out, &n);

	drill_escape(f, hostile[_i].in);
	fclose(f);
	ck_assert_str_eq(out, hostile[_i].out);
	free(out);
}
END_TEST

START_TEST(foreign_text_cannot_drive_a_terminal)
{
	char *out = NULL;
	size_t n;
	FILE *f = open_memstream(&out, &n);
	int columns;

	columns = drill_print_text(f, "\x1b]0;title\x07 two\nlines \xff", 0);
	putc('|', f);
	columns += drill_print_text(f, "gr\u00fc\u00dfe und mehr", 6);
	fclose(f);
	ck_assert_str_eq(out, "?]0;title? two lines ?|gr\u00fc\u00dfe~");
	ck_assert_int_eq(columns, 22 + 6);
	free(out);
}
END_TEST

START_TEST(values_read_with_their_unit)
{
	static const struct {
		const char *json, *unit, *plain, *print;
	} v[] = {
		{ "\"10s\"", "s", "10 s", "10\u00a0s" },
		{ "\"240 rank*s\"", "", "240 rank*s", "240\u00a0rank\u00b7s" },
		{ "\"95% of baseline\"", "", "95% of baseline",
		  "95% of baseline" },
		{ "\"0c9acc2\"", "", "0c9acc2", "0c9acc2" },
		{ "\"2026-03-14T02:10:07Z\"", "", "2026-03-14T02:10:07Z",
		  "2026-03-14T02:10:07Z" },
		{ "\"never\"", "s", "never", "never" },
		{ "79", "", "79", "79" },
		{ "11.618", "s", "11.6 s", "11.6\u00a0s" },
		{ "true", "", "yes", "yes" },
		{ "[1,2]", "", "[1,2]", "[1,2]" },
		{ "null", "s", "", "" },
	};
	char buf[100];

	for (size_t i = 0; i < sizeof(v) / sizeof(*v); i++) {
		json_t *j = json_loads(v[i].json, JSON_DECODE_ANY, NULL);

		ck_assert_ptr_nonnull(j);
		ck_assert_str_eq(drill_value_text(j, v[i].unit, true, buf,
						  sizeof(buf)), v[i].plain);
		ck_assert_str_eq(drill_value_text(j, v[i].unit, false, buf,
						  sizeof(buf)), v[i].print);
		json_decref(j);
	}
}
END_TEST

START_TEST(what_is_absent_is_not_tripped_over)
{
	json_t *o = json_loads("{\"a\":{\"b\":[{\"c\":1.5},null]},"
			       "\"n\":\"never\"}", 0, NULL);

	ck_assert_double_eq(drill_look_num(o, "a.b.0.c"), 1.5);
	ck_assert(isinf(drill_look_num(o, "n")));
	ck_assert(isnan(drill_look_num(o, "a.b")));
	ck_assert_ptr_null(drill_look(o, "a.b.1"));
	ck_assert_ptr_null(drill_look(o, "a.b.7.c"));
	ck_assert_ptr_null(drill_look(o, "a.x.y"));
	ck_assert_ptr_null(drill_look(NULL, "a"));
	ck_assert_str_eq(drill_look_text(o, "a.b", "?"), "?");
	ck_assert_uint_eq(drill_look_size(o, "a.b"), 2);
	json_decref(o);
}
END_TEST

#define COUNT(a) ((int)(sizeof(a) / sizeof(*(a))))

int main(void)
{
	Suite *s = suite_create("report text");
	TCase *t = tcase_create("text");

	tcase_add_loop_test(t, numbers_are_printed_by_one_rule, 0,
			    COUNT(numbers));
	tcase_add_loop_test(t, foreign_text_cannot_become_markup, 0,
			    COUNT(hostile));
	tcase_add_test(t, foreign_text_cannot_drive_a_terminal);
	tcase_add_test(t, values_read_with_their_unit);
	tcase_add_test(t, what_is_absent_is_not_tripped_over);
	suite_add_tcase(s, t);
	return drill_check_main(s);
}
