/* story.c - the t of run(t): each wait yields the coroutine, the trial resumes
 * SPDX-License-Identifier: MIT
 *
 * What must be undone is never undone here: a coroutine that dies while it
 * waits runs no further line. `during` only asks; the trial reverts anyway.
 */
#include "words.h"

#include "harness/core/unit.h"

#include <errno.h>
#include <string.h>

#define T_META "faultdrill.t"

static struct script_story *check_t(lua_State *L)
{
	struct script_story **p = luaL_testudata(L, 1, T_META);

	if (!p)
		luaL_error(L, "t's functions are called with a colon: "
			      "t:wait \"5s\"");
	if (!(*p)->trial)
		luaL_error(L, "this trial is over");
	return *p;
}

static int failed(lua_State *L, const char *word, const struct drill_err *err)
{
	return raise_near(L, word, "%s", err->msg);
}

/* "FILE:LINE" of the calling line, for the report. */
static const char *where(lua_State *L, char *buf, size_t size)
{
	lua_Debug ar;

	snprintf(buf, size, "?");
	if (lua_getstack(L, 1, &ar) && lua_getinfo(L, "Sl", &ar))
		snprintf(buf, size, "%s:%d",
			 ar.source[0] == '@' ? ar.source + 1 : ar.short_src,
			 ar.currentline);
	return buf;
}

static int waited(lua_State *L, int status, lua_KContext ctx)
{
	struct script_story *s = check_t(L);

	(void)status;
	(void)ctx;
	if (s->cause)
		return raise_near(L, NULL, "%s", s->cause->msg);
	return 0;
}

static int t_start(lua_State *L)
{
	struct script_story *s = check_t(L);
	struct drill_err err = { 0 };
	const char *name = luaL_checkstring(L, 2);

	if (drill_stage_start(s->trial, name, &err) < 0)
		return failed(L, name, &err);
	return 0;
}

static int t_inject(lua_State *L)
{
	struct script_story *s = check_t(L);
	struct drill_err err = { 0 };
	const char *name = luaL_checkstring(L, 2);

	if (drill_stage_inject(s->trial, name, &err) < 0)
		return failed(L, name, &err);
	return 0;
}

/* t:revert "slow" returns when the revert is proven. */
static int t_revert(lua_State *L)
{
	struct script_story *s = check_t(L);
	struct drill_err err = { 0 };
	const char *name = luaL_checkstring(L, 2);
	const char *what;

	if (drill_stage_revert(s->trial, name, &err) < 0)
		return failed(L, name, &err);
	what = lua_pushfstring(L, "%s.reverted", name);
	if (drill_stage_wait_instant(s->trial, what, &err) < 0)
		return failed(L, name, &err);
	return lua_yieldk(L, 0, 0, waited);
}

static int t_wait(lua_State *L)
{
	struct script_story *s = check_t(L);
	struct drill_err err = { 0 };
	const char *what;
	int64_t ns;
	int rc;

	if (lua_type(L, 2) == LUA_TNUMBER)
		check_duration(L, 2, "t:wait"); /* raises */
	what = luaL_checkstring(L, 2);
	if (drill_unit_parse(what, DRILL_UNIT_DURATION, &ns, NULL) == 0)
		rc = drill_stage_wait_time(s->trial, ns, &err);
	else if (strchr(what, '.'))
		rc = drill_stage_wait_instant(s->trial, what, &err);
	else
		return raise_near(L, what, "t:wait: '%s' is neither a duration "
					   "as in \"5s\" nor an instant as in "
					   "\"lost.detected\"", what);
	if (rc < 0)
		return failed(L, what, &err);
	return lua_yieldk(L, 0, 0, waited);
}

/* [-0, +0, v] the triple from argument @first on; yours */
static json_t *triple(lua_State *L, int first)
{
	json_t *t = json_array();
	int i;

	luaL_checkstring(L, first);
	luaL_checkstring(L, first + 1);
	luaL_checkany(L, first + 2);
	for (i = 0; i < 4 && !lua_isnoneornil(L, first + i); i++)
		json_array_append_new(t, json_from_lua(L, first + i, "limit"));
	return t;
}

static int t_eventually(lua_State *L)
{
	struct script_story *s = check_t(L);
	struct drill_err err = { 0 };
	int64_t ns = check_duration(L, 2, "t:eventually");
	json_t *what = triple(L, 3);
	char at[300];
	int rc = drill_stage_wait_metric(s->trial, ns, what,
					 where(L, at, sizeof(at)), &err);

	json_decref(what);
	if (rc < 0)
		return failed(L, lua_tostring(L, 3), &err);
	return lua_yieldk(L, 0, 0, waited);
}

/* An expectation that does not hold is recorded and judged; the story goes on,
 * and may look at what is returned. */
static int t_expect(lua_State *L)
{
	struct script_story *s = check_t(L);
	struct drill_err err = { 0 };
	json_t *what = triple(L, 2);
	bool held = false;
	char at[300];
	int rc = drill_stage_expect(s->trial, what, where(L, at, sizeof(at)),
				    &held, &err);

	json_decref(what);
	if (rc < 0)
		return failed(L, lua_tostring(L, 2), &err);
	lua_pushboolean(L, held);
	return 1;
}

static int t_now(lua_State *L)
{
	lua_pushnumber(L, drill_stage_now_s(check_t(L)->trial));
	return 1;
}

static int t_log(lua_State *L)
{
	struct script_story *s = check_t(L);
	int n = lua_gettop(L);

	if (n > 2) { /* t:log("%s ...", ...) */
		lua_rawgeti(L, LUA_REGISTRYINDEX, s->script->env_ref);
		lua_getfield(L, -1, "string");
		lua_getfield(L, -1, "format");
		lua_insert(L, 2);
		lua_pop(L, 2);
		lua_call(L, n - 1, 1);
	}
	drill_stage_log(s->trial, luaL_tolstring(L, -1, NULL));
	return 0;
}

static int t_random(lua_State *L)
{
	struct script_story *s = check_t(L);
	const char *name = luaL_checkstring(L, 2);

	lua_pushnumber(L, drill_stage_random(s->trial, name));
	return 1;
}

static int t_skip(lua_State *L)
{
	struct script_story *s = check_t(L);

	drill_stage_skip(s->trial, luaL_checkstring(L, 2));
	return lua_yield(L, 0);
}

/* ---- during ---- */

/* The faults' names: argument 2, a text or a list. [-0, +1, v] pushes the
 * @i-th, from 1; false when there are no more. */
static bool during_name(lua_State *L, int i)
{
	if (lua_istable(L, 2)) {
		if (lua_rawgeti(L, 2, i) == LUA_TSTRING)
			return true;
		lua_pop(L, 1);
		return false;
	}
	if (i > 1)
		return false;
	lua_pushvalue(L, 2);
	return true;
}

/* Waits for the @i-th fault to be effective or reverted; yields or returns
 * false when all are. */
static bool during_wait(lua_State *L, int i, const char *instant)
{
	struct script_story *s = check_t(L);
	struct drill_err err = { 0 };
	const char *what;

	if (!during_name(L, i))
		return false;
	what = lua_pushfstring(L, "%s.%s", lua_tostring(L, -1), instant);
	if (drill_stage_wait_instant(s->trial, what, &err) < 0)
		failed(L, NULL, &err);
	lua_settop(L, 4);
	return true;
}

static int traced(lua_State *L)
{
	luaL_traceback(L, L, luaL_tolstring(L, 1, NULL), 1);
	return 1;
}

/* Slot 4 holds the error of the body, nil when it went well. */
static int during_reverted(lua_State *L, int status, lua_KContext i)
{
	struct script_story *s = check_t(L);

	(void)status;
	if (s->cause && lua_isnil(L, 4))
		return raise_near(L, NULL, "%s", s->cause->msg);
	if (!s->cause && during_wait(L, (int)i, "reverted"))
		return lua_yieldk(L, 0, i + 1, during_reverted);
	if (lua_isnil(L, 4))
		return 0;
	lua_pushvalue(L, 4);
	return lua_error(L);
}

/* Stack here: t, names, body, handler, then what the body left. */
static int during_over(lua_State *L, int status, lua_KContext ctx)
{
	struct script_story *s = check_t(L);
	struct drill_err err = { 0 };
	int i;

	(void)ctx;
	if (status == LUA_OK || status == LUA_YIELD)
		lua_pushnil(L);
	lua_replace(L, 4);
	lua_settop(L, 4);
	for (i = 1; during_name(L, i); i++) {
		if (drill_stage_revert(s->trial, lua_tostring(L, -1), &err) < 0)
			return failed(L, NULL, &err);
		lua_settop(L, 4);
	}
	s->cause = NULL;
	if (during_wait(L, 1, "reverted"))
		return lua_yieldk(L, 0, 2, during_reverted);
	return 0;
}

static int during_effective(lua_State *L, int status, lua_KContext i)
{
	struct script_story *s = check_t(L);

	(void)status;
	if (s->cause)
		return raise_near(L, NULL, "%s", s->cause->msg);
	if (during_wait(L, (int)i, "effective"))
		return lua_yieldk(L, 0, i + 1, during_effective);
	lua_pushcfunction(L, traced);
	lua_replace(L, 4);
	lua_pushvalue(L, 3);
	return during_over(L, lua_pcallk(L, 0, 0, 4, 0, during_over), 0);
}

static int t_during(lua_State *L)
{
	struct script_story *s = check_t(L);
	struct drill_err err = { 0 };
	int i;

	luaL_checktype(L, 3, LUA_TFUNCTION);
	if (!lua_istable(L, 2))
		luaL_checkstring(L, 2);
	lua_settop(L, 3);
	lua_pushnil(L); /* slot 4 */
	for (i = 1; during_name(L, i); i++) {
		const char *name = lua_tostring(L, -1);

		if (drill_stage_inject(s->trial, name, &err) < 0)
			return failed(L, name, &err);
		lua_settop(L, 4);
	}
	if (i == 1)
		return raise_near(L, "during", "t:during: no fault named");
	if (during_wait(L, 1, "effective"))
		return lua_yieldk(L, 0, 2, during_effective);
	return 0;
}

static int renew(lua_State *L, const char *how)
{
	struct script_story *s = check_t(L);
	const char *what = luaL_checkstring(L, 2);
	struct drill_err err = { 0 };

	if (drill_stage_device(s->trial, how, what, &err) < 0)
		return failed(L, what, &err);
	return 0;
}

/* t:reset "h1/gpu0", t:replace "lost" */
static int t_reset(lua_State *L)
{
	return renew(L, "reset");
}

static int t_replace(lua_State *L)
{
	return renew(L, "replace");
}

static const luaL_Reg methods[] = {
	{ "start", t_start },	{ "inject", t_inject },
	{ "revert", t_revert }, { "during", t_during },
	{ "wait", t_wait },	{ "eventually", t_eventually },
	{ "expect", t_expect }, { "now", t_now },
	{ "log", t_log },	{ "random", t_random },
	{ "skip", t_skip },	{ "reset", t_reset },
	{ "replace", t_replace }, { NULL, NULL },
};

static int t_index(lua_State *L)
{
	const char *name = luaL_checkstring(L, 2), *names[16], *near;
	int i;

	for (i = 0; methods[i].name; i++) {
		names[i] = methods[i].name;
		if (strcmp(name, methods[i].name) == 0) {
			lua_pushcfunction(L, methods[i].func);
			return 1;
		}
	}
	names[i] = NULL;
	near = drill_nearest(name, names);
	return raise_near(L, name, "t has no '%s'%s%s%s", name,
			  near ? " (did you mean t:" : "", near ? near : "",
			  near ? "?)" : "");
}

static int t_tostring(lua_State *L)
{
	lua_pushliteral(L, "t");
	return 1;
}

void story_register(lua_State *L)
{
	luaL_newmetatable(L, T_META);
	lua_pushcfunction(L, t_index);
	lua_setfield(L, -2, "__index");
	lua_pushcfunction(L, t_tostring);
	lua_setfield(L, -2, "__tostring");
	lua_pushliteral(L, "faultdrill");
	lua_setfield(L, -2, "__metatable");
	lua_pop(L, 1);
}

/* ---- the seam ---- */

static int go_on(struct script_story *s, int nargs, struct drill_err *err)
{
	struct drill_script *script = s->script;
	int results = 0, rc;

	script_refill(script);
	rc = lua_resume(s->co, script->L, nargs, &results);
	s->cause = NULL;
	if (rc == LUA_YIELD) {
		lua_pop(s->co, results);
		return 1;
	}
	if (rc == LUA_OK)
		return 0;
	/* The coroutine's own stack still stands: its frames are the trace. */
	luaL_traceback(script->L, s->co, luaL_tolstring(s->co, -1, NULL), 0);
	return script_failed(script, script->L, err);
}

static int story_begin(void *ctx, struct drill_trial *t, struct drill_err *err)
{
	struct script_story *s = ctx, **p;
	lua_State *L = s->script->L;

	s->co = lua_newthread(L);
	s->co_ref = luaL_ref(L, LUA_REGISTRYINDEX);
	s->trial = t;
	s->cause = NULL;
	lua_rawgeti(s->co, LUA_REGISTRYINDEX, s->run_ref);
	p = lua_newuserdatauv(s->co, sizeof(*p), 0);
	*p = s;
	luaL_setmetatable(s->co, T_META);
	return go_on(s, 1, err);
}

static int story_resume(void *ctx, const struct drill_err *cause,
			struct drill_err *err)
{
	struct script_story *s = ctx;

	s->cause = cause;
	return go_on(s, 0, err);
}

static void story_end(void *ctx)
{
	struct script_story *s = ctx;

	s->trial = NULL;
	luaL_unref(s->script->L, LUA_REGISTRYINDEX, s->co_ref);
	s->co_ref = LUA_NOREF;
	s->co = NULL;
}

bool drill_script_story(struct drill_script *s, size_t i,
			struct drill_story *ret)
{
	if (i >= s->n_stories || s->stories[i].run_ref == LUA_NOREF)
		return false;
	*ret = (struct drill_story){ &s->stories[i], story_begin, story_resume,
				     story_end };
	return true;
}
