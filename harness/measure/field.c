/* field.c - typed fields of an event, each missing or wrong one named
 * SPDX-License-Identifier: MIT
 */
#include "field.h"

#include "harness/core/jsonx.h"

#include <errno.h>
#include <math.h>

#define WHO "measure"

static int missing(const struct field_event *e, const char *name, bool needed,
		   struct drill_err *err)
{
	if (!needed)
		return 0;
	return drill_err_set(err, -EINVAL, WHO, "line %zu: %s has no '%s'",
			     e->line, e->kind, name);
}

static int ill(const struct field_event *e, const char *name, const char *want,
	       json_t *v, struct drill_err *err)
{
	return drill_err_set(err, -EINVAL, WHO,
			     "line %zu: '%s' of %s must be %s, is %s", e->line,
			     name, e->kind, want, drill_json_type(v));
}

int field_number(const struct field_event *e, const char *name, bool needed,
		 double max, double *ret, struct drill_err *err)
{
	json_t *v = json_object_get(e->o, name);
	double x;

	if (!v || json_is_null(v))
		return missing(e, name, needed, err);
	if (!json_is_number(v))
		return ill(e, name, "a number", v, err);
	x = json_number_value(v);
	if (!isfinite(x) || fabs(x) > max)
		return drill_err_set(err, -EINVAL, WHO,
				     "line %zu: '%s' of %s is out of range: %g",
				     e->line, name, e->kind, x);
	*ret = x;
	return 0;
}

int field_count(const struct field_event *e, const char *name, bool needed,
		int64_t least, int64_t most, int64_t *ret, struct drill_err *err)
{
	json_t *v = json_object_get(e->o, name);
	json_int_t x;

	if (!v || json_is_null(v))
		return missing(e, name, needed, err);
	if (!json_is_integer(v))
		return ill(e, name, "an integer", v, err);
	x = json_integer_value(v);
	if (x < least || x > most)
		return drill_err_set(err, -EINVAL, WHO,
				     "line %zu: '%s' of %s must be %lld to "
				     "%lld, is %lld",
				     e->line, name, e->kind, (long long)least,
				     (long long)most, (long long)x);
	*ret = x;
	return 0;
}

int field_string(const struct field_event *e, const char *name, bool needed,
		 const char **ret, struct drill_err *err)
{
	json_t *v = json_object_get(e->o, name);

	if (!v || json_is_null(v))
		return missing(e, name, needed, err);
	if (!json_is_string(v))
		return ill(e, name, "a string", v, err);
	*ret = json_string_value(v);
	return 0;
}
