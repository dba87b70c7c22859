/* test_freezer.c - what is frozen stands still, with either version of cgroups
 * SPDX-License-Identifier: MIT
 *
 * Where both are mounted the product takes version 2; here each is made to do
 * it. The effect is read from the memory that the frozen process counts in.
 */
#include "check_main.h"

#include "harness/lab/cgroup.h"
#include "injectors/host/freezer.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const struct {
	int version;
	const char *mounts[2];
} kinds[] = {
	{ 2, { "/sys/fs/cgroup/unified", "/sys/fs/cgroup" } },
	{ 1, { "/sys/fs/cgroup/freezer", "/sys/fs/cgroup/freezer" } },
};

static char dir[200];
static pid_t child;
static _Atomic uint64_t *count;

static void setup(void)
{
	dir[0] = '\0';
	child = 0;
	count = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert(count != MAP_FAILED);
}

static void teardown(void)
{
	if (child > 0) {
		kill(child, SIGKILL);
		drill_freezer_set(1, dir, false, NULL);
		drill_freezer_set(2, dir, false, NULL);
		waitpid(child, NULL, 0);
	}
	if (dir[0])
		drill_cgroup_remove(dir, 5000, NULL);
	munmap((void *)count, 4096);
}

static void rest(long ms)
{
	const struct timespec t = { .tv_nsec = ms * 1000000 };

	nanosleep(&t, NULL);
}

static bool make_cgroup(int kind)
{
	const char *file = kinds[kind].version == 2 ? "cgroup.controllers"
						    : "cgroup.procs";
	char path[300];

	for (int i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s/%s", kinds[kind].mounts[i],
			 file);
		if (access(path, R_OK) < 0)
			continue;
		snprintf(dir, sizeof(dir), "%s/faultdrill-freezer.%d",
			 kinds[kind].mounts[i], (int)getpid());
		if (drill_cgroup_make(dir, NULL) == 0)
			return true;
		dir[0] = '\0';
	}
	return false;
}

static void start_counting(void)
{
	child = fork();
	ck_assert_int_ge(child, 0);
	if (child)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		(*count)++;
		rest(1);
	}
}

/* True once it counts on; false when it has not within ten seconds. */
static bool goes_on(void)
{
	uint64_t was = *count;

	for (int i = 0; i < 10000 && *count == was; i++)
		rest(1);
	return *count != was;
}

static bool stands_still(void)
{
	uint64_t was = *count;

	rest(100);
	return *count == was;
}

START_TEST(what_is_frozen_stands_still_until_it_is_thawed)
{
	struct drill_freezer f = { .version = kinds[_i].version };
	struct drill_err err = { 0 };
	char where[300];
	bool done;

	if (!make_cgroup(_i))
		SKIP("no cgroups of version %d to write", f.version);
	snprintf(f.root, sizeof(f.root), "%.*s",
		 (int)(strrchr(dir, '/') - dir), dir);
	start_counting();
	ck_assert(goes_on());
	ck_assert_int_eq(drill_freezer_move(dir, child, &err), 0);
	ck_assert_int_eq(drill_freezer_of(&f, child, where, sizeof(where),
					  &err), 0);
	ck_assert_str_eq(where, dir);
	ck_assert_int_eq(drill_freezer_member(dir), child);
	ck_assert_int_eq(drill_freezer_get(f.version, dir, &done), 0);
	for (int i = 0; i < 2; i++) {
		ck_assert_msg(drill_freezer_set(f.version, dir, true, &err) ==
			      0, "%s", err.msg);
		ck_assert_int_eq(drill_freezer_get(f.version, dir, &done), 1);
		ck_assert(done);
		ck_assert(stands_still());
		ck_assert_int_eq(drill_freezer_set(f.version, dir, false,
						   &err), 0);
		ck_assert_int_eq(drill_freezer_get(f.version, dir, &done), 0);
		ck_assert(done);
		ck_assert(goes_on());
	}
}
END_TEST

START_TEST(a_cgroup_that_is_not_there_is_an_error)
{
	struct drill_err err = { 0 };
	int version = kinds[_i].version;

	ck_assert_int_eq(drill_freezer_get(version, "/nonexistent", NULL),
			 -ENOENT);
	ck_assert_int_eq(drill_freezer_set(version, "/nonexistent", true,
					   &err), -ENOENT);
	ck_assert_msg(strstr(err.msg, "/nonexistent"), "%s", err.msg);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("freezer");
	TCase *t = tcase_create("freezer");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 30);
	tcase_add_loop_test(t, what_is_frozen_stands_still_until_it_is_thawed,
			    0, 2);
	tcase_add_loop_test(t, a_cgroup_that_is_not_there_is_an_error, 0, 2);
	suite_add_tcase(s, t);
	return drill_check_main(s);
}
