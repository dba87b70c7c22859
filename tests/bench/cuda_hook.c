/* cuda_hook.c - what the CUDA proxy adds to a call, a launch, a resolution
 * SPDX-License-Identifier: MIT
 *
 * usage: cuda_hook DIR PROXY DRIVER calls|launches|errors. DRIVER is what is
 * behind the proxy: one with every entry point, which do nothing, for the calls;
 * the software device for the others. Both ways are timed in turns, in one
 * process. "idle" and "nth" are what "calls" runs in processes of their own.
 */
#include "bench.h"

#include "faultdrill/cuda_api.h"
#include "faultdrill/softcuda.h"
#include "injectors/hooks/cuda_proxy.h"
#include "injectors/hooks/devices.h"

#include <dlfcn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS 201
#define CALLS 20000
#define CHILDREN 15
#define LAYOUTS 15
#define LAUNCHES 200
#define BATCHES 10001
#define NONE UINT32_MAX
#define LIMIT_IDLE_NS 1.0
#define LIMIT_NTH_NS 10.0
#define LIMIT_RESOLVE_MS 1.0
#define LIMIT_RATE_PCT 1.0
#define LIMIT_TRIGGER_US 10.0

typedef CUresult (*query)(CUstream);

static void *proxy, *driver;
static struct drill_devices devices;

static void *need(void *lib, const char *name)
{
	void *s = dlsym(lib, name);

	if (!s) {
		printf("FAIL the bench of the CUDA proxy: no %s\n", name);
		exit(1);
	}
	return s;
}

/* From eight places, as a program calls: from one, what is timed is how the
 * branch predictor gets along with four jumps that follow each other closely,
 * which a trampoline of a single jump upsets as much as ours does. */
static double per_call(query fn)
{
	int64_t t = bench_ns();

	for (int i = 0; i < CALLS; i += 8) {
		fn(NULL);
		fn(NULL);
		fn(NULL);
		fn(NULL);
		fn(NULL);
		fn(NULL);
		fn(NULL);
		fn(NULL);
	}
	return (double)(bench_ns() - t) / CALLS;
}

static double added(const char *name)
{
	query ours = (query)need(proxy, name);
	query theirs = (query)need(driver, name);
	double d[ROUNDS], a, b;

	per_call(ours);
	per_call(theirs);
	for (int i = 0; i < ROUNDS; i++) {
		a = i % 2 ? per_call(ours) : 0;
		b = per_call(theirs);
		if (!(i % 2))
			a = per_call(ours);
		d[i] = a - b;
	}
	return bench_median(d, ROUNDS);
}

/* @call NONE: what @action is about. */
static void arm(unsigned int call, uint32_t action, int64_t nth,
		struct drill_device_armed *a)
{
	struct drill_device_fault order = { .action = action, .device = -1,
		.rank = -1, .error = 719, .call = 1 + call, .ppm = 1000000,
		.nth = nth };
	struct drill_err err = { 0 };

	if (drill_devices_pick(&devices, a, &err) ||
	    drill_devices_arm_at(&devices, &order, a, &err)) {
		printf("FAIL the bench of the CUDA proxy: %s\n", err.msg);
		exit(1);
	}
}

static const struct {
	const char *symbol;
	int since;
} known[] = {
#define KNOWN(number, symbol, since) { #symbol, since },
	DRILL_CUDA_SYMBOLS(KNOWN)
};

/* The name that a symbol is asked for by; 2: for the thread's own stream. */
static cuuint64_t name_of(int call, char *ret)
{
	char *cut, *thread;

	strcpy(ret, known[call].symbol);
	thread = strstr(ret, "_pt");
	if (thread)
		*thread = '\0';
	cut = strrchr(ret, '_');
	if (cut && cut[1] == 'v')
		*cut = '\0';
	return thread ? 2 : 0;
}

static int64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* What asking the proxy for everything takes longer than asking the driver,
 * which is asked for each name right behind. In time of the processor: the
 * driver's share is so much larger that others' turns would hide ours. */
static double resolve_ms(void)
{
	__typeof__(&cuGetProcAddress_v2) ours, theirs;
	int64_t sum = 0, t0, t1, t2;
	cuuint64_t flags;
	char name[128];
	void *p;

	ours = need(proxy, "cuGetProcAddress_v2");
	theirs = need(driver, "cuGetProcAddress_v2");
	((query)need(proxy, "cuCtxSynchronize"))(NULL); /* starts it */
	for (int i = 0; i < DRILL_CUDA_CALLS; i++) {
		flags = name_of(i, name);
		t0 = cpu_ns();
		ours(name, &p, known[i].since, flags, NULL);
		t1 = cpu_ns();
		theirs(name, &p, known[i].since, flags, NULL);
		t2 = cpu_ns();
		sum += t1 - t0 - (t2 - t1);
	}
	return (double)sum / 1e6;
}

/* The median of @fn, each time in a process of its own that has not yet called
 * the driver. */
static double in_children(double (*fn)(void))
{
	double d[CHILDREN];
	int fd[2];

	if (pipe(fd))
		return 1e9;
	for (int i = 0; i < CHILDREN; i++) {
		pid_t pid = fork();

		if (!pid) {
			d[0] = fn();
			_exit(write(fd[1], d, sizeof(*d)) != sizeof(*d));
		}
		if (read(fd[0], &d[i], sizeof(*d)) != sizeof(*d))
			return 1e9;
		waitpid(pid, NULL, 0);
	}
	return bench_median(d, CHILDREN);
}

/* What is added to a call of @name in this process, for in_layouts(), while one
 * fault waits for another entry and one for a launch. */
static int say_added(const char *name)
{
	struct drill_device_armed a;

	arm(DRILL_CALL_cuEventQuery, DRILL_DEVICE_RETURN, INT64_MAX, &a);
	arm(NONE, DRILL_DEVICE_STICKY, INT64_MAX, &a);
	return printf("%f\n", added(name)) < 0;
}

/* The median of what @mode says in processes of its own: where the libraries
 * come to lie changes the cost of a jump by several cycles. */
static double in_layouts(char **argv, const char *mode)
{
	double d[LAYOUTS];
	char cmd[1024];
	FILE *p;
	int n;

	snprintf(cmd, sizeof(cmd), "'%s' '%s' '%s' '%s' %s", argv[0], argv[1],
		 argv[2], argv[3], mode);
	for (int i = 0; i < LAYOUTS; i++) {
		p = popen(cmd, "r");
		n = p ? fscanf(p, "%lf", &d[i]) : 0;
		if (!p || pclose(p) || n != 1)
			return 1e9;
	}
	return bench_median(d, LAYOUTS);
}

static bool bench_calls(char **argv)
{
	bool ok;

	ok = bench_verdict("CUDA proxy, all entry points resolved, added",
			   in_children(resolve_ms), LIMIT_RESOLVE_MS, "ms");
	ok &= bench_verdict("CUDA proxy, armed for another entry",
			    in_layouts(argv, "idle"), LIMIT_IDLE_NS,
			    "ns a call");
	ok &= bench_verdict("CUDA proxy, an n-th call of this entry waited for",
			    in_layouts(argv, "nth"), LIMIT_NTH_NS, "ns a call");
	return ok;
}

/* From before the call that meets the trigger until the error is there. */
static double trigger_us(void)
{
	query fn = (query)need(proxy, "cuStreamQuery");
	struct drill_device_armed a;
	struct drill_err err = { 0 };
	double d[101];
	int64_t t;

	for (int i = 0; i < 101; i++) {
		arm(DRILL_CALL_cuStreamQuery, DRILL_DEVICE_RETURN, 1, &a);
		t = bench_ns();
		if (fn(NULL) != CUDA_ERROR_LAUNCH_FAILED)
			return 1e9;
		d[i] = (double)(bench_ns() - t) / 1e3;
		drill_devices_disarm(&devices, &a, &err);
	}
	return bench_median(d, 101);
}

static uint64_t none;
static void *params[] = { &none };

static void empty(void *const *args, const struct softcuda_block *b)
{
	(void)args;
	(void)b;
}

static double launches_us(void *lib, CUfunction f)
{
	__typeof__(&cuLaunchKernel) launch = need(lib, "cuLaunchKernel");
	__typeof__(&cuCtxSynchronize) sync = need(lib, "cuCtxSynchronize");
	int64_t t = bench_ns();

	for (int i = 0; i < LAUNCHES; i++)
		launch(f, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL);
	sync();
	return (double)(bench_ns() - t) / 1e3;
}

static CUfunction load_kernel(void)
{
	static const struct softcuda_kernel kernel[] = {
		{ "empty", empty, NULL, 1, { sizeof(uint64_t) } },
	};
	static const struct softcuda_module module = {
		SOFTCUDA_MAGIC, SOFTCUDA_VERSION, 1, "bench", kernel,
	};
	CUcontext ctx;
	CUfunction f;
	CUmodule m;
	bool bad;

	bad = ((__typeof__(&cuInit))need(proxy, "cuInit"))(0) ||
	      ((__typeof__(&cuDevicePrimaryCtxRetain))need(
		      proxy, "cuDevicePrimaryCtxRetain"))(&ctx, 0) ||
	      ((__typeof__(&cuCtxSetCurrent))need(proxy, "cuCtxSetCurrent"))(
		      ctx) ||
	      ((__typeof__(&cuModuleLoadData))need(proxy, "cuModuleLoadData"))(
		      &m, &module) ||
	      ((__typeof__(&cuModuleGetFunction))need(
		      proxy, "cuModuleGetFunction"))(&f, m, "empty");
	return bad ? NULL : f;
}

/* The same of a context that fails: from when the launch is done that breaks it
 * until the synchronisation behind it has said so. */
static double sticky_us(void)
{
	__typeof__(&cuLaunchKernel) launch = need(proxy, "cuLaunchKernel");
	__typeof__(&cuCtxSynchronize) sync = need(proxy, "cuCtxSynchronize");
	CUfunction f = load_kernel();
	struct drill_device_armed a;
	struct drill_err err = { 0 };
	int64_t t;
	bool bad;

	if (!f)
		return 1e9;
	launches_us(proxy, f);
	arm(NONE, DRILL_DEVICE_STICKY, 1, &a);
	bad = launch(f, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL);
	t = bench_ns();
	bad |= sync() != CUDA_ERROR_LAUNCH_FAILED;
	t = bench_ns() - t;
	drill_devices_disarm(&devices, &a, &err);
	return bad ? 1e9 : (double)t / 1e3;
}

static bool bench_launches(void)
{
	CUfunction f;
	struct drill_device_armed a;
	static double d[BATCHES];
	double x, y, us;
	bool ok;

	f = load_kernel();
	if (!f) {
		printf("FAIL the bench of the CUDA proxy: no kernel\n");
		return false;
	}
	us = trigger_us();
	arm(DRILL_CALL_cuEventQuery, DRILL_DEVICE_RETURN, INT64_MAX, &a);
	for (int i = 0; i < BATCHES; i++) {
		x = i % 2 ? launches_us(proxy, f) : 0;
		y = launches_us(driver, f);
		if (!(i % 2))
			x = launches_us(proxy, f);
		d[i] = 100 * (x - y) / x;
	}
	ok = bench_verdict("CUDA proxy, rate of launches, lower by",
			   bench_median(d, BATCHES), LIMIT_RATE_PCT, "%");
	ok &= bench_verdict("CUDA proxy, trigger to this call's error", us,
			    LIMIT_TRIGGER_US, "us");
	return ok;
}

int main(int argc, char **argv)
{
	struct drill_err err = { 0 };
	char path[256];

	if (argc != 5)
		return 2;
	snprintf(path, sizeof(path), "%s/%s.page", argv[1], argv[4]);
	unlink(path);
	if (drill_devices_create(&devices, path, "bench", 1, &err)) {
		fprintf(stderr, "%s\n", err.msg);
		return 3;
	}
	setenv("FAULTDRILL_DEVICES", path, 1);
	setenv("FAULTDRILL_CUDA_NEXT", argv[3], 1);
	proxy = dlopen(argv[2], RTLD_NOW | RTLD_LOCAL);
	driver = dlopen(argv[3], RTLD_NOW | RTLD_LOCAL);
	if (!proxy || !driver) {
		printf("FAIL the bench of the CUDA proxy: %s\n", dlerror());
		return 1;
	}
	if (!strcmp(argv[4], "calls"))
		return !bench_calls(argv);
	if (!strcmp(argv[4], "idle"))
		return say_added("cuStreamQuery");
	if (!strcmp(argv[4], "nth"))
		return say_added("cuEventQuery");
	if (!strcmp(argv[4], "launches"))
		return !bench_launches();
	return !bench_verdict("CUDA proxy, after the launch until a sync says so",
			      in_children(sticky_us), LIMIT_TRIGGER_US, "us");
}
