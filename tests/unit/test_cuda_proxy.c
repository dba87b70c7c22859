/* test_cuda_proxy.c - calls through the CUDA proxy, by name and by pointer
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/cuda/rig.h"

#include <time.h>

static bool is_proc(int call)
{
	return !strncmp(known[call].symbol, "cuGetProcAddress", 16);
}

START_TEST(each_export_reaches_its_namesake)
{
	unsigned int before;

	load();
	for (int i = 0; i < DRILL_CUDA_CALLS; i++) {
		if (is_proc(i))
			continue;
		for (int n = 0; n < 3; n++) {
			before = toy_count[i];
			ck_assert_int_eq(call0(known[i].symbol),
					 TOY_ANSWER + i);
			ck_assert_uint_eq(toy_count[i], before + 1);
		}
	}
	ck_assert_uint_eq(page->client[0].hello, 1);
	ck_assert_int_eq(page->client[0].pid, getpid());
	ck_assert_uint_eq(page->client[0].linked, DRILL_CUDA_CALLS - 2);
	ck_assert_uint_eq(drill_device_calls(&page->client[0]),
			  3 * (DRILL_CUDA_CALLS - 2));
	ck_assert_uint_eq(drill_device_launches(&page->client[0]), 3 * 12);
	ck_assert_uint_eq(page->client[0].bypassed, 0);
	ck_assert_str_eq(said(), "");
}
END_TEST

START_TEST(without_a_page_nothing_is_said_and_nothing_changed)
{
	__typeof__(&cuGetProcAddress_v2) get;
	void *p = NULL;

	unsetenv("FAULTDRILL_DEVICES");
	load();
	ck_assert_int_eq(call0("cuCtxSynchronize"),
			 TOY_ANSWER + DRILL_CALL_cuCtxSynchronize);
	get = sym("cuGetProcAddress_v2");
	ck_assert_int_eq(get("cuInit", &p, 12000, 0, NULL), 0);
	ck_assert_ptr_eq(p, dlsym(toy, "cuInit"));
	ck_assert_str_eq(said(), "");
	ck_assert_uint_eq(page->client[0].claimed, 0);
}
END_TEST

/* The name of an export without what its version and stream add. */
static cuuint64_t base_name(int call, char *ret)
{
	char *end, *thread;

	strcpy(ret, known[call].symbol);
	thread = strstr(ret, "_pts");
	if (!thread)
		thread = strstr(ret, "_ptd");
	if (thread)
		*thread = '\0';
	end = ret + strlen(ret) - 3;
	if (end > ret && end[0] == '_' && end[1] == 'v')
		*end = '\0';
	return thread ? 2 : 0;
}

START_TEST(what_cuGetProcAddress_gives_out_is_ours)
{
	__typeof__(&cuGetProcAddress_v2) get;
	int status, n = 0;
	char name[128];
	cuuint64_t flags;
	void *p;

	load();
	get = sym("cuGetProcAddress_v2");
	for (int i = 0; i < DRILL_CUDA_CALLS; i++) {
		flags = base_name(i, name);
		status = -1;
		ck_assert_int_eq(get(name, &p, known[i].since, flags, &status),
				 0);
		ck_assert_int_eq(status, 0);
		ck_assert_msg(p == sym(known[i].symbol), "%s at %d",
			      known[i].symbol, known[i].since);
		n++;
	}
	ck_assert_uint_eq(page->client[0].remapped, n);
	ck_assert_uint_eq(page->client[0].passed, 0);
	/* Through the old one, and through the one that was given out. */
	ck_assert_int_eq(get("cuGetProcAddress", &p, 11030, 0, NULL), 0);
	ck_assert_ptr_eq(p, sym("cuGetProcAddress"));
	ck_assert_int_eq(((__typeof__(&cuGetProcAddress))p)(
				 "cuMemAlloc", &p, 11030, 0), 0);
	ck_assert_ptr_eq(p, sym("cuMemAlloc_v2"));
	/* Calls of what was given out are no linked ones. */
	ck_assert_int_eq(((int (*)(void))p)(),
			 TOY_ANSWER + DRILL_CALL_cuMemAlloc_v2);
	ck_assert_uint_eq(page->client[0].linked, 1);
}
END_TEST

START_TEST(what_is_not_found_or_not_known_passes_through)
{
	__typeof__(&cuGetProcAddress_v2) get;
	int status = 5;
	void *p = NULL;

	setenv("TOY_HIDE", "cuMemAlloc", 1);
	load();
	get = sym("cuGetProcAddress_v2");
	ck_assert_int_eq(get("", &p, 0, 0, NULL), CUDA_ERROR_NOT_FOUND);
	ck_assert_int_eq(get("cuNever", &p, 13000, 0, &status), 0);
	ck_assert_ptr_null(p);
	ck_assert_int_eq(status, 77);
	ck_assert_int_eq(get("cuTomorrow", &p, 13000, 0, &status), 0);
	ck_assert_int_eq(((int (*)(void))p)(), TOY_ANSWER - 1);
	ck_assert_uint_eq(page->client[0].passed, 1);
	/* An address that is not exported: by name and version. */
	ck_assert_int_eq(get("cuMemAlloc", &p, 12000, 0, NULL), 0);
	ck_assert_ptr_eq(p, sym("cuMemAlloc_v2"));
	/* In a version to come the name may mean something else. */
	ck_assert_int_eq(get("cuMemAlloc", &p, DRILL_CUDA_NEWEST + 1, 0, NULL),
			 0);
	ck_assert_int_eq(((int (*)(void))p)(), TOY_ANSWER - 1);
	ck_assert_uint_eq(page->client[0].passed, 2);
}
END_TEST

static void launch(void)
{
	__typeof__(&cuLaunchKernel) fn = sym("cuLaunchKernel");

	memset(record, 0, sizeof(*record));
	ck_assert_int_eq(fn((void *)0x1122334455667788, 2, 3, 4, 5, 6, 7,
			    0xfffffffe, (void *)0x99, (void *)0xaabbccddeeff,
			    (void *)0x77),
			 TOY_ANSWER + DRILL_CALL_cuLaunchKernel);
	ck_assert_uint_eq(record->reg[0], 0x1122334455667788);
	for (unsigned int i = 1; i < 6; i++)
		ck_assert_uint_eq((uint32_t)record->reg[i], i + 1);
	ck_assert_uint_eq((uint32_t)record->stack[0], 7);
	ck_assert_uint_eq((uint32_t)record->stack[1], 0xfffffffe);
	ck_assert_uint_eq(record->stack[2], 0x99);
	ck_assert_uint_eq(record->stack[3], 0xaabbccddeeff);
	ck_assert_uint_eq(record->stack[4], 0x77);
}

static void doubles(void)
{
	double (*fn)(double, double, double, double, double, double, double,
		     double) = sym("cuTexRefSetMipmapLevelClamp");

	memset(record, 0, sizeof(*record));
	fn(1.5, -2.5, 3, 4, 5, 6, 7, 8.25);
	ck_assert(record->xmm0 == 1.5 && record->xmm1 == -2.5 &&
		  record->xmm7 == 8.25);
}

START_TEST(arguments_and_result_arrive_as_they_are)
{
	load();
	*toy_records = 1;
	for (int round = 0; round < 3; round++) {
		launch(); /* the start, the fast way, the slow way */
		doubles();
		if (round == 1)
			memset((void *)page->hot, 1, sizeof(page->hot));
	}
}
END_TEST

START_TEST(any_entry_point_can_be_told_to_fail)
{
	struct drill_device_fault *f;
	unsigned int before;

	load();
	for (int i = 0; i < DRILL_CUDA_CALLS; i++) {
		if (is_proc(i))
			continue;
		f = arm(i, DRILL_DEVICE_RETURN);
		f->mark = 1000 + (unsigned int)i;
		before = toy_count[i];
		ck_assert_int_eq(call0(known[i].symbol), 999);
		ck_assert_uint_eq(toy_count[i], before);
		ck_assert_int_eq(call0(known[i].symbol), TOY_ANSWER + i);
		ck_assert_uint_eq(f->state, DRILL_DEVICE_FIRED);
		ck_assert_uint_eq(f->surfaced_call, i + 1);
		ck_assert_uint_eq(f->returned, 1);
		page->hot[i] = 0;
	}
}
END_TEST

START_TEST(the_nth_then_every_so_many_and_no_more_than_that)
{
	struct drill_device_fault *f;
	char got[16] = "";

	load();
	f = arm(DRILL_CALL_cuEventQuery, DRILL_DEVICE_RETURN);
	f->nth = 3;
	f->every = 4;
	f->count = 3;
	for (int i = 0; i < 15; i++)
		got[i] = call0("cuEventQuery") == 999 ? 'x' : '.';
	ck_assert_str_eq(got, "..x...x...x....");
	ck_assert_uint_eq(f->hits, 3);
	ck_assert_uint_eq(f->returned, 3);
	/* Armed anew it counts anew. */
	f->hits = 0;
	f->mark++;
	f->state = DRILL_DEVICE_ARMED;
	for (int i = 0; i < 7; i++)
		got[i] = call0("cuEventQuery") == 999 ? 'x' : '.';
	ck_assert(!strncmp(got, "..x...x", 7));
	f->state = DRILL_DEVICE_OVER;
	ck_assert_int_ne(call0("cuEventQuery"), 999);
}
END_TEST

START_TEST(a_share_of_calls_is_drawn_by_the_seed)
{
	struct drill_device_fault *f;
	int hits[2] = { 0, 0 };

	load();
	f = arm(DRILL_CALL_cuEventQuery, DRILL_DEVICE_RETURN);
	f->every = 1;
	f->ppm = 250000;
	for (int k = 0; k < 2; k++) {
		f->mark++;
		for (int i = 0; i < 4000; i++)
			hits[k] += call0("cuEventQuery") == 999;
	}
	ck_assert_int_eq(hits[0], hits[1]);
	ck_assert_int_gt(hits[0], 850);
	ck_assert_int_lt(hits[0], 1150);
}
END_TEST

START_TEST(another_rank_or_attempt_is_let_alone)
{
	struct drill_device_fault *f;

	setenv("FAULTDRILL_RANK", "3", 1);
	setenv("FAULTDRILL_ATTEMPT", "2", 1);
	load();
	f = arm(DRILL_CALL_cuEventQuery, DRILL_DEVICE_RETURN);
	f->rank = 1;
	ck_assert_int_ne(call0("cuEventQuery"), 999);
	f->rank = 3;
	f->attempt = 1;
	ck_assert_int_ne(call0("cuEventQuery"), 999);
	ck_assert_uint_eq(f->state, DRILL_DEVICE_ARMED);
	f->attempt = 2;
	ck_assert_int_eq(call0("cuEventQuery"), 999);
	ck_assert_int_eq(page->client[0].rank, 3);
	ck_assert_int_eq(page->client[0].attempt, 2);
}
END_TEST

START_TEST(a_delay_takes_that_long)
{
	struct drill_device_fault *f;
	struct timespec a, b;

	load();
	f = arm(DRILL_CALL_cuEventQuery, DRILL_DEVICE_DELAY);
	f->delay_ns = 30000000;
	clock_gettime(CLOCK_MONOTONIC, &a);
	ck_assert_int_eq(call0("cuEventQuery"),
			 TOY_ANSWER + DRILL_CALL_cuEventQuery);
	clock_gettime(CLOCK_MONOTONIC, &b);
	ck_assert_int_ge((b.tv_sec - a.tv_sec) * 1000000000 + b.tv_nsec -
			 a.tv_nsec, 30000000);
	ck_assert_int_ge(f->added_ns, 30000000);
}
END_TEST

/* What the subset behind the proxy lacks. */
START_TEST(an_entry_that_the_next_library_lacks_says_so)
{
	__typeof__(&cuGetProcAddress_v2) get;
	void *p = NULL;

	setenv("FAULTDRILL_CUDA_NEXT", built("softcuda/libcuda.so.1"), 1);
	load();
	ck_assert_int_eq(call0("cuTexRefCreate"), CUDA_ERROR_NOT_SUPPORTED);
	get = sym("cuGetProcAddress_v2");
	ck_assert_int_eq(get("cuTexRefCreate", &p, 12000, 0, NULL),
			 CUDA_ERROR_NOT_FOUND);
	ck_assert_ptr_null(p);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("cuda proxy");
	TCase *tc = tcase_create("proxy");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, each_export_reaches_its_namesake);
	tcase_add_test(tc, without_a_page_nothing_is_said_and_nothing_changed);
	tcase_add_test(tc, what_cuGetProcAddress_gives_out_is_ours);
	tcase_add_test(tc, what_is_not_found_or_not_known_passes_through);
	tcase_add_test(tc, arguments_and_result_arrive_as_they_are);
	tcase_add_test(tc, any_entry_point_can_be_told_to_fail);
	tcase_add_test(tc, the_nth_then_every_so_many_and_no_more_than_that);
	tcase_add_test(tc, a_share_of_calls_is_drawn_by_the_seed);
	tcase_add_test(tc, another_rank_or_attempt_is_let_alone);
	tcase_add_test(tc, a_delay_takes_that_long);
	tcase_add_test(tc, an_entry_that_the_next_library_lacks_says_so);
	suite_add_tcase(s, tc);
	return drill_check_main(s);
}
