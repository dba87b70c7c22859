/* target.c - targets resolved against a lab; missing ones are errors
 * SPDX-License-Identifier: MIT
 *
 * Never a fallback: rank 7 of a job of 4 is the author's mistake, not a reason
 * to hit another rank.
 */
#include "target.h"

#include "harness/core/unit.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct resolver {
	struct drill_plan_made *plan;
	const struct drill_planned_fault *f;
	const struct drill_lab_spec *lab;
	const struct drill_lab_host *hosts;
	int n_hosts, ranks, devices; /* devices of each host */
	const char *kind; /* "rank", "host", "device" */
	struct drill_err *err;
};

static int no_such(const struct resolver *r, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static int no_such(const struct resolver *r, const char *fmt, ...)
{
	char text[300];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return drill_err_set(r->err, -EINVAL, NULL, "%s:%d: %s: %s",
			     r->plan->spec->file, r->f->spec->line,
			     r->f->spec->name, text);
}

static bool is_rank(const struct resolver *r)
{
	return strcmp(r->kind, "rank") == 0;
}

static bool is_device(const struct resolver *r)
{
	return strcmp(r->kind, "device") == 0;
}

/* Of a host, or of one of its devices ("h1/gpu0"). */
static int host_index(const struct resolver *r, const char *name)
{
	size_t n = strcspn(name, "/");
	int i;

	for (i = 0; i < r->n_hosts; i++)
		if (strlen(r->hosts[i].name) == n &&
		    strncmp(r->hosts[i].name, name, n) == 0)
			return i;
	return -1;
}

static int unknown_host(const struct resolver *r, const char *name)
{
	const char *names[256], *near;
	char host[64];
	int i;

	for (i = 0; i < r->n_hosts && i < 255; i++)
		names[i] = r->hosts[i].name;
	names[i] = NULL;
	snprintf(host, sizeof(host), "%.*s", (int)strcspn(name, "/"), name);
	near = drill_nearest(host, names);
	return no_such(r, "no host '%s'%s%s%s: the lab has %s%s%s", host,
		       near ? " (did you mean '" : "", near ? near : "",
		       near ? "'?)" : "", names[0], i > 1 ? " to " : "",
		       i > 1 ? names[i - 1] : "");
}

static json_t *device_name(const struct resolver *r, int host, int device)
{
	return json_sprintf("%s/gpu%d", r->hosts[host].name, device);
}

/* Numbers go over the devices of all hosts, in the hosts' order. */
static int add_device(const struct resolver *r, json_t *v, json_t *out)
{
	json_int_t n = json_integer_value(v), all;
	const char *name = json_string_value(v);
	int host, device = -1, end = 0;

	if (json_is_integer(v)) {
		all = (json_int_t)r->n_hosts * r->devices;
		if (n < 0 || n >= all)
			return no_such(r, "no device %d: the lab has devices 0 "
					  "to %d", (int)n, (int)all - 1);
		return json_array_append_new(
			out, device_name(r, (int)(n / r->devices),
					 (int)(n % r->devices)));
	}
	host = host_index(r, name);
	if (sscanf(name + strcspn(name, "/"), "/gpu%d%n", &device, &end) != 1 ||
	    name[strcspn(name, "/") + (size_t)end] != '\0' || device < 0)
		return no_such(r, "'%s' is no device: write \"%s/gpu0\"", name,
			       r->hosts[host < 0 ? 0 : host].name);
	if (host < 0)
		return unknown_host(r, name);
	if (device >= r->devices)
		return no_such(r, "no device '%s': host %s has gpu0 to gpu%d",
			       name, r->hosts[host].name, r->devices - 1);
	return json_array_append_new(out, device_name(r, host, device));
}

/* One number or name, checked and spelt as the agent wants it. */
static int add_one(const struct resolver *r, json_t *v, json_t *out)
{
	json_int_t n = json_integer_value(v);
	const char *name = json_string_value(v);

	if (name && strcmp(name, "all") == 0)
		return json_array_append_new(out, json_string("all"));
	if (is_rank(r)) {
		if (!json_is_integer(v) || n < 0 || n >= r->ranks)
			return json_is_integer(v)
				       ? no_such(r, "no rank %d: the job has "
						    "ranks 0 to %d", (int)n,
						 r->ranks - 1)
				       : no_such(r, "'%s' is no rank: write "
						    "rank = 1, say, or \"all\"",
						 name);
		return json_array_append(out, v);
	}
	if (is_device(r))
		return add_device(r, v, out);
	if (json_is_integer(v)) {
		if (n < 0 || n >= r->n_hosts)
			return no_such(r, "no host %d: the lab has hosts 0 to "
					  "%d", (int)n, r->n_hosts - 1);
		name = r->hosts[n].name;
	} else if (host_index(r, name) < 0) {
		return unknown_host(r, name);
	}
	return json_array_append_new(out, json_string(name));
}

static json_t *everything(const struct resolver *r)
{
	json_t *out = json_array();
	int i, k;

	for (i = 0; is_rank(r) && i < r->ranks; i++)
		json_array_append_new(out, json_integer(i));
	for (i = 0; is_device(r) && i < r->n_hosts; i++)
		for (k = 0; k < r->devices && !r->hosts[i].spare; k++)
			json_array_append_new(out, device_name(r, i, k));
	if (is_device(r))
		return out;
	for (i = 0; !is_rank(r) && i < r->n_hosts; i++)
		if (!r->hosts[i].spare)
			json_array_append_new(out,
					      json_string(r->hosts[i].name));
	return out;
}

static int expand(const struct resolver *r, json_t *is, json_t *out)
{
	json_t *v, *all;
	size_t i;
	int rc = 0;

	json_array_foreach(is, i, v) {
		if (rc == 0)
			rc = add_one(r, v, out);
	}
	v = json_array_get(out, 0);
	if (rc == 0 && json_is_string(v) &&
	    strcmp(json_string_value(v), "all") == 0) {
		all = everything(r);
		json_array_clear(out);
		json_array_extend(out, all);
		json_decref(all);
	}
	return rc;
}

/* Of a rank, a device, a host. */
static const char *host_of(const struct resolver *r, const json_t *v)
{
	int i;

	if (json_is_integer(v))
		return json_string_value(json_array_get(
			r->plan->where, (size_t)json_integer_value(v)));
	i = host_index(r, json_string_value(v));
	return i < 0 ? NULL : r->hosts[i].name;
}

/* ---- pickers ---- */

static void skip(const struct resolver *r, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static void skip(const struct resolver *r, const char *fmt, ...)
{
	struct drill_plan_made *p = r->plan;
	va_list ap;

	if (p->skip)
		return;
	va_start(ap, fmt);
	vsnprintf(p->skip_text, sizeof(p->skip_text), fmt, ap);
	va_end(ap);
	p->skip = p->skip_text;
}

/* The hosts of "rack-b": domains {"rack": {"b": ["h2", "h3"]}}. */
static json_t *domain_hosts(const struct resolver *r, const char *what)
{
	const char *dash = strchr(what, '-');
	char level[64];

	if (!dash)
		return NULL;
	snprintf(level, sizeof(level), "%.*s", (int)(dash - what), what);
	return json_object_get(json_object_get(r->lab->domains, level),
			       dash + 1);
}

static bool holds(json_t *list, const char *name)
{
	json_t *v;
	size_t i;

	json_array_foreach(list, i, v)
		if (json_is_string(v) && strcmp(json_string_value(v), name) == 0)
			return true;
	return false;
}

/* All of @what that the fault could hit. */
static json_t *candidates(const struct resolver *r, const char *what)
{
	json_t *all = everything(r), *hosts, *out = json_array(), *v;
	size_t i;

	if (strcmp(what, r->kind) == 0) {
		json_decref(out);
		return all;
	}
	hosts = domain_hosts(r, what);
	if (!hosts) {
		no_such(r, "nothing is called '%s': write \"%s\" or a domain "
			   "as in \"rack-b\"", what, r->kind);
		json_decref(out);
		json_decref(all);
		return NULL;
	}
	json_array_foreach(all, i, v) {
		const char *h = host_of(r, v);

		if (h && holds(hosts, h))
			json_array_append(out, v);
	}
	json_decref(all);
	return out;
}

static void record(const struct resolver *r, json_t *chosen)
{
	json_array_append_new(r->plan->draws,
			      json_pack("{s:s s:s s:O}", "stream",
					r->f->spec->name, "what", "target",
					"value", chosen));
}

static void draw(const struct resolver *r, json_t *from, size_t n, json_t *out)
{
	struct drill_stream s;
	char name[80];

	snprintf(name, sizeof(name), "target %s", r->f->spec->name);
	drill_stream_init(&s, r->plan->seed, name);
	while (n-- && json_array_size(from)) {
		size_t k = drill_stream_below(&s, json_array_size(from));

		json_array_append(out, json_array_get(from, k));
		json_array_remove(from, k);
	}
	record(r, out);
}

static int pick_some(const struct resolver *r, json_t *pick, json_t *out)
{
	const char *how = json_string_value(json_object_get(pick, "how"));
	const char *what = json_string_value(json_object_get(pick, "what"));
	json_t *from = candidates(r, what);
	json_int_t ppm = json_integer_value(json_object_get(pick, "ppm"));
	size_t n = (size_t)json_integer_value(json_object_get(pick, "n"));
	size_t have;

	if (!from)
		return -EINVAL;
	have = json_array_size(from);
	if (strcmp(how, "share") == 0)
		n = (size_t)(((json_int_t)have * ppm + 999999) / 1000000);
	if (n == 0 || n > have)
		skip(r, "%s: %zu of '%s' wanted, %zu there", r->f->spec->name,
		     n, what, have);
	else
		draw(r, from, n, out);
	json_decref(from);
	return 0;
}

/* other: anyone that the named fault does not hit; peer: on another host. */
static int pick_from(const struct resolver *r, json_t *pick, json_t *out)
{
	const char *how = json_string_value(json_object_get(pick, "how"));
	const char *of = json_string_value(json_object_get(pick, "of"));
	int k = drill_spec_fault_index(r->plan->spec, of ? of : "");
	json_t *target, *from, *rest = json_array(), *v, *hit;
	size_t i;

	hit = k < 0 ? NULL : r->plan->faults[k].fault;
	target = json_object_get(hit, "target");
	if (!target || json_object_get(target, "pick")) {
		json_decref(rest);
		return no_such(r, "pick.%s(\"%s\"): that fault must be picked "
				  "first, and not from this one", how, of);
	}
	from = everything(r);
	json_array_foreach(from, i, v) {
		const char *h = host_of(r, v);
		bool same = holds(json_object_get(target, "hosts"), h);
		json_t *is = json_object_get(target, "is"), *e;
		size_t j;

		if (strcmp(how, "other") == 0) {
			same = false;
			json_array_foreach(is, j, e)
				same |= json_equal(e, v);
		}
		if (!same)
			json_array_append(rest, v);
	}
	if (json_array_size(rest) == 0)
		skip(r, "%s: nobody beside the target of '%s'",
		     r->f->spec->name, of);
	else
		draw(r, rest, 1, out);
	json_decref(from);
	json_decref(rest);
	return 0;
}

static json_t *hosts_of(const struct resolver *r, json_t *is)
{
	json_t *out = json_array(), *v;
	const char *h;
	size_t i;

	json_array_foreach(is, i, v) {
		h = host_of(r, v);
		if (h && !holds(out, h))
			json_array_append_new(out, json_string(h));
	}
	return out;
}

/* A device at the other end of a link is one of the same host. */
static int check_peer(const struct resolver *r)
{
	json_t *peer = json_object_get(json_object_get(r->f->spec->json, "args"),
				       "peer");
	json_int_t n = json_integer_value(peer);

	if (!json_is_integer(peer) || n < r->devices)
		return 0;
	return no_such(r, "peer = %d: a host has devices 0 to %d", (int)n,
		       r->devices - 1);
}

/* A fault of devices that is aimed at hosts is aimed at all devices of them that
 * ranks are placed on: nobody feels it on the others. */
static int take_devices(struct resolver *r, json_t *out)
{
	int k, n = drill_plan_used_devices(r->plan->spec, r->lab);
	json_t *hosts = json_copy(out), *v;
	size_t i;

	r->kind = "device";
	json_array_clear(out);
	json_array_foreach(hosts, i, v)
		for (k = 0; k < n; k++)
			json_array_append_new(out, json_sprintf(
				"%s/gpu%d", json_string_value(v), k));
	json_decref(hosts);
	return n ? 0 : no_such(r, "the lab's hosts have no devices");
}

int drill_target_resolve(struct drill_plan_made *plan, int i,
			 const struct drill_lab_spec *lab,
			 const struct drill_lab_host *hosts, int n_hosts,
			 struct drill_err *err)
{
	struct drill_planned_fault *f = &plan->faults[i];
	json_t *was = json_object_get(f->spec->json, "target");
	json_t *pick = json_object_get(was, "pick"), *out = json_array();
	struct resolver r = {
		.plan = plan, .f = f, .lab = lab, .hosts = hosts,
		.n_hosts = n_hosts, .err = err,
		.ranks = drill_workload_ranks(plan->spec->workload),
		.devices = drill_plan_devices(plan->spec, lab),
		.kind = json_string_value(json_object_get(was, "kind")) };
	int rc;

	if (strcmp(r.kind, "rank") != 0 && strcmp(r.kind, "host") != 0 &&
	    strcmp(r.kind, "job") != 0 && !is_device(&r)) {
		json_decref(out);
		return no_such(&r, "not yet: faults on a %s", r.kind);
	}
	if (!pick)
		rc = expand(&r, json_object_get(was, "is"), out);
	else if (json_object_get(pick, "what"))
		rc = pick_some(&r, pick, out);
	else
		rc = pick_from(&r, pick, out);
	if (rc == 0 && strcmp(r.kind, "host") == 0 &&
	    f->spec->injector->targets & DRILL_TARGET_DEVICE)
		rc = take_devices(&r, out);
	if (rc == 0)
		rc = check_peer(&r);
	if (rc == 0)
		json_object_set_new(f->fault, "target",
				    json_pack("{s:s s:O s:o}", "kind", r.kind,
					      "is", out, "hosts",
					      hosts_of(&r, out)));
	json_decref(out);
	return rc;
}
