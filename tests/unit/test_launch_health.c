/* test_launch_health.c - lines of the kernel's log, and what they lead to
 * SPDX-License-Identifier: MIT
 */
#include "workloads/launch/policy.h"
#include "workloads/launch/xid_line.h"

#include "check_main.h"

#include <errno.h>
#include <string.h>

static struct launch_xid x;

static int parse(const char *line)
{
	memset(&x, 0x55, sizeof(x));
	return launch_xid_parse(line, &x);
}

START_TEST(a_line_of_the_driver_is_read)
{
	ck_assert_int_eq(parse("NVRM: Xid (PCI:0000:3b:1c): 48, pid=812, "
			       "name=train, DBE (double bit error)\n"), 0);
	ck_assert_uint_eq(x.domain, 0);
	ck_assert_uint_eq(x.bus, 0x3b);
	ck_assert_uint_eq(x.dev, 0x1c);
	ck_assert_int_eq(x.xid, 48);
	ck_assert_int_eq(x.pid, 812);
	ck_assert_str_eq(x.name, "train");
	ck_assert_str_eq(x.text, "DBE (double bit error)");
	ck_assert_int_eq(x.gpu_instance, -1);
}
END_TEST

START_TEST(what_dmesg_or_kmsg_puts_in_front_is_passed_over)
{
	ck_assert_int_eq(parse("[ 1234.567] NVRM: Xid (PCI:0000:3b:00): 79, "
			       "GPU has fallen off the bus."), 0);
	ck_assert_int_eq(x.xid, 79);
	ck_assert_int_eq(x.pid, -1);
	ck_assert_str_eq(x.text, "GPU has fallen off the bus.");
	ck_assert_int_eq(parse("4,881,77,-;NVRM: Xid (PCI:0001:af:00): 63, "
			       "Row Remapper"), 0);
	ck_assert_uint_eq(x.domain, 1);
	ck_assert_uint_eq(x.bus, 0xaf);
}
END_TEST

START_TEST(fields_that_drivers_leave_out_or_add_are_no_error)
{
	ck_assert_int_eq(parse("NVRM: Xid (PCI:0000:3b:00 GPU-I:05 "
			       "GPU-CI:01): 94, Contained"), 0);
	ck_assert_int_eq(x.gpu_instance, 5);
	ck_assert_int_eq(parse("NVRM: Xid (PCI:0000:3b:00.0): 94, x"), 0);
	ck_assert_int_eq(parse("NVRM: Xid (PCI:0000:3b:00): 45, "
			       "pid='<unknown>', name=<unknown>, Ch 00000008"),
			 0);
	ck_assert_int_eq(x.pid, -1);
	ck_assert_str_eq(x.name, "");
	ck_assert_str_eq(x.text, "Ch 00000008");
	ck_assert_int_eq(parse("NVRM: Xid (PCI:0000:3b:00): 31, pid=7, "
			       "Ch 1"), 0);
	ck_assert_int_eq(x.pid, 7);
	ck_assert_str_eq(x.text, "Ch 1");
	ck_assert_int_eq(parse("NVRM: Xid (PCI:0000:3b:00): 43"), 0);
	ck_assert_str_eq(x.text, "");
}
END_TEST

START_TEST(the_xid_that_caused_another_is_read)
{
	ck_assert_int_eq(parse("NVRM: Xid (PCI:0000:3b:00): 45, pid=7, "
			       "name=a b, Ch 1 caused by previous Xid 145"), 0);
	ck_assert_int_eq(x.caused_by, 145);
	ck_assert_str_eq(x.name, "a b");
	ck_assert_int_eq(parse("NVRM: Xid (PCI:0000:3b:00): 45, "
			       "caused by previous Xid 99999"), 0);
	ck_assert_int_eq(x.caused_by, 0);
}
END_TEST

START_TEST(other_lines_are_no_xid_lines)
{
	ck_assert_int_eq(parse(""), -ENOMSG);
	ck_assert_int_eq(parse("NVRM: GPU at PCI:0000:3b:00: GPU-12"), -ENOMSG);
	ck_assert_int_eq(parse("nvidia-nvswitch0: SXid (PCI:0000:05:00.0): "
			       "11001, Fatal, Link 3 x"), -ENOMSG);
	ck_assert_int_eq(parse("NVRM: Xid PCI:0000:3b:00: 79"), -ENOMSG);
}
END_TEST

START_TEST(damaged_lines_are_refused)
{
	static const char *const lines[] = {
		"NVRM: Xid (PCI:",
		"NVRM: Xid (PCI:0000",
		"NVRM: Xid (PCI:0000:3b:00)",
		"NVRM: Xid (PCI:0000:3b:00): ",
		"NVRM: Xid (PCI:0000:3b:00): -1, x",
		"NVRM: Xid (PCI:0000:3b:00): 0, x",
		"NVRM: Xid (PCI:0000:3b:00): 1024, x",
		"NVRM: Xid (PCI:0000:3b:00): 99999999999999999999, x",
		"NVRM: Xid (PCI:0000:3b:00): 48x, y",
		"NVRM: Xid (PCI:zz:3b:00): 48, x",
		"NVRM: Xid (PCI:000000000:3b:00): 48, x",
		"NVRM: Xid (PCI:0000:3b3:00): 48, x",
		"NVRM: Xid (PCI: 000:3b:00): 48, x",
		"NVRM: Xid (PCI:0000:3b:00: 48, x",
	};
	size_t i;

	for (i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		ck_assert_msg(parse(lines[i]) == -EBADMSG, "%s", lines[i]);
}
END_TEST

START_TEST(hostile_texts_are_cut_and_made_printable)
{
	char line[3000] = "NVRM: Xid (PCI:0000:3b:00): 48, pid=1, name=";
	size_t n = strlen(line);

	memset(line + n, 'A', 1000);
	strcpy(line + n + 1000, ", \033[2J\001\xff text");
	ck_assert_int_eq(parse(line), 0);
	ck_assert_uint_eq(strlen(x.name), sizeof(x.name) - 1);
	ck_assert_str_eq(x.text, "?[2J?? text");
	memset(line + n, 'B', sizeof(line) - n - 1);
	line[sizeof(line) - 1] = '\0';
	ck_assert_int_eq(parse(line), 0);
	ck_assert_uint_eq(strlen(x.text), sizeof(x.text) - 1);
}
END_TEST

/* Every cut and every changed byte of a good line: an answer, no crash, and
 * never a number out of range. */
START_TEST(no_line_leads_out_of_bounds)
{
	static const char good[] =
		"NVRM: Xid (PCI:0000:3b:00 GPU-I:01 GPU-CI:00): 45, pid=12, "
		"name=t, Ch 8 caused by previous Xid 48";
	char line[sizeof(good)];
	unsigned int seed = 7;
	size_t i;

	for (i = 0; i < sizeof(good); i++) {
		memcpy(line, good, sizeof(good));
		line[i] = '\0';
		parse(line);
		ck_assert(x.xid >= 0 && x.xid <= LAUNCH_XID_MAX);
	}
	for (i = 0; i < 200000; i++) {
		memcpy(line, good, sizeof(good));
		line[rand_r(&seed) % (sizeof(good) - 1)] = (char)rand_r(&seed);
		line[rand_r(&seed) % (sizeof(good) - 1)] = (char)rand_r(&seed);
		if (parse(line) < 0)
			continue;
		ck_assert(x.xid > 0 && x.xid <= LAUNCH_XID_MAX);
		ck_assert(x.bus <= 255 && x.dev <= 255 && x.pid >= -1);
		ck_assert(x.caused_by >= 0 && x.caused_by <= LAUNCH_XID_MAX);
		ck_assert(memchr(x.text, 0, sizeof(x.text)));
	}
}
END_TEST

static enum launch_action xid(int n, const char *text)
{
	const char *why = NULL;
	enum launch_action a = launch_policy_xid(n, text, &why);

	ck_assert_ptr_nonnull(why);
	return a;
}

START_TEST(what_device_plugins_ignore_cordons_nothing)
{
	static const int ignored[] = {13, 31, 43, 45, 68, 69, 109};
	size_t i;

	for (i = 0; i < sizeof(ignored) / sizeof(*ignored); i++)
		ck_assert_int_eq(xid(ignored[i], ""), LAUNCH_IGNORE);
}
END_TEST

START_TEST(each_kind_of_failure_has_its_way_back)
{
	ck_assert_int_eq(xid(94, ""), LAUNCH_RESTART);
	ck_assert_int_eq(xid(95, ""), LAUNCH_RESET);
	ck_assert_int_eq(xid(48, ""), LAUNCH_RESET);
	ck_assert_int_eq(xid(63, ""), LAUNCH_NOTE);
	ck_assert_int_eq(xid(79, ""), LAUNCH_REPLACE);
	ck_assert_int_eq(xid(119, ""), LAUNCH_RESET);
	ck_assert_int_eq(xid(92, ""), LAUNCH_TELL);
}
END_TEST

START_TEST(an_unknown_xid_is_taken_for_critical)
{
	ck_assert_int_eq(xid(777, ""), LAUNCH_RESET);
}
END_TEST

START_TEST(nvlink_is_judged_by_its_word)
{
	ck_assert_int_eq(xid(145, "RLW_REMAP Nonfatal XC0 i0 Link 3"),
			 LAUNCH_IGNORE);
	ck_assert_int_eq(xid(145, "RLW_REMAP Fatal XC0 i0 Link 3"),
			 LAUNCH_RESET);
}
END_TEST

START_TEST(a_changed_recovery_action_is_done)
{
	static const enum launch_action want[] = {
		LAUNCH_IGNORE, LAUNCH_RESET, LAUNCH_REPLACE,
		LAUNCH_RESET,  LAUNCH_RESET, LAUNCH_RESTART,
		LAUNCH_RESET, /* one that came after us */
	};
	const char *why;
	char text[96];
	int i;

	for (i = 0; i < 7; i++) {
		snprintf(text, sizeof(text), "GPU recovery action changed from "
			 "0x0 (None) to 0x%d (Whatever)", i);
		ck_assert_int_eq(xid(154, text), want[i]);
		ck_assert_int_eq(launch_policy_sign(LAUNCH_SIGN_RECOVERY,
						    (uint64_t)i, &why),
				 want[i]);
	}
	ck_assert_int_eq(xid(154, "garbage"), LAUNCH_RESET);
}
END_TEST

START_TEST(each_sign_of_nvml_has_a_word_and_an_action)
{
	enum launch_sign s;
	const char *why;

	for (s = 0; s < LAUNCH_SIGNS; s++) {
		why = NULL;
		ck_assert_int_eq(launch_sign_parse(launch_sign_name(s)), s);
		ck_assert_int_gt(launch_policy_sign(s, 1, &why), LAUNCH_IGNORE);
		ck_assert_ptr_nonnull(why);
	}
	ck_assert_int_eq(launch_sign_parse("lost in translation"),
			 LAUNCH_SIGNS);
	ck_assert_int_eq(launch_policy_sign(LAUNCH_SIGN_SLOW, 8, &why),
			 LAUNCH_TELL);
	ck_assert_int_eq(launch_policy_sign(LAUNCH_SIGN_MISSING, 0, &why),
			 LAUNCH_REPLACE);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("launch_health");
	TCase *t = tcase_create("all");

	tcase_add_test(t, a_line_of_the_driver_is_read);
	tcase_add_test(t, what_dmesg_or_kmsg_puts_in_front_is_passed_over);
	tcase_add_test(t, fields_that_drivers_leave_out_or_add_are_no_error);
	tcase_add_test(t, the_xid_that_caused_another_is_read);
	tcase_add_test(t, other_lines_are_no_xid_lines);
	tcase_add_test(t, damaged_lines_are_refused);
	tcase_add_test(t, hostile_texts_are_cut_and_made_printable);
	tcase_add_test(t, no_line_leads_out_of_bounds);
	tcase_add_test(t, what_device_plugins_ignore_cordons_nothing);
	tcase_add_test(t, each_kind_of_failure_has_its_way_back);
	tcase_add_test(t, an_unknown_xid_is_taken_for_critical);
	tcase_add_test(t, nvlink_is_judged_by_its_word);
	tcase_add_test(t, a_changed_recovery_action_is_done);
	tcase_add_test(t, each_sign_of_nvml_has_a_word_and_an_action);
	suite_add_tcase(s, t);
	return drill_check_main(s);
}
