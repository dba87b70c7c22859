#!/bin/sh
# links.sh - what the agent and the hooks link to: libc, and nothing else
# SPDX-License-Identifier: MIT
. tests/lint/lib
build=${BUILD:-build}
if ! command -v readelf >/dev/null; then
	echo "SKIP what agent and hooks link to: no readelf (binutils)"
	exit 0
fi
libc='ld-linux[-a-z0-9_]*\.so\.[0-9]|lib(c|m|dl|pthread|rt)\.so\.[0-9]'
# The stub of libgcc is in every Linux system, but not needed here either.

needed()
{
	[ -e "$1" ] || { echo "$1 is not built"; return; }
	readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' |
		grep -vxE "$libc" | sed "s,^,$1 needs ,"
}

# No younger than 2.28: what the oldest supported clusters have.
young_symbols()
{
	[ -e "$1" ] || { echo "$1 is not built"; return; }
	readelf -VW "$1" | grep -oE 'GLIBC_[0-9]+\.[0-9]+' | sort -u |
		awk -F'[_.]' '$2 > 2 || $2 == 2 && $3 > 28 {
			print f " needs " $0 }' f="$1"
}

# Thread-local variables through a function call cost more than the hook does.
slow_tls()
{
	[ -e "$1" ] || { echo "$1 is not built"; return; }
	readelf -sW --dyn-syms "$1" | grep -o '__tls_get_addr' | sort -u |
		sed "s,^,$1 calls ,"
}

# A program or library of one line, to show that the rules can fail.
bad()
{
	echo "$2" | ${CC:-cc} -x c -D_GNU_SOURCE $1 -o "$tree/bad.so" - $3
}

agent() { needed "$build/faultdrill-agent"; }
hooks() { for h in $hook_files; do $each "$h"; done; }
fails() { $each "$tree/bad.so"; }

hook_files=$(ls "$build"/libfaultdrill-*.so "$build"/hooks/*.so \
	"$build"/hooks/cuda/*.so.1 2>/dev/null)
rule "the agent needs libc only" agent
if [ -n "$hook_files" ]; then
	each=needed; rule "the hooks need libc only" hooks
	each=young_symbols; rule "the hooks need no symbol newer than GLIBC_2.28" hooks
	each=slow_tls; rule "the hooks reach thread-local variables without a call" hooks
else
	echo "SKIP what the hooks link to: none is built (no mpicc)"
fi

tree=$(mktemp -d) || exit 3
trap 'rm -rf "$tree"' EXIT
planted_object()
{
	if [ -n "$(fails)" ]; then
		echo "PASS a planted violation is found: $1"
	else
		echo "FAIL a planted violation is found: $1: it was not"
		failed=1
	fi
}
each=needed
bad "-shared -fPIC -Wl,--no-as-needed" "int x;" -ljansson
planted_object "a library besides libc"
each=young_symbols
bad "-shared -fPIC" "#include <sys/stat.h>
int x(int f) { struct stat s; return fstat(f, &s); }"
if readelf -VW "$tree/bad.so" | grep -qE 'GLIBC_2\.(29|3[0-9])'; then
	planted_object "fstat of GLIBC_2.33"
else
	echo "SKIP a planted young symbol is found: this libc has none"
fi
each=slow_tls
bad "-shared -fPIC" "__thread int x; int *y(void) { return &x; }"
planted_object "a thread-local variable of the general kind"
finish
