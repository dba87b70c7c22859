/* test_contract.c - what every injector must do, tried on each in the table
 * SPDX-License-Identifier: MIT
 *
 * A new injector gets these tests by being listed. Each acts on a process with
 * the hook in it, in a cgroup and a directory of its own; those of devices on a
 * program behind the CUDA proxy and before the software device.
 */
#include "check_main.h"

#include "harness/agent/heal.h"
#include "harness/agent/journal_file.h"
#include "harness/agent/process.h"
#include "harness/agent/snapshot.h"
#include "injectors/hooks/devices.h"
#include "injectors/host/freezer.h"
#include "tests/support/agent_rig.h"
#include "tests/support/hooked.h"
#include "tests/support/syscalls.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct drill_injector *in;
static struct rig g;
static struct drill_hooks hooks;
static struct drill_devices devices;
static struct drill_freezer freezer;
static struct drill_target target;
static char home[256]; /* the victim's cgroup */
static char args[512];
static json_t *no_args, *before;
static pid_t victim;

static int count(void)
{
	int n = 0;

	while (drill_injectors()[n])
		n++;
	return n;
}

/* ---- the stage ---- */

static void end_victim(void)
{
	if (victim > 0)
		rig_end_process(victim);
	victim = 0;
	drill_process_close(&target.process);
}

static bool needs(const char *what)
{
	const char *const *n = in ? in->needs : NULL;

	while (n && *n && strcmp(*n, what))
		n++;
	return n && *n;
}

static const char *build(void)
{
	static char path[PATH_MAX];
	const char *b = getenv("BUILD");

	return realpath(b ? b : "build", path) ? path : "";
}

static uint64_t calls_of_program(void)
{
	struct drill_device_seen c[DRILL_DEVICE_CLIENTS];
	int i, n = drill_devices_clients(&devices, c, DRILL_DEVICE_CLIENTS);
	uint64_t sum = 0;

	for (i = 0; i < n; i++)
		sum += c[i].calls;
	return sum;
}

static void be_program(void)
{
	char lib[PATH_MAX + 64], path[2 * PATH_MAX + 64];

	snprintf(lib, sizeof(lib), "%s/hooks/cuda/libcuda.so.1", build());
	snprintf(path, sizeof(path), "%s/hooks/cuda:%s/softcuda",
		 build(), build());
	setenv("LD_PRELOAD", lib, 1);
	/* A sanitizer's runtime would rather be first. */
	setenv("ASAN_OPTIONS", "verify_asan_link_order=0:detect_leaks=0", 1);
	setenv("LD_LIBRARY_PATH", path, 1);
	setenv("FAULTDRILL_DEVICES", target.devices, 1);
	setenv("FAULTDRILL_RANK", "3", 1);
	setenv("FAULTDRILL_ATTEMPT", "1", 1);
	setenv("FAULTDRILL_HOST", "h0", 1);
	setenv("FAULTDRILL_DEVICE_COUNT", "2", 1);
	setenv("FAULTDRILL_PACE", "off", 1);
	snprintf(path, sizeof(path), "%s/tests/programs/cuda_goes_on",
		 build());
	execl(path, path, NULL);
	_exit(127);
}

/* Says hello with its first call. */
static pid_t start_program(void)
{
	pid_t pid = fork();
	uint64_t had = calls_of_program();
	int i;

	if (!pid)
		be_program();
	for (i = 0; i < 5000 && calls_of_program() == had &&
		    waitpid(pid, NULL, WNOHANG) == 0; i++)
		usleep(1000);
	return pid;
}

static void new_victim(void)
{
	end_victim();
	victim = needs("hook:cuda") ? start_program() :
				      drill_hooked_start(target.hooks, 3, 1,
							 DRILL_WORD_ALLREDUCE);
	ck_assert_int_gt(victim, 0);
	if (home[0])
		ck_assert_int_eq(drill_freezer_move(home, victim, NULL), 0);
	ck_assert_int_eq(drill_process_open(victim, &target.process, NULL), 0);
}

static void make_home(void)
{
	if (drill_freezer_find(&freezer, NULL) < 0)
		return;
	snprintf(home, sizeof(home), "%s/drill-contract-%d", freezer.root,
		 (int)getpid());
	if (mkdir(home, 0755) < 0)
		home[0] = 0;
}

static json_t *shot(void)
{
	json_t *s = NULL;

	ck_assert_int_eq(drill_snapshot(home[0] ? home : "/none", "",
					&s, NULL), 0);
	return s;
}

/* Namespaces of our own: what others do here meanwhile is no difference. */
static void setup(void)
{
	rig_init(&g);
	if (unshare(CLONE_NEWNET | CLONE_NEWNS) == 0 &&
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0)
		mount("none", g.dir, "tmpfs", 0, "mode=700"); /* fsync is free */
	ck_assert_int_eq(mkdir(g.trial, 0755), 0);
	memset(&target, 0, sizeof(target));
	target.kind = DRILL_TARGET_RANK;
	target.rank = 3;
	target.process.pidfd = -1;
	strcpy(target.name, "rank 3");
	strcpy(target.dir, g.trial);
	snprintf(target.hooks, sizeof(target.hooks), "%s/hooks.page", g.trial);
	ck_assert_int_eq(drill_hooks_create(&hooks, target.hooks, NULL), 0);
	snprintf(target.devices, sizeof(target.devices), "%s/devices.page",
		 g.trial);
	ck_assert_int_eq(drill_devices_create(&devices, target.devices, "h0", 2,
					      NULL), 0);
	make_home();
	new_victim();
	no_args = json_object();
	before = shot();
}

static void teardown(void)
{
	int i;

	end_victim();
	for (i = 0; home[0] && i < 1000 && rmdir(home) < 0; i++)
		usleep(1000);
	drill_hooks_close(&hooks);
	drill_devices_close(&devices);
	json_decref(no_args);
	json_decref(before);
	umount2(g.dir, MNT_DETACH);
	rig_down(&g);
}

/* What a user would have to say: the same for every injector that asks. */
static void say_required(void)
{
	static const char *const words[] = {
		[DRILL_DURATION] = "5ms",  [DRILL_SIZE] = "4KiB",
		[DRILL_RATE] = "1Mbit/s",  [DRILL_PERCENT] = "50%",
		[DRILL_STRING] = "x",	   [DRILL_ENUM] = NULL };
	/* Where not every value makes sense. */
	static const char *const better[][2] = {
		{ "device.alarm", "{\"code\": 48}" },
		{ "device.call", "{\"call\": \"cuStreamSynchronize\", "
				 "\"error\": 700}" },
		{ "device.peer", "{\"form\": \"both\"}" }, /* nobody asks */
		{ "device.slow", "{\"factor\": 3}" },
		{ "device.xid", "{\"code\": 79}" },
	};
	const struct drill_param *p;
	size_t i;

	json_object_clear(no_args);
	for (i = 0; i < sizeof(better) / sizeof(better[0]); i++)
		if (!strcmp(better[i][0], in->name)) {
			json_decref(no_args);
			no_args = json_loads(better[i][1], 0, NULL);
			return;
		}
	for (p = in->params; p->name; p++)
		if (!p->def && words[p->type])
			json_object_set_new(no_args, p->name,
					    json_string(words[p->type]));
		else if (!p->def)
			json_object_set_new(no_args, p->name, json_integer(1));
}

static bool has_proxy(void)
{
	char path[PATH_MAX + 64];

	snprintf(path, sizeof(path), "%s/hooks/cuda/libcuda.so.1",
		 build());
	if (access(path, R_OK) == 0)
		return true;
	printf("SKIP %s: the CUDA proxy is not built\n", in->name);
	fflush(stdout);
	return false;
}

static bool choose(int i)
{
	struct drill_act act = { .args = args,
				 .target = &target,
				 .evidence = json_object(),
				 .clock = drill_clock_system() };
	struct drill_err err = { 0 };
	int rc;

	in = drill_injectors()[i];
	if (needs("hook:cuda") && !has_proxy())
		return false;
	if (needs("hook:cuda"))
		new_victim();
	say_required();
	ck_assert_msg(drill_params_parse(in->params, in->name, no_args, args,
					 &err) == 0,
		      "%s", err.msg);
	rc = in->probe(&act, &err);
	json_decref(act.evidence);
	if (rc < 0) {
		printf("SKIP %s: %s\n", in->name, err.msg);
		fflush(stdout);
	}
	return rc == 0;
}

/* ---- how the agent does it ---- */

static struct drill_journal *journal(void)
{
	struct drill_journal *j = NULL;

	return drill_journal_open(g.state, "run", "h0", &j, NULL) < 0 ? NULL
								      : j;
}

static int begin(struct drill_journal *j, struct drill_act *act,
		 struct drill_err *err)
{
	struct drill_record_info info = { .kind = in->name,
					  .fault = "f",
					  .target = "rank 3",
					  .process = target.process,
					  .survives = in->survives };
	int rc;

	*act = (struct drill_act){ .args = args,
				   .target = &target,
				   .evidence = json_object(),
				   .clock = drill_clock_system(),
				   .attempt = 1 };
	info.process.pidfd = -1;
	rc = drill_record_new(j, &info, &act->record, err);
	return rc < 0 ? rc : in->apply(act, err);
}

static int verify_until(struct drill_act *act, int want)
{
	int64_t end = rig_ms() + 3000;
	int rc;

	do {
		rc = in->verify(act, NULL);
		if (rc != want)
			usleep(1000);
	} while (rc != want && rig_ms() < end);
	return rc;
}

static bool reversible(void)
{
	return in->survives != DRILL_SURVIVES_NOTHING;
}

/* ---- what must hold afterwards ---- */

static int marks(void)
{
	DIR *d = opendir(g.trial);
	struct dirent *e;
	int n = 0;

	while ((e = readdir(d)))
		n += e->d_name[0] != '.' && strcmp(e->d_name, "hooks.page") &&
		     strcmp(e->d_name, "devices.page");
	closedir(d);
	return n;
}

static int entries(void)
{
	int i, n = 0;

	for (i = 0; i < DRILL_HOOK_ENTRIES; i++)
		n += atomic_load(&hooks.page->entry[i].state) !=
		     DRILL_HOOK_FREE;
	for (i = 0; i < DRILL_DEVICE_FAULTS; i++)
		n += atomic_load(&devices.page->fault[i].state) !=
		     DRILL_DEVICE_FREE;
	return n;
}

/* What is wrong with a device; "": nothing. */
static const char *worn(void)
{
	static char why[128];

	why[0] = '\0';
	if (drill_devices_as_new(&devices, 0, why, sizeof(why)))
		drill_devices_as_new(&devices, 1, why, sizeof(why));
	return why;
}

static bool goes_on(void *arg)
{
	static int64_t last;
	uint64_t calls;
	int slot = drill_hooks_slot(&hooks, 3, NULL);

	(void)arg;
	if (slot < 0 && !needs("hook:cuda"))
		return false;
	calls = needs("hook:cuda") ?
			calls_of_program() :
			atomic_load(&hooks.page->slot[slot]
					     .count[DRILL_WORD_ALLREDUCE]
					     .calls);
	if ((int64_t)calls > last && last > 0) {
		last = 0;
		return true;
	}
	last = calls;
	return false;
}

static void must_look_as_before(const char *when, int n)
{
	json_t *after = shot(), *d = drill_snapshot_compare(before, after);
	char *text = json_dumps(d, JSON_INDENT(1));

	ck_assert_msg(json_array_size(d) == 0, "%s %s %d: %s", in->name, when,
		      n, text);
	free(text);
	json_decref(d);
	json_decref(after);
}

/* The snapshot of all is slow; of a long series every eighth is enough, since
 * what our injectors change is looked at each time. */
static void must_be_clean(const char *when, int n)
{
	json_t *found = NULL;
	struct drill_err err = { 0 };

	ck_assert_msg(drill_heal(g.state, false, &found, &err) == 0,
		      "%s %s %d: %s", in->name, when, n, err.msg);
	json_decref(found);
	ck_assert_msg(marks() == 0, "%s %s %d: a mark is left", in->name, when,
		      n);
	ck_assert_msg(entries() == 0, "%s %s %d: an entry of the hook is left",
		      in->name, when, n);
	ck_assert_msg(!*worn(), "%s %s %d: a device is not as new: %s",
		      in->name, when, n, worn());
	if (reversible())
		ck_assert_msg(rig_until(goes_on, NULL, 5000),
			      "%s %s %d: the target does not go on", in->name,
			      when, n);
	if (n % 8 == 0)
		must_look_as_before(when, n);
	if (!reversible() && drill_process_dead(&target.process))
		new_victim();
}

/* ---- the tests ---- */

START_TEST(apply_verify_revert_verify_revert)
{
	struct drill_err err = { 0 };
	struct drill_journal *j;
	struct drill_act act;
	char nvml[PATH_MAX + 64];

	/* Slow, so in this one only: what does NVML say? */
	snprintf(nvml, sizeof(nvml), "%s/hooks/cuda/libnvidia-ml.so.1", build());
	setenv("FAULTDRILL_NVML_ASK", nvml, 1);
	if (!choose(_i))
		return;
	j = journal();
	ck_assert_msg(begin(j, &act, &err) == 0, "%s", err.msg);
	ck_assert_int_gt(act.before_ns, 0);
	ck_assert_int_le(act.before_ns, act.after_ns);
	ck_assert_msg(verify_until(&act, 1) == 1, "%s: never in force",
		      in->name);
	ck_assert_uint_gt(json_object_size(act.evidence), 0);
	ck_assert_msg(in->revert(act.record, &err) == 0, "%s", err.msg);
	if (reversible())
		ck_assert_int_eq(verify_until(&act, 0), 0);
	ck_assert_msg(in->revert(act.record, &err) == 0, "twice: %s", err.msg);
	ck_assert_msg(drill_revert_record(act.record, &err) == 0, "%s",
		      err.msg);
	json_decref(act.evidence);
	drill_journal_close(j);
	must_be_clean("after all", 0);
}
END_TEST

START_TEST(probe_changes_nothing)
{
	if (choose(_i))
		must_be_clean("after probe", 0);
}
END_TEST

/* From the record alone: another process, none of our memory. */
static void apply_only(void)
{
	struct drill_act act;
	struct drill_journal *j = journal();

	if (j && begin(j, &act, NULL) == 0)
		verify_until(&act, 1);
}

START_TEST(killed_while_in_force_then_healed)
{
	pid_t pid;

	if (!choose(_i))
		return;
	pid = fork();
	if (pid == 0) {
		apply_only();
		raise(SIGKILL);
	}
	waitpid(pid, NULL, 0);
	must_be_clean("killed in force", 0);
}
END_TEST

/* The whole life, as an agent leads it: an error ends in a revert. */
static void life(void)
{
	struct drill_journal *j = journal();
	struct drill_act act;

	if (!j)
		return;
	act.record = NULL;
	if (begin(j, &act, NULL) == 0)
		in->verify(&act, NULL);
	if (act.record)
		drill_revert_record(act.record, NULL);
	drill_journal_close(j);
}

static void each_call(enum drill_at_call what, const char *when)
{
	bool reached = true;
	int n, status;

	for (n = 1; reached && n < 2000; n++) {
		status = drill_with_call(life, n, what, &reached);
		if (status == -1)
			SKIP("no seccomp notifications here");
		if (what == DRILL_CALL_FAILS)
			ck_assert_msg(WIFEXITED(status), "%s: died at call %d",
				      in->name, n);
		must_be_clean(when, n);
	}
	must_look_as_before(when, n);
	ck_assert_int_gt(n, 20);
}

START_TEST(any_system_call_may_fail)
{
	if (choose(_i))
		each_call(DRILL_CALL_FAILS, "failing call");
}
END_TEST

START_TEST(killed_before_any_system_call_then_healed)
{
	if (choose(_i))
		each_call(DRILL_CALL_KILLS, "killed at call");
}
END_TEST

START_TEST(a_target_that_is_gone_is_an_error_not_a_fallback)
{
	struct drill_act act = { .args = args,
				 .target = &target,
				 .clock = drill_clock_system() };
	struct drill_err err = { 0 };

	if (!choose(_i) || !strcmp(in->name, "null.noop"))
		return;
	rig_end_process(victim);
	victim = 0;
	act.evidence = json_object();
	ck_assert_msg(in->probe(&act, &err) < 0, "%s probes a dead target",
		      in->name);
	json_decref(act.evidence);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("contract");
	TCase *t = tcase_create("contract");

	tcase_set_timeout(t, 240);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, probe_changes_nothing, 0, count());
	tcase_add_loop_test(t, apply_verify_revert_verify_revert, 0, count());
	tcase_add_loop_test(t, killed_while_in_force_then_healed, 0, count());
	tcase_add_loop_test(t, a_target_that_is_gone_is_an_error_not_a_fallback,
			    0, count());
	tcase_add_loop_test(t, any_system_call_may_fail, 0, count());
	tcase_add_loop_test(t, killed_before_any_system_call_then_healed, 0,
			    count());
	suite_add_tcase(s, t);
	return drill_check_main(s);
}
