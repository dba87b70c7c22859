/* test_progress.c - the progress ring: order, overflow, death, hold, bad files
 * SPDX-License-Identifier: MIT
 */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>

#include "check_main.h"
#include "faultdrill/progress.h"

static char dir[40], path[96], fifo[96];

static void setup(void)
{
	strcpy(dir, "/tmp/faultdrill-progress-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/ring", dir);
	snprintf(fifo, sizeof(fifo), "%s/wake", dir);
	setenv("FAULTDRILL_RING", path, 1);
	setenv("FAULTDRILL_WAKE", fifo, 1);
}

static void teardown(void)
{
	unlink(path);
	unlink(fifo);
	rmdir(dir);
}

START_TEST(events_come_out_in_order_with_their_fields)
{
	struct faultdrill_ring *r = faultdrill_open(3, 5, 8);
	struct faultdrill_record e;
	int64_t last = 0;

	ck_assert_ptr_nonnull(r);
	ck_assert_int_eq(r->rank, 3);
	ck_assert_int_eq(r->slot, 5);
	ck_assert_int_eq(r->pid, getpid());
	faultdrill_step_begin(r, 7);
	faultdrill_step_end(r, 7, 256, 40, 8, 2.5);
	faultdrill_checkpoint_writing(r, 7, 1 << 20, "a tier name of 16+");
	ck_assert_int_eq(faultdrill_ring_next(r, &e), 1);
	ck_assert_int_eq(e.kind, FAULTDRILL_RANK_BEGIN);
	last = e.t_ns;
	ck_assert_int_eq(faultdrill_ring_next(r, &e), 1);
	ck_assert_int_eq(e.kind, FAULTDRILL_STEP_BEGIN);
	ck_assert_int_eq(e.step, 7);
	ck_assert_int_ge(e.t_ns, last);
	ck_assert_int_eq(faultdrill_ring_next(r, &e), 1);
	ck_assert_int_eq(e.a, 256);
	ck_assert_int_eq(e.b, 40);
	ck_assert_int_eq(e.n, 8);
	ck_assert_double_eq(e.f, 2.5);
	ck_assert_int_eq(faultdrill_ring_next(r, &e), 1);
	ck_assert_mem_eq(e.text, "a tier name of 1", 16);
	ck_assert_int_eq(faultdrill_ring_next(r, &e), 0);
	ck_assert_int_eq(r->step, 7);
	faultdrill_close(r, 0);
}
END_TEST

START_TEST(a_full_ring_drops_the_newest_and_counts_it)
{
	struct faultdrill_ring *r = faultdrill_open(0, 0, 1);
	struct faultdrill_record e;
	int64_t i, n = FAULTDRILL_RING_RECORDS + 10;

	for (i = 1; i <= n; i++)
		faultdrill_sample(r, "x", (double)i);
	ck_assert_uint_eq(r->lost, 11); /* rank.begin took one place */
	ck_assert_int_eq(faultdrill_ring_next(r, &e), 1);
	for (i = 1; faultdrill_ring_next(r, &e) == 1; i++)
		ck_assert_double_eq(e.f, (double)i);
	ck_assert_int_eq(i, FAULTDRILL_RING_RECORDS);
	faultdrill_sample(r, "x", 1);
	ck_assert_int_eq(faultdrill_ring_next(r, &e), 1);
	faultdrill_close(r, 0);
}
END_TEST

START_TEST(records_survive_sigkill_of_the_rank)
{
	struct faultdrill_ring *r;
	struct faultdrill_record e;
	pid_t pid = fork();

	if (pid == 0) {
		r = faultdrill_open(0, 0, 1);
		faultdrill_step_begin(r, 1);
		raise(SIGKILL);
	}
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	r = faultdrill_ring_map(path);
	ck_assert_ptr_nonnull(r);
	ck_assert_int_eq(faultdrill_ring_next(r, &e), 1);
	ck_assert_int_eq(faultdrill_ring_next(r, &e), 1);
	ck_assert_int_eq(e.kind, FAULTDRILL_STEP_BEGIN);
	ck_assert_int_eq(faultdrill_ring_next(r, &e), 0);
	faultdrill_ring_unmap(r);
}
END_TEST

START_TEST(an_armed_step_wakes_the_agent_and_waits_for_it)
{
	struct faultdrill_ring *r = faultdrill_ring_create(path, 0, 0, 1);
	struct pollfd p = { .events = POLLIN };
	pid_t pid;
	int st;

	ck_assert_int_eq(mkfifo(fifo, 0600), 0);
	p.fd = open(fifo, O_RDWR | O_NONBLOCK);
	faultdrill_ring_arm(r, 2);
	pid = fork();
	if (pid == 0) {
		r = faultdrill_open(0, 0, 1);
		faultdrill_step_begin(r, 1);
		faultdrill_step_begin(r, 2);
		_exit(r->released_ns >= r->held_ns ? 0 : 1);
	}
	ck_assert_int_eq(poll(&p, 1, 5000), 1);
	ck_assert(faultdrill_ring_held(r));
	ck_assert_int_eq(r->step, 2);
	ck_assert_int_eq(waitpid(pid, &st, WNOHANG), 0);
	faultdrill_ring_release(r);
	ck_assert_int_eq(waitpid(pid, &st, 0), pid);
	ck_assert_int_eq(st, 0);
	close(p.fd);
	faultdrill_ring_unmap(r);
}
END_TEST

static struct faultdrill_ring *shared;

static void *write_many(void *who)
{
	int i;

	for (i = 0; i < 2000; i++)
		faultdrill_put(shared, FAULTDRILL_SAMPLE, 0, *(int *)who, i, 0,
			       0, 0, NULL);
	return NULL;
}

START_TEST(threads_that_write_at_once_lose_nothing)
{
	int who[4] = { 0, 1, 2, 3 }, i;
	int64_t next[4] = { 0 };
	struct faultdrill_record e;
	pthread_t t[4];

	shared = faultdrill_open(0, 0, 1);
	ck_assert_int_eq(faultdrill_ring_next(shared, &e), 1);
	for (i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, write_many, &who[i]);
	for (i = 0; i < 8000;) {
		if (faultdrill_ring_next(shared, &e) != 1)
			continue;
		ck_assert_int_eq(e.step, next[e.n]++);
		i++;
	}
	for (i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	ck_assert_uint_eq(shared->lost, 0);
	faultdrill_close(shared, 0);
}
END_TEST

START_TEST(without_a_ring_every_call_does_nothing)
{
	struct faultdrill_ring *r;

	unsetenv("FAULTDRILL_RING");
	r = faultdrill_open(0, 0, 1);
	ck_assert_ptr_null(r);
	faultdrill_step_begin(r, 1);
	faultdrill_collective_enter(r);
	faultdrill_collective_leave(r);
	faultdrill_heartbeat(r);
	faultdrill_close(r, 0);
}
END_TEST

START_TEST(a_file_that_is_no_ring_is_refused)
{
	char junk[8192];
	FILE *f = fopen(path, "w");
	unsigned int i;

	memset(junk, 'x', sizeof(junk));
	fwrite(junk, 100, 1, f);
	fclose(f);
	ck_assert_ptr_null(faultdrill_ring_map(path));
	ck_assert_int_eq(errno, EAGAIN);
	f = fopen(path, "w");
	for (i = 0; i < FAULTDRILL_RING_BYTES / sizeof(junk) + 1; i++)
		fwrite(junk, sizeof(junk), 1, f);
	fclose(f);
	ck_assert_ptr_null(faultdrill_ring_map(path));
	ck_assert_int_eq(errno, EPROTO);
	ck_assert_ptr_null(faultdrill_open(0, 0, 1));
}
END_TEST

START_TEST(counters_that_run_away_are_reported)
{
	struct faultdrill_ring *r = faultdrill_open(0, 0, 1);
	struct faultdrill_record e;

	r->written = r->read + FAULTDRILL_RING_RECORDS + 1;
	ck_assert_int_eq(faultdrill_ring_next(r, &e), -EPROTO);
	faultdrill_ring_unmap(r);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("progress");
	TCase *t = tcase_create("ring");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, events_come_out_in_order_with_their_fields);
	tcase_add_test(t, a_full_ring_drops_the_newest_and_counts_it);
	tcase_add_test(t, records_survive_sigkill_of_the_rank);
	tcase_add_test(t, an_armed_step_wakes_the_agent_and_waits_for_it);
	tcase_add_test(t, threads_that_write_at_once_lose_nothing);
	tcase_add_test(t, without_a_ring_every_call_does_nothing);
	tcase_add_test(t, a_file_that_is_no_ring_is_refused);
	tcase_add_test(t, counters_that_run_away_are_reported);
	suite_add_tcase(s, t);
	return drill_check_main(s);
}
