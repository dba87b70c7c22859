/* cuda_proxy.c - starts the CUDA proxy at the first call, says hello and bye
 * SPDX-License-Identifier: MIT
 *
 * At the first call and not at load: a preloaded proxy is in every shell and
 * every launcher, which have no use for a driver nor for a place on the page.
 */
#include "cuda_parts.h"
#include "device_load.h"
#include "hook_ticks.h"
#include "old_libc.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "build_id.h"

struct drill_cuda drill_cuda = { .index = -1, .rank = -1 };

struct drill_cuda_mark drill_cuda_my_mark = {
	.size = sizeof(struct drill_cuda_mark),
	.build = DRILL_BUILD_ID,
};
extern struct drill_cuda_mark faultdrill_cuda_proxy
	__attribute__((alias("drill_cuda_my_mark"), visibility("default")));

/* Before the start and in a child all is hot, while passive nothing is. */
static const uint8_t all_hot[DRILL_DEVICE_CALLS] = {
	[0 ... DRILL_DEVICE_CALLS - 1] = 1
};
static const uint8_t none_hot[DRILL_DEVICE_CALLS];
const uint8_t *_Atomic drill_cuda_hot = all_hot;

atomic_int drill_cuda_state;
static atomic_bool saw_init;
static int holds = -1; /* our record of the page */
static pthread_mutex_t starting = PTHREAD_MUTEX_INITIALIZER;
static __thread bool in_start;

/* Lanes of a process; who ends gives its lane to the next. */
__thread struct drill_device_lane *drill_cuda_lane;
static struct drill_device_lane passive_lane[DRILL_DEVICE_LANES];
static _Atomic uint32_t lanes_taken;
static atomic_bool some_thread;
static pthread_key_t lane_key;
static atomic_bool lane_key_made;

void drill_cuda_complain(const char *what, const char *why)
{
	fprintf(stderr, "faultdrill: CUDA proxy: '%s' %s\n", what, why);
}

static void say_passive(const char *what, const char *why)
{
	fprintf(stderr,
		"faultdrill: the CUDA proxy stays passive: '%s' %s\n", what,
		why);
}

static void copy(char *to, const char *from, size_t size)
{
	snprintf(to, size, "%s", from ? from : "");
}

static int claim_client(struct drill_device_page *p)
{
	uint32_t nobody;

	for (int i = 0; i < DRILL_DEVICE_CLIENTS; i++) {
		nobody = 0;
		if (atomic_compare_exchange_strong(&p->client[i].claimed,
						   &nobody, 1))
			return i;
	}
	atomic_fetch_add(&p->refused, 1);
	return -1;
}

static void say_hello(const char *next)
{
	struct drill_device_client *c = drill_cuda.client;
	const char *audit = getenv("LD_AUDIT");

	c->pid = drill_cuda.pid;
	c->rank = drill_cuda.rank;
	c->attempt = drill_cuda.attempt;
	c->proxies = DRILL_PROXY_CUDA;
	c->hello_ns = hook_raw_ns();
	copy(c->build, DRILL_BUILD_ID, sizeof(c->build));
	copy(c->program, drill_cuda.comm, sizeof(c->program));
	copy(c->next, next, sizeof(c->next));
	atomic_store(&c->audited, audit && strstr(audit, "cuda_audit.so"));
	atomic_store(&c->bypassed, drill_cuda_strangers());
	atomic_store_explicit(&c->hello, DRILL_HELLO_HERE,
			      memory_order_release);
}

static void know_process(void)
{
	drill_cuda.pid = getpid();
	drill_cuda.rank = drill_env_rank();
	drill_cuda.attempt = drill_env_attempt();
	copy(drill_cuda.comm, program_invocation_short_name,
	     sizeof(drill_cuda.comm));
}

/* The page, unless this copy has no business with it. */
static struct drill_device_page *find_page(void)
{
	const char *path = getenv("FAULTDRILL_DEVICES"), *why;
	const struct drill_cuda_mark *other;
	struct drill_device_page *p;

	if (drill_cuda.page)
		return drill_cuda.page; /* of the parent: the same host */
	p = drill_device_map(path, &why);
	if (!p) {
		if (*why)
			say_passive(path, why);
		else if (path && *path)
			say_passive(path, "is not there");
		return NULL;
	}
	other = drill_cuda_other_copy();
	if (other) {
		say_passive(DRILL_BUILD_ID,
			    memcmp(other->build, drill_cuda_my_mark.build,
				   sizeof(other->build)) ?
				    "is the second version of it here" :
				    "is loaded here twice");
		return NULL;
	}
	return p;
}

static void before_fork(void)
{
	pthread_mutex_lock(&starting);
}

static void in_parent(void)
{
	struct drill_device_client *c = drill_cuda.client;

	pthread_mutex_unlock(&starting);
	if (c && atomic_load(&saw_init))
		atomic_fetch_add(&c->forked, 1);
}

/* A child is not its parent: it does not speak in its name. After cuInit the
 * driver is of no use to it; before, it is a process like another, that says
 * its own hello at its first call. */
static void in_child(void)
{
	pthread_mutex_unlock(&starting);
	drill_device_let_go(holds);
	holds = -1;
	drill_cuda.client = NULL;
	drill_cuda.index = -1;
	drill_cuda_lane = NULL;
	atomic_store(&lanes_taken, 0);
	atomic_store(&drill_cuda_hot, all_hot);
	atomic_store(&some_thread, false);
	atomic_store(&drill_cuda_state, atomic_load(&saw_init) ?
			     DRILL_CUDA_ORPHAN : DRILL_CUDA_NOT_STARTED);
	drill_effect_child();
}

/* False: no place on the page. */
static bool join(struct drill_device_page *p, const char *next)
{
	int index = claim_client(p);

	if (index < 0) {
		say_passive(getenv("FAULTDRILL_DEVICES"),
			    "has no room for another process");
		return false;
	}
	drill_cuda.page = p;
	drill_cuda.index = index;
	drill_cuda.client = &p->client[index];
	holds = drill_device_hold(index);
	say_hello(next);
	return true;
}

static void start(void)
{
	static bool forks;
	const char *next;
	struct drill_device_page *p;
	const uint8_t *hot = none_hot;

	know_process();
	drill_cuda_first_thread();
	next = drill_cuda_next_open();
	p = find_page();
	if (p && join(p, next)) {
		hot = (const uint8_t *)p->hot;
		if (!forks)
			forks = !pthread_atfork(before_fork, in_parent,
						in_child);
		drill_effect_start();
	}
	atomic_store(&drill_cuda_my_mark.started, hot != none_hot);
	atomic_store_explicit(&drill_cuda_hot, hot, memory_order_release);
	atomic_store(&drill_cuda_state, DRILL_CUDA_STARTED);
}

void drill_cuda_start(void)
{
	/* The next library may call us while it is opened. */
	if (atomic_load(&drill_cuda_state) != DRILL_CUDA_NOT_STARTED || in_start)
		return;
	in_start = true;
	pthread_mutex_lock(&starting);
	if (atomic_load(&drill_cuda_state) == DRILL_CUDA_NOT_STARTED)
		start();
	pthread_mutex_unlock(&starting);
	in_start = false;
}

void drill_cuda_saw_init(void)
{
	atomic_store_explicit(&saw_init, true, memory_order_relaxed);
}

void drill_cuda_look_around(void)
{
	struct drill_device_client *c = drill_cuda.client;

	if (c)
		atomic_store(&c->bypassed, drill_cuda_strangers());
}

static void give_lane_back(void *lane)
{
	struct drill_device_lane *first = drill_cuda.client ?
		drill_cuda.client->lane : passive_lane;
	ptrdiff_t i = (struct drill_device_lane *)lane - first;

	drill_cuda_lane = NULL;
	/* The last one is for all who found no other. */
	if (i >= 0 && i < DRILL_DEVICE_LANES - 1)
		atomic_fetch_and(&lanes_taken, ~(1u << i));
}

static unsigned int free_lane(void)
{
	uint32_t taken = atomic_load(&lanes_taken);
	int i;

	for (;;) {
		i = __builtin_ffs((int)~taken);
		if (!i || i >= DRILL_DEVICE_LANES)
			return DRILL_DEVICE_LANES - 1;
		if (atomic_compare_exchange_weak(&lanes_taken, &taken,
						 taken | 1u << (i - 1)))
			return (unsigned int)i - 1;
	}
}

struct drill_device_lane *drill_cuda_lane_of_thread(void)
{
	struct drill_device_lane *first = drill_cuda.client ?
		drill_cuda.client->lane : passive_lane;

	if (!drill_cuda_lane &&
	    atomic_load(&drill_cuda_state) == DRILL_CUDA_STARTED) {
		if (atomic_exchange(&some_thread, true))
			drill_cuda_next_thread();
		drill_cuda_lane = first + free_lane();
		if (atomic_load(&lane_key_made))
			pthread_setspecific(lane_key, drill_cuda_lane);
	}
	return drill_cuda_lane;
}

__attribute__((constructor)) static void loaded(void)
{
	atomic_store(&lane_key_made,
		     !pthread_key_create(&lane_key, give_lane_back));
}

/* A process that went around the proxy says so when it ends. */
static void confess(void)
{
	struct drill_device_page *p;
	const char *why;

	if (!drill_cuda_strangers())
		return;
	p = drill_device_map(getenv("FAULTDRILL_DEVICES"), &why);
	if (!p)
		return;
	know_process();
	join(p, "");
}

__attribute__((destructor)) static void unloaded(void)
{
	if (atomic_load(&drill_cuda_state) == DRILL_CUDA_NOT_STARTED &&
	    !drill_cuda.page)
		confess();
	if (!drill_cuda.client)
		return;
	drill_cuda_look_around();
	atomic_store_explicit(&drill_cuda.client->hello, DRILL_HELLO_BYE,
			      memory_order_release);
}
