/* drive.c - the MPI hook as an agent sees it, on real MPI programs
 * SPDX-License-Identifier: MIT
 *
 * usage: drive DIR-OF-PROGRAMS HOOK.so (tests/e2e/mpi_hook.sh). Each test makes
 * a host directory with page and FIFO, starts programs under mpirun with the
 * hook preloaded, and plays the agent.
 */
#include "injectors/hooks/hooks.h"
#include "tests/unit/check_main.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "build_id.h"

#define RANKS 3
#define MS INT64_C(1000000)

static const char *programs, *hook;
static char dir[64], page_path[96], out_path[96];
static struct drill_hooks h;
static struct drill_err err;
static int wake_fd;
static pid_t job;

static int64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void nap(void)
{
	const struct timespec t = { 0, 500000 };

	nanosleep(&t, NULL);
}

/* Until @cond holds, at most 30 s. */
#define AWAIT(cond)                                                            \
	do {                                                                   \
		int64_t until_ = now() + 30000 * MS;                           \
		while (!(cond)) {                                              \
			ck_assert_msg(now() < until_, "never: %s", #cond);     \
			nap();                                                 \
		}                                                              \
	} while (0)

static void setup(void)
{
	char wake[96];

	strcpy(dir, "/tmp/fd-mpi.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(page_path, sizeof(page_path), "%s/hooks.page", dir);
	snprintf(out_path, sizeof(out_path), "%s/out", dir);
	snprintf(wake, sizeof(wake), "%s/wake", dir);
	ck_assert_int_eq(mkfifo(wake, 0600), 0);
	wake_fd = open(wake, O_RDWR | O_NONBLOCK);
	err = (struct drill_err){ 0 };
	ck_assert_msg(!drill_hooks_create(&h, page_path, &err), "%s", err.msg);
}

static void teardown(void)
{
	char cmd[96];

	drill_hooks_close(&h);
	close(wake_fd);
	snprintf(cmd, sizeof(cmd), "rm -rf '%s'", dir);
	ck_assert_int_eq(system(cmd), 0);
}

/* @rings: each rank gets one. */
static void start(const char *program, const char *args, bool rings)
{
	char cmd[1024];

	snprintf(cmd, sizeof(cmd),
		 "exec mpirun --oversubscribe --allow-run-as-root -np %d sh -c '"
		 "%s LD_PRELOAD=%s FAULTDRILL_HOST=h0 FAULTDRILL_ATTEMPT=1 "
		 "FAULTDRILL_SLOT=$OMPI_COMM_WORLD_RANK exec %s/%s %s' "
		 ">%s 2>&1", RANKS,
		 rings ? "FAULTDRILL_RING=$R/$OMPI_COMM_WORLD_RANK.ring" : "",
		 hook, programs, program, args, out_path);
	job = fork();
	ck_assert_int_ge(job, 0);
	if (job)
		return;
	setenv("R", dir, 1);
	execl("/bin/sh", "sh", "-c", cmd, (char *)NULL);
	_exit(127);
}

static int finish(void)
{
	int status;

	ck_assert_int_eq(waitpid(job, &status, 0), job);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int output(const char *needle)
{
	char line[512];
	FILE *f = fopen(out_path, "r");
	int n = 0;

	ck_assert_ptr_nonnull(f);
	while (fgets(line, sizeof(line), f))
		n += strstr(line, needle) != NULL;
	fclose(f);
	return n;
}

/* The shortest allreduce that @rank printed, its first step left out. */
static int shortest_us(int rank)
{
	int r, step, us, least = INT_MAX;
	char line[512];
	FILE *f = fopen(out_path, "r");

	ck_assert_ptr_nonnull(f);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "rank %d step %d allreduce_us %d", &r, &step,
			   &us) == 3 && r == rank && step > 1 && us < least)
			least = us;
	fclose(f);
	return least;
}

static int hellos(bool here)
{
	struct drill_hello_seen s[RANKS];
	int n = drill_hooks_hellos(&h, s, RANKS), k = 0;

	for (int i = 0; i < n; i++)
		k += s[i].here == here;
	return k;
}

static struct drill_hook_armed arm(struct drill_hook_order o)
{
	struct drill_hook_armed a;

	ck_assert_msg(!drill_hooks_arm(&h, &o, &a, &err), "%s", err.msg);
	return a;
}

static struct drill_hook_seen see(const struct drill_hook_armed *a)
{
	struct drill_hook_seen s;

	ck_assert_msg(!drill_hooks_read(&h, a, &s, &err), "%s", err.msg);
	return s;
}

static int slot_of(int rank)
{
	int s = drill_hooks_slot(&h, rank, &err);

	ck_assert_int_ge(s, 0);
	return s;
}

static uint64_t calls(int rank, enum drill_word w)
{
	return h.page->slot[slot_of(rank)].count[w].calls;
}

static uint64_t bytes(int rank, enum drill_word w)
{
	return h.page->slot[slot_of(rank)].count[w].bytes;
}

START_TEST(every_rank_says_hello_and_bye)
{
	struct drill_hello_seen s[RANKS + 1];
	unsigned int ranks = 0;

	setenv("FAULTDRILL_HOOKS", page_path, 1);
	start("words", "3", false);
	ck_assert_int_eq(finish(), 0);
	ck_assert_int_eq(drill_hooks_hellos(&h, s, RANKS + 1), RANKS);
	for (int i = 0; i < RANKS; i++) {
		ranks |= 1u << s[i].rank;
		ck_assert_int_eq(s[i].world, RANKS);
		ck_assert_int_eq(s[i].place, s[i].rank);
		ck_assert_int_eq(s[i].attempt, 1);
		ck_assert_int_gt(s[i].pid, 1);
		ck_assert_str_eq(s[i].build, DRILL_BUILD_ID);
		ck_assert_str_eq(s[i].host, "h0");
		ck_assert_ptr_nonnull(strstr(s[i].library, "MPI"));
		ck_assert(!s[i].here && !s[i].fortran);
	}
	ck_assert_uint_eq(ranks, (1u << RANKS) - 1);
}
END_TEST

START_TEST(calls_bytes_and_peers_are_counted)
{
	struct drill_hook_sent sent[4];

	setenv("FAULTDRILL_HOOKS", page_path, 1);
	start("words", "5", false);
	ck_assert_int_eq(finish(), 0);
	for (int r = 0; r < RANKS; r++) {
		ck_assert_uint_eq(calls(r, DRILL_WORD_ALLREDUCE), 10);
		ck_assert_uint_eq(bytes(r, DRILL_WORD_ALLREDUCE), 10 * 512);
		ck_assert_uint_eq(calls(r, DRILL_WORD_BCAST), 10);
		ck_assert_uint_eq(bytes(r, DRILL_WORD_BCAST), 1000);
		ck_assert_uint_eq(calls(r, DRILL_WORD_BARRIER), 5);
		ck_assert_uint_eq(calls(r, DRILL_WORD_SEND), 5);
		ck_assert_uint_eq(calls(r, DRILL_WORD_RECV), 5);
		ck_assert_uint_eq(calls(r, DRILL_WORD_WAIT), 10);
		/* The communicator runs backwards: its next is our last. */
		ck_assert_int_eq(drill_hooks_peers(&h, slot_of(r), sent, 4), 1);
		ck_assert_int_eq(sent[0].peer, (r + RANKS - 1) % RANKS);
		ck_assert_uint_eq(sent[0].messages, 5);
		ck_assert_uint_eq(sent[0].bytes, 5000);
	}
}
END_TEST

/* Arms a hold of rank 1 at the @nth allreduce of step 2 and waits for it. */
static struct drill_hook_armed hold(enum drill_hook_where where, int nth)
{
	struct drill_hook_armed a = arm((struct drill_hook_order){
		.action = DRILL_HOOK_HOLD, .word = DRILL_WORD_ALLREDUCE,
		.where = where, .rank = 1, .slot = -1, .step = 2, .nth = nth });
	struct pollfd p = { wake_fd, POLLIN, 0 };
	char byte;

	setenv("FAULTDRILL_HOOKS", page_path, 1);
	start("words", "4", true);
	/* The FIFO alone must wake the agent. */
	ck_assert_int_eq(poll(&p, 1, 30000), 1);
	ck_assert_int_eq(read(wake_fd, &byte, 1), 1);
	ck_assert_int_eq(see(&a).state, DRILL_HOOK_HELD);
	ck_assert_int_eq(see(&a).by_rank, 1);
	ck_assert_int_eq(see(&a).at_step, 2);
	return a;
}

static void let_go(const struct drill_hook_armed *a)
{
	struct drill_hook_seen s;

	ck_assert_int_eq(drill_hooks_release(&h, a, &err), 0);
	ck_assert_int_eq(finish(), 0);
	ck_assert_int_eq(output(" ok"), RANKS);
	s = see(a);
	ck_assert_int_eq(s.state, DRILL_HOOK_RELEASED);
	ck_assert_uint_eq(s.hits, 1);
	ck_assert_uint_eq(s.waiting, 0);
	ck_assert_int_gt(s.end_ns, s.begin_ns);
	ck_assert_int_eq(drill_hooks_disarm(&h, a, &err), 0);
	ck_assert_int_eq(drill_hooks_disarm(&h, a, &err), 0);
	ck_assert_uint_eq(h.page->armed, 0);
}

START_TEST(before_holds_a_rank_that_has_not_entered)
{
	struct drill_hook_armed a = hold(DRILL_HOOK_BEFORE, 1);

	ck_assert_int_eq(see(&a).at_call, 3);
	ck_assert_uint_eq(calls(1, DRILL_WORD_ALLREDUCE), 2);
	ck_assert_uint_eq(h.page->slot[slot_of(1)].lane[0].where,
			  DRILL_HOOK_BEFORE);
	let_go(&a);
}
END_TEST

START_TEST(inside_holds_a_rank_whose_peers_are_blocked)
{
	struct drill_hook_armed a = hold(DRILL_HOOK_INSIDE, 1);
	struct drill_hook_seen s;

	ck_assert_uint_eq(calls(1, DRILL_WORD_ALLREDUCE), 3);
	AWAIT(see(&a).inside == RANKS - 1);
	s = see(&a);
	ck_assert_int_eq(s.peers, RANKS - 1);
	ck_assert_int_eq(s.entered, RANKS - 1);
	/* They do not get out: nobody left in the next 50 ms. */
	for (int64_t until = now() + 50 * MS; now() < until; nap())
		ck_assert_int_eq(see(&a).inside, RANKS - 1);
	for (int r = 0; r < RANKS; r++)
		ck_assert_uint_eq(calls(r, DRILL_WORD_BCAST), 2);
	let_go(&a);
}
END_TEST

START_TEST(after_holds_a_rank_whose_peers_can_leave)
{
	struct drill_hook_armed a = hold(DRILL_HOOK_AFTER, 1);

	ck_assert_uint_eq(calls(1, DRILL_WORD_ALLREDUCE), 3);
	AWAIT(see(&a).entered == RANKS - 1 && see(&a).inside == 0);
	/* They are in the next collective, the held one is not. */
	AWAIT(calls(0, DRILL_WORD_BCAST) == 4);
	ck_assert_uint_eq(calls(1, DRILL_WORD_BCAST), 2);
	let_go(&a);
}
END_TEST

START_TEST(a_non_blocking_call_is_left_when_its_request_is_done)
{
	struct drill_hook_armed a = hold(DRILL_HOOK_AFTER, 2);

	ck_assert_uint_eq(calls(1, DRILL_WORD_ALLREDUCE), 4);
	ck_assert_uint_eq(calls(1, DRILL_WORD_WAIT), 3);
	AWAIT(see(&a).entered == RANKS - 1 && see(&a).inside == 0);
	let_go(&a);
}
END_TEST

START_TEST(a_hold_that_nobody_releases_ends_by_itself)
{
	struct drill_hook_armed a = arm((struct drill_hook_order){
		.action = DRILL_HOOK_HOLD, .word = DRILL_WORD_BARRIER,
		.rank = 2, .slot = -1, .nth = 2, .hold_max_ns = 200 * MS });

	setenv("FAULTDRILL_HOOKS", page_path, 1);
	start("words", "4", false);
	ck_assert_int_eq(finish(), 0);
	ck_assert_int_eq(see(&a).state, DRILL_HOOK_EXPIRED);
	ck_assert_int_ge(see(&a).total_ns, 200 * MS);
}
END_TEST

static uint64_t waited(int rank)
{
	return h.page->slot[slot_of(rank)].count[DRILL_WORD_ALLREDUCE].ticks;
}

START_TEST(who_waits_in_which_call_since_when)
{
	struct drill_hook_armed a;
	struct drill_hook_wait w[8];
	int64_t began = now();
	int n, peers = 0;

	drill_hooks_waits(&h, true);
	a = hold(DRILL_HOOK_INSIDE, 1);
	AWAIT(see(&a).inside == RANKS - 1);
	n = drill_hooks_in_calls(&h, w, 8);
	ck_assert_int_eq(n, RANKS);
	for (int i = 0; i < n; i++) {
		ck_assert_int_eq(w[i].word, DRILL_WORD_ALLREDUCE);
		ck_assert_int_eq(w[i].where, DRILL_HOOK_INSIDE);
		ck_assert_int_eq(w[i].call, 3);
		ck_assert_int_gt(w[i].since_ns, began);
		ck_assert_int_lt(w[i].since_ns, now() + MS);
		ck_assert_int_gt(w[i].tid, 1);
		ck_assert_int_eq(w[i].entry, w[i].rank == 1 ? a.entry : -1);
		peers += w[i].rank != 1;
	}
	ck_assert_int_eq(peers, RANKS - 1);
	for (int64_t until = now() + 500 * MS; now() < until; nap())
		;
	let_go(&a);
	/* Rank 0 waited for it; what was done to rank 1 was no waiting. */
	ck_assert_uint_gt(waited(0), h.ticks_per_s / 2);
	ck_assert_uint_lt(waited(1) + h.ticks_per_s / 4, waited(0));
}
END_TEST

START_TEST(a_delay_takes_what_it_says)
{
	struct drill_hook_armed a = arm((struct drill_hook_order){
		.action = DRILL_HOOK_DELAY, .word = DRILL_WORD_ALLREDUCE,
		.rank = 1, .slot = -1, .every = 1, .delay_ns = 20 * MS });
	struct drill_hook_seen s;
	int64_t mean;

	setenv("FAULTDRILL_HOOKS", page_path, 1);
	start("words", "5", true);
	ck_assert_int_eq(finish(), 0);
	s = see(&a);
	ck_assert_int_eq(s.state, DRILL_HOOK_IN_FORCE);
	ck_assert_uint_eq(s.hits, 10);
	mean = s.total_ns / 10;
	ck_assert_msg(mean >= 20 * MS && mean < 100 * MS, "%lld ns",
		      (long long)mean);
	/* The program's own clock says so too, and its peers wait with it. */
	ck_assert_int_ge(shortest_us(1), 20000);
	ck_assert_int_ge(shortest_us(0), 10000);
}
END_TEST

START_TEST(a_hang_lasts_until_it_is_taken_off)
{
	struct drill_hook_armed a = arm((struct drill_hook_order){
		.action = DRILL_HOOK_HANG, .word = DRILL_WORD_BARRIER,
		.rank = 0, .slot = -1, .nth = 2 });
	int status;

	setenv("FAULTDRILL_HOOKS", page_path, 1);
	start("words", "3", false);
	AWAIT(see(&a).waiting == 1);
	for (int64_t until = now() + 200 * MS; now() < until; nap())
		ck_assert_uint_eq(see(&a).waiting, 1);
	ck_assert_int_eq(waitpid(job, &status, WNOHANG), 0);
	ck_assert_int_eq(see(&a).end_ns, 0);
	ck_assert_int_eq(drill_hooks_disarm(&h, &a, &err), 0);
	ck_assert_int_eq(finish(), 0);
	ck_assert_int_eq(output(" ok"), RANKS);
}
END_TEST

START_TEST(what_is_armed_during_a_hold_meets_the_call_that_is_held)
{
	struct drill_hook_armed a = hold(DRILL_HOOK_INSIDE, 1), b;

	b = arm((struct drill_hook_order){
		.action = DRILL_HOOK_HANG, .word = DRILL_WORD_ALLREDUCE,
		.rank = 1, .slot = slot_of(1), .every = 1 });
	ck_assert_int_eq(drill_hooks_release(&h, &a, &err), 0);
	AWAIT(see(&b).waiting == 1);
	ck_assert_int_eq(see(&b).at_call, 3);
	ck_assert_int_eq(drill_hooks_disarm(&h, &b, &err), 0);
	ck_assert_int_eq(finish(), 0);
}
END_TEST

START_TEST(a_held_rank_can_be_killed)
{
	struct drill_hook_armed a = hold(DRILL_HOOK_INSIDE, 1);

	ck_assert_int_eq(kill(h.page->slot[slot_of(1)].pid, SIGKILL), 0);
	ck_assert_int_ne(finish(), 0);
	ck_assert_int_eq(see(&a).state, DRILL_HOOK_HELD);
	ck_assert_int_eq(drill_hooks_disarm(&h, &a, &err), 0);
	ck_assert_uint_eq(h.page->taken, 0);
}
END_TEST

START_TEST(without_the_variable_nothing_happens)
{
	unsetenv("FAULTDRILL_HOOKS");
	start("words", "3", false);
	ck_assert_int_eq(finish(), 0);
	ck_assert_int_eq(output(" ok"), RANKS);
	ck_assert_int_eq(output("faultdrill"), 0);
	ck_assert_int_eq(hellos(true) + hellos(false), 0);
}
END_TEST

static void runs_passive(const char *why)
{
	start("words", "3", false);
	ck_assert_int_eq(finish(), 0);
	ck_assert_int_eq(output(" ok"), RANKS);
	ck_assert_int_eq(output("the hook stays passive"), RANKS);
	ck_assert_msg(output(why) == RANKS, "not said: %s", why);
}

START_TEST(a_page_of_another_version_leaves_the_program_alone)
{
	setenv("FAULTDRILL_HOOKS", page_path, 1);
	h.page->version++;
	runs_passive("has another version than this build");
	ck_assert_int_eq(hellos(true) + hellos(false), 0);
}
END_TEST

START_TEST(a_truncated_page_leaves_the_program_alone)
{
	setenv("FAULTDRILL_HOOKS", page_path, 1);
	ck_assert_int_eq(truncate(page_path, 4096), 0);
	runs_passive("has the wrong size for this build");
}
END_TEST

START_TEST(a_page_that_others_may_write_leaves_the_program_alone)
{
	setenv("FAULTDRILL_HOOKS", page_path, 1);
	ck_assert_int_eq(chmod(page_path, 0666), 0);
	runs_passive("can be written by others");
}
END_TEST

START_TEST(a_page_that_is_not_there_leaves_the_program_alone)
{
	setenv("FAULTDRILL_HOOKS", "/nowhere/hooks.page", 1);
	runs_passive("No such file or directory");
}
END_TEST

START_TEST(threads_and_forks_are_counted_once)
{
	setenv("FAULTDRILL_HOOKS", page_path, 1);
	drill_hooks_waits(&h, true);
	start("threads", "200", false);
	ck_assert_int_eq(finish(), 0);
	ck_assert_int_eq(output("level 3 ok"), RANKS);
	for (int r = 0; r < RANKS; r++) {
		ck_assert_uint_eq(calls(r, DRILL_WORD_ALLREDUCE), 800);
		ck_assert_uint_eq(bytes(r, DRILL_WORD_ALLREDUCE), 3200);
	}
}
END_TEST

static void fortran(const char *program)
{
	struct drill_hello_seen s[RANKS];
	struct drill_hook_sent sent[2];
	struct drill_hook_armed a = arm((struct drill_hook_order){
		.action = DRILL_HOOK_HOLD, .word = DRILL_WORD_ALLREDUCE,
		.where = DRILL_HOOK_AFTER, .rank = 1, .slot = -1, .nth = 4 });

	setenv("FAULTDRILL_HOOKS", page_path, 1);
	start(program, "", false);
	AWAIT(see(&a).state == DRILL_HOOK_HELD);
	ck_assert_uint_eq(calls(1, DRILL_WORD_ALLREDUCE), 4);
	ck_assert_uint_eq(calls(1, DRILL_WORD_WAIT), 2);
	AWAIT(see(&a).entered == RANKS - 1 && see(&a).inside == 0);
	drill_hooks_release(&h, &a, &err);
	ck_assert_int_eq(finish(), 0);
	ck_assert_int_eq(drill_hooks_hellos(&h, s, RANKS), RANKS);
	for (int r = 0; r < RANKS; r++) {
		ck_assert(s[r].fortran && !s[r].here);
		ck_assert_uint_eq(calls(r, DRILL_WORD_ALLREDUCE), 6);
		ck_assert_uint_eq(bytes(r, DRILL_WORD_ALLREDUCE), 6 * 512);
		ck_assert_uint_eq(calls(r, DRILL_WORD_BARRIER), 3);
		ck_assert_int_eq(drill_hooks_peers(&h, slot_of(r), sent, 2), 1);
		ck_assert_int_eq(sent[0].peer, (r + 1) % RANKS);
		ck_assert_uint_eq(sent[0].bytes, 3 * 40);
	}
}

static bool have(const char *program)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", programs, program);
	return access(path, X_OK) == 0;
}

START_TEST(fortran_programs_are_hooked)
{
	if (!have("classic"))
		SKIP("no Fortran compiler for MPI (mpif90)");
	fortran("classic");
}
END_TEST

START_TEST(fortran_2008_programs_are_hooked)
{
	if (!have("modern"))
		SKIP("no mpi_f08 module for mpif90");
	fortran("modern");
}
END_TEST

int main(int argc, char **argv)
{
	Suite *s = suite_create("mpi hook");
	TCase *t = tcase_create("mpi hook");

	if (argc != 3)
		return 2;
	programs = argv[1];
	hook = argv[2];
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 90);
	tcase_add_test(t, every_rank_says_hello_and_bye);
	tcase_add_test(t, calls_bytes_and_peers_are_counted);
	tcase_add_test(t, before_holds_a_rank_that_has_not_entered);
	tcase_add_test(t, inside_holds_a_rank_whose_peers_are_blocked);
	tcase_add_test(t, after_holds_a_rank_whose_peers_can_leave);
	tcase_add_test(t, a_non_blocking_call_is_left_when_its_request_is_done);
	tcase_add_test(t, a_hold_that_nobody_releases_ends_by_itself);
	tcase_add_test(t, who_waits_in_which_call_since_when);
	tcase_add_test(t, a_delay_takes_what_it_says);
	tcase_add_test(t, a_hang_lasts_until_it_is_taken_off);
	tcase_add_test(t, what_is_armed_during_a_hold_meets_the_call_that_is_held);
	tcase_add_test(t, a_held_rank_can_be_killed);
	tcase_add_test(t, without_the_variable_nothing_happens);
	tcase_add_test(t, a_page_of_another_version_leaves_the_program_alone);
	tcase_add_test(t, a_truncated_page_leaves_the_program_alone);
	tcase_add_test(t, a_page_that_others_may_write_leaves_the_program_alone);
	tcase_add_test(t, a_page_that_is_not_there_leaves_the_program_alone);
	tcase_add_test(t, threads_and_forks_are_counted_once);
	tcase_add_test(t, fortran_programs_are_hooked);
	tcase_add_test(t, fortran_2008_programs_are_hooked);
	suite_add_tcase(s, t);
	return drill_check_main(s);
}
