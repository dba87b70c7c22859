/* cuda_flip.c - bits that flip in device memory, in the order of a stream
 * SPDX-License-Identifier: MIT
 *
 * Windows of the memory are fetched into page-locked host memory, flipped there
 * by a host function, and put back, all in the stream of the call that was hit;
 * nobody waits. What a kernel wrote is what differs in windows that were
 * fetched before and after it. A launch does not say how much memory its
 * pointers mean, so windows lie dense behind a pointer and thinner farther on.
 */
#include "cuda_call.h"
#include "draw.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define WINDOWS 32
#define WIDTH 64
#define BUFFERS 16
#define PORTABLE 1u /* of cuMemHostAlloc */

struct window {
	uint64_t address;
	struct drill_range of;
	size_t bytes;
};

/* Two views of all windows: before and after a kernel. */
struct buffer {
	CUcontext ctx;
	_Atomic bool busy;
	uint8_t (*view)[WINDOWS][WIDTH];
};

struct drill_flip {
	unsigned int fault, number;
	uint64_t mark, random;
	uint32_t where, bits;
	struct drill_range range[DRILL_MAX_CANDIDATES];
	int ranges, windows;
	struct window window[WINDOWS];
	struct buffer *buffer; /* NULL: the bits are in host memory */
};

static struct buffer buffers[BUFFERS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static uint64_t draw(struct drill_flip *p, uint64_t below)
{
	p->random += DRILL_DRAW_STEP;
	return below ? drill_draw(p->random) % below : 0;
}

/* ---- page-locked memory ---- */

static struct buffer *free_buffer(CUcontext ctx)
{
	struct buffer *empty = NULL;

	for (int i = 0; i < BUFFERS; i++) {
		if (!buffers[i].view && !empty)
			empty = &buffers[i];
		if (buffers[i].view && buffers[i].ctx == ctx &&
		    !atomic_load(&buffers[i].busy))
			return &buffers[i];
	}
	return empty;
}

/* Not made while anything is captured. It goes with its context. */
static struct buffer *take_buffer(const struct drill_call *c)
{
	CUcontext ctx = drill_context_of(c);
	struct buffer *b;
	void *p = NULL;

	pthread_mutex_lock(&lock);
	b = free_buffer(ctx);
	if (b && !b->view &&
	    (drill_anything_captures() ||
	     drill_next(cuMemHostAlloc)(&p, 2 * sizeof(b->view[0]), PORTABLE)))
		b = NULL;
	if (b && !b->view) {
		b->view = p;
		b->ctx = ctx;
	}
	if (b)
		atomic_store(&b->busy, true);
	pthread_mutex_unlock(&lock);
	return b;
}

void drill_flip_forget(CUcontext ctx)
{
	pthread_mutex_lock(&lock);
	for (int i = 0; i < BUFFERS; i++)
		if (buffers[i].ctx == ctx) {
			buffers[i].view = NULL;
			buffers[i].ctx = NULL;
			atomic_store(&buffers[i].busy, false);
		}
	pthread_mutex_unlock(&lock);
}

static void drop(struct drill_flip *p)
{
	if (p->buffer)
		atomic_store(&p->buffer->busy, false);
	free(p);
}

/* ---- choosing ---- */

static void add_window(struct drill_flip *p, const struct drill_range *of,
		       uint64_t offset)
{
	uint64_t from = of->base + offset / WIDTH * WIDTH;
	struct window *w = &p->window[p->windows];

	if (p->windows == WINDOWS)
		return;
	for (int i = 0; i < p->windows; i++)
		if (p->window[i].address == from)
			return;
	w->address = from;
	w->of = *of;
	w->bytes = of->base + of->size - from;
	w->bytes = w->bytes < WIDTH ? w->bytes : WIDTH;
	p->windows++;
}

/* One anywhere for each bit. */
static void choose_anywhere(struct drill_flip *p)
{
	const struct drill_range *r =
		&p->range[draw(p, (uint64_t)p->ranges)];

	for (uint32_t i = 0; i < 4 * p->bits && p->windows < (int)p->bits; i++)
		add_window(p, r, draw(p, r->size));
}

/* All ranges in turn, each power of two behind the pointer as likely. */
static void choose_behind_pointers(struct drill_flip *p)
{
	const struct drill_range *r;
	uint64_t left, reach;

	for (int i = 0; i < 4 * WINDOWS && p->windows < WINDOWS; i++) {
		r = &p->range[i % p->ranges];
		left = r->base + r->size - r->at;
		reach = UINT64_C(64) << draw(p, 40);
		reach = i < p->ranges ? 1 : reach < left ? reach : left;
		add_window(p, r, r->at - r->base + draw(p, reach));
	}
}

/* ---- flipping, in host functions ---- */

static void record(struct drill_flip *p, const struct window *w, uint64_t byte,
		   unsigned int bit)
{
	struct drill_device_fault *f = drill_fault(p->fault);
	uint32_t i;

	if (!drill_fault_lasts(p->fault, p->mark))
		return;
	i = atomic_load(&f->sites);
	if (i >= DRILL_DEVICE_SITES)
		return;
	f->site[i].address = w->of.base;
	f->site[i].size = w->of.size;
	f->site[i].bit = 8 * (w->address - w->of.base + byte) + bit;
	f->site[i].t_ns = hook_raw_ns();
	atomic_store_explicit(&f->sites, i + 1, memory_order_release);
}

static void flip(struct drill_flip *p, const struct window *w, uint8_t *view,
		 uint64_t byte)
{
	unsigned int bit = (unsigned int)draw(p, 8);

	view[byte] ^= (uint8_t)(1u << bit);
	pthread_mutex_lock(&lock);
	record(p, w, byte, bit);
	pthread_mutex_unlock(&lock);
	drill_cuda_surfaces(p->fault, p->number);
}

static void flip_each(void *data)
{
	struct drill_flip *p = data;
	uint8_t *view;

	for (int i = 0; i < p->windows; i++) {
		view = p->buffer ? p->buffer->view[1][i] :
			(uint8_t *)(uintptr_t)p->window[i].address;
		flip(p, &p->window[i], view, draw(p, p->window[i].bytes));
	}
}

/* The @n-th byte that the kernel changed; without @n: how many. */
static int changed(const struct drill_flip *p, int n, int *window)
{
	int seen = 0;

	for (int i = 0; i < p->windows; i++)
		for (size_t k = 0; k < p->window[i].bytes; k++)
			if (p->buffer->view[0][i][k] !=
				    p->buffer->view[1][i][k] && seen++ == n) {
				*window = i;
				return (int)k;
			}
	return seen;
}

/* A byte is flipped once: a second time might take it back. */
static void flip_changed(void *data)
{
	struct drill_flip *p = data;
	int window, n, byte, all;

	for (uint32_t i = 0; i < p->bits; i++) {
		all = changed(p, -1, &window);
		if (!all && !i) {
			window = 0; /* it wrote what was there */
			byte = (int)draw(p, p->window[0].bytes);
		} else if (all) {
			n = (int)draw(p, (uint64_t)all);
			byte = changed(p, n, &window);
		} else {
			break;
		}
		flip(p, &p->window[window], p->buffer->view[1][window],
		     (uint64_t)byte);
		p->buffer->view[0][window][byte] =
			p->buffer->view[1][window][byte];
	}
}

static void finish(void *data)
{
	drop(data);
}

/* ---- in the stream ---- */

static bool fetch(const struct drill_call *c, const struct drill_flip *p,
		  int view)
{
	for (int i = 0; i < p->windows; i++)
		if (drill_next(cuMemcpyDtoHAsync_v2)(
			    p->buffer->view[view][i], p->window[i].address,
			    p->window[i].bytes, c->stream))
			return false;
	return true;
}

static void put_back(const struct drill_call *c, const struct drill_flip *p)
{
	for (int i = 0; i < p->windows; i++)
		drill_next(cuMemcpyHtoDAsync_v2)(
			p->window[i].address, p->buffer->view[1][i],
			p->window[i].bytes, c->stream);
}

static void fetch_flip_put(const struct drill_call *c, struct drill_flip *p,
			   CUhostFn fn)
{
	if (fetch(c, p, 1) && !drill_enqueue(c, fn, p))
		put_back(c, p);
	if (drill_enqueue(c, finish, p))
		drop(p);
}

/* Host memory needs no fetching. */
static void flip_in_host(const struct drill_call *c, struct drill_flip *p)
{
	if (!c->blocks && !drill_enqueue(c, flip_each, p)) {
		if (drill_enqueue(c, finish, p))
			drop(p);
		return;
	}
	if (c->blocks)
		flip_each(p);
	drop(p);
}

/* ---- a call's way ---- */

static int find_ranges(const struct drill_call *c, struct drill_flip *p)
{
	struct drill_range *r = &p->range[0];

	if (drill_kind_of(c->number) == DRILL_KIND_LAUNCH)
		return drill_kernel_memory(c, p->range);
	if (!c->dst || !c->bytes)
		return 0;
	*r = (struct drill_range){ c->dst, c->dst, c->bytes };
	return 1;
}

bool drill_flip_can(struct drill_call *c, unsigned int fault)
{
	struct drill_device_fault *f = drill_fault(fault);
	struct drill_flip *p;

	if (c->flip)
		return false;
	p = calloc(1, sizeof(*p));
	if (!p)
		return false;
	p->fault = fault;
	p->number = c->number;
	p->mark = atomic_load(&f->mark);
	p->where = f->flip_where;
	p->bits = f->bits ? f->bits : 1;
	p->bits = p->bits < DRILL_DEVICE_SITES ? p->bits : DRILL_DEVICE_SITES;
	p->ranges = find_ranges(c, p);
	if (p->ranges && !c->to_host)
		p->buffer = take_buffer(c);
	if (!p->ranges || (!c->to_host && !p->buffer)) {
		if (p->ranges && drill_anything_captures())
			atomic_fetch_add(&f->skipped_capture, 1);
		drop(p);
		return false;
	}
	c->flip = p;
	return true;
}

void drill_flip_cannot(struct drill_call *c)
{
	drop(c->flip);
	c->flip = NULL;
}

void drill_flip_begin(struct drill_call *c, unsigned int fault)
{
	struct drill_device_fault *f = drill_fault(fault);
	struct drill_flip *p = c->flip;

	p->random = (uint64_t)f->seed << 32 ^ atomic_load(&f->hits);
	if (p->where != DRILL_FLIP_OUTPUT || c->to_host)
		choose_anywhere(p);
	else
		choose_behind_pointers(p);
	if (p->where == DRILL_FLIP_MEMORY &&
	    drill_kind_of(c->number) == DRILL_KIND_LAUNCH) {
		c->flip = NULL;
		fetch_flip_put(c, p, flip_each);
	} else if (p->where == DRILL_FLIP_OUTPUT && p->buffer) {
		fetch(c, p, 0);
	}
}

void drill_flip_end(struct drill_call *c)
{
	struct drill_flip *p = c->flip;

	if (!p)
		return;
	c->flip = NULL;
	if (c->result) {
		if (drill_enqueue(c, finish, p))
			drop(p);
	} else if (c->to_host) {
		flip_in_host(c, p);
	} else {
		fetch_flip_put(c, p, p->where == DRILL_FLIP_OUTPUT ?
					     flip_changed : flip_each);
	}
}

void drill_flips_start(void)
{
	pthread_mutex_init(&lock, NULL);
	for (int i = 0; i < BUFFERS; i++)
		buffers[i].view = NULL;
}
