/* scenario.c - scenario { ... }: the table checked, its story kept aside
 * SPDX-License-Identifier: MIT
 */
#include "words.h"

#include "harness/engine/spec.h"

#include <stdlib.h>
#include <string.h>

enum how {
	PLAIN,	 /* any value without functions */
	TEXT,	 /* a string */
	NODES,	 /* a table of nodes of one kind */
	NODE,	 /* one node */
	STORY,	 /* the function */
	LATER,	 /* not yet */
};

static const struct field {
	const char *name;
	enum how how;
	enum node_kind kind;
} fields[] = {
	{ "name", TEXT, 0 },	   { "risk", TEXT, 0 },
	{ "seed", PLAIN, 0 },	   { "lab", NODE, NODE_LAB },
	{ "workloads", NODES, NODE_WORKLOAD },
	{ "faults", NODES, NODE_FAULT },
	{ "detectors", NODES, NODE_DETECTOR },
	{ "measure", TEXT, 0 },	   { "trials", PLAIN, 0 },
	{ "deadline", PLAIN, 0 },  { "always", PLAIN, 0 },
	{ "expect", PLAIN, 0 },	   { "abort", PLAIN, 0 },
	{ "needs", PLAIN, 0 },	   { "hypothesis", TEXT, 0 },
	{ "owner", TEXT, 0 },	   { "runbook", TEXT, 0 },
	{ "ticket", TEXT, 0 },	   { "tags", PLAIN, 0 },
	{ "run", STORY, 0 },	   { "collect", LATER, 0 },
	{ "variants", LATER, 0 },
};
#define N_FIELDS (sizeof(fields) / sizeof(fields[0]))

static json_t *take_nodes(lua_State *L, const struct field *f)
{
	json_t *out = node_push(L, NODE_UNTIL, json_object())->v, *sorted;
	int at = lua_gettop(L) - 1;
	struct node *n;

	if (!lua_istable(L, at))
		raise_near(L, f->name, "scenario: %s: a table is wanted",
			   f->name);
	lua_pushnil(L);
	while (lua_next(L, at)) {
		if (lua_type(L, -2) != LUA_TSTRING)
			raise_near(L, f->name, "scenario: %s: give each a name",
				   f->name);
		n = node_test(L, -1, f->kind);
		if (!n)
			raise_near(L, lua_tostring(L, -2), "scenario: %s.%s is "
				   "no %s but a %s", f->name,
				   lua_tostring(L, -2),
				   node_kind_name(f->kind),
				   luaL_typename(L, -1));
		/* A node may stand under two names: each gets its own copy. */
		json_object_set_new(out, lua_tostring(L, -2),
				    json_deep_copy(n->v));
		lua_pop(L, 1);
	}
	sorted = json_sorted(out);
	lua_pop(L, 1);
	return sorted;
}

/* Does the text of the function on top say :start? Then it starts the job
 * itself, perhaps after a wait. */
static bool says_start(lua_State *L)
{
	struct drill_script *s = script_of(L);
	const struct script_source *src = s->sources;
	lua_Debug ar;
	const char *p;
	int n = 1;

	lua_pushvalue(L, -1);
	if (!lua_getinfo(L, ">S", &ar) || ar.source[0] != '@')
		return false;
	while (src && strcmp(src->name, ar.source + 1) != 0)
		src = src->next;
	for (p = src ? src->text : ""; *p && n <= ar.lastlinedefined; n++) {
		size_t len = strcspn(p, "\n");

		if (n >= ar.linedefined && memmem(p, len, ":start", 6))
			return true;
		p += len + (p[len] == '\n');
	}
	return false;
}

static void take_story(lua_State *L, struct node *scenario)
{
	struct drill_script *s = script_of(L);

	luaL_checktype(L, -1, LUA_TFUNCTION);
	json_object_set_new(scenario->v, "run", json_true());
	json_object_set_new(scenario->v, "run_starts",
			    json_boolean(says_start(L)));
	lua_pushvalue(L, -1);
	s->stories[scenario->story].run_ref = luaL_ref(L, LUA_REGISTRYINDEX);
}

static void take_field(lua_State *L, const struct field *f,
		       struct node *scenario)
{
	struct node *n;

	switch (f->how) {
	case LATER:
		raise_near(L, f->name, "not yet: %s", f->name);
		break;
	case TEXT:
		if (lua_type(L, -1) != LUA_TSTRING)
			raise_near(L, f->name, "scenario: %s: a text is wanted, "
				   "not a %s", f->name, luaL_typename(L, -1));
		/* fall through */
	case PLAIN:
		json_object_set_new(scenario->v, f->name,
				    json_from_lua(L, -1, f->name));
		break;
	case NODES:
		json_object_set_new(scenario->v, f->name, take_nodes(L, f));
		break;
	case NODE:
		if (!(n = node_test(L, -1, f->kind)))
			raise_near(L, f->name, "scenario: %s: a %s is wanted",
				   f->name, node_kind_name(f->kind));
		json_object_set(scenario->v, f->name, n->v);
		break;
	case STORY:
		if (!lua_isfunction(L, -1))
			raise_near(L, f->name, "scenario: run: a function is "
				   "wanted");
		take_story(L, scenario);
		break;
	}
}

static struct node *new_scenario(lua_State *L)
{
	struct drill_script *s = script_of(L);
	struct script_story *more;
	struct node *n = node_push(L, NODE_SCENARIO, json_object());

	more = realloc(s->stories, (s->n_stories + 1) * sizeof(*more));
	if (!more)
		luaL_error(L, "no memory");
	s->stories = more;
	memset(&more[s->n_stories], 0, sizeof(*more));
	more[s->n_stories].script = s;
	more[s->n_stories].run_ref = more[s->n_stories].co_ref = LUA_NOREF;
	n->story = (int)s->n_stories++;
	return n;
}

/* pick.other(f) with a fault instead of its name. */
static void name_picks(json_t *scenario)
{
	json_t *faults = json_object_get(scenario, "faults"), *f, *g;
	const char *name, *other;

	json_object_foreach(faults, name, f) {
		json_t *pick = json_object_get(json_object_get(f, "target"),
					       "pick");
		json_t *of = json_object_get(pick, "of");

		if (!json_is_integer(of))
			continue;
		json_incref(of);
		json_object_foreach(faults, other, g)
			if (json_equal(json_object_get(g, "id"), of))
				json_object_set_new(pick, "of",
						    json_string(other));
		json_decref(of);
	}
	json_object_foreach(faults, name, f)
		json_object_del(f, "id"); /* a count, not part of the plan */
}

static void check_scenario(lua_State *L, json_t *scenario)
{
	struct drill_err err = { 0 };
	struct drill_spec spec;
	char culprit[64];
	int rc = drill_spec_read(scenario, &spec, culprit, &err);

	drill_spec_done(&spec);
	if (rc < 0)
		raise_near(L, culprit, "%s", err.msg);
}

static int scenario(lua_State *L)
{
	const char *known[N_FIELDS + 1];
	struct node *n;
	size_t i;

	luaL_checktype(L, 1, LUA_TTABLE);
	for (i = 0; i < N_FIELDS; i++)
		known[i] = fields[i].name;
	known[N_FIELDS] = NULL;
	check_fields(L, 1, "scenario", known);
	lua_settop(L, 1);
	n = new_scenario(L);
	json_object_set_new(n->v, "line", json_integer(caller_line(L)));
	for (i = 0; i < N_FIELDS; i++) {
		if (lua_getfield(L, 1, fields[i].name) != LUA_TNIL)
			take_field(L, &fields[i], n);
		lua_settop(L, 2);
	}
	name_picks(n->v);
	check_scenario(L, n->v);
	return 1;
}

void scenario_open(lua_State *L)
{
	lua_pushcfunction(L, scenario);
	lua_setfield(L, -2, "scenario");
}
