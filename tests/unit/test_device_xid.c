/* test_device_xid.c - Xids: the table, the chains, and the steps they become
 * SPDX-License-Identifier: MIT
 */
#include "check_main.h"

#include "faultdrill/cuda_api.h"
#include "injectors/device/xid.h"

#include <errno.h>
#include <string.h>

static struct drill_device_fault f;
static struct drill_err err;
static int code[DRILL_XID_CHAIN];

static void tell(int64_t xid, const char *chain, bool contained, bool effect,
		 bool signal)
{
	struct drill_xid_story s = { .code = code,
				     .gap_ns = -1,
				     .device = 0,
				     .peer = 1,
				     .link = 2,
				     .effect = effect,
				     .signal = signal };

	memset(&f, 0, sizeof(f));
	memset(&err, 0, sizeof(err));
	s.n = drill_xid_chain(xid, chain, contained, code, &err);
	ck_assert_msg(s.n > 0, "%s", err.msg);
	ck_assert_msg(drill_xid_steps(&s, &f, &err) == 0, "%s", err.msg);
}

static bool is_result(int error)
{
	static const int known[] = {
#define ROW(name, value, text) value,
		FAULTDRILL_CUDA_RESULTS(ROW)
	};
	size_t i;

	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (known[i] == error)
			return true;
	return false;
}

START_TEST(every_row_is_whole_and_its_errors_are_cuda_s)
{
	const struct drill_xid *x = drill_xids();
	int n = 0, i;

	for (; x->code; x++, n++) {
		ck_assert_msg(x[1].code == 0 || x[1].code > x->code,
			      "%d is out of order", x->code);
		ck_assert_msg(*x->meaning && *x->text && *x->source,
			      "%d lacks a text", x->code);
		ck_assert_int_lt(strlen(x->text), sizeof(f.step[0].text));
		for (i = 0; i < DRILL_XID_ERRORS && x->error[i]; i++)
			ck_assert_msg(is_result(x->error[i]),
				      "Xid %d: %d is no CUresult", x->code,
				      x->error[i]);
		ck_assert_msg((x->scope == DRILL_XID_NONE) == !x->error[0],
			      "Xid %d: scope and errors disagree", x->code);
	}
	ck_assert_int_eq(n, 49);
}
END_TEST

START_TEST(each_xid_can_be_told_in_each_form)
{
	const struct drill_xid *x = &drill_xids()[_i];

	tell(x->code, "", true, true, true);
	ck_assert_uint_eq(f.step[0].xid, (uint32_t)x->code);
	ck_assert_ptr_null(strchr(f.step[0].text, '%') ?
			   strstr(f.step[0].text, "%l") : NULL);
	tell(x->code, "", true, false, true);
	ck_assert_uint_eq(f.action, DRILL_DEVICE_NOTHING);
	ck_assert_uint_eq(f.step[0].health, 0);
	ck_assert_int_eq(f.step[0].running_error, 0);
	tell(x->code, "", true, true, false);
	for (uint32_t i = 0; i < f.steps; i++)
		ck_assert_uint_eq(f.step[i].xid | f.step[i].events |
				  f.step[i].ecc_uncorrected |
				  f.step[i].recovery_action_1, 0);
}
END_TEST

START_TEST(an_unknown_xid_names_the_nearest)
{
	ck_assert_ptr_null(drill_xid_find(78, &err));
	ck_assert_ptr_nonnull(strstr(err.msg, "79 (GPU has fallen off the bus"));
	ck_assert_int_eq(err.code, -EINVAL);
}
END_TEST

static const struct {
	int code;
	const char *text;
	bool contained;
	int want[DRILL_XID_CHAIN + 1];
} chains[] = {
	{ 48, "", true, { 48, 63, 94 } },
	{ 48, "", false, { 48, 63, 95, 154 } },
	{ 48, "alone", true, { 48 } },
	{ 48, "48 -> 63 -> 94", true, { 48, 63, 94 } },
	{ 48, "48,94", true, { 48, 94 } },
	{ 95, "", true, { 95, 154 } },
	{ 74, "", true, { 74, 45, 154 } },
	{ 145, "", true, { 145, 45, 154 } },
	{ 119, "", true, { 119, 119, 119, 154 } },
	{ 79, "", true, { 79, 154 } },
	{ 63, "", true, { 63 } },
	{ 31, "", true, { 31, 43 } },
};

START_TEST(a_chain_is_what_is_known_to_come_with_its_code)
{
	int n = drill_xid_chain(chains[_i].code, chains[_i].text,
				chains[_i].contained, code, &err), i;

	ck_assert_msg(n > 0, "%s", err.msg);
	for (i = 0; i < n; i++)
		ck_assert_int_eq(code[i], chains[_i].want[i]);
	ck_assert_int_eq(chains[_i].want[n], 0);
}
END_TEST

static const struct {
	const char *text, *says;
} bad[] = {
	{ "63 -> 94", "does not begin with the code" },
	{ "48 -> sixty", "not a number" },
	{ "48 -> 62 -> 1000", "no such Xid" },
	{ "48 48 48 48 48 48 48 48 48", "more than 8" },
	{ " -> ", "no code" },
};

START_TEST(a_chain_that_makes_no_sense_is_refused)
{
	ck_assert_int_lt(drill_xid_chain(48, bad[_i].text, true, code, &err),
			 0);
	ck_assert_msg(strstr(err.msg, bad[_i].says) != NULL, "%s", err.msg);
}
END_TEST

START_TEST(a_contained_ecc_error_meets_its_context_alone)
{
	tell(48, "", true, true, true);
	ck_assert_uint_eq(f.steps, 3);
	ck_assert_uint_eq(f.action, DRILL_DEVICE_STICKY);
	ck_assert_int_eq(f.error, CUDA_ERROR_ECC_UNCORRECTABLE);
	ck_assert_uint_eq(f.step[0].ecc_uncorrected, 1);
	ck_assert_uint_eq(f.step[1].pending_1, 2);
	ck_assert_uint_eq(f.step[2].ecc_uncorrected, 0); /* the same error */
	for (uint32_t i = 0; i < f.steps; i++) {
		ck_assert_int_eq(f.step[i].running_error, 0);
		ck_assert_uint_eq(f.step[i].health, 0);
	}
	/* All within 25 ms, as seen on hardware. */
	ck_assert_int_le(f.step[1].delay_ns + f.step[2].delay_ns, 25000000);
}
END_TEST

START_TEST(an_uncontained_one_meets_all_and_asks_for_a_reset)
{
	tell(48, "", false, true, true);
	ck_assert_uint_eq(f.steps, 4);
	ck_assert_int_eq(f.step[2].running_error, CUDA_ERROR_ECC_UNCORRECTABLE);
	ck_assert_int_eq(f.step[2].context_error, 46);
	ck_assert_uint_eq(f.step[2].health, DRILL_DEVICE_RESET_REQUIRED);
	ck_assert_uint_eq(f.step[3].xid, 154);
	ck_assert_uint_eq(f.step[3].recovery_action_1,
			  1 + DRILL_RECOVERY_RESET);
	ck_assert_str_eq(f.step[3].text,
			 "GPU recovery action changed from 0x0 (None) to 0x1 "
			 "(GPU Reset Required)");
}
END_TEST

/* 48 itself is known with 214 only, what comes in its train with others. */
START_TEST(an_error_may_be_that_of_a_later_code)
{
	int contained[] = { 48, 63, 94 }, uncontained[] = { 48, 63, 95, 154 };
	struct drill_xid_story s = { .code = contained, .n = 3, .peer = -1,
				     .error = 226, .effect = true,
				     .signal = true };

	memset(&f, 0, sizeof(f));
	ck_assert_int_eq(drill_xid_steps(&s, &f, &err), 0);
	ck_assert_int_eq(f.error, 226);
	s.code = uncontained;
	s.n = 4;
	s.error = 999;
	memset(&f, 0, sizeof(f));
	ck_assert_int_eq(drill_xid_steps(&s, &f, &err), 0);
	ck_assert_int_eq(f.error, 999);
	ck_assert_int_eq(f.step[2].running_error, 999);
	s.error = 0;
	ck_assert_int_eq(drill_xid_steps(&s, &f, &err), 0);
	ck_assert_int_eq(f.error, 214);
}
END_TEST

START_TEST(a_broken_link_is_told_at_both_ends_and_per_channel)
{
	static const uint32_t want[][2] = { { 145, 0 }, { 145, 1 }, { 45, 0 },
					    { 45, 0 },	{ 45, 1 },  { 45, 1 },
					    { 154, 0 }, { 154, 1 } };

	tell(145, "", true, true, true);
	ck_assert_uint_eq(f.steps, 8);
	for (uint32_t i = 0; i < 8; i++) {
		ck_assert_uint_eq(f.step[i].xid, want[i][0]);
		ck_assert_uint_eq(f.step[i].device, want[i][1]);
	}
	ck_assert_int_eq(f.step[1].running_error, 220);
	ck_assert_ptr_nonnull(strstr(f.step[2].text,
				     " caused by previous Xid 145"));
	ck_assert_str_ne(f.step[2].text, f.step[3].text);
	ck_assert_uint_eq(f.step[0].links_down, 4);
}
END_TEST

START_TEST(a_device_off_the_bus_is_lost_for_new_contexts_too)
{
	tell(79, "", true, true, true);
	ck_assert_uint_eq(f.step[0].health, DRILL_DEVICE_LOST);
	ck_assert_int_eq(f.step[0].context_error, 999);
	ck_assert_int_eq(f.error, 999);
	ck_assert_str_eq(f.step[1].text,
			 "GPU recovery action changed from 0x0 (None) to 0x2 "
			 "(Node Reboot Required)");
}
END_TEST

START_TEST(a_gsp_that_stays_silent_is_reset_once_the_driver_says_so)
{
	tell(119, "", true, true, true);
	ck_assert_uint_eq(f.steps, 4);
	ck_assert_uint_eq(f.step[2].xid, 119);
	ck_assert_uint_eq(f.step[2].health, 0);
	ck_assert_uint_gt(f.step[2].nvml_block_ms, 0);
	ck_assert_uint_eq(f.step[3].xid, 154);
	ck_assert_uint_eq(f.step[3].health, DRILL_DEVICE_RESET_REQUIRED);
	tell(119, "", true, false, true);
	ck_assert_uint_eq(f.step[3].health, 0); /* only said */
}
END_TEST

START_TEST(too_many_lines_are_refused)
{
	struct drill_xid_story s = { .code = code, .n = 5, .gap_ns = -1,
				     .peer = 1, .effect = true, .signal = true };
	int i;

	code[0] = 145;
	for (i = 1; i < 5; i++)
		code[i] = 45;
	ck_assert_int_eq(drill_xid_steps(&s, &f, &err), -E2BIG);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("device.xid");
	TCase *t = tcase_create("xid");

	tcase_add_test(t, every_row_is_whole_and_its_errors_are_cuda_s);
	tcase_add_loop_test(t, each_xid_can_be_told_in_each_form, 0, 49);
	tcase_add_test(t, an_unknown_xid_names_the_nearest);
	tcase_add_loop_test(t, a_chain_is_what_is_known_to_come_with_its_code,
			    0, (int)(sizeof(chains) / sizeof(chains[0])));
	tcase_add_loop_test(t, a_chain_that_makes_no_sense_is_refused, 0,
			    (int)(sizeof(bad) / sizeof(bad[0])));
	tcase_add_test(t, a_contained_ecc_error_meets_its_context_alone);
	tcase_add_test(t, an_uncontained_one_meets_all_and_asks_for_a_reset);
	tcase_add_test(t, an_error_may_be_that_of_a_later_code);
	tcase_add_test(t, a_broken_link_is_told_at_both_ends_and_per_channel);
	tcase_add_test(t, a_device_off_the_bus_is_lost_for_new_contexts_too);
	tcase_add_test(t,
		a_gsp_that_stays_silent_is_reset_once_the_driver_says_so);
	tcase_add_test(t, too_many_lines_are_refused);
	suite_add_tcase(s, t);
	return drill_check_main(s);
}
