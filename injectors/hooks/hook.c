/* hook.c - finds the host's page, claims a slot, says hello and bye
 * SPDX-License-Identifier: MIT
 */
#include "hook.h"

#include "faultdrill/progress.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "build_id.h"

#define PAGE_BYTES sizeof(struct drill_hook_page)

struct hook drill_hook;
__thread struct drill_hook_lane *hook_lane;

/* The ring's header, read only; tried again until it is there. */
static _Atomic(struct faultdrill_ring *) ring;
static atomic_uint ring_tries;
static char wake_path[PATH_MAX];

static void say_passive(const char *path, const char *why)
{
	fprintf(stderr, "faultdrill: the hook stays passive: '%s' %s\n", path,
		why);
}

static const char *wrong_file(int fd)
{
	struct statx st;

	/* statx, for fstat is a younger symbol than a hook may need. */
	if (statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &st))
		return "cannot be looked at";
	if (!S_ISREG(st.stx_mode))
		return "is no regular file";
	if (st.stx_uid != geteuid() && st.stx_uid != 0)
		return "belongs to another user";
	if (st.stx_mode & 022)
		return "can be written by others";
	if (st.stx_size != PAGE_BYTES)
		return "has the wrong size for this build";
	return NULL;
}

static const char *wrong_header(const struct drill_hook_page *p)
{
	if (atomic_load_explicit(&p->magic, memory_order_acquire) !=
	    DRILL_HOOK_MAGIC)
		return "is no hook page";
	if (p->version != DRILL_HOOK_VERSION)
		return "has another version than this build";
	if (p->size != PAGE_BYTES || p->entries != DRILL_HOOK_ENTRIES ||
	    p->entry_size != sizeof(struct drill_hook_entry) ||
	    p->slots != DRILL_HOOK_SLOTS ||
	    p->slot_size != sizeof(struct drill_hook_slot) || !p->ticks_per_s)
		return "has another layout than this build";
	return NULL;
}

static const char *map_page(const char *path, struct drill_hook_page **ret)
{
	struct drill_hook_page *p = MAP_FAILED;
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	const char *wrong;

	if (fd < 0)
		return strerror(errno);
	wrong = wrong_file(fd);
	if (!wrong)
		p = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
			 fd, 0);
	close(fd);
	if (wrong)
		return wrong;
	if (p == MAP_FAILED)
		return "cannot be mapped";
	wrong = wrong_header(p);
	if (wrong)
		munmap(p, PAGE_BYTES);
	*ret = p;
	return wrong;
}

static int claim_slot(struct drill_hook_page *p)
{
	uint32_t nobody;

	for (int i = 0; i < DRILL_HOOK_SLOTS; i++) {
		nobody = 0;
		if (atomic_compare_exchange_strong(&p->slot[i].claimed,
						   &nobody, 1))
			return i;
	}
	atomic_fetch_add(&p->refused, 1);
	return -1;
}

static void copy(char *to, const char *from, size_t size)
{
	size_t n = from ? strcspn(from, "\n") : 0;

	if (n >= size)
		n = size - 1;
	memcpy(to, from ? from : "", n);
	to[n] = '\0';
}

static void fill_slot(struct drill_hook_slot *s, const struct hook_hello *h,
		      struct drill_hook_page *p)
{
	const char *btl = getenv("OMPI_MCA_btl");

	s->rank = h->rank;
	s->world = h->world;
	s->pid = getpid();
	s->place = drill_env_int("FAULTDRILL_SLOT", -1);
	s->attempt = drill_env_int("FAULTDRILL_ATTEMPT", -1);
	s->thread_level = h->thread_level;
	s->fortran = h->fortran;
	s->abi = h->abi;
	s->hello_ns = hook_raw_ns();
	s->base = (uint64_t)(uintptr_t)p;
	copy(s->build, DRILL_BUILD_ID, sizeof(s->build));
	copy(s->host, getenv("FAULTDRILL_HOST"), sizeof(s->host));
	copy(s->library, h->library, sizeof(s->library));
	copy(s->transport, btl ? btl : getenv("OMPI_MCA_pml"),
	     sizeof(s->transport));
	atomic_store_explicit(&s->hello, DRILL_HELLO_HERE,
			      memory_order_release);
}

/* A forked child is not the rank: it must not speak in its name. */
static void in_child(void)
{
	drill_hook.me = NULL;
}

void drill_hook_hello(const struct hook_hello *hello)
{
	static atomic_flag once = ATOMIC_FLAG_INIT;
	const char *path = getenv("FAULTDRILL_HOOKS"), *wrong, *slash;
	struct drill_hook_page *p = NULL;
	int slot;

	if (!path || !*path || atomic_flag_test_and_set(&once))
		return;
	wrong = map_page(path, &p);
	if (wrong) {
		say_passive(path, wrong);
		return;
	}
	slot = claim_slot(p);
	if (slot < 0) {
		say_passive(path, "has no slot left");
		munmap(p, PAGE_BYTES);
		return;
	}
	slash = strrchr(path, '/');
	snprintf(wake_path, sizeof(wake_path), "%.*s/wake",
		 slash ? (int)(slash - path) : 1, slash ? path : ".");
	drill_hook.page = p;
	drill_hook.slot = slot;
	drill_hook.threaded = hello->threaded;
	drill_hook.ticks_per_s = p->ticks_per_s;
	fill_slot(&p->slot[slot], hello, p);
	pthread_atfork(NULL, NULL, in_child);
	atomic_thread_fence(memory_order_release);
	drill_hook.me = &p->slot[slot];
}

void drill_hook_bye(void)
{
	struct drill_hook_slot *me = drill_hook.me;

	if (!me)
		return;
	drill_hook.me = NULL;
	atomic_store_explicit(&me->hello, DRILL_HELLO_BYE,
			      memory_order_release);
}

struct drill_hook_lane *drill_hook_lane_take(void)
{
	uint32_t n = hook_add(&drill_hook.me->threads, 1);

	/* Later threads share the last lane: who waits is then approximate,
	 * counts are not. */
	if (n >= DRILL_HOOK_LANES)
		n = DRILL_HOOK_LANES - 1;
	hook_lane = &drill_hook.me->lane[n];
	hook_store(&hook_lane->tid, (int32_t)syscall(SYS_gettid));
	return hook_lane;
}

static void map_ring(void)
{
	const char *path = getenv("FAULTDRILL_RING");
	struct faultdrill_ring *r, *none = NULL;
	struct statx st;
	void *m = MAP_FAILED;
	int fd;

	if (!path || !*path)
		return;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return;
	if (!statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &st) &&
	    st.stx_size >= sizeof(*r))
		m = mmap(NULL, sizeof(*r), PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	if (m == MAP_FAILED)
		return;
	r = m;
	if (atomic_load_explicit(&r->magic, memory_order_acquire) !=
		    FAULTDRILL_RING_MAGIC ||
	    r->version != FAULTDRILL_RING_VERSION ||
	    !atomic_compare_exchange_strong(&ring, &none, r))
		munmap(m, sizeof(*r));
}

/* The job may make its ring after MPI_Init: look often at first, later at
 * every 1024th call that asks. */
static struct faultdrill_ring *the_ring(void)
{
	struct faultdrill_ring *r = atomic_load(&ring);
	unsigned int n;

	if (r)
		return r;
	n = hook_add(&ring_tries, 1);
	if (n < 1000 || n % 1024 == 0)
		map_ring();
	return atomic_load(&ring);
}

int64_t drill_hook_step(void)
{
	struct faultdrill_ring *r = the_ring();
	int64_t step = r ? hook_load(&r->step) : 0;

	hook_store(&drill_hook.me->step, step);
	return step;
}

int64_t drill_hook_job_ns(void)
{
	struct faultdrill_ring *r = the_ring();

	return r ? hook_load(&r->collective_since_ns) : 0;
}

void drill_hook_wake_agent(void)
{
	/* Read and write: a FIFO without reader then neither blocks the open
	 * nor raises SIGPIPE. */
	int fd = open(wake_path, O_RDWR | O_NONBLOCK | O_CLOEXEC), e = errno;

	if (fd < 0)
		return;
	if (write(fd, "h", 1) < 0)
		errno = e; /* full: the agent has been woken already */
	close(fd);
}
