/* script.h - the inside of the Lua face: one script, its nodes, its helpers
 * SPDX-License-Identifier: MIT
 *
 * Each helper carries the manual's stack note: [-pops, +pushes, raises].
 */
#ifndef DRILL_SCRIPT_H
#define DRILL_SCRIPT_H

#include "face.h"

#include <lua.h>
#include <lauxlib.h>

#define DRILL_SCRIPT_MEMORY (96u << 20)	  /* bytes a script may hold */
#define DRILL_SCRIPT_STRIDE 10000	  /* instructions between two looks */
#define DRILL_SCRIPT_BUDGET 100000000ll	  /* instructions without a wait */

struct script_source {
	char *name; /* as shown: a path */
	char *text;
	struct script_source *next;
};

struct script_story {
	struct drill_script *script;
	int run_ref; /* the run function, LUA_NOREF without one */
	lua_State *co;
	int co_ref;
	struct drill_trial *trial;
	const struct drill_err *cause; /* set while resuming after a failure */
};

struct drill_script {
	lua_State *L;
	size_t used;	 /* bytes of Lua memory */
	int64_t budget;	 /* instructions left until the next wait */
	bool stopped;	 /* out of budget: every instruction raises now */
	bool full;	 /* memory was refused */
	int env_ref;	 /* the sandbox's globals */
	int modules_ref; /* what require returned, by name */
	char root[256];	 /* the scenarios/ folder that require looks into */
	struct script_source *sources;
	json_t *given;	 /* -p, borrowed while loading */
	json_t *params;	 /* declared */
	json_t *scenarios;
	struct script_story *stories; /* one a scenario */
	size_t n_stories;
	char trace[4096];
};

enum node_kind {
	NODE_FAULT,
	NODE_WORKLOAD,
	NODE_LAB,
	NODE_TRIGGER,
	NODE_PICK,
	NODE_UNTIL,
	NODE_DETECTOR,
	NODE_SCENARIO,
};

/* A value of ours in a script: data with a name, printed readably. */
struct node {
	enum node_kind kind;
	json_t *v;
	int story; /* NODE_SCENARIO: index into stories */
};

struct drill_script *script_of(lua_State *L);

/* [-0, +1, m] takes over @v. */
struct node *node_push(lua_State *L, enum node_kind kind, json_t *v);
/* [-0, +0, -] NULL when the value at @i is none of that kind. */
struct node *node_test(lua_State *L, int i, enum node_kind kind);
const char *node_kind_name(enum node_kind kind);
/* [-0, +0, m] once a state. */
void node_register(lua_State *L);

/* [-0, +0, v] the value at @i as JSON: yours. Objects have sorted keys. A
 * function, a cycle, a mixed table raise. @what names the value. */
json_t *json_from_lua(lua_State *L, int i, const char *what);
/* [-0, +1, m] */
void json_to_lua(lua_State *L, json_t *v);
/* A copy with sorted keys, one level. */
json_t *json_sorted(json_t *obj);

/* Raises "FILE:LINE: text": the first line from the caller's on that holds
 * @word, so that an error in a long table points at its row. @word may be NULL.
 * [-0, +0, v] */
int raise_near(lua_State *L, const char *word, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* The current line of the calling Lua function; 0 unknown. */
int caller_line(lua_State *L);
/* The line from @line on that holds @word as a whole word, else @line. */
int line_of(struct drill_script *s, const char *source, int line,
	    const char *word);

/* Adds the words to the table at the top. [-0, +0, m] */
void words_open(lua_State *L);	  /* lab workload at pick until_ detect params */
void families_open(lua_State *L); /* host collective null ... */
/* In the registry: the one fault of exec is made, which may go without target. */
#define FAULT_ALONE "faultdrill.alone"
void scenario_open(lua_State *L); /* scenario */
void require_open(lua_State *L);  /* require */
void require_root(struct drill_script *s, const char *path);
void story_register(lua_State *L); /* the metatable of t */

/* Calls what lies under @nargs arguments with traceback and a fresh budget.
 * 0, or -EINVAL with the message in @err. [-(nargs + 1), +(nresults|0), -] */
int script_call(struct drill_script *s, lua_State *L, int nargs, int nresults,
		struct drill_err *err);
/* Keeps the message on top of @L as error and trace. [-1, +0, -] */
int script_failed(struct drill_script *s, lua_State *L, struct drill_err *err);
/* [-0, +1 on success, -] */
int script_compile(struct drill_script *s, const char *name, const char *text,
		   size_t len, struct drill_err *err);
void script_refill(struct drill_script *s);
char *read_file(const char *path, size_t max, size_t *ret_len,
		struct drill_err *err);

#endif
