/* face.h - a scenario file as data: what the rest sees of Lua
 * SPDX-License-Identifier: MIT
 */
#ifndef DRILL_FACE_H
#define DRILL_FACE_H

#include "harness/core/err.h"
#include "harness/engine/story.h"

#include <jansson.h>

struct drill_script;

/* Loads and runs the file once; loading has no effect on anything but memory.
 * @params: {"steps": "300"} as typed behind -p, may be NULL, borrowed for the
 * call. On failure -EINVAL with "FILE:LINE: ..." in @err; the traceback, if
 * any, is in drill_script_trace() of *ret, which is set even then. */
int drill_script_load(const char *path, json_t *params,
		      struct drill_script **ret, struct drill_err *err);

/* The same from text, for tests and fuzzing. */
int drill_script_load_text(const char *name, const char *text, size_t len,
			   json_t *params, struct drill_script **ret,
			   struct drill_err *err);

/* One object a scenario (spec.h says which fields). Borrowed from @s. */
json_t *drill_script_scenarios(const struct drill_script *s);

/* {"steps": {"value": 300, "doc": "..."}}, what params{} declared. Borrowed. */
json_t *drill_script_params(const struct drill_script *s);

/* The stack at the last error, or "". Borrowed from @s. */
const char *drill_script_trace(const struct drill_script *s);

/* The story of scenario @i; false when it has no run function. Borrowed:
 * valid until drill_script_free. */
bool drill_script_story(struct drill_script *s, size_t i,
			struct drill_story *ret);

void drill_script_free(struct drill_script *s);

/* One injector expression, "host.stop { rank = 0 }", as a fault object. Without
 * a target it is aimed at the first device, else at rank 0. Yours: json_decref. */
int drill_script_fault(const char *text, json_t **ret, struct drill_err *err);

#endif
