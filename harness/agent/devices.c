/* devices.c - the host's device page during a trial: its log, its news, its end
 * SPDX-License-Identifier: MIT
 */
#include "agent.h"
#include "process.h"

#include "harness/core/environ.h"
#include "injectors/hooks/device_step.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char who[] = "agent";

int devices_begin(struct agent *a, struct drill_err *err)
{
	char path[300];
	int rc, i;

	snprintf(path, sizeof(path), "%s/devices.page", a->plan.dir);
	rc = drill_devices_create(&a->devices, path, a->host,
				  a->plan.real_devices ? 0 : a->plan.devices,
				  err);
	if (rc < 0)
		return rc;
	a->deviced = true;
	a->lines = 0;
	json_decref(a->worn);
	a->worn = NULL;
	for (i = 0; i < DRILL_DEVICES; i++)
		a->health[i] = DRILL_DEVICE_OK;
	memset(a->generation, 0, sizeof(a->generation));
	snprintf(path, sizeof(path), "%s/kernel.log", a->plan.dir);
	return drill_xid_log_open(&a->kernel_log, a->devices.page, path, err);
}

/* ---- the log ---- */

/* Before anybody is told of a line it is in the log. */
static void write_log(struct agent *a)
{
	struct drill_err err = { 0 };
	char text[600];
	uint64_t lost;

	if (drill_xid_log_drain(&a->kernel_log, &lost, &err) < 0)
		agent_error(a, drill_err_text(&err, text, sizeof(text)));
	else if (lost)
		agent_error(a, "lines of the kernel log were lost: the ring is "
			       "too small");
}

static void tell_state(struct agent *a, unsigned int device, int64_t t_ns,
		       const char *state, const char *reason)
{
	json_t *e = json_pack("{s:s s:I s:i s:i s:s s:s}", "kind",
			      "device.state", "h_ns", (json_int_t)t_ns, "u_ns",
			      0, "device", (int)device, "state", state,
			      "reason", reason);

	if (e && a->attempt)
		json_object_set_new(e, "attempt", json_integer(a->attempt));
	agent_event(a, e);
}

static const char *state_of(struct agent *a, unsigned int i)
{
	struct drill_device d;
	char why[128];

	drill_device_read(a->devices.page, i, &d);
	if (d.health != DRILL_DEVICE_OK)
		return drill_device_health_name(d.health);
	return drill_devices_as_new(&a->devices, i, why, sizeof(why)) ?
		       "ok" : "worn";
}

static void tell_kernel(struct agent *a, const char *line)
{
	struct drill_err err = { 0 };
	char text[600];

	if (drill_xid_kmsg(DRILL_KMSG, line, &err) < 0)
		agent_error(a, drill_err_text(&err, text, sizeof(text)));
}

static void take_line(struct agent *a, const struct drill_device_line *l)
{
	if (a->plan.kmsg && l->xid)
		tell_kernel(a, l->text);
	if (l->device >= DRILL_DEVICES)
		return;
	a->health[l->device] =
		atomic_load(&a->devices.page->device[l->device].health);
	tell_state(a, l->device, l->t_ns, state_of(a, l->device), l->text);
}

static void take_lines(struct agent *a)
{
	struct drill_device_line l;

	write_log(a);
	while (!drill_devices_line(&a->devices, &a->lines, &l))
		take_line(a, &l);
}

/* What changed without a line. */
static void take_health(struct agent *a)
{
	int i, n = drill_devices_count(&a->devices);
	uint32_t health;

	for (i = 0; i < n; i++) {
		health = atomic_load(&a->devices.page->device[i].health);
		if (health == a->health[i])
			continue;
		a->health[i] = health;
		tell_state(a, (unsigned int)i, agent_now(),
			   drill_device_health_name(health), "");
	}
}

/* ---- reset and replacement ---- */

bool devices_have(struct agent *a, const char *fault, int device)
{
	struct instance *i;

	for (i = a->instances; i; i = i->next)
		if (!strcmp(i->target->fault->plan->name, fault) &&
		    i->state == IN_FORCE && i->where.device == device)
			return true;
	return false;
}

/* What was in force there is over; what the device itself is wrong with (follow)
 * only when it is replaced. */
static void over_there(struct agent *a, int device, bool replace)
{
	struct instance *i, *next;

	for (i = a->instances; i; i = next) {
		next = i->next;
		if (i->where.device == device && i->state == IN_FORCE &&
		    drill_injector_needs(i->target->fault->plan->injector,
					 "hook:cuda") &&
		    (replace || !i->target->fault->plan->follow[0]))
			fault_over(a, i);
	}
}

/* The job's own health check resets devices, too. */
static void take_resets(struct agent *a)
{
	int i, n = drill_devices_count(&a->devices);
	uint32_t now;

	for (i = 0; i < n; i++) {
		now = atomic_load(&a->devices.page->device[i].generation);
		if (now == a->generation[i])
			continue;
		a->generation[i] = now;
		over_there(a, i, false);
		tell_state(a, (unsigned int)i, agent_now(),
			   state_of(a, (unsigned int)i), "reset");
	}
}

int devices_renew(struct agent *a, const char *how, int device,
		  struct drill_err *err)
{
	bool replace = !strcmp(how, "replace");

	if (!a->deviced || device < 0 ||
	    device >= drill_devices_count(&a->devices))
		return drill_err_set(err, -ENXIO, who, "no device %d on host %s",
				     device, a->host);
	over_there(a, device, replace);
	if (replace)
		drill_device_replace(a->devices.page, (unsigned int)device);
	else
		drill_device_reset(a->devices.page, (unsigned int)device);
	a->health[device] = a->devices.page->device[device].health;
	a->generation[device] = a->devices.page->device[device].generation;
	tell_state(a, (unsigned int)device, agent_now(),
		   state_of(a, (unsigned int)device),
		   replace ? "replaced" : "reset");
	return 0;
}

/* ---- chains ---- */

static void on_step(uv_timer_t *t)
{
	devices_drain(t->data);
}

/* The steps that are due; the next ones get a timer. */
static void do_steps(struct agent *a)
{
	int64_t now = agent_now(), next, soonest = 0;
	unsigned int i;

	for (i = 0; i < DRILL_DEVICE_FAULTS; i++) {
		next = drill_device_steps(a->devices.page, i, now);
		if (next && (!soonest || next < soonest))
			soonest = next;
	}
	if (!soonest)
		return;
	if (!a->step_timer)
		a->step_timer = agent_timer(a, a);
	uv_update_time(&a->loop);
	uv_timer_start(a->step_timer, on_step,
		       (uint64_t)((soonest - now + 999999) / 1000000), 0);
}

void devices_drain(struct agent *a)
{
	if (!a->deviced)
		return;
	take_resets(a);
	if (!atomic_load(&a->devices.page->armed))
		return;
	do_steps(a);
	take_lines(a);
	take_health(a);
}

/* ---- whose device ---- */

/* CUDA_VISIBLE_DEVICES of a process; "" when it cannot be read. */
static void visible(pid_t pid, char *ret, size_t size)
{
	const char *value = NULL;
	size_t n;
	char *env = drill_environ(pid, &n);

	if (env)
		value = drill_environ_find(env, n, "CUDA_VISIBLE_DEVICES");
	snprintf(ret, size, "%s", value ? value : "");
	free(env);
}

int devices_of(struct agent *a, pid_t pid)
{
	char text[128], *end;
	long n;

	if (!a->deviced || pid <= 0)
		return -1;
	visible(pid, text, sizeof(text));
	text[strcspn(text, ",")] = '\0';
	if (!strncmp(text, "GPU-", 4))
		return drill_devices_by_name(&a->devices, text);
	n = strtol(text, &end, 10);
	/* Unset: the first of all. */
	return end == text ? 0 : n >= 0 && n < DRILL_DEVICES ? (int)n : -1;
}

struct rank *devices_user(struct agent *a, int device)
{
	struct rank *r, *best = NULL;

	for (r = a->ranks; r; r = r->next)
		if (r->begun && !r->ended && r->process.pid &&
		    devices_of(a, r->process.pid) == device &&
		    (!best || r->rank < best->rank))
			best = r;
	return best;
}

/* ---- the end ---- */

json_t *devices_clients(struct agent *a)
{
	struct drill_device_seen *c = calloc(DRILL_DEVICE_CLIENTS, sizeof(*c));
	int i, n = a->deviced && c ? drill_devices_clients(
					     &a->devices, c,
					     DRILL_DEVICE_CLIENTS) : 0;
	json_t *list = json_array();

	for (i = 0; i < n; i++)
		json_array_append_new(list, json_pack(
			"{s:i s:i s:i s:b s:b s:s s:s s:s s:I s:I s:I s:I s:I "
			"s:I s:b}", "rank", c[i].rank, "attempt", c[i].attempt,
			"pid", c[i].pid, "cuda",
			!!(c[i].proxies & DRILL_PROXY_CUDA), "nvml",
			!!(c[i].proxies & DRILL_PROXY_NVML), "build",
			c[i].build, "program", c[i].program, "next",
			c[i].next, "linked",
			(json_int_t)c[i].linked, "remapped",
			(json_int_t)c[i].remapped, "passed",
			(json_int_t)c[i].passed, "bypassed",
			(json_int_t)c[i].bypassed, "driver_calls",
			(json_int_t)c[i].calls, "launches",
			(json_int_t)c[i].launches, "audited",
			c[i].audited));
	free(c);
	return list;
}

int devices_refused(const struct agent *a)
{
	uint32_t n = a->deviced ? atomic_load(&a->devices.page->refused) : 0;

	return n < INT32_MAX ? (int)n : INT32_MAX;
}

/* What is left on devices though every fault has been taken off. */
static json_t *wear(struct agent *a)
{
	json_t *list = json_array();
	char why[128];
	int i, n = drill_devices_count(&a->devices);

	for (i = 0; i < n; i++)
		if (!drill_devices_as_new(&a->devices, (unsigned int)i, why,
					  sizeof(why)))
			json_array_append_new(list, json_sprintf(
						      "gpu%d: %s", i, why));
	return list;
}

json_t *devices_worn(const struct agent *a)
{
	return a->worn;
}

void devices_end(struct agent *a)
{
	if (!a->deviced)
		return;
	take_lines(a);
	a->worn = wear(a);
	agent_timer_free(a->step_timer);
	a->step_timer = NULL;
	drill_xid_log_close(&a->kernel_log);
	drill_devices_close(&a->devices);
	a->deviced = false;
}
