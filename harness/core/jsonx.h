/* jsonx.h - JSON from elsewhere, read with bounds
 * SPDX-License-Identifier: MIT
 */
#ifndef DRILL_JSONX_H
#define DRILL_JSONX_H

#include "err.h"

#include <jansson.h>
#include <stddef.h>

/* Nothing of ours nests deeper. */
#define DRILL_JSON_DEPTH 32

/* One JSON object in UTF-8 and nothing behind it: no key twice, not nested
 * deeper than DRILL_JSON_DEPTH. NULL with @err set (-EPROTO, -ENOMEM). Yours:
 * json_decref. */
json_t *drill_json_object(const char *text, size_t n, const char *who,
			  struct drill_err *err);

/* The reader's depth rule for text of our own: 0 or -EPROTO. */
int drill_json_depth(const char *text, size_t n, const char *who,
		     struct drill_err *err);

/* The text of member @key, "" where there is none. Borrowed from @obj, which
 * may be NULL. */
const char *drill_json_text(const json_t *obj, const char *key);

/* "a string", "an integer", ...: for messages. Borrowed, lives for ever. */
const char *drill_json_type(const json_t *value);

#endif
