/* test_line.c - what is written as text is what a JSON reader reads
 * SPDX-License-Identifier: MIT
 */
#include "check_main.h"

#include "harness/agent/line.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

static json_t *read_back(struct drill_line *l)
{
	json_t *o;

	drill_line_end(l);
	ck_assert_uint_eq(l->n, strlen(l->text));
	o = json_loads(l->text, 0, NULL);
	ck_assert_msg(json_is_object(o), "%s", l->text);
	return o;
}

START_TEST(each_type_reads_back_as_it_was)
{
	struct drill_line l;
	json_t *o;

	drill_line_begin(&l);
	drill_line_int(&l, "min", INT64_MIN);
	drill_line_int(&l, "max", INT64_MAX);
	drill_line_int(&l, "zero", 0);
	drill_line_number(&l, "pi", 3.25);
	drill_line_text(&l, "text", "abcdef", 3);
	drill_line_pair(&l, "pair", "a", -1, "b", 2);
	o = read_back(&l);
	ck_assert(json_integer_value(json_object_get(o, "min")) == INT64_MIN);
	ck_assert(json_integer_value(json_object_get(o, "max")) == INT64_MAX);
	ck_assert_int_eq(json_integer_value(json_object_get(o, "zero")), 0);
	ck_assert(json_number_value(json_object_get(o, "pi")) == 3.25);
	ck_assert_str_eq(json_string_value(json_object_get(o, "text")), "abc");
	ck_assert_int_eq(json_integer_value(json_object_get(
				 json_object_get(o, "pair"), "a")), -1);
	json_decref(o);
}
END_TEST

START_TEST(what_json_has_no_number_for_is_a_word)
{
	struct drill_line l;
	json_t *o;

	drill_line_begin(&l);
	drill_line_number(&l, "a", NAN);
	drill_line_number(&l, "b", INFINITY);
	drill_line_number(&l, "c", -INFINITY);
	o = read_back(&l);
	ck_assert_str_eq(json_string_value(json_object_get(o, "a")), "nan");
	ck_assert_str_eq(json_string_value(json_object_get(o, "b")), "inf");
	ck_assert_str_eq(json_string_value(json_object_get(o, "c")), "-inf");
	json_decref(o);
}
END_TEST

START_TEST(hostile_text_cannot_break_out)
{
	static const char text[] = "a\"b\\c\n\xff\x01z";
	struct drill_line l;
	json_t *o;

	drill_line_begin(&l);
	drill_line_text(&l, "t", text, sizeof(text));
	o = read_back(&l);
	ck_assert_str_eq(json_string_value(json_object_get(o, "t")),
			 "a?b?c???z");
	json_decref(o);
}
END_TEST

START_TEST(what_does_not_fit_is_left_out_whole)
{
	struct drill_line l;
	char big[300];
	json_t *o;
	int i;

	memset(big, 'x', sizeof(big));
	drill_line_begin(&l);
	for (i = 0; i < 10; i++) {
		drill_line_text(&l, "t", big, sizeof(big));
		drill_line_int(&l, "i", 123456789);
		drill_line_pair(&l, "p", "a", 1, "b", 2);
		drill_line_number(&l, "n", 0.1);
	}
	o = read_back(&l);
	ck_assert_uint_lt(l.n, sizeof(l.text));
	json_decref(o);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("line");
	TCase *t = tcase_create("line");

	tcase_add_test(t, each_type_reads_back_as_it_was);
	tcase_add_test(t, what_json_has_no_number_for_is_a_word);
	tcase_add_test(t, hostile_text_cannot_break_out);
	tcase_add_test(t, what_does_not_fit_is_left_out_whole);
	suite_add_tcase(s, t);
	return drill_check_main(s);
}
