/* hooks.c - makes and opens hook pages, arms entries and reads them back
 * SPDX-License-Identifier: MIT
 */
#include "hooks.h"

#include "hook_ticks.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "build_id.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#define WHO "hooks"
#define PAGE_BYTES sizeof(struct drill_hook_page)
#define HOLD_MAX_NS INT64_C(10000000000)

static bool counter_is_steady(void)
{
#if defined(__x86_64__)
	unsigned int a, b, c, d;

	return __get_cpuid(0x80000007, &a, &b, &c, &d) && d & 1u << 8;
#elif defined(__aarch64__)
	return true;
#else
	return false;
#endif
}

/* Both clocks as near to each other as three tries give. */
static void read_both(uint64_t *ret_ticks, int64_t *ret_ns)
{
	uint64_t best = UINT64_MAX, t0, t1;
	int64_t ns;

	for (int i = 0; i < 3; i++) {
		t0 = hook_counter();
		ns = hook_raw_ns();
		t1 = hook_counter();
		if (t1 - t0 >= best)
			continue;
		best = t1 - t0;
		*ret_ticks = t0 + (t1 - t0) / 2;
		*ret_ns = ns;
	}
}

/* Within 30 ppm; readers anchor at the present, so errors do not add up. */
static uint64_t measure_ticks(void)
{
	static uint64_t known;
	const struct timespec wait = { 0, 4000000 };
	uint64_t t0 = 0, t1 = 0;
	int64_t n0 = 0, n1 = 1;

	if (known)
		return known;
	if (!counter_is_steady())
		return known = DRILL_RAW_TICKS;
	read_both(&t0, &n0);
	nanosleep(&wait, NULL);
	read_both(&t1, &n1);
	return known = (uint64_t)((double)(t1 - t0) * 1e9 / (double)(n1 - n0));
}

static void fill_header(struct drill_hook_page *p)
{
	p->version = DRILL_HOOK_VERSION;
	p->size = PAGE_BYTES;
	p->entries = DRILL_HOOK_ENTRIES;
	p->entry_size = sizeof(struct drill_hook_entry);
	p->slots = DRILL_HOOK_SLOTS;
	p->slot_size = sizeof(struct drill_hook_slot);
	p->ticks_per_s = measure_ticks();
	p->created_ns = hook_raw_ns();
	strncpy(p->build, DRILL_BUILD_ID, sizeof(p->build) - 1);
	atomic_store_explicit(&p->magic, DRILL_HOOK_MAGIC,
			      memory_order_release);
}

/* Allocated, not sparse: a full filesystem must not become a SIGBUS. */
static int fill_file(int fd)
{
	struct drill_hook_page *p;
	int r = posix_fallocate(fd, 0, PAGE_BYTES);

	if (r)
		return -r;
	p = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		return -errno;
	fill_header(p);
	munmap(p, PAGE_BYTES);
	return 0;
}

int drill_hooks_create(struct drill_hooks *h, const char *path,
		       struct drill_err *err)
{
	char tmp[PATH_MAX];
	int fd, r;

	*h = (struct drill_hooks){ 0 };
	if (snprintf(tmp, sizeof(tmp), "%s.XXXXXX", path) >= (int)sizeof(tmp))
		return drill_err_set(err, -ENAMETOOLONG, WHO,
				     "the path of the hook page is too long");
	fd = mkostemp(tmp, O_CLOEXEC);
	if (fd < 0)
		return drill_err_errno(err, errno, WHO, "cannot make '%s'", tmp);
	r = fill_file(fd);
	/* Linked when whole, so that no hook ever sees half of it. */
	if (!r && link(tmp, path))
		r = -errno;
	unlink(tmp);
	close(fd);
	if (r)
		return drill_err_errno(err, -r, WHO, "cannot make '%s'", path);
	return drill_hooks_open(h, path, err);
}

static int check_file(int fd, const char *path, struct drill_err *err)
{
	struct stat st;

	if (fstat(fd, &st))
		return drill_err_errno(err, errno, WHO, "cannot stat '%s'",
				       path);
	if (!S_ISREG(st.st_mode) || st.st_size != (off_t)PAGE_BYTES)
		return drill_err_set(err, -EPROTO, WHO,
				     "'%s' is no hook page: %lld bytes, not %zu",
				     path, (long long)st.st_size, PAGE_BYTES);
	return 0;
}

static int check_header(const struct drill_hook_page *p, const char *path,
			struct drill_err *err)
{
	if (atomic_load_explicit(&p->magic, memory_order_acquire) !=
	    DRILL_HOOK_MAGIC)
		return drill_err_set(err, -EPROTO, WHO,
				     "'%s' is no hook page: wrong magic", path);
	if (p->version != DRILL_HOOK_VERSION)
		return drill_err_set(err, -EPROTO, WHO,
				     "'%s' has version %u, this build reads %u",
				     path, p->version, DRILL_HOOK_VERSION);
	if (p->size != PAGE_BYTES || p->entries != DRILL_HOOK_ENTRIES ||
	    p->entry_size != sizeof(struct drill_hook_entry) ||
	    p->slots != DRILL_HOOK_SLOTS ||
	    p->slot_size != sizeof(struct drill_hook_slot) || !p->ticks_per_s)
		return drill_err_set(err, -EPROTO, WHO,
				     "'%s' has another layout", path);
	return 0;
}

int drill_hooks_open(struct drill_hooks *h, const char *path,
		     struct drill_err *err)
{
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW), r;

	*h = (struct drill_hooks){ 0 };
	if (fd < 0)
		return drill_err_errno(err, errno, WHO, "cannot open '%s'",
				       path);
	r = check_file(fd, path, err);
	if (!r) {
		h->page = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE,
			       MAP_SHARED, fd, 0);
		if (h->page == MAP_FAILED)
			r = drill_err_errno(err, errno, WHO,
					    "cannot map '%s'", path);
		else if ((r = check_header(h->page, path, err)))
			munmap(h->page, PAGE_BYTES);
	}
	close(fd);
	if (r)
		h->page = NULL;
	else
		h->ticks_per_s = h->page->ticks_per_s;
	return r;
}

void drill_hooks_close(struct drill_hooks *h)
{
	if (h->page)
		munmap(h->page, PAGE_BYTES);
	h->page = NULL;
}

/* What a hook wrote need not end with a zero. */
static void copy_text(char *ret, const char *text, size_t size)
{
	memcpy(ret, text, size);
	ret[size - 1] = '\0';
}

static void see_hello(const struct drill_hook_page *p, int i,
		      struct drill_hello_seen *ret)
{
	const struct drill_hook_slot *s = &p->slot[i];

	ret->slot = i;
	ret->here = s->hello == DRILL_HELLO_HERE;
	ret->rank = s->rank;
	ret->world = s->world;
	ret->pid = s->pid;
	ret->place = s->place;
	ret->attempt = s->attempt;
	ret->thread_level = s->thread_level;
	ret->fortran = s->fortran;
	ret->hello_ns = s->hello_ns;
	copy_text(ret->build, s->build, sizeof(ret->build));
	copy_text(ret->host, s->host, sizeof(ret->host));
	copy_text(ret->library, s->library, sizeof(ret->library));
	copy_text(ret->transport, s->transport, sizeof(ret->transport));
}

static bool said_hello(const struct drill_hook_slot *s)
{
	return atomic_load_explicit(&s->hello, memory_order_acquire) !=
	       DRILL_HELLO_NONE;
}

/* Slots are claimed in order: the first that was never claimed ends the list,
 * so that an agent touches only what is used. */
static bool claimed(const struct drill_hooks *h, int i)
{
	return i < DRILL_HOOK_SLOTS &&
	       atomic_load_explicit(&h->page->slot[i].claimed,
				    memory_order_acquire);
}

int drill_hooks_hellos(const struct drill_hooks *h,
		       struct drill_hello_seen *ret, int max)
{
	int n = 0;

	for (int i = 0; claimed(h, i) && n < max; i++)
		if (said_hello(&h->page->slot[i]))
			see_hello(h->page, i, &ret[n++]);
	return n;
}

int drill_hooks_slot(const struct drill_hooks *h, int rank,
		     struct drill_err *err)
{
	const struct drill_hook_slot *slot = h->page->slot;
	int best = -1;

	for (int i = 0; claimed(h, i); i++)
		if (said_hello(&slot[i]) && slot[i].rank == rank &&
		    (best < 0 || slot[i].attempt >= slot[best].attempt))
			best = i;
	if (best < 0)
		return drill_err_set(err, -ENOENT, WHO,
				     "rank %d runs without the hook (it has "
				     "not said hello)", rank);
	return best;
}

/* Which words have an entry: what a hook looks at first in every call. */
static void publish_armed(struct drill_hook_page *p)
{
	uint32_t armed = 0, taken = 0;

	for (int i = 0; i < DRILL_HOOK_ENTRIES; i++) {
		if (p->entry[i].state == DRILL_HOOK_FREE)
			continue;
		taken |= 1u << i;
		armed |= 1u << p->entry[i].word % 32;
	}
	atomic_store_explicit(&p->taken, taken, memory_order_release);
	atomic_store_explicit(&p->armed, armed, memory_order_release);
}

static int check_order(const struct drill_hook_order *o, struct drill_err *err)
{
	if (o->action < DRILL_HOOK_HOLD || o->action > DRILL_HOOK_HANG ||
	    o->word <= DRILL_WORD_NONE || o->word >= DRILL_WORDS ||
	    (unsigned int)o->where > DRILL_HOOK_AFTER)
		return drill_err_set(err, -EINVAL, WHO, "unknown order");
	if (o->rank < -1 || o->slot < -1 || o->slot >= DRILL_HOOK_SLOTS ||
	    o->step < 0 || o->nth < 0 || o->every < 0 || o->delay_ns < 0 ||
	    o->hold_max_ns < 0 || o->ppm > 1000000)
		return drill_err_set(err, -EINVAL, WHO,
				     "a number of the order is out of range");
	return 0;
}

static void fill_entry(struct drill_hook_entry *e,
		       const struct drill_hook_order *o, uint64_t mark)
{
	memset((char *)e + sizeof(e->mark), 0, sizeof(*e) - sizeof(e->mark));
	e->action = o->action;
	e->word = o->word;
	e->where = o->where ? o->where : DRILL_HOOK_INSIDE;
	e->rank = o->rank;
	e->slot = (uint32_t)(o->slot + 1);
	e->attempt = o->attempt;
	e->step = o->step;
	e->nth = o->nth ? o->nth : 1;
	e->every = o->every;
	e->delay_ns = o->delay_ns;
	e->ppm = o->ppm ? o->ppm : 1000000;
	e->seed = o->seed;
	e->hold_max_ns = o->hold_max_ns ? o->hold_max_ns : HOLD_MAX_NS;
	atomic_store_explicit(&e->mark, mark, memory_order_relaxed);
	atomic_store_explicit(&e->state,
			      o->action == DRILL_HOOK_HOLD ?
				      DRILL_HOOK_ARMED : DRILL_HOOK_IN_FORCE,
			      memory_order_release);
}

/* Rather one that nobody is just leaving. */
static int free_entry(const struct drill_hook_page *p)
{
	int any = -1;

	for (int i = 0; i < DRILL_HOOK_ENTRIES; i++) {
		if (p->entry[i].state != DRILL_HOOK_FREE)
			continue;
		if (!p->entry[i].waiting)
			return i;
		any = i;
	}
	return any;
}

int drill_hooks_pick(const struct drill_hooks *h, struct drill_hook_armed *ret,
		     struct drill_err *err)
{
	uint64_t mark = 0;
	int i = free_entry(h->page);

	if (i < 0)
		return drill_err_set(err, -ENOSPC, WHO,
				     "all %d entries of the hook page are taken",
				     DRILL_HOOK_ENTRIES);
	while (!mark)
		if (getrandom(&mark, sizeof(mark), 0) < 0)
			return drill_err_errno(err, errno, WHO, "getrandom");
	*ret = (struct drill_hook_armed){ i, mark };
	return 0;
}

int drill_hooks_arm_at(struct drill_hooks *h, const struct drill_hook_order *o,
		       const struct drill_hook_armed *a, struct drill_err *err)
{
	struct drill_hook_entry *e = &h->page->entry[a->entry];
	int r = check_order(o, err);

	if (r)
		return r;
	if (e->state != DRILL_HOOK_FREE)
		return drill_err_set(err, -EBUSY, WHO,
				     "entry %d has been taken meanwhile",
				     a->entry);
	fill_entry(e, o, a->mark);
	publish_armed(h->page);
	return 0;
}

int drill_hooks_arm(struct drill_hooks *h, const struct drill_hook_order *o,
		    struct drill_hook_armed *ret, struct drill_err *err)
{
	int r = drill_hooks_pick(h, ret, err);

	return r ? r : drill_hooks_arm_at(h, o, ret, err);
}

bool drill_hooks_holds(const struct drill_hooks *h, int slot,
		       enum drill_word word)
{
	const struct drill_hook_entry *e;

	for (int i = 0; i < DRILL_HOOK_ENTRIES; i++) {
		e = &h->page->entry[i];
		if (e->state == DRILL_HOOK_HELD && e->word == word &&
		    e->by_slot == (uint32_t)slot + 1 &&
		    e->where <= DRILL_HOOK_INSIDE)
			return true;
	}
	return false;
}

static void read_order(const struct drill_hook_entry *e,
		       struct drill_hook_order *ret)
{
	*ret = (struct drill_hook_order){
		.action = (enum drill_hook_action)e->action,
		.word = (enum drill_word)e->word,
		.where = (enum drill_hook_where)e->where,
		.rank = e->rank,
		.slot = (int)e->slot - 1,
		.attempt = e->attempt,
		.step = e->step,
		.nth = e->nth,
		.every = e->every,
		.delay_ns = e->delay_ns,
		.ppm = e->ppm,
		.seed = e->seed,
		.hold_max_ns = e->hold_max_ns,
	};
}

static void count_peers(const struct drill_hooks *h,
			const struct drill_hook_armed *a,
			struct drill_hook_seen *ret)
{
	const struct drill_hook_slot *slot = h->page->slot;
	const struct drill_hook_witness *w;

	for (int i = 0; ret->by_slot >= 0 && claimed(h, i); i++) {
		if (i == ret->by_slot || slot[i].hello != DRILL_HELLO_HERE ||
		    slot[i].attempt != slot[ret->by_slot].attempt)
			continue;
		ret->peers++;
		w = &slot[i].witness[a->entry];
		if (w->mark != a->mark || !w->entered_ns)
			continue;
		ret->entered++;
		ret->inside += w->left_ns == 0;
	}
}

int drill_hooks_read(const struct drill_hooks *h,
		     const struct drill_hook_armed *a,
		     struct drill_hook_seen *ret, struct drill_err *err)
{
	const struct drill_hook_entry *e = &h->page->entry[a->entry];
	uint32_t by = e->by_slot;

	*ret = (struct drill_hook_seen){ .by_slot = -1, .by_rank = -1 };
	ret->state = atomic_load_explicit(&e->state, memory_order_acquire);
	if (ret->state == DRILL_HOOK_FREE)
		return drill_err_set(err, -ENOENT, WHO, "entry %d is free",
				     a->entry);
	if (e->mark != a->mark)
		return drill_err_set(err, -ESTALE, WHO,
				     "entry %d is not ours any more", a->entry);
	read_order(e, &ret->order);
	ret->hits = e->hits;
	ret->waiting = e->waiting;
	ret->at_step = e->at_step;
	ret->at_call = e->at_call;
	ret->begin_ns = e->begin_ns;
	ret->end_ns = e->end_ns;
	ret->total_ns = e->total_ns;
	ret->job_ns = e->job_ns;
	if (by > 0 && by <= DRILL_HOOK_SLOTS) {
		ret->by_slot = (int)by - 1;
		ret->by_rank = h->page->slot[by - 1].rank;
	}
	count_peers(h, a, ret);
	return 0;
}

static void wake(struct drill_hook_entry *e)
{
	syscall(SYS_futex, &e->state, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

int drill_hooks_release(struct drill_hooks *h,
			const struct drill_hook_armed *a,
			struct drill_err *err)
{
	struct drill_hook_entry *e = &h->page->entry[a->entry];
	uint32_t held = DRILL_HOOK_HELD;

	if (e->mark != a->mark)
		return drill_err_set(err, -ESTALE, WHO,
				     "entry %d is not ours any more", a->entry);
	if (atomic_compare_exchange_strong(&e->state, &held,
					   DRILL_HOOK_RELEASED))
		wake(e);
	return 0;
}

int drill_hooks_disarm(struct drill_hooks *h,
		       const struct drill_hook_armed *a,
		       struct drill_err *err)
{
	struct drill_hook_entry *e;

	if (a->entry < 0 || a->entry >= DRILL_HOOK_ENTRIES)
		return drill_err_set(err, -EINVAL, WHO, "no entry %d",
				     a->entry);
	e = &h->page->entry[a->entry];
	if (e->mark != a->mark)
		return 0; /* a mark is drawn once: ours is off */
	atomic_store(&e->mark, 0);
	atomic_store(&e->state, DRILL_HOOK_FREE);
	publish_armed(h->page);
	wake(e);
	return 0;
}

int drill_hooks_peers(const struct drill_hooks *h, int slot,
		      struct drill_hook_sent *ret, int max)
{
	const struct drill_hook_peer *p = h->page->slot[slot].peer;
	int n = 0;

	for (int i = 0; i < DRILL_HOOK_PEERS && n < max; i++)
		if (p[i].peer)
			ret[n++] = (struct drill_hook_sent){
				(int)p[i].peer - 1, p[i].messages, p[i].bytes
			};
	return n;
}

int drill_hooks_calls(const struct drill_hooks *h, int slot,
		      struct drill_hook_calls *ret, int max)
{
	const struct drill_hook_count *c = h->page->slot[slot].count;
	int n = 0;

	for (int i = 1; i < DRILL_WORDS && n < max; i++)
		if (c[i].calls)
			ret[n++] = (struct drill_hook_calls){
				(enum drill_word)i, c[i].calls, c[i].bytes,
				(int64_t)((double)c[i].ticks * 1e9 /
					  (double)h->ticks_per_s)
			};
	return n;
}

void drill_hooks_waits(struct drill_hooks *h, bool on)
{
	atomic_store(&h->page->waits, on);
}

static void see_lane(const struct drill_hooks *h, int slot,
		     const struct drill_hook_lane *l,
		     struct drill_hook_wait *ret)
{
	uint64_t since = l->since_ticks;
	double ago;

	*ret = (struct drill_hook_wait){
		.slot = slot,
		.rank = h->page->slot[slot].rank,
		.tid = l->tid,
		.word = (enum drill_word)l->word,
		.where = (enum drill_hook_where)l->where,
		.call = (int64_t)l->call,
		.entry = l->entry - 1,
	};
	if (!since)
		return;
	ago = (double)(int64_t)(hook_ticks(h->ticks_per_s) - since);
	ret->since_ns = hook_raw_ns() -
			(int64_t)(ago * 1e9 / (double)h->ticks_per_s);
}

int drill_hooks_in_calls(const struct drill_hooks *h,
			 struct drill_hook_wait *ret, int max)
{
	const struct drill_hook_slot *s;
	int n = 0;

	for (int i = 0; claimed(h, i); i++) {
		s = &h->page->slot[i];
		if (s->hello != DRILL_HELLO_HERE)
			continue;
		for (int k = 0; k < DRILL_HOOK_LANES && n < max; k++)
			if (s->lane[k].word)
				see_lane(h, i, &s->lane[k], &ret[n++]);
	}
	return n;
}
