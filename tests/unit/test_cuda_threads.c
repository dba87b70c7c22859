/* test_cuda_threads.c - the CUDA proxy's own code under many threads
 * SPDX-License-Identifier: MIT
 *
 * The proxy is linked in, so that a sanitizer sees it.
 */
#include "tests/support/cuda/rig.h"

#include <pthread.h>

#define THREADS 16
#define CALLS 5000

static pthread_barrier_t gate;
static atomic_int errors, wrong;

/* All of them are there before the proxy has started. */
static void *call_and_ask(void *arg)
{
	void *p = NULL;
	int r;

	(void)arg;
	pthread_barrier_wait(&gate);
	for (int i = 0; i < CALLS; i++) {
		r = (int)cuEventQuery(NULL);
		if (r == 999)
			atomic_fetch_add(&errors, 1);
		else if (r != TOY_ANSWER + DRILL_CALL_cuEventQuery)
			atomic_fetch_add(&wrong, 1);
		if (i % 64 == 0 &&
		    (cuGetProcAddress_v2("cuMemAlloc", &p, 12000, 0, NULL) ||
		     p != (void *)cuMemAlloc_v2))
			atomic_fetch_add(&wrong, 1);
		if (i % 256 == 0 &&
		    (int)cuStreamQuery(NULL) < TOY_ANSWER)
			atomic_fetch_add(&wrong, 1);
	}
	return NULL;
}

static void run_threads(void)
{
	pthread_t t[THREADS];

	pthread_barrier_init(&gate, NULL, THREADS);
	for (int i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_create(&t[i], NULL, call_and_ask, NULL),
				 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	pthread_barrier_destroy(&gate);
}

START_TEST(threads_that_start_together_start_the_proxy_once)
{
	run_threads();
	ck_assert_int_eq(wrong, 0);
	ck_assert_int_eq(errors, 0);
	ck_assert_uint_eq(page->client[0].hello, 1);
	ck_assert_uint_eq(page->client[1].claimed, 0);
	ck_assert_uint_eq(drill_device_calls(&page->client[0]),
			  THREADS * (CALLS + CALLS / 64 + 1 + CALLS / 256 + 1));
}
END_TEST

START_TEST(each_turn_of_many_threads_calls_is_hit_once)
{
	struct drill_device_fault *f;

	f = arm(DRILL_CALL_cuEventQuery, DRILL_DEVICE_RETURN);
	f->nth = 1000;
	f->every = 100;
	run_threads();
	ck_assert_int_eq(wrong, 0);
	ck_assert_int_eq(errors, (THREADS * CALLS - 1000) / 100 + 1);
	ck_assert_uint_eq(f->hits, errors);
	ck_assert_uint_eq(f->returned, errors);
	ck_assert_uint_eq(f->state, DRILL_DEVICE_FIRED);
}
END_TEST

/* The count begins anew while all of them call. */
START_TEST(each_arming_counts_all_threads_calls_from_one)
{
	struct drill_device_fault *f;

	for (uint64_t mark = 1; mark <= 20; mark++) {
		f = arm(DRILL_CALL_cuEventQuery, DRILL_DEVICE_RETURN);
		f->mark = mark;
		f->nth = THREADS * CALLS;
		errors = 0;
		run_threads();
		ck_assert_int_eq(errors, 1);
	}
	ck_assert_int_eq(wrong, 0);
}
END_TEST

START_TEST(a_limit_of_hits_holds_among_threads)
{
	struct drill_device_fault *f;

	f = arm(DRILL_CALL_cuEventQuery, DRILL_DEVICE_RETURN);
	f->every = 1;
	f->count = 77;
	run_threads();
	ck_assert_int_eq(wrong, 0);
	ck_assert_int_eq(errors, 77);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("cuda threads");
	TCase *tc = tcase_create("threads");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, threads_that_start_together_start_the_proxy_once);
	tcase_add_test(tc, each_turn_of_many_threads_calls_is_hit_once);
	tcase_add_test(tc, each_arming_counts_all_threads_calls_from_one);
	tcase_add_test(tc, a_limit_of_hits_holds_among_threads);
	suite_add_tcase(s, tc);
	return drill_check_main(s);
}
