/* health.c - the health check: who watches the devices, and what follows
 * SPDX-License-Identifier: MIT
 */
#include "health.h"

#include "policy.h"
#include "watcher.h"

#include <faultdrill/progress.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RESET_MS 15000	/* a reset is answered by then */
#define RESETS 3	/* of one device in one job, then it is bad */
#define BAD_STARTS 2
#define DEVICES 64
#define SEEN 24

struct complaint {
	char by[16], what[24];
};

struct device {
	enum launch_action need;
	char why[96]; /* of the most that is needed */
	char by[16];
	int64_t told_ns; /* when that was said first in this attempt; 0: not */
	bool asked;	 /* to be reset, and not answered yet */
	int resets;
	struct complaint seen[SEEN]; /* in this attempt */
	int n_seen;
};

struct launch_health {
	struct launch_watcher watch; /* first: hear() is called with it */
	int64_t asked_ns; /* for a reset */
	struct device device[DEVICES + 1]; /* by index; the last: the host
					      itself */
};

static bool is_on(const struct launch_job *j)
{
	return strcmp(j->o->health, "off") != 0;
}

static int devices_of_host(const struct launch_job *j)
{
	return (int)(j->o->devices ? j->o->devices : j->o->ppn);
}

/* A rank of the present attempt that runs on the device; -1: none. @device -1
 * stands for any of the host's. */
static int rank_on(const struct launch_job *j, const struct launch_host *h,
		   int device)
{
	int ppn = (int)j->o->ppn, i;

	for (i = 0; i < j->n_ranks; i++)
		if (&j->hosts[j->place[i / ppn]] == h &&
		    (device < 0 || i % ppn % devices_of_host(j) == device))
			return i;
	return -1;
}

static void name_of(const struct launch_host *h, int device, char buf[96])
{
	if (device < 0)
		snprintf(buf, 96, "host %s", h->name);
	else
		snprintf(buf, 96, "device %s/gpu%d", h->name, device);
}

/* ---- what a complaint leads to ---- */

static bool told_before(struct device *d, const char *by, const char *what)
{
	struct complaint *c;
	int i;

	for (i = 0; i < d->n_seen; i++)
		if (strcmp(d->seen[i].by, by) == 0 &&
		    strcmp(d->seen[i].what, what) == 0)
			return true;
	if (d->n_seen < SEEN) {
		c = &d->seen[d->n_seen++];
		snprintf(c->by, sizeof(c->by), "%s", by);
		snprintf(c->what, sizeof(c->what), "%s", what);
	}
	return false;
}

static void tell_blamed(struct launch_job *j, const struct launch_host *h,
			int device, const char *by, const char *why)
{
	int rank = rank_on(j, h, device);
	char name[96], on[48] = "";

	name_of(h, device, name);
	if (rank >= 0)
		snprintf(on, sizeof(on), ", on which rank %d runs", rank);
	launch_say(j, "blame: %s%s (%s)", name, on, why);
	launch_tell(j, "blamed",
		    json_pack("{ss ss ss ss}", "by", by, "blame", name, "level",
			      device < 0 ? "host" : "device", "what", why));
}

static void tell_detected(struct launch_job *j, const char *kind,
			  const char *name, const char *by, const char *what,
			  const char *detail)
{
	json_t *e = json_pack("{ss ss ss}", "by", by, "what", what, "blame",
			      name);

	if (e && *detail)
		json_object_set_new(e, "detail", json_string(detail));
	launch_tell(j, kind, e);
	launch_say(j, "%s says: %s: %s%s%s", by, name, what,
		   *detail ? ": " : "", detail);
}

static void complain(struct launch_health *w, int device, const char *by,
		     const char *what, enum launch_action action,
		     const char *why, const char *detail)
{
	struct launch_host *h = w->watch.host;
	struct launch_job *j = h->job;
	struct device *d = &w->device[device < 0 ? DEVICES : device];
	char text[96], name[96];

	if (j->phase == LAUNCH_OVER || told_before(d, by, what))
		return;
	snprintf(text, sizeof(text), "%s: %s", what, why);
	name_of(h, device, name);
	/* Which device it is was not to be found out: none can be reset. */
	if (device < 0 && action >= LAUNCH_NOTE && action != LAUNCH_RESTART)
		action = LAUNCH_REPLACE;
	tell_detected(j, action == LAUNCH_IGNORE ? "symptom" : "detected", name,
		      by, text, detail);
	if (action > d->need) {
		d->need = action;
		snprintf(d->why, sizeof(d->why), "%s", text);
		snprintf(d->by, sizeof(d->by), "%s", by);
	}
	if (action == LAUNCH_IGNORE)
		return;
	if (action < LAUNCH_RESTART || rank_on(j, h, device) < 0) {
		tell_blamed(j, h, device, by, text);
		return;
	}
	if (!d->told_ns)
		d->told_ns = launch_now();
	launch_job_settle(j, "failed");
}

/* ---- what watchers say ---- */

static struct device *device_at(struct launch_health *w, int index)
{
	return index >= 0 && index < DEVICES ? &w->device[index] : NULL;
}

/* "xid log|nvml DEVICE XID TEXT" */
static void hear_xid(struct launch_health *w, const char *line)
{
	enum launch_action action;
	const char *why, *text;
	char from[8], what[24];
	int device, xid, at = 0;

	if (sscanf(line, "xid %7s %d %d %n", from, &device, &xid, &at) != 3 ||
	    !at || device < -1 || device >= DEVICES || xid < 1)
		return;
	text = line + at;
	snprintf(what, sizeof(what), "Xid %d", xid);
	action = launch_policy_xid(xid, text, &why);
	complain(w, device, from[0] == 'n' ? "health.nvml" : "health.xid", what,
		 action, why, text);
}

/* "sign DEVICE WORD VALUE" */
static void hear_sign(struct launch_health *w, const char *line)
{
	enum launch_sign sign;
	enum launch_action a;
	const char *why;
	char word[24], detail[64] = "";
	uint64_t value;
	int device;

	if (sscanf(line, "sign %d %23s %" SCNu64, &device, word, &value) != 3 ||
	    !device_at(w, device))
		return;
	sign = launch_sign_parse(word);
	if (sign == LAUNCH_SIGNS)
		return;
	a = launch_policy_sign(sign, value, &why);
	if (value)
		snprintf(detail, sizeof(detail), "%#" PRIx64, value);
	complain(w, device, "health.nvml", launch_sign_name(sign), a, why,
		 detail);
}

static void exclude(struct launch_host *h, const char *why)
{
	struct launch_job *j = h->job;

	if (h->bad)
		return;
	h->bad = true;
	snprintf(h->bad_why, sizeof(h->bad_why), "%s", why);
	launch_say(j, "host %s is not used any more: %s", h->name, why);
	launch_tell(j, "host.down",
		    json_pack("{ss ss}", "host", h->name, "reason", why));
}

static void exclude_for(struct launch_host *h, int device, const char *why)
{
	char text[128];

	snprintf(text, sizeof(text), "gpu%d: %.100s", device, why);
	exclude(h, device == DEVICES ? why : text);
}

/* "reset DEVICE ok" or "reset DEVICE WHY" */
static void hear_reset(struct launch_health *w, const char *line)
{
	struct launch_job *j = w->watch.host->job;
	struct device *d;
	int device, at = 0;

	if (sscanf(line, "reset %d %n", &device, &at) != 1 || !at)
		return;
	d = device_at(w, device);
	if (!d || !d->asked)
		return;
	d->asked = false;
	if (strcmp(line + at, "ok") != 0) {
		d->need = LAUNCH_REPLACE;
		snprintf(d->why, sizeof(d->why), "it cannot be reset: %.60s",
			 line + at);
		return;
	}
	launch_say(j, "device %s/gpu%d was reset", w->watch.host->name, device);
	launch_tell(j, "device.state",
		    json_pack("{ss si ss ss}", "host", w->watch.host->name,
			      "device", device, "state", "reset", "reason",
			      d->why));
	d->need = LAUNCH_IGNORE;
	d->n_seen = 0;
}

/* "up DEVICES [WHY]": -1 without NVML. Fewer than the job counts on: the ones
 * that are left cannot be told from the one that is not. */
static void hear_up(struct launch_health *w, const char *line)
{
	struct launch_job *j = w->watch.host->job;
	int n, at = 0;
	char why[96];

	if (sscanf(line, "up %d %n", &n, &at) != 1)
		return;
	if (n < 0 && !w->watch.quiet)
		launch_say(j, "health of %s: no NVML: %s", w->watch.host->name,
			   at ? line + at : "");
	if (n < 0 || n >= devices_of_host(j) || j->o->devices == 0)
		return;
	snprintf(why, sizeof(why), "it has %d of %d devices", n,
		 devices_of_host(j));
	exclude(w->watch.host, why);
}

static void hear(struct launch_watcher *from, const char *line)
{
	struct launch_health *w = (struct launch_health *)from;

	if (strncmp(line, "xid ", 4) == 0)
		hear_xid(w, line);
	else if (strncmp(line, "sign ", 5) == 0)
		hear_sign(w, line);
	else if (strncmp(line, "reset ", 6) == 0)
		hear_reset(w, line);
	else if (strncmp(line, "up ", 3) == 0)
		hear_up(w, line);
}

int launch_health_open(struct launch_job *j, struct drill_err *err)
{
	int i, rc = 0;

	for (i = 0; i < j->n_hosts && is_on(j) && rc == 0; i++) {
		struct launch_health *w = calloc(1, sizeof(*w));

		if (!w)
			return drill_err_set(err, -ENOMEM, "launch",
					     "no memory");
		w->watch.host = &j->hosts[i];
		w->watch.hear = hear;
		j->hosts[i].health = w;
		rc = launch_watcher_start(&w->watch, err);
	}
	return rc;
}

void launch_health_tick(struct launch_job *j)
{
	int i;

	for (i = 0; i < j->n_hosts; i++)
		if (j->hosts[i].health)
			launch_watcher_tick(&j->hosts[i].health->watch);
}

void launch_health_begin(struct launch_job *j)
{
	int i, k;

	for (i = 0; i < j->n_hosts; i++)
		for (k = 0; j->hosts[i].health && k <= DEVICES; k++) {
			struct device *d = &j->hosts[i].health->device[k];

			d->told_ns = d->n_seen = 0;
		}
}

void launch_health_look(struct launch_job *j)
{
	int i;

	for (i = 0; i < j->n_hosts; i++)
		if (j->hosts[i].health)
			launch_watcher_say(&j->hosts[i].health->watch,
					   "look\n");
}

/* Of those that the job ran on, the one that was told first. */
bool launch_health_blame(struct launch_job *j)
{
	struct launch_health *of = NULL;
	int i, k, first = 0;

	for (i = 0; i < j->n_hosts; i++)
		for (k = 0; j->hosts[i].health && k <= DEVICES; k++) {
			struct device *d = &j->hosts[i].health->device[k];

			if (d->told_ns &&
			    (!of || d->told_ns < of->device[first].told_ns)) {
				of = j->hosts[i].health;
				first = k;
			}
		}
	if (of)
		tell_blamed(j, of->watch.host, first == DEVICES ? -1 : first,
			    of->device[first].by,
			    of->device[first].why);
	return of;
}

/* Once may be chance: memory that the last attempt had not given back, say. */
static bool failed_start(const struct launch_job *j, const struct launch_host *h)
{
	int i;

	for (i = 0; i < j->n_ranks; i++) {
		const struct launch_report *r = &j->ranks[i].report;

		if (&j->hosts[r->host] == h && r->state == LAUNCH_EXITED &&
		    !r->signal && r->code == FAULTDRILL_EXIT_DEVICE &&
		    r->step == 0)
			return true;
	}
	return false;
}

void launch_health_starts(struct launch_job *j)
{
	int i;

	for (i = 0; i < j->n_hosts; i++) {
		struct launch_host *h = &j->hosts[i];

		h->bad_starts = failed_start(j, h) ? h->bad_starts + 1 : 0;
		if (h->bad_starts == BAD_STARTS)
			exclude(h, "a device of it fails at each start");
	}
}

/* ---- mending ---- */

static void ask_reset(struct launch_health *w, int index)
{
	struct device *d = &w->device[index];
	char line[32];

	if (d->resets++ == RESETS) {
		exclude_for(w->watch.host, index, "resets do not help");
		return;
	}
	if (!w->watch.open) {
		exclude_for(w->watch.host, index,
			    "nobody is there to reset it");
		return;
	}
	snprintf(line, sizeof(line), "reset %d\n", index);
	d->asked = true;
	w->asked_ns = launch_now();
	launch_watcher_say(&w->watch, line);
}

static bool mend_device(struct launch_health *w, int index)
{
	struct device *d = &w->device[index];

	if (w->watch.host->bad || w->watch.host->lost)
		return false;
	if (d->asked && launch_now() - w->asked_ns > RESET_MS * LAUNCH_MS) {
		d->asked = false;
		exclude_for(w->watch.host, index, "its reset never ended");
	} else if (!d->asked && d->need == LAUNCH_REPLACE) {
		exclude_for(w->watch.host, index, d->why);
	} else if (!d->asked &&
		   (d->need == LAUNCH_RESET || d->need == LAUNCH_NOTE)) {
		ask_reset(w, index);
	} else if (!d->asked) {
		d->need = LAUNCH_IGNORE;
	}
	return d->asked;
}

bool launch_health_mend(struct launch_job *j)
{
	bool wait = false;
	int i, k;

	for (i = 0; i < j->n_hosts; i++)
		for (k = 0; j->hosts[i].health && k <= DEVICES; k++)
			wait |= mend_device(j->hosts[i].health, k);
	return wait;
}

void launch_health_close(struct launch_job *j)
{
	int i;

	for (i = 0; i < j->n_hosts; i++)
		if (j->hosts[i].health)
			launch_watcher_close(&j->hosts[i].health->watch);
}
