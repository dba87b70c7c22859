/* device_seen.c - has a fault of a device page taken effect, and who says so?
 * SPDX-License-Identifier: MIT
 */
#include "device.h"

#include "cuda_calls.h"
#include "nvml_ask.h"

#include "injectors/hooks/device_step.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* ---- the page ---- */

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
	r = drill_device_recorded(act->record, &ret->devices, &ret->armed, err);
	/* Without a page nothing is left: whoever had it mapped alone sees it. */
	if (r)
		return r == -ENODATA || r == -ENOENT ? 0 : r;
	if (drill_devices_read(&ret->devices, &ret->armed, &ret->f, NULL))
		return 0;
	ret->felt = ret->f.action != DRILL_DEVICE_NOTHING;
	for (uint32_t i = 0; i < ret->f.steps && i < DRILL_DEVICE_STEPS; i++)
		ret->told |= ret->f.step[i].xid || ret->f.step[i].events ||
			     ret->f.step[i].memory_full_1;
	read_back(act, ret);
	if (!as_recorded(act->record, &ret->f) ||
	    ret->f.state != DRILL_DEVICE_FIRED || !ret->f.fired_ns)
		return 0;
	take_stamp(act, &ret->f);
	return 1;
}

/* ---- the process ---- */

int drill_device_blocked(const struct drill_act *act,
			 const struct drill_device_found *d)
{
	pid_t pid = act->target->process.pid;
	const char *page = drill_record_get(act->record, "page");
	struct stat st;
	uint64_t base = pid > 0 && !stat(page, &st) ?
			drill_device_mapped(pid, st.st_dev, st.st_ino) : 0;
	uint64_t futex = base +
			 (uint64_t)((char *)&d->devices.page
					    ->fault[d->armed.fault].state -
				    (char *)d->devices.page);

	return base ? drill_device_waits(pid, futex) : -ESRCH;
}

/* Somebody heard the signal and ended the process before it made a call that
 * would have failed: the device is broken all the same. */
static bool outrun(struct drill_act *act, const struct drill_device_found *d)
{
	if (!d->told || act->target->process.pid <= 0 ||
	    drill_device_process(act, NULL) == 0)
		return false;
	json_object_set_new(act->evidence, "process",
			    json_string("ended before a call could fail"));
	return true;
}

/* What a start alone meets cannot have been felt yet; NVML knows it. Of peers
 * nobody knows but who asks, if neither log nor NVML tell. */
static bool unfelt(struct drill_act *act, const struct drill_device_found *d)
{
	if (d->f.action != DRILL_DEVICE_NO_PEER)
		return d->f.action == DRILL_DEVICE_ABSENT || outrun(act, d);
	if (!d->told)
		json_object_set_new(act->evidence, "met", json_false());
	return d->told;
}

bool drill_device_felt(struct drill_act *act,
		       const struct drill_device_found *d)
{
	const struct drill_device_fault *f = &d->f;

	if (!d->felt)
		return true;
	json_object_del(act->evidence, "met");
	if (!f->surfaced_ns)
		return unfelt(act, d);
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

	while (!drill_devices_line(&d->devices, &n, ret))
		if (ret->xid == d->f.step[0].xid &&
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
