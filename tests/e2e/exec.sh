#!/bin/bash
# exec.sh - one command with one fault, and the verbs that only tell something
# SPDX-License-Identifier: MIT
cd "$(dirname "$0")/../.." && . tests/support/e2e.sh

S="--state $WORK/state"
export HOME="$WORK" XDG_STATE_HOME="$WORK"
faultdrill() { timeout -k 5 100 "$FD" "$@" >"$WORK/text" 2>"$WORK/err" </dev/null; }
said() { # NAME FILE WORDS
	grep -qF -- "$3" "$2" && pass "$1" ||
		fail "$1" "no '$3' in: $(head -c 300 "$2")"
}
clean() # NAME: nothing is left of what was tried
{
	is "$1: no record is open" "$("$FD" heal --list $S 2>&1)" "nothing to heal"
	is "$1: no agent is left" "$(pgrep -f "faultdrill-agent.*$WORK")" ""
	is "$1: nothing stays stopped" "$(pgrep -r T -f "$WORK")" ""
}

# ---- a process fault: what the command did and how it ended ----
faultdrill exec $S --fault 'host.stop { rank = 0, at = at.time "200ms", duration = "300ms" }' \
	-- sh -c 'echo in; sleep 1; echo out; exit 7'
is "exec gives the command's own status" "$?" 7
said "the command speaks for itself" "$WORK/text" "out"
faultdrill exec $S --fault 'host.stop { rank = 0, at = at.time "200ms", duration = "300ms" }' \
	-- sleep 1
is "a command that ends well ends so" "$?" 0
faultdrill exec $S --fault 'host.kill { rank = 0, at = at.time "200ms" }' -- sleep 30
is "a killed command ends as a shell says it" "$?" 137
faultdrill exec $S --fault 'host.kill { rank = 0, signal = "TERM", at = at.time "200ms" }' \
	-- sleep 30
is "so does a terminated one" "$?" 143
faultdrill exec $S --format json --fault 'host.kill { rank = 0, at = at.time "200ms" }' -- sleep 30
is "exec says in JSON what the fault did" \
	"$("$Q" "$WORK/text" 'r.effective + " " + r.status' 2>&1)" "1 137"
faultdrill exec $S --deadline 2s --fault 'host.stop { rank = 0, at = at.time "200ms" }' \
	-- sleep 30
is "a command that a held fault stops ends at the deadline" "$?" 1
said "the deadline is named" "$WORK/err" "had not ended at the deadline"
said "a held fault says how long and how to end it" "$WORK/err" \
	'in force until the command ends or Ctrl-C; give duration ='
faultdrill exec $S --deadline 20s --fault 'host.stop { rank = 0,
	at = at.time "200ms", duration = "300ms" }' -- sleep 1
is "a command that ends before the deadline ends so" \
	"$? $(grep -c 'in force until' "$WORK/err")" "0 0"
clean "process faults"

# ---- refusals ----
while IFS='|' read -r name status words fault command; do
	faultdrill exec $S ${fault:+--fault "$fault"} ${command:+-- $command}
	is "$name: status" "$?" "$status"
	said "$name: the words" "$WORK/err" "$words"
done <<'TABLE'
an unknown fault|2|no host.kil (did you mean host.kill?)|host.kil { rank = 0 }|true
an unknown parameter|2|no parameter 'sginal' (did you mean 'signal'?)|host.kill { rank = 0, sginal = 9 }|true
a rank that there is not|2|no rank 3|host.kill { rank = 3 }|true
no command|2|no command|host.kill { rank = 0 }|
no fault|2|no fault||true
a duration of one act|2|no duration: it is one act|host.kill { rank = 0, duration = "1s" }|true
a text that is no fault|2|--fault|2 + 2|true
a fault that runs away|2|without waiting|(function() while true do end end)()|true
a fault that never fires|6|never took effect|host.kill { rank = 0, at = at.time "1h" }|true
a hook that nobody loads|6|has not said hello|collective.hang { rank = 0 }|sleep 0.3
a command that there is not|127|/no-such-program: No such file or directory; nothing was started|host.kill { rank = 0 }|/no-such-program
a name that is on no path|127|no-such-program: No such|host.kill { rank = 0 }|no-such-program
a command that is none|126|/etc/passwd: Permission denied|host.kill { rank = 0 }|/etc/passwd
a step of a program that has none|6|and the job told no step|host.stop { rank = 0, at = at.step(3) }|true
a program that never opens the driver|6|no process has opened the CUDA driver|device.xid { code = 48 }|true
TABLE
faultdrill exec $S --fault 'host.kill { rank = 0 }' --fault 'host.stop { rank = 0 }' -- true
is "two faults: status" "$?" 2
said "two faults: more than one needs a scenario" "$WORK/err" "one fault, not two: more than"
faultdrill exec $S --fault 'host.kill { rank = 0 }' true
is "a command without --: status" "$?" 2
said "a command without --: it says where to write it" "$WORK/err" "write -- before the command"
clean "refusals"

# ---- a collective fault on a command of mpirun ----
if command -v mpirun >/dev/null && [ -x "$BUILD/tests/programs/lockstep" ]; then
	# mpirun is the rank; the one that says hello is its child, and later
	# than the fault would fire: it waits for it.
	faultdrill exec $S --format json --fault 'collective.delay { rank = 0,
		op = "barrier", delay = "300ms" }' \
		-- mpirun --allow-run-as-root --oversubscribe -np 2 \
		"$BUILD/tests/programs/lockstep" "$WORK/lock" 10 20 20000
	is "a collective fault on mpirun's command: its status" "$?" 0
	is "a collective fault on mpirun's command: it took effect" \
		"$("$Q" "$WORK/text" 'r.effective + " " + r.status' 2>&1)" "1 0"
	clean "collective faults"
else
	skip "a collective fault on mpirun's command" "no MPI"
fi

# ---- however it ends ----
of_us="sleep 40.$$" # a name that no other process has
for how in INT TERM KILL; do
	"$FD" exec $S --fault 'host.stop { rank = 0, at = at.time "200ms" }' \
		-- $of_us >"$WORK/text" 2>&1 </dev/null &
	pid=$!
	wait_for 20 pgrep -r T -fx "$of_us" || fail "$how: the command is stopped" "$(cat "$WORK/text")"
	kill -$how $pid
	wait $pid 2>/dev/null
	is "$how: the status says by which signal it ended" "$?" \
		$((128 + $(kill -l $how)))
	wait_for 30 sh -c "! pgrep -r T -fx '$of_us'" &&
		pass "$how: the command does not stay stopped" ||
		fail "$how: the command does not stay stopped" "after 30 s"
	wait_for 30 sh -c "! pgrep -fx '$of_us'" &&
		pass "$how: the command is gone" ||
		fail "$how: the command is gone" "after 30 s"
	wait_for 30 sh -c "'$FD' heal $S" && pass "$how: heal finds nothing to do" ||
		fail "$how: heal finds nothing to do" "$("$FD" heal --list $S 2>&1)"
	clean "$how"
done

"$FD" exec $S --fault 'host.stop { rank = 0, at = at.time "1h" }' \
	-- $of_us >"$WORK/text" 2>&1 </dev/null &
pid=$!
wait_for 20 pgrep -fx "$of_us" || fail "the command runs" "$(cat "$WORK/text")"
is "exec writes no file but the lab's and the journal's" \
	"$(readlink /proc/$pid/fd/* | grep '^/tmp/' | grep -v "^$WORK/")" ""
kill -INT $pid
wait $pid
is "INT before the fault: no fault of the command either" "$?" 130

# Twice at a command that is deaf to it: it goes all the same, and with it all.
"$FD" exec $S --fault 'host.stop { rank = 0, at = at.time "1h" }' -- \
	sh -c "trap '' INT TERM; echo deaf; sleep 41.$$; sleep 41.$$" >"$WORK/text" 2>&1 </dev/null &
pid=$!
wait_for 20 grep -q deaf "$WORK/text" || fail "the command runs" "$(cat "$WORK/text")"
kill -INT $pid
wait_for 1 false
kill -INT $pid
wait $pid
is "INT twice at a deaf command: ended by it, not dirty" "$?" 130
clean "INT twice"

# ---- the verbs that tell ----
for list in injectors workloads metrics events labs verbs scenarios; do
	faultdrill list $list --format json
	is "list $list prints JSON with names and sentences" "$("$Q" "$WORK/text" \
		"r.$list.length > 0 && r.$list.every(x => x.name && x.doc)" 2>&1)" true
done
faultdrill list --format json
cp "$WORK/text" "$WORK/all.json"
unhelped=
for name in $("$Q" "$WORK/all.json" '[...r.injectors, ...r.workloads, ...r.verbs].map(x => x.name).join(" ")'); do
	faultdrill help "$name" && grep -qF "$name" "$WORK/text" || unhelped="$unhelped $name"
done
is "every injector, workload and verb has its help" "$unhelped" ""
faultdrill help metrics
missing=
for name in $("$Q" "$WORK/all.json" 'r.metrics.map(x => x.name).join(" ")'); do
	grep -qF "$name" "$WORK/text" || missing="$missing $name"
done
is "help metrics has every metric" "$missing" ""
for word in "" lua metrics scenarios/host/rank_killed.lua; do
	faultdrill help $word
	is "help ${word:-of all} is there" "$?" 0
done
faultdrill probe --format json
is "probe speaks of every lab and every injector" "$("$Q" "$WORK/text" 'r.length' 2>&1)" \
	"$("$Q" "$WORK/all.json" 'r.labs.filter(l => l.name !== "auto").length + r.injectors.length')"
"$Q" "$WORK/text" 'r.every(x => x.ok || x.reason)' | grep -q true &&
	pass "probe gives a reason for each no" || fail "probe gives a reason for each no" "$(cat "$WORK/text")"

# ---- mark: heard by the drill that runs here, by nobody else ----
mkdir "$WORK/here" && cd "$WORK/here" || exit 3
mkdir runs
faultdrill mark seen -o runs
is "mark without a drill is a usage error" "$?" 2
said "mark says that no drill runs there" "$WORK/err" "no drill runs in runs"
cat >marked.lua <<'LUA'
--- A person marks what they see.
return scenario {
  name      = "marked",
  lab       = lab["local"] { hosts = 2 },
  workloads = { job = workload.train { ranks = 2, steps = 200 } },
  faults    = { still = host.stop { rank = 1, at = at.step(20), duration = "3s" } },
  detectors = { oncall = detect.mark() },
  trials    = { baseline = 0, null = 0, fault = 1 },
}
LUA
"$FD" run $S marked.lua >"$WORK/text" 2>&1 </dev/null &
pid=$!
wait_for 40 grep -q 'still is in force' "$WORK/text" || fail "the fault bites" "$(tail -3 "$WORK/text")"
cd / || exit 3
faultdrill mark oncal -o "$WORK/here/runs"
is "a misspelt mark is refused" "$?" 2
said "a misspelt mark is named with the nearest" "$WORK/err" \
	"no detector 'oncal' in \"marked\" (did you mean 'oncall'?)"
faultdrill mark oncall -o "$WORK"
is "mark finds no drill in a folder that has none" "$?" 2
# From elsewhere; -o because other trees may run drills here meanwhile.
faultdrill mark oncall -o "$WORK/here/runs"
is "mark tells the running drill" "$?" 0
wait $pid
cd "$WORK/here" || exit 3
is "a person's mark is a detection by user" \
	"$(grep -c '"detected".*"user"\|"user".*"detected"' runs/latest/events.jsonl)" 1
is "a misspelt mark is nothing" "$(grep -c oncal\" runs/latest/events.jsonl)" 0

# ---- nobody declared: noted, no detection; two drills: which one? ----
sed '/detectors =/d; s/"marked"/"unwatched"/' marked.lua >plain.lua
"$FD" run $S -o "$WORK/one" plain.lua >"$WORK/text1" 2>&1 </dev/null &
one=$!
"$FD" run $S -o "$WORK/two" plain.lua >"$WORK/text2" 2>&1 </dev/null &
two=$!
for n in 1 2; do
	wait_for 40 grep -q 'still is in force' "$WORK/text$n" ||
		fail "the fault of drill $n bites" "$(tail -3 "$WORK/text$n")"
done
faultdrill mark seen
is "of several drills mark wants one named" "$?" 2
said "mark names the drills that run" "$WORK/err" "$WORK/two/"
faultdrill mark seen -o "$WORK/two"
is "a mark that nobody declared is taken" "$?" 0
said "and said to be no detection" "$WORK/text" "no detection"
wait $one $two
is "a mark that nobody declared is an event, no detection" \
	"$(grep -c '"mark seen"' "$WORK"/two/latest/events.jsonl) $(grep -c \
	'"user"' "$WORK"/two/latest/events.jsonl)" "1 0"
is "the other drill heard nothing" \
	"$(grep -c '"mark seen"' "$WORK"/one/latest/events.jsonl)" 0
clean "mark"
finish
