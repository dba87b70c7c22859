/* instant.c - "lost.detected", "job.steady": has it come yet?
 * SPDX-License-Identifier: MIT
 */
#include "drill_impl.h"

#include "harness/core/unit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define WARM_UP 3

static bool is_one_of(const char *name, const char *const *list)
{
	for (; *list; list++)
		if (strcmp(*list, name) == 0)
			return true;
	return false;
}

static int job_instant(struct drill_trial *t, const char *name)
{
	if (strcmp(name, "started") == 0)
		return t->attempt > 0;
	if (strcmp(name, "steady") == 0)
		return t->first_step &&
		       t->ended_step >= t->first_step + WARM_UP;
	if (strcmp(name, "done") == 0 && t->started && !t->running && !t->done)
		return -1;
	return t->started && !t->running;
}

/* An event of @kind after the fault took effect. */
static int seen_after(struct drill_trial *t, const char *fault,
		      const char *kind)
{
	json_t *events = t->d->ret->events, *e;
	bool effective = false;
	size_t i;

	for (i = t->first_event; i < json_array_size(events); i++) {
		const char *k, *f;

		e = json_array_get(events, i);
		k = json_string_value(json_object_get(e, "kind"));
		f = json_string_value(json_object_get(e, "fault"));
		if (strcmp(k, "fault.effective") == 0 && f &&
		    strcmp(f, fault) == 0)
			effective = true;
		else if (effective && strcmp(k, kind) == 0)
			return 1;
	}
	return 0;
}

/* The rest is what measuring says of the incident so far. */
static int measured_instant(struct drill_trial *t, const char *fault,
			    const char *name)
{
	json_t *trial = drill_trial_measured(t, false), *inc;
	size_t i;

	json_array_foreach(json_object_get(trial, "incidents"), i, inc) {
		json_t *at = json_object_get(json_object_get(inc, "instants"),
					     name);
		const char *f = json_string_value(json_object_get(inc,
								  "fault"));

		if (f && strcmp(f, fault) == 0 && at && !json_is_null(at))
			return 1;
	}
	return 0;
}

static int fault_instant(struct drill_trial *t, int i, const char *name)
{
	static const char *const events[] = { "symptom", "detected", "blamed",
					      "stopped", "fenced", "allocated",
					      NULL };
	struct drill_fault_state *f = &t->faults[i];
	const char *fault = t->d->spec->faults[i].name;

	if (strcmp(name, "requested") == 0)
		return f->requested > 0;
	if (strcmp(name, "issued") == 0)
		return f->issued > 0;
	if (strcmp(name, "effective") == 0)
		return f->effective > 0;
	if (strcmp(name, "reverted") == 0)
		return f->effective <= f->reverted || f->irreversible ||
		       f->dirty;
	if (is_one_of(name, events))
		return seen_after(t, fault, name);
	if (strcmp(name, "restarted") == 0)
		return seen_after(t, fault, "attempt.begin");
	return measured_instant(t, fault, name);
}

int drill_instant_check(const struct drill_spec *spec, const char *what,
			int *fault, const char **name, struct drill_err *err)
{
	static const char *const of_fault[] = {
		"requested", "issued", "effective", "symptom", "detected",
		"blamed", "stopped", "fenced", "allocated", "restarted",
		"connected", "restored", "resumed", "caught_up", "steady",
		"reverted", NULL };
	static const char *const of_job[] = { "started", "steady", "done",
					      "ended", NULL };
	const char *dot = strchr(what, '.'), *near;
	char subject[64], hint[80];

	snprintf(subject, sizeof(subject), "%.*s",
		 (int)(dot ? dot - what : 0), what);
	*fault = drill_spec_fault_index(spec, subject);
	*name = dot ? dot + 1 : "";
	if (*fault < 0 && strcmp(subject, spec->job) != 0)
		return drill_err_set(err, -EINVAL, NULL,
				     "'%s': no fault or workload '%s'%s", what,
				     subject,
				     drill_spec_nearest(spec, subject, true,
							hint, sizeof(hint)));
	if (!is_one_of(*name, *fault >= 0 ? of_fault : of_job)) {
		near = drill_nearest(*name, *fault >= 0 ? of_fault : of_job);
		return drill_err_set(err, -EINVAL, NULL, "'%s': no instant "
				     "'%s' of a %s%s%s%s", what, *name,
				     *fault >= 0 ? "fault" : "workload",
				     near ? " (did you mean '" : "",
				     near ? near : "", near ? "'?)" : "");
	}
	return 0;
}

int drill_instant_reached(struct drill_trial *t, const char *what,
			  struct drill_err *err)
{
	const char *name;
	int fault;

	if (drill_instant_check(t->d->spec, what, &fault, &name, err) < 0)
		return -EINVAL;
	return fault >= 0 ? fault_instant(t, fault, name)
			  : job_instant(t, name);
}
