/* device_step.c - fires faults and does their steps on a host's device page
 * SPDX-License-Identifier: MIT
 */
#include "device_step.h"
#include "hook_ticks.h"
#include "xid_line.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>


_Static_assert(sizeof(struct drill_device) % 8 == 0, "copied by words");

/* Devices are read while they are written: word by word, so that no compiler
 * and no checker of races has to guess what that means. */
typedef uint64_t __attribute__((may_alias)) word;
#define WORDS (sizeof(struct drill_device) / 8)

static void futex_wait(_Atomic uint32_t *f, uint32_t seen, int64_t ns)
{
	struct timespec t = { ns / 1000000000, ns % 1000000000 };

	syscall(SYS_futex, f, FUTEX_WAIT, seen, &t, NULL, 0);
}

/* What a dead holder left half written. */
static void mend(struct drill_device_page *p)
{
	for (int i = 0; i < DRILL_DEVICES; i++)
		if (atomic_load(&p->device[i].seq) & 1)
			atomic_fetch_add(&p->device[i].seq, 1);
}

/* Whether a holder lives cannot be asked: it may be of another PID namespace,
 * where its tid means somebody else. What is done under the lock takes
 * microseconds; whoever holds it for half a second is dead or stopped. */
void drill_device_lock(struct drill_device_page *p)
{
	uint32_t me = (uint32_t)syscall(SYS_gettid), seen, last = 0;
	int64_t now, since = 0;
	int e = errno;

	for (;;) {
		seen = 0;
		if (atomic_compare_exchange_strong(&p->lock, &seen, me))
			break;
		now = hook_raw_ns();
		if (seen != last) {
			last = seen;
			since = now;
		}
		if (now - since >= DRILL_DEVICE_LOCK_NS &&
		    atomic_compare_exchange_strong(&p->lock, &seen, me)) {
			mend(p);
			break;
		}
		futex_wait(&p->lock, seen, DRILL_DEVICE_LOCK_NS / 10);
	}
	errno = e;
}

void drill_device_unlock(struct drill_device_page *p)
{
	uint32_t me = (uint32_t)syscall(SYS_gettid);
	int e = errno;

	/* Not when it was taken over. */
	if (atomic_compare_exchange_strong(&p->lock, &me, 0))
		syscall(SYS_futex, &p->lock, FUTEX_WAKE, INT_MAX, NULL, NULL,
			0);
	errno = e;
}

static void copy_device(const struct drill_device *d, struct drill_device *ret)
{
	const word *from = (const word *)d;

	for (size_t i = 0; i < WORDS; i++)
		((word *)ret)[i] = __atomic_load_n(from + i, __ATOMIC_RELAXED);
}

void drill_device_read(const struct drill_device_page *p, unsigned int device,
		       struct drill_device *ret)
{
	const struct drill_device *d;
	uint32_t seq;

	memset(ret, 0, sizeof(*ret));
	if (device >= DRILL_DEVICES)
		return;
	d = &p->device[device];
	for (int tries = 0; tries < 10000; tries++) {
		seq = atomic_load_explicit(&d->seq, memory_order_acquire);
		copy_device(d, ret);
		atomic_thread_fence(memory_order_acquire);
		if (!(seq & 1) && seq == atomic_load_explicit(
						 &d->seq, memory_order_relaxed))
			break;
	}
	ret->name[sizeof(ret->name) - 1] = '\0';
	ret->serial[sizeof(ret->serial) - 1] = '\0';
}

/* Writes the words that differ: what proxies add to without the lock stays. */
static void publish(struct drill_device *d, const struct drill_device *was,
		    const struct drill_device *now)
{
	const word *a = (const word *)was, *b = (const word *)now;
	uint32_t seq = atomic_load(&d->seq) | 1;

	/* The word that holds seq is written as seq and its neighbour. */
	atomic_store_explicit(&d->seq, seq, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	atomic_store_explicit(&d->health, now->health, memory_order_relaxed);
	for (size_t i = 1; i < WORDS; i++)
		if (a[i] != b[i])
			__atomic_store_n((word *)d + i, b[i], __ATOMIC_RELAXED);
	atomic_store_explicit(&d->seq, seq + 1, memory_order_release);
}

_Static_assert(offsetof(struct drill_device, health) == 4, "word of seq");

static bool is_unwell(const struct drill_device *d)
{
	return d->health > DRILL_DEVICE_OK || d->context_error ||
	       d->running_error || d->recovery_action || d->no_peer ||
	       d->clock_reasons || d->retired_pending ||
	       d->remapped_pending || d->links_down || d->nvml_block_ms ||
	       d->nvml_health || d->memory_full;
}

static void look_over(struct drill_device_page *p)
{
	struct drill_device d;
	uint32_t unwell = 0;

	for (unsigned int i = 0; i < DRILL_DEVICES && !unwell; i++) {
		copy_device(&p->device[i], &d);
		unwell = is_unwell(&d);
	}
	atomic_store(&p->unwell, unwell);
}

void drill_device_sicken(struct drill_device_page *p)
{
	word *hot = (word *)p->hot, sick = ~UINT64_C(0) / 255 * DRILL_HOT_SICK;

	for (size_t i = 0; i < sizeof(p->hot) / 8; i++)
		if ((__atomic_load_n(hot + i, __ATOMIC_RELAXED) & sick) != sick)
			__atomic_fetch_or(hot + i, sick, __ATOMIC_RELAXED);
}

static void append(struct drill_device_page *p, unsigned int device,
		   uint32_t xid, uint32_t events, int pid, const char *text)
{
	uint64_t n = atomic_load(&p->lines);
	struct drill_device_line *l = &p->line[n % DRILL_DEVICE_LINES];
	const struct drill_device *d = &p->device[device];

	/* A reader that sees the number unchanged has read one line whole. */
	atomic_store(&l->seq, 0);
	atomic_thread_fence(memory_order_release);
	l->t_ns = hook_raw_ns();
	l->device = device;
	l->xid = xid;
	l->events = events;
	l->pid = (uint32_t)pid;
	if (xid)
		drill_xid_line(l->text, sizeof(l->text),
			       (struct drill_xid_place){ d->domain, d->bus,
							 d->dev },
			       xid, text);
	else
		snprintf(l->text, sizeof(l->text), "%s", text);
	atomic_store_explicit(&l->seq, n + 1, memory_order_release);
	atomic_store_explicit(&p->lines, n + 1, memory_order_release);
	/* Whoever waits for a line waits on the low half of their number. */
	syscall(SYS_futex, &p->lines, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void drill_device_say(struct drill_device_page *p, unsigned int device,
		      uint32_t xid, uint32_t events, int pid, const char *text)
{
	if (device >= DRILL_DEVICES)
		return;
	drill_device_lock(p);
	append(p, device, xid, events, pid, text);
	drill_device_unlock(p);
}

static void step_counters(struct drill_device *d,
			  const struct drill_device_step *s)
{
	d->ecc_volatile[0] += s->ecc_corrected;
	d->ecc_aggregate[0] += s->ecc_corrected;
	d->ecc_volatile[1] += s->ecc_uncorrected;
	d->ecc_aggregate[1] += s->ecc_uncorrected;
	d->remapped_cor += s->remap_cor;
	d->remapped_unc += s->remap_unc;
	d->retired_dbe += s->retire_dbe;
	if (s->pending_1 && s->retire_dbe)
		d->retired_pending = s->pending_1 - 1;
	else if (s->pending_1)
		d->remapped_pending = s->pending_1 - 1;
	if (s->failure_1)
		d->remapped_failure = s->failure_1 - 1;
}

static void step_links(struct drill_device *d,
		       const struct drill_device_step *s)
{
	for (int i = 0; i < DRILL_NVLINKS; i++) {
		/* Without a link named they count on all that are active. */
		if (!(1ull << i & (s->links_down ? s->links_down :
						   d->link_mask)))
			continue;
		d->link[i].crc += s->link_crc;
		d->link[i].replay += s->link_replay;
		d->link[i].recovery += s->link_recovery;
	}
	d->link_mask &= ~s->links_down;
	d->links_down |= s->links_down;
}

static void step_state(struct drill_device *d,
		       const struct drill_device_step *s)
{
	if (s->health && s->health <= DRILL_DEVICE_GONE)
		d->health = s->health;
	if (s->context_error)
		d->context_error = s->context_error;
	if (s->running_error)
		d->running_error = s->running_error;
	if (s->recovery_action_1)
		d->recovery_action = s->recovery_action_1 - 1;
	if (s->clock_mhz)
		d->sm_mhz = s->clock_mhz;
	d->clock_reasons |= s->clock_reasons;
	if (s->nvml_block_ms)
		d->nvml_block_ms = s->nvml_block_ms;
	if (s->nvml_health <= DRILL_DEVICE_GONE && s->nvml_health)
		d->nvml_health = s->nvml_health;
	if (s->memory_full_1)
		d->memory_full = s->memory_full_1 - 1;
	if (s->no_peer_1)
		d->no_peer = s->no_peer_1 - 1;
}

static void change(struct drill_device *d, const struct drill_device_step *s)
{
	step_state(d, s);
	step_counters(d, s);
	step_links(d, s);
}

static void do_step(struct drill_device_page *p, struct drill_device_fault *f,
		    const struct drill_device_step *s)
{
	struct drill_device was, now;
	char text[sizeof(((struct drill_device_line *)0)->text)];
	char name[sizeof(f->by_name) + 1] = "";

	if (s->device >= DRILL_DEVICES)
		return;
	copy_device(&p->device[s->device], &was);
	now = was;
	change(&now, s);
	publish(&p->device[s->device], &was, &now);
	look_over(p);
	if (s->context_error || s->running_error ||
	    s->health > DRILL_DEVICE_OK)
		drill_device_sicken(p);
	if (!s->xid && !s->events)
		return;
	memcpy(name, f->by_name, sizeof(f->by_name));
	drill_xid_text(text, sizeof(text), s->text, sizeof(s->text),
		       atomic_load(&f->by_pid), name);
	append(p, s->device, s->xid, s->events, atomic_load(&f->by_pid),
	       s->xid ? text : "");
}

static int64_t due_steps(struct drill_device_page *p,
			 struct drill_device_fault *f, int64_t now)
{
	uint32_t steps = f->steps < DRILL_DEVICE_STEPS ? f->steps :
							 DRILL_DEVICE_STEPS;
	uint32_t done;
	int64_t due;

	while ((done = atomic_load(&f->steps_done)) < steps) {
		due = f->step[done].delay_ns;
		if (due > 0 && __builtin_add_overflow(
				       due, atomic_load(&f->last_step_ns),
				       &due))
			return INT64_MAX;
		if (due > now)
			return due;
		do_step(p, f, &f->step[done]);
		atomic_store(&f->last_step_ns, now);
		atomic_store(&f->steps_done, done + 1);
	}
	return 0;
}

int64_t drill_device_steps(struct drill_device_page *p, unsigned int fault,
			   int64_t now)
{
	struct drill_device_fault *f;
	int64_t next = 0;

	if (fault >= DRILL_DEVICE_FAULTS)
		return 0;
	f = &p->fault[fault];
	drill_device_lock(p);
	/* fired_ns is written last by whoever fired: before that the chain has
	 * not begun. */
	if (atomic_load(&f->state) == DRILL_DEVICE_FIRED &&
	    atomic_load(&f->fired_ns))
		next = due_steps(p, f, now);
	drill_device_unlock(p);
	return next;
}

static bool makes_sick(const struct drill_device_fault *f)
{
	return f->action == DRILL_DEVICE_STICKY ||
	       f->action == DRILL_DEVICE_HANG;
}

bool drill_device_fire(struct drill_device_page *p, unsigned int fault,
		       int pid, const char *comm)
{
	uint32_t armed = DRILL_DEVICE_ARMED;
	struct drill_device_fault *f;
	int64_t now;

	if (fault >= DRILL_DEVICE_FAULTS)
		return false;
	f = &p->fault[fault];
	if (!atomic_compare_exchange_strong(&f->state, &armed,
					    DRILL_DEVICE_FIRED))
		return false;
	now = hook_raw_ns();
	drill_device_lock(p);
	atomic_store(&f->by_pid, pid);
	memset(f->by_name, 0, sizeof(f->by_name));
	memcpy(f->by_name, comm ? comm : "",
	       comm ? strnlen(comm, sizeof(f->by_name) - 1) : 0);
	atomic_store(&f->last_step_ns, now);
	atomic_store(&f->fired_ns, now);
	if (makes_sick(f))
		drill_device_sicken(p);
	due_steps(p, f, now);
	drill_device_unlock(p);
	drill_device_wake();
	return true;
}

static void renew(struct drill_device *d)
{
	if (d->health == DRILL_DEVICE_LOST ||
	    d->health == DRILL_DEVICE_RESET_REQUIRED)
		d->health = DRILL_DEVICE_OK;
	d->context_error = d->running_error = 0;
	d->recovery_action = d->no_peer = 0;
	memset(d->ecc_volatile, 0, sizeof(d->ecc_volatile));
	d->retired_pending = d->remapped_pending = 0;
	d->sm_mhz = d->sm_max_mhz;
	d->mem_mhz = d->mem_max_mhz;
	d->clock_reasons = 0;
	d->links_down = 0;
	d->nvml_block_ms = d->nvml_health = d->memory_full = 0;
	for (int i = 0; i < DRILL_NVLINKS; i++) {
		if (d->link[i].peer)
			d->link_mask |= 1ull << i;
		d->link[i].crc = d->link[i].replay = d->link[i].recovery = 0;
	}
	d->generation++;
}

static void forget_wear(struct drill_device *d)
{
	if (d->health == DRILL_DEVICE_GONE)
		d->health = DRILL_DEVICE_OK;
	memset(d->ecc_aggregate, 0, sizeof(d->ecc_aggregate));
	d->retired_sbe = d->retired_dbe = 0;
	d->remapped_cor = d->remapped_unc = d->remapped_failure = 0;
}

static void make_new(struct drill_device_page *p, unsigned int device,
		     bool other)
{
	struct drill_device was, now;

	if (device >= DRILL_DEVICES ||
	    atomic_load(&p->device[device].health) == DRILL_DEVICE_UNUSED)
		return;
	drill_device_lock(p);
	copy_device(&p->device[device], &was);
	now = was;
	renew(&now);
	if (other)
		forget_wear(&now);
	publish(&p->device[device], &was, &now);
	look_over(p);
	drill_device_unlock(p);
	drill_device_wake(); /* the agent: what was wrong there is over */
}

/* What the other faults that have fired did to this device, once more. */
static void do_again(const struct drill_device_page *p, unsigned int fault,
		     unsigned int device, struct drill_device *d)
{
	const struct drill_device_fault *f;
	uint32_t done;

	for (unsigned int i = 0; i < DRILL_DEVICE_FAULTS; i++) {
		f = &p->fault[i];
		done = atomic_load(&f->steps_done);
		if (i == fault ||
		    atomic_load(&f->state) != DRILL_DEVICE_FIRED)
			continue;
		for (uint32_t k = 0; k < done && k < DRILL_DEVICE_STEPS; k++)
			if (f->step[k].device == device)
				change(d, &f->step[k]);
	}
}

static void restore(struct drill_device_page *p, unsigned int fault,
		    unsigned int device)
{
	struct drill_device was, now;

	copy_device(&p->device[device], &was);
	if (was.health == DRILL_DEVICE_UNUSED)
		return;
	now = was;
	renew(&now);
	forget_wear(&now);
	now.generation = was.generation;
	do_again(p, fault, device, &now);
	publish(&p->device[device], &was, &now);
}

void drill_device_restore(struct drill_device_page *p, unsigned int fault)
{
	const struct drill_device_fault *f;

	f = &p->fault[fault % DRILL_DEVICE_FAULTS];
	drill_device_lock(p);
	for (uint32_t i = 0; i < f->steps && i < DRILL_DEVICE_STEPS; i++)
		restore(p, fault, f->step[i].device % DRILL_DEVICES);
	look_over(p);
	drill_device_unlock(p);
}

void drill_device_reset(struct drill_device_page *p, unsigned int device)
{
	make_new(p, device, false);
}

void drill_device_replace(struct drill_device_page *p, unsigned int device)
{
	make_new(p, device, true);
}

int drill_device_by_uuid(const struct drill_device_page *p,
			 const uint8_t uuid[16])
{
	for (int i = 0; i < DRILL_DEVICES; i++)
		if (atomic_load(&p->device[i].health) != DRILL_DEVICE_UNUSED &&
		    !memcmp(p->device[i].uuid, uuid, 16))
			return i;
	return -1;
}

static uint64_t sum_lanes(const struct drill_device_lane *l, bool launches)
{
	uint64_t sum = 0;

	for (int i = 0; i < DRILL_DEVICE_LANES; i++)
		sum += atomic_load(launches ? &l[i].launches : &l[i].calls);
	return sum;
}

uint64_t drill_device_calls(const struct drill_device_client *c)
{
	return sum_lanes(c->lane, false);
}

uint64_t drill_device_launches(const struct drill_device_client *c)
{
	return sum_lanes(c->lane, true);
}
