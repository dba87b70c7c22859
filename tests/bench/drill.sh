#!/bin/bash
# drill.sh - how long the main job takes, from the command to its report
# SPDX-License-Identifier: MIT
cd "$(dirname "$0")/../.." && . tests/support/e2e.sh

what="the main job, once built"
[ "$(id -u)" -eq 0 ] || { skip "$what" "needs root for the lab"; finish; }
began=$(date +%s%N)
"$FD" run --quiet --out "$WORK/out" --state "$WORK/state" \
	scenarios/host/rank_killed.lua >"$WORK/text" 2>&1 </dev/null
rc=$?
took=$((($(date +%s%N) - began) / 10000000))
line="$((took / 100)).$(printf %02d $((took % 100))) s (limit 60.00)"
if [ "$rc" -ne 0 ]; then
	fail "$what" "exit status $rc: $(grep -m3 . "$WORK/text")"
elif [ "$took" -lt 6000 ]; then
	pass "$what: $line"
else
	fail "$what" "$line"
fi
finish
