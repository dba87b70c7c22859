/* test_lease.c - the lease runs out when nobody renews it
 * SPDX-License-Identifier: MIT
 */
#include "check_main.h"

#include "harness/agent/lease.h"
#include "harness/agent/process.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

START_TEST(a_fresh_lease_names_its_holder_and_runs)
{
	struct drill_lease l = { 0 };

	ck_assert(!drill_lease_valid(&l));
	drill_lease_init(&l, "run", "h0", 0);
	ck_assert(drill_lease_valid(&l));
	ck_assert_int_eq(l.lease_ns, DRILL_LEASE_NS);
	ck_assert_int_eq(l.holder_pid, getpid());
	ck_assert_uint_eq(l.holder_start, drill_process_start(getpid()));
	ck_assert_uint_eq(atomic_load(&l.epoch), 1);
	ck_assert_int_gt(drill_lease_left(&l), DRILL_LEASE_NS / 2);
}
END_TEST

START_TEST(it_runs_out_unless_renewed)
{
	struct drill_lease l = { 0 };

	drill_lease_init(&l, "run", "h0", 1);
	usleep(10);
	ck_assert_int_le(drill_lease_left(&l), 0);
	l.lease_ns = DRILL_LEASE_NS;
	atomic_store(&l.renewed_ns,
		     atomic_load(&l.renewed_ns) - 2 * DRILL_LEASE_NS);
	ck_assert_int_le(drill_lease_left(&l), 0);
	drill_lease_renew(&l);
	ck_assert_int_gt(drill_lease_left(&l), 0);
}
END_TEST

START_TEST(names_that_are_too_long_are_cut_not_overrun)
{
	struct drill_lease l = { 0 };
	char name[300];

	memset(name, 'x', sizeof(name) - 1);
	name[299] = 0;
	drill_lease_init(&l, name, name, 0);
	ck_assert_uint_eq(strlen(l.run), 63);
	ck_assert_uint_eq(strlen(l.host), 63);
}
END_TEST

/* ---- identity of processes ---- */

static pid_t sleeper(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		pause();
		_exit(0);
	}
	return pid;
}

START_TEST(a_process_is_found_by_pid_start_and_boot)
{
	pid_t pid = sleeper();
	struct drill_process p, q;

	ck_assert_int_eq(drill_process_open(pid, &p, NULL), 0);
	ck_assert_uint_gt(p.start, 0);
	q = p;
	q.pidfd = -1;
	ck_assert_int_eq(drill_process_find(&q, NULL), 0);
	drill_process_close(&q);
	q.start++; /* the pid was given to another */
	ck_assert_int_eq(drill_process_find(&q, NULL), -ESRCH);
	ck_assert_int_eq(q.pidfd, -1);
	q.start = 0; /* nobody knows */
	ck_assert_int_eq(drill_process_find(&q, NULL), -EUCLEAN);
	q = p;
	q.pidfd = -1;
	q.boot_id[0] ^= 1; /* of another boot */
	ck_assert_int_eq(drill_process_find(&q, NULL), -ESRCH);
	ck_assert_int_eq(drill_process_kill(&p, 1000000000, NULL), 0);
	ck_assert(drill_process_dead(&p));
	ck_assert_int_eq(drill_process_find(&p, NULL), -ESRCH);
	drill_process_close(&p);
	waitpid(pid, NULL, 0);
}
END_TEST

START_TEST(the_status_of_a_dead_process_is_told)
{
	struct drill_process p;
	int status = 0, rc;
	pid_t pid = sleeper();

	ck_assert_int_eq(drill_process_open(pid, &p, NULL), 0);
	ck_assert_int_lt(drill_process_status(&p, &status), 0);
	ck_assert_int_eq(drill_process_kill(&p, 1000000000, NULL), 0);
	rc = drill_process_status(&p, &status);
	if (rc == 0) /* a zombie, and we may read it */
		ck_assert_int_eq(WTERMSIG(status), SIGKILL);
	waitpid(pid, NULL, 0);
	status = 0;
	rc = drill_process_status(&p, &status);
	drill_process_close(&p);
	if (rc == -ENODATA)
		SKIP("this kernel does not tell after reaping");
	ck_assert_int_eq(rc, 0);
	ck_assert_int_eq(WTERMSIG(status), SIGKILL);
}
END_TEST

START_TEST(a_stopped_process_shows_it)
{
	pid_t pid = sleeper();
	int i;

	kill(pid, SIGSTOP);
	waitpid(pid, &i, WUNTRACED);
	ck_assert_int_eq(drill_process_state(pid), 'T');
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	ck_assert_int_eq(drill_process_state(pid), 0);
	ck_assert_uint_eq(drill_process_start(pid), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("lease");
	TCase *t = tcase_create("lease"), *p = tcase_create("process");

	tcase_add_test(t, a_fresh_lease_names_its_holder_and_runs);
	tcase_add_test(t, it_runs_out_unless_renewed);
	tcase_add_test(t, names_that_are_too_long_are_cut_not_overrun);
	tcase_add_test(p, a_process_is_found_by_pid_start_and_boot);
	tcase_add_test(p, the_status_of_a_dead_process_is_told);
	tcase_add_test(p, a_stopped_process_shows_it);
	suite_add_tcase(s, t);
	suite_add_tcase(s, p);
	return drill_check_main(s);
}
