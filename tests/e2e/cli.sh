#!/bin/sh
# cli.sh - verbs, exit statuses and messages of the program itself
# SPDX-License-Identifier: MIT
#
# On lab `local`, so that no root is needed; state and results lie in a folder
# of its own.
set -u
fd=${BUILD:-build}/faultdrill
dir=$(mktemp -d) || exit 3
trap 'rm -rf "$dir"' EXIT
state=$dir/state out=$dir/runs

pass() { printf 'PASS %s\n' "$1"; }
fail() { printf 'FAIL %s: %s\n' "$1" "$2"; }

# is NAME STATUS WORDS: the last command's status and words in its output.
is() {
	if [ "$rc" -ne "$2" ]; then
		fail "$1" "status $rc, wanted $2: $(head -c 300 "$dir/o")"
	elif [ "$3" ] && ! grep -q -- "$3" "$dir/o"; then
		fail "$1" "no '$3' in: $(head -c 300 "$dir/o")"
	else
		pass "$1"
	fi
}
run() { "$@" >"$dir/o" 2>&1; rc=$?; }

# signal NAME FILE...: a run of them gets it once its fault is in force.
signal() {
	name=$1
	shift
	$fd run --state "$state" -o "$out" "$@" >"$dir/o" 2>&1 &
	pid=$!
	n=0
	while ! grep -q 'is in force' "$dir/o" && [ $n -lt 600 ]; do
		sleep 0.1 # polls for the line
		n=$((n + 1))
	done
	kill -"$name" $pid
	wait $pid
	rc=$?
}

scenario() {
	cat >"$dir/$1.lua" <<END
return scenario {
  name      = "$1",
  lab       = lab.local_ { hosts = 2 },
  workloads = { job = workload.command {
    command = { "sleep", "${4:-2}" }, ranks = 2 } },
  faults    = { hit = $2 },
  trials    = { baseline = 0, null = 0, fault = 1 },
  $3
}
END
}

run $fd
is 'no verb prints the help with the exit statuses' 0 'inconclusive'
run $fd rum
is 'a misspelt verb is named with the nearest' 2 "did you mean 'run'"
run $fd run --sed 3 x.lua
is 'a misspelt option is named with the nearest' 2 'did you mean --seed'
run $fd run
is 'a verb without its file says what it wants' 2 'FILE'
run $fd run --subject foo x.lua
is 'a subject without a value is refused' 2 '--subject foo: write --subject KEY'
run $fd run --ok skip,inconclusiv x.lua
is 'an outcome that --ok does not know is named with the nearest' 2 \
	"did you mean 'inconclusive'"
run $fd check "$dir/absent.lua"
is 'a file that is not there is a usage error' 2 'absent.lua'
run $fd help host.kil
is 'help of an unknown word names the nearest' 2 "did you mean 'host.kill'"
run $fd help host.kill
is 'help of an injector comes from its table' 0 'fidelity *process'
run $fd help device.slow
is 'help of an injector names the values of a choice' 0 \
	'One of: hw_thermal, sw_thermal, hw_slowdown'
for word in at.launch follow lab.netns form; do
	run $fd help $word
	is "help of a word of the language prints its page: $word" 0 \
		'at.launch("adamw", nth)'
done
run $fd help device
is 'help of a family names its faults' 0 '^  device.slow *A device computes'
run $fd list xids
is 'list xids says what each does' 0 '^  48 *context, 214 *double-bit'
run $fd help nonsense
is 'help of an unknown word says where all are named' 2 'faultdrill list names'
run $fd help metrics
is 'help metrics prints the one table' 0 'FAULT.time_to_detect'
run $fd list --format json
is 'list prints JSON' 0 '"injectors"'
run $fd probe
is 'probe says what works here' 0 'null.noop'
run env TMPDIR="$dir/nowhere" $fd probe
is 'probe without a folder for temporary files says so' 3 \
	"cannot make a folder in '$dir/nowhere'"

scenario rank 'host.kill { rank = 7 }' ''
run $fd run --state "$state" -o "$out" "$dir/rank.lua"
is 'rank 7 of a job of 2 is refused at its line' 2 \
	'rank.lua:6: hit: no rank 7: the job has ranks 0 to 1'
scenario host "host.freeze { host = 'h11' }" ''
run $fd run --state "$state" -o "$out" "$dir/host.lua"
is 'a misspelt host is refused with the nearest' 2 "did you mean 'h1'"
if [ -z "$(find "$state" -type f -size +0 2>/dev/null)" ] &&
	[ ! -e "$out/latest" ]; then
	pass 'then nothing was applied and the journal is empty'
else
	fail 'then nothing was applied and the journal is empty' \
		"$(find "$state" "$out" -type f | head -3)"
fi

scenario risk 'host.kill { rank = 0 }' ''
run $fd run --allow contained --state "$state" -o "$out" "$dir/risk.lua"
is 'a risk that the operator does not allow is refused' 2 '--allow disruptive'
scenario needs 'host.kill { rank = 0 }' "needs = { spares = '>=1' },"
run $fd run --state "$state" -o "$out" "$dir/needs.lua"
is 'a lab that lacks something skips with its reason' 4 'needs 1 spares'
run $fd run --ok skip --state "$state" -o "$out" "$dir/needs.lua"
is 'a skip may be allowed' 0 'needs 1 spares'

scenario never "host.kill { rank = 0, at = at.time '1h' }" '' 1
run $fd run --state "$state" -o "$out" "$dir/never.lua"
is 'an armed fault that never fires is inconclusive, with its host' 6 \
	"'hit' never fired; it was armed on host h0"

scenario noop "null.noop { rank = 0, at = at.time '100ms' }" \
	"expect = { { 'job.finished', '==', true } },"
run $fd run --seed 5 --state "$state" -o "$out" "$dir/noop.lua"
is 'a drill on lab local passes' 0 'PASS'
is 'the seed and the line that repeats the run are printed' 0 \
	'faultdrill run --seed 5'
run $fd report "$out/latest"
is 'report computes the same verdict from the events' 0 'PASS'

cat >"$dir/broken.lua" <<'END'
return scenario {
  name      = "broken",
  lab       = lab.local_ { hosts = 2 },
  workloads = { job = workload.command { command = { "false" }, ranks = 2 } },
  faults    = { hit = null.noop { rank = 0, at = at.time "1s" } },
  trials    = { baseline = 2, null = 1, fault = 2 },
}
END
run $fd run --state "$state" -o "$out" "$dir/broken.lua"
is 'a baseline that does not finish is inconclusive, with its reason' 6 \
	'the job ended without finishing'
if [ "$(grep -c '"trial.begin"' "$out/latest/events.jsonl")" -eq 1 ]; then
	pass 'and ends the drill: there is nothing to compare with'
else
	fail 'and ends the drill: there is nothing to compare with' \
		"$(grep -o '"trial.begin".*' "$out/latest/events.jsonl")"
fi

for when in 'at.step(99)' 'at.step { 98, 99 }' \
	'at.every { from = 98, to = 99, steps = 1 }'; do
	cat >"$dir/late.lua" <<-END
	return scenario {
	  name      = "late",
	  lab       = lab.local_ { hosts = 2 },
	  workloads = { job = workload.train { ranks = 2, steps = 40 } },
	  faults    = {
	    hit = host.kill { rank = 0, at = $when },
	    fine = host.kill { rank = 0, at = at.step(40) } },
	}
	END
	run $fd check "$dir/late.lua"
	is "a step that the job never comes to is a warning: $when" 0 \
		'late.lua:6: warning: hit fires at step 9[89], but the job has 40'
	grep -q 'fine fires' "$dir/o" && fail 'its last step is fine' "$when"
done
scenario who "host.kill { rank = 1, at = at.time '1s' }" \
	"expect = { { 'hit.detected_by', 'in', { 'launcher', 'health' } } },"
run $fd check "$dir/who.lua"
is 'a detector that there is not is a warning' 0 \
	"no detector is called 'health' (did you mean 'health.nvml'?)"
if grep -q "called 'launcher'" "$dir/o"; then
	fail 'one that there is is none' "$(cat "$dir/o")"
fi
cat >"$dir/when.lua" <<-END
return scenario {
  name      = "when",
  lab       = lab.local_ { hosts = 2 },
  workloads = { job = workload.train { ranks = 2, steps = 40 } },
  faults    = {
    a = null.noop { rank = 0, at = at.launch("adamw", 3) },
    b = null.noop { rank = 0, at = at.call "cuMemAlloc" },
    c = null.noop { rank = 0, at = at.after("a.effective", "1s") },
    d = null.noop { rank = 0, at = at.same "a" },
    e = null.noop { rank = 0, at = at.log { file = "x", match = "y" } },
    f = null.noop { rank = 0, at = at.poisson { mtbf = "1min", per = "host" } },
    g = null.noop { rank = 0, at = at.every { from = 5, to = 9, steps = 4 } },
  },
}
END
run $fd plan "$dir/when.lua"
is 'plan says when, in words' 0 "at launch 3 of a kernel with 'adamw' in its name"
for words in 'at call 1 of cuMemAlloc' '1s after a.effective' \
	'together with a' "when 'y' stands in x" ' times, at random' \
	'every 4 steps from step 5 to 9'; do
	is "plan says when, in words: $words" 0 "$words"
done
if grep -q '"on"' "$dir/o"; then
	fail 'plan prints no JSON' "$(grep '"on"' "$dir/o")"
fi
run $fd help exec
is 'help of exec tells of the deadline' 0 'deadline TIME'
if grep -q ring "$dir/o"; then
	fail 'help of exec is silent of our own use' "$(grep ring "$dir/o")"
else
	pass 'help of exec is silent of our own use'
fi

# The line that repeats a run is given to a shell: it must say the same.
sed '1i local p = params { title = { "plain", "A word." } }' "$dir/noop.lua" \
	>"$dir/it's one.lua"
run $fd run --state "$state" -o "$out" -p "title=it's \$5; 'quoted'" \
	"$dir/it's one.lua"
line=$(sed -n 's/.*\(faultdrill run --seed .*\)/\1/p' "$dir/o" | head -1)
faultdrill() { shift 3; printf '%s|' "$@"; }
said=$(eval "$line")
if [ "$said" = "-p|title=it's \$5; 'quoted'|$dir/it's one.lua|" ]; then
	pass 'the line that repeats a run survives a shell'
else
	fail 'the line that repeats a run survives a shell' "$said from: $line"
fi

rm -rf "$out"
run $fd run --state "$state" -o "$out" "$dir/noop.lua" "$dir/needs.lua" \
	"$dir/it's one.lua"
is 'several scenarios end as the worst of them' 4 "$out/junit.xml"
if [ "$(grep -c '<testsuite ' "$out/junit.xml")" = 2 ]; then
	pass 'the scenarios that ran are in one JUnit file'
else
	fail 'the scenarios that ran are in one JUnit file' \
		"$(head -c 300 "$out/junit.xml")"
fi

# A page that cannot be written: an error, and no path to it.
rm -rf "$out"
$fd run --state "$state" -o "$out" "$dir/noop.lua" >"$dir/o" 2>&1 &
pid=$!
n=0
until mkdir "$(echo "$out"/2*)/report.html.tmp" 2>/dev/null ||
	[ $n -gt 600 ]; do
	sleep 0.05 # polls for the folder
	n=$((n + 1))
done
wait $pid
rc=$?
is 'a report that cannot be written is an error' 3 'report.html: cannot make'
if grep -q '/report.html$' "$dir/o"; then
	fail 'then its path is not printed' "$(grep '/report.html$' "$dir/o")"
else
	pass 'then its path is not printed'
fi

run $fd exec --state "$state" --fault \
	'host.stop { rank = 0, at = at.time "100ms", duration = "300ms" }' \
	-- sh -c 'sleep 1; echo its own words; exit 7'
is 'exec breaks one command and returns its status' 7 'its own words'
run $fd exec --state "$state" --fault 'host.kil { rank = 0 }' -- true
is 'exec refuses a fault that does not exist' 2 'no host.kil'
run $fd exec --state "$state" --fault \
	'host.kill { rank = 0, at = at.time "1h" }' -- true
is 'exec says when the fault never took effect' 6 'never took effect'

scenario slow "host.stop { rank = 1, at = at.time '100ms' }" \
	"deadline = '2min'," 60
signal INT "$dir/slow.lua"
is 'SIGINT reverts, reports and is inconclusive' 6 'interrupted (Ctrl-C)'
scenario later "null.noop { rank = 0, at = at.time '100ms' }" ''
signal INT "$dir/slow.lua" "$dir/later.lua"
is 'SIGINT ends the scenarios behind it too' 6 \
	'later: inconclusive: interrupted before it began'
run $fd heal --list --state "$state"
is 'after it nothing is left to heal' 0 'nothing to heal'

scenario gone "host.stop { rank = 1, at = at.time '100ms' }" \
	"deadline = '2min'," 60
signal HUP "$dir/gone.lua"
is 'a closed terminal reverts and reports too' 6 'interrupted (Hangup)'
if grep -q natural "$dir/o"; then
	fail 'ranks that were told to stop are no incident' "$(cat "$dir/o")"
else
	pass 'ranks that were told to stop are no incident'
fi

make -s BUILD="${BUILD:-build}" DESTDIR="$dir/dest" PREFIX=/usr DRILL_DEPS=1 \
	install >"$dir/o" 2>&1
rc=$?
is 'make install copies all' 0 ''
cat >"$dir/train.lua" <<'END'
return scenario {
  name      = "installed",
  lab       = lab.local_ { hosts = 2 },
  workloads = { job = workload.train { ranks = 2, steps = 24 } },
  faults    = {},
  trials    = { baseline = 1 },
}
END
run "$dir/dest/usr/bin/faultdrill" run --state "$state" -o "$out" \
	"$dir/train.lua"
is 'what was installed trains' 0 'PASS'
cd "$dir" || exit 3
run "$dir/dest/usr/bin/faultdrill" list scenarios
is 'what was installed lists its scenarios' 0 'host/rank_killed.lua'
