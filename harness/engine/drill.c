/* drill.c - the whole drill: lock, heal, lab, agents, trials in turn, verdict
 * SPDX-License-Identifier: MIT
 */
#include "drill_impl.h"

#include "harness/agent/heal.h"
#include "harness/agent/lock.h"
#include "harness/core/jsonx.h"
#include "harness/lab/lab_sweep.h"
#include "injectors/hooks/xid_log.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int64_t drill_now(struct drill *d)
{
	return drill_raw_ns(d->lab.ops->clock(&d->lab));
}

double drill_t_s(struct drill *d, int64_t ns)
{
	return (double)(ns - d->start_ns) / 1e9;
}

/* ---- waiting ---- */

struct alarm {
	struct drill *d;
	bool rang;
};

static void on_alarm(void *arg)
{
	struct alarm *a = arg;

	a->rang = true;
	a->d->lab.ops->stop(&a->d->lab);
}

void drill_poke(struct drill *d)
{
	if (d->ready && d->ready(d))
		d->lab.ops->stop(&d->lab);
}

/* A signal ends what may take long; winding up is waited for all the same,
 * unless it comes twice. */
static bool interrupted(struct drill *d, bool patient)
{
	return d->signals > (patient ? 1 : 0);
}

int drill_await(struct drill *d, drill_ready_fn *ready, int64_t ns,
		const char *what, struct drill_err *err)
{
	const struct drill_lab_ops *ops = d->lab.ops;
	struct alarm a = { d, false };
	bool patient = d->signals > 0 || d->failed;
	int timer, rc = 0;

	if (ready(d))
		return 0;
	d->ready = ready;
	timer = ops->timer(&d->lab, ns, on_alarm, &a);
	while (rc == 0 && !ready(d) && !a.rang && !interrupted(d, patient) &&
	       (!d->failed || patient))
		rc = ops->run(&d->lab, err);
	d->ready = NULL;
	if (!a.rang && timer > 0)
		ops->timer_cancel(&d->lab, timer);
	if (rc < 0 || ready(d))
		return rc;
	if (interrupted(d, patient))
		return drill_err_set(err, -EINTR, "drill", "interrupted while "
				     "waiting for %s", what);
	if (d->failed && !patient)
		return drill_err_set(err, d->failure.code, d->failure.who, "%s",
				     d->failure.msg);
	return drill_err_set(err, -ETIMEDOUT, "drill", "waited %d s for %s",
			     (int)(ns / DRILL_S), what);
}

void drill_give_up(struct drill *d, const struct drill_err *err)
{
	if (!d->failed) {
		d->failed = true;
		d->failure = *err;
	}
	d->lab.ops->stop(&d->lab);
}

static void on_signal(void *ctx, int signum)
{
	struct drill *d = ctx;

	d->signals++;
	d->signum = d->ret->signum = signum;
	drill_say(d, "revert", d->signals == 1
			  ? "stopping: reverting and reporting (once more to "
			    "leave at once)"
			  : "leaving: what is left is reverted on the way");
	d->lab.ops->stop(&d->lab);
}

/* ---- telling ---- */

static double expected(struct drill *d)
{
	double each = d->trial_s, left = d->trials_total - d->trial_number;
	double now = drill_t_s(d, drill_now(d));

	if (each <= 0)
		return 0;
	return now + (d->trial ? each : 0) + (left > 0 ? left * each : 0);
}

static void tell(struct drill *d, const char *phase, const char *text)
{
	struct drill_trial *t = d->trial;
	struct drill_progress p = { .phase = phase, .text = text,
				    .trials = d->trials_total };
	int i;

	if (!d->o->progress)
		return;
	p.elapsed_s = d->start_ns ? drill_t_s(d, drill_now(d)) : 0;
	p.expected_s = d->start_ns ? expected(d) : 0;
	if (t) {
		p.phase = drill_doing_name(t);
		p.trial = t->index + 1;
		p.role = drill_role_name(t->role);
		p.step = t->step;
		p.steps = drill_workload_steps(d->spec->workload);
		p.attempt = t->attempt;
		for (i = 0; i < d->plan.n; i++) {
			p.armed += t->faults[i].armed;
			p.fired += t->faults[i].effective > 0;
		}
	}
	d->o->progress(d->o->ctx, &p);
}

void drill_say(struct drill *d, const char *phase, const char *fmt, ...)
{
	char text[400];
	va_list ap;

	if (!fmt) {
		tell(d, phase, NULL);
		return;
	}
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	tell(d, phase, text);
}

void drill_show(struct drill *d)
{
	double now = drill_t_s(d, drill_now(d));

	if (now - d->shown_s < 0.1)
		return;
	d->shown_s = now;
	tell(d, "trial", NULL);
}

/* ---- before the lab ---- */

static int reverted(json_t *list)
{
	json_t *r;
	size_t i;
	int n = 0;

	json_array_foreach(list, i, r)
	{
		const char *state =
			json_string_value(json_object_get(r, "state"));

		n += state && strcmp(state, "reverted") == 0;
	}
	return n;
}

static int heal_first(struct drill *d, struct drill_err *err)
{
	json_t *done = NULL;
	int rc;

	if (!d->o->state)
		return 0;
	rc = drill_heal(d->o->state, false, &done, err);
	if (rc == 0)
		rc = drill_lab_sweep(false, done, err);
	if (reverted(done))
		drill_say(d, "lab", "records of dead runs that were reverted: %d",
			  reverted(done));
	json_decref(done);
	return rc;
}

static const char *lock_name(const struct drill *d, char *buf, int size)
{
	snprintf(buf, (size_t)size, "lab-%.32s", d->o->lab->name);
	return buf;
}

/* A lab without a name is made anew for this drill: nobody else can have it. */
static int take_lock(struct drill *d, struct drill_err *err)
{
	char name[64], what[80];

	if (!d->o->lab->name[0])
		return 0;
	lock_name(d, name, sizeof(name));
	snprintf(what, sizeof(what), "a drill (pid %d)", (int)getpid());
	return drill_lock_take(name, what, &d->lock_fd, err);
}

static int lab_up(struct drill *d, struct drill_err *err)
{
	int rc;

	d->lab.ops = d->o->ops;
	d->lab.spec = *d->o->lab;
	snprintf(d->lab.state, sizeof(d->lab.state), "%s",
		 d->o->state ? d->o->state : "");
	d->lab.cb = (struct drill_lab_callbacks){
		.ctx = d,
		.on_agent = drill_on_agent,
		.on_agent_gone = drill_on_agent_gone,
		.on_job = drill_on_job,
		.on_job_exit = drill_on_job_exit,
		.on_signal = on_signal,
	};
	rc = d->lab.ops->up(&d->lab, err);
	d->lab_up = rc == 0;
	return rc;
}

/* ---- the trials ---- */

/* Baseline, null and fault in turn, so that a drifting machine hits them all
 * alike. */
static int run_trials(struct drill *d, struct drill_err *err)
{
	int left[DRILL_ROLES], r, rc = 0, total = 0;

	for (r = 0; r < DRILL_ROLES; r++)
		total += left[r] = d->spec->trials[r];
	d->trials_total = total;
	d->trial_s = drill_workload_expected_s(d->spec->workload);
	while (rc == 0 && total > 0)
		for (r = 0; r < DRILL_ROLES && rc == 0; r++) {
			if (left[r] == 0)
				continue;
			left[r]--;
			total--;
			rc = drill_trial_run(d, (enum drill_role)r, err);
			if (json_array_size(d->dirty))
				return 0; /* nothing more on a dirty lab */
			if (d->no_baseline)
				return rc;
		}
	return rc;
}

static int on_lab(struct drill *d, struct drill_err *err)
{
	int rc;

	drill_say(d, "lab", "%s", d->o->lab_why ? d->o->lab_why
						: "bringing the lab up");
	rc = drill_hosts_up(d, err);
	if (rc == 0)
		drill_say(d, "probe", NULL);
	if (rc == 0)
		rc = drill_hosts_probe(d, err);
	if (rc < 0 || json_array_size(d->skips))
		return rc;
	drill_marks_begin(d);
	rc = run_trials(d, err);
	drill_marks_end(d);
	return rc;
}

static bool is_left(const struct drill *d, json_t *record)
{
	static const char *const ended[] = { "reverted", "kept" };
	const char *state = drill_json_text(record, "state");
	size_t i;

	if (strcmp(drill_json_text(record, "run"), d->id))
		return false; /* another's */
	for (i = 0; i < sizeof(ended) / sizeof(ended[0]); i++)
		if (strcmp(state, ended[i]) == 0)
			return false;
	return true;
}

/* Not everybody was heard to the end: the journals know what is left, and heal
 * finishes it. With the lab down nobody holds them any more. */
static void prove(struct drill *d)
{
	struct drill_err err = { 0 };
	json_t *records = NULL, *r;
	size_t i;
	int rc;

	if (!d->unproven || !d->o->state)
		return;
	rc = drill_heal(d->o->state, false, &records, &err);
	if (rc < 0 && rc != -EUCLEAN)
		json_array_append_new(d->dirty,
				      json_pack("{s:s s:s}", "what", err.msg,
						"command", "faultdrill heal"));
	json_array_foreach(records, i, r)
		if (is_left(d, r))
			json_array_append_new(
				d->dirty,
				json_pack("{s:o s:O s:s}", "what",
					  json_sprintf("%s: %s",
						drill_json_text(r, "id"),
						drill_json_text(r, "reason")),
					  "host", json_object_get(r, "host"),
					  "command", "faultdrill heal"));
	json_decref(records);
}

static sigset_t heard(void)
{
	sigset_t ret;

	sigemptyset(&ret);
	sigaddset(&ret, SIGINT);
	sigaddset(&ret, SIGTERM);
	sigaddset(&ret, SIGHUP);
	return ret;
}

/* With the lab its loop goes, and with that who heard signals: one that came then
 * would end us in the middle of a report. */
static void hold_signals(struct drill_result *r)
{
	sigset_t all = heard();

	sigprocmask(SIG_BLOCK, &all, &r->mask);
	r->deaf = true;
}

void drill_result_hear(struct drill_result *r)
{
	struct timespec now = { 0 };
	sigset_t all = heard();
	int signum;

	if (!r->deaf)
		return;
	while ((signum = sigtimedwait(&all, NULL, &now)) > 0)
		r->signum = signum;
	sigprocmask(SIG_SETMASK, &r->mask, NULL);
	r->deaf = false;
}

static void take_down(struct drill *d)
{
	struct drill_err err = { 0 };

	if (!d->lab_up)
		return;
	drill_say(d, "lab", "taking the lab down");
	d->lab_up = false;
	drill_hosts_down(d);
	hold_signals(d->ret);
	if (d->lab.ops->down(&d->lab, &err) < 0)
		json_array_append_new(d->dirty,
				      json_pack("{s:s s:s}", "what", err.msg,
						"command", "faultdrill heal"));
	prove(d);
	drill_hosts_free(d);
}

static int make_plan(struct drill *d, struct drill_err *err)
{
	int rc = drill_plan_make(d->spec, d->o->lab, d->lab.hosts,
				 d->lab.n_hosts, d->o->seed, &d->plan, err);

	return rc < 0 ? rc : drill_plan_allowed(&d->plan, d->o->allow, err);
}

/* A lab that was named, but that cannot be here, is a skip. */
static int check_lab(struct drill *d, struct drill_err *err)
{
	struct drill_err no = { 0 };
	int rc = d->o->ops->probe ? d->o->ops->probe(d->o->lab, &no) : 0;

	if (rc == -EINVAL)
		return drill_err_set(err, rc, no.who, "%s", no.msg);
	if (rc < 0) {
		snprintf(d->plan.skip_text, sizeof(d->plan.skip_text),
			 "lab %s cannot be here: %.150s", d->o->ops->name,
			 no.msg);
		d->plan.skip = d->plan.skip_text;
	}
	return 0;
}

/* Everything that a wrong scenario can be refused for, before anything is. */
static int check_plan(struct drill *d, struct drill_err *err)
{
	struct drill_plan_made plan;
	struct drill_lab_host *hosts;
	int n, rc;

	hosts = drill_plan_hosts(d->o->lab, &n);
	rc = drill_plan_make(d->spec, d->o->lab, hosts, n, d->o->seed, &plan,
			     err);
	if (rc == 0)
		rc = drill_plan_allowed(&plan, d->o->allow, err);
	if (rc == 0 && d->o->kmsg)
		rc = drill_xid_kmsg_may(
			d->o->allow >= DRILL_RISK_DISRUPTIVE,
			strcmp(d->o->ops->name, "netns") == 0, err);
	if (rc == 0 && plan.skip) {
		snprintf(d->plan.skip_text, sizeof(d->plan.skip_text), "%s",
			 plan.skip);
		d->plan.skip = d->plan.skip_text;
	}
	else if (rc == 0)
		rc = check_lab(d, err);
	drill_plan_made_done(&plan);
	free(hosts);
	return rc;
}

static int run_all(struct drill *d, struct drill_err *err)
{
	int rc = take_lock(d, err);

	if (rc == 0)
		rc = heal_first(d, err);
	if (rc == 0)
		rc = lab_up(d, err);
	if (rc < 0)
		return rc;
	d->start_ns = drill_now(d);
	rc = make_plan(d, err);
	if (rc == 0)
		rc = drill_result_open(d, err);
	if (rc == 0)
		d->head = drill_result_head(d);
	if (rc == 0)
		rc = on_lab(d, err);
	return rc;
}

static void drill_init(struct drill *d, const struct drill_spec *spec,
		       const struct drill_options *o, struct drill_result *ret)
{
	memset(d, 0, sizeof(*d));
	memset(ret, 0, sizeof(*ret));
	d->spec = spec;
	d->o = o;
	d->ret = ret;
	d->lock_fd = -1;
	ret->events = json_array();
	d->skips = json_array();
	d->dirty = json_array();
	d->trial_infos = json_array();
	d->snapshots = json_array();
	d->transports = json_object();
}

static void drill_done(struct drill *d)
{
	struct drill_err err = { 0 };
	char name[64];

	if (d->log_open)
		drill_event_log_close(&d->log, &err);
	drill_lock_drop(lock_name(d, name, sizeof(name)), d->lock_fd);
	drill_plan_made_done(&d->plan);
	json_decref(d->skips);
	json_decref(d->dirty);
	json_decref(d->trial_infos);
	json_decref(d->snapshots);
	json_decref(d->transports);
	json_decref(d->head);
}

/* Without a run to write down: a lab that could not be taken down outweighs why
 * the drill did not begin. */
static int refuse(struct drill *d, int rc, const struct drill_err *err)
{
	d->ret->outcome = rc == -EUCLEAN || json_array_size(d->dirty)
				  ? DRILL_DIRTY
			  : rc == -EINVAL || rc == -EPERM ? DRILL_USAGE
							  : DRILL_ERROR;
	snprintf(d->ret->reason, sizeof(d->ret->reason), "%s", err->msg);
	return rc;
}

/* What cannot be written down did not end well, whatever it showed. */
static int written(struct drill *d, int rc, struct drill_err *err)
{
	struct drill_err why = { 0 };
	int wrote = drill_result_write(d, &why);

	if (wrote == 0)
		return rc;
	d->ret->outcome = drill_outcome_worse(d->ret->outcome, DRILL_ERROR);
	return rc < 0 && rc != -EINTR
		       ? rc
		       : drill_err_set(err, wrote, why.who, "%s", why.msg);
}

int drill_run(const struct drill_spec *spec, const struct drill_options *o,
	      struct drill_result *ret, struct drill_err *err)
{
	struct drill d;
	int rc;

	drill_init(&d, spec, o, ret);
	rc = check_plan(&d, err);
	if (rc == 0 && d.plan.skip) {
		ret->outcome = DRILL_SKIP;
		snprintf(ret->reason, sizeof(ret->reason), "%s", d.plan.skip);
		drill_done(&d);
		return 0;
	}
	if (rc == 0)
		rc = run_all(&d, err);
	if (rc < 0 && rc != -EINTR && d.head && !d.failed) {
		d.failed = true;
		d.failure = *err;
	}
	take_down(&d);
	if (d.head)
		rc = written(&d, rc, err);
	else if (rc < 0)
		refuse(&d, rc, err);
	drill_done(&d);
	return rc == -EINTR ? 0 : rc;
}

void drill_result_done(struct drill_result *r)
{
	drill_result_hear(r);
	json_decref(r->run);
	json_decref(r->events);
	memset(r, 0, sizeof(*r));
}
