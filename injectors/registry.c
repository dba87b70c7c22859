/* registry.c - the one table of injectors, and the names of its enums
 * SPDX-License-Identifier: MIT
 */
#include "injector.h"

#include "harness/core/unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DRILL_INJECTOR(id) extern const struct drill_injector drill_##id;
#include "list.h"
#undef DRILL_INJECTOR

static const struct drill_injector *const all[] = {
#define DRILL_INJECTOR(id) &drill_##id,
#include "list.h"
#undef DRILL_INJECTOR
	NULL,
};

const struct drill_injector *const *drill_injectors(void)
{
	return all;
}

static void unknown(const char *name, struct drill_err *err)
{
	const char *names[sizeof(all) / sizeof(all[0])] = { NULL };
	const char *near;
	int i;

	for (i = 0; all[i]; i++)
		names[i] = all[i]->name;
	near = drill_nearest(name, names);
	drill_err_set(err, -EINVAL, "injector", "unknown injector '%s'%s%s%s",
		      name, near ? "; did you mean '" : "", near ? near : "",
		      near ? "'?" : "");
}

const struct drill_injector *drill_injector_find(const char *name,
						 struct drill_err *err)
{
	int i;

	for (i = 0; all[i]; i++)
		if (!strcmp(all[i]->name, name))
			return all[i];
	unknown(name, err);
	return NULL;
}

bool drill_injector_needs(const struct drill_injector *in, const char *what)
{
	const char *const *n = in->needs;

	while (n && *n && strcmp(*n, what))
		n++;
	return n && *n;
}

static bool is_alarm(const struct drill_injector *in, json_t *args)
{
	json_t *none = args ? NULL : json_object();
	void *parsed = in->alarm ? calloc(1, in->args_size + 1) : NULL;
	bool ret = parsed && drill_params_parse(in->params, in->name,
						args ? args : none, parsed,
						NULL) == 0 &&
		   in->alarm(parsed);

	free(parsed);
	json_decref(none);
	return ret;
}

enum drill_class drill_injector_class(const struct drill_injector *in,
				      json_t *args)
{
	return is_alarm(in, args) ? DRILL_CLASS_FALSE_ALARM : in->class;
}

enum drill_fidelity drill_injector_fidelity(const struct drill_injector *in,
					    json_t *args)
{
	return is_alarm(in, args) ? DRILL_FIDELITY_TELEMETRY : in->fidelity;
}

#define NAME_OF(table, i)                                                      \
	((unsigned int)(i) < sizeof(table) / sizeof(table[0]) ? (table)[i] : "?")

const char *drill_class_name(enum drill_class c)
{
	static const char *const names[] = { "fail_stop",  "hang",
					     "fail_slow",  "corruption",
					     "false_alarm", "control" };

	return NAME_OF(names, c);
}

const char *drill_fidelity_name(enum drill_fidelity f)
{
	static const char *const names[] = { "telemetry", "library",
					     "driver",	  "process",
					     "kernel",	  "hypervisor",
					     "hardware" };

	return NAME_OF(names, f);
}

const char *drill_survives_name(enum drill_survives s)
{
	static const char *const names[] = { "nothing", "holder", "process",
					     "boot", "external" };

	return NAME_OF(names, s);
}

const char *drill_risk_name(enum drill_risk r)
{
	static const char *const names[] = { "none", "contained", "disruptive",
					     "destructive" };

	return NAME_OF(names, r);
}

const char *drill_target_kind_name(enum drill_target_kind k)
{
	static const char *const names[] = { "rank",   "host", "device",
					     "link",   "domain", "path",
					     "service", "job" };
	unsigned int i = 0;

	while (k > 1U << i && i < sizeof(names) / sizeof(names[0]))
		i++;
	return NAME_OF(names, i);
}
