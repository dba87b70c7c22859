/* test_outcome.c - outcomes, their order and their exit statuses
 * SPDX-License-Identifier: MIT
 */
#include "check_main.h"

#include "harness/core/outcome.h"

#include <errno.h>
#include <string.h>

/* Worst first. */
static const enum drill_outcome across[] = {
	DRILL_DIRTY, DRILL_USAGE, DRILL_ERROR, DRILL_FAIL,
	DRILL_INCONCLUSIVE, DRILL_SKIP, DRILL_PASS,
};

static const enum drill_outcome in_trial[] = {
	DRILL_DIRTY, DRILL_USAGE, DRILL_ERROR, DRILL_INCONCLUSIVE,
	DRILL_FAIL, DRILL_SKIP, DRILL_PASS,
};

START_TEST(the_worse_of_two_wins_whatever_their_order)
{
	int i, j;

	for (i = 0; i < 7; i++) {
		for (j = i; j < 7; j++) {
			ck_assert_int_eq(drill_outcome_worse(across[i],
							     across[j]),
					 across[i]);
			ck_assert_int_eq(drill_outcome_worse(across[j],
							     across[i]),
					 across[i]);
			ck_assert_int_eq(drill_outcome_in_trial(in_trial[i],
								in_trial[j]),
					 in_trial[i]);
			ck_assert_int_eq(drill_outcome_in_trial(in_trial[j],
								in_trial[i]),
					 in_trial[i]);
		}
	}
}
END_TEST

START_TEST(names_read_back_and_every_row_is_a_sentence)
{
	enum drill_outcome o, back;
	const char *doc;

	for (o = DRILL_PASS; o <= DRILL_INCONCLUSIVE; o++) {
		ck_assert_int_eq(drill_outcome_parse(drill_outcome_name(o),
						     &back),
				 0);
		ck_assert_int_eq(o, back);
		doc = drill_outcome_doc(o);
		ck_assert_int_eq(doc[strlen(doc) - 1], '.');
	}
	ck_assert_int_eq(drill_outcome_parse("passed", &back), -EINVAL);
}
END_TEST

START_TEST(the_value_is_the_exit_status)
{
	ck_assert_int_eq(DRILL_PASS, 0);
	ck_assert_int_eq(DRILL_FAIL, 1);
	ck_assert_int_eq(DRILL_USAGE, 2);
	ck_assert_int_eq(DRILL_ERROR, 3);
	ck_assert_int_eq(DRILL_SKIP, 4);
	ck_assert_int_eq(DRILL_DIRTY, 5);
	ck_assert_int_eq(DRILL_INCONCLUSIVE, 6);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("outcome");
	TCase *t = tcase_create("outcome");

	tcase_add_test(t, the_worse_of_two_wins_whatever_their_order);
	tcase_add_test(t, names_read_back_and_every_row_is_a_sentence);
	tcase_add_test(t, the_value_is_the_exit_status);
	suite_add_tcase(s, t);
	return drill_check_main(s);
}
