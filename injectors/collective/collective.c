/* collective.c - arms, finds and takes off one entry of a hook page
 * SPDX-License-Identifier: MIT
 */
#include "collective.h"

#include "harness/agent/process.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

static const char who[] = "collective";

/* A rank in its host's PID namespace calls itself by another number: the last
 * one of NSpid. 0: gone. */
static int own_pid(pid_t pid)
{
	char path[64], line[256], *last = NULL;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	while (!last && fgets(line, sizeof(line), f))
		if (!strncmp(line, "NSpid:", 6))
			last = strrchr(line, '\t');
	fclose(f);
	return last ? atoi(last + 1) : 0;
}

/* The parent of a process in our own PID namespace, 0 when it is not there. */
static pid_t parent_of(pid_t pid)
{
	char path[64], text[512], *end;
	pid_t ret = 0;
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	n = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[n] = '\0';
	end = strrchr(text, ')'); /* behind the name, which may hold anything */
	return end && sscanf(end, ") %*c %d", &ret) == 1 ? ret : 0;
}

/* A command may start its ranks itself, as mpirun does: then the rank that says
 * hello is a descendant of the process that we were given. */
static bool descends(pid_t pid, pid_t from)
{
	int i;

	for (i = 0; i < 16 && pid > 1 && pid != from; i++)
		pid = parent_of(pid);
	return pid == from;
}

/* The slot of the target's process, and that it is the process we mean. */
static int find_slot(const struct drill_act *act, const struct drill_hooks *h,
		     struct drill_err *err)
{
	pid_t pid = act->target->process.pid;
	int slot = drill_hooks_slot(h, act->target->rank, err), own;

	if (slot < 0 || pid <= 0)
		return slot;
	own = own_pid(pid);
	if (own != h->page->slot[slot].pid &&
	    (own != pid || !descends(h->page->slot[slot].pid, pid)))
		return drill_err_set(err, -ESRCH, who,
				     "the hook of '%s' speaks for process %d, "
				     "the rank is %d", act->target->name,
				     h->page->slot[slot].pid, own);
	return slot;
}

int drill_collective_probe(const struct drill_act *act, const char *op,
			   struct drill_err *err)
{
	struct drill_hooks h;
	enum drill_word word;
	int r = drill_word_parse(op, &word, err);

	/* Before the trial there is neither page nor rank: nothing says no. */
	if (r || !act->target->hooks[0])
		return r;
	r = drill_hooks_open(&h, act->target->hooks, err);
	if (r)
		return r;
	if (act->target->process.pid > 0)
		r = find_slot(act, &h, err);
	drill_hooks_close(&h);
	if (r == -ENOENT) /* no hello: it may yet come */
		return -EAGAIN;
	return r < 0 ? r : 0;
}

static int put_record(struct drill_record *record, const char *page, int slot,
		      const struct drill_hook_armed *a,
		      const struct drill_hook_order *o, struct drill_err *err)
{
	char mark[20];
	int r;

	snprintf(mark, sizeof(mark), "%016" PRIx64, a->mark);
	r = drill_record_original(record, "mark", "", mark, err);
	if (!r)
		r = drill_record_put(record, "page", page, err);
	if (!r)
		r = drill_record_put_int(record, "entry", a->entry, err);
	if (!r)
		r = drill_record_put_int(record, "slot", slot, err);
	if (!r)
		r = drill_record_put_int(record, "word", o->word, err);
	if (!r)
		r = drill_record_put_int(record, "delay_ns", o->delay_ns, err);
	return r ? r : drill_record_commit(record, err);
}

int drill_collective_apply(struct drill_act *act, const char *op,
			   struct drill_hook_order *order,
			   struct drill_err *err)
{
	const char *page = act->target->hooks;
	struct drill_hook_armed a;
	struct drill_hooks h;
	int r = drill_word_parse(op, &order->word, err);

	if (!r)
		r = drill_hooks_open(&h, page, err);
	if (r)
		return r;
	order->rank = act->target->rank;
	order->slot = find_slot(act, &h, err);
	r = order->slot < 0 ? order->slot : drill_hooks_pick(&h, &a, err);
	if (!r)
		r = put_record(act->record, page, order->slot, &a, order, err);
	if (!r) {
		act->before_ns = drill_raw_ns(act->clock);
		r = drill_hooks_arm_at(&h, order, &a, err);
		act->after_ns = drill_raw_ns(act->clock);
	}
	drill_hooks_close(&h);
	return r;
}

/* Its pid as we see it, while it is still the process of the record. */
static pid_t living(const struct drill_record *record)
{
	struct drill_record_info info;
	struct drill_process p;
	bool alive;

	drill_record_info(record, &info);
	p = info.process;
	p.pidfd = -1;
	alive = p.pid > 0 && !drill_process_find(&p, NULL);
	drill_process_close(&p);
	return alive ? p.pid : 0;
}

/* The entry that a record speaks of. -ENODATA: nothing was ever recorded.
 * -ENOENT: the page is gone. Yours: drill_hooks_close. */
static int open_record(const struct drill_record *record, struct drill_hooks *h,
		       struct drill_hook_armed *ret, struct drill_err *err)
{
	const char *page = drill_record_get(record, "page");
	const char *mark = drill_record_get_ours(record, "mark");
	struct drill_err why = { 0 };
	int r;

	*h = (struct drill_hooks){ 0 };
	if (!page || !mark)
		return -ENODATA;
	ret->entry = (int)drill_record_get_int(record, "entry", -1);
	ret->mark = strtoull(mark, NULL, 16);
	r = drill_hooks_open(h, page, &why);
	if (!r && (ret->entry < 0 || ret->entry >= DRILL_HOOK_ENTRIES))
		r = -EINVAL;
	if (r && r != -ENOENT)
		return drill_err_set(err, r, who, "%s", why.msg[0] ? why.msg :
				     "the record names no entry");
	return r;
}

/* Without a page nothing is left, unless the process that had it mapped lives:
 * it may be caught in what nobody else can see any more. */
static int page_gone(const struct drill_record *record, int r,
		     struct drill_err *err)
{
	if (r == -ENODATA || (r == -ENOENT && !living(record)))
		return 0;
	return r == -ENOENT ?
		       drill_err_set(err, r, who,
				     "the hook page is gone and its process "
				     "lives: end the job") : r;
}

static bool as_recorded(const struct drill_record *record,
			const struct drill_hook_order *o)
{
	return o->word == drill_record_get_int(record, "word", 0) &&
	       o->slot == drill_record_get_int(record, "slot", -1) &&
	       o->delay_ns == drill_record_get_int(record, "delay_ns", -1);
}

static void read_back(struct drill_act *act, const struct drill_hook_seen *s)
{
	json_object_set_new(act->evidence, "read_back",
		json_pack("{s:s s:i s:I s:I s:I}", "op",
			  drill_word_name(s->order.word), "rank",
			  s->order.rank, "nth", (json_int_t)s->order.nth,
			  "every", (json_int_t)s->order.every, "delay_ns",
			  (json_int_t)s->order.delay_ns));
	json_object_set_new(act->evidence, "calls_hit", json_integer(s->hits));
}

int drill_collective_see(struct drill_act *act, struct drill_collective *ret,
			 struct drill_err *err)
{
	const struct drill_hook_slot *slot;
	int r;

	*ret = (struct drill_collective){ 0 };
	r = open_record(act->record, &ret->hooks, &ret->armed, err);
	if (r)
		return page_gone(act->record, r, err);
	ret->slot = (int)drill_record_get_int(act->record, "slot", -1);
	if (ret->slot < 0 || ret->slot >= DRILL_HOOK_SLOTS)
		return drill_err_set(err, -EINVAL, who,
				     "the record names no slot");
	ret->pid = living(act->record);
	r = drill_hooks_read(&ret->hooks, &ret->armed, &ret->seen, NULL);
	if (r)
		return 0;
	read_back(act, &ret->seen);
	slot = &ret->hooks.page->slot[ret->slot];
	ret->held = drill_hooks_holds(&ret->hooks, ret->slot,
				      ret->seen.order.word);
	return as_recorded(act->record, &ret->seen.order) && ret->pid &&
	       slot->hello == DRILL_HELLO_HERE;
}

/* "202 0x7f.. ..." of /proc/PID/task/TID/syscall: number and first argument. */
static int thread_blocked(const char *dir, const char *tid, uint64_t futex)
{
	char path[400];
	unsigned long long arg = 0;
	long nr = -1;
	FILE *f;
	int n;

	snprintf(path, sizeof(path), "%s/%s/syscall", dir, tid);
	f = fopen(path, "re");
	if (!f)
		return -errno;
	n = fscanf(f, "%ld %llx", &nr, &arg);
	fclose(f);
	return n == 2 && nr == SYS_futex && arg == futex;
}

int drill_collective_blocked(const struct drill_collective *c)
{
	const struct drill_hook_page *p = c->hooks.page;
	uint64_t futex = p->slot[c->slot].base +
			 (uint64_t)((const char *)&p->entry[c->armed.entry]
					    .state - (const char *)p);
	char dir[64];
	struct dirent *e;
	int r = 0;
	DIR *d;

	snprintf(dir, sizeof(dir), "/proc/%d/task", (int)c->pid);
	d = c->pid ? opendir(dir) : NULL;
	if (!d)
		return c->pid ? -errno : 0;
	while (r != 1 && (e = readdir(d)))
		if (e->d_name[0] != '.')
			r = thread_blocked(dir, e->d_name, futex);
	closedir(d);
	return r;
}

int drill_collective_lingers(const struct drill_collective *c)
{
	const struct timespec t = { .tv_nsec = 1000000 };
	int r = c->hooks.page ? drill_collective_blocked(c) : 0;

	for (int i = 0; i < 500 && r == 1; i++) {
		nanosleep(&t, NULL);
		r = drill_collective_blocked(c);
	}
	return r == 1;
}

int drill_collective_revert(const struct drill_record *record,
			    struct drill_err *err)
{
	struct drill_hook_armed a;
	struct drill_hooks h;
	int r = open_record(record, &h, &a, err);

	if (!r)
		r = drill_hooks_disarm(&h, &a, err);
	drill_hooks_close(&h);
	r = page_gone(record, r, err);
	return r == -ENOENT ? -EUCLEAN : r;
}
