/* spec.c - what a lab is to be, checked field by field
 * SPDX-License-Identifier: MIT
 */
#include "spec.h"

#include "harness/core/jsonx.h"
#include "harness/core/unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char who[] = "lab";

#define MAX_DEVICES 64

void drill_lab_spec_init(struct drill_lab_spec *spec)
{
	*spec = (struct drill_lab_spec){.hosts = 4, .devices = 2};
	snprintf(spec->provider, sizeof(spec->provider), "auto");
}

static int wrong(const char *key, const char *want, const json_t *value,
		 struct drill_err *err)
{
	char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);

	drill_err_set(err, -EINVAL, who, "'%s' must be %s, not %.60s", key,
		      want, text ? text : "nothing");
	free(text);
	return -EINVAL;
}

static int set_text(const char *key, json_t *value, char *buf, size_t size,
		    struct drill_err *err)
{
	const char *s = json_string_value(value);

	if (!s || strlen(s) >= size)
		return wrong(key, "a short word", value, err);
	snprintf(buf, size, "%s", s);
	return 0;
}

static int set_count(const char *key, json_t *value, int min, int max, int *ret,
		     struct drill_err *err)
{
	json_int_t v = json_integer_value(value);
	char want[64];

	snprintf(want, sizeof(want), "a number from %d to %d", min, max);
	if (!json_is_integer(value) || v < min || v > max)
		return wrong(key, want, value, err);
	*ret = (int)v;
	return 0;
}

static int set_provider(struct drill_lab_spec *s, const char *key,
			json_t *value, struct drill_err *err)
{
	return set_text(key, value, s->provider, sizeof(s->provider), err);
}

/* It becomes part of paths, of a cgroup's name and of socket names. */
int drill_lab_name_check(const char *name, struct drill_err *err)
{
	size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-");

	if (name[n] || n > 24 || *name == '-')
		return drill_err_set(err, -EINVAL, who,
				     "'%s' is no name for a lab: up to 24 of "
				     "a-z, 0-9 and '-'",
				     name);
	if (strcmp(name, "lock") == 0)
		return drill_err_set(err, -EINVAL, who,
				     "a lab cannot be called 'lock'");
	return 0;
}

static int set_name(struct drill_lab_spec *s, const char *key, json_t *value,
		    struct drill_err *err)
{
	int rc = set_text(key, value, s->name, sizeof(s->name), err);

	return rc < 0 ? rc : drill_lab_name_check(s->name, err);
}

static int set_hosts(struct drill_lab_spec *s, const char *key, json_t *value,
		     struct drill_err *err)
{
	return set_count(key, value, 1, DRILL_LAB_HOSTS, &s->hosts, err);
}

static int set_spares(struct drill_lab_spec *s, const char *key, json_t *value,
		      struct drill_err *err)
{
	return set_count(key, value, 0, DRILL_LAB_HOSTS, &s->spares, err);
}

static int set_devices(struct drill_lab_spec *s, const char *key, json_t *value,
		       struct drill_err *err)
{
	s->devices_named = true;
	return set_count(key, value, 0, MAX_DEVICES, &s->devices, err);
}

static int set_watchdog(struct drill_lab_spec *s, const char *key,
			json_t *value, struct drill_err *err)
{
	struct drill_err inner = {0};

	if (!json_is_string(value))
		return wrong(key, "a duration with its unit like \"5s\"", value,
			     err);
	if (drill_unit_parse(json_string_value(value), DRILL_UNIT_DURATION,
			     &s->watchdog_ns, &inner) < 0)
		return drill_err_set(err, -EINVAL, who, "'%s': %s", key,
				     inner.msg);
	return 0;
}

static bool names_only(const json_t *list)
{
	size_t i;

	for (i = 0; i < json_array_size(list); i++)
		if (!json_is_string(json_array_get(list, i)))
			return false;
	return json_is_array(list);
}

/* {"rack": {"a": ["h0", "h1"]}} */
static int set_domains(struct drill_lab_spec *s, const char *key, json_t *value,
		       struct drill_err *err)
{
	const char *kind, *name;
	json_t *group, *list;

	if (!json_is_object(value))
		return wrong(key, "groups like {rack: {a: [h0, h1]}}", value,
			     err);
	json_object_foreach (value, kind, group) {
		if (!json_is_object(group))
			return wrong(kind, "named lists of hosts", group, err);
		json_object_foreach (group, name, list)
			if (!names_only(list))
				return wrong(name, "a list of hosts", list,
					     err);
	}
	json_decref(s->domains);
	s->domains = json_incref(value);
	return 0;
}

static int set_rates(struct drill_lab_spec *s, const char *key, json_t *value,
		     struct drill_err *err)
{
	static const char *const names[] = {"usd_per_rank_hour",
					    "kwh_per_rank_hour", NULL};
	const char *name, *near;
	json_t *rate;

	if (!json_is_object(value))
		return wrong(key, "an object with usd_per_rank_hour", value,
			     err);
	json_object_foreach (value, name, rate) {
		near = drill_nearest(name, names);
		if (!near || strcmp(near, name) != 0)
			return drill_err_set(err, -EINVAL, who,
					     "'rates' has no '%.40s' (%s, %s)",
					     name, names[0], names[1]);
		if (!json_is_number(rate) || json_number_value(rate) < 0)
			return wrong(name, "a number from 0", rate, err);
	}
	json_decref(s->rates);
	s->rates = json_incref(value);
	return 0;
}

static const struct field {
	const char *name;
	int (*set)(struct drill_lab_spec *, const char *, json_t *,
		   struct drill_err *);
} fields[] = {
	{"provider", set_provider}, {"name", set_name},
	{"hosts", set_hosts},	    {"spares", set_spares},
	{"devices", set_devices},   {"watchdog", set_watchdog},
	{"domains", set_domains},   {"rates", set_rates},
};

#define FIELDS (sizeof(fields) / sizeof(fields[0]))

static int unknown(const char *key, struct drill_err *err)
{
	const char *names[FIELDS + 1] = {NULL}, *near;
	char all[160] = "";
	size_t i, len = 0;

	for (i = 0; i < FIELDS; i++) {
		names[i] = fields[i].name;
		len += (size_t)snprintf(all + len, sizeof(all) - len, "%s%s",
					i ? ", " : "", names[i]);
	}
	near = drill_nearest(key, names);
	if (near)
		return drill_err_set(err, -EINVAL, who,
				     "a lab has no '%.40s', did you mean '%s'?",
				     key, near);
	return drill_err_set(err, -EINVAL, who,
			     "a lab has no '%.40s' (there are: %s)", key, all);
}

int drill_lab_spec_set(struct drill_lab_spec *spec, const char *key,
		       json_t *value, struct drill_err *err)
{
	size_t i;

	for (i = 0; i < FIELDS; i++)
		if (strcmp(fields[i].name, key) == 0)
			return fields[i].set(spec, key, value, err);
	return unknown(key, err);
}

/* "h0" to "h<n-1>", written the one way. */
static bool is_host(const char *name, int n)
{
	char again[32];
	int i = -1;

	if (sscanf(name, "h%d", &i) != 1 || i < 0 || i >= n)
		return false;
	snprintf(again, sizeof(again), "h%d", i);
	return strcmp(again, name) == 0;
}

int drill_lab_spec_check(const struct drill_lab_spec *spec,
			 struct drill_err *err)
{
	int n = spec->hosts + spec->spares;
	const char *kind, *name, *host;
	json_t *group, *list, *entry;
	size_t i;

	if (n > DRILL_LAB_HOSTS)
		return drill_err_set(err, -EINVAL, who,
				     "'hosts' and 'spares' are %d together: lab "
				     "%s has at most %d",
				     n, spec->provider, DRILL_LAB_HOSTS);
	json_object_foreach (spec->domains, kind, group) {
		json_object_foreach (group, name, list) {
			json_array_foreach (list, i, entry) {
				host = json_string_value(entry);
				if (!is_host(host, n))
					return drill_err_set(
						err, -EINVAL, who,
						"%s '%s' names host '%.40s', "
						"but the lab has h0 to h%d",
						kind, name, host, n - 1);
			}
		}
	}
	return 0;
}

int drill_lab_spec_from_json(json_t *obj, struct drill_lab_spec *ret,
			     struct drill_err *err)
{
	const char *key;
	json_t *value;
	int rc = 0;

	drill_lab_spec_init(ret);
	if (!json_is_object(obj))
		return drill_err_set(err, -EINVAL, who,
				     "a lab must be an object, not %s",
				     drill_json_type(obj));
	json_object_foreach (obj, key, value) {
		rc = drill_lab_spec_set(ret, key, value, err);
		if (rc < 0)
			break;
	}
	if (rc == 0)
		rc = drill_lab_spec_check(ret, err);
	if (rc < 0)
		drill_lab_spec_done(ret);
	return rc;
}

void drill_lab_spec_done(struct drill_lab_spec *spec)
{
	json_decref(spec->domains);
	json_decref(spec->rates);
	spec->domains = spec->rates = NULL;
}
