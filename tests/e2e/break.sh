#!/bin/bash
# break.sh - what was found by trying to break it, each with its right ending
# SPDX-License-Identifier: MIT
#
# Two drills at once and a stranger's stopped process leave a local drill clean;
# closed, full and deaf outputs; a state folder that cannot be; no privilege;
# a stopped agent and a killed controller while a fault is in force.
cd "$(dirname "$0")/../.." && . tests/support/e2e.sh

# scenario NAME LAB FAULT BODY
scenario()
{
	cat >"$WORK/$1.lua" <<-LUA
	--- Breaks as $1.
	return scenario {
	  name      = "$1",
	  lab       = $2 { hosts = 2 },
	  workloads = { job = workload.train { ranks = 2, steps = 40, checkpoint_every = 20 } },
	  faults    = { f = $3 },
	  trials    = { fault = 1, baseline = 0, null = 0 },
	  deadline  = "60s",
	  run = function(t)
	    t:wait "job.steady"
	    t:inject "f"
	    t:wait "f.effective"
	    $4
	  end,
	}
	LUA
}

run() { timeout -k 5 90 "$FD" run --out "$WORK/out-$1" --state "$WORK/state" "${@:2}" "$WORK/$1.lua"; }

# ended NAME STATUS MESSAGE COMMAND...: that status, and one line says why
ended()
{
	timeout -k 5 60 "${@:4}" >"$WORK/text" 2>&1 </dev/null
	is "$1: exit status" "$?" "$2"
	if [ "$(grep -c "$3" "$WORK/text")" = 1 ]; then
		pass "$1: one line says why"
	else
		fail "$1: one line says why" "no '$3' in: $(tail -3 "$WORK/text")"
	fi
}

local='lab["local"]'
stop='host.stop { rank = 1, at = at.manual() }'

# --- the machine is not ours alone ---
scenario one "$local" "$stop" 't:wait "2s" t:revert "f"'
scenario two "$local" "$stop" 't:wait "2s" t:revert "f"'
run one >"$WORK/one.text" 2>&1 & a=$!
run two >"$WORK/two.text" 2>&1 & b=$!
for i in 1 2 3 4 5 6 7 8 9 10; do	# others' stopped processes, come and gone
	sleep 60 & s=$!
	kill -STOP $s
	wait_for 1 false
	kill -9 $s
	wait $s 2>/dev/null
done
for n in one two; do
	[ $n = one ] && wait $a || wait $b
	truth "$n: others' stopped processes are no dirt" "$WORK/out-$n/latest/run.json" 'r.outcome != "dirty"'
	truth "$n: the other drill did not touch it" "$WORK/out-$n/latest/run.json" 'r.trials[0].incidents.length === 1 && r.trials[0].reasons.join() === "no baseline trial"'
	truth "$n: its own snapshots are equal" "$WORK/out-$n/latest/run.json" 'r.trials.every(t => t.snapshot.equal)'
done

# --- outputs ---
"$FD" list >/dev/full 2>"$WORK/text"
is "a full standard output is an error" "$?" 3
"$FD" list --format json 2>"$WORK/text" | head -1 >/dev/null
is "a reader that has had enough is none" "${PIPESTATUS[0]} $(cat "$WORK/text")" "0 "
"$FD" list >&- 2>"$WORK/text"
is "a closed standard output is none" "$? $(cat "$WORK/text")" "0 "
run one >&- 2>"$WORK/text"
is "a drill runs with standard output closed" "$(grep -c 'f is in force' "$WORK/text") $(grep -c Assert "$WORK/text")" "1 0"

# --- folders ---
long=$WORK/$(printf 'y%.0s' $(seq 200))
ended "a state folder whose name does not fit" 2 "at most 200" "$FD" run --state "$long" "$WORK/one.lua"
ended "heal of such a folder" 2 "at most 200" "$FD" heal --state "$long"
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	chmod 755 "$WORK"
	nobody="setpriv --reuid 65534 --regid 65534 --clear-groups"
	for verb in "heal" "run $WORK/one.lua" "exec --fault null.noop{rank=0} -- true"; do
		ended "${verb%% *}: a default state folder that does not fit" 2 "at most 200" \
			env XDG_STATE_HOME="$long" $nobody "$FD" $verb
		ended "${verb%% *}: a home whose state folder does not fit" 2 "at most 200" \
			env -u XDG_STATE_HOME HOME="$long" $nobody "$FD" $verb
		ended "${verb%% *}: a folder for labs that does not fit" 2 "RUNTIME_DIR.*at most 100" \
			env XDG_STATE_HOME="$WORK" XDG_RUNTIME_DIR="$long" $nobody "$FD" $verb
	done
else
	skip "folders of somebody without root that do not fit" "not root, or no setpriv"
fi
dir=$WORK/out-one/latest
mkdir "$WORK/bad" && cp "$dir/events.jsonl" "$WORK/bad" && echo '[]' >"$WORK/bad/run.json"
ended "a run.json of something else" 2 "bad/run.json" "$FD" report "$WORK/bad"
cp "$dir/run.json" "$WORK/bad" && echo '{' >"$WORK/bad/events.jsonl"
echo '{' >>"$WORK/bad/events.jsonl"
ended "events that are none" 2 "events.jsonl:1" "$FD" report "$WORK/bad"

# --- a lab that is full ---
if [ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null; then
	for size in 1m 2m; do	# no room for the page; none for the ring
		ended "exec on a lab of $size: the cause" 3 "No space left" \
			unshare -m sh -c "mkdir -p /run/faultdrill; mount -t tmpfs -o size=$size none /run/faultdrill &&
				exec '$FD' exec --state '$WORK/state' --fault 'device.oom { }' -- true"
	done
else
	skip "a lab that is full" "not root, or no mount namespace"
fi
ended "a number of devices that is none" 2 "from 1 to" \
	"$FD" exec --devices 3x --fault 'device.oom { }' -- true
"$FD" exec --state "$WORK/state" --fault 'host.stop { rank = 0, at = at.time "0s",
	duration = "50ms" }' -- sh -c '(true >&3) 2>/dev/null && exit 9; sleep 0.3; exit 4' 2>"$WORK/text"
is "a command of exec has no descriptor of ours" "$?" 4

# --- no privilege ---
scenario ns lab.netns 'null.noop { host = "h1", at = at.manual() }' ''
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	chmod 755 "$WORK"
	ended "lab netns without root" 4 "need root" setpriv --reuid 65534 \
		--regid 65534 --clear-groups "$FD" run --state "$WORK/none" "$WORK/ns.lua"
else
	skip "lab netns without root: exit status" "not root, or no setpriv"
fi

# --- while a fault is in force ---
none_stopped() { ! ps -eo stat=,args= | grep '^T' | grep -qF " $PWD/$BUILD/train"; }
ours() { snapshot | grep -v '^/sys/fs/cgroup/'; }	# this lab makes none
as_before() { [ "$(ours)" = "$before" ]; }
scenario held "$local" "$stop" 't:wait "50s"'
before=$(ours)
"$FD" run --out "$WORK/out-held" --state "$WORK/state" "$WORK/held.lua" \
	>"$WORK/held.text" 2>&1 </dev/null & pid=$!
wait_for 40 sh -c "grep -qs '\"fault.effective\"' '$WORK'/out-held/*/events.jsonl" ||
	fail "held: the fault bites" "never: $(tail -3 "$WORK/held.text")"
agents=$(ps -eo pid=,ppid=,comm= | awk -v p=$pid '$2 == p && $3 == "faultdrill-agen" { print $1 }')
none_stopped && fail "held: the rank is stopped" "no stopped process"
kill -STOP $agents
kill -9 $pid
wait $pid 2>/dev/null
wait_for 15 none_stopped && wait_for 15 "$FD" heal --state "$WORK/state"
is "held: agents stopped, controller killed: healed within a lease and a half" "$?" 0
wait_for 15 as_before
is "held: the machine is as it was" "$(ours)" "$before"
finish
