/* starter_rank.c - the rank itself: its environment, its birth, its pulse
 * SPDX-License-Identifier: MIT
 */
#include "starter.h"
#include "wire.h"

#include <faultdrill/progress.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

int64_t starter_raw_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

const char *starter_ring(const struct starter *s, char *buf, size_t size)
{
	snprintf(buf, size, "%s/%s/rank%d.a%d.ring", s->dir, s->host, s->rank,
		 s->attempt);
	return buf;
}

static void put(const char *name, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static void put(const char *name, const char *fmt, ...)
{
	char value[4096];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(value, sizeof(value), fmt, ap);
	va_end(ap);
	setenv(name, value, 1);
}

/* Puts @first before what the variable holds. */
static void prepend(const char *name, const char *first)
{
	const char *old = getenv(name);

	if (first && *first)
		put(name, "%s%s%s", first, old && *old ? ":" : "",
		    old ? old : "");
}

/* Where the software device is among the libraries it is what is behind both
 * proxies, wherever the job goes on to look for libraries. */
static void set_next(const char *dirs)
{
	const char *begin = dirs ? strstr(dirs, "softcuda") : NULL;

	if (!begin)
		return;
	while (begin > dirs && begin[-1] != ':')
		begin--;
	put("FAULTDRILL_NVML_NEXT", "soft");
	if (!getenv("FAULTDRILL_CUDA_NEXT"))
		put("FAULTDRILL_CUDA_NEXT", "%.*s/libcuda.so.1",
		    (int)strcspn(begin, ":"), begin);
}

static void set_environment(const struct starter *s)
{
	char ring[4096];

	put("FAULTDRILL_RING", "%s", starter_ring(s, ring, sizeof(ring)));
	put("FAULTDRILL_HOOKS", "%s/%s/hooks.page", s->dir, s->host);
	put("FAULTDRILL_DEVICES", "%s/%s/devices.page", s->dir, s->host);
	set_next(s->library_path);
	put("FAULTDRILL_WAKE", "%s/%s/wake", s->dir, s->host);
	put("FAULTDRILL_HOST", "%s", s->host);
	put("FAULTDRILL_SLOT", "%d", s->rank);
	put("FAULTDRILL_DEVICE_COUNT", "%d", s->devices);
	put("CUDA_VISIBLE_DEVICES", "%d", s->local % s->devices);
	prepend("LD_PRELOAD", s->preload);
	prepend("LD_LIBRARY_PATH", s->library_path);
	unsetenv(LAUNCH_ENV); /* the token is the starter's alone */
}

static int redirect(const struct starter *s)
{
	char path[4096];
	int fd;

	if (!s->log || !*s->log)
		return 0;
	snprintf(path, sizeof(path), "%s/rank%d.a%d.log", s->log, s->rank,
		 s->attempt);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0)
		return -errno;
	return dup2(fd, 1) < 0 || dup2(fd, 2) < 0 ? -errno : 0;
}

/* The ring is there before the rank is, so that the agent can arm a step in
 * time. */
static struct faultdrill_ring *make_ring(const struct starter *s)
{
	const char *world = getenv("OMPI_COMM_WORLD_SIZE");
	char path[4096];

	setenv("FAULTDRILL_HOST", s->host, 1);
	return faultdrill_ring_create(starter_ring(s, path, sizeof(path)),
				      s->rank, s->rank,
				      world ? atoi(world) : 0);
}

/* So the agent knows the process even of a job that knows nothing of rings; the
 * begin that faultdrill_open() adds is then the second and not counted. */
static void show_process(struct faultdrill_ring *ring)
{
	if (!ring)
		return;
	ring->pid = getpid();
	faultdrill_put(ring, FAULTDRILL_RANK_BEGIN, 0, 0, 0, 0, 0, 0, NULL);
}

static void become_rank(const struct starter *s, pid_t starter,
			struct faultdrill_ring *ring)
{
	sigset_t none;

	setpgid(0, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	set_environment(s);
	if (redirect(s) < 0) {
		dprintf(2, "launch-rank: cannot write a log in '%s': %s\n",
			s->log, strerror(errno));
		_exit(126);
	}
	show_process(ring);
	/* Last, and then a look: the starter may be gone already. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != starter)
		_exit(125);
	execvp(s->argv[0], s->argv);
	dprintf(2, "launch-rank: cannot run '%s': %s\n", s->argv[0],
		strerror(errno));
	_exit(127);
}

pid_t starter_spawn(const struct starter *s)
{
	struct faultdrill_ring *ring;
	pid_t self = getpid(), pid;
	char dir[4096];

	snprintf(dir, sizeof(dir), "%s/%s", s->dir, s->host);
	if (mkdir(dir, 0755) < 0 && errno != EEXIST)
		return -errno;
	ring = make_ring(s); /* without: the job runs on unwatched */
	pid = fork();
	if (pid < 0)
		return -errno;
	if (pid == 0)
		become_rank(s, self, ring);
	setpgid(pid, pid);
	faultdrill_ring_unmap(ring);
	return pid;
}

/* Time on a processor, of the main thread. */
static int64_t run_ns(pid_t pid)
{
	char path[64], text[64] = "";
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/schedstat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	if (read(fd, text, sizeof(text) - 1) < 0)
		text[0] = '\0';
	close(fd);
	return strtoll(text, NULL, 10);
}

void starter_pulse(const char *path, int *fd, pid_t pid, struct pulse *ret)
{
	/* Read, not mapped: a rank that shortens its ring must not kill us. */
	struct faultdrill_ring ring;

	*ret = (struct pulse){.now = starter_raw_ns(), .run = run_ns(pid)};
	if (*fd < 0)
		*fd = open(path, O_RDONLY | O_CLOEXEC);
	if (*fd < 0 ||
	    pread(*fd, &ring, sizeof(ring), 0) != (ssize_t)sizeof(ring) ||
	    ring.magic != FAULTDRILL_RING_MAGIC ||
	    ring.version != FAULTDRILL_RING_VERSION)
		return;
	ret->step = ring.step;
	ret->collective = ring.collective;
	ret->since = ring.collective_since_ns;
	ret->heartbeat = ring.heartbeat_ns;
	ret->watchdog = ring.watchdog;
}
