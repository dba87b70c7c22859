#!/bin/bash
# kills.sh - kill -9 of any of our processes at any moment, then heal: nothing is left
# SPDX-License-Identifier: MIT
#
# Whole drills with a fault in force; agent, keeper, controller, launcher, rank
# and a host's first process are killed in turn, each at a moment drawn from
# KILL_SEED (printed; default: fixed). What is asked afterwards is asked of this
# lab alone, so that others may drill on the same machine. What is proven clean by
# the end is not called dirty; a host whose first process died is not as before.
cd "$(dirname "$0")/../.." && . tests/support/e2e.sh

RANDOM=${KILL_SEED:-7}
rounds=${KILL_ROUNDS:-1}
echo "kills drawn from seed ${KILL_SEED:-7}, $rounds rounds"
lab=kills-$$
root=/run/faultdrill
where=netns
[ "$(id -u)" -eq 0 ] || {
	where=local_
	root=${XDG_RUNTIME_DIR:+$XDG_RUNTIME_DIR/faultdrill}
	root=${root:-/tmp/faultdrill-$(id -u)}
}
end_all() { [ -n "$pid" ] && kill -9 $pid 2>/dev/null; "$FD" heal --state "$WORK/state" >/dev/null 2>&1; rm -rf "$WORK"; }
trap end_all EXIT

cat >"$WORK/kills.lua" <<-LUA
	--- Holds a fault while somebody is killed.
	return scenario {
	  name      = "kills",
	  lab       = lab.$where { hosts = 2, name = "$lab" },
	  workloads = { job = workload.train { ranks = 2, steps = 4000 } },
	  faults    = {
	    still = host.stop { rank = 1, at = at.time "500ms", duration = "2s" },
	    late  = host.kill { rank = 0, at = at.time "3s" },
	    slow  = device.slow { rank = 0, factor = 3, at = at.time "200ms", duration = "1s" },
	    hung  = device.hang { rank = 0, at = at.launch("adamw", 20), duration = "1s" },
	    ill   = device.xid { code = 79, rank = 1, form = "signal", follow = "device", at = at.time "1s" },
	  },
	  trials    = { baseline = 0, null = 0, fault = 1 },
	  deadline  = "6s",
	}
	LUA

# of VICTIM: its pids in the running drill
of()
{
	case $1 in
	controller) echo $pid ;;
	agent) pgrep -P $pid -f 'faultdrill-agent$' ;; # a host's first process has arguments
	keeper) for a in $(of agent); do pgrep -P $a -x faultdrill-keep; done ;;
	launcher) pgrep -P $pid -f "/launch --ranks" ;;
	rank) pgrep -f "/train .*--store $root/$lab/" ;;
	init) pgrep -f "host-init $root/$lab h" ;;
	esac
}

marked() { grep -lsa "FAULTDRILL_LAB=$mark" /proc/[0-9]*/environ | cut -d/ -f3; }

# Everything that this drill could leave, nothing of anybody else.
left()
{
	ls -d "$root/$lab" 2>/dev/null
	find /sys/fs/cgroup -type d -name "faultdrill-$lab.*" 2>/dev/null
	pgrep -af "$root/$lab( |/|\$)"
	[ -n "$mark" ] && for p in $(marked); do echo "process $p: $(cat /proc/$p/cmdline 2>/dev/null | tr '\0' ' ')"; done
	"$FD" heal --list --state "$WORK/state" 2>&1 | grep -v '^nothing to heal'
	true
}
none_left() { [ -z "$(left)" ]; }
has_victim() { [ -n "$(of $1)" ]; }

# one VICTIM WHEN: a drill in which it is killed WHEN ms after there is a job
one()
{
	mark=
	"$FD" run -q --out "$WORK/out" --state "$WORK/state" "$WORK/kills.lua" \
		>"$WORK/text" 2>&1 </dev/null &
	pid=$!
	wait_for 20 test -s "$root/$lab/lab.json" ||
		fail "$1: the lab comes up" "$(tail -3 "$WORK/text")"
	mark=$(head -1 "$root/$lab/mark")
	wait_for 20 has_victim $1 || fail "$1 is there" "$(tail -3 "$WORK/text")"
	sleep "$(printf '%d.%03d' $(($2 / 1000)) $(($2 % 1000)))" # the drawn moment
	[ -n "$(left)" ] && [ -n "$(marked)" ] ||
		fail "$1: what could be left is seen while it is there" "it is not"
	set -- "$1" "$2" $(of $1)
	[ $# -gt 2 ] && kill -9 $3 2>/dev/null
	wait_for 45 sh -c "! kill -0 $pid" || fail "$1 at $2 ms: the drill ends" "still there after 45 s"
	wait $pid
	rc=$?
	pid=
	case $1.$rc in
	controller.137 | agent.3 | keeper.3 | launcher.[136] | rank.[136] | init.[1356]) pass "$1 killed at $2 ms: the drill ends (status $rc)" ;;
	*) fail "$1 killed at $2 ms: the drill ends" "status $rc: $(tail -5 "$WORK/text")" ;;
	esac
	wait_for 20 "$FD" heal --state "$WORK/state" ||
		fail "$1 at $2 ms: heal" "$("$FD" heal --state "$WORK/state" 2>&1)"
	wait_for 10 none_left
	is "$1 killed at $2 ms: nothing is left" "$(left)" ""
}

victims="agent keeper controller launcher rank"
[ $where = netns ] && victims="$victims init"
i=0
while [ $i -lt "$rounds" ]; do
	for v in $victims; do
		one $v $((RANDOM % 3000))
	done
	i=$((i + 1))
done
finish
