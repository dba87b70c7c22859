/* device.c - arms, finds and takes off one fault of a device page
 * SPDX-License-Identifier: MIT
 */
#include "device.h"

#include "cuda_calls.h"
#include "nvml_ask.h"

#include "harness/agent/process.h"

#include "injectors/hooks/device_step.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

static const char who[] = "device";

const char *const drill_form_names[] = { "both", "effect", "signal", NULL };

/* ---- where it acts ---- */

/* The newest client of @rank that loaded the CUDA proxy, or NULL. A program
 * without ranks, as `exec` runs it, has -1. */
static const struct drill_device_seen *
client_of(const struct drill_device_seen *c, int n, int rank)
{
	const struct drill_device_seen *best = NULL;

	for (int i = 0; i < n; i++)
		if (c[i].here && c[i].proxies & DRILL_PROXY_CUDA &&
		    (rank < 0 || c[i].rank == rank || c[i].rank < 0) &&
		    (!best || c[i].attempt >= best->attempt))
			best = &c[i];
	return best;
}

static int probe_client(const struct drill_act *act,
			const struct drill_devices *d, struct drill_err *err)
{
	static const struct drill_device_seen none;
	struct drill_device_seen *c = calloc(DRILL_DEVICE_CLIENTS,
					     sizeof(none));
	int n = c ? drill_devices_clients(d, c, DRILL_DEVICE_CLIENTS) : 0;
	bool here = client_of(c, n, act->target->rank) != NULL;

	free(c);
	if (here)
		return 0;
	return drill_err_set(err, -EAGAIN, who,
			     "%s runs without the CUDA proxy on host %.63s (it "
			     "has not said hello)", act->target->name,
			     d->page->host);
}

static int find_device(const struct drill_act *act,
		       const struct drill_devices *d, struct drill_err *err)
{
	int n = drill_devices_count(d);

	if (act->target->device < n)
		return 0;
	return drill_err_set(err, -ENXIO, who,
			     "%s: no device %d: host %.63s has 0 to %d",
			     act->target->name, act->target->device,
			     d->page->host, n - 1);
}

static int find_process(const struct drill_act *act, struct drill_err *err)
{
	struct drill_process p = act->target->process;
	int r = 0;

	/* A device is there without whoever used it. */
	if (p.pid > 0 && act->target->kind == DRILL_TARGET_RANK) {
		p.pidfd = -1;
		r = drill_process_find(&p, err);
		drill_process_close(&p);
	}
	return r;
}

int drill_device_probe(const struct drill_act *act, bool felt,
		       struct drill_err *err)
{
	struct drill_devices d;
	int r;

	if (!act->target->devices[0])
		return 0;
	r = find_process(act, err);
	if (!r)
		r = drill_devices_open(&d, act->target->devices, err);
	if (r)
		return r;
	r = find_device(act, &d, err);
	if (!r && felt && act->target->rank >= 0)
		r = probe_client(act, &d, err);
	drill_devices_close(&d);
	return r;
}

static int aim_at_target(const struct drill_act *act,
			 struct drill_device_aim *ret, struct drill_err *err)
{
	int r;

	*ret = (struct drill_device_aim){ .device = act->target->device,
					  .rank = act->target->rank,
					  .attempt = act->attempt };
	r = drill_devices_open(&ret->devices, act->target->devices, err);
	if (!r)
		r = find_device(act, &ret->devices, err);
	if (r)
		drill_devices_close(&ret->devices);
	return r;
}

/* ---- arming ---- */

static int put_record(struct drill_act *act, const struct drill_device_armed *a,
		      const struct drill_device_fault *f,
		      const struct drill_device_aim *aim, struct drill_err *err)
{
	const struct {
		const char *key;
		int64_t value;
	} rows[] = {
		{ "entry", a->fault },
		{ "action", f->action },
		{ "device", f->device },
		{ "error", f->error },
		{ "nth", f->nth },
		{ "delay_ns", f->delay_ns },
		{ "limit_bytes", (int64_t)f->limit_bytes },
		{ "lines_before",
		  (int64_t)atomic_load(&aim->devices.page->lines) },
	};
	struct drill_record *rec = act->record;
	char mark[20];
	int r;

	snprintf(mark, sizeof(mark), "%016" PRIx64, a->mark);
	r = drill_record_original(rec, "mark", "", mark, err);
	if (!r)
		r = drill_record_put(rec, "page", act->target->devices, err);
	if (!r)
		r = drill_record_put(rec, "dir", act->target->dir, err);
	for (size_t i = 0; !r && i < sizeof(rows) / sizeof(rows[0]); i++)
		r = drill_record_put_int(rec, rows[i].key, rows[i].value, err);
	return r ? r : drill_record_commit(rec, err);
}

/* As the log names it: the pid that the kernel knows, and its name. */
static void name_of(const struct drill_act *act, char *ret, size_t size)
{
	char path[64];
	FILE *f;

	ret[0] = '\0';
	snprintf(path, sizeof(path), "/proc/%d/comm",
		 (int)act->target->process.pid);
	f = act->target->process.pid > 0 ? fopen(path, "re") : NULL;
	if (!f)
		return;
	if (!fgets(ret, (int)size, f))
		ret[0] = '\0';
	ret[strcspn(ret, "\n")] = '\0';
	fclose(f);
}

static bool meets_launches(const struct drill_device_fault *f)
{
	return f->action != DRILL_DEVICE_OOM &&
	       (f->action != DRILL_DEVICE_FLIP ||
		f->flip_where != DRILL_FLIP_COPY);
}

/* Launches have many entries; those that are met at one anyway are not bound to
 * a single one. */
static int take_trigger(const struct drill_act *act,
			struct drill_device_fault *f, struct drill_err *err)
{
	int call;

	if (act->nth)
		f->nth = act->nth;
	if (act->kernel)
		snprintf(f->kernel, sizeof(f->kernel), "%s", act->kernel);
	if (!act->call || f->call ||
	    (!strcmp(act->call, "cuLaunchKernel") && meets_launches(f)))
		return 0;
	call = drill_cuda_call(act->call, err);
	if (call < 0)
		return call;
	f->call = 1 + (uint32_t)call;
	f->family = drill_cuda_call_any(act->call);
	return 0;
}

static int arm(struct drill_act *act, struct drill_device_aim *aim,
	       const struct drill_device_fault *f,
	       const struct drill_device_armed *a, bool now,
	       struct drill_err *err)
{
	char name[32];
	int r;

	name_of(act, name, sizeof(name));
	act->before_ns = drill_raw_ns(act->clock);
	r = drill_devices_arm_at(&aim->devices, f, a, err);
	if (!r && now)
		drill_device_fire(aim->devices.page, (unsigned int)a->fault,
				  (int)act->target->process.pid, name);
	act->after_ns = drill_raw_ns(act->clock);
	return r;
}

static int carry_out(struct drill_act *act, struct drill_device_aim *aim,
		     struct drill_device_fault *f, bool now,
		     struct drill_err *err)
{
	struct drill_device_armed a;
	int r = drill_devices_pick(&aim->devices, &a, err);

	if (r)
		return r;
	f->device = aim->device;
	f->rank = aim->rank;
	f->attempt = aim->attempt;
	r = take_trigger(act, f, err);
	if (!r)
		r = put_record(act, &a, f, aim, err);
	return r ? r : arm(act, aim, f, &a, now && !act->call && !act->kernel,
			   err);
}

int drill_device_order(struct drill_act *act, bool now,
		       int (*fill)(const struct drill_act *act,
				   struct drill_device_aim *aim,
				   struct drill_device_fault *f,
				   struct drill_err *err),
		       struct drill_err *err)
{
	struct drill_device_fault *f;
	struct drill_device_aim aim;
	int r = aim_at_target(act, &aim, err);

	if (r)
		return r;
	f = calloc(1, sizeof(*f));
	r = f ? fill(act, &aim, f, err) :
		drill_err_set(err, -ENOMEM, who, "out of memory");
	if (!r)
		r = carry_out(act, &aim, f, now, err);
	free(f);
	drill_devices_close(&aim.devices);
	return r;
}

/* ---- seeing ---- */

/* The fault that a record speaks of. -ENODATA: nothing was ever recorded.
 * -ENOENT: the page is gone. Yours: drill_devices_close. */
static int open_record(const struct drill_record *record,
		       struct drill_devices *d, struct drill_device_armed *ret,
		       struct drill_err *err)
{
	const char *page = drill_record_get(record, "page");
	const char *mark = drill_record_get_ours(record, "mark");
	struct drill_err why = { 0 };
	int r;

	*d = (struct drill_devices){ 0 };
	if (!page || !mark)
		return -ENODATA;
	ret->fault = (int)drill_record_get_int(record, "entry", -1);
	ret->mark = strtoull(mark, NULL, 16);
	r = drill_devices_open(d, page, &why);
	if (!r && (ret->fault < 0 || ret->fault >= DRILL_DEVICE_FAULTS))
		r = -EINVAL;
	if (r && r != -ENOENT)
		return drill_err_set(err, r, who, "%s", why.msg[0] ? why.msg :
				     "the record names no fault");
	return r;
}

static bool as_recorded(const struct drill_record *record,
			const struct drill_device_fault *f)
{
	return f->action == drill_record_get_int(record, "action", -1) &&
	       f->device == drill_record_get_int(record, "device", -2) &&
	       f->error == drill_record_get_int(record, "error", -1) &&
	       f->nth == drill_record_get_int(record, "nth", -1) &&
	       f->delay_ns == drill_record_get_int(record, "delay_ns", -1) &&
	       (int64_t)f->limit_bytes ==
		       drill_record_get_int(record, "limit_bytes", -1);
}

static const char *state_name(uint32_t state)
{
	static const char *const names[] = { "free", "armed", "fired", "over" };

	return state < 4 ? names[state] : "?";
}

static void read_back(struct drill_act *act, const struct drill_device_found *d)
{
	const struct drill_device_fault *f = &d->f;
	struct drill_device v = { 0 };
	json_t *o = json_pack("{s:s s:i s:i s:I s:I s:I}", "state",
			      state_name(f->state), "device", f->device,
			      "error", f->error, "calls_matched",
			      (json_int_t)f->matched, "calls_hit",
			      (json_int_t)f->hits, "steps_done",
			      (json_int_t)f->steps_done);

	if (f->device >= 0) {
		drill_device_read(d->devices.page, (unsigned int)f->device, &v);
		json_object_set_new(o, "health", json_string(
				    drill_device_health_name(v.health)));
	}
	json_object_set_new(act->evidence, "read_back", o);
}

/* The effect's own stamp, which no reading by us can be nearer to. */
static void take_stamp(struct drill_act *act,
		       const struct drill_device_fault *f)
{
	act->before_ns = act->after_ns = f->fired_ns;
}

int drill_device_find(struct drill_act *act, struct drill_device_found *ret,
		      struct drill_err *err)
{
	int r;

	*ret = (struct drill_device_found){ 0 };
	r = open_record(act->record, &ret->devices, &ret->armed, err);
	/* Without a page nothing is left: whoever had it mapped alone sees it. */
	if (r)
		return r == -ENODATA || r == -ENOENT ? 0 : r;
	if (drill_devices_read(&ret->devices, &ret->armed, &ret->f, NULL))
		return 0;
	ret->felt = ret->f.action != DRILL_DEVICE_NOTHING;
	for (uint32_t i = 0; i < ret->f.steps && i < DRILL_DEVICE_STEPS; i++)
		ret->told |= ret->f.step[i].xid || ret->f.step[i].events;
	read_back(act, ret);
	if (!as_recorded(act->record, &ret->f) ||
	    ret->f.state != DRILL_DEVICE_FIRED || !ret->f.fired_ns)
		return 0;
	take_stamp(act, &ret->f);
	return 1;
}

/* Where the process has the page: 0 when it cannot be seen. Told by the file,
 * for its own root may name it otherwise. */
static uint64_t base_in(pid_t pid, const char *page)
{
	unsigned long long begin, inode;
	unsigned int major_, minor_;
	uint64_t ret = 0;
	char path[64], line[512];
	struct stat st;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	f = stat(page, &st) ? NULL : fopen(path, "re");
	while (f && !ret && fgets(line, sizeof(line), f))
		if (sscanf(line, "%llx-%*x %*s 0 %x:%x %llu", &begin, &major_,
			   &minor_, &inode) == 4 &&
		    inode == st.st_ino && major_ == major(st.st_dev) &&
		    minor_ == minor(st.st_dev))
			ret = begin;
	if (f)
		fclose(f);
	return ret;
}

/* "202 0x7f.. ..." of a thread: the number of its call, its first argument. */
static bool waits_at(pid_t pid, const char *tid, uint64_t futex)
{
	char path[400];
	unsigned long long arg = 0;
	long nr = -1;
	int n = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%.32s/syscall", (int)pid,
		 tid);
	f = fopen(path, "re");
	if (f) {
		n = fscanf(f, "%ld %llx", &nr, &arg);
		fclose(f);
	}
	return n == 2 && nr == SYS_futex && arg == futex;
}

int drill_device_blocked(const struct drill_act *act,
			 const struct drill_device_found *d)
{
	pid_t pid = act->target->process.pid;
	const char *page = drill_record_get(act->record, "page");
	uint64_t base = pid > 0 ? base_in(pid, page) : 0;
	uint64_t futex = base +
			 (uint64_t)((char *)&d->devices.page
					    ->fault[d->armed.fault].state -
				    (char *)d->devices.page);
	char path[64];
	struct dirent *e;
	int r = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = base ? opendir(path) : NULL;
	if (!dir)
		return -ESRCH;
	while (!r && (e = readdir(dir)))
		r = e->d_name[0] != '.' && waits_at(pid, e->d_name, futex);
	closedir(dir);
	return r;
}

/* Somebody heard the signal and ended the process before it made a call that
 * would have failed: the device is broken all the same. */
static bool outrun(struct drill_act *act, const struct drill_device_found *d)
{
	if (!d->told || act->target->process.pid <= 0 ||
	    find_process(act, NULL) == 0)
		return false;
	json_object_set_new(act->evidence, "process",
			    json_string("ended before a call could fail"));
	return true;
}

bool drill_device_felt(struct drill_act *act,
		       const struct drill_device_found *d)
{
	const struct drill_device_fault *f = &d->f;

	if (!d->felt)
		return true;
	/* What is met at the next start only cannot have been felt yet. */
	if (!f->surfaced_ns)
		return f->action == DRILL_DEVICE_ABSENT ||
		       f->action == DRILL_DEVICE_NO_PEER || outrun(act, d);
	json_object_set_new(act->evidence, "process",
		json_pack("{s:i s:s s:I s:I s:f}", "pid", f->by_pid, "call",
			  drill_cuda_call_name(f->surfaced_call - 1),
			  "calls_with_error", (json_int_t)f->returned,
			  "threads_waiting", (json_int_t)f->waiting,
			  "felt_after_s",
			  (double)(f->surfaced_ns - f->fired_ns) * 1e-9));
	return true;
}

/* ---- the signal ---- */

/* The first line of ours after the arming. */
static bool find_line(const struct drill_act *act,
		      const struct drill_device_found *d,
		      struct drill_device_line *ret)
{
	uint64_t n = (uint64_t)drill_record_get_int(act->record,
						    "lines_before", 0);
	int r;

	while ((r = drill_devices_line(&d->devices, n++, ret)) != -ENOENT)
		if (!r && ret->xid == d->f.step[0].xid &&
		    ret->device == d->f.step[0].device)
			return true;
	return false;
}

/* In the file that the job's own watchers read. -1: there is none. */
static int in_log(const struct drill_act *act, const char *text)
{
	const char *dir = drill_record_get(act->record, "dir");
	char path[400], line[512];
	bool found = false;
	FILE *f;

	snprintf(path, sizeof(path), "%.300s/kernel.log", dir ? dir : "");
	f = fopen(path, "re");
	if (!f)
		return -1;
	while (!found && fgets(line, sizeof(line), f))
		found = strstr(line, text) != NULL;
	fclose(f);
	return found;
}

static bool log_tells(struct drill_act *act, const struct drill_device_found *d)
{
	struct drill_device_line l;
	int logged;

	if (!d->f.step[0].xid)
		return true;
	if (!find_line(act, d, &l))
		return false;
	logged = in_log(act, l.text);
	json_object_set_new(act->evidence, "line", json_string(l.text));
	json_object_set_new(act->evidence, "in_kernel_log",
			    logged < 0 ? json_string("no log here") :
					 json_boolean(logged));
	return logged != 0;
}

bool drill_device_told(struct drill_act *act,
		       const struct drill_device_found *d)
{
	if (!d->told)
		return true;
	return log_tells(act, d) && drill_nvml_tells(act, d);
}

int drill_device_verify(struct drill_act *act, struct drill_err *err)
{
	struct drill_device_found d;
	int r = drill_device_find(act, &d, err);

	if (r > 0)
		r = drill_device_felt(act, &d) && drill_device_told(act, &d);
	drill_devices_close(&d.devices);
	return r;
}

int drill_device_revert(const struct drill_record *record,
			struct drill_err *err)
{
	struct drill_device_armed a;
	struct drill_devices d;
	int r = open_record(record, &d, &a, err);

	if (!r)
		r = drill_devices_disarm(&d, &a, err);
	drill_devices_close(&d);
	return r == -ENODATA || r == -ENOENT ? 0 : r;
}
