/* fault.c - injector families as globals, built from the registry
 * SPDX-License-Identifier: MIT
 */
#include "words.h"

#include "harness/core/unit.h"
#include "injectors/injector.h"

#include <stdlib.h>
#include <string.h>

/* Fields that every fault takes, whatever its injector. */
static const char *const common[] = { "at",	"duration", "refire", "follow",
				      "form",	"rank",	    "host",   "device",
				      "link",	"domain",   "path",   "service",
				      NULL };
static const char *const target_words[] = { "rank", "host", "device", "link",
					    "domain", "path", "service", NULL };
static const char *const not_yet_families[] = { "device", "link", "storage",
						"job", NULL };

static const struct drill_param *param_row(const struct drill_injector *inj,
					   const char *name)
{
	const struct drill_param *p = inj->params;

	while (p && p->name && strcmp(p->name, name) != 0)
		p++;
	return p && p->name ? p : NULL;
}

static void unknown_field(lua_State *L, const struct drill_injector *inj,
			  const char *name)
{
	const char *known[64], *near;
	const struct drill_param *p = inj->params;
	int n = 0, i;

	for (i = 0; common[i]; i++)
		known[n++] = common[i];
	for (; p && p->name && n < 63; p++)
		known[n++] = p->name;
	known[n] = NULL;
	near = drill_nearest(name, known);
	raise_near(L, name, "%s: no parameter '%s'%s%s%s", inj->name, name,
		   near ? " (did you mean '" : "", near ? near : "",
		   near ? "'?)" : "");
}

static enum drill_target_kind kind_of_word(const char *word)
{
	int i;

	for (i = 0; target_words[i]; i++)
		if (strcmp(word, target_words[i]) == 0)
			return (enum drill_target_kind)(1 << i);
	return (enum drill_target_kind)0;
}

static json_t *target_list(lua_State *L, const char *word)
{
	json_t *list, *v, *out;
	size_t i;

	if (node_test(L, -1, NODE_PICK))
		return json_pack("{s:s s:o}", "kind", word, "pick",
				 json_from_lua(L, -1, word));
	list = json_from_lua(L, -1, word);
	out = node_push(L, NODE_UNTIL,
			json_pack("{s:s s:[]}", "kind", word, "is"))->v;
	if (!json_is_array(list))
		list = json_pack("[o]", list);
	json_array_foreach(list, i, v) {
		if (!json_is_string(v) && !json_is_integer(v)) {
			json_decref(list);
			raise_near(L, word, "%s: a number, a name, a list of "
					    "them, \"all\" or a picker", word);
		}
		json_array_append(json_object_get(out, "is"), v);
	}
	json_decref(list);
	json_incref(out);
	lua_pop(L, 1);
	return out;
}

/* [-0, +1, m] "a, b, c" */
static const char *joined(lua_State *L, const char *const *words)
{
	lua_pushliteral(L, "");
	for (; *words; words++) {
		lua_pushfstring(L, "%s%s%s", lua_tostring(L, -1),
				lua_rawlen(L, -1) ? ", " : "", *words);
		lua_remove(L, -2);
	}
	return lua_tostring(L, -1);
}

static const char *targets_text(lua_State *L, const struct drill_injector *inj)
{
	const char *words[8];
	int i, n = 0;

	for (i = 0; target_words[i]; i++)
		if (inj->targets & kind_of_word(target_words[i]))
			words[n++] = target_words[i];
	words[n] = NULL;
	return n ? joined(L, words) : "the job";
}

/* Those that can be told apart into effect and signal. */
static const char *with_form(lua_State *L)
{
	const struct drill_injector *const *p = drill_injectors();
	const char *words[64];
	int n = 0;

	for (; *p && n < 63; p++)
		if (param_row(*p, "form"))
			words[n++] = (*p)->name;
	words[n] = NULL;
	return joined(L, words);
}

static void take_target(lua_State *L, const struct drill_injector *inj,
			json_t *fault, const char *word)
{
	if (json_object_get(fault, "target"))
		raise_near(L, word, "%s: one target, not two", inj->name);
	if (!(inj->targets & kind_of_word(word)))
		raise_near(L, word, "%s: acts on no %s (it acts on: %s)",
			   inj->name, word, targets_text(L, inj));
	json_object_set_new(fault, "target", target_list(L, word));
}

static void take_refire(lua_State *L, const struct drill_injector *inj,
			json_t *fault)
{
	bool text = lua_type(L, -1) == LUA_TSTRING;
	const char *s = text ? lua_tostring(L, -1) : "";
	int ok;
	lua_Integer n = lua_tointegerx(L, -1, &ok);

	if (!text && ok && n >= 1)
		json_object_set_new(fault, "refire",
				    json_pack("{s:I}", "times", (json_int_t)n));
	else if (text &&
		 (strcmp(s, "once") == 0 || strcmp(s, "every_attempt") == 0))
		json_object_set_new(fault, "refire", json_string(s));
	else
		raise_near(L, "refire", "%s: refire is \"once\", "
					"\"every_attempt\" or a number",
			   inj->name);
}

static void take_word(lua_State *L, const struct drill_injector *inj,
		      json_t *fault, const char *name,
		      const char *const *values)
{
	const char *s = luaL_tolstring(L, -1, NULL);
	const char *near = drill_nearest(s, values);
	int i;

	for (i = 0; values[i] && strcmp(values[i], s) != 0; i++)
		;
	if (!values[i])
		raise_near(L, name, "%s: '%s' has no value '%s'%s%s%s (one of: "
				    "%s)", inj->name, name,
			   s, near ? ", did you mean '" : "", near ? near : "",
			   near ? "'?" : "", joined(L, values));
	json_object_set_new(fault, name, json_string(s));
}

static void take_duration(lua_State *L, const struct drill_injector *inj,
			  json_t *fault)
{
	const char *s = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1)
						       : NULL;
	char *end = NULL;
	long steps = s ? strtol(s, &end, 10) : 0;

	if (inj->survives == DRILL_SURVIVES_NOTHING)
		raise_near(L, "duration", "%s: no duration: it is one act, "
					  "nothing of it lasts or is reverted",
			   inj->name);
	if (node_test(L, -1, NODE_UNTIL))
		json_object_set_new(fault, "duration",
				    json_from_lua(L, -1, "duration"));
	else if (s && steps > 0 && (strcmp(end, " steps") == 0 ||
				    strcmp(end, " step") == 0))
		json_object_set_new(fault, "duration",
				    json_pack("{s:i}", "steps", (int)steps));
	else
		json_object_set_new(fault, "duration",
				    json_integer(check_duration(
					    L, lua_gettop(L), "duration")));
}

static void take_common(lua_State *L, const struct drill_injector *inj,
			json_t *fault, const char *name)
{
	static const char *const follows[] = { "rank", "host", "device", NULL };
	struct node *n;

	if (strcmp(name, "at") == 0) {
		if (!(n = node_test(L, -1, NODE_TRIGGER)))
			raise_near(L, "at", "%s: at wants a trigger, as in "
					    "at.step(120), not a %s",
				   inj->name, luaL_typename(L, -1));
		json_object_set(fault, "at", n->v);
	} else if (strcmp(name, "duration") == 0) {
		take_duration(L, inj, fault);
	} else if (strcmp(name, "refire") == 0) {
		take_refire(L, inj, fault);
	} else if (strcmp(name, "follow") == 0) {
		take_word(L, inj, fault, name, follows);
	} else if (strcmp(name, "form") == 0) {
		raise_near(L, name, "%s: has no form to choose; these have: %s",
			   inj->name, with_form(L));
	} else {
		take_target(L, inj, fault, name);
	}
}

static bool is_common(const char *name)
{
	int i;

	for (i = 0; common[i]; i++)
		if (strcmp(common[i], name) == 0)
			return true;
	return false;
}

static void take_fields(lua_State *L, const struct drill_injector *inj,
			json_t *fault)
{
	json_t *args = json_object_get(fault, "args");
	const char *name;

	lua_pushnil(L);
	while (lua_next(L, 1)) {
		if (lua_type(L, -2) != LUA_TSTRING)
			raise_near(L, NULL, "%s: wants named parameters",
				   inj->name);
		name = lua_tostring(L, -2);
		if (param_row(inj, name))
			json_object_set_new(args, name,
					    json_from_lua(L, -1, name));
		else if (is_common(name))
			take_common(L, inj, fault, name);
		else
			unknown_field(L, inj, name);
		lua_settop(L, 3); /* the arguments, the node, the key */
	}
}

static void check_args(lua_State *L, const struct drill_injector *inj,
		       json_t *args)
{
	struct drill_err err = { 0 };
	void *out = lua_newuserdatauv(L, inj->args_size + 1, 0);
	const char *key, *culprit = NULL;
	json_t *v;

	if (drill_params_parse(inj->params, inj->name, args, out, &err) == 0 &&
	    (!inj->check || inj->check(out, &err) == 0)) {
		lua_pop(L, 1);
		return;
	}
	json_object_foreach(args, key, v)
		if (strstr(err.msg, key))
			culprit = key;
	raise_near(L, culprit, "%s: %s", inj->name, err.msg);
}

static const char *a_target(const struct drill_injector *inj)
{
	int i;

	for (i = 0; target_words[i]; i++)
		if (inj->targets & kind_of_word(target_words[i]))
			return target_words[i];
	return "job";
}

/* exec has one command on one host: what is aimed at nothing is aimed at that,
 * or at the first device. */
static bool only_target(lua_State *L, const struct drill_injector *inj,
			json_t *fault)
{
	bool device = inj->targets & DRILL_TARGET_DEVICE;
	bool alone = lua_getfield(L, LUA_REGISTRYINDEX, FAULT_ALONE) !=
		     LUA_TNIL;

	lua_pop(L, 1);
	if (!alone || !(device || inj->targets & DRILL_TARGET_RANK))
		return false;
	json_object_set_new(fault, "target",
			    json_pack("{s:s s:[i]}", "kind",
				      device ? "device" : "rank", "is", 0));
	return true;
}

static void default_target(lua_State *L, const struct drill_injector *inj,
			   json_t *fault)
{
	if (json_object_get(fault, "target") || only_target(L, inj, fault))
		return;
	if (inj->targets && !(inj->targets & DRILL_TARGET_JOB))
		raise_near(L, NULL, "%s: no target: write %s = 0, say",
			   inj->name, a_target(inj));
	json_object_set_new(fault, "target",
			    json_pack("{s:s s:[]}", "kind", "job", "is"));
}

/* host.kill { ... } */
static int make_fault(lua_State *L)
{
	const struct drill_injector *inj =
		lua_touserdata(L, lua_upvalueindex(1));
	static json_int_t serial;
	json_t *fault;

	luaL_checktype(L, 1, LUA_TTABLE);
	lua_settop(L, 1);
	fault = node_push(L, NODE_FAULT,
			  json_pack("{s:s s:{} s:I s:i}", "injector", inj->name,
				    "args", "id", ++serial, "line",
				    caller_line(L)))->v;
	take_fields(L, inj, fault);
	check_args(L, inj, json_object_get(fault, "args"));
	default_target(L, inj, fault);
	lua_settop(L, 2);
	return 1;
}

/* [-0, +1, m] the family's table, made when missing */
static void push_family(lua_State *L, const char *family)
{
	if (lua_getfield(L, -1, family) == LUA_TTABLE)
		return;
	lua_pop(L, 1);
	lua_newtable(L);
	lua_pushvalue(L, -1);
	lua_setfield(L, -3, family);
}

static int no_family_yet(lua_State *L)
{
	const char *family = lua_tostring(L, lua_upvalueindex(1));
	const char *name = luaL_tolstring(L, 2, NULL);

	return raise_near(L, family, "not yet: %s.%s", family, name);
}

static void push_later_families(lua_State *L)
{
	int i;

	for (i = 0; not_yet_families[i]; i++) {
		if (lua_getfield(L, -1, not_yet_families[i]) != LUA_TNIL) {
			lua_pop(L, 1);
			continue;
		}
		lua_pop(L, 1);
		lua_newtable(L);
		lua_newtable(L);
		lua_pushstring(L, not_yet_families[i]);
		lua_pushcclosure(L, no_family_yet, 1);
		lua_setfield(L, -2, "__index");
		lua_setmetatable(L, -2);
		lua_setfield(L, -2, not_yet_families[i]);
	}
}

/* Names come in order, so a family is whole when the next one begins. */
void families_open(lua_State *L)
{
	const struct drill_injector *const *p = drill_injectors();
	char family[32];
	int top = lua_gettop(L);

	for (; *p; p++) {
		const char *dot = strchr((*p)->name, '.');

		snprintf(family, sizeof(family), "%.*s",
			 (int)(dot - (*p)->name), (*p)->name);
		push_family(L, family);
		lua_pushlightuserdata(L, (void *)*p);
		lua_pushcclosure(L, make_fault, 1);
		lua_setfield(L, -2, dot + 1);
		if (!p[1] || strncmp(p[1]->name, (*p)->name,
				     (size_t)(dot - (*p)->name) + 1) != 0)
			seal_family(L, family);
		lua_settop(L, top);
	}
	push_later_families(L);
}
