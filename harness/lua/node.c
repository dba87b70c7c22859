/* node.c - values of ours in a script, and the way from Lua to JSON and back
 * SPDX-License-Identifier: MIT
 */
#include "script.h"

#include "injectors/hooks/hooks.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define NODE_META "faultdrill.node"
#define DEPTH_MAX 16

static const char *const kind_names[] = {
	[NODE_FAULT] = "fault",	      [NODE_WORKLOAD] = "workload",
	[NODE_LAB] = "lab",	      [NODE_TRIGGER] = "trigger",
	[NODE_PICK] = "picker",	      [NODE_UNTIL] = "until_",
	[NODE_DETECTOR] = "detector", [NODE_SCENARIO] = "scenario",
};

const char *node_kind_name(enum node_kind kind)
{
	return kind_names[kind];
}

struct node *node_push(lua_State *L, enum node_kind kind, json_t *v)
{
	struct node *n = lua_newuserdatauv(L, sizeof(*n), 0);

	n->kind = kind;
	n->v = v;
	n->story = -1;
	luaL_setmetatable(L, NODE_META);
	return n;
}

struct node *node_test(lua_State *L, int i, enum node_kind kind)
{
	struct node *n = luaL_testudata(L, i, NODE_META);

	return n && n->kind == kind ? n : NULL;
}

static int node_gc(lua_State *L)
{
	struct node *n = luaL_checkudata(L, 1, NODE_META);

	json_decref(n->v);
	n->v = NULL;
	return 0;
}

static int node_tostring(lua_State *L)
{
	struct node *n = luaL_checkudata(L, 1, NODE_META);
	char *text = json_dumps(n->v, JSON_COMPACT | JSON_SORT_KEYS);

	lua_pushfstring(L, "%s %s", kind_names[n->kind], text ? text : "?");
	free(text);
	return 1;
}

/* at.step(n):before|inside|after(call, nth) */
static int refine(lua_State *L, const char *when)
{
	struct node *n = node_test(L, 1, NODE_TRIGGER);
	const char *call = luaL_checkstring(L, 2);
	lua_Integer nth = luaL_optinteger(L, 3, 1);
	struct drill_err err = { 0 };
	enum drill_word word;
	json_t *v, *steps;

	if (!n || !(steps = json_object_get(n->v, "steps")) ||
	    json_array_size(steps) != 1 || json_object_get(n->v, "where"))
		return raise_near(L, when, "only at.step(n) with one step takes "
					   ":%s(call, nth)", when);
	if (nth < 1)
		return raise_near(L, when, ":%s counts calls from 1", when);
	if (drill_word_parse(call, &word, &err) < 0)
		return raise_near(L, call, ":%s: %s", when, err.msg);
	v = json_copy(n->v);
	json_object_set_new(v, "where", json_string(when));
	json_object_set_new(v, "collective", json_string(call));
	json_object_set_new(v, "nth", json_integer(nth));
	node_push(L, NODE_TRIGGER, v);
	return 1;
}

static int before(lua_State *L)
{
	return refine(L, "before");
}

static int inside(lua_State *L)
{
	return refine(L, "inside");
}

static int after(lua_State *L)
{
	return refine(L, "after");
}

static const luaL_Reg trigger_methods[] = {
	{ "before", before }, { "inside", inside }, { "after", after },
	{ NULL, NULL },
};

static int node_index(lua_State *L)
{
	struct node *n = luaL_checkudata(L, 1, NODE_META);
	const char *name = luaL_checkstring(L, 2);
	int i;

	for (i = 0; n->kind == NODE_TRIGGER && trigger_methods[i].name; i++) {
		if (strcmp(trigger_methods[i].name, name) == 0) {
			lua_pushcfunction(L, trigger_methods[i].func);
			return 1;
		}
	}
	return raise_near(L, name, "a %s has no field '%s'%s",
			  kind_names[n->kind], name,
			  n->kind == NODE_TRIGGER
				  ? " (it has: before, inside, after)" : "");
}

static int node_newindex(lua_State *L)
{
	struct node *n = luaL_checkudata(L, 1, NODE_META);

	return raise_near(L, NULL, "a %s cannot be changed",
			  kind_names[n->kind]);
}

static const luaL_Reg node_methods[] = {
	{ "__gc", node_gc },	   { "__tostring", node_tostring },
	{ "__index", node_index }, { "__newindex", node_newindex },
	{ NULL, NULL },
};

void node_register(lua_State *L)
{
	luaL_newmetatable(L, NODE_META);
	luaL_setfuncs(L, node_methods, 0);
	lua_pushliteral(L, "faultdrill");
	lua_setfield(L, -2, "__metatable");
	lua_pop(L, 1);
}

static int by_key(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

json_t *json_sorted(json_t *obj)
{
	size_t n = json_object_size(obj), i = 0;
	const char **keys = calloc(n + 1, sizeof(*keys));
	json_t *out = json_object(), *v;
	const char *key;

	if (keys) {
		json_object_foreach(obj, key, v)
			keys[i++] = key;
		qsort(keys, n, sizeof(*keys), by_key);
		for (i = 0; i < n; i++)
			json_object_set(out, keys[i],
					json_object_get(obj, keys[i]));
	}
	free(keys);
	return out;
}

static json_t *to_json(lua_State *L, int i, const char *what, int depth);

/* A Lua error must not leak what was built so far: it hangs on a node that the
 * collector frees. [-0, +1, m] */
static json_t *anchored(lua_State *L, json_t *v)
{
	return node_push(L, NODE_UNTIL, v)->v;
}

static json_t *array_to_json(lua_State *L, int i, const char *what, int depth)
{
	json_t *out = anchored(L, json_array());
	lua_Integer k, n = (lua_Integer)lua_rawlen(L, i);

	for (k = 1; k <= n; k++) {
		lua_rawgeti(L, i, k);
		json_array_append_new(out, to_json(L, lua_gettop(L), what,
						   depth));
		lua_pop(L, 1);
	}
	json_incref(out);
	lua_pop(L, 1);
	return out;
}

static json_t *object_to_json(lua_State *L, int i, const char *what, int depth)
{
	json_t *out = anchored(L, json_object()), *sorted;

	lua_pushnil(L);
	while (lua_next(L, i)) {
		if (lua_type(L, -2) != LUA_TSTRING)
			raise_near(L, what, "%s: a list and named fields in one "
					    "table", what);
		json_object_set_new(out, lua_tostring(L, -2),
				    to_json(L, lua_gettop(L), what, depth));
		lua_pop(L, 1);
	}
	sorted = json_sorted(out);
	lua_pop(L, 1);
	return sorted;
}

static json_t *number_to_json(lua_State *L, int i, const char *what)
{
	double d = lua_tonumber(L, i);

	if (lua_isinteger(L, i))
		return json_integer(lua_tointeger(L, i));
	if (d - d != 0)
		raise_near(L, what, "%s: not a finite number", what);
	return json_real(d);
}

static json_t *to_json(lua_State *L, int i, const char *what, int depth)
{
	struct node *n;

	if (depth > DEPTH_MAX)
		raise_near(L, what, "%s: tables nested deeper than %d", what,
			   DEPTH_MAX);
	luaL_checkstack(L, 8, what);
	switch (lua_type(L, i)) {
	case LUA_TNIL:
		return json_null();
	case LUA_TBOOLEAN:
		return json_boolean(lua_toboolean(L, i));
	case LUA_TNUMBER:
		return number_to_json(L, i, what);
	case LUA_TSTRING: {
		size_t len;
		const char *text = lua_tolstring(L, i, &len);
		json_t *v = json_stringn(text, len);

		if (!v || memchr(text, '\0', len))
			raise_near(L, what, "%s: text that is not UTF-8", what);
		return v;
	}
	case LUA_TTABLE:
		return lua_rawlen(L, i) ? array_to_json(L, i, what, depth + 1)
					: object_to_json(L, i, what, depth + 1);
	case LUA_TUSERDATA:
		n = luaL_testudata(L, i, NODE_META);
		if (n)
			return json_incref(n->v);
		/* fall through */
	default:
		raise_near(L, what, "%s: a %s is no value here", what,
			   luaL_typename(L, i));
		return NULL;
	}
}

json_t *json_from_lua(lua_State *L, int i, const char *what)
{
	return to_json(L, lua_absindex(L, i), what, 0);
}

void json_to_lua(lua_State *L, json_t *v)
{
	size_t i;
	json_t *e;

	switch (v ? json_typeof(v) : JSON_NULL) {
	case JSON_INTEGER:
		lua_pushinteger(L, json_integer_value(v));
		break;
	case JSON_REAL:
		lua_pushnumber(L, json_real_value(v));
		break;
	case JSON_STRING:
		lua_pushlstring(L, json_string_value(v), json_string_length(v));
		break;
	case JSON_TRUE:
	case JSON_FALSE:
		lua_pushboolean(L, json_is_true(v));
		break;
	case JSON_ARRAY:
		lua_createtable(L, (int)json_array_size(v), 0);
		json_array_foreach(v, i, e) {
			json_to_lua(L, e);
			lua_rawseti(L, -2, (lua_Integer)i + 1);
		}
		break;
	default:
		lua_pushnil(L);
	}
}

static bool is_word(char c)
{
	return c == '_' || (c >= '0' && c <= '9') ||
	       ((c | 32) >= 'a' && (c | 32) <= 'z');
}

static bool holds_word(const char *line, size_t len, const char *word)
{
	size_t n = strlen(word), i;

	for (i = 0; n && i + n <= len; i++)
		if (memcmp(line + i, word, n) == 0 &&
		    (i == 0 || !is_word(line[i - 1]) || !is_word(word[0])) &&
		    (i + n == len || !is_word(line[i + n]) ||
		     !is_word(word[n - 1])))
			return true;
	return false;
}

int line_of(struct drill_script *s, const char *source, int line,
	    const char *word)
{
	const struct script_source *src = s->sources;
	const char *p;
	int n = 1;

	while (src && strcmp(src->name, source) != 0)
		src = src->next;
	if (!src || !word)
		return line;
	for (p = src->text; *p; n++) {
		size_t len = strcspn(p, "\n");

		if (n >= line && holds_word(p, len, word))
			return n;
		p += len + (p[len] == '\n');
	}
	return line;
}

int caller_line(lua_State *L)
{
	lua_Debug ar;

	if (!lua_getstack(L, 1, &ar) || !lua_getinfo(L, "l", &ar))
		return 0;
	return ar.currentline > 0 ? ar.currentline : 0;
}

int raise_near(lua_State *L, const char *word, const char *fmt, ...)
{
	char text[700];
	lua_Debug ar;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (lua_getstack(L, 1, &ar) && lua_getinfo(L, "Sl", &ar) &&
	    ar.currentline > 0 && ar.source[0] == '@')
		lua_pushfstring(L, "%s:%d: %s", ar.source + 1,
				line_of(script_of(L), ar.source + 1,
					ar.currentline, word), text);
	else
		lua_pushstring(L, text);
	return lua_error(L);
}
