#!/bin/sh
# cuda_hook.sh - what the CUDA proxy costs when it is armed and idle
# SPDX-License-Identifier: MIT
build=$(cd "${BUILD:-build}" && pwd) || exit 3
dir=$(mktemp -d) || exit 3
trap 'rm -rf "$dir"' EXIT
proxy=$build/hooks/cuda/libcuda.so.1
"$build/bench/cuda_hook" "$dir" "$proxy" "$build/tests/cuda/libcuda.so.1" \
	calls || bad=1
rm -f "$dir"/*
"$build/bench/cuda_hook" "$dir" "$proxy" "$build/softcuda/libcuda.so.1" \
	launches || bad=1
exit ${bad:-0}
