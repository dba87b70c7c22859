/* test_cuda_process.c - the CUDA proxy among threads, forks, copies, bad pages
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/cuda/rig.h"

#include <pthread.h>
#include <sys/wait.h>

static atomic_int wrong_answers;

static void *many(void *arg)
{
	int (*const *fn)(void) = arg;

	for (int i = 0; i < 20000; i++)
		if (fn[0]() != TOY_ANSWER + DRILL_CALL_cuEventQuery ||
		    fn[1]() != TOY_ANSWER + DRILL_CALL_cuStreamQuery)
			atomic_fetch_add(&wrong_answers, 1);
	return NULL;
}

START_TEST(sixteen_threads_lose_no_count)
{
	int (*fn[2])(void);
	pthread_t t[16];

	load();
	fn[0] = (int (*)(void))sym("cuEventQuery");
	fn[1] = (int (*)(void))sym("cuStreamQuery");
	for (int round = 0; round < 4; round++) {
		for (int i = 0; i < 16; i++)
			ck_assert_int_eq(pthread_create(&t[i], NULL, many, fn),
					 0);
		for (int i = 0; i < 16; i++)
			pthread_join(t[i], NULL);
	}
	ck_assert_int_eq(wrong_answers, 0);
	ck_assert_uint_eq(drill_device_calls(&page->client[0]),
			  4 * 16 * 2 * 20000);
	ck_assert_uint_eq(page->client[1].claimed, 0);
}
END_TEST

START_TEST(a_closed_driver_can_still_be_called)
{
	int (*fn)(void);

	load();
	fn = (int (*)(void))sym("cuEventQuery");
	ck_assert_int_ge(fn(), TOY_ANSWER);
	ck_assert_int_eq(dlclose(proxy), 0);
	ck_assert_int_ge(fn(), TOY_ANSWER);
	load();
	ck_assert_ptr_eq(fn, sym("cuEventQuery"));
	ck_assert_uint_eq(drill_device_calls(&page->client[0]), 2);
}
END_TEST

static int in_child(int (*fn)(void))
{
	pid_t pid = fork();
	int status;

	if (!pid)
		_exit(fn());
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static int orphan(void)
{
	bool good = call0("cuInit") == 3 && call0("cuEventQuery") == 3 &&
		call0("cuMemAlloc_v2") == 3 && call0("cuArrayCreate") == 3 &&
		call0("cuGetErrorString") ==
			TOY_ANSWER + DRILL_CALL_cuGetErrorString;

	return good ? 0 : 1;
}

START_TEST(a_child_after_cuInit_is_not_initialized)
{
	uint64_t calls;

	load();
	call0("cuInit");
	call0("cuEventQuery");
	calls = drill_device_calls(&page->client[0]);
	ck_assert_int_eq(in_child(orphan), 0);
	/* It has not spoken in its parent's name, nor in its own. */
	ck_assert_uint_eq(drill_device_calls(&page->client[0]), calls);
	ck_assert_uint_eq(page->client[0].hello, 1);
	ck_assert_uint_eq(page->client[0].forked, 1);
	ck_assert_uint_eq(page->client[1].claimed, 0);
	ck_assert_int_ge(call0("cuEventQuery"), TOY_ANSWER);
}
END_TEST

static int newcomer(void)
{
	return call0("cuInit") == TOY_ANSWER + DRILL_CALL_cuInit &&
	       page->client[1].pid == getpid() ? 0 : 1;
}

START_TEST(a_child_before_cuInit_says_its_own_hello)
{
	load();
	call0("cuDriverGetVersion");
	ck_assert_int_eq(in_child(newcomer), 0);
	ck_assert_uint_eq(drill_device_calls(&page->client[0]), 1);
	ck_assert_uint_eq(drill_device_calls(&page->client[1]), 1);
	ck_assert_uint_eq(page->client[0].forked, 0);
}
END_TEST

static int met_first(void)
{
	return call0("cuEventQuery");
}

START_TEST(a_child_before_cuInit_counts_from_one)
{
	load();
	arm(DRILL_CALL_cuEventQuery, DRILL_DEVICE_RETURN)->nth = 2;
	ck_assert_int_ge(call0("cuEventQuery"), TOY_ANSWER);
	/* As an exit status. */
	ck_assert_int_eq(in_child(met_first),
			 (TOY_ANSWER + DRILL_CALL_cuEventQuery) & 0xff);
	ck_assert_int_eq(call0("cuEventQuery"), 999);
}
END_TEST

START_TEST(a_second_copy_stays_passive_and_says_so)
{
	char cmd[8192], copy[128];
	void *other;
	int (*fn)(void);

	load();
	ck_assert_int_ge(call0("cuEventQuery"), TOY_ANSWER);
	snprintf(copy, sizeof(copy), "%s/libcuda.so.1", dir);
	snprintf(cmd, sizeof(cmd), "cp '%s' '%s'",
		 built("hooks/cuda/libcuda.so.1"), copy);
	ck_assert_int_eq(system(cmd), 0);
	other = open_lib(copy);
	fn = (int (*)(void))dlsym(other, "cuEventQuery");
	ck_assert_ptr_ne(fn, sym("cuEventQuery"));
	ck_assert_int_eq(fn(), TOY_ANSWER + DRILL_CALL_cuEventQuery);
	ck_assert_msg(strstr(said(), "is loaded here twice") != NULL, "%s",
		      said());
	ck_assert_uint_eq(page->client[1].claimed, 0);
	ck_assert_uint_eq(drill_device_calls(&page->client[0]), 1);
}
END_TEST

static void refused(const char *why)
{
	load();
	ck_assert_int_eq(call0("cuEventQuery"),
			 TOY_ANSWER + DRILL_CALL_cuEventQuery);
	ck_assert_msg(strstr(said(), "stays passive") && strstr(said(), why),
		      "%s", said());
	ck_assert_uint_eq(page->client[0].claimed, 0);
}

START_TEST(a_page_of_another_version_is_refused)
{
	page->version++;
	refused("has another version than this build");
}
END_TEST

START_TEST(a_page_that_was_cut_is_refused)
{
	ck_assert_int_eq(truncate(page_path, sizeof(*page) / 2), 0);
	load();
	ck_assert_int_eq(call0("cuEventQuery"),
			 TOY_ANSWER + DRILL_CALL_cuEventQuery);
	ck_assert_msg(strstr(said(), "has the wrong size") != NULL, "%s",
		      said());
}
END_TEST

START_TEST(a_full_page_is_said_and_counted)
{
	for (int i = 0; i < DRILL_DEVICE_CLIENTS; i++)
		page->client[i].claimed = 1;
	load();
	ck_assert_int_ge(call0("cuEventQuery"), TOY_ANSWER);
	ck_assert_msg(strstr(said(), "has no room") != NULL, "%s", said());
	ck_assert_uint_eq(page->refused, 1);
}
END_TEST

START_TEST(the_proxy_does_not_take_itself_for_the_driver)
{
	setenv("FAULTDRILL_CUDA_NEXT", built("hooks/cuda/libcuda.so.1"), 1);
	load();
	ck_assert_int_eq(call0("cuInit"), CUDA_ERROR_NO_DEVICE);
	ck_assert_msg(strstr(said(), "is the proxy itself") != NULL, "%s",
		      said());
}
END_TEST

START_TEST(a_driver_that_is_not_there_is_named)
{
	setenv("FAULTDRILL_CUDA_NEXT", "/nowhere/libcuda.so.1", 1);
	load();
	ck_assert_int_eq(call0("cuInit"), CUDA_ERROR_NO_DEVICE);
	ck_assert_msg(strstr(said(), "/nowhere/libcuda.so.1") != NULL, "%s",
		      said());
}
END_TEST

START_TEST(without_a_name_the_driver_is_searched_for)
{
	char dirs[16384];

	snprintf(dirs, sizeof(dirs), "::relative:%s", built("hooks/cuda"));
	strcat(dirs, ":");
	strcat(dirs, built("tests/cuda/toy"));
	setenv("LD_LIBRARY_PATH", dirs, 1);
	unsetenv("FAULTDRILL_CUDA_NEXT");
	load();
	ck_assert_int_eq(call0("cuInit"), TOY_ANSWER + DRILL_CALL_cuInit);
	ck_assert_msg(strstr(page->client[0].next, "/tests/cuda/toy/"), "%s",
		      page->client[0].next);
}
END_TEST

START_TEST(a_second_driver_in_the_process_is_seen)
{
	load();
	call0("cuInit");
	ck_assert_uint_eq(page->client[0].bypassed, 0);
	open_lib(built("softcuda/libcuda.so.1"));
	call0("cuEventQuery");
	ck_assert_uint_eq(page->client[0].bypassed, 1);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("cuda process");
	TCase *tc = tcase_create("proxy");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, sixteen_threads_lose_no_count);
	tcase_add_test(tc, a_closed_driver_can_still_be_called);
	tcase_add_test(tc, a_child_after_cuInit_is_not_initialized);
	tcase_add_test(tc, a_child_before_cuInit_counts_from_one);
	tcase_add_test(tc, a_child_before_cuInit_says_its_own_hello);
	tcase_add_test(tc, a_second_copy_stays_passive_and_says_so);
	tcase_add_test(tc, a_page_of_another_version_is_refused);
	tcase_add_test(tc, a_page_that_was_cut_is_refused);
	tcase_add_test(tc, a_full_page_is_said_and_counted);
	tcase_add_test(tc, the_proxy_does_not_take_itself_for_the_driver);
	tcase_add_test(tc, a_driver_that_is_not_there_is_named);
	tcase_add_test(tc, without_a_name_the_driver_is_searched_for);
	tcase_add_test(tc, a_second_driver_in_the_process_is_seen);
	suite_add_tcase(s, tc);
	return drill_check_main(s);
}
