#!/bin/sh
# cuda_hook.sh - what the CUDA proxy costs when it is armed and idle
# SPDX-License-Identifier: MIT
build=$(cd "${BUILD:-build}" && pwd) || exit 3
dir=$(mktemp -d) || exit 3
trap 'rm -rf "$dir"' EXIT
proxy=$build/hooks/cuda/libcuda.so.1
bench()
{
	rm -f "$dir"/*
	"$build/bench/cuda_hook" "$dir" "$proxy" "$@" || bad=1
}
bench "$build/tests/cuda/libcuda.so.1" calls
bench "$build/softcuda/libcuda.so.1" launches
bench "$build/softcuda/libcuda.so.1" errors
exit ${bad:-0}
