/* stage.c - what a story may do, and what it waits for
 * SPDX-License-Identifier: MIT
 */
#include "drill_impl.h"

#include "harness/measure/measure.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define POLL_NS (100 * DRILL_MS)

/* ---- the job ---- */

/* exec: no launcher; what it would say of the only rank, we say. */
static int start_direct(struct drill_trial *t, struct drill_err *err)
{
	struct drill *d = t->d;
	json_t *cmd = json_object_get(d->spec->workload, "command"), *v;
	char **argv = calloc(json_array_size(cmd) + 6, sizeof(*argv));
	char ring[600];
	size_t i;
	int n = 0, rc;

	if (!argv)
		return drill_err_set(err, -ENOMEM, "exec", "no memory");
	snprintf(ring, sizeof(ring), "%s/%s/rank0.a1.ring", t->dir,
		 d->lab.hosts[0].name);
	argv[n++] = strdup(d->o->direct);
	argv[n++] = strdup("exec");
	argv[n++] = strdup("--ring");
	argv[n++] = strdup(ring);
	argv[n++] = strdup("--");
	json_array_foreach(cmd, i, v)
		argv[n++] = strdup(json_string_value(v));
	t->started = t->running = true;
	drill_note(d, json_pack("{s:s s:i s:s}", "kind", "attempt.begin",
				"attempt", 1, "reason", "start"));
	rc = d->lab.ops->job_start(&d->lab,
				   &(struct drill_job){ d->spec->job, argv,
							NULL, NULL },
				   err);
	while (n > 0)
		free(argv[--n]);
	free(argv);
	t->running = rc == 0;
	return rc;
}

int drill_stage_start(struct drill_trial *t, const char *workload,
		      struct drill_err *err)
{
	struct drill *d = t->d;
	char log[500];
	char **argv;
	int rc;

	if (strcmp(workload, d->spec->job) != 0)
		return drill_err_set(err, -EINVAL, NULL, "no workload '%s': "
				     "this scenario has '%s'", workload,
				     d->spec->job);
	if (t->started)
		return drill_err_set(err, -EINVAL, NULL, "'%s' is already "
				     "started", workload);
	if (d->o->direct)
		return start_direct(t, err);
	argv = drill_workload_argv(d->spec->workload, &d->lab, t->dir,
				   d->o->bin,
				   drill_spec_needs(d->spec, "hook:cuda"), err);
	if (!argv)
		return -EINVAL;
	snprintf(log, sizeof(log), "%s/job.log", t->dir);
	rc = d->lab.ops->job_start(&d->lab,
				   &(struct drill_job){ d->spec->job, argv,
							NULL, log }, err);
	drill_workload_argv_free(argv);
	if (rc == 0)
		t->started = t->running = true;
	return rc;
}

/* ---- devices ---- */

int drill_stage_device(struct drill_trial *t, const char *how,
		       const char *what, struct drill_err *err)
{
	bool fault = drill_fault_index(t->d, what) >= 0;
	char host[64];
	int i, device = 0;

	if (!fault && sscanf(what, "%63[^/]/gpu%d", host, &device) != 2)
		return drill_err_set(err, -EINVAL, NULL, "'%s' is neither a "
				     "fault nor a device as in \"h1/gpu0\"",
				     what);
	for (i = 0; !fault && i < t->d->lab.n_hosts; i++)
		if (strcmp(t->d->lab.hosts[i].name, host) == 0)
			break;
	if (!fault && (i == t->d->lab.n_hosts || device < 0 ||
		       device >= drill_plan_devices(t->d->spec,
						    &t->d->lab.spec)))
		return drill_err_set(err, -EINVAL, NULL, "no device '%s'",
				     what);
	drill_hosts_send(t->d, json_pack("{s:s s:s s:s}", "kind", "device",
					 "how", how, fault ? "fault" : "device",
					 what));
	return 0;
}

/* ---- faults ---- */

static int check_fault(struct drill_trial *t, const char *name,
		       struct drill_err *err)
{
	int i = drill_fault_index(t->d, name);
	char hint[80];

	if (i < 0)
		return drill_err_set(err, -EINVAL, NULL, "no fault '%s'%s: what "
				     "can hurt stands in faults = { ... }",
				     name, drill_spec_nearest(t->d->spec, name,
							      false, hint,
							      sizeof(hint)));
	return i;
}

int drill_stage_inject(struct drill_trial *t, const char *fault,
		       struct drill_err *err)
{
	int i = check_fault(t, fault, err);

	if (i < 0)
		return i;
	t->faults[i].asked = true;
	t->faults[i].revert_sent = false;
	drill_hosts_send(t->d, json_pack("{s:s s:s}", "kind", "fire", "fault",
					 fault));
	return 0;
}

int drill_stage_revert(struct drill_trial *t, const char *fault,
		       struct drill_err *err)
{
	int i = check_fault(t, fault, err);

	if (i < 0)
		return i;
	drill_trial_revert(t, i);
	return 0;
}

/* ---- small things ---- */

double drill_stage_now_s(struct drill_trial *t)
{
	return (double)(drill_now(t->d) - t->begin_ns) / 1e9;
}

void drill_stage_log(struct drill_trial *t, const char *text)
{
	drill_note(t->d, json_pack("{s:s s:s}", "kind", "log", "text", text));
	drill_say(t->d, "trial", "%s", text);
}

double drill_stage_random(struct drill_trial *t, const char *name)
{
	json_t *list = json_object_get(t->randoms, name);
	struct drill_stream s;
	char stream[120];
	double x = 0;
	size_t i;

	if (!list) {
		list = json_array();
		json_object_set_new(t->randoms, name, list);
	}
	snprintf(stream, sizeof(stream), "story %d %s", t->index, name);
	drill_stream_init(&s, t->d->plan.seed, stream);
	for (i = 0; i <= json_array_size(list); i++)
		x = drill_stream_unit(&s);
	json_array_append_new(list, json_real(x));
	return x;
}

void drill_stage_skip(struct drill_trial *t, const char *why)
{
	t->skipped = true;
	drill_trial_find(t, DRILL_SKIP, "%s", why);
}

/* ---- expectations in a story ---- */

static int read_triple(struct drill_trial *t, json_t *triple,
		       struct drill_expect *e, struct drill_err *err)
{
	char culprit[64];

	return drill_expect_read(t->d->spec, triple, e, culprit, err);
}

static enum drill_verdict judge_so_far(struct drill_trial *t, json_t *triple,
				       struct drill_value *v, char *why,
				       int size, struct drill_err *err)
{
	enum drill_verdict verdict = DRILL_UNDECIDED;
	struct drill_expect e;

	if (read_triple(t, triple, &e, err) == 0)
		verdict = drill_judge_now(t, &e, v, why, size);
	drill_limit_done(&e.limit);
	return verdict;
}

static void record_expect(struct drill_trial *t, json_t *triple,
			  const char *where, enum drill_verdict verdict,
			  const struct drill_value *v, const char *why)
{
	json_t *e = json_pack("{s:O s:O s:O s:s s:o s:o}", "metric",
			      json_array_get(triple, 0), "op",
			      json_array_get(triple, 1), "limit",
			      json_array_get(triple, 2), "where", where,
			      "value", drill_metric_json(v), "held",
			      verdict == DRILL_UNDECIDED
				      ? json_null()
				      : json_boolean(verdict == DRILL_HELD));
	json_t *event = json_copy(e);

	if (why[0])
		json_object_set_new(e, "why", json_string(why));
	json_array_append_new(t->expects, e);
	json_object_set_new(event, "kind", json_string("expectation"));
	json_object_del(event, "where");
	drill_note(t->d, event);
}

static void find_expect(struct drill_trial *t, json_t *triple,
			const char *where, enum drill_verdict verdict,
			const struct drill_value *v, const char *why)
{
	const char *metric = json_string_value(json_array_get(triple, 0));
	char value[128];
	char *limit = json_dumps(json_array_get(triple, 2), JSON_ENCODE_ANY);

	drill_metric_text(v, DRILL_Q_NUMBER, value, sizeof(value));
	if (verdict == DRILL_BROKEN)
		drill_trial_find(t, DRILL_FAIL, "%s: %s is %s, wanted %s %s",
				 where, metric, value,
				 json_string_value(json_array_get(triple, 1)),
				 limit ? limit : "?");
	else if (verdict == DRILL_UNDECIDED)
		drill_trial_find(t, DRILL_INCONCLUSIVE, "%s: %s: %s", where,
				 metric, why);
	free(limit);
}

int drill_stage_expect(struct drill_trial *t, json_t *triple, const char *where,
		       bool *ret_held, struct drill_err *err)
{
	struct drill_value v = { 0 };
	enum drill_verdict verdict;
	char why[200] = "";

	drill_trial_measured(t, true);
	verdict = judge_so_far(t, triple, &v, why, sizeof(why), err);
	if (err->code)
		return err->code;
	*ret_held = verdict == DRILL_HELD;
	record_expect(t, triple, where, verdict, &v, why);
	find_expect(t, triple, where, verdict, &v, why);
	return 0;
}

/* ---- waiting ---- */

static void on_wait_timer(void *arg)
{
	struct drill_trial *t = arg;

	t->wait.timer = 0;
	drill_stage_tick(t);
	drill_poke(t->d);
}

static void set_timer(struct drill_trial *t, int64_t ns)
{
	if (t->wait.timer <= 0)
		t->wait.timer = t->d->lab.ops->timer(&t->d->lab,
						     ns < 0 ? 0 : ns,
						     on_wait_timer, t);
}

static void clear_wait(struct drill_trial *t)
{
	if (t->wait.timer > 0)
		t->d->lab.ops->timer_cancel(&t->d->lab, t->wait.timer);
	json_decref(t->wait.triple);
	memset(&t->wait, 0, sizeof(t->wait));
}

int drill_stage_wait_time(struct drill_trial *t, int64_t ns,
			  struct drill_err *err)
{
	(void)err;
	clear_wait(t);
	t->wait.kind = DRILL_WAIT_TIME;
	t->wait.until_ns = drill_now(t->d) + ns;
	set_timer(t, ns);
	return 0;
}

int drill_stage_wait_instant(struct drill_trial *t, const char *what,
			     struct drill_err *err)
{
	const char *name;
	int fault, rc = drill_instant_check(t->d->spec, what, &fault, &name,
					    err);

	if (rc < 0)
		return rc;
	clear_wait(t);
	t->wait.kind = DRILL_WAIT_INSTANT;
	snprintf(t->wait.what, sizeof(t->wait.what), "%s", what);
	set_timer(t, 0);
	return 0;
}

int drill_stage_wait_metric(struct drill_trial *t, int64_t within_ns,
			    json_t *triple, const char *where,
			    struct drill_err *err)
{
	struct drill_expect e;
	int rc = read_triple(t, triple, &e, err);

	drill_limit_done(&e.limit);
	if (rc < 0)
		return rc;
	clear_wait(t);
	t->wait.kind = DRILL_WAIT_METRIC;
	t->wait.triple = json_incref(triple);
	t->wait.until_ns = drill_now(t->d) + within_ns;
	snprintf(t->wait.where, sizeof(t->wait.where), "%s", where);
	set_timer(t, 0);
	return 0;
}

/* `eventually` that ran out is a finding; the story goes on. */
static int metric_over(struct drill_trial *t)
{
	bool late = drill_now(t->d) >= t->wait.until_ns;
	struct drill_err err = { 0 };
	struct drill_value v = { 0 };
	enum drill_verdict verdict;
	char why[200] = "";

	drill_trial_measured(t, late);
	verdict = judge_so_far(t, t->wait.triple, &v, why, sizeof(why), &err);
	if (verdict != DRILL_HELD && !late) {
		set_timer(t, POLL_NS);
		return 0;
	}
	record_expect(t, t->wait.triple, t->wait.where, verdict, &v, why);
	find_expect(t, t->wait.triple, t->wait.where, verdict, &v, why);
	return 1;
}

/* 1 over, 0 goes on, negative: will never come. */
static int wait_over(struct drill_trial *t, struct drill_err *err)
{
	int rc;

	switch (t->wait.kind) {
	case DRILL_WAIT_TIME:
		return drill_now(t->d) >= t->wait.until_ns;
	case DRILL_WAIT_METRIC:
		return metric_over(t);
	case DRILL_WAIT_INSTANT:
		rc = drill_instant_reached(t, t->wait.what, err);
		if (rc < 0 || (rc == 0 && t->started && !t->running))
			return drill_err_set(err, -ENOENT, NULL,
					     "'%s' can no longer come: the job "
					     "has ended", t->wait.what);
		if (rc == 0)
			set_timer(t, POLL_NS);
		return rc;
	default:
		return 0;
	}
}

/* ---- the story ---- */

static void story_went(struct drill_trial *t, int rc,
		       const struct drill_err *err)
{
	struct drill *d = t->d;
	struct drill_err why = { 0 };

	if (rc > 0 && (t->started || d->spec->run_starts))
		return;
	if (rc <= 0)
		t->story_over = true;
	if (rc < 0) {
		drill_trial_find(t, DRILL_ERROR, "the story failed: %s",
				 err->msg);
		t->aborted = true;
	} else if (!t->started && !t->skipped &&
		   drill_stage_start(t, d->spec->job, &why) < 0) {
		drill_trial_find(t, DRILL_ERROR, "%s", why.msg);
		t->aborted = true;
	}
}

/* Faults that last steps, or until an instant; faults after an instant. */
static void on_after(void *arg)
{
	struct drill_fault_state *f = arg;
	struct drill_trial *t = f->trial;
	int i = (int)(f - t->faults);

	f->after_timer = 0;
	drill_hosts_send(t->d, json_pack("{s:s s:s}", "kind", "fire", "fault",
					 t->d->spec->faults[i].name));
}

static void watch_faults(struct drill_trial *t)
{
	struct drill *d = t->d;
	struct drill_err err = { 0 };
	int i;

	for (i = 0; i < d->plan.n && t->role != DRILL_BASELINE; i++) {
		const struct drill_planned_fault *p = &d->plan.faults[i];
		struct drill_fault_state *f = &t->faults[i];

		if (f->effective > f->reverted && !f->revert_sent &&
		    ((p->lasts == DRILL_LASTS_STEPS &&
		      t->step >= f->effective_step + p->steps) ||
		     (p->lasts == DRILL_LASTS_UNTIL &&
		      drill_instant_reached(t, p->until, &err) > 0)))
			drill_trial_revert(t, i);
		if (p->after && !f->after_seen &&
		    drill_instant_reached(t, p->after, &err) > 0) {
			f->after_seen = true;
			f->after_timer = d->lab.ops->timer(&d->lab, p->after_ns,
							   on_after, f);
		}
	}
}

static void watch_aborts(struct drill_trial *t)
{
	struct drill_value v;
	char why[200];
	int i;

	if (t->role != DRILL_FAULT_TRIAL || t->aborted ||
	    t->d->spec->abort.n == 0)
		return;
	for (i = 0; i < t->d->spec->abort.n; i++) {
		struct drill_expect *e = &t->d->spec->abort.v[i];

		if (!drill_trial_measured(t, false) ||
		    drill_judge_now(t, e, &v, why, sizeof(why)) != DRILL_HELD)
			continue;
		t->aborted = true;
		drill_trial_find(t, DRILL_INCONCLUSIVE, "aborted: %s", e->text);
	}
}

void drill_stage_tick(struct drill_trial *t)
{
	struct drill_err cause = { 0 }, err = { 0 };
	const struct drill_story *story = t->d->o->story;
	int rc;

	watch_faults(t);
	watch_aborts(t);
	if (!t->story_on || t->story_over || t->in_story ||
	    t->wait.kind == DRILL_WAIT_NONE)
		return;
	t->in_story = true;
	rc = wait_over(t, &cause);
	if (rc != 0) {
		clear_wait(t);
		rc = story->resume(story->ctx, rc < 0 ? &cause : NULL, &err);
		story_went(t, rc, &err);
	}
	t->in_story = false;
}

/* Only a fault trial tells the story: there is nothing to tell elsewhere. */
void drill_stage_begin(struct drill_trial *t)
{
	const struct drill_story *story = t->d->o->story;
	struct drill_err err = { 0 };

	if (!story || t->role != DRILL_FAULT_TRIAL) {
		story_went(t, 0, &err);
		return;
	}
	t->story_on = t->in_story = true;
	story_went(t, story->begin(story->ctx, t, &err), &err);
	t->in_story = false;
}

void drill_stage_done(struct drill_trial *t)
{
	int i;

	clear_wait(t);
	for (i = 0; i < t->d->plan.n; i++)
		if (t->faults[i].after_timer > 0)
			t->d->lab.ops->timer_cancel(&t->d->lab,
						    t->faults[i].after_timer);
	if (t->story_on)
		t->d->o->story->end(t->d->o->story->ctx);
	t->story_on = false;
	t->story_over = true;
}
