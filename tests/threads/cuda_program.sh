#!/bin/bash
# cuda_program.sh - 16 threads of a program behind the CUDA proxy, under TSan
# SPDX-License-Identifier: MIT
#
# Program, proxy and software device are built with the sanitizer; each row is a
# fault that all threads run into at once.
set -u
cd "$(dirname "$0")/../.." || exit 3
B=$(realpath "${BUILD:-build}")
dir=$(mktemp -d) || exit 3
trap 'rm -rf "$dir"' EXIT
export TSAN_OPTIONS="exitcode=66 halt_on_error=0 ${TSAN_OPTIONS:-}"
unset CUDA_VISIBLE_DEVICES FAULTDRILL_DEVICES OMPI_COMM_WORLD_RANK

# row STATUS FAULT OUTPUT
row()
{
	local rc name="16 threads meet $2: no race"
	rm -rf "$dir/page" && mkdir "$dir/page"
	"$B/gpu/one" --dir "$dir/page" --bin "$B/watched" --software 1 "$2" -- \
		"$B/watched/cuda_threads" --steps 20 >"$dir/out" 2>"$dir/err"
	rc=$?
	if [ "$rc" -eq "$1" ] && grep -q "$3" "$dir/out" &&
	   ! grep -q 'ThreadSanitizer' "$dir/out" "$dir/err"; then
		echo "PASS $name"
	else
		echo "FAIL $name: exit status $rc, $(tail -1 "$dir/out"):" \
			"$(head -40 "$dir/err" | tr '\n' '|')"
	fi
}

row 0 none 'threads 16 failed 0'
row 1 xid=48@20 'threads 16 failed [1-9][0-9]* first 214'
row 0 slow=2 'threads 16 failed 0'
row 0 delay=cuLaunchKernel:1000000@20 'threads 16 failed 0'
row 1 call=cuStreamSynchronize:700@20 'threads 16 failed 1 first 700'
row 3 corrupt=output@20 'threads 16 failed 0'
