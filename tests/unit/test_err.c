/* test_err.c - the first cause is kept
 * SPDX-License-Identifier: MIT
 */
#include "check_main.h"

#include "harness/core/err.h"

#include <errno.h>
#include <string.h>

START_TEST(keeps_the_first_cause_and_appends_later_ones)
{
	struct drill_err err = {0};
	char buf[600];

	ck_assert_int_eq(drill_err_set(&err, -EIO, "a", "first %d", 1), -EIO);
	ck_assert_int_eq(drill_err_set(&err, -EPERM, "b", "second"), -EPERM);
	ck_assert_int_eq(err.code, -EIO);
	ck_assert_str_eq(drill_err_text(&err, buf, sizeof(buf)),
			 "a: first 1; second");
}
END_TEST

START_TEST(adds_the_text_of_the_errno_whatever_its_sign)
{
	static const int signs[] = {ENOENT, -ENOENT};
	size_t i;

	for (i = 0; i < 2; i++) {
		struct drill_err err = {0};

		ck_assert_int_eq(drill_err_errno(&err, signs[i], "a",
						 "cannot open '%s'", "x"),
				 -ENOENT);
		ck_assert_str_eq(err.msg,
				 "cannot open 'x': No such file or directory");
	}
}
END_TEST

START_TEST(works_without_a_struct)
{
	ck_assert_int_eq(drill_err_set(NULL, -EIO, "a", "x"), -EIO);
}
END_TEST

START_TEST(an_argument_may_be_its_own_message)
{
	struct drill_err err = {0};

	drill_err_set(&err, -EIO, "a", "x");
	drill_err_set(&err, -EIO, "a", "again: %s", err.msg);
	ck_assert_str_eq(err.msg, "x; again: x");
}
END_TEST

START_TEST(stays_inside_its_bounds)
{
	struct drill_err err = {0};
	char buf[8];
	int i;

	for (i = 0; i < 100; i++)
		drill_err_set(&err, -EIO, "a", "%0200d", i);
	ck_assert_uint_eq(strlen(err.msg), sizeof(err.msg) - 1);
	ck_assert_str_eq(drill_err_text(&err, buf, sizeof(buf)), "a: 0000");
}
END_TEST

START_TEST(says_when_nothing_failed)
{
	struct drill_err err = {0};
	char buf[32];

	ck_assert_str_eq(drill_err_text(&err, buf, sizeof(buf)), "no error");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("err");
	TCase *t = tcase_create("err");

	tcase_add_test(t, keeps_the_first_cause_and_appends_later_ones);
	tcase_add_test(t, adds_the_text_of_the_errno_whatever_its_sign);
	tcase_add_test(t, works_without_a_struct);
	tcase_add_test(t, an_argument_may_be_its_own_message);
	tcase_add_test(t, stays_inside_its_bounds);
	tcase_add_test(t, says_when_nothing_failed);
	suite_add_tcase(s, t);
	return drill_check_main(s);
}
