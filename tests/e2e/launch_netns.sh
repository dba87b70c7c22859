#!/bin/bash
# launch_netns.sh - the launcher and the real training job over namespace hosts
# SPDX-License-Identifier: MIT
#
# The same job twice in a lab of its own: uninterrupted, and with a host frozen
# after its first checkpoint. The final states must be equal, bit for bit.
set -u
. tests/support/e2e.sh
build=$(cd "${BUILD:-build}" && pwd)
name=launch-$$
lab=/run/faultdrill/$name
state=$WORK

skip() { echo "SKIP the launcher over namespace hosts: $1"; exit 0; }
[ "$(id -u)" = 0 ] || skip "needs root"
command -v mpirun nsenter >/dev/null || skip "no mpirun or nsenter"
[ -x "$build/train" ] || skip "no training job was built"

down() {
	"$build/faultdrill" lab down --name "$name" --state "$state" >/dev/null
	rm -rf "$state"
}
up=$("$build/faultdrill" lab up --hosts 2 --spares 1 --name "$name" \
	--state "$state" 2>&1) || skip "${up//$'\n'/ }"
trap down EXIT
head=$(sed -n '/"head"/,$s/.*"pid": \([0-9]*\).*/\1/p' "$lab/lab.json")
cgroup=$(sed -n 's/.*"cgroup": "\(.*\)\/h1".*/\1/p' "$lab/lab.json")

# train NAME : a launcher in the head's network, in the background; $dir, $pid
train() {
	dir=$lab/$1
	mkdir -p "$dir/store"
	nsenter -t "$head" -n -u -m "$build/launch" --dir "$dir" \
		--log "$dir/log" --store "$dir/store" --hosts h0,h1 \
		--spares h2 --ppn 2 --ranks 4 --head 10.78.255.254 \
		--enter "$build/faultdrill-agent enter $lab" --watchdog 20s \
		-- "$build/train" --layout dp=4 --steps 60 --watchdog 20s \
		--checkpoint-every 10 --step-time 40ms \
		3>"$dir/events" >"$dir/out" 2>&1 &
	pid=$!
}

final() { grep -h '^state step 60 ' "$1"/log/rank0.a*.log; }
has() { grep -q "$1" "$dir/events"; }
train clean
wait "$pid" && ! has '"detected"' && [ -n "$(final "$dir")" ]
verdict "the training job runs over namespace hosts without a false alarm"

train frozen
wait_for 120 sh -c "ls '$dir'/store/ckpt/*/manifest >&2"
echo 1 >"$cgroup/h1/cgroup.freeze"
wait "$pid" && has '"blame":"host h1"' && has '"replaces":"h1"' &&
	[ -n "$(final "$dir")" ] && [ "$(final "$dir")" = "$(final "$lab/clean")" ]
verdict "a frozen host is replaced by the spare and the state is the same"

# The frozen ranks are of an attempt that is over.
echo 0 >"$cgroup/h1/cgroup.freeze"
alone() { [ "$(wc -l <"$cgroup/h1/cgroup.procs")" = 1 ]; }
wait_for 4 alone
verdict "ranks of the frozen host end when they wake"
finish
