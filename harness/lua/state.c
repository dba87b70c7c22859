/* state.c - one sandboxed Lua state: memory, instructions and names it may use
 * SPDX-License-Identifier: MIT
 *
 * The sandbox guards against accidents, not malice. What it does not stop: a
 * string pattern that backtracks for ever inside one C call.
 */
#include "script.h"

#include "harness/core/unit.h"

#include <errno.h>
#include <lualib.h>
#include <stdlib.h>
#include <string.h>

struct drill_script *script_of(lua_State *L)
{
	return *(struct drill_script **)lua_getextraspace(L);
}

static void *capped(void *ud, void *ptr, size_t old, size_t size)
{
	struct drill_script *s = ud;
	size_t was = ptr ? old : 0;
	void *p;

	if (size == 0) {
		s->used -= was;
		free(ptr);
		return NULL;
	}
	if (size > was && s->used + (size - was) > DRILL_SCRIPT_MEMORY) {
		s->full = true;
		return NULL;
	}
	p = realloc(ptr, size);
	if (p)
		s->used += size - was;
	return p;
}

/* One refusal could be swallowed by pcall; so once out of budget every further
 * instruction raises, until nothing of the script is left on the stack. */
static void tick(lua_State *L, lua_Debug *ar)
{
	struct drill_script *s = script_of(L);

	s->budget -= s->stopped ? 1 : DRILL_SCRIPT_STRIDE;
	if (s->budget > 0)
		return;
	s->stopped = true;
	lua_sethook(L, tick, LUA_MASKCOUNT, 1);
	lua_getinfo(L, "Sl", ar);
	lua_pushfstring(L, "%s:%d: the script ran %d million instructions "
			   "without waiting and was stopped", ar->short_src,
			ar->currentline, (int)(DRILL_SCRIPT_BUDGET / 1000000));
	lua_error(L);
}

void script_refill(struct drill_script *s)
{
	if (!s->stopped)
		s->budget = DRILL_SCRIPT_BUDGET;
}

static int traceback(lua_State *L)
{
	const char *msg = lua_tostring(L, 1);

	if (!msg)
		msg = luaL_tolstring(L, 1, NULL);
	luaL_traceback(L, L, msg, 1);
	return 1;
}

/* The frames of the script itself; ours, in C, say nothing to its author. */
static void keep_trace(struct drill_script *s, const char *trace)
{
	size_t len = 0, n;
	int frames = 0;

	for (; *trace; trace += n + (trace[n] == '\n')) {
		n = strcspn(trace, "\n");
		if (memmem(trace, n, "[C]:", 4) ||
		    len + n + 2 > sizeof(s->trace))
			continue;
		memcpy(s->trace + len, trace, n);
		len += n;
		s->trace[len++] = '\n';
		frames++;
	}
	if (frames < 3) /* the head and one frame: the error names that line */
		len = 0;
	s->trace[len ? len - 1 : 0] = '\0';
}

/* Lua has no line for it: it asks for no trace when it has no memory. */
static int out_of_memory(struct drill_script *s, lua_State *L,
			 struct drill_err *err)
{
	const struct script_source *file = s->sources;

	while (file && file->next)
		file = file->next;
	drill_err_set(err, -EINVAL, NULL, "%s: the script wanted more than %u "
		      "MiB of memory and was stopped",
		      file ? file->name : "?", DRILL_SCRIPT_MEMORY >> 20);
	lua_pop(L, 1);
	return -EINVAL;
}

/* The first line of the message is the error, the rest the trace. */
int script_failed(struct drill_script *s, lua_State *L, struct drill_err *err)
{
	const char *msg = lua_tostring(L, -1);
	int len;

	msg = msg ? msg : "an error that is no text";
	if (s->full && strncmp(msg, "not enough memory", 17) == 0)
		return out_of_memory(s, L, err);
	len = (int)strcspn(msg, "\n");
	keep_trace(s, msg[len] ? msg + len + 1 : "");
	drill_err_set(err, -EINVAL, NULL, "%.*s", len, msg);
	lua_pop(L, 1);
	return -EINVAL;
}

int script_call(struct drill_script *s, lua_State *L, int nargs, int nresults,
		struct drill_err *err)
{
	int base = lua_gettop(L) - nargs;
	int rc;

	lua_pushcfunction(L, traceback);
	lua_insert(L, base);
	script_refill(s);
	rc = lua_pcall(L, nargs, nresults, base);
	lua_remove(L, base);
	return rc == LUA_OK ? 0 : script_failed(s, L, err);
}

static int undefined_read(lua_State *L)
{
	const char *name = luaL_tolstring(L, 2, NULL);
	const char *names[64];
	const char *near;
	int n = 0;

	lua_pushnil(L);
	while (lua_next(L, 1) && n < 63) {
		if (lua_type(L, -2) == LUA_TSTRING)
			names[n++] = lua_tostring(L, -2);
		lua_pop(L, 1);
	}
	names[n] = NULL;
	near = drill_nearest(name, names);
	return raise_near(L, name, "undefined global '%s'%s%s%s", name,
			  near ? " (did you mean '" : "", near ? near : "",
			  near ? "'?)" : "");
}

static int undefined_write(lua_State *L)
{
	return raise_near(L, NULL, "assignment to global '%s': write local %s",
			  luaL_tolstring(L, 2, NULL), lua_tostring(L, 2));
}

/* Lua runs a finaliser with its hooks off, so that an endless one could not be
 * stopped; what a scenario must undo, the engine undoes. */
static int checked_setmetatable(lua_State *L)
{
	static const char *const refused[] = { "__gc", "__close", "__mode" };
	size_t i;

	luaL_checktype(L, 1, LUA_TTABLE);
	if (!lua_isnil(L, 2))
		luaL_checktype(L, 2, LUA_TTABLE);
	for (i = 0; !lua_isnil(L, 2) && i < 3; i++) {
		lua_pushstring(L, refused[i]);
		if (lua_rawget(L, 2) != LUA_TNIL)
			return luaL_error(L, "no %s in a scenario: the engine "
					     "reverts by itself", refused[i]);
		lua_pop(L, 1);
	}
	if (luaL_getmetafield(L, 1, "__metatable") != LUA_TNIL)
		return luaL_error(L, "this table's metatable is protected");
	lua_settop(L, 2);
	lua_setmetatable(L, 1);
	return 1;
}

static int print_nowhere(lua_State *L)
{
	return raise_near(L, "print", "print is not in a scenario: t:log \"...\" "
				      "lands in the report");
}

/* Copies what is harmless from the libraries into the table at the top. */
static void copy_library(lua_State *L, lua_CFunction open, const char *name,
			 const char *const *without)
{
	int i;

	luaL_requiref(L, name, open, 0);
	for (i = 0; without && without[i]; i++) {
		lua_pushnil(L);
		lua_setfield(L, -2, without[i]);
	}
	lua_setfield(L, -2, name);
}

static void copy_basics(lua_State *L)
{
	static const char *const basics[] = {
		"assert", "error", "getmetatable", "ipairs", "next", "pairs",
		"pcall", "rawequal", "rawlen", "select", "tonumber", "tostring",
		"type", "xpcall", NULL };
	int i;

	luaL_requiref(L, "_G", luaopen_base, 0);
	for (i = 0; basics[i]; i++) {
		lua_getfield(L, -1, basics[i]);
		lua_setfield(L, -3, basics[i]);
	}
	lua_pop(L, 1);
}

static void make_strict(lua_State *L)
{
	lua_createtable(L, 0, 3);
	lua_pushcfunction(L, undefined_read);
	lua_setfield(L, -2, "__index");
	lua_pushcfunction(L, undefined_write);
	lua_setfield(L, -2, "__newindex");
	lua_pushliteral(L, "strict");
	lua_setfield(L, -2, "__metatable");
	lua_setmetatable(L, -2);
}

static const luaL_Reg basics_of_ours[] = {
	{ "setmetatable", checked_setmetatable },
	{ "print", print_nowhere },
	{ NULL, NULL },
};

static int open_sandbox(lua_State *L)
{
	static const char *const no_math[] = { "random", "randomseed", NULL };
	static const char *const no_string[] = { "dump", NULL };
	struct drill_script *s = script_of(L);

	node_register(L);
	story_register(L);
	lua_newtable(L);
	copy_basics(L);
	copy_library(L, luaopen_string, "string", no_string);
	copy_library(L, luaopen_table, "table", NULL);
	copy_library(L, luaopen_math, "math", no_math);
	copy_library(L, luaopen_utf8, "utf8", NULL);
	luaL_setfuncs(L, basics_of_ours, 0);
	words_open(L);
	families_open(L);
	scenario_open(L);
	require_open(L);
	make_strict(L);
	s->env_ref = luaL_ref(L, LUA_REGISTRYINDEX);
	lua_newtable(L);
	s->modules_ref = luaL_ref(L, LUA_REGISTRYINDEX);
	lua_sethook(L, tick, LUA_MASKCOUNT, DRILL_SCRIPT_STRIDE);
	return 0;
}

static struct drill_script *script_new(struct drill_err *err)
{
	struct drill_script *s = calloc(1, sizeof(*s));

	if (!s || !(s->L = lua_newstate(capped, s))) {
		drill_err_set(err, -ENOMEM, "lua", "no memory for a script");
		free(s);
		return NULL;
	}
	*(struct drill_script **)lua_getextraspace(s->L) = s;
	s->budget = DRILL_SCRIPT_BUDGET;
	s->scenarios = json_array();
	s->params = json_object();
	lua_pushcfunction(s->L, open_sandbox);
	if (script_call(s, s->L, 0, 0, err) < 0) {
		drill_script_free(s);
		return NULL;
	}
	return s;
}

static int keep_source(struct drill_script *s, const char *name,
		       const char *text, size_t len)
{
	struct script_source *src = calloc(1, sizeof(*src));

	if (!src)
		return -ENOMEM;
	src->name = strdup(name);
	src->text = strndup(text, len);
	src->next = s->sources;
	s->sources = src;
	return src->name && src->text ? 0 : -ENOMEM;
}

int script_compile(struct drill_script *s, const char *name, const char *text,
		   size_t len, struct drill_err *err)
{
	char chunk[300];

	if (len && (memchr(text, '\0', len) || text[0] == LUA_SIGNATURE[0]))
		return drill_err_set(err, -EINVAL, NULL,
				     "%s:1: this is no text", name);
	if (keep_source(s, name, text, len) < 0)
		return drill_err_set(err, -ENOMEM, "lua", "no memory");
	snprintf(chunk, sizeof(chunk), "@%s", name);
	if (luaL_loadbufferx(s->L, text, len, chunk, "t") != LUA_OK) {
		const char *msg = lua_tostring(s->L, -1);

		if (strstr(msg, "expected near 'local'"))
			lua_pushfstring(s->L, "%s (a word of Lua: write "
					      "lab.local_)", msg);
		return script_failed(s, s->L, err);
	}
	lua_rawgeti(s->L, LUA_REGISTRYINDEX, s->env_ref);
	lua_setupvalue(s->L, -2, 1);
	return 0;
}

static int keep_scenario(struct drill_script *s, int i, const char *name,
			 struct drill_err *err)
{
	struct node *n = node_test(s->L, i, NODE_SCENARIO);

	if (!n)
		return drill_err_set(err, -EINVAL, NULL,
				     "%s:1: the file must return scenario { ... } "
				     "or a list of them, not a %s", name,
				     luaL_typename(s->L, i));
	json_object_set_new(n->v, "file", json_string(name));
	json_object_set_new(n->v, "story", json_integer(n->story));
	return json_array_append(s->scenarios, n->v) < 0 ? -ENOMEM : 0;
}

static int keep_result(struct drill_script *s, const char *name,
		       struct drill_err *err)
{
	lua_State *L = s->L;
	int rc = 0;
	lua_Integer i, n;

	if (!lua_istable(L, -1))
		return keep_scenario(s, -1, name, err);
	n = (lua_Integer)lua_rawlen(L, -1);
	if (n == 0)
		return drill_err_set(err, -EINVAL, NULL,
				     "%s:1: the file returns no scenario", name);
	for (i = 1; i <= n && rc == 0; i++) {
		lua_rawgeti(L, -1, i);
		rc = keep_scenario(s, -1, name, err);
		lua_pop(L, 1);
	}
	return rc;
}

/* Also where the file has no params { ... } that could object. */
static int all_declared(struct drill_script *s, const char *file,
			struct drill_err *err)
{
	const char *name;
	json_t *v;

	json_object_foreach(s->given, name, v)
		if (!json_object_get(s->params, name))
			return drill_err_set(err, -EINVAL, NULL, "%s:1: -p %s: "
					     "this scenario has no parameters",
					     file, name);
	return 0;
}

int drill_script_load_text(const char *name, const char *text, size_t len,
			   json_t *params, struct drill_script **ret,
			   struct drill_err *err)
{
	struct drill_script *s = script_new(err);
	int rc;

	*ret = s;
	if (!s)
		return -ENOMEM;
	s->given = params;
	require_root(s, name);
	rc = script_compile(s, name, text, len, err);
	if (rc == 0)
		rc = script_call(s, s->L, 0, 1, err);
	if (rc == 0) {
		rc = keep_result(s, name, err);
		lua_pop(s->L, 1);
	}
	if (rc == 0)
		rc = all_declared(s, name, err);
	s->given = NULL;
	return rc;
}

json_t *drill_script_scenarios(const struct drill_script *s)
{
	return s->scenarios;
}

json_t *drill_script_params(const struct drill_script *s)
{
	return s->params;
}

const char *drill_script_trace(const struct drill_script *s)
{
	return s ? s->trace : "";
}

void drill_script_free(struct drill_script *s)
{
	struct script_source *src;

	if (!s)
		return;
	if (s->L)
		lua_close(s->L);
	while ((src = s->sources)) {
		s->sources = src->next;
		free(src->name);
		free(src->text);
		free(src);
	}
	json_decref(s->params);
	json_decref(s->scenarios);
	free(s->stories);
	free(s);
}

int drill_script_fault(const char *text, json_t **ret, struct drill_err *err)
{
	struct drill_script *s = script_new(err);
	char chunk[4096];
	struct node *n;
	int rc, len;

	if (!s)
		return -ENOMEM;
	lua_pushboolean(s->L, true);
	lua_setfield(s->L, LUA_REGISTRYINDEX, FAULT_ALONE);
	len = snprintf(chunk, sizeof(chunk), "return %s", text);
	rc = len < (int)sizeof(chunk) ? 0 : -E2BIG;
	if (rc < 0)
		drill_err_set(err, rc, "--fault", "longer than 4 KiB");
	if (rc == 0)
		rc = script_compile(s, "--fault", chunk, (size_t)len, err);
	if (rc == 0)
		rc = script_call(s, s->L, 0, 1, err);
	if (rc == 0 && !(n = node_test(s->L, -1, NODE_FAULT)))
		rc = drill_err_set(err, -EINVAL, "--fault",
				   "'%s' is no fault: write one as in "
				   "host.stop { rank = 0 }", text);
	else if (rc == 0)
		*ret = json_incref(n->v);
	drill_script_free(s);
	return rc;
}
