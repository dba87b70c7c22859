/* test_collective.c - collective.delay and collective.hang on a hooked process
 * SPDX-License-Identifier: MIT
 */
#include "check_main.h"

#include "harness/agent/journal.h"
#include "harness/agent/process.h"
#include "injectors/injector.h"
#include "tests/support/hooked.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern const struct drill_injector drill_collective_delay;
extern const struct drill_injector drill_collective_hang;

static char dir[64];
static struct drill_target target;
static struct drill_journal *journal;
static struct drill_act act;
static struct drill_err err;
static struct drill_hooks hooks;
static char args[256];
static pid_t rank;

static void setup(void)
{
	strcpy(dir, "/tmp/fd-coll.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	err = (struct drill_err){ 0 };
	target = (struct drill_target){ .kind = DRILL_TARGET_RANK, .rank = 3 };
	strcpy(target.name, "rank 3");
	strcpy(target.dir, dir);
	snprintf(target.hooks, sizeof(target.hooks), "%s/hooks.page", dir);
	ck_assert_int_eq(drill_hooks_create(&hooks, target.hooks, &err), 0);
	rank = drill_hooked_start(target.hooks, 3, 1, DRILL_WORD_ALLREDUCE);
	ck_assert_int_gt(rank, 0);
	ck_assert_int_eq(drill_process_open(rank, &target.process, &err), 0);
	ck_assert_int_eq(drill_journal_open(dir, "run", "h0", &journal, &err),
			 0);
	act = (struct drill_act){ .args = args, .target = &target,
				  .evidence = json_object(),
				  .clock = drill_clock_system() };
}

static void teardown(void)
{
	char cmd[96];

	kill(rank, SIGKILL);
	waitpid(rank, NULL, 0);
	drill_process_close(&target.process);
	drill_journal_close(journal);
	drill_hooks_close(&hooks);
	json_decref(act.evidence);
	snprintf(cmd, sizeof(cmd), "rm -rf '%s'", dir);
	ck_assert_int_eq(system(cmd), 0);
}

static void parse(const struct drill_injector *in, json_t *obj)
{
	ck_assert_uint_le(in->args_size, sizeof(args));
	ck_assert_msg(!drill_params_parse(in->params, in->name, obj, args,
					  &err), "%s", err.msg);
}

static void begin_record(const char *kind)
{
	struct drill_record_info info = { .kind = kind, .fault = "f",
					  .target = "rank 3",
					  .process = target.process,
					  .survives = DRILL_SURVIVES_PROCESS };

	ck_assert_msg(!drill_record_new(journal, &info, &act.record, &err),
		      "%s", err.msg);
}

static void apply(const struct drill_injector *in, json_t *obj)
{
	parse(in, obj);
	begin_record(in->name);
	ck_assert_msg(!in->probe(&act, &err), "%s", err.msg);
	ck_assert_msg(!in->apply(&act, &err), "%s", err.msg);
	ck_assert_int_gt(act.before_ns, 0);
	ck_assert_int_ge(act.after_ns, act.before_ns);
	ck_assert_int_lt(act.after_ns - act.before_ns, 50000000);
}

/* Until verify says @want, at most 10 s. */
static void verified(const struct drill_injector *in, int want)
{
	const struct timespec t = { .tv_nsec = 1000000 };
	int r = -1;

	for (int i = 0; i < 10000 && r != want; i++) {
		r = in->verify(&act, &err);
		ck_assert_msg(r >= 0, "%s", err.msg);
		if (r != want)
			nanosleep(&t, NULL);
	}
	ck_assert_int_eq(r, want);
}

static uint64_t calls(void)
{
	int s = drill_hooks_slot(&hooks, 3, NULL);

	return hooks.page->slot[s].count[DRILL_WORD_ALLREDUCE].calls;
}

static void goes_on(void)
{
	const struct timespec t = { .tv_nsec = 1000000 };
	uint64_t before = calls();

	for (int i = 0; i < 10000 && calls() < before + 3; i++)
		nanosleep(&t, NULL);
	ck_assert_uint_ge(calls(), before + 3);
}

START_TEST(a_hang_is_seen_by_page_and_kernel_and_ends_by_revert)
{
	const struct drill_injector *in = &drill_collective_hang;
	json_t *obj = json_pack("{s:s}", "op", "MPI_Iallreduce");
	uint64_t at;

	apply(in, obj);
	verified(in, 1);
	ck_assert(json_is_true(json_object_get(act.evidence, "thread_waits")));
	at = calls();
	ck_assert_int_eq(in->verify(&act, &err), 1);
	ck_assert_uint_eq(calls(), at);
	ck_assert_int_eq(in->revert(act.record, &err), 0);
	ck_assert_int_eq(in->verify(&act, &err), 0);
	ck_assert_int_eq(in->revert(act.record, &err), 0);
	goes_on();
	json_decref(obj);
}
END_TEST

START_TEST(a_delay_is_measured_and_ends_by_revert)
{
	const struct drill_injector *in = &drill_collective_delay;
	json_t *obj = json_pack("{s:s}", "delay", "5ms"), *v;

	apply(in, obj);
	while (!json_object_get(act.evidence, "mean_delay_ns"))
		ck_assert_int_ge(in->verify(&act, &err), 0);
	v = json_object_get(act.evidence, "mean_delay_ns");
	ck_assert_int_ge(json_integer_value(v), 5000000);
	ck_assert_int_lt(json_integer_value(v), 500000000);
	ck_assert_int_eq(in->revert(act.record, &err), 0);
	ck_assert_int_eq(in->verify(&act, &err), 0);
	ck_assert_int_eq(in->revert(act.record, &err), 0);
	goes_on();
	json_decref(obj);
}
END_TEST

START_TEST(a_long_delay_under_way_ends_at_once_by_revert)
{
	const struct drill_injector *in = &drill_collective_delay;
	json_t *obj = json_pack("{s:s}", "delay", "1h");

	apply(in, obj);
	verified(in, 1);
	ck_assert_int_eq(in->revert(act.record, &err), 0);
	ck_assert_int_eq(in->verify(&act, &err), 0);
	goes_on();
	json_decref(obj);
}
END_TEST

START_TEST(a_fault_ends_with_its_rank_and_meets_no_later_one)
{
	const struct drill_injector *in = &drill_collective_hang;
	json_t *obj = json_object();

	apply(in, obj);
	verified(in, 1);
	kill(rank, SIGKILL);
	waitpid(rank, NULL, 0);
	verified(in, 0);
	/* The entry is still there, but bound to the dead one. */
	rank = drill_hooked_start(target.hooks, 3, 2, DRILL_WORD_ALLREDUCE);
	goes_on();
	ck_assert_int_eq(in->revert(act.record, &err), 0);
	ck_assert_uint_eq(hooks.page->taken, 0);
	json_decref(obj);
}
END_TEST

START_TEST(a_rank_without_the_hook_is_refused_by_name)
{
	json_t *obj = json_object();

	parse(&drill_collective_hang, obj);
	target.rank = 7;
	ck_assert_int_eq(drill_collective_hang.probe(&act, &err), -EAGAIN);
	ck_assert_ptr_nonnull(strstr(err.msg, "rank 7 runs without the hook"));
	json_decref(obj);
}
END_TEST

START_TEST(the_hook_of_another_process_is_refused)
{
	json_t *obj = json_object();
	pid_t other = fork();

	if (other == 0)
		for (;;)
			pause();
	parse(&drill_collective_hang, obj);
	target.process.pid = other;
	ck_assert_int_eq(drill_collective_hang.probe(&act, &err), -ESRCH);
	kill(other, SIGKILL);
	waitpid(other, NULL, 0);
	json_decref(obj);
}
END_TEST

/* As of a command that starts its ranks itself. */
START_TEST(the_hook_of_a_descendant_is_taken)
{
	json_t *obj = json_object();

	parse(&drill_collective_hang, obj);
	target.process.pid = getpid();
	ck_assert_msg(!drill_collective_hang.probe(&act, &err), "%s", err.msg);
	json_decref(obj);
}
END_TEST

START_TEST(an_unknown_call_is_refused_with_the_nearest)
{
	json_t *obj = json_pack("{s:s}", "op", "allreduse");

	parse(&drill_collective_hang, obj);
	ck_assert_int_eq(drill_collective_hang.probe(&act, &err), -EINVAL);
	ck_assert_ptr_nonnull(strstr(err.msg, "did you mean 'allreduce'?"));
	json_decref(obj);
}
END_TEST

START_TEST(a_page_that_is_gone_is_dirty_while_its_rank_lives)
{
	const struct drill_injector *in = &drill_collective_hang;
	json_t *obj = json_object();

	apply(in, obj);
	unlink(target.hooks);
	/* The rank lives and may be caught: nobody can say. */
	ck_assert_int_lt(in->verify(&act, &err), 0);
	ck_assert_int_eq(in->revert(act.record, &err), -EUCLEAN);
	kill(rank, SIGKILL);
	waitpid(rank, NULL, 0);
	ck_assert_int_eq(in->revert(act.record, &err), 0);
	ck_assert_int_eq(in->verify(&act, &err), 0);
	json_decref(obj);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("collective");
	TCase *t = tcase_create("collective");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 30);
	tcase_add_test(t, a_hang_is_seen_by_page_and_kernel_and_ends_by_revert);
	tcase_add_test(t, a_delay_is_measured_and_ends_by_revert);
	tcase_add_test(t, a_long_delay_under_way_ends_at_once_by_revert);
	tcase_add_test(t, a_fault_ends_with_its_rank_and_meets_no_later_one);
	tcase_add_test(t, a_rank_without_the_hook_is_refused_by_name);
	tcase_add_test(t, the_hook_of_another_process_is_refused);
	tcase_add_test(t, the_hook_of_a_descendant_is_taken);
	tcase_add_test(t, an_unknown_call_is_refused_with_the_nearest);
	tcase_add_test(t, a_page_that_is_gone_is_dirty_while_its_rank_lives);
	suite_add_tcase(s, t);
	return drill_check_main(s);
}
