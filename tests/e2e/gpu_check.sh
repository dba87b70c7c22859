#!/bin/bash
# gpu_check.sh - a dry run of tests/gpu/check with the software device
# SPDX-License-Identifier: MIT
cd "$(dirname "$0")/../.." && . tests/support/e2e.sh
tests/gpu/check --software --quick "$WORK/check"
is "the dry run of the check on GPUs ends well" "$?" 0
[ -s "$WORK/check/gpu-check.log" ] && pass "it writes its log" ||
	fail "it writes its log" "$(ls "$WORK/check")"
finish
