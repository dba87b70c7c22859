/* test_device_page.c - the device page: its checks, its lock, its steps
 * SPDX-License-Identifier: MIT
 */
#include "check_main.h"

#include "injectors/hooks/device_step.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char dir[64], path[96], fifo[96];
static struct drill_device_page *p;
static const char *why;

static int64_t raw_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* As the agent makes it. */
static void make_page(void)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(posix_fallocate(fd, 0, sizeof(*p)), 0);
	p = mmap(NULL, sizeof(*p), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ck_assert_ptr_ne(p, MAP_FAILED);
	close(fd);
	p->version = DRILL_DEVICE_VERSION;
	p->size = sizeof(*p);
	p->owner = geteuid();
	p->mode = 0600;
	for (unsigned int i = 0; i < 2; i++) {
		p->device[i].index = i;
		p->device[i].bus = 0x3b + i;
		p->device[i].uuid[0] = 1 + i;
		p->device[i].sm_mhz = p->device[i].sm_max_mhz = 1980;
		p->device[i].link_mask = 3;
		p->device[i].link[0].peer = p->device[i].link[1].peer = 2 - i;
		p->device[i].health = DRILL_DEVICE_OK;
	}
	atomic_store(&p->magic, DRILL_DEVICE_MAGIC);
}

static void setup(void)
{
	strcpy(dir, "/tmp/fd-devices.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/devices.page", dir);
	snprintf(fifo, sizeof(fifo), "%s/wake", dir);
	ck_assert_int_eq(mkfifo(fifo, 0600), 0);
	make_page();
}

static void teardown(void)
{
	munmap(p, sizeof(*p));
	unlink(path);
	unlink(fifo);
	rmdir(dir);
}

static void arm_chain(void)
{
	struct drill_device_fault *f = &p->fault[0];

	f->action = DRILL_DEVICE_STICKY;
	f->device = 0;
	f->error = 214;
	f->steps = 3;
	f->step[0] = (struct drill_device_step){ .xid = 48, .events = 2,
		.ecc_uncorrected = 1, .text = "pid=%p, name=%n, DBE" };
	f->step[1] = (struct drill_device_step){ .xid = 63, .remap_unc = 1,
		.pending_1 = 2, .text = "Row Remapper: 100% %p" };
	f->step[2] = (struct drill_device_step){ .xid = 94,
		.delay_ns = 1000000000, .health = DRILL_DEVICE_RESET_REQUIRED,
		.context_error = 46, .text = "Contained" };
	atomic_store(&f->state, DRILL_DEVICE_ARMED);
}

START_TEST(a_good_page_is_mapped_and_its_fifo_is_woken)
{
	struct drill_device_page *q = drill_device_map(path, &why);
	int fd = open(fifo, O_RDWR | O_NONBLOCK);
	char c;

	ck_assert_msg(q != NULL, "%s", why);
	ck_assert_str_eq(why, "");
	drill_device_wake();
	ck_assert_int_eq(read(fd, &c, 1), 1);
	close(fd);
	munmap(q, sizeof(*q));
}
END_TEST

START_TEST(a_page_that_is_not_there_is_no_complaint)
{
	ck_assert_ptr_null(drill_device_map(NULL, &why));
	ck_assert_str_eq(why, "");
	ck_assert_ptr_null(drill_device_map("/nowhere/devices.page", &why));
	ck_assert_str_eq(why, "");
}
END_TEST

static void refused(const char *says)
{
	ck_assert_ptr_null(drill_device_map(path, &why));
	ck_assert_msg(strstr(why, says) != NULL, "'%s', not '%s'", why, says);
}

START_TEST(a_page_that_is_wrong_is_refused_and_named)
{
	char link[128];

	p->version++;
	refused("another version");
	p->version--;
	p->size--;
	refused("another layout");
	p->size++;
	p->owner++;
	refused("changed hands");
	p->owner--;
	p->magic++;
	refused("no device page");
	p->magic--;
	ck_assert_int_eq(chmod(path, 0640), 0);
	refused("open to others");
	ck_assert_int_eq(chmod(path, 0600), 0);
	ck_assert_int_eq(truncate(path, sizeof(*p) - 4096), 0);
	refused("wrong size");
	ck_assert_int_eq(truncate(path, sizeof(*p)), 0);
	snprintf(link, sizeof(link), "%s/link", dir);
	ck_assert_int_eq(symlink(path, link), 0);
	ck_assert_ptr_null(drill_device_map(link, &why));
	ck_assert_str_eq(why, "is a symbolic link");
	unlink(link);
	ck_assert_ptr_null(drill_device_map(fifo, &why));
	ck_assert_str_eq(why, "is no regular file");
}
END_TEST

START_TEST(a_page_of_another_user_is_refused)
{
	struct drill_device_page *q;

	if (geteuid())
		SKIP("needs root");
	ck_assert_int_eq(chown(path, 4711, 0), 0);
	refused("another user");
	/* As the user the job runs as it is fine. */
	p->owner = 4711;
	ck_assert_int_eq(chmod(dir, 0755), 0);
	ck_assert_int_eq(seteuid(4711), 0);
	q = drill_device_map(path, &why);
	ck_assert_int_eq(seteuid(0), 0);
	ck_assert_msg(q != NULL, "%s", why);
	munmap(q, sizeof(*q));
}
END_TEST

START_TEST(the_lock_of_a_dead_holder_is_taken_over)
{
	int64_t begin;
	pid_t pid = fork();
	uint32_t seq;

	if (!pid) {
		drill_device_lock(p);
		p->device[1].seq |= 1;
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	ck_assert_uint_ne(atomic_load(&p->lock), 0);
	begin = raw_ns();
	drill_device_lock(p);
	ck_assert_int_ge(raw_ns() - begin, DRILL_DEVICE_LOCK_NS * 9 / 10);
	seq = p->device[1].seq;
	ck_assert_uint_eq(seq % 2, 0);
	drill_device_unlock(p);
	ck_assert_uint_eq(atomic_load(&p->lock), 0);
}
END_TEST

START_TEST(who_lost_the_lock_does_not_give_it_back)
{
	atomic_store(&p->lock, 1); /* somebody else's */
	drill_device_unlock(p);
	ck_assert_uint_eq(atomic_load(&p->lock), 1);
}
END_TEST

START_TEST(of_many_processes_one_fires)
{
	struct drill_device_fault *f = &p->fault[0];
	int go[2], won = 0, status;
	char c;

	arm_chain();
	ck_assert_int_eq(pipe(go), 0);
	for (int i = 0; i < 12; i++) {
		if (fork())
			continue;
		close(go[1]);
		_exit(read(go[0], &c, 1) == 0 &&
		      drill_device_fire(p, 0, getpid(), "rank"));
	}
	close(go[1]);
	for (int i = 0; i < 12; i++) {
		ck_assert_int_gt(wait(&status), 0);
		ck_assert(WIFEXITED(status));
		won += WEXITSTATUS(status);
	}
	close(go[0]);
	ck_assert_int_eq(won, 1);
	ck_assert_uint_eq(atomic_load(&f->state), DRILL_DEVICE_FIRED);
	ck_assert_uint_eq(atomic_load(&f->steps_done), 2);
	ck_assert_uint_eq(atomic_load(&p->lines), 2);
	ck_assert(!drill_device_fire(p, 0, 1, "x"));
	ck_assert(!drill_device_fire(p, DRILL_DEVICE_FAULTS, 1, "x"));
}
END_TEST

START_TEST(a_chain_is_done_in_order_and_in_its_time)
{
	struct drill_device d;
	int64_t next;

	arm_chain();
	ck_assert_int_eq(drill_device_steps(p, 0, raw_ns()), 0);
	ck_assert_uint_eq(p->lines, 0);
	ck_assert(drill_device_fire(p, 0, 77, "a_name_longer_than_a_comm"));
	ck_assert_str_eq(p->line[0].text, "NVRM: Xid (PCI:0000:3b:00): 48, "
			 "pid=77, name=a_name_longer_t, DBE");
	ck_assert_str_eq(p->line[1].text, "NVRM: Xid (PCI:0000:3b:00): 63, "
			 "Row Remapper: 100% 77");
	ck_assert_uint_eq(p->line[0].events, 2);
	ck_assert_uint_eq(p->line[1].seq, 2);
	drill_device_read(p, 0, &d);
	ck_assert_uint_eq(d.ecc_volatile[1], 1);
	ck_assert_uint_eq(d.ecc_aggregate[1], 1);
	ck_assert_uint_eq(d.remapped_unc, 1);
	ck_assert_uint_eq(d.remapped_pending, 1);
	ck_assert_int_eq(d.health, DRILL_DEVICE_OK);
	ck_assert_int_eq(p->hot[0], 2);
	ck_assert_uint_eq(p->unwell, 1);
	next = drill_device_steps(p, 0, p->fault[0].fired_ns + 1);
	ck_assert_int_eq(next, p->fault[0].last_step_ns + 1000000000);
	ck_assert_uint_eq(p->lines, 2);
	ck_assert_int_eq(drill_device_steps(p, 0, next), 0);
	ck_assert_uint_eq(p->lines, 3);
	ck_assert_int_eq(p->device[0].context_error, 46);
	ck_assert_int_eq(p->device[0].health, DRILL_DEVICE_RESET_REQUIRED);
	ck_assert_int_eq(drill_device_steps(p, 0, INT64_MAX), 0);
	ck_assert_uint_eq(p->lines, 3);
}
END_TEST

/* Sees a line only once the counters it speaks of stand on the page. */
static void *reader(void *arg)
{
	static char wrong[] = "torn, or the line came first";
	struct drill_device d;
	uint64_t lines;

	(void)arg;
	do {
		lines = atomic_load_explicit(&p->lines, memory_order_acquire);
		drill_device_read(p, 1, &d);
		if (d.ecc_volatile[0] < lines ||
		    d.ecc_volatile[0] != d.ecc_aggregate[0])
			return wrong;
	} while (lines < 2000);
	return NULL;
}

START_TEST(a_state_is_whole_and_there_before_its_line)
{
	struct drill_device_fault *f = &p->fault[3];
	pthread_t t;
	void *wrong;

	f->steps = 1;
	f->step[0] = (struct drill_device_step){ .xid = 92, .device = 1,
		.ecc_corrected = 1, .text = "High single-bit ECC error rate" };
	ck_assert_int_eq(pthread_create(&t, NULL, reader, NULL), 0);
	for (int i = 0; i < 2000; i++) {
		f->steps_done = 0;
		f->state = DRILL_DEVICE_ARMED;
		ck_assert(drill_device_fire(p, 3, 1, "x"));
	}
	pthread_join(t, &wrong);
	ck_assert_msg(!wrong, "%s", (char *)wrong);
	ck_assert_int_eq(p->hot[0], 0);
}
END_TEST

START_TEST(the_ring_holds_the_last_lines)
{
	char text[32];

	for (int i = 0; i < DRILL_DEVICE_LINES + 3; i++) {
		snprintf(text, sizeof(text), "line %d", i);
		drill_device_say(p, 1, 0, 0, 1, text);
	}
	ck_assert_uint_eq(p->lines, DRILL_DEVICE_LINES + 3);
	ck_assert_str_eq(p->line[2].text, "line 514");
	ck_assert_uint_eq(p->line[2].seq, DRILL_DEVICE_LINES + 3);
	ck_assert_str_eq(p->line[3].text, "line 3");
	drill_device_say(p, DRILL_DEVICES, 0, 0, 1, "nowhere");
	ck_assert_uint_eq(p->lines, DRILL_DEVICE_LINES + 3);
}
END_TEST

START_TEST(a_link_that_goes_down_counts_and_leaves_the_mask)
{
	struct drill_device_fault *f = &p->fault[0];

	f->steps = 1;
	f->step[0] = (struct drill_device_step){ .xid = 74, .links_down = 2,
						 .link_crc = 9 };
	f->state = DRILL_DEVICE_ARMED;
	ck_assert(drill_device_fire(p, 0, 1, NULL));
	ck_assert_uint_eq(p->device[0].link_mask, 1);
	ck_assert_uint_eq(p->device[0].link[1].crc, 9);
	ck_assert_uint_eq(p->device[0].link[0].crc, 0);
	drill_device_reset(p, 0);
	ck_assert_uint_eq(p->device[0].link_mask, 3);
	ck_assert_uint_eq(p->device[0].link[1].crc, 0);
}
END_TEST

START_TEST(a_reset_clears_what_a_reset_clears)
{
	struct drill_device *d = &p->device[0];

	arm_chain();
	p->fault[0].step[2].delay_ns = 0;
	ck_assert(drill_device_fire(p, 0, 1, "x"));
	drill_device_reset(p, 0);
	ck_assert_int_eq(d->health, DRILL_DEVICE_OK);
	ck_assert_int_eq(d->context_error, 0);
	ck_assert_uint_eq(d->ecc_volatile[1], 0);
	ck_assert_uint_eq(d->ecc_aggregate[1], 1);
	ck_assert_uint_eq(d->remapped_unc, 1);
	ck_assert_uint_eq(d->remapped_pending, 0);
	ck_assert_uint_eq(d->generation, 1);
	ck_assert_uint_eq(d->seq % 2, 0);
	ck_assert_uint_eq(p->unwell, 0);
	drill_device_replace(p, 0);
	ck_assert_uint_eq(d->ecc_aggregate[1], 0);
	ck_assert_uint_eq(d->remapped_unc, 0);
	ck_assert_uint_eq(d->generation, 2);
}
END_TEST

START_TEST(a_device_that_is_gone_comes_back_by_a_replacement_only)
{
	p->device[1].health = DRILL_DEVICE_GONE;
	drill_device_reset(p, 1);
	ck_assert_int_eq(p->device[1].health, DRILL_DEVICE_GONE);
	drill_device_replace(p, 1);
	ck_assert_int_eq(p->device[1].health, DRILL_DEVICE_OK);
	drill_device_replace(p, 9); /* there is none */
	ck_assert_int_eq(p->device[9].health, DRILL_DEVICE_UNUSED);
}
END_TEST

START_TEST(a_device_is_found_by_its_uuid)
{
	static const uint8_t second[16] = { 2 }, none[16];

	ck_assert_int_eq(drill_device_by_uuid(p, second), 1);
	ck_assert_int_eq(drill_device_by_uuid(p, none), -1);
}
END_TEST

START_TEST(calls_are_the_sum_of_all_threads)
{
	p->client[3].lane[0].calls = 3;
	p->client[3].lane[DRILL_DEVICE_LANES - 1].calls = 4;
	p->client[3].lane[1].launches = 5;
	ck_assert_uint_eq(drill_device_calls(&p->client[3]), 7);
	ck_assert_uint_eq(drill_device_launches(&p->client[3]), 5);
}
END_TEST

/* Noise over all that others may write, the lock and the header apart. */
START_TEST(a_damaged_page_crashes_nobody)
{
	unsigned char *from = (unsigned char *)&p->hot;
	unsigned char *end = (unsigned char *)(p + 1);
	uint64_t x = 88172645463325252u + (unsigned int)_i;
	struct drill_device d;

	for (unsigned char *b = from; b < end; b++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		*b = _i ? (unsigned char)x : 0xff;
	}
	p->lines = x;
	for (unsigned int i = 0; i < DRILL_DEVICE_FAULTS; i++) {
		p->fault[i].state = DRILL_DEVICE_ARMED;
		drill_device_fire(p, i, 1, "x");
		drill_device_steps(p, i, INT64_MAX);
		drill_device_steps(p, i, INT64_MIN);
	}
	for (unsigned int i = 0; i <= DRILL_DEVICES; i++) {
		drill_device_read(p, i, &d);
		ck_assert_uint_lt(strlen(d.name), sizeof(d.name));
		drill_device_reset(p, i);
		drill_device_replace(p, i);
		drill_device_say(p, i, 1, 1, 1, "x");
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("device page");
	TCase *tc = tcase_create("page");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, a_good_page_is_mapped_and_its_fifo_is_woken);
	tcase_add_test(tc, a_page_that_is_not_there_is_no_complaint);
	tcase_add_test(tc, a_page_that_is_wrong_is_refused_and_named);
	tcase_add_test(tc, a_page_of_another_user_is_refused);
	tcase_add_test(tc, the_lock_of_a_dead_holder_is_taken_over);
	tcase_add_test(tc, who_lost_the_lock_does_not_give_it_back);
	tcase_add_test(tc, of_many_processes_one_fires);
	tcase_add_test(tc, a_chain_is_done_in_order_and_in_its_time);
	tcase_add_test(tc, a_state_is_whole_and_there_before_its_line);
	tcase_add_test(tc, the_ring_holds_the_last_lines);
	tcase_add_test(tc, a_link_that_goes_down_counts_and_leaves_the_mask);
	tcase_add_test(tc, a_reset_clears_what_a_reset_clears);
	tcase_add_test(tc, a_device_that_is_gone_comes_back_by_a_replacement_only);
	tcase_add_test(tc, a_device_is_found_by_its_uuid);
	tcase_add_test(tc, calls_are_the_sum_of_all_threads);
	tcase_add_loop_test(tc, a_damaged_page_crashes_nobody, 0, 4);
	suite_add_tcase(s, tc);
	return drill_check_main(s);
}
