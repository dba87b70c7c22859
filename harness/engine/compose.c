/* compose.c - two faults that would be in force on one device and do not compose
 * SPDX-License-Identifier: MIT
 *
 * A second fault of one kind would silently take the place of the first: then
 * neither is what was asked for. So the plan refuses them.
 */
#include "plan.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* "h1/gpu0" of each target of @f: of a rank the device it uses. */
static json_t *devices_of(const struct drill_plan_made *p,
			  const struct drill_planned_fault *f, int devices)
{
	json_t *target = json_object_get(f->fault, "target"), *out, *v;
	const char *kind = json_string_value(json_object_get(target, "kind"));
	const char *host;
	json_int_t first;
	size_t i;

	out = json_array();
	json_array_foreach(json_object_get(target, "is"), i, v) {
		if (kind && strcmp(kind, "device") == 0)
			json_array_append(out, v);
		if (!kind || strcmp(kind, "rank") != 0 || !json_is_integer(v))
			continue;
		first = json_integer_value(v);
		host = json_string_value(json_array_get(p->where,
							(size_t)first));
		while (host && first > 0 &&
		       json_equal(json_array_get(p->where, (size_t)first - 1),
				  json_array_get(p->where, (size_t)first)))
			first--;
		if (host)
			json_array_append_new(
				out, json_sprintf("%s/gpu%d", host,
						  (int)((json_integer_value(v) -
							 first) % devices)));
	}
	return out;
}

/* A name that is in both; borrowed from @a. */
static const char *shared(json_t *a, json_t *b)
{
	json_t *v, *w;
	size_t i, k;

	json_array_foreach(a, i, v)
		json_array_foreach(b, k, w)
			if (json_equal(v, w))
				return json_string_value(v);
	return NULL;
}

/* Both last to the end of the trial, or begin together. */
static bool overlap(const struct drill_planned_fault *a,
		    const struct drill_planned_fault *b)
{
	return (!json_object_get(a->spec->json, "duration") &&
		!json_object_get(b->spec->json, "duration")) ||
	       json_equal(json_object_get(a->spec->json, "at"),
			  json_object_get(b->spec->json, "at"));
}

static int check_pair(const struct drill_plan_made *p,
		      const struct drill_planned_fault *a,
		      const struct drill_planned_fault *b, int devices,
		      struct drill_err *err)
{
	json_t *on_a = devices_of(p, a, devices);
	json_t *on_b = devices_of(p, b, devices);
	const char *where = shared(on_a, on_b);
	int rc = 0;

	if (where && overlap(a, b))
		rc = drill_err_set(err, -EINVAL, NULL,
				   "%s:%d: %s and %s: two %s on device %s do "
				   "not compose: the second would take the "
				   "place of the first", p->spec->file,
				   b->spec->line, a->spec->name, b->spec->name,
				   a->spec->injector->name, where);
	json_decref(on_a);
	json_decref(on_b);
	return rc;
}

int drill_plan_compose(const struct drill_plan_made *p, int devices,
		       struct drill_err *err)
{
	int i, k, rc = 0;

	for (i = 0; i < p->n; i++)
		for (k = i + 1; k < p->n && rc == 0; k++)
			if (p->faults[i].spec->injector->alone &&
			    p->faults[i].spec->injector ==
				    p->faults[k].spec->injector)
				rc = check_pair(p, &p->faults[i],
						&p->faults[k], devices, err);
	return rc;
}
