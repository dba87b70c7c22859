#!/bin/sh
# progress.sh - what one progress event costs the job
# SPDX-License-Identifier: MIT
dir=$(mktemp -d) || exit 3
trap 'rm -rf "$dir"' EXIT
FAULTDRILL_RING=$dir/rank0.a1.ring "${BUILD:-build}/bench/progress"
