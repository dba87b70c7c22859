#!/bin/sh
# scenarios.sh - luacheck of the scenarios, knowing the words of the Lua face
# SPDX-License-Identifier: MIT
. tests/lint/lib
if ! command -v luacheck >/dev/null; then
	echo "SKIP scenarios pass luacheck: no luacheck"
	exit 0
fi
# The words come from the sources: families, injectors, and what words.c and
# scenario.c set by name.
words=$({
	sed -n 's/^	{ "\([a-z]*\)", "[a-z]*", .*/\1/p; s/.*}, *{ "\([a-z]*\)", "[a-z]*",.*/\1/p' \
		harness/lua/words.c
	sed -n 's/^DRILL_INJECTOR(\([a-z]*\)_.*/\1/p' injectors/list.h
	sed -n 's/.*lua_setglobal(L, "\([a-z_]*\)").*/\1/p; s/.*lua_setfield(L, -2, "\([a-z_]*\)").*/\1/p' \
		harness/lua/words.c harness/lua/scenario.c harness/lua/state.c
	echo require
} | sort -u)

globals()
{
	files 'scenarios/*.lua' | sort -u | xargs -r luacheck --no-config --no-color \
		--codes --formatter plain --std lua54 --not-globals io os debug \
		load loadfile dofile collectgarbage --read-globals $words -- 2>&1
}

rule "scenarios pass luacheck" globals
planted "a word that there is not" globals scenarios/x.lua <<'X'
--- A scenario with a word that there is not.
return scenarrio { name = "x" }
X
planted "a file is opened" globals scenarios/x.lua <<'X'
--- A scenario that opens a file.
return scenario { name = io.open("/etc/passwd"):read() }
X
finish
