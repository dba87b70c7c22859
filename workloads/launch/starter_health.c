/* starter_health.c - launch-rank --health: watches a host's devices
 * SPDX-License-Identifier: MIT
 *
 *   launch-rank --health nvml|xid|both DIR HOST INTERVAL_MS [LIBRARY_PATH]
 *
 * It reads DIR/HOST/kernel.log as lines come, and asks NVML every interval. It
 * reports and judges nothing. NVML may hang with the driver, so it has a thread
 * of its own. Lines on its standard output:
 *
 *   up DEVICES [WHY]           -1: there is no NVML
 *   xid log|nvml DEVICE XID TEXT     DEVICE -1: not one that NVML knows
 *   sign DEVICE WORD VALUE     policy.h has the words
 *   reset DEVICE ok|WHY        the answer
 *
 * and on its standard input, whose end is also its own:
 *
 *   look             ask NVML now
 *   reset DEVICE     as `nvidia-smi --gpu-reset` does: here, on the page on
 *                    which the lab's devices stand
 */
#include "starter.h"
#include "starter_nvml.h"
#include "xid_line.h"

#include "injectors/hooks/device_step.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define START_MS 3000 /* NVML's list of devices is waited for so long */

static struct {
	const char *library_path;
	char dir[4096], log[4200], page[4200];
	bool nvml, xid;
	int interval_ms;
	int fd, notify; /* the log, and news of it */
	char line[1024];
	size_t len;
	bool too_long; /* skipping to the next line */
	char in[128];
	size_t in_len;
} me = {.fd = -1};

/* Held while NVML is looked at, and while a device is reset. */
static pthread_mutex_t looking = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t change;
static bool counted, wanted;

/* Whole lines, in one write: two threads write them. */
static void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

static void say(const char *fmt, ...)
{
	char line[256];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(line, sizeof(line) - 1, fmt, ap);
	va_end(ap);
	if (n > (int)sizeof(line) - 2)
		n = sizeof(line) - 2;
	line[n] = '\n';
	if (write(1, line, (size_t)n + 1) != n + 1)
		_exit(0); /* nobody listens any more */
}

/* ---- NVML ---- */

static void on_sign(int device, enum launch_sign sign, uint64_t value)
{
	say("sign %d %s %" PRIu64, device, launch_sign_name(sign), value);
}

static void on_xid(int device, int xid)
{
	say("xid nvml %d %d", device, xid);
}

static const struct starter_nvml_ear ear = {on_sign, on_xid};

static void count_devices(void)
{
	char why[160] = "";
	int n = starter_nvml_open(me.library_path, why, sizeof(why));

	why[strcspn(why, "\n")] = '\0';
	say("up %d %s", n, why);
	pthread_mutex_lock(&lock);
	counted = true;
	pthread_cond_broadcast(&change);
	pthread_mutex_unlock(&lock);
}

static struct timespec after_ms(int ms)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	t.tv_sec += ms / 1000;
	t.tv_nsec += ms % 1000 * 1000000L;
	if (t.tv_nsec >= 1000000000L) {
		t.tv_sec++;
		t.tv_nsec -= 1000000000L;
	}
	return t;
}

/* Until the interval is over, or somebody wants a look. */
static void pause_between(void)
{
	const struct timespec until = after_ms(me.interval_ms);
	int left = me.interval_ms;

	for (; left > 0 && !wanted; left -= 100)
		if (!starter_nvml_wait(&ear, left < 100 ? left : 100))
			break;
	pthread_mutex_lock(&lock);
	while (left > 0 && !wanted &&
	       pthread_cond_timedwait(&change, &lock, &until) != ETIMEDOUT)
		;
	wanted = false;
	pthread_mutex_unlock(&lock);
}

static void *watch_nvml(void *unused)
{
	(void)unused;
	count_devices();
	while (me.nvml) {
		pthread_mutex_lock(&looking);
		starter_nvml_look(&ear);
		pthread_mutex_unlock(&looking);
		pause_between();
	}
	return NULL;
}

static void start_nvml(void)
{
	const struct timespec until = after_ms(START_MS);
	pthread_condattr_t a;
	pthread_t thread;

	pthread_condattr_init(&a);
	pthread_condattr_setclock(&a, CLOCK_MONOTONIC);
	pthread_cond_init(&change, &a);
	if (pthread_create(&thread, NULL, watch_nvml, NULL) != 0)
		return;
	pthread_detach(thread);
	/* Lines of the log name PCI addresses. */
	pthread_mutex_lock(&lock);
	while (!counted &&
	       pthread_cond_timedwait(&change, &lock, &until) != ETIMEDOUT)
		;
	pthread_mutex_unlock(&lock);
}

/* ---- the kernel's log ---- */

static void take_line(void)
{
	struct launch_xid x;

	me.line[me.len] = '\0';
	me.len = 0;
	if (launch_xid_parse(me.line, &x) == 0)
		say("xid log %d %d %s", starter_nvml_at(x.domain, x.bus, x.dev),
		    x.xid, x.text);
}

static void take(const char *p, size_t n)
{
	for (; n > 0; p++, n--) {
		if (*p == '\n') {
			if (!me.too_long)
				take_line();
			me.too_long = false;
			me.len = 0;
		} else if (me.len == sizeof(me.line) - 1) {
			me.too_long = true;
		} else if (*p) {
			me.line[me.len++] = *p;
		}
	}
}

/* The file comes with its first line, and may be cut short or begun anew. */
static void read_log(void)
{
	char buf[4096];
	struct stat st;
	ssize_t n;

	if (me.fd < 0)
		me.fd = open(me.log, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (me.fd < 0)
		return;
	if (fstat(me.fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    st.st_size < lseek(me.fd, 0, SEEK_CUR))
		lseek(me.fd, 0, SEEK_SET);
	while ((n = read(me.fd, buf, sizeof(buf))) > 0)
		take(buf, (size_t)n);
}

static void start_log(void)
{
	mkdir(me.dir, 0755); /* the agent's, if it is there before us */
	me.notify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	if (me.notify < 0 ||
	    inotify_add_watch(me.notify, me.dir, IN_MODIFY | IN_CREATE |
			      IN_MOVED_TO) < 0)
		dprintf(2, "launch-rank: health: cannot watch '%s': %s\n",
			me.dir, strerror(errno));
}

/* ---- what the launcher wants ---- */

static void reset(int device)
{
	const char *why = "";
	struct drill_device_page *page = drill_device_map(me.page, &why);

	if (!page) {
		say("reset %d %s", device,
		    *why ? why : "this lab has no page of devices");
		return;
	}
	if (device < 0 || device >= DRILL_DEVICES) {
		say("reset %d no such device", device);
		return;
	}
	pthread_mutex_lock(&looking);
	drill_device_reset(page, (unsigned int)device);
	say("reset %d ok", device);
	pthread_mutex_unlock(&looking);
}

static void obey(const char *line)
{
	int device;

	if (sscanf(line, "reset %d", &device) == 1) {
		reset(device);
		return;
	}
	pthread_mutex_lock(&lock);
	wanted = true;
	pthread_cond_broadcast(&change);
	pthread_mutex_unlock(&lock);
}

static void hear(void)
{
	ssize_t n = read(0, me.in + me.in_len, sizeof(me.in) - 1 - me.in_len);
	char *end;

	if (n < 0 && errno == EINTR)
		return;
	if (n <= 0)
		_exit(0);
	me.in_len += (size_t)n;
	me.in[me.in_len] = '\0';
	while ((end = strchr(me.in, '\n'))) {
		*end++ = '\0';
		obey(me.in);
		me.in_len -= (size_t)(end - me.in);
		memmove(me.in, end, me.in_len + 1);
	}
	if (me.in_len == sizeof(me.in) - 1)
		me.in_len = 0;
}

static _Noreturn void live(void)
{
	char news[4096];

	for (;;) {
		struct pollfd p[2] = {{0, POLLIN, 0},
				      {me.xid ? me.notify : -1, POLLIN, 0}};

		/* Where there is no news of files: by and by. */
		poll(p, 2, me.xid ? me.interval_ms : -1);
		while (me.xid && read(me.notify, news, sizeof(news)) > 0)
			;
		if (me.xid)
			read_log();
		if (p[0].revents)
			hear();
	}
}

int starter_health(int argc, char **argv)
{
	if (argc < 6) {
		dprintf(2, "launch-rank: --health needs nvml, xid or both, a "
			   "folder, a host and an interval\n");
		return 2;
	}
	me.xid = strcmp(argv[2], "nvml") != 0;
	me.nvml = strcmp(argv[2], "xid") != 0;
	snprintf(me.dir, sizeof(me.dir), "%s/%s", argv[3], argv[4]);
	snprintf(me.log, sizeof(me.log), "%s/kernel.log", me.dir);
	snprintf(me.page, sizeof(me.page), "%s/devices.page", me.dir);
	me.interval_ms = atoi(argv[5]) < 10 ? 10 : atoi(argv[5]);
	me.library_path = argc > 6 ? argv[6] : NULL;
	setenv("FAULTDRILL_DEVICES", me.page, 1); /* for NVML in the lab */
	start_log();
	start_nvml();
	live();
}
