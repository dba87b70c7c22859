/* mock_job.c - a training job as a model: steps, checkpoints, restarts
 * SPDX-License-Identifier: MIT
 */
#include "mock_impl.h"

#include "harness/core/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DETECT_S 0.5
#define GIVE_UP 3

static void begin_step(void *arg);

void mock_cancel(int *timer)
{
	if (*timer)
		mock.lab->ops->timer_cancel(mock.lab, *timer);
	*timer = 0;
}

static void tell(json_t *event)
{
	json_object_set_new(event, "h_ns", json_integer(mock.now));
	if (!json_object_get(event, "attempt"))
		json_object_set_new(event, "attempt",
				    json_integer(mock.attempt));
	mock.lab->cb.on_job(mock.lab->cb.ctx, "job", event);
	json_decref(event);
}

static int host_of(int rank)
{
	int hosts = mock.lab->spec.hosts;

	return rank / ((mock.ranks + hosts - 1) / hosts);
}

static void of_ranks(const char *kind, json_t *more)
{
	int r;

	for (r = 0; r < mock.ranks; r++) {
		json_t *e = json_pack("{s:s s:i s:i s:i}", "kind", kind,
				      "attempt", mock.attempt, "rank", r,
				      "slot", r);

		json_object_update(e, more);
		mock_agent_event(host_of(r), e);
	}
	json_decref(more);
}

static void exited(void *arg)
{
	mock.lab->cb.on_job_exit(mock.lab->cb.ctx, "job", (int)(intptr_t)arg);
}

static void finish(const char *reason, int code)
{
	tell(json_pack("{s:s s:s}", "kind", "attempt.end", "reason", reason));
	mock.running = false;
	mock_in(0.05, exited, (void *)(intptr_t)code);
}

static void end_of_training(void)
{
	static const char *const parts[] = { "parameters", "optimizer",
					     "sampler" };
	int i;

	for (i = 0; i < 3; i++)
		of_ranks("state", json_pack("{s:i s:s s:s}", "step", mock.step,
					    "of", parts[i], "hash", "abcd"));
	of_ranks("rank.end", json_pack("{s:i}", "code", 0));
	finish("done", 0);
}

static void end_step(void *arg)
{
	(void)arg;
	mock.step_timer = 0;
	of_ranks("step.end", json_pack("{s:i s:i s:f}", "step", mock.step,
				       "tokens", 100, "loss",
				       3.0 / mock.step));
	if (mock.step > mock.high)
		mock.high = mock.step, mock.without = 0;
	if (mock.checkpoint_every && mock.step % mock.checkpoint_every == 0) {
		mock.saved = mock.step;
		of_ranks("checkpoint.writing", json_pack("{s:i}", "step",
							 mock.step));
		mock_agents_saw("checkpoint.writing", mock.step);
		of_ranks("checkpoint.committed", json_pack("{s:i}", "step",
							   mock.step));
	}
	if (mock.dead || mock.stalled)
		return;
	if (mock.step >= mock.steps)
		end_of_training();
	else
		begin_step(NULL);
}

static void schedule_end(void)
{
	double s = drill_mock.step_s > 0 ? drill_mock.step_s : 0.1;

	mock.step_timer = mock_in(s + mock.extra_s, end_step, NULL);
}

static void stop_attempt(void *arg);

static void begin_step(void *arg)
{
	(void)arg;
	mock.next_timer = 0;
	if (!mock.running)
		return;
	mock.step++;
	of_ranks("step.begin", json_pack("{s:i}", "step", mock.step));
	mock_agents_saw("step.begin", mock.step);
	if (drill_mock.dies_again && mock.attempt > 1 && !mock.dead &&
	    mock.step == mock.saved + 1) {
		mock.dead = true;
		mock.next_timer = mock_in(DETECT_S, stop_attempt, NULL);
	}
	if (!mock.dead && !mock.stalled)
		schedule_end();
}

static void restored(void *arg)
{
	(void)arg;
	mock.next_timer = 0;
	of_ranks("restore.done", json_pack("{s:i}", "step", mock.saved));
	mock.step = mock.saved;
	begin_step(NULL);
}

static void begin_attempt(void *arg)
{
	json_t *ranks = json_array();
	int r;

	(void)arg;
	mock.attempt++;
	mock.dead = mock.stalled = false;
	tell(json_pack("{s:s s:s}", "kind", "attempt.begin", "reason",
		       mock.attempt == 1 ? "start" : "restart"));
	for (r = 0; r < mock.ranks; r++)
		json_array_append_new(
			ranks, json_pack("{s:i s:s}", "rank", r, "host",
					 mock.lab->hosts[host_of(r)].name));
	tell(json_pack("{s:s s:o}", "kind", "placed", "ranks", ranks));
	of_ranks("rank.begin", json_pack("{s:i}", "pid", 100));
	if (mock.attempt == 1)
		mock_agents_start();
	mock.next_timer = mock_in(0.3, mock.attempt > 1 ? restored : begin_step,
				  NULL);
}

static void stop_attempt(void *arg)
{
	(void)arg;
	mock.next_timer = 0;
	mock_cancel(&mock.dog_timer);
	mock_cancel(&mock.step_timer);
	tell(json_pack("{s:s s:s s:s s:s}", "kind", "detected", "by",
		       mock.stalled ? "watchdog" : "launcher", "what",
		       "a rank is lost", "blame", mock.victim));
	tell(json_pack("{s:s s:s s:s}", "kind", "blamed", "by", "launcher",
		       "blame", mock.victim));
	mock_agents_saw("detected", 0);
	if (mock.attempt > 1 && mock.step <= mock.high)
		mock.without++;
	if (mock.without >= GIVE_UP) {
		finish("gave_up", 1);
		return;
	}
	tell(json_pack("{s:s s:s}", "kind", "attempt.end", "reason",
		       "failure"));
	mock.next_timer = mock_in(drill_mock.restart_s > 0
					  ? drill_mock.restart_s : 1.0,
				  begin_attempt, NULL);
}

static void watchdog(void *arg)
{
	mock.dog_timer = 0;
	if (mock.stalled && !drill_mock.no_detection)
		stop_attempt(arg);
}

void mock_job_hit(struct mock_fault *f)
{
	enum drill_class c = f->injector->class;
	json_t *is = json_object_get(json_object_get(f->json, "target"), "is");

	if (!mock.running)
		return;
	if (json_is_integer(json_array_get(is, 0)))
		snprintf(mock.victim, sizeof(mock.victim), "rank %d",
			 (int)json_integer_value(json_array_get(is, 0)));
	else
		snprintf(mock.victim, sizeof(mock.victim), "host %s",
			 json_string_value(json_array_get(is, 0)));
	if (c == DRILL_CLASS_FAIL_STOP) {
		mock.dead = true;
		mock_cancel(&mock.step_timer);
		if (!drill_mock.no_detection && !mock.next_timer)
			mock.next_timer = mock_in(DETECT_S, stop_attempt,
						  NULL);
	} else if (c == DRILL_CLASS_HANG) {
		mock.stalled = true;
		mock.half_done = mock.step_timer != 0;
		mock_cancel(&mock.step_timer);
		mock_cancel(&mock.dog_timer);
		mock.dog_timer = mock_in(mock.watchdog_s, watchdog, NULL);
	} else if (c == DRILL_CLASS_FAIL_SLOW) {
		mock.extra_s = 0.2;
	}
}

void mock_job_heal(struct mock_fault *f)
{
	if (f->injector->class == DRILL_CLASS_FAIL_SLOW)
		mock.extra_s = 0;
	if (f->injector->class != DRILL_CLASS_HANG || !mock.stalled)
		return;
	mock.stalled = false;
	mock_cancel(&mock.dog_timer);
	if (mock.running && !mock.dead)
		schedule_end();
}

static const char *option(char *const *argv, const char *name)
{
	const char *found = "0";

	for (; *argv && argv[1]; argv++)
		if (strcmp(*argv, name) == 0)
			found = argv[1];
	return found;
}

int mock_job_start(struct drill_lab *lab, const struct drill_job *job,
		   struct drill_err *err)
{
	int64_t dog = 0;

	(void)lab;
	(void)err;
	drill_mock.jobs++;
	mock.running = true;
	mock.dead = mock.stalled = false;
	mock.attempt = mock.step = mock.saved = mock.high = mock.without = 0;
	mock.extra_s = 0;
	mock.ranks = atoi(option(job->argv, "--ranks"));
	mock.steps = atoi(option(job->argv, "--steps"));
	mock.checkpoint_every = atoi(option(job->argv, "--checkpoint-every"));
	drill_unit_parse(option(job->argv, "--watchdog"), DRILL_UNIT_DURATION,
			 &dog, NULL);
	mock.watchdog_s = (double)dog / 1e9;
	mock_in(0.01, begin_attempt, NULL);
	return 0;
}

int mock_job_stop(struct drill_lab *lab, const char *job, struct drill_err *err)
{
	(void)lab;
	(void)job;
	(void)err;
	drill_mock.stops++;
	mock_cancel(&mock.step_timer);
	mock_cancel(&mock.dog_timer);
	mock_cancel(&mock.next_timer);
	mock.running = false;
	mock_in(0.01, exited, (void *)(intptr_t)-15);
	return 0;
}
