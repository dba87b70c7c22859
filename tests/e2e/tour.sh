#!/bin/sh
# tour.sh - every scenario of the tour runs as the README tells it
# SPDX-License-Identifier: MIT
#
# As root they run in namespaces, without root in process groups: that one file
# runs in both is what `lab.auto` promises.
set -u
cd "$(dirname "$0")/../.." || exit 3
. tests/support/e2e.sh

# tour NAME FILE: the run passes and tells its report
tour()
{
	"$FD" run --state "$WORK/state" -o "$WORK/runs" -q "$2" \
		>"$WORK/out" 2>&1
	is "$1" $? 0
	last=$(ls -t "$WORK"/runs/2*/report.html 2>/dev/null | head -1)
	[ "$(tail -1 "$WORK/out")" = "$last" ] ||
		fail "$1" "its report is not told"
}

for f in scenarios/tour/*.lua; do
	tour "the tour's $(basename "$f" .lua) passes" "$f"
done

# What the README says about a run of it, and about one command.
"$FD" run -o "$WORK/runs" -p steps=3 scenarios/tour/watch.lua \
	>"$WORK/out" 2>&1
is "a parameter that no params declares is refused" "$? $(grep -c \
	'no parameters' "$WORK/out")" "2 1"
"$FD" exec --fault 'host.kill { rank = 0, at = at.time "200ms" }' -- sleep 20 \
	>"$WORK/out" 2>&1
is "a fault on one command needs no scenario" $? 137
finish
