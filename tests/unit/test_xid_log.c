/* test_xid_log.c - the kernel's log: grammar, order, restarts, full FIFOs
 * SPDX-License-Identifier: MIT
 */
#include "check_main.h"

#include "injectors/hooks/device_step.h"
#include "injectors/hooks/devices.h"
#include "injectors/hooks/xid_line.h"
#include "injectors/hooks/xid_log.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define UUID0 "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f"
#define UUID1 "GPU-ff010203-0405-0607-0809-0a0b0c0d0e0f"

static char dir[64], page_path[96], log_path[96];
static struct drill_devices devices;
static struct drill_device_page *p;
static struct drill_xid_log l;
static struct drill_err err;
static char text[1 << 17];

static void setup(void)
{
	strcpy(dir, "/tmp/fd-xidlog.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(page_path, sizeof(page_path), "%s/devices.page", dir);
	snprintf(log_path, sizeof(log_path), "%s/kernel.log", dir);
	ck_assert_int_eq(drill_devices_create(&devices, page_path, "h0", 2,
					      &err), 0);
	p = devices.page;
	for (int i = 0; i < 16; i++)
		p->device[0].uuid[i] = p->device[1].uuid[i] = (uint8_t)i;
	p->device[1].uuid[0] = 0xff;
	p->device[0].bus = 0x3b;
	p->device[1].bus = 0xca;
	strcpy(p->device[0].serial, "1653923026510");
	*p->device[1].serial = '\0';
}

static void teardown(void)
{
	drill_xid_log_close(&l);
	drill_devices_close(&devices);
	unlink(page_path);
	unlink(log_path);
	rmdir(dir);
}

static void open_log(void)
{
	err = (struct drill_err){ 0 };
	ck_assert_msg(!drill_xid_log_open(&l, p, log_path, &err), "%s",
		      err.msg);
}

/* A line at a fixed time, so that it can be told in full. */
static void say(unsigned int device, uint32_t xid, const char *line)
{
	uint64_t n = atomic_load(&p->lines);

	drill_device_say(p, device, xid, 0, 42, line);
	p->line[n % DRILL_DEVICE_LINES].t_ns =
		INT64_C(4254197816000) + (int64_t)n * 1000;
}

static const char *contents(void)
{
	int fd = open(log_path, O_RDONLY);
	ssize_t n = read(fd, text, sizeof(text) - 1);

	ck_assert_int_ge(n, 0);
	text[n] = '\0';
	close(fd);
	return text;
}

START_TEST(a_line_is_as_the_driver_prints_it)
{
	struct drill_xid_place at = { 0, 0x3b, 0 };
	char t[256], line[300];

	drill_xid_text(t, sizeof(t), "pid=%p, name=%n, Ch %08x", 99, 4711,
		       "train");
	ck_assert_str_eq(t, "pid=4711, name=train, Ch %08x");
	drill_xid_caused_by(t, sizeof(t), 145);
	drill_xid_line(line, sizeof(line), at, 45, t);
	ck_assert_str_eq(line, "NVRM: Xid (PCI:0000:3b:00): 45, pid=4711, "
			 "name=train, Ch %08x caused by previous Xid 145");
	drill_xid_text(t, sizeof(t), "pid=%p, name=%n, x", 99, 0, "");
	ck_assert_str_eq(t, "pid='<unknown>', name=<unknown>, x");
	ck_assert_str_eq(drill_xid_action_name(4), "Drain and Reset");
	ck_assert_str_eq(drill_xid_action_name(6), "?");
}
END_TEST

START_TEST(no_name_and_no_length_breaks_a_line)
{
	char t[16];

	drill_xid_text(t, sizeof(t), "%n", 9, 1, "a\nNVRM: Xid");
	ck_assert_str_eq(t, "a?NVRM: Xid");
	drill_xid_text(t, sizeof(t), "%n%n%n%n", 9, 1, "abcdefg");
	ck_assert_str_eq(t, "abcdefgabcdefga");
	drill_xid_text(t, 1, "abc", 3, 1, "x");
	ck_assert_str_eq(t, "");
	drill_xid_text(t, sizeof(t), "ab%", 3, 1, "x");
	ck_assert_str_eq(t, "ab%");
	drill_xid_text(t, sizeof(t), "ab%p", 3, 1, "x");
	ck_assert_str_eq(t, "ab%");
}
END_TEST

START_TEST(each_gpu_is_introduced_once_before_its_first_xid)
{
	open_log();
	say(0, 48, "DBE");
	say(0, 63, "row");
	say(1, 79, "GPU has fallen off the bus.");
	ck_assert_int_eq(drill_xid_log_drain(&l, NULL, &err), 3);
	say(0, 94, "Contained");
	ck_assert_int_eq(drill_xid_log_drain(&l, NULL, &err), 1);
	ck_assert_str_eq(contents(),
		"[ 4254.197816] NVRM: GPU at PCI:0000:3b:00: " UUID0 "\n"
		"[ 4254.197816] NVRM: GPU Board Serial Number: 1653923026510\n"
		"[ 4254.197816] NVRM: Xid (PCI:0000:3b:00): 48, DBE\n"
		"[ 4254.197817] NVRM: Xid (PCI:0000:3b:00): 63, row\n"
		"[ 4254.197818] NVRM: GPU at PCI:0000:ca:00: " UUID1 "\n"
		"[ 4254.197818] NVRM: Xid (PCI:0000:ca:00): 79, GPU has "
		"fallen off the bus.\n"
		"[ 4254.197819] NVRM: Xid (PCI:0000:3b:00): 94, Contained\n");
}
END_TEST

START_TEST(an_event_without_text_is_no_line)
{
	open_log();
	drill_device_say(p, 0, 0, 0x10, 0, "");
	say(0, 0, "NVRM: GPU 0000:3b:00.0: GPU has fallen off the bus.");
	ck_assert_int_eq(drill_xid_log_drain(&l, NULL, &err), 2);
	ck_assert_str_eq(contents(), "[ 4254.197817] NVRM: GPU 0000:3b:00.0: "
			 "GPU has fallen off the bus.\n");
}
END_TEST

static void open_again(void)
{
	drill_xid_log_close(&l);
	open_log();
}

START_TEST(an_agent_that_takes_over_goes_on_where_the_other_was)
{
	char whole[4096];

	open_log();
	for (int i = 0; i < 6; i++)
		say(0, 45, "Ch 00000008");
	drill_xid_log_drain(&l, NULL, &err);
	strcpy(whole, contents());
	open_again();
	ck_assert_int_eq(drill_xid_log_drain(&l, NULL, &err), 0);
	ck_assert_str_eq(contents(), whole);
}
END_TEST

/* Dies after any number of bytes of the second part; notes are those of the
 * first: what was there is completed, not repeated. */
START_TEST(an_agent_that_died_in_a_line_loses_and_doubles_nothing)
{
	struct drill_device_logged noted[2];
	char whole[4096];
	size_t first;

	open_log();
	say(0, 48, "DBE");
	drill_xid_log_drain(&l, NULL, &err);
	first = strlen(contents());
	memcpy(noted, p->logged, sizeof(noted));
	say(1, 79, "lost");
	drill_xid_log_drain(&l, NULL, &err);
	strcpy(whole, contents());
	for (size_t cut = first; cut <= strlen(whole); cut++) {
		ck_assert_int_eq(truncate(log_path, (off_t)cut), 0);
		memcpy(p->logged, noted, sizeof(noted));
		open_again();
		ck_assert_int_eq(drill_xid_log_drain(&l, NULL, &err), 1);
		ck_assert_str_eq(contents(), whole);
	}
}
END_TEST

/* Half of a note is none: the number is written last. */
START_TEST(a_note_that_was_torn_is_not_believed)
{
	char whole[4096];

	open_log();
	say(0, 48, "DBE");
	say(0, 63, "row");
	drill_xid_log_drain(&l, NULL, &err);
	strcpy(whole, contents());
	p->logged[p->logged[1].lines > p->logged[0].lines ? 0 : 1].bytes = 7;
	open_again();
	drill_xid_log_drain(&l, NULL, &err);
	ck_assert_str_eq(contents(), whole);
}
END_TEST

START_TEST(what_the_ring_no_longer_holds_is_counted)
{
	uint64_t lost;

	open_log();
	for (int i = 0; i < DRILL_DEVICE_LINES + 10; i++)
		say(0, 92, "x");
	ck_assert_int_eq(drill_xid_log_drain(&l, &lost, &err),
			 DRILL_DEVICE_LINES);
	ck_assert_uint_eq(lost, 10);
	ck_assert_int_eq(drill_xid_log_drain(&l, &lost, &err), 0);
	ck_assert_uint_eq(lost, 0);
}
END_TEST

START_TEST(a_fifo_without_reader_and_a_full_one_do_not_block)
{
	char got[4096], want[64];
	int fd, n = 0;

	ck_assert_int_eq(mkfifo(log_path, 0600), 0);
	open_log();
	fd = open(log_path, O_RDONLY | O_NONBLOCK);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_gt(fcntl(fd, F_SETPIPE_SZ, 4096), 0);
	for (int i = 0; i < 200; i++)
		say(0, 31, "fault");
	n = drill_xid_log_drain(&l, NULL, &err);
	ck_assert_int_gt(n, 0);
	ck_assert_int_lt(n, 200);
	while (read(fd, got, sizeof(got)) > 0)
		n += drill_xid_log_drain(&l, NULL, &err);
	ck_assert_int_eq(n, 200);
	say(0, 43, "last");
	drill_xid_log_drain(&l, NULL, &err);
	n = (int)read(fd, got, sizeof(got));
	snprintf(want, sizeof(want), "[ 4254.198016] "
		 "NVRM: Xid (PCI:0000:3b:00): 43, last\n");
	ck_assert_int_eq(n, (int)strlen(want));
	ck_assert_int_eq(memcmp(got, want, (size_t)n), 0);
	close(fd);
}
END_TEST

START_TEST(a_damaged_page_gives_lines_and_no_crash)
{
	open_log();
	say(0, 48, "DBE");
	memset(p->line[0].text, 'x', sizeof(p->line[0].text));
	p->line[0].text[5] = '\n';
	p->line[0].device = 999;
	memset(p->logged, 0xff, sizeof(p->logged));
	ck_assert_int_ge(drill_xid_log_drain(&l, NULL, &err), 0);
	memset(p->logged, 0, sizeof(p->logged));
	ck_assert_int_eq(drill_xid_log_drain(&l, NULL, &err), 1);
	contents();
	ck_assert_ptr_eq(strchr(text, '\n'), text + strlen(text) - 1);
}
END_TEST

START_TEST(only_a_file_or_a_fifo_is_a_log)
{
	ck_assert_int_eq(drill_xid_log_open(&l, p, dir, &err), -EISDIR);
	err = (struct drill_err){ 0 };
	ck_assert_int_eq(drill_xid_log_open(&l, p, "/dev/null", &err),
			 -EINVAL);
	ck_assert_ptr_nonnull(strstr(err.msg, "/dev/null"));
	err = (struct drill_err){ 0 };
	ck_assert_int_eq(symlink("/dev/null", log_path), 0);
	ck_assert_int_eq(drill_xid_log_open(&l, p, log_path, &err), -ELOOP);
}
END_TEST

START_TEST(a_full_disk_is_an_error_and_the_line_comes_later)
{
	int full = open("/dev/full", O_RDWR), file;

	if (full < 0)
		SKIP("no /dev/full");
	open_log();
	say(0, 48, "DBE");
	file = dup(l.fd);
	dup2(full, l.fd);
	ck_assert_int_eq(drill_xid_log_drain(&l, NULL, &err), -ENOSPC);
	ck_assert_ptr_nonnull(strstr(err.msg, log_path));
	dup2(file, l.fd);
	ck_assert_int_eq(drill_xid_log_drain(&l, NULL, &err), 1);
	ck_assert_ptr_nonnull(strstr(contents(), ": 48, DBE\n"));
	close(file);
	close(full);
}
END_TEST

/* Never on the real one. */
START_TEST(the_kernels_own_log_is_refused_unless_allowed)
{
	const char *line = "NVRM: Xid (PCI:0000:3b:00): 79, lost";
	int fd = open(log_path, O_CREAT | O_WRONLY, 0600);

	close(fd);
	ck_assert_int_eq(drill_xid_kmsg_may(false, false, &err), -EPERM);
	err = (struct drill_err){ 0 };
	ck_assert_int_eq(drill_xid_kmsg_may(true, true, &err), -EPERM);
	ck_assert_ptr_nonnull(strstr(err.msg, "netns"));
	ck_assert_int_eq(drill_xid_kmsg_may(true, false, &err), 0);
	ck_assert_int_eq(drill_xid_kmsg(log_path, line, &err), 0);
	ck_assert_str_eq(contents(), "<3>NVRM: NVRM: Xid (PCI:0000:3b:00): "
			 "79, lost\n");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("kernel log");
	TCase *tc = tcase_create("log");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, a_line_is_as_the_driver_prints_it);
	tcase_add_test(tc, no_name_and_no_length_breaks_a_line);
	tcase_add_test(tc, each_gpu_is_introduced_once_before_its_first_xid);
	tcase_add_test(tc, an_event_without_text_is_no_line);
	tcase_add_test(tc, an_agent_that_takes_over_goes_on_where_the_other_was);
	tcase_add_test(tc, an_agent_that_died_in_a_line_loses_and_doubles_nothing);
	tcase_add_test(tc, a_note_that_was_torn_is_not_believed);
	tcase_add_test(tc, what_the_ring_no_longer_holds_is_counted);
	tcase_add_test(tc, a_fifo_without_reader_and_a_full_one_do_not_block);
	tcase_add_test(tc, a_damaged_page_gives_lines_and_no_crash);
	tcase_add_test(tc, only_a_file_or_a_fifo_is_a_log);
	tcase_add_test(tc, a_full_disk_is_an_error_and_the_line_comes_later);
	tcase_add_test(tc, the_kernels_own_log_is_refused_unless_allowed);
	suite_add_tcase(s, tc);
	return drill_check_main(s);
}
