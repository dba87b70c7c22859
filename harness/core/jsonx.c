/* jsonx.c - JSON from elsewhere, read with bounds
 * SPDX-License-Identifier: MIT
 */
#include "jsonx.h"

#include <errno.h>
#include <stdbool.h>

/* Counts brackets before the parser recurses: its own limit is 2048. Text that
 * is no JSON may be counted wrongly; the parser then refuses it. */
int drill_json_depth(const char *text, size_t n, const char *who,
		     struct drill_err *err)
{
	bool in_string = false;
	int depth = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		if (in_string && text[i] == '\\')
			i++;
		else if (text[i] == '"')
			in_string = !in_string;
		else if (in_string)
			continue;
		else if (text[i] == '{' || text[i] == '[')
			depth++;
		else if (text[i] == '}' || text[i] == ']')
			depth--;
		if (depth > DRILL_JSON_DEPTH)
			return drill_err_set(err, -EPROTO, who,
					     "nested deeper than %d",
					     DRILL_JSON_DEPTH);
	}
	return 0;
}

json_t *drill_json_object(const char *text, size_t n, const char *who,
			  struct drill_err *err)
{
	json_error_t why;
	json_t *obj;

	if (drill_json_depth(text, n, who, err) < 0)
		return NULL;
	obj = json_loadb(text, n, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY,
			 &why);
	if (!obj) {
		int code = json_error_code(&why) == json_error_out_of_memory
				   ? -ENOMEM
				   : -EPROTO;

		drill_err_set(err, code, who, "no JSON at byte %d: %s",
			      why.position, why.text);
		return NULL;
	}
	if (json_is_object(obj))
		return obj;
	drill_err_set(err, -EPROTO, who, "%s where an object belongs",
		      drill_json_type(obj));
	json_decref(obj);
	return NULL;
}

const char *drill_json_type(const json_t *value)
{
	static const char *const names[] = {
		[JSON_OBJECT] = "an object",   [JSON_ARRAY] = "a list",
		[JSON_STRING] = "a string",    [JSON_INTEGER] = "an integer",
		[JSON_REAL] = "a number",      [JSON_TRUE] = "true",
		[JSON_FALSE] = "false",	       [JSON_NULL] = "null",
	};

	return value ? names[json_typeof(value)] : "nothing";
}

const char *drill_json_text(const json_t *obj, const char *key)
{
	const char *s = json_string_value(json_object_get(obj, key));

	return s ? s : "";
}
