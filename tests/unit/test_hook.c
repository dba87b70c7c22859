/* test_hook.c - the hook's core under threads, while an agent arms and disarms
 * SPDX-License-Identifier: MIT
 *
 * Meant for ThreadSanitizer too (SAN=thread). Agent and threads live in one
 * process here, each with its own mapping of the page.
 */
#include "check_main.h"

#include "injectors/hooks/hook.h"
#include "injectors/hooks/hooks.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 6
#define CALLS 5000
#define ROUNDS 3000
#define ORDERS 9 /* every action at every place */

static char dir[64];
static struct drill_hooks h;
static struct drill_err err;
static _Atomic int running, ordered;
static _Atomic unsigned int made;

static void setup(void)
{
	const struct hook_hello hello = { .world = 1, .threaded = true,
					  .library = "none" };
	char path[96];

	strcpy(dir, "/tmp/fd-hook.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/hooks.page", dir);
	ck_assert_int_eq(drill_hooks_create(&h, path, &err), 0);
	setenv("FAULTDRILL_HOOKS", path, 1);
	drill_hook_hello(&hello);
	ck_assert_int_eq(drill_hooks_slot(&h, 0, &err), 0);
}

static void teardown(void)
{
	char cmd[96];

	drill_hooks_close(&h);
	snprintf(cmd, sizeof(cmd), "rm -rf '%s'", dir);
	ck_assert_int_eq(system(cmd), 0);
}

static void call(enum drill_word word)
{
	struct hook_call c;

	hook_enter(&c, word);
	hook_bytes(&c, 8);
	hook_leave(&c);
}

static void *work(void *arg)
{
	(void)arg;
	for (int i = 0; i < CALLS || ordered < ORDERS; i++) {
		call(DRILL_WORD_ALLREDUCE);
		call(DRILL_WORD_BARRIER);
		made++;
	}
	running--;
	return NULL;
}

/* One after another, as fast as they come. */
static void arm_and_disarm(int k)
{
	static const enum drill_hook_action actions[] = {
		DRILL_HOOK_HOLD, DRILL_HOOK_DELAY, DRILL_HOOK_HANG
	};
	struct drill_hook_order o = { .action = actions[k % 3],
				      .word = DRILL_WORD_ALLREDUCE,
				      .where = 1 + k / 3 % 3,
				      .slot = -1, .nth = 1 + k % 5,
				      .every = k % 2, .delay_ns = 2000 };
	struct drill_hook_armed a;
	struct drill_hook_seen s = { 0 };

	ck_assert_int_eq(drill_hooks_arm(&h, &o, &a, &err), 0);
	for (int i = 0; i < 2000 && !s.hits && running; i++) {
		sched_yield();
		ck_assert_int_eq(drill_hooks_read(&h, &a, &s, &err), 0);
	}
	ck_assert_int_eq(drill_hooks_release(&h, &a, &err), 0);
	ck_assert_int_eq(drill_hooks_disarm(&h, &a, &err), 0);
}

START_TEST(threads_lose_no_call_while_faults_come_and_go)
{
	const struct drill_hook_count *n = h.page->slot[0].count;
	pthread_t t[THREADS];

	drill_hooks_waits(&h, true);
	running = THREADS;
	ordered = made = 0;
	for (int i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_create(&t[i], NULL, work, NULL), 0);
	while (running) {
		arm_and_disarm(ordered);
		ordered++;
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	ck_assert_uint_ge(made, THREADS * CALLS);
	ck_assert_uint_eq(n[DRILL_WORD_ALLREDUCE].calls, made);
	ck_assert_uint_eq(n[DRILL_WORD_BARRIER].calls, made);
	ck_assert_uint_eq(n[DRILL_WORD_BARRIER].bytes, 8 * (uint64_t)made);
	ck_assert_uint_gt(n[DRILL_WORD_BARRIER].ticks, 0);
	ck_assert_uint_eq(h.page->taken, 0);
	for (int i = 0; i < DRILL_HOOK_LANES; i++)
		ck_assert_uint_eq(h.page->slot[0].lane[i].word, 0);
}
END_TEST

static pthread_barrier_t gate;

static void *call_in_rounds(void *arg)
{
	(void)arg;
	for (int k = 0; k < ROUNDS; k++) {
		pthread_barrier_wait(&gate);
		call(DRILL_WORD_ALLREDUCE);
		call(DRILL_WORD_ALLREDUCE);
		pthread_barrier_wait(&gate);
	}
	return NULL;
}

/* Their last call is the one to delay, when none of them is lost. */
START_TEST(each_arming_counts_all_threads_calls_from_one)
{
	struct drill_hook_order o = { .action = DRILL_HOOK_DELAY,
				      .word = DRILL_WORD_ALLREDUCE, .slot = -1,
				      .nth = 2 * THREADS, .delay_ns = 1000 };
	struct drill_hook_armed a;
	struct drill_hook_seen s;
	pthread_t t[THREADS];

	ck_assert_int_eq(pthread_barrier_init(&gate, NULL, THREADS + 1), 0);
	for (int i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_create(&t[i], NULL, call_in_rounds,
						NULL), 0);
	for (int k = 0; k < ROUNDS; k++) {
		ck_assert_int_eq(drill_hooks_arm(&h, &o, &a, &err), 0);
		pthread_barrier_wait(&gate);
		pthread_barrier_wait(&gate);
		ck_assert_int_eq(drill_hooks_read(&h, &a, &s, &err), 0);
		ck_assert_uint_eq(s.hits, 1);
		ck_assert_int_eq(drill_hooks_disarm(&h, &a, &err), 0);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	pthread_barrier_destroy(&gate);
}
END_TEST

START_TEST(a_forked_child_does_not_speak_for_the_rank)
{
	int status;
	pid_t child;

	call(DRILL_WORD_BARRIER);
	child = fork();
	if (!child) {
		call(DRILL_WORD_BARRIER);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	ck_assert_uint_eq(h.page->slot[0].count[DRILL_WORD_BARRIER].calls, 1);
}
END_TEST

START_TEST(after_bye_calls_go_straight_through)
{
	struct drill_hello_seen s;

	call(DRILL_WORD_BARRIER);
	drill_hook_bye();
	drill_hook_bye();
	call(DRILL_WORD_BARRIER);
	ck_assert_uint_eq(h.page->slot[0].count[DRILL_WORD_BARRIER].calls, 1);
	ck_assert_int_eq(drill_hooks_hellos(&h, &s, 1), 1);
	ck_assert(!s.here);
}
END_TEST

START_TEST(a_share_of_the_calls_is_drawn_by_the_seed)
{
	struct drill_hook_order o = { .action = DRILL_HOOK_DELAY,
				      .word = DRILL_WORD_BARRIER, .slot = -1,
				      .every = 1, .ppm = 250000, .seed = 7 };
	struct drill_hook_armed a;
	struct drill_hook_seen s;
	uint32_t hits[2];

	for (int k = 0; k < 2; k++) {
		ck_assert_int_eq(drill_hooks_arm(&h, &o, &a, &err), 0);
		for (int i = 0; i < 1000; i++)
			call(DRILL_WORD_BARRIER);
		ck_assert_int_eq(drill_hooks_read(&h, &a, &s, &err), 0);
		hits[k] = s.hits;
		ck_assert_int_eq(drill_hooks_disarm(&h, &a, &err), 0);
	}
	ck_assert_uint_gt(hits[0], 200);
	ck_assert_uint_lt(hits[0], 300);
	ck_assert_uint_eq(hits[0], hits[1]);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("hook");
	TCase *t = tcase_create("hook");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 60);
	tcase_add_test(t, threads_lose_no_call_while_faults_come_and_go);
	tcase_add_test(t, each_arming_counts_all_threads_calls_from_one);
	tcase_add_test(t, a_forked_child_does_not_speak_for_the_rank);
	tcase_add_test(t, after_bye_calls_go_straight_through);
	tcase_add_test(t, a_share_of_the_calls_is_drawn_by_the_seed);
	suite_add_tcase(s, t);
	return drill_check_main(s);
}
