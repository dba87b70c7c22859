#!/bin/sh
# headers.sh - every header compiles alone, with gcc and with clang
# SPDX-License-Identifier: MIT
. tests/lint/lib
build=${BUILD:-build}
cflags="-std=gnu11 -D_GNU_SOURCE -I. -Iworkloads/include -I$PWD/$build
	$(pkg-config --cflags lua5.4 yaml-0.1 libuv jansson libnl-3.0 2>/dev/null)
	$(mpicc -show 2>/dev/null | tr ' ' '\n' | grep '^-I' | tr '\n' ' ')"

# Twice the same, so that a missing guard shows too. list.h is a table of macros
# that its includer defines.
alone()
{
	for cc in gcc clang; do
		command -v $cc >/dev/null || continue
		files '*.h' | sort -u | grep -v '^injectors/list.h$' |
			while read -r h; do
			case "$h" in *mpi*) command -v mpicc >/dev/null || continue ;; esac
			printf '#include "%s"\n#include "%s"\n' "$h" "$h" |
				$cc $cflags -Wall -Wextra -Werror -Wno-unused-function \
					-x c -fsyntax-only - 2>&1 |
				grep -m1 error | sed "s,^,$cc $h: ,"
		done
	done
}

rule "every header compiles alone and twice, with gcc and clang" alone
planted "a header that needs another" alone harness/core/x.h <<'X'
#ifndef X_H
#define X_H
uint64_t x(void);
#endif
X
planted "a header without a guard" alone harness/core/x.h <<'X'
struct x { int y; };
X
command -v clang >/dev/null || echo "SKIP every header compiles with clang: no clang"
finish
