#!/bin/sh
# cuda_proxy.sh - which ways to the CUDA driver the proxy stands in, and proof
# SPDX-License-Identifier: MIT
. tests/support/e2e.sh

build=$PWD/$BUILD
progs=$build/tests/programs
proxy=$build/hooks/cuda
soft=$build/softcuda/libcuda.so.1
page=$WORK/devices.page

# The committed list of entry points and versions is that of a toolkit here.
toolkit=
for t in "${CUDA_HOME:-}" /usr/local/cuda-13.0; do
	[ -e "$t/include/cudaTypedefs.h" ] && toolkit=$t
done
what="the list of entry points is the toolkit's"
if [ -z "$toolkit" ]; then
	skip "$what" "no CUDA 13.0 toolkit"
elif ! python3 -c 'import re' 2>/dev/null; then
	skip "$what" "no python3"
else
	python3 injectors/hooks/cuda_generate.py "$toolkit" "$WORK"
	is "$what" "$(cmp "$WORK/cuda_symbols.h" injectors/hooks/cuda_symbols.h \
		2>&1)" ""
fi

# through WORDS COMMAND...: with the proxy where the words say; what it saw.
through()
{
	rm -f "$page"
	"$progs/device_page" make "$page" here 1 || exit 3
	(
		export FAULTDRILL_DEVICES="$page" FAULTDRILL_CUDA_NEXT="$soft"
		case $1 in *path*) export LD_LIBRARY_PATH="$proxy" ;; esac
		case $1 in *preload*) export LD_PRELOAD="$proxy/libcuda.so.1" ;; esac
		case $1 in *audit*) export LD_AUDIT="$build/hooks/cuda_audit.so" ;; esac
		shift
		exec "$@"
	) >"$WORK/out" 2>&1
	rc=$?
	seen=$("$progs/device_page" clients "$page")
	echo "$rc $seen" | sed 's/ launches=[0-9]*//'
}

good()
{
	echo "0 $1 here=0 linked=some remapped=0 passed=0 bypassed=0 audited=$2"
}

is "a program linked to the driver, by LD_LIBRARY_PATH" \
	"$(through path "$progs/cuda_linked")" "$(good cuda_linked 0)"
is "a program linked to the driver, by LD_PRELOAD" \
	"$(through preload,path "$progs/cuda_linked")" "$(good cuda_linked 0)"
is "dlopen of libcuda.so.1, by LD_PRELOAD alone" \
	"$(through preload "$progs/cuda_dlopen")" "$(good cuda_dlopen 0)"
is "dlopen of libcuda.so, by LD_LIBRARY_PATH" \
	"$(through path "$progs/cuda_dlopen" --library libcuda.so)" \
	"$(good cuda_dlopen 0)"
is "dlopen of an absolute path, by LD_AUDIT" \
	"$(through preload,audit "$progs/cuda_dlopen" --library "$soft")" \
	"$(good cuda_dlopen 1)"
is "dlopen of libcuda.so, by LD_AUDIT" \
	"$(through audit "$progs/cuda_dlopen" --library libcuda.so)" \
	"$(good cuda_dlopen 1)"
is "dlmopen of libcuda.so.1 in a namespace of its own, by LD_AUDIT" \
	"$(through audit "$progs/cuda_namespace" libcuda.so.1)" \
	"$(good cuda_namespace 1)"
is "what went around the proxy says so at its end" \
	"$(through preload "$progs/cuda_dlopen" --library "$soft")" \
	"0 cuda_dlopen here=0 linked=none remapped=0 passed=0 bypassed=1 audited=0"
is "a process that does not call the driver takes no place on the page" \
	"$(through preload,path sh -c 'true; true')" "0 "
is "without a page the program runs as it is" \
	"$(FAULTDRILL_CUDA_NEXT=$soft LD_LIBRARY_PATH=$proxy \
		"$progs/cuda_linked" 2>&1 | tail -1)" "end after 5 steps"
finish
