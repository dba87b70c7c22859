/* test_cuda_load.c - what processes hold and do on a device, as CUDA and NVML say
 * SPDX-License-Identifier: MIT
 *
 * Each computing process is a child with the proxy and the software device; the
 * test is the monitor, with the built NVML library as any client opens it.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check_main.h"
#include "faultdrill/device_use.h"
#include "faultdrill/nvml_api.h"
#include "tests/support/cuda_rig.h"

#define MIB (UINT64_C(1) << 20)
#define PERIOD FAULTDRILL_USE_PERIOD_NS

/* ---- a computing process, told by a letter what to do next ---- */

struct child {
	pid_t pid;
	int order, said;
};

struct answer {
	CUresult result;
	size_t left, total;
	CUdeviceptr p;
};

struct order {
	char what; /* Alloc, Free, Info, Kid, Launch, Sync, eXec */
	size_t bytes;
	CUdeviceptr p;
};

static int stay[2]; /* a child of its own lives until this is closed */

static void have_child(void)
{
	int runs[2];
	char b;

	ck_assert(!pipe2(runs, O_CLOEXEC));
	if (fork()) { /* until it is through its part of the fork */
		ck_assert_int_eq(read(runs[0], &b, 1), 1);
		return;
	}
	close(stay[1]);
	if (write(runs[1], "r", 1) != 1)
		_exit(1);
	_exit(read(stay[0], &b, 1) != 0);
}

static void obey(const struct order *o, struct answer *a)
{
	switch (o->what) {
	case 'A':
		a->result = cuMemAlloc_v2(&a->p, o->bytes);
		break;
	case 'F':
		a->result = cuMemFree_v2(o->p);
		break;
	case 'K':
		have_child();
		break;
	case 'L':
		for (size_t i = 0; i < o->bytes && !a->result; i++)
			a->result = rig_slow(NULL);
		return;
	case 'S':
		a->result = cuCtxSynchronize();
		break;
	case 'X':
		execl("/bin/sleep", "sleep", "60", (char *)NULL);
		break;
	}
	if (!a->result)
		a->result = cuMemGetInfo_v2(&a->left, &a->total);
}

static void compute(int rank, int orders, int says)
{
	struct answer a = { 0 };
	struct order o;
	char text[16];

	snprintf(text, sizeof(text), "%d", rank);
	setenv("FAULTDRILL_RANK", text, 1);
	rig_start_program();
	OK(cuMemFree_v2(rig.x)); /* so that what it holds is a round number */
	OK(cuMemFree_v2(rig.y));
	for (;;) {
		if (write(says, &a, sizeof(a)) != sizeof(a) ||
		    read(orders, &o, sizeof(o)) != sizeof(o))
			_exit(0);
		a = (struct answer){ 0 };
		obey(&o, &a);
	}
}

static struct answer hear(const struct child *c)
{
	struct answer a;

	ck_assert_int_eq(read(c->said, &a, sizeof(a)), sizeof(a));
	return a;
}

static struct child start(int rank)
{
	int orders[2], says[2];
	struct child c;

	ck_assert(!pipe2(orders, O_CLOEXEC) && !pipe2(says, O_CLOEXEC));
	c = (struct child){ fork(), orders[1], says[0] };
	ck_assert_int_ge(c.pid, 0);
	if (!c.pid) {
		close(orders[1]);
		close(says[0]);
		compute(rank, orders[0], says[1]);
	}
	close(orders[0]);
	close(says[1]);
	OK(hear(&c).result);
	return c;
}

static struct answer tell(const struct child *c, char what, size_t bytes,
			  CUdeviceptr p)
{
	struct order o = { what, bytes, p };

	ck_assert_int_eq(write(c->order, &o, sizeof(o)), sizeof(o));
	return hear(c);
}

/* As a process that is killed and that nobody has waited for. */
static void kill_9(const struct child *c)
{
	siginfo_t info;

	kill(c->pid, SIGKILL);
	ck_assert(!waitid(P_PID, (id_t)c->pid, &info, WEXITED | WNOWAIT));
}

/* ---- the monitor ---- */

static nvmlDevice_t device[2];
static __typeof__(&nvmlDeviceGetMemoryInfo) memory_info;
static __typeof__(&nvmlDeviceGetUtilizationRates) rates;
static __typeof__(&nvmlDeviceGetComputeRunningProcesses_v3) processes;

static void *need(void *lib, const char *name)
{
	void *fn = dlsym(lib, name);

	ck_assert_msg(fn != NULL, "%s", name);
	return fn;
}

static void monitor(int devices)
{
	const char *build = getenv("BUILD");
	char path[4096];
	void *lib;

	rig_page(devices);
	setenv("FAULTDRILL_NVML_NEXT", "soft", 1);
	snprintf(path, sizeof(path), "%s/hooks/cuda/libnvidia-ml.so.1",
		 build ? build : "build");
	lib = dlopen(path, RTLD_NOW);
	ck_assert_msg(lib != NULL, "%s", dlerror());
	OK(((__typeof__(&nvmlInit_v2))need(lib, "nvmlInit_v2"))());
	for (unsigned int i = 0; i < (unsigned int)devices; i++)
		OK(((__typeof__(&nvmlDeviceGetHandleByIndex_v2))need(
			lib, "nvmlDeviceGetHandleByIndex_v2"))(i, &device[i]));
	memory_info = need(lib, "nvmlDeviceGetMemoryInfo");
	rates = need(lib, "nvmlDeviceGetUtilizationRates");
	processes = need(lib, "nvmlDeviceGetComputeRunningProcesses_v3");
}

static unsigned int busy(unsigned int i, bool memory)
{
	nvmlUtilization_t u;

	OK(rates(device[i], &u));
	return memory ? u.memory : u.gpu;
}

/* A patient look: until it is so, or for long enough to say it never is. */
static void await_busy(bool memory, unsigned int min, unsigned int max)
{
	const struct timespec look = { .tv_nsec = 20000000 };
	unsigned int is = 0;

	for (int i = 0; i < 1000; i++) {
		is = busy(0, memory);
		if (is >= min && is <= max)
			return;
		nanosleep(&look, NULL);
	}
	ck_abort_msg("%u %%, not %u to %u", is, min, max);
}

static nvmlMemory_t memory(unsigned int i)
{
	nvmlMemory_t m;

	OK(memory_info(device[i], &m));
	ck_assert_uint_eq(m.used + m.free, m.total);
	return m;
}

/* CUDA in that process and NVML say the same of device 0. */
static void agree(const struct child *c, uint64_t used)
{
	struct answer a = tell(c, 'I', 0, 0);
	nvmlMemory_t m = memory(0);

	OK(a.result);
	ck_assert_uint_eq(m.used, used);
	ck_assert_uint_eq(a.total, m.total);
	ck_assert_uint_eq(a.left, m.free);
}

/* ---- memory ---- */

START_TEST(all_that_processes_hold_is_counted_once)
{
	struct child a, b;
	CUdeviceptr p;

	monitor(2);
	ck_assert_uint_eq(memory(0).used, 0);
	a = start(0);
	b = start(1);
	agree(&a, 0);
	p = tell(&a, 'A', MIB, 0).p;
	agree(&a, MIB);
	agree(&b, MIB);
	OK(tell(&b, 'A', 2 * MIB, 0).result);
	agree(&a, 3 * MIB);
	agree(&b, 3 * MIB);
	OK(tell(&a, 'F', 0, p).result);
	agree(&a, 2 * MIB);
	kill_9(&b);
	agree(&a, 0);
	ck_assert_uint_eq(memory(1).used, 0);
	close(a.order); /* it ends in good order */
	ck_assert_int_eq(waitpid(a.pid, NULL, 0), a.pid);
	ck_assert_uint_eq(memory(0).used, 0);
}
END_TEST

START_TEST(each_process_is_listed_with_what_it_holds)
{
	nvmlProcessInfo_t info[4];
	unsigned int n = 4;
	struct child a, b;

	monitor(1);
	a = start(0);
	b = start(1);
	OK(tell(&b, 'A', 2 * MIB, 0).result);
	OK(processes(device[0], &n, info));
	ck_assert_uint_eq(n, 2);
	ck_assert(info[0].pid == (unsigned int)a.pid &&
		  info[0].usedGpuMemory == 0);
	ck_assert(info[1].pid == (unsigned int)b.pid &&
		  info[1].usedGpuMemory == 2 * MIB);
	kill_9(&a);
	n = 4;
	OK(processes(device[0], &n, info));
	ck_assert(n == 1 && info[0].pid == (unsigned int)b.pid);
}
END_TEST

START_TEST(what_one_holds_another_cannot_have)
{
	struct child a, b;

	setenv("FAULTDRILL_DEVICE_MEMORY", "4194304", 1);
	monitor(1);
	ck_assert_uint_eq(memory(0).total, 4 * MIB);
	a = start(0);
	b = start(1);
	OK(tell(&a, 'A', 3 * MIB, 0).result);
	FAILS(tell(&b, 'A', 2 * MIB, 0).result, CUDA_ERROR_OUT_OF_MEMORY);
	agree(&b, 3 * MIB);
	OK(tell(&b, 'A', MIB, 0).result);
	agree(&a, 4 * MIB);
	kill_9(&a);
	OK(tell(&b, 'A', 3 * MIB, 0).result);
	agree(&b, 4 * MIB);
}
END_TEST

/* Nor does a child that goes on without it keep what it held. */
START_TEST(a_process_that_dies_before_its_child_holds_nothing)
{
	struct child a;

	ck_assert(!pipe2(stay, O_CLOEXEC));
	monitor(1);
	a = start(0);
	OK(tell(&a, 'A', MIB, 0).result);
	OK(tell(&a, 'K', 0, 0).result);
	agree(&a, MIB);
	kill_9(&a);
	ck_assert_uint_eq(memory(0).used, 0);
	close(stay[1]);
	close(stay[0]);
}
END_TEST

/* Its pid lives on. */
START_TEST(a_process_that_becomes_another_program_holds_nothing)
{
	const struct timespec look = { .tv_nsec = 5000000 };
	struct child a;
	char b;

	monitor(1);
	a = start(0);
	OK(tell(&a, 'A', MIB, 0).result);
	ck_assert_uint_eq(memory(0).used, MIB);
	ck_assert_int_eq(write(a.order, &(struct order){ .what = 'X' },
			       sizeof(struct order)),
			 sizeof(struct order));
	ck_assert_int_eq(read(a.said, &b, 1), 0); /* closed by execve */
	for (int i = 0; i < 1000 && memory(0).used; i++)
		nanosleep(&look, NULL);
	ck_assert_uint_eq(memory(0).used, 0);
	ck_assert_int_eq(kill(a.pid, SIGKILL), 0);
}
END_TEST

START_TEST(a_device_that_a_fault_fills_is_full_for_both)
{
	struct drill_device_fault f = { .action = DRILL_DEVICE_OOM,
					.error = 2, .every = 1,
					.limit_bytes = 3 * MIB, .rank = 7 };
	struct drill_device_fault *armed;
	struct child a, b;

	monitor(1);
	a = start(6);
	OK(tell(&a, 'A', MIB, 0).result);
	armed = rig_arm(&f);
	agree(&a, MIB); /* it is about a rank that is not there yet */
	b = start(7);
	ck_assert_uint_eq(memory(0).free, 2 * MIB);
	ck_assert_uint_eq(tell(&b, 'I', 0, 0).left, 2 * MIB);
	FAILS(tell(&b, 'A', 2 * MIB + 1, 0).result, CUDA_ERROR_OUT_OF_MEMORY);
	OK(tell(&b, 'A', 2 * MIB, 0).result);
	ck_assert_uint_eq(memory(0).free, 0);
	rig_disarm(armed);
	agree(&b, 3 * MIB);
	f.rank = -1;
	f.limit_bytes = 0;
	rig_arm(&f);
	ck_assert_uint_eq(memory(0).free, 0);
	ck_assert_uint_eq(tell(&a, 'I', 0, 0).left, 0);
}
END_TEST

/* ---- time ---- */

START_TEST(a_device_is_busy_while_kernels_execute)
{
	struct child a;

	monitor(2);
	ck_assert_uint_eq(busy(0, false), 0);
	a = start(0);
	await_busy(false, 0, 0);
	tell(&a, 'L', 100, 0); /* 20 ms each */
	await_busy(false, 99, 100);
	await_busy(true, 99, 100);
	ck_assert_uint_eq(busy(1, false), 0);
	OK(tell(&a, 'S', 0, 0).result);
	await_busy(false, 0, 0);
	await_busy(true, 0, 0);
}
END_TEST

START_TEST(a_hung_kernel_executes_until_it_is_killed)
{
	struct drill_device_fault f = { .action = DRILL_DEVICE_HANG,
					.nth = 1 }, *armed;
	struct child a;

	monitor(1);
	a = start(0);
	armed = rig_arm(&f);
	tell(&a, 'L', 1, 0);
	await_busy(false, 100, 100);
	if (_i)
		kill_9(&a);
	else
		rig_disarm(armed);
	await_busy(false, 0, 0);
}
END_TEST

START_TEST(a_period_is_told_by_what_was_in_it)
{
	struct faultdrill_device_use u = { 0 };
	struct faultdrill_use_time *t = &u.time[0];
	const enum faultdrill_use_bits k = FAULTDRILL_USE_KERNEL;

	faultdrill_use_add(t, 10 * PERIOD + 10, 10 * PERIOD + 30);
	faultdrill_use_add(t, 11 * PERIOD - 5, 11 * PERIOD + 7);
	ck_assert_int_eq(faultdrill_use_ns(&u, k, 11 * PERIOD + 8), 25);
	ck_assert_int_eq(faultdrill_use_ns(&u, k, 12 * PERIOD), 7);
	ck_assert_int_eq(faultdrill_use_ns(&u, k, 13 * PERIOD), 0);
	/* Over several: each is full but the ends. */
	faultdrill_use_add(t, 20 * PERIOD + 1, 23 * PERIOD + 2);
	ck_assert_int_eq(faultdrill_use_ns(&u, k, 23 * PERIOD + 2), PERIOD);
	ck_assert_int_eq(faultdrill_use_ns(&u, k, 24 * PERIOD), 2);
	/* Not over yet. */
	t->since_ns = 24 * PERIOD - 3;
	ck_assert_int_eq(faultdrill_use_ns(&u, k, 24 * PERIOD + 1), 5);
	ck_assert_int_eq(faultdrill_use_ns(&u, k, 99 * PERIOD), PERIOD);
	/* Damaged, or abandoned by a writer. */
	u.seq = 1;
	t->ns[0] = t->ns[1] = INT64_MIN;
	t->period = 98;
	ck_assert_int_eq(faultdrill_use_ns(&u, k, 99 * PERIOD), 0);
	t->ns[0] = INT64_MAX / 2;
	t->since_ns = INT64_MAX;
	ck_assert_int_eq(faultdrill_use_ns(&u, k, 99 * PERIOD), PERIOD);
}
END_TEST

START_TEST(streams_that_overlap_are_one_time)
{
	struct faultdrill_device_use u = { 0 };
	struct faultdrill_use_time *t = &u.time[0];

	faultdrill_use_turn(t, 1, 5 * PERIOD);
	faultdrill_use_turn(t, 1, 5 * PERIOD + 10);
	faultdrill_use_turn(t, -1, 5 * PERIOD + 20);
	faultdrill_use_turn(t, -1, 5 * PERIOD + 30);
	ck_assert_int_eq(t->ns[1], 30);
	ck_assert_int_eq(t->since_ns, 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("cuda_load");
	TCase *t = tcase_create("memory");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, NULL, rig_end);
	tcase_add_test(t, all_that_processes_hold_is_counted_once);
	tcase_add_test(t, each_process_is_listed_with_what_it_holds);
	tcase_add_test(t, what_one_holds_another_cannot_have);
	tcase_add_test(t, a_process_that_dies_before_its_child_holds_nothing);
	tcase_add_test(t, a_process_that_becomes_another_program_holds_nothing);
	tcase_add_test(t, a_device_that_a_fault_fills_is_full_for_both);
	tcase_add_test(t, a_device_is_busy_while_kernels_execute);
	tcase_add_loop_test(t, a_hung_kernel_executes_until_it_is_killed, 0, 2);
	suite_add_tcase(s, t);
	t = tcase_create("periods");
	tcase_add_test(t, a_period_is_told_by_what_was_in_it);
	tcase_add_test(t, streams_that_overlap_are_one_time);
	suite_add_tcase(s, t);
	return drill_check_main(s);
}
