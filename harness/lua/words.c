/* words.c - the words a scenario is written with: lab at pick until_ detect
 * SPDX-License-Identifier: MIT
 *
 * Each makes a node from what it is given and checks it at once, so that a
 * mistake raises at its own line.
 */
#include "words.h"

#include "harness/core/event.h"
#include "harness/core/unit.h"
#include "harness/engine/workload.h"

#include <string.h>

int not_yet(lua_State *L)
{
	const char *what = lua_tostring(L, lua_upvalueindex(1));
	const char *word = strchr(what, '.') ? strchr(what, '.') + 1 : what;

	return raise_near(L, word, "not yet: %s", what);
}

/* A family: a table whose unknown names raise with the nearest one. */
static int no_such_word(lua_State *L)
{
	const char *family = lua_tostring(L, lua_upvalueindex(1));
	const char *name = luaL_tolstring(L, 2, NULL), *names[64], *near;
	int n = 0;

	lua_pushnil(L);
	while (lua_next(L, 1) && n < 63) {
		names[n++] = lua_tostring(L, -2);
		lua_pop(L, 1);
	}
	names[n] = NULL;
	near = drill_nearest(name, names);
	return raise_near(L, name, "no %s.%s%s%s%s%s%s", family, name,
			  near ? " (did you mean " : "", near ? family : "",
			  near ? "." : "", near ? near : "", near ? "?)" : "");
}

static int no_change(lua_State *L)
{
	return raise_near(L, NULL, "%s cannot be changed",
			  lua_tostring(L, lua_upvalueindex(1)));
}

void seal_family(lua_State *L, const char *name)
{
	lua_createtable(L, 0, 3);
	lua_pushstring(L, name);
	lua_pushcclosure(L, no_such_word, 1);
	lua_setfield(L, -2, "__index");
	lua_pushstring(L, name);
	lua_pushcclosure(L, no_change, 1);
	lua_setfield(L, -2, "__newindex");
	lua_pushstring(L, name);
	lua_setfield(L, -2, "__metatable");
	lua_setmetatable(L, -2);
}

int64_t check_duration(lua_State *L, int i, const char *what)
{
	struct drill_err err = { 0 };
	int64_t ns = 0;

	if (lua_type(L, i) == LUA_TNUMBER)
		raise_near(L, what, "%s: %s is no duration: write \"%ss\", say",
			   what, lua_tostring(L, i), lua_tostring(L, i));
	if (lua_type(L, i) != LUA_TSTRING)
		raise_near(L, what, "%s: a duration is wanted, as in \"5s\", "
				    "not a %s", what, luaL_typename(L, i));
	if (drill_unit_parse(lua_tostring(L, i), DRILL_UNIT_DURATION, &ns,
			     &err) < 0)
		raise_near(L, lua_tostring(L, i), "%s: %s", what, err.msg);
	return ns;
}

static lua_Integer check_count(lua_State *L, int i, const char *what,
			       lua_Integer least)
{
	int ok;
	lua_Integer n = lua_tointegerx(L, i, &ok);

	if (lua_type(L, i) == LUA_TSTRING)
		raise_near(L, what, "%s: a whole number is wanted, not the text "
				    "\"%s\"", what, lua_tostring(L, i));
	if (!ok || n < least)
		raise_near(L, what, "%s: a whole number from %d on is wanted, "
				    "not %s", what, (int)least,
			   luaL_tolstring(L, i, NULL));
	return n;
}

/* Raises for a key of the table at @i that is not in @known. */
void check_fields(lua_State *L, int i, const char *what,
		  const char *const *known)
{
	const char *name, *near;
	int k;

	lua_pushnil(L);
	while (lua_next(L, i)) {
		lua_pop(L, 1);
		if (lua_type(L, -1) != LUA_TSTRING)
			raise_near(L, NULL, "%s: wants named fields", what);
		name = lua_tostring(L, -1);
		for (k = 0; known[k] && strcmp(known[k], name) != 0; k++)
			;
		if (known[k])
			continue;
		near = drill_nearest(name, known);
		raise_near(L, name, "%s: no field '%s'%s%s%s", what, name,
			   near ? " (did you mean '" : "", near ? near : "",
			   near ? "'?)" : "");
	}
}

/* ---- at ---- */

static int at_time(lua_State *L)
{
	int64_t ns = check_duration(L, 1, "at.time");

	node_push(L, NODE_TRIGGER, json_pack("{s:s s:I}", "on", "time", "ns",
					     (json_int_t)ns));
	return 1;
}

static int at_step(lua_State *L)
{
	struct node *n = node_push(L, NODE_TRIGGER,
				   json_pack("{s:s s:[]}", "on", "step",
					     "steps"));
	json_t *steps = json_object_get(n->v, "steps");
	lua_Integer i, last = 0, count = 1, step;
	bool list = lua_istable(L, 1);

	if (list && (count = (lua_Integer)lua_rawlen(L, 1)) == 0)
		raise_near(L, "step", "at.step: an empty list of steps");
	for (i = 1; i <= count; i++) {
		if (list)
			lua_rawgeti(L, 1, i);
		else
			lua_pushvalue(L, 1);
		step = check_count(L, lua_gettop(L), "at.step", 1);
		if (step <= last)
			raise_near(L, "step", "at.step: steps must rise");
		json_array_append_new(steps, json_integer(last = step));
		lua_pop(L, 1);
	}
	return 1;
}

static lua_Integer count_field(lua_State *L, const char *what,
			       const char *name, lua_Integer def)
{
	lua_Integer n = def;

	if (lua_getfield(L, 1, name) != LUA_TNIL || def < 0)
		n = check_count(L, lua_gettop(L), what, 1);
	lua_pop(L, 1);
	return n;
}

static int64_t share_field(lua_State *L, int i, const char *what)
{
	struct drill_err err = { 0 };
	int64_t ppm = 1000000;

	if (lua_type(L, i) != LUA_TSTRING ||
	    drill_unit_parse(lua_tostring(L, i), DRILL_UNIT_PERCENT, &ppm,
			     &err) < 0 || ppm < 0 || ppm > 1000000)
		raise_near(L, what, "%s: a share is wanted, as in \"10%%\"",
			   what);
	return ppm;
}

static int at_every(lua_State *L)
{
	static const char *const known[] = { "from", "to", "steps",
					     "probability", NULL };
	lua_Integer from, to, every;
	int64_t ppm = 1000000;

	luaL_checktype(L, 1, LUA_TTABLE);
	check_fields(L, 1, "at.every", known);
	from = count_field(L, "at.every from", "from", 1);
	to = count_field(L, "at.every to", "to", -1);
	every = count_field(L, "at.every steps", "steps", 1);
	if (lua_getfield(L, 1, "probability") != LUA_TNIL)
		ppm = share_field(L, lua_gettop(L), "probability");
	if (to < from || (to - from) / every > 100000)
		raise_near(L, "to", "at.every: from %d to %d", (int)from,
			   (int)to);
	node_push(L, NODE_TRIGGER,
		  json_pack("{s:s s:I s:I s:I s:I}", "on", "every", "from",
			    (json_int_t)from, "to", (json_int_t)to, "steps",
			    (json_int_t)every, "probability_ppm",
			    (json_int_t)ppm));
	return 1;
}

static int at_event(lua_State *L)
{
	const char *kind = luaL_checkstring(L, 1), *names[64], *near;
	const struct drill_event_kind *k = drill_event_kinds();
	lua_Integer nth = luaL_optinteger(L, 2, 1);
	int n = 0;

	for (; k->name && strcmp(k->name, kind) != 0; k++)
		names[n++] = k->name;
	names[n] = NULL;
	if (!k->name) {
		near = drill_nearest(kind, names);
		raise_near(L, kind, "at.event: no event kind '%s'%s%s%s", kind,
			   near ? " (did you mean '" : "", near ? near : "",
			   near ? "'?)" : "");
	}
	if (nth < 1)
		raise_near(L, kind, "at.event: occurrences count from 1");
	node_push(L, NODE_TRIGGER,
		  json_pack("{s:s s:s s:I}", "on", "event", "kind", kind, "nth",
			    (json_int_t)nth));
	return 1;
}

static int at_after(lua_State *L)
{
	const char *of = luaL_checkstring(L, 1);
	int64_t ns = lua_isnoneornil(L, 2) ? 0
					   : check_duration(L, 2, "at.after");

	if (!strchr(of, '.'))
		raise_near(L, of, "at.after: '%s' is no instant: write "
				  "\"lost.restarted\", say", of);
	node_push(L, NODE_TRIGGER, json_pack("{s:s s:s s:I}", "on", "after",
					     "of", of, "delay_ns",
					     (json_int_t)ns));
	return 1;
}

static int at_same(lua_State *L)
{
	node_push(L, NODE_TRIGGER, json_pack("{s:s s:s}", "on", "same", "of",
					     luaL_checkstring(L, 1)));
	return 1;
}

static int at_log(lua_State *L)
{
	static const char *const known[] = { "file", "match", NULL };

	luaL_checktype(L, 1, LUA_TTABLE);
	check_fields(L, 1, "at.log", known);
	lua_getfield(L, 1, "file");
	lua_getfield(L, 1, "match");
	if (lua_type(L, -2) != LUA_TSTRING || lua_type(L, -1) != LUA_TSTRING)
		raise_near(L, "log", "at.log: wants file and match");
	node_push(L, NODE_TRIGGER,
		  json_pack("{s:s s:s s:s}", "on", "log", "file",
			    lua_tostring(L, -2), "match", lua_tostring(L, -1)));
	return 1;
}

static int at_poisson(lua_State *L)
{
	static const char *const known[] = { "mtbf", "per", NULL };
	int64_t ns;
	const char *per = "job";

	luaL_checktype(L, 1, LUA_TTABLE);
	check_fields(L, 1, "at.poisson", known);
	lua_getfield(L, 1, "mtbf");
	ns = check_duration(L, lua_gettop(L), "mtbf");
	if (lua_getfield(L, 1, "per") == LUA_TSTRING)
		per = lua_tostring(L, -1);
	else if (!lua_isnil(L, -1))
		raise_near(L, "per", "per: \"job\", \"rank\", \"host\"");
	if (ns <= 0 || (strcmp(per, "job") != 0 && strcmp(per, "rank") != 0 &&
			strcmp(per, "host") != 0 && strcmp(per, "device") != 0))
		raise_near(L, "per", "at.poisson: mtbf above 0, per one of "
				     "job, rank, host, device");
	node_push(L, NODE_TRIGGER, json_pack("{s:s s:I s:s}", "on", "poisson",
					     "mtbf_ns", (json_int_t)ns, "per",
					     per));
	return 1;
}

static int at_manual(lua_State *L)
{
	node_push(L, NODE_TRIGGER, json_pack("{s:s}", "on", "manual"));
	return 1;
}

/* at.call("cuLaunchKernel", 3) */
static int at_call(lua_State *L)
{
	const char *call = luaL_checkstring(L, 1);
	lua_Integer nth = lua_isnoneornil(L, 2) ? 1
						: check_count(L, 2, "nth", 1);

	if (strncmp(call, "cu", 2) != 0)
		return raise_near(L, call, "at.call: '%s' is no call of the "
					   "CUDA driver: \"cuLaunchKernel\", "
					   "say", call);
	node_push(L, NODE_TRIGGER, json_pack("{s:s s:s s:I}", "on", "call",
					     "call", call, "nth",
					     (json_int_t)nth));
	return 1;
}

/* at.launch("attention", 3): the third launch of a kernel with that in its
 * name; "" is any kernel. */
static int at_launch(lua_State *L)
{
	const char *kernel = luaL_checkstring(L, 1);
	lua_Integer nth = lua_isnoneornil(L, 2) ? 1
						: check_count(L, 2, "nth", 1);

	if (strlen(kernel) > 120)
		return raise_near(L, kernel, "at.launch: too long a name");
	node_push(L, NODE_TRIGGER, json_pack("{s:s s:s s:s s:I}", "on", "call",
					     "call", "cuLaunchKernel", "kernel",
					     kernel, "nth", (json_int_t)nth));
	return 1;
}

/* ---- pick ---- */

static int pick_any(lua_State *L)
{
	node_push(L, NODE_PICK, json_pack("{s:s s:s s:i}", "how", "some",
					  "what", luaL_checkstring(L, 1), "n",
					  1));
	return 1;
}

static int pick_some(lua_State *L)
{
	const char *what = luaL_checkstring(L, 1);
	lua_Integer n = check_count(L, 2, "pick.some", 1);

	node_push(L, NODE_PICK, json_pack("{s:s s:s s:I}", "how", "some",
					  "what", what, "n", (json_int_t)n));
	return 1;
}

static int pick_share(lua_State *L)
{
	const char *what = luaL_checkstring(L, 1);
	int64_t ppm = share_field(L, 2, "pick.share");

	node_push(L, NODE_PICK,
		  json_pack("{s:s s:s s:I}", "how", "share", "what", what,
			    "ppm", (json_int_t)ppm));
	return 1;
}

/* pick.other(f), pick.peer(f): f is the name of a fault in `faults`. */
static int pick_from(lua_State *L, const char *how)
{
	struct node *f = node_test(L, 1, NODE_FAULT);
	json_t *id;

	if (f)
		id = json_incref(json_object_get(f->v, "id"));
	else
		id = json_string(luaL_checkstring(L, 1));
	node_push(L, NODE_PICK, json_pack("{s:s s:o}", "how", how, "of", id));
	return 1;
}

static int pick_other(lua_State *L)
{
	return pick_from(L, "other");
}

static int pick_peer(lua_State *L)
{
	return pick_from(L, "peer");
}

/* ---- until_, detect ---- */

static int until_(lua_State *L)
{
	const char *what = luaL_checkstring(L, 1);

	if (!strchr(what, '.'))
		raise_near(L, what, "until_: '%s' is no instant: write "
				    "\"two.resumed\", say", what);
	node_push(L, NODE_UNTIL, json_pack("{s:s}", "until", what));
	return 1;
}

static int detect_mark(lua_State *L)
{
	node_push(L, NODE_DETECTOR, json_pack("{s:s}", "kind", "mark"));
	return 1;
}

/* ---- lab, workload ---- */

static int lab_of(lua_State *L)
{
	const char *provider = lua_tostring(L, lua_upvalueindex(1));
	static const char *const known[] = { "hosts", "spares", "devices",
					     "name", "watchdog", "domains",
					     "rates", NULL };
	struct drill_lab_spec spec;
	struct drill_err err = { 0 };
	json_t *v;
	int i = 0;

	luaL_checktype(L, 1, LUA_TTABLE);
	check_fields(L, 1, provider, known);
	v = json_from_lua(L, 1, provider);
	/* `local` is a word of Lua: lab["local"], or lab.local_ for short. */
	json_object_set_new(v, "provider",
			    json_stringn(strchr(provider, '.') + 1,
					 strcspn(strchr(provider, '.') + 1,
						 "_")));
	node_push(L, NODE_LAB, v);
	if (drill_lab_spec_from_json(v, &spec, &err) < 0) {
		while (known[i] && !strstr(err.msg, known[i]))
			i++;
		return raise_near(L, known[i], "%s: %s", provider, err.msg);
	}
	drill_lab_spec_done(&spec);
	return 1;
}

static int workload_of(lua_State *L)
{
	const char *kind = lua_tostring(L, lua_upvalueindex(1));
	struct drill_err err = { 0 };
	char culprit[64] = "";
	struct node *n;

	luaL_checktype(L, 1, LUA_TTABLE);
	n = node_push(L, NODE_WORKLOAD, json_from_lua(L, 1, kind));
	json_object_set_new(n->v, "kind", json_string(strchr(kind, '.') + 1));
	if (drill_workload_check(n->v, culprit, &err) < 0)
		raise_near(L, culprit, "%s: %s", kind, err.msg);
	return 1;
}

/* ---- params ---- */

/* What was typed behind -p, as the type of the default. [-0, +1, v] */
static void push_given(lua_State *L, const char *name, const char *typed)
{
	int type = lua_type(L, -1);

	if (type == LUA_TNUMBER && !lua_stringtonumber(L, typed))
		raise_near(L, name, "-p %s=%s: a number is wanted", name,
			   typed);
	else if (type == LUA_TBOOLEAN) {
		if (strcmp(typed, "true") != 0 && strcmp(typed, "false") != 0)
			raise_near(L, name, "-p %s=%s: true or false is wanted",
				   name, typed);
		lua_pushboolean(L, typed[0] == 't');
	} else if (type == LUA_TSTRING) {
		lua_pushstring(L, typed);
	}
}

static void declare_param(lua_State *L, struct drill_script *s,
			  const char *name)
{
	const char *doc, *typed;
	int type;

	if (!lua_istable(L, -1) || lua_rawgeti(L, -1, 1) == LUA_TNIL)
		raise_near(L, name, "params: %s: write %s = { default, "
				    "\"What it is.\" }", name, name);
	type = lua_type(L, -1);
	if (type != LUA_TNUMBER && type != LUA_TSTRING && type != LUA_TBOOLEAN)
		raise_near(L, name, "params: %s: the default is a number, a "
				    "text, true or false", name);
	lua_rawgeti(L, -2, 2);
	doc = luaL_optstring(L, -1, "");
	json_object_set_new(s->params, name,
			    json_pack("{s:o s:s}", "value",
				      json_from_lua(L, -2, name), "doc", doc));
	lua_pop(L, 1);
	typed = json_string_value(json_object_get(s->given, name));
	if (typed)
		push_given(L, name, typed);
}

static int params(lua_State *L)
{
	struct drill_script *s = script_of(L);
	const char *name;
	json_t *v;

	luaL_checktype(L, 1, LUA_TTABLE);
	lua_newtable(L);
	lua_pushnil(L);
	while (lua_next(L, 1)) {
		int top = lua_gettop(L);

		if (lua_type(L, -2) != LUA_TSTRING)
			raise_near(L, NULL, "params: wants named fields");
		declare_param(L, s, lua_tostring(L, -2));
		lua_pushvalue(L, top - 1);
		lua_pushvalue(L, -2);
		lua_rawset(L, 2);
		lua_settop(L, top - 1);
	}
	json_object_foreach(s->given, name, v)
		if (!json_object_get(s->params, name))
			raise_near(L, "params", "-p %s: this scenario has no "
						"such parameter", name);
	seal_family(L, "params");
	return 1;
}

/* ---- opening ---- */

struct word {
	const char *family, *name;
	lua_CFunction fn; /* NULL: not yet */
};

static const struct word table[] = {
	{ "at", "time", at_time },	 { "at", "step", at_step },
	{ "at", "every", at_every },	 { "at", "event", at_event },
	{ "at", "after", at_after },	 { "at", "same", at_same },
	{ "at", "log", at_log },	 { "at", "poisson", at_poisson },
	{ "at", "manual", at_manual },	 { "at", "call", at_call },
	{ "at", "launch", at_launch },
	{ "pick", "any", pick_any },	 { "pick", "some", pick_some },
	{ "pick", "share", pick_share }, { "pick", "other", pick_other },
	{ "pick", "peer", pick_peer },	 { "detect", "mark", detect_mark },
	{ "detect", "command", NULL },	 { "detect", "log", NULL },
	{ "lab", "netns", lab_of },	 { "lab", "local", lab_of },
	{ "lab", "local_", lab_of },	 { "lab", "auto", lab_of },
	{ "lab", "libvirt", NULL },	 { "lab", "ssh", NULL },
	{ "lab", "slurm", NULL },	 { "lab", "sim", NULL },
	{ "workload", "train", workload_of },
	{ "workload", "command", workload_of },
	{ NULL, NULL, NULL },
};

/* [-0, +1, m] the function of one row, its full name as upvalue */
static void push_word(lua_State *L, const struct word *w)
{
	lua_pushfstring(L, "%s.%s", w->family, w->name);
	lua_pushcclosure(L, w->fn ? w->fn : not_yet, 1);
}

void words_open(lua_State *L)
{
	const struct word *w = table;

	while (w->family) {
		const char *family = w->family;

		lua_newtable(L);
		for (; w->family && strcmp(w->family, family) == 0; w++) {
			push_word(L, w);
			lua_setfield(L, -2, w->name);
		}
		seal_family(L, family);
		lua_setfield(L, -2, family);
	}
	lua_pushcfunction(L, until_);
	lua_setfield(L, -2, "until_");
	lua_pushcfunction(L, params);
	lua_setfield(L, -2, "params");
}
