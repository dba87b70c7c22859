#!/bin/bash
# lab.sh - labs by hand: up, looked at, entered, left alone by heal, down
# SPDX-License-Identifier: MIT
cd "$(dirname "$0")/../.." && . tests/support/e2e.sh

[ "$(id -u)" -eq 0 ] || {
	echo "SKIP labs by hand: namespace hosts need root"
	exit 0
}
NAME=e2e-$$
has() { is "$1" "$(grep -o -m1 -e "$3" "$2")" "$3"; }
in_host() { echo "$2" | lab shell "$1"; }
lab() { "$FD" lab --name "$NAME" --state "$WORK/state" "$@"; }
trap 'lab down >/dev/null 2>&1; rm -rf "$WORK"' EXIT

lab --hosts 2 --spares 1 --lab netns up >"$WORK/up" 2>&1
is "lab up brings hosts up" "$?" 0
lab up >"$WORK/again" 2>&1
is "a lab of that name is there once: an error" "$?" 3
has "and the text says how to end it" "$WORK/again" "lab down $NAME"
lab --format json status >"$WORK/status"
lab status >"$WORK/told" 2>&1
is "lab up says what lab status says" "$(cat "$WORK/up")" "$(cat "$WORK/told")"
has "that the lab is kept" "$WORK/up" "$NAME  netns  kept"
is "two hosts and a spare are up" \
	"$(grep -c '"state": *"up"' "$WORK/status")" 3
is "shell runs a command in the host" "$(in_host h1 hostname)" h1
in_host h2 'exit 7'
is "with its exit status" "$?" 7
lab shell h99 </dev/null 2>"$WORK/no"
is "a host that is not there is no host" $? 2
has "and the nearest one and all are named" "$WORK/no" \
	"no host 'h99', did you mean 'h0'? (h0 to h2)"
"$FD" heal --state "$WORK/state" >/dev/null 2>&1
is "heal leaves a kept lab alone" "$(in_host h1 hostname)" h1

# A drill whose lab has that name uses it, and leaves it as it found it.
cat >"$WORK/kept.lua" <<-LUA
	return scenario {
	  name      = "on a kept lab",
	  lab       = lab.netns { hosts = ${HOSTS:-2}, spares = 1, name = "$NAME" },
	  workloads = { job = workload.command { command = { "hostname" }, ranks = 2 } },
	  faults    = { f = null.noop { rank = 0, at = at.time "10ms" } },
	  trials    = { baseline = 0, null = 0, fault = 1 },
	}
LUA
pids() { lab --format json status | grep -o '"pid": *[0-9]*'; }
before=$(pids)
"$FD" run --out "$WORK/out" --state "$WORK/state" "$WORK/kept.lua" >"$WORK/run" 2>&1
truth "a drill uses the kept lab of its name" "$WORK/out/latest/run.json" \
	'r.lab.provider === "netns" && r.trials.length === 1'
is "and leaves its hosts up" "$(pids)" "$before"
is "and nothing of itself" "$(ls -d "/run/faultdrill/$NAME"/trial-* 2>/dev/null)" ""
sed 's/hosts = 2/hosts = 3/' "$WORK/kept.lua" >"$WORK/other.lua"
"$FD" run --out "$WORK/out" --state "$WORK/state" "$WORK/other.lua" >"$WORK/run" 2>&1
is "a drill that wants another lab of this name is refused" "$?" 2
has "and told why" "$WORK/run" "is up with 2 hosts and 1 spares, not 3"
lab down
is "lab down takes it away" "$?" 0
is "no directory is left" "$(ls -d "/run/faultdrill/$NAME" 2>/dev/null)" ""
is "no cgroup is left" \
	"$(find /sys/fs/cgroup -name "faultdrill-$NAME.*" 2>/dev/null)" ""
is "no process is left" "$(pgrep -f "host-init /run/faultdrill/$NAME ")" ""
lab down >/dev/null 2>"$WORK/gone"
has "down of no lab says so" "$WORK/gone" "no lab '$NAME'"
finish
