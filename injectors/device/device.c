/* device.c - arms one fault of a device page, and takes it off
 * SPDX-License-Identifier: MIT
 */
#include "device.h"

#include "cuda_calls.h"

#include "injectors/hooks/device_step.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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

int drill_device_probe(const struct drill_act *act, bool felt,
		       struct drill_err *err)
{
	struct drill_devices d;
	int r;

	if (!act->target->devices[0])
		return 0;
	r = drill_device_process(act, err);
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
	struct stat st = { 0 };
	char mark[20];
	int r;

	snprintf(mark, sizeof(mark), "%016" PRIx64, a->mark);
	stat(act->target->devices, &st);
	r = drill_record_original(rec, "mark", "", mark, err);
	if (!r)
		r = drill_record_put(rec, "page", act->target->devices, err);
	if (!r)
		r = drill_record_put(rec, "dir", act->target->dir, err);
	if (!r)
		r = drill_record_put_int(rec, "page_dev", (int64_t)st.st_dev,
					 err);
	if (!r)
		r = drill_record_put_int(rec, "page_ino", (int64_t)st.st_ino,
					 err);
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

/* ---- taking off ---- */

/* A process that goes on with a page whose name is gone; 0: nobody does. */
static pid_t user_of(const struct drill_record *record)
{
	int64_t dev = drill_record_get_int(record, "page_dev", 0);
	int64_t ino = drill_record_get_int(record, "page_ino", 0);
	DIR *d = ino ? opendir("/proc") : NULL;
	struct dirent *e;
	pid_t pid, ret = 0;

	while (d && !ret && (e = readdir(d))) {
		pid = (pid_t)atoi(e->d_name);
		if (pid > 0 && pid != getpid() &&
		    drill_device_mapped(pid, (uint64_t)dev, (uint64_t)ino))
			ret = pid;
	}
	if (d)
		closedir(d);
	return ret;
}

int drill_device_recorded(const struct drill_record *record,
			  struct drill_devices *d,
			  struct drill_device_armed *ret,
			  struct drill_err *err)
{
	const char *page = drill_record_get(record, "page");
	const char *mark = drill_record_get_ours(record, "mark");
	struct drill_err why = { 0 };
	pid_t user;
	int r;

	*d = (struct drill_devices){ 0 };
	if (!page || !mark)
		return -ENODATA;
	ret->fault = (int)drill_record_get_int(record, "entry", -1);
	ret->mark = strtoull(mark, NULL, 16);
	r = drill_devices_open(d, page, &why);
	user = r == -ENOENT ? user_of(record) : 0;
	if (user)
		return drill_err_set(err, -EUCLEAN, who,
				     "the device page was taken away while "
				     "process %d uses it", (int)user);
	if (!r && (ret->fault < 0 || ret->fault >= DRILL_DEVICE_FAULTS))
		r = -EINVAL;
	if (r && r != -ENOENT)
		return drill_err_set(err, r, who, "%s", why.msg[0] ? why.msg :
				     "the record names no fault");
	return r;
}

int drill_device_revert(const struct drill_record *record,
			struct drill_err *err)
{
	struct drill_device_armed a;
	struct drill_devices d;
	int r = drill_device_recorded(record, &d, &a, err);

	if (!r)
		r = drill_devices_disarm(&d, &a, err);
	drill_devices_close(&d);
	return r == -ENODATA || r == -ENOENT ? 0 : r;
}
