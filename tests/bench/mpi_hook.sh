#!/bin/sh
# mpi_hook.sh - what the MPI hook costs when it is armed and idle
# SPDX-License-Identifier: MIT
build=$(cd "${BUILD:-build}" && pwd) || exit 3
command -v mpirun >/dev/null || {
	echo "SKIP the cost of the MPI hook: no mpirun"
	exit 0
}
dir=$(mktemp -d) || exit 3
trap 'rm -rf "$dir"' EXIT
LD_PRELOAD=$build/libfaultdrill-mpi.so "$build/bench/hook_cost" "$dir" || bad=1
rm -f "$dir"/*
"$build/bench/page" "$dir/hooks.page" || exit 3
mpirun --allow-run-as-root --oversubscribe -np 2 \
	-x LD_PRELOAD="$build/libfaultdrill-mpi.so" \
	-x FAULTDRILL_HOOKS="$dir/hooks.page" \
	"$build/bench/allreduce" "$dir/hooks.page" || bad=1
exit ${bad:-0}
