/* exec_tell.c - what exec says at its end of the fault and of the hooks
 * SPDX-License-Identifier: MIT
 */
#include "exec_tell.h"

#include "faultdrill/cuda_api.h"
#include "harness/core/jsonx.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_kind(json_t *event, const char *kind)
{
	return strcmp(drill_json_text(event, "kind"), kind) == 0;
}

int drill_exec_count(json_t *events, const char *kind)
{
	json_t *e;
	size_t i;
	int n = 0;

	json_array_foreach(events, i, e)
		n += is_kind(e, kind);
	return n;
}

json_t *drill_exec_evidence(json_t *events)
{
	json_t *list = json_array(), *e, *v;
	size_t i;

	json_array_foreach(events, i, e)
		if (is_kind(e, "fault.effective") ||
		    is_kind(e, "fault.reverted")) {
			v = json_object_get(e, "evidence");
			json_array_append_new(
				list, json_pack("{s:s s:O*}", "kind",
						drill_json_text(e, "kind"),
						"evidence", v));
		}
	return list;
}

/* "calls_hit 1, error 214" and what lies deeper, in the order of the evidence. */
static void print_flat(json_t *v, const char **comma)
{
	const char *key;
	json_t *x;
	char *s;

	json_object_foreach(v, key, x) {
		if (json_is_object(x)) {
			print_flat(x, comma);
			continue;
		}
		s = json_dumps(x, JSON_ENCODE_ANY | JSON_REAL_PRECISION(4));
		fprintf(stderr, "%s%s %s", *comma, key,
			json_is_string(x) ? json_string_value(x) : s ? s : "?");
		free(s);
		*comma = ", ";
	}
}

static json_int_t number(json_t *v, const char *key)
{
	return json_integer_value(json_object_get(v, key));
}

static const char *error_name(json_int_t error)
{
#define NAME(name, value, text)                                                \
	case value:                                                            \
		return #name;
	switch (error) {
		FAULTDRILL_CUDA_RESULTS(NAME)
	default:
		return "an error";
	}
#undef NAME
}

/* Which bits a silent fault has turned. */
static void tell_sites(json_t *sites)
{
	json_t *s;
	size_t i;

	json_array_foreach(sites, i, s)
		fprintf(stderr, "faultdrill: exec: bit %lld was flipped, of "
				"%lld bytes at %s\n", (long long)number(s, "bit"),
			(long long)number(s, "bytes"),
			drill_json_text(s, "range"));
}

/* A device fault: who felt it first, and where it can be read. The rest is in
 * the JSON. */
static void tell_device(json_t *v)
{
	json_t *back = json_object_get(v, "read_back");
	json_t *p = json_object_get(v, "process");
	json_t *nvml = json_object_get(v, "nvml");
	json_int_t error = number(back, "error");

	fprintf(stderr, "faultdrill: exec: in force on device %lld",
		(long long)number(back, "device"));
	if (p)
		fprintf(stderr, ", felt first in %s of process %lld",
			drill_json_text(p, "call"),
			(long long)number(p, "pid"));
	if (p && number(p, "calls_with_error"))
		fprintf(stderr, ", which returned %lld (%s)", (long long)error,
			error_name(error));
	if (json_object_get(v, "kernels"))
		fprintf(stderr, ", which took %.3g s longer",
			json_number_value(json_object_get(
				json_object_get(v, "kernels"), "added_s")));
	if (strcmp(drill_json_text(back, "health"), "ok") != 0)
		fprintf(stderr, "; the device is %s",
			drill_json_text(back, "health"));
	if (nvml)
		fprintf(stderr, "; NVML %s", json_is_true(json_object_get(
						     nvml, "as_on_page"))
						     ? "says the same"
						     : "says something else");
	fprintf(stderr, "\n");
	if (drill_json_text(v, "line")[0])
		fprintf(stderr, "faultdrill: exec: in the log: %s\n",
			drill_json_text(v, "line"));
	tell_sites(json_object_get(v, "sites"));
}

static void tell_effect(json_t *v)
{
	const char *comma = "";

	if (json_is_object(json_object_get(v, "read_back"))) {
		tell_device(v);
		return;
	}
	fprintf(stderr, "faultdrill: exec: in force: ");
	print_flat(v, &comma);
	fputc('\n', stderr);
}

json_t *drill_exec_proxies(json_t *events)
{
	json_t *list = json_array(), *e;
	size_t i;

	json_array_foreach(events, i, e)
		if (is_kind(e, "evidence") &&
		    !strcmp(drill_json_text(e, "of"), "cuda"))
			json_array_append(list, e);
	return list;
}

static void tell_proxies(json_t *events)
{
	static const char *const counters[] = { "linked", "remapped", "passed",
						"bypassed" };
	json_t *list = drill_exec_proxies(events), *p;
	size_t i, k;

	json_array_foreach(list, i, p) {
		fprintf(stderr, "faultdrill: exec: %s reached the driver: ",
			drill_json_text(p, "program")[0]
				? drill_json_text(p, "program")
				: "the program");
		for (k = 0; k < 4; k++)
			fprintf(stderr, "%s%lld %s", k ? ", " : "",
				(long long)json_integer_value(
					json_object_get(p, counters[k])),
				counters[k]);
		fprintf(stderr, "; behind the proxy: %s\n",
			drill_json_text(p, "next"));
		if (json_integer_value(json_object_get(p, "bypassed")) > 0)
			fprintf(stderr, "faultdrill: exec: it opened a driver "
					"by its path: --audit catches that\n");
	}
	json_decref(list);
}

void drill_exec_tell(json_t *events)
{
	json_t *e;
	size_t i;

	json_array_foreach(events, i, e)
		if (is_kind(e, "fault.effective"))
			tell_effect(json_object_get(e, "evidence"));
	tell_proxies(events);
}
