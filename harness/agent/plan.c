/* plan.c - the plan of a trial, read from the controller's message
 * SPDX-License-Identifier: MIT
 */
#include "plan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char who[] = "plan";

static const char *const on_names[] = {
	[DRILL_ON_TIME] = "time",   [DRILL_ON_STEP] = "step",
	[DRILL_ON_EVERY] = "every", [DRILL_ON_EVENT] = "event",
	[DRILL_ON_AFTER] = "after", [DRILL_ON_SAME] = "same",
	[DRILL_ON_LOG] = "log",	    [DRILL_ON_POISSON] = "poisson",
	[DRILL_ON_MANUAL] = "manual", [DRILL_ON_CALL] = "call",
};
static const char *const where_names[] = {
	[DRILL_WHERE_STEP] = "step",
	[DRILL_WHERE_BEFORE] = "before",
	[DRILL_WHERE_INSIDE] = "inside",
	[DRILL_WHERE_AFTER] = "after",
};
static const char *const follow_names[] = { "", "rank", "host", "device" };

#define COUNT(a) (int)(sizeof(a) / sizeof((a)[0]))

static int find(const char *const *names, int n, const char *s)
{
	int i;

	for (i = 0; i < n; i++)
		if (s && !strcmp(names[i], s))
			return i;
	return -1;
}

static int bad(const struct drill_fault *f, const char *field,
	       struct drill_err *err)
{
	return drill_err_set(err, -EINVAL, who, "fault '%s': bad '%s'",
			     f->name ? f->name : "?", field);
}

/* A whole number of at least @min; absent: @missing. */
static int take_int(const struct drill_fault *f, const json_t *obj,
		    const char *field, int64_t min, int64_t missing,
		    int64_t *ret, struct drill_err *err)
{
	const json_t *v = json_object_get(obj, field);

	*ret = missing;
	if (!v || json_is_null(v))
		return missing < min ? bad(f, field, err) : 0;
	if (!json_is_integer(v) || json_integer_value(v) < min)
		return bad(f, field, err);
	*ret = json_integer_value(v);
	return 0;
}

static int take_text(const struct drill_fault *f, const json_t *obj,
		     const char *field, const char **ret, struct drill_err *err)
{
	*ret = json_string_value(json_object_get(obj, field));
	return *ret && **ret ? 0 : bad(f, field, err);
}

/* Whole numbers of at least @min, not empty. */
static int take_numbers(const struct drill_fault *f, const json_t *obj,
			const char *field, int64_t min, const json_t **ret,
			struct drill_err *err)
{
	const json_t *v;
	size_t i;

	*ret = json_object_get(obj, field);
	if (json_array_size(*ret) == 0)
		return bad(f, field, err);
	json_array_foreach(*ret, i, v)
		if (!json_is_integer(v) || json_integer_value(v) < min)
			return bad(f, field, err);
	return 0;
}

static int take_where(struct drill_fault *f, const json_t *at,
		      struct drill_err *err)
{
	const json_t *w = json_object_get(at, "where");
	int i = w ? find(where_names, COUNT(where_names), json_string_value(w))
		  : DRILL_WHERE_STEP;

	if (i < 0)
		return bad(f, "where", err);
	f->at.where = i;
	if (i == DRILL_WHERE_STEP)
		return 0;
	if (take_text(f, at, "collective", &f->at.collective, err) < 0)
		return -EINVAL;
	return take_int(f, at, "nth", 1, 1, &f->at.nth, err);
}

static int take_every(struct drill_fault *f, const json_t *at,
		      struct drill_err *err)
{
	if (take_int(f, at, "from", 1, 1, &f->at.from, err) < 0 ||
	    take_int(f, at, "to", f->at.from, -1, &f->at.to, err) < 0 ||
	    take_int(f, at, "steps", 1, 1, &f->at.every, err) < 0)
		return -EINVAL;
	f->at.list = json_object_get(at, "draws");
	return f->at.list && !json_is_array(f->at.list) ? bad(f, "draws", err)
							: 0;
}

static int take_at(struct drill_fault *f, const json_t *at,
		   struct drill_err *err)
{
	int on = find(on_names, COUNT(on_names),
		      json_string_value(json_object_get(at, "on"))), rc;

	if (on < 0)
		return bad(f, "at.on", err);
	f->at.on = on;
	switch (f->at.on) {
	case DRILL_ON_TIME:
		return take_int(f, at, "ns", 0, -1, &f->at.ns, err);
	case DRILL_ON_STEP:
		rc = take_numbers(f, at, "steps", 1, &f->at.list, err);
		return rc < 0 ? rc : take_where(f, at, err);
	case DRILL_ON_EVERY:
		return take_every(f, at, err);
	case DRILL_ON_EVENT:
		rc = take_text(f, at, "kind", &f->at.kind, err);
		return rc < 0 ? rc
			      : take_int(f, at, "nth", 1, 1, &f->at.nth, err);
	case DRILL_ON_AFTER:
		rc = take_text(f, at, "of", &f->at.of, err);
		if (rc == 0 && !strchr(f->at.of, '.'))
			rc = bad(f, "of", err);
		return rc < 0 ? rc
			      : take_int(f, at, "delay_ns", 0, 0, &f->at.ns,
					 err);
	case DRILL_ON_SAME:
		return take_text(f, at, "of", &f->at.of, err);
	case DRILL_ON_LOG:
		rc = take_text(f, at, "file", &f->at.of, err);
		return rc < 0 ? rc
			      : take_text(f, at, "match", &f->at.match, err);
	case DRILL_ON_CALL:
		f->at.kernel = json_string_value(json_object_get(at,
								 "kernel"));
		rc = take_text(f, at, "call", &f->at.call, err);
		return rc < 0 ? rc
			      : take_int(f, at, "nth", 1, 1, &f->at.nth, err);
	case DRILL_ON_POISSON:
		return take_numbers(f, at, "gaps_ns", 0, &f->at.list, err);
	default:
		return 0;
	}
}

static int take_target(struct drill_fault *f, const json_t *t,
		       struct drill_err *err)
{
	const char *kind = json_string_value(json_object_get(t, "kind"));
	unsigned int i;

	for (i = 0; kind && i < 8; i++)
		if (!strcmp(kind, drill_target_kind_name(1U << i)))
			f->kind = 1U << i;
	if (!f->kind || !(f->kind & f->injector->targets))
		return drill_err_set(err, -EINVAL, who,
				     "fault '%s': %s cannot be aimed at a %s",
				     f->name, f->injector->name,
				     kind ? kind : "?");
	if (f->kind > DRILL_TARGET_DEVICE)
		return drill_err_set(err, -EOPNOTSUPP, who,
				     "fault '%s': not yet: a %s as target",
				     f->name, kind);
	f->is = json_object_get(t, "is");
	return json_is_array(f->is) ||
			       (json_is_string(f->is) &&
				!strcmp(json_string_value(f->is), "all"))
		       ? 0
		       : bad(f, "target.is", err);
}

static int take_refire(struct drill_fault *f, const json_t *v,
		       struct drill_err *err)
{
	const char *s = json_string_value(v);

	f->refire = 1;
	if (!v || json_is_null(v) || (s && !strcmp(s, "once")))
		return 0;
	f->refire = 0;
	if (s && !strcmp(s, "every_attempt"))
		return 0;
	return take_int(f, v, "times", 1, -1, &f->refire, err);
}

static int take_follow(struct drill_fault *f, const json_t *v,
		       struct drill_err *err)
{
	int i = !v || json_is_null(v) ? 0
				      : find(follow_names, COUNT(follow_names),
					     json_string_value(v));

	if (i < 0)
		return bad(f, "follow", err);
	f->follow = follow_names[i];
	return 0;
}

static int take_args(struct drill_fault *f, struct drill_err *err)
{
	json_t *args = json_object_get(f->json, "args"), *none = NULL;
	int rc;

	f->args = calloc(1, f->injector->args_size + 1);
	if (!f->args)
		return drill_err_set(err, -ENOMEM, who, "out of memory");
	if (!args)
		args = none = json_object();
	rc = drill_params_parse(f->injector->params, f->injector->name, args,
				f->args, err);
	json_decref(none);
	if (rc == 0 && f->injector->check)
		rc = f->injector->check(f->args, err);
	return rc;
}

int drill_fault_read(json_t *obj, struct drill_fault *ret,
		     struct drill_err *err)
{
	const char *name;

	memset(ret, 0, sizeof(*ret));
	if (!json_is_object(obj))
		return drill_err_set(err, -EINVAL, who, "a fault is no object");
	ret->json = json_incref(obj);
	if (take_text(ret, obj, "name", &ret->name, err) < 0 ||
	    take_text(ret, obj, "injector", &name, err) < 0)
		return -EINVAL;
	ret->injector = drill_injector_find(name, err);
	if (!ret->injector ||
	    take_target(ret, json_object_get(obj, "target"), err) < 0 ||
	    take_at(ret, json_object_get(obj, "at"), err) < 0 ||
	    take_refire(ret, json_object_get(obj, "refire"), err) < 0 ||
	    take_follow(ret, json_object_get(obj, "follow"), err) < 0 ||
	    take_int(ret, obj, "duration_ns", -1, -1, &ret->duration_ns,
		     err) < 0 ||
	    take_int(ret, obj, "duration_steps", 0, 0, &ret->duration_steps,
		     err) < 0)
		return -EINVAL;
	return take_args(ret, err);
}

void drill_fault_done(struct drill_fault *f)
{
	free(f->args);
	json_decref(f->json);
	memset(f, 0, sizeof(*f));
}

int drill_plan_read(json_t *msg, struct drill_plan *ret, struct drill_err *err)
{
	const char *dir = json_string_value(json_object_get(msg, "dir"));
	const char *role = json_string_value(json_object_get(msg, "role"));
	json_t *faults = json_object_get(msg, "faults");
	size_t i;
	int rc = 0;

	memset(ret, 0, sizeof(*ret));
	if (!dir || dir[0] != '/' || strlen(dir) >= sizeof(ret->dir))
		return drill_err_set(err, -EINVAL, who, "bad 'dir'");
	ret->trial = json_integer_value(json_object_get(msg, "trial"));
	ret->ranks = json_integer_value(json_object_get(msg, "ranks"));
	ret->kmsg = json_is_true(json_object_get(msg, "kmsg"));
	ret->devices = json_integer_value(json_object_get(msg, "devices"));
	ret->real_devices = json_is_integer(json_object_get(msg, "devices")) &&
			    ret->devices == 0;
	if (ret->devices < 1)
		ret->devices = 1;
	snprintf(ret->dir, sizeof(ret->dir), "%s", dir);
	snprintf(ret->role, sizeof(ret->role), "%s", role ? role : "");
	if (json_array_size(faults) > 0)
		ret->faults = calloc(json_array_size(faults),
				     sizeof(*ret->faults));
	if (json_array_size(faults) > 0 && !ret->faults)
		return drill_err_set(err, -ENOMEM, who, "out of memory");
	for (i = 0; i < json_array_size(faults) && rc == 0; i++, ret->n++)
		rc = drill_fault_read(json_array_get(faults, i),
				      &ret->faults[i], err);
	return rc;
}

void drill_plan_done(struct drill_plan *plan)
{
	int i;

	for (i = 0; i < plan->n; i++)
		drill_fault_done(&plan->faults[i]);
	free(plan->faults);
	memset(plan, 0, sizeof(*plan));
}
