/* test_live.c - what a drill tells of itself where no line can move
 * SPDX-License-Identifier: MIT
 */
#include "check_main.h"

#include "harness/cli/live.h"

#include <stdlib.h>
#include <string.h>

static struct drill_live live;
static char *said;
static size_t size;

static void setup(void)
{
	setenv("TERM", "dumb", 1);
	drill_live_begin(&live, "x", "y", true);
	live.quiet = false;
	live.to = open_memstream(&said, &size);
}

static void teardown(void)
{
	fclose(live.to);
	free(said);
}

static struct drill_progress at(double s, const char *phase, int64_t step)
{
	return (struct drill_progress){
		.phase = phase, .trial = 1, .trials = 3, .role = "fault",
		.step = step, .steps = 32, .armed = 1, .elapsed_s = s,
	};
}

static int lines(void)
{
	const char *p;
	int n = 0;

	fflush(live.to);
	for (p = said; p && *p; p++)
		n += *p == '\n';
	return n;
}

START_TEST(the_state_is_told_again_after_five_seconds)
{
	struct drill_progress p;
	int i;

	for (i = 0; i <= 120; i++) {
		p = at(i / 10.0, "train", 1 + i / 10);
		drill_live_show(&live, &p);
	}
	ck_assert_int_eq(lines(), 3); /* at 0, 5 and 10 s */
	ck_assert_ptr_nonnull(strstr(said, "10.00 s  trial 1/3 fault  train  "
					   "step 11/32"));
}
END_TEST

START_TEST(a_fault_that_fires_is_told_at_once)
{
	struct drill_progress p = at(1, "train", 3);

	drill_live_show(&live, &p);
	p.elapsed_s = 1.1;
	drill_live_show(&live, &p);
	p.fired = 1;
	p.elapsed_s = 1.2;
	drill_live_show(&live, &p);
	ck_assert_int_eq(lines(), 2);
	ck_assert_ptr_nonnull(strstr(said, "1 armed, 1 fired"));
}
END_TEST

START_TEST(each_phase_is_told_once)
{
	static const char *const phases[] = { "start", "connect", "restore",
					      "train", "train", "revert" };
	struct drill_progress p;
	size_t i;

	for (i = 0; i < 6; i++) {
		p = at(1 + (double)i / 10, phases[i], 0);
		drill_live_show(&live, &p);
	}
	ck_assert_int_eq(lines(), 5);
	ck_assert_ptr_nonnull(strstr(said, "fault  revert"));
}
END_TEST

START_TEST(a_sentence_does_not_count_as_the_state)
{
	struct drill_progress p = at(1, "train", 3);

	p.text = "hit is in force\033[31m";
	p.fired = 1;
	drill_live_show(&live, &p);
	p.text = NULL;
	drill_live_show(&live, &p);
	ck_assert_int_eq(lines(), 2);
	ck_assert_ptr_nonnull(strstr(said, "fault: hit is in force"));
	ck_assert_ptr_null(strchr(said, '\033'));
	ck_assert_ptr_nonnull(strstr(said, "1 fired"));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("live");
	TCase *t = tcase_create("plain lines");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, the_state_is_told_again_after_five_seconds);
	tcase_add_test(t, a_fault_that_fires_is_told_at_once);
	tcase_add_test(t, each_phase_is_told_once);
	tcase_add_test(t, a_sentence_does_not_count_as_the_state);
	suite_add_tcase(s, t);
	return drill_check_main(s);
}
