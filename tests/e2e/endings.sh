#!/bin/bash
# endings.sh - however a drill ends, the fault is reverted and the machine is as it was
# SPDX-License-Identifier: MIT
#
# Case c17: script error, missed expectation, SIGINT, SIGTERM, Lua error in a
# coroutine, endless loop. Case c15: no process of the job stays stopped, frozen
# or not. Beside them SIGKILL of the controller, which only the agents and their
# keepers can mend. The lab is `local`, so this needs no root.
cd "$(dirname "$0")/../.." && . tests/support/e2e.sh

# scenario NAME BODY-OF-RUN [EXPECT]
scenario()
{
	cat >"$WORK/$1.lua" <<-LUA
	--- Ends as $1.
	return scenario {
	  name      = "$1",
	  lab       = lab.local_ { hosts = 2 },
	  workloads = { job = workload.train { ranks = 2, steps = 400, checkpoint_every = 100 } },
	  faults    = { frozen = host.stop { rank = 1, at = at.manual() } },
	  trials    = { fault = 1 },
	  deadline  = "60s",
	  run = function(t)
	    t:wait "job.steady"
	    t:inject "frozen"
	    t:wait "frozen.effective"
	    $2
	  end,
	}
	LUA
}

# bites NAME: waits until the fault of that run is in force
bites()
{
	wait_for 60 sh -c "grep -q '\"fault.effective\"' '$WORK/$1'/2*/events.jsonl" ||
		fail "$1: the fault bites" "never effective: $(tail -3 "$WORK/$1.text")"
}

# ends NAME WANTED-STATUS: runs it, and holds the machine against before
ends()
{
	before=$(snapshot)
	timeout -k 5 100 "$FD" run --out "$WORK/$1" --state "$WORK/state" "$WORK/$1.lua" \
		>"$WORK/$1.text" 2>&1 </dev/null &
	pid=$!
	if [ -n "${3:-}" ]; then
		bites "$1"
		child=$(cat /proc/$pid/task/$pid/children)
		kill "$3" ${child:-$pid}
	fi
	wait $pid
	rc=$?
	case " $2 " in
	*" $rc "*) pass "$1: exit status $rc" ;;
	*) fail "$1: exit status" "got $rc, wanted $2: $(tail -5 "$WORK/$1.text")" ;;
	esac
	wait_for 30 sh -c "[ -z \"\$(ps -eo stat=,args= | grep '^T.*train')\" ]"
	is "$1: the machine is as it was" "$(snapshot)" "$before"
	"$FD" heal --list --state "$WORK/state" >"$WORK/heal" 2>&1
	is "$1: the journal holds nothing" "$?" 0
	grep -q '"fault.reverted"' "$WORK/$1/"2*/events.jsonl 2>/dev/null &&
		pass "$1: the revert is in the events" ||
		fail "$1: the revert is in the events" "no fault.reverted"
}

scenario script_error 'local x = nil; x.y = 1'
ends script_error 3
scenario lua_error 'error("on purpose")'
ends lua_error 3
scenario missed 't:expect("frozen.time_to_detect", "<", "1ms")'
ends missed "1 6"
scenario endless 'while true do pcall(function() while true do end end) end'
ends endless 3
scenario interrupted 't:wait "50s"'
ends interrupted "6" -INT
scenario terminated 't:wait "50s"'
ends terminated "6" -TERM

# A drill that waits with its fault in force; sets pid and before.
waits() { # NAME
	scenario "$1" 't:wait "50s"'
	before=$(snapshot)
	"$FD" run --out "$WORK/$1" --state "$WORK/state" "$WORK/$1.lua" \
		>"$WORK/$1.text" 2>&1 </dev/null &
	pid=$!
	bites "$1"
}

# Twice: the second one does not wait for anybody, and leaves no mess either.
for when in "stopping:" "taking the lab down"; do
	name=twice_${when%%[: ]*}
	waits $name
	kill -INT $pid
	wait_for 20 grep -q "$when" "$WORK/$name.text" || fail "$name: $when" "not said"
	kill -INT $pid
	wait $pid
	rc=$?
	is "$name: interrupted, and not dirty" "$rc" 6
	is "$name: heal finds all clean" "$("$FD" heal --list --state "$WORK/state" 2>&1)" "nothing to heal"
	wait_for 15 sh -c '[ "$(. tests/support/e2e.sh; snapshot)" = "'"$before"'" ]'
	is "$name: the machine is as it was" "$(snapshot)" "$before"
done

# kill -9 of an agent: its keeper reverts, and the drill knows that it did.
waits orphaned
since=$(date +%s)
kill -9 $(pgrep -P $pid -x faultdrill-agen | tail -1)
wait $pid
is "orphaned: an error of ours, not dirty" "$?" 3
[ $(($(date +%s) - since)) -lt 20 ] &&
	pass "orphaned: nobody waits for a revert that nobody can tell" ||
	fail "orphaned: nobody waits for a revert that nobody can tell" "$(($(date +%s) - since)) s"
truth "orphaned: the reason is said first" "$WORK/orphaned/latest/run.json" \
	'/ended with signal 9/.test(r.reason) && !r.trials.some(t => t.outcome === "dirty")'
is "orphaned: heal finds all clean" "$("$FD" heal --list --state "$WORK/state" 2>&1)" "nothing to heal"
is "orphaned: the machine is as it was" "$(snapshot)" "$before"

# kill -9 of the controller: lease and keepers do it alone.
waits killed
kill -9 $pid
wait $pid 2>/dev/null
"$FD" heal --state "$WORK/state" >"$WORK/heal" 2>&1
wait_for 20 sh -c "[ -z \"\$(ps -eo stat=,args= | grep '^T.*train')\" ]" &&
	pass "killed: nothing stays stopped" || fail "killed: nothing stays stopped" "still there after 20 s"
wait_for 20 sh -c "'$FD' heal --state '$WORK/state'"
is "killed: heal closes the rest" "$?" 0
wait_for 20 sh -c '[ "$(. tests/support/e2e.sh; snapshot)" = "'"$before"'" ]'
is "killed: the machine is as it was" "$(snapshot)" "$before"
finish
