/* require.c - shared helpers: require "lib.pick" reads scenarios/lib/pick.lua
 * SPDX-License-Identifier: MIT
 */
#include "script.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SOURCE_MAX (1u << 20)

char *read_file(const char *path, size_t max, size_t *ret_len,
		struct drill_err *err)
{
	FILE *f = fopen(path, "re");
	char *buf = NULL;
	size_t n = 0;

	if (!f) {
		drill_err_errno(err, errno, NULL, "cannot read %s", path);
		return NULL;
	}
	buf = malloc(max + 1);
	if (buf)
		n = fread(buf, 1, max + 1, f);
	if (!buf || ferror(f) || n > max) {
		if (n > max)
			drill_err_set(err, -EFBIG, NULL,
				      "%s is longer than %zu KiB", path,
				      max >> 10);
		else
			drill_err_errno(err, errno, NULL, "cannot read %s",
					path);
		free(buf);
		buf = NULL;
	} else {
		buf[n] = '\0';
		*ret_len = n;
	}
	fclose(f);
	return buf;
}

/* scenarios/host/x.lua finds scenarios/lib, x.lua elsewhere its own lib/. */
void require_root(struct drill_script *s, const char *path)
{
	const char *at = NULL, *p = path;
	size_t len;

	while ((p = strstr(p, "scenarios/"))) {
		if (p == path || p[-1] == '/')
			at = p;
		p++;
	}
	len = at ? (size_t)(at - path) + 9 : 0;
	if (!at) {
		at = strrchr(path, '/');
		len = at ? (size_t)(at - path) : 0;
	}
	snprintf(s->root, sizeof(s->root), "%.*s", len ? (int)len : 1,
		 len ? path : ".");
}

int drill_script_load(const char *path, json_t *params,
		      struct drill_script **ret, struct drill_err *err)
{
	struct drill_script *probe = NULL;
	size_t len = 0;
	char *text = read_file(path, SOURCE_MAX, &len, err);
	int rc;

	*ret = NULL;
	if (!text)
		return -ENOENT;
	rc = drill_script_load_text(path, text, len, params, &probe, err);
	*ret = probe;
	free(text);
	return rc;
}

static bool plain_module(const char *name)
{
	const char *p;

	if (strncmp(name, "lib.", 4) != 0 || !name[4])
		return false;
	for (p = name + 4; *p; p++)
		if (!islower((unsigned char)*p) && *p != '_' &&
		    !isdigit((unsigned char)*p))
			return false;
	return true;
}

/* [-0, +1, v] compiles scenarios/lib/NAME.lua */
static void load_module(lua_State *L, const char *name)
{
	struct drill_script *s = script_of(L);
	struct drill_err err = { 0 };
	char path[400];
	size_t len;
	char *text;
	int rc = -ENOENT;

	snprintf(path, sizeof(path), "%s/lib/%s.lua", s->root, name + 4);
	text = read_file(path, SOURCE_MAX, &len, &err);
	if (text)
		rc = script_compile(s, path, text, len, &err);
	free(text);
	if (rc < 0)
		raise_near(L, name, "require '%s': %s", name, err.msg);
}

static int require(lua_State *L)
{
	const char *name = luaL_checkstring(L, 1);
	struct drill_script *s = script_of(L);

	if (!plain_module(name))
		return raise_near(L, name, "require '%s': only lib.NAME, a file "
					   "in scenarios/lib/", name);
	lua_rawgeti(L, LUA_REGISTRYINDEX, s->modules_ref);
	if (lua_getfield(L, -1, name) != LUA_TNIL)
		return 1;
	lua_pop(L, 1);
	if (L != s->L)
		return luaL_error(L, "require '%s': at the head of the file, "
				     "not inside run", name);
	load_module(L, name);
	lua_call(L, 0, 1);
	if (!lua_istable(L, -1))
		return luaL_error(L, "require '%s': the module returns no table",
				  name);
	lua_pushvalue(L, -1);
	lua_setfield(L, -3, name);
	return 1;
}

void require_open(lua_State *L)
{
	lua_pushcfunction(L, require);
	lua_setfield(L, -2, "require");
}
