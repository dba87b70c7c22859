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
is "two hosts and a spare are up" \
	"$(grep -c '"state": *"up"' "$WORK/status")" 3
is "shell runs a command in the host" "$(in_host h1 hostname)" h1
in_host h2 'exit 7'
is "with its exit status" "$?" 7
in_host h9 true 2>/dev/null
is "a host that is not there is no host" "$([ $? -ne 0 ] && echo refused)" refused
"$FD" heal --state "$WORK/state" >/dev/null 2>&1
is "heal leaves a kept lab alone" "$(in_host h1 hostname)" h1
lab down
is "lab down takes it away" "$?" 0
is "no directory is left" "$(ls -d "/run/faultdrill/$NAME" 2>/dev/null)" ""
is "no cgroup is left" \
	"$(find /sys/fs/cgroup -name "faultdrill-$NAME.*" 2>/dev/null)" ""
is "no process is left" "$(pgrep -f "host-init /run/faultdrill/$NAME ")" ""
lab down >/dev/null 2>"$WORK/gone"
has "down of no lab says so" "$WORK/gone" "no lab '$NAME'"
finish
