/* one.c - one device fault under one command, without an agent or a scenario
 * SPDX-License-Identifier: MIT
 *
 *   one --dir DIR --bin BUILD [--software N] [--audit] FAULT -- COMMAND...
 *
 * For machines that have a GPU and a C compiler and nothing else. It makes a
 * device page in DIR (with N software devices, or the driver's), arms FAULT,
 * runs COMMAND behind the proxies of BUILD, and says on stderr in one line what
 * the page then holds. A fault that makes it hang is taken off a second after
 * it blocked; a command that lasts a minute is killed.
 *
 * FAULT: none xid=CODE effect=CODE alarm=CODE hang slow=FACTOR corrupt=memory|
 * output|copy oom call=SYMBOL:CUresult delay=SYMBOL:NS absent, then maybe
 * @NTH: of the matching calls (3).
 */
#include "harness/cli/exec_place.h"
#include "injectors/device/xid.h"
#include "injectors/hooks/cuda_symbols.h"
#include "injectors/hooks/devices.h"
#include "injectors/hooks/device_step.h"

#include <dlfcn.h>
#include <errno.h>
#include <faultdrill/cuda_api.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LIMIT_S 60
#define HANG_NS 1000000000

static const char *const symbols[] = {
#define S(number, symbol, since) [number] = #symbol,
	DRILL_CUDA_SYMBOLS(S)
#undef S
};
#define SYMBOLS (sizeof(symbols) / sizeof(*symbols))

static void __attribute__((noreturn)) die(const char *what, const char *why)
{
	fprintf(stderr, "one: %s: %s\n", what, why);
	exit(2);
}

static uint32_t call_number(const char *name)
{
	uint32_t i;

	for (i = 0; i < SYMBOLS; i++)
		if (symbols[i] && !strcmp(symbols[i], name))
			return 1 + i;
	die(name, "no such entry point");
}

/* ---- what is armed ---- */

static void of_xid(struct drill_device_fault *f, int code, bool effect,
		   bool signal)
{
	int chain[DRILL_XID_CHAIN], n;
	struct drill_err err = { 0 };
	struct drill_xid_story s = { .code = chain,
				     .gap_ns = 0,
				     .peer = -1,
				     .effect = effect,
				     .signal = signal };

	n = drill_xid_chain(code, "", true, chain, &err);
	s.n = n;
	if (n < 0 || drill_xid_steps(&s, f, &err) < 0)
		die("xid", err.msg);
}

static void of_call(struct drill_device_fault *f, char *value, bool delay)
{
	char *colon = strchr(value, ':');

	if (!colon)
		die(value, "SYMBOL:NUMBER is wanted");
	*colon = '\0';
	f->call = call_number(value);
	f->action = delay ? DRILL_DEVICE_DELAY : DRILL_DEVICE_RETURN;
	if (delay)
		f->delay_ns = atoll(colon + 1);
	else
		f->error = atoi(colon + 1);
}

static void of_flip(struct drill_device_fault *f, const char *where)
{
	static const char *const names[] = { "", "memory", "output", "copy" };

	f->action = DRILL_DEVICE_FLIP;
	f->bits = 1;
	f->seed = 7;
	for (f->flip_where = 3; f->flip_where; f->flip_where--)
		if (!strcmp(names[f->flip_where], where))
			return;
	die(where, "memory, output or copy is wanted");
}

static bool is(const char *word, const char *name)
{
	return strcmp(word, name) == 0;
}

static void read_fault(char *word, struct drill_device_fault *f)
{
	char *at = strchr(word, '@'), *value = strchr(word, '=');

	*f = (struct drill_device_fault){ .device = 0, .rank = -1, .nth = 3 };
	if (at)
		*at = '\0', f->nth = atoll(at + 1);
	if (value)
		*value++ = '\0';
	else
		value = word + strlen(word);
	if (is(word, "xid") || is(word, "effect") || is(word, "alarm"))
		of_xid(f, atoi(value), !is(word, "alarm"),
		       !is(word, "effect"));
	else if (is(word, "call") || is(word, "delay"))
		of_call(f, value, is(word, "delay"));
	else if (is(word, "corrupt"))
		of_flip(f, value);
	else if (is(word, "hang"))
		f->action = DRILL_DEVICE_HANG;
	else if (is(word, "slow"))
		f->action = DRILL_DEVICE_SLOW, f->every = 1,
		f->factor_ppm = (uint32_t)(atof(value) * 1e6);
	else if (is(word, "oom"))
		f->action = DRILL_DEVICE_OOM, f->error = 2, f->nth = 1,
		f->every = 1;
	else if (is(word, "absent"))
		f->action = DRILL_DEVICE_ABSENT, f->error = 100, f->steps = 1,
		f->step[0].health = DRILL_DEVICE_GONE;
	else
		die(word, "no such fault");
}

/* These need no process to meet them. */
static bool at_once(const struct drill_device_fault *f)
{
	return f->action == DRILL_DEVICE_NOTHING ||
	       f->action == DRILL_DEVICE_ABSENT;
}

/* ---- the page ---- */

/* Where the kernel shows no devices, the driver's library names them; in a child,
 * so that this process has no driver in it. */
static void ask_driver(struct drill_device_page *p, const char *library)
{
	void *lib = dlopen(library, RTLD_NOW | RTLD_LOCAL);
	__typeof__(cuInit) *init;
	__typeof__(cuDeviceGetUuid_v2) *uuid;
	__typeof__(cuDeviceGetName) *name;
	__typeof__(cuDeviceGetAttribute) *attribute;
	struct drill_device *d = &p->device[0];
	CUuuid id;
	int v = 0;

	if (!lib)
		_exit(1);
	*(void **)&init = dlsym(lib, "cuInit");
	*(void **)&uuid = dlsym(lib, "cuDeviceGetUuid_v2");
	*(void **)&name = dlsym(lib, "cuDeviceGetName");
	*(void **)&attribute = dlsym(lib, "cuDeviceGetAttribute");
	if (!init || !uuid || !name || !attribute || init(0) || uuid(&id, 0))
		_exit(1);
	memcpy(d->uuid, id.bytes, sizeof(d->uuid));
	name(d->name, sizeof(d->name), 0);
	attribute(&v, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, 0);
	d->bus = (uint32_t)v;
	_exit(0);
}

static void make_page(struct drill_devices *d, const char *path, int software)
{
	const char *next = getenv("FAULTDRILL_CUDA_NEXT");
	struct drill_err err = { 0 };
	int r = drill_devices_create(d, path, "h0", software, &err);
	int status = 1;
	pid_t pid;

	if (r == -ENODEV) {
		r = drill_devices_create(d, path, "h0", 1, &err);
		if (r)
			die("page", err.msg);
		pid = fork();
		if (!pid)
			ask_driver(d->page, next ? next : "libcuda.so.1");
		waitpid(pid, &status, 0);
		if (status)
			die("page", "neither the kernel nor the driver names "
				    "a device");
	}
	if (r)
		die("page", err.msg);
}

/* ---- the command ---- */

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

struct watch {
	struct drill_devices d;
	struct drill_device_armed armed;
	bool is_armed, taken_off;
	struct drill_device_fault seen;
	int64_t begin, blocked;
	int status;
};

static void look(struct watch *w)
{
	struct drill_err err = { 0 };

	if (!w->is_armed || w->taken_off)
		return;
	drill_devices_read(&w->d, &w->armed, &w->seen, &err);
	drill_device_steps(w->d.page, (unsigned int)w->armed.fault, now_ns());
	if (!w->seen.waiting)
		w->blocked = 0;
	else if (!w->blocked)
		w->blocked = now_ns();
	else if (now_ns() - w->blocked > HANG_NS)
		w->taken_off = drill_devices_disarm(&w->d, &w->armed, &err)
			       == 0;
}

static void run(struct watch *w, char **argv)
{
	const struct timespec tick = { 0, 2000000 };
	pid_t pid = fork();

	if (!pid) {
		execvp(argv[0], argv);
		die(argv[0], strerror(errno));
	}
	w->begin = now_ns();
	while (waitpid(pid, &w->status, WNOHANG) == 0) {
		look(w);
		if (now_ns() - w->begin > LIMIT_S * INT64_C(1000000000))
			kill(pid, SIGKILL);
		nanosleep(&tick, NULL);
	}
	look(w);
}

static void tell_counters(const struct watch *w)
{
	struct drill_device_seen c[DRILL_DEVICE_CLIENTS];
	uint64_t linked = 0, remapped = 0, passed = 0, bypassed = 0;
	int n = drill_devices_clients(&w->d, c, DRILL_DEVICE_CLIENTS), i;

	for (i = 0; i < n; i++) {
		linked += c[i].linked;
		remapped += c[i].remapped;
		passed += c[i].passed;
		bypassed += c[i].bypassed;
	}
	fprintf(stderr,
		" clients=%d linked=%llu remapped=%llu passed=%llu bypassed=%llu",
		n, (unsigned long long)linked, (unsigned long long)remapped,
		(unsigned long long)passed, (unsigned long long)bypassed);
}

static void tell(const struct watch *w)
{
	const struct drill_device_fault *f = &w->seen;
	uint32_t call = f->surfaced_call;
	int64_t late = f->surfaced_ns - f->fired_ns;

	fprintf(stderr,
		"seen status=%d seconds=%.3f hits=%llu returned=%llu call=%s "
		"latency_us=%.1f sites=%u lines=%llu hung=%d",
		WIFEXITED(w->status) ? WEXITSTATUS(w->status)
				     : 128 + WTERMSIG(w->status),
		(double)(now_ns() - w->begin) / 1e9,
		(unsigned long long)f->hits, (unsigned long long)f->returned,
		call && call <= SYMBOLS && symbols[call - 1] ?
			symbols[call - 1] : "none",
		f->surfaced_ns ? (double)late / 1e3 : 0.0, f->sites,
		(unsigned long long)w->d.page->lines, w->taken_off);
	tell_counters(w);
	fputc('\n', stderr);
}

int main(int argc, char **argv)
{
	const char *dir = NULL, *bin = NULL;
	struct drill_device_fault f = { 0 };
	struct watch w = { 0 };
	struct drill_err err = { 0 };
	int software = 0, i;
	char path[600];

	setenv(DRILL_EXEC_WANT, "cuda", 1);
	setenv("FAULTDRILL_DEVICE_COUNT", "1", 0);
	for (i = 1; i < argc && argv[i][0] == '-'; i++)
		if (is(argv[i], "--audit"))
			setenv(DRILL_EXEC_WANT, "cuda audit", 1);
		else if (i + 1 < argc && is(argv[i], "--dir"))
			dir = argv[++i];
		else if (i + 1 < argc && is(argv[i], "--bin"))
			bin = argv[++i];
		else if (i + 1 < argc && is(argv[i], "--software"))
			software = atoi(argv[++i]);
	if (!dir || !bin || i + 2 >= argc || !is(argv[i + 1], "--"))
		die("usage", "one --dir DIR --bin BUILD [--software N] "
			     "[--audit] FAULT -- COMMAND...");
	snprintf(path, sizeof(path), "%s/devices.page", dir);
	unlink(path);
	make_page(&w.d, path, software);
	if (!is(argv[i], "none")) {
		read_fault(argv[i], &f);
		if (drill_devices_pick(&w.d, &w.armed, &err) < 0 ||
		    drill_devices_arm_at(&w.d, &f, &w.armed, &err) < 0)
			die(argv[i], err.msg);
		w.is_armed = true;
		if (at_once(&f))
			drill_device_fire(w.d.page, (unsigned int)w.armed.fault,
					  getpid(), "one");
	}
	drill_exec_surround(dir, bin);
	run(&w, argv + i + 2);
	tell(&w);
	drill_devices_close(&w.d);
	return WIFEXITED(w.status) ? WEXITSTATUS(w.status) : 128;
}
