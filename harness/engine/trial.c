/* trial.c - one run of the workload: plan, job, story, revert, end
 * SPDX-License-Identifier: MIT
 */
#include "drill_impl.h"

#include "harness/agent/snapshot.h"
#include "harness/core/jsonx.h"
#include "harness/measure/measure.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REVERT_NS (30 * DRILL_S)
#define STOP_NS (30 * DRILL_S)

int drill_fault_index(const struct drill *d, const char *name)
{
	return drill_spec_fault_index(d->spec, name);
}

void drill_trial_find(struct drill_trial *t, enum drill_outcome o,
		      const char *fmt, ...)
{
	enum drill_outcome was;
	char what[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	was = t->outcome;
	t->outcome = t->judged ? drill_outcome_in_trial(was, o) : o;
	/* What made the outcome stands first. */
	if (json_array_size(t->reasons) < 50)
		json_array_insert_new(t->reasons, t->judged && t->outcome != was
				      ? 0 : json_array_size(t->reasons),
				      json_pack("{s:s s:s}", "outcome",
						drill_outcome_name(o), "text",
						what));
	t->judged = true;
}

/* ---- events of the trial ---- */

static void fault_event(struct drill_trial *t, json_t *e, const char *what)
{
	int i = drill_fault_index(t->d, drill_json_text(e, "fault"));
	struct drill_fault_state *f;

	if (i < 0)
		return;
	f = &t->faults[i];
	if (strcmp(what, "requested") == 0) {
		f->requested++;
	} else if (strcmp(what, "issued") == 0) {
		f->issued++;
	} else if (strcmp(what, "effective") == 0) {
		f->effective++;
		f->effective_step = t->step;
		f->effective_ns = drill_now(t->d);
		f->revert_sent = false;
		drill_say(t->d, "trial", t->role == DRILL_NULL
					 ? "%s would be in force"
					 : "%s is in force",
			  t->d->spec->faults[i].name);
	} else if (strcmp(what, "reverted") == 0) {
		f->reverted++;
	}
}

static void step_event(struct drill_trial *t, json_t *e, bool begin)
{
	int64_t step = json_integer_value(json_object_get(e, "step"));

	if (begin && step > t->step)
		t->step = step;
	if (begin && !t->first_step)
		t->first_step = step;
	if (!begin && step > t->ended_step)
		t->ended_step = step;
	drill_show(t->d);
}

static void rank_event(struct drill_trial *t, json_t *e)
{
	json_int_t rank = json_integer_value(json_object_get(e, "rank"));

	if (rank < 0 || rank >= drill_workload_ranks(t->d->spec->workload))
		return;
	t->began[rank] = true;
}

static void attempt_event(struct drill_trial *t, json_t *e, bool begin)
{
	if (begin) {
		t->attempt = (int)json_integer_value(
			json_object_get(e, "attempt"));
		t->first_step = t->ended_step = 0;
		drill_say(t->d, "trial", "attempt %d", t->attempt);
	} else if (strcmp(drill_json_text(e, "reason"), "done") == 0) {
		t->done = true;
	}
}

void drill_trial_event(struct drill_trial *t, json_t *e)
{
	const char *kind = drill_json_text(e, "kind");

	if (strncmp(kind, "fault.", 6) == 0)
		fault_event(t, e, kind + 6);
	else if (strcmp(kind, "step.begin") == 0)
		step_event(t, e, true);
	else if (strcmp(kind, "step.end") == 0)
		step_event(t, e, false);
	else if (strcmp(kind, "rank.begin") == 0)
		rank_event(t, e);
	else if (strcmp(kind, "attempt.begin") == 0)
		attempt_event(t, e, true);
	else if (strcmp(kind, "attempt.end") == 0)
		attempt_event(t, e, false);
	else if (strcmp(kind, "sample") == 0 &&
		 strcmp(drill_json_text(e, "metric"), "ring.lost") == 0)
		t->lost_records += json_integer_value(
			json_object_get(e, "value"));
	else if (strcmp(kind, "detected") == 0)
		drill_evidence_look(t, e);
	drill_doing_event(t, e);
}

void drill_on_job_exit(void *ctx, const char *job, int code)
{
	struct drill *d = ctx;

	(void)job;
	if (d->trial) {
		d->trial->running = false;
		d->trial->job_code = d->ret->job_code = code;
		if (d->o->direct)
			drill_note(d, json_pack("{s:s s:i s:s}", "kind",
						"attempt.end", "attempt", 1,
						"reason", d->trial->deadline
								  ? "gave_up"
								  : "done"));
		drill_stage_tick(d->trial);
	}
	drill_poke(d);
}

/* ---- the trial so far ---- */

json_t *drill_trial_measured(struct drill_trial *t, bool now)
{
	struct drill *d = t->d;
	json_t *all = NULL, *e, *trials;
	size_t i;

	if (!now && t->measured &&
	    drill_now(d) - t->measured_ns < 250 * DRILL_MS)
		goto found;
	if (drill_measure(d->ret->events, &all, NULL) < 0)
		return NULL;
	json_decref(t->measured);
	t->measured = all;
	t->measured_ns = drill_now(d);
found:
	trials = json_object_get(t->measured, "trials");
	json_array_foreach(trials, i, e)
		if (json_integer_value(json_object_get(e, "trial")) == t->index)
			return e;
	return NULL;
}

/* ---- its beginning ---- */

static json_t *fault_names(struct drill *d, enum drill_role role)
{
	json_t *out = json_array();
	int i;

	for (i = 0; i < d->plan.n && role != DRILL_BASELINE; i++)
		json_array_append_new(out, json_string(d->spec->faults[i].name));
	return out;
}

static void note_begin(struct drill *d, struct drill_trial *t)
{
	int64_t steps = drill_workload_steps(d->spec->workload);
	json_t *e = json_pack("{s:s s:s s:i s:i s:o}", "kind", "trial.begin",
			      "role", drill_role_name(t->role), "ranks",
			      drill_workload_ranks(d->spec->workload), "spares",
			      d->lab.n_hosts - d->lab.spec.hosts, "faults",
			      fault_names(d, t->role));

	if (steps)
		json_object_set_new(e, "steps", json_integer(steps));
	drill_note(d, e);
}

static int trial_init(struct drill *d, struct drill_trial *t,
		      enum drill_role role, struct drill_err *err)
{
	int ranks = drill_workload_ranks(d->spec->workload), i;

	memset(t, 0, sizeof(*t));
	t->d = d;
	t->index = d->trial_number++;
	t->role = role;
	t->first_event = json_array_size(d->ret->events);
	t->faults = calloc((size_t)d->plan.n + 1, sizeof(*t->faults));
	t->hello = calloc((size_t)ranks + 1, sizeof(bool));
	t->began = calloc((size_t)ranks + 1, sizeof(bool));
	t->reasons = json_array();
	t->expects = json_array();
	t->randoms = json_object();
	t->proxied = calloc((size_t)ranks + 1, sizeof(*t->proxied));
	t->hook_needed = role == DRILL_FAULT_TRIAL &&
			 drill_spec_needs(d->spec, "hook:mpi");
	t->proxy_needed = role == DRILL_FAULT_TRIAL &&
			  drill_spec_needs(d->spec, "hook:cuda");
	snprintf(t->dir, sizeof(t->dir), "%.300s/trial-%d", d->lab.dir,
		 t->index);
	if (!t->faults || !t->hello || !t->began || !t->proxied)
		return drill_err_set(err, -ENOMEM, "drill", "no memory");
	for (i = 0; i < d->plan.n; i++) {
		t->faults[i].armed = role != DRILL_BASELINE;
		t->faults[i].trial = t;
	}
	return 0;
}

static void trial_done(struct drill_trial *t)
{
	free(t->faults);
	free(t->hello);
	free(t->began);
	free(t->proxied);
	json_decref(t->reasons);
	json_decref(t->expects);
	json_decref(t->randoms);
	json_decref(t->measured);
	json_decref(t->wait.triple);
}

/* ---- its end ---- */

static void on_deadline(void *arg)
{
	struct drill_trial *t = arg;

	t->deadline_timer = 0;
	t->deadline = true;
	drill_poke(t->d);
}

static bool trial_over(struct drill *d)
{
	struct drill_trial *t = d->trial;

	if (t->deadline || t->aborted || t->skipped)
		return true;
	return t->story_over && (!t->started || !t->running);
}

static bool is_in_force(const struct drill_fault_state *f)
{
	return f->effective > f->reverted && !f->irreversible && !f->dirty;
}

/* Of a fault whose agents are all gone no revert will be heard. */
static bool all_reverted(struct drill *d)
{
	int i;

	for (i = 0; i < d->plan.n; i++)
		if (is_in_force(&d->trial->faults[i]) && drill_hosts_hear(d, i))
			return false;
	return true;
}

/* Something of ours was not seen to end. When we were told to leave, or could
 * not be told, nobody knows yet: the end of the drill asks the journals. */
static void find_unseen(struct drill_trial *t, const struct drill_err *err,
			const char *what)
{
	bool known = err->code && err->code != -EINTR;

	t->d->unproven |= !known;
	drill_trial_find(t, known	    ? DRILL_DIRTY
			    : t->d->failed ? DRILL_ERROR
					   : DRILL_INCONCLUSIVE,
			 "%s%s%s", what, err->code ? ": " : "", err->msg);
}

static bool job_gone(struct drill *d)
{
	return !d->trial->running;
}

void drill_trial_revert(struct drill_trial *t, int i)
{
	struct drill_fault_state *f = &t->faults[i];

	if (f->revert_sent)
		return;
	f->revert_sent = true;
	drill_hosts_send(t->d, json_pack("{s:s s:s}", "kind", "revert", "fault",
					 t->d->spec->faults[i].name));
}

/* Order: stop injecting, revert, verify; only then is the job stopped. */
static void revert_all(struct drill *d, struct drill_trial *t)
{
	struct drill_err err = { 0 };
	char what[160];
	int i;

	for (i = 0; i < d->plan.n; i++)
		if (t->faults[i].armed)
			drill_trial_revert(t, i);
	drill_await(d, all_reverted, REVERT_NS, "the revert", &err);
	for (i = 0; i < d->plan.n; i++) {
		if (!is_in_force(&t->faults[i]))
			continue;
		snprintf(what, sizeof(what), "'%.60s' was not seen reverted%s",
			 d->spec->faults[i].name,
			 drill_hosts_hear(d, i) ? "" : ", its agent is gone");
		find_unseen(t, &err, what);
	}
}

static void stop_job(struct drill *d, struct drill_trial *t)
{
	struct drill_err err = { 0 };

	if (!t->started || !t->running)
		return;
	if (d->lab.ops->job_stop(&d->lab, d->spec->job, &err) < 0 ||
	    drill_await(d, job_gone, STOP_NS, "the job to stop", &err) < 0)
		if (t->running)
			find_unseen(t, &err, "the job was not seen to stop");
}

/* Where the hosts are this machine itself no fault can change a mount or a
 * sysctl: what changed there is other people's. Only the job's own processes
 * are ours. */
static bool is_strangers(const struct drill *d, const char *line)
{
	return d->lab.ops->shared && strncmp(line, "processes:", 10);
}

static void tell_difference(struct drill *d, struct drill_trial *t, int host,
			    const char *line, json_t *ours, json_t *strangers)
{
	const struct drill_lab_host *h = &d->lab.hosts[host];
	bool theirs = is_strangers(d, line);

	json_array_append_new(theirs ? strangers : ours,
			      json_sprintf("%s: %s", h->name, line));
	if (!theirs)
		drill_trial_find(t, DRILL_DIRTY, "host %s is not as before: %s",
				 h->name, line);
}

static void compare_snapshots(struct drill *d, struct drill_trial *t)
{
	json_t *all = json_array(), *diff, *v, *classes = json_object();
	json_t *strangers = json_array();
	size_t k;
	int i;

	for (i = 0; i < d->lab.n_hosts; i++) {
		struct drill_host_state *h = &d->hosts[i];
		const char *class;

		if (!h->before || !h->after)
			continue;
		json_object_foreach(h->after, class, v)
			json_object_set_new(
				classes, class,
				json_integer((json_int_t)json_array_size(v) +
					     json_integer_value(json_object_get(
						     classes, class))));
		diff = drill_snapshot_compare(h->before, h->after);
		json_array_foreach(diff, k, v)
			tell_difference(d, t, i, json_string_value(v), all,
					strangers);
		json_decref(diff);
	}
	json_array_append_new(d->snapshots,
			      json_pack("{s:b s:o s:o s:o}", "equal",
					json_array_size(all) == 0, "classes",
					classes, "differences", all,
					"strangers", strangers));
}

/* ---- what the trial itself shows, before any number ---- */

static bool by_step(const struct drill *d, int fault)
{
	const char *on = drill_json_text(
		json_object_get(d->plan.faults[fault].fault, "at"), "on");

	return strcmp(on, "step") == 0 || strcmp(on, "every") == 0;
}

static void find_never_fired(struct drill *d, struct drill_trial *t)
{
	char hosts[200];
	size_t len = 0, k;
	json_t *v;
	int i;

	for (i = 0; i < d->plan.n; i++) {
		struct drill_fault_state *f = &t->faults[i];
		json_t *target = json_object_get(d->plan.faults[i].fault,
						 "target");

		if (f->effective || t->role != DRILL_FAULT_TRIAL ||
		    t->skipped || d->signals)
			continue;
		hosts[0] = '\0';
		len = 0;
		json_array_foreach(json_object_get(target, "hosts"), k, v)
			if (len < sizeof(hosts))
				len += (size_t)snprintf(
					hosts + len, sizeof(hosts) - len,
					"%s%s", k ? ", " : "",
					json_string_value(v));
		drill_trial_find(t, DRILL_INCONCLUSIVE,
				 f->requested ? "'%s' was fired on host %s but "
						"never took effect%s"
					      : "'%s' never fired; it was "
						"armed on host %s%s",
				 d->spec->faults[i].name, hosts,
				 f->requested
					 ? drill_evidence_unfelt(
						   t, d->spec->faults[i].injector)
				 : t->step == 0 && by_step(d, i)
					 ? ", and the job told no step"
					 : "");
	}
}

static void find_lost(struct drill_trial *t)
{
	if (t->lost_records)
		drill_trial_find(t, DRILL_INCONCLUSIVE,
				 "%d events of the job were lost: its ring was "
				 "full", (int)t->lost_records);
}

static void find_end(struct drill *d, struct drill_trial *t)
{
	bool ours = t->role != DRILL_FAULT_TRIAL;
	char words[300] = "";

	if (t->skipped)
		return;
	if (!t->done && t->started && !t->deadline && !t->aborted &&
	    !d->signals && !d->o->direct)
		drill_last_words(t, words, sizeof(words));
	if (words[0])
		drill_stage_log(t, words);
	if (d->signals)
		drill_trial_find(t, DRILL_INCONCLUSIVE, "interrupted (%s)",
				 d->signum == SIGINT ? "Ctrl-C"
						     : strsignal(d->signum));
	else if (t->aborted)
		return; /* already told */
	else if (t->deadline && t->done)
		drill_trial_find(t, DRILL_INCONCLUSIVE,
				 "the story had not ended at the deadline");
	else if (t->deadline && ours)
		drill_trial_find(t, DRILL_INCONCLUSIVE,
				 "the job had not ended at the deadline");
	else if (t->deadline && d->spec->expect.n == 0)
		drill_trial_find(t, DRILL_FAIL,
				 "the job had not ended at the deadline");
	else if (!t->done && t->started && !t->deadline && ours)
		drill_trial_find(t, DRILL_INCONCLUSIVE,
				 "the job ended without finishing (exit "
				 "status %d)%s%s", t->job_code,
				 words[0] ? "; " : "", words);
	else if (!t->done && t->started && !t->deadline &&
		 d->spec->expect.n == 0)
		drill_trial_find(t, DRILL_FAIL,
				 "the job did not finish (exit status %d)%s%s",
				 t->job_code, words[0] ? "; " : "", words);
	if (ours && t->attempt > 1)
		drill_trial_find(t, DRILL_INCONCLUSIVE,
				 "contaminated: the job was started %d times "
				 "though nothing was broken", t->attempt);
}

static json_t *info(struct drill_trial *t)
{
	return json_pack("{s:i s:s s:b s:O s:O s:O}", "trial", t->index,
			 "role", drill_role_name(t->role), "skipped",
			 t->skipped, "findings", t->reasons, "expects",
			 t->expects, "draws", t->randoms);
}

static void note_end(struct drill *d, struct drill_trial *t)
{
	json_t *e = json_pack("{s:s s:s}", "kind", "trial.end", "outcome",
			      drill_outcome_name(t->outcome));
	json_t *first = json_array_get(t->reasons, 0);

	if (first)
		json_object_set(e, "reason", json_object_get(first, "text"));
	drill_note(d, e);
	json_array_append_new(d->trial_infos, info(t));
}

static int run_it(struct drill *d, struct drill_trial *t, struct drill_err *err)
{
	int rc = drill_hosts_snapshot(d, "before", err);

	if (rc == 0)
		rc = drill_hosts_plan(d, t, err);
	if (rc < 0)
		return rc;
	note_begin(d, t);
	t->begin_ns = drill_now(d);
	t->deadline_timer = d->lab.ops->timer(&d->lab, d->spec->deadline_ns,
					      on_deadline, t);
	drill_stage_begin(t);
	return drill_await(d, trial_over, d->spec->deadline_ns + 60 * DRILL_S,
			   "the trial", err);
}

static void wind_up(struct drill *d, struct drill_trial *t)
{
	struct drill_err err = { 0 };

	drill_stage_done(t);
	if (t->deadline_timer > 0)
		d->lab.ops->timer_cancel(&d->lab, t->deadline_timer);
	t->doing = DRILL_REVERTS;
	drill_say(d, "trial", NULL);
	revert_all(d, t);
	stop_job(d, t);
	if (drill_hosts_end_trial(d, t, &err) < 0)
		find_unseen(t, &err, "the trial was not seen to end");
	memset(&err, 0, sizeof(err));
	if (drill_hosts_snapshot(d, "after", &err) == 0)
		compare_snapshots(d, t);
	else
		find_unseen(t, &err, "the hosts were not compared");
}

int drill_trial_run(struct drill *d, enum drill_role role,
		    struct drill_err *err)
{
	struct drill_trial *t = calloc(1, sizeof(*t));
	struct drill_err why = { 0 };
	int64_t begin = drill_now(d);
	int rc;

	if (!t)
		return drill_err_set(err, -ENOMEM, "drill", "no memory");
	rc = trial_init(d, t, role, err);
	if (rc < 0) {
		trial_done(t);
		free(t);
		return rc;
	}
	d->trial = t;
	drill_say(d, "trial", NULL);
	rc = run_it(d, t, &why);
	if (rc < 0 && rc != -EINTR)
		drill_trial_find(t, DRILL_ERROR, "%s", why.msg);
	wind_up(d, t);
	find_never_fired(d, t);
	drill_evidence_find(t);
	find_lost(t);
	find_end(d, t);
	if (role == DRILL_BASELINE && t->started && !t->done && !d->signals)
		d->no_baseline = true;
	note_end(d, t);
	d->trial_s = (double)(drill_now(d) - begin) / 1e9;
	d->trial = NULL;
	if (rc < 0 && rc != -EINTR)
		drill_err_set(err, rc, why.who, "%s", why.msg);
	trial_done(t);
	free(t);
	return rc;
}
