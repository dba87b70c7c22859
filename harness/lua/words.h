/* words.h - what the words of a scenario share
 * SPDX-License-Identifier: MIT
 */
#ifndef DRILL_WORDS_H
#define DRILL_WORDS_H

#include "script.h"

/* Raises "not yet: NAME"; upvalue 1 is the name. */
int not_yet(lua_State *L);

/* Makes unknown names of the table on top raise with the nearest one, and
 * changes too. [-0, +0, m] */
void seal_family(lua_State *L, const char *name);

/* Nanoseconds from "5s" at @i; a bare number raises and says what to write. */
int64_t check_duration(lua_State *L, int i, const char *what);

/* Raises for a key of the table at @i that is not in the NULL-ended @known. */
void check_fields(lua_State *L, int i, const char *what,
		  const char *const *known);

#endif
