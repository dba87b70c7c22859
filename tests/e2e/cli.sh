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
	elif ! grep -q -- "$3" "$dir/o"; then
		fail "$1" "no '$3' in: $(head -c 300 "$dir/o")"
	else
		pass "$1"
	fi
}
run() { "$@" >"$dir/o" 2>&1; rc=$?; }

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
run $fd check "$dir/absent.lua"
is 'a file that is not there is a usage error' 2 'absent.lua'
run $fd help host.kil
is 'help of an unknown word names the nearest' 2 "did you mean 'host.kill'"
run $fd help host.kill
is 'help of an injector comes from its table' 0 'fidelity *process'
run $fd help metrics
is 'help metrics prints the one table' 0 'FAULT.time_to_detect'
run $fd list --format json
is 'list prints JSON' 0 '"injectors"'
run $fd probe
is 'probe says what works here' 0 'null.noop'

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
$fd run --state "$state" -o "$out" "$dir/slow.lua" >"$dir/o" 2>&1 &
pid=$!
n=0
while ! grep -q 'is in force' "$dir/o" && [ $n -lt 600 ]; do
	sleep 0.1 # polls for the line
	n=$((n + 1))
done
kill -INT $pid
wait $pid
rc=$?
is 'SIGINT reverts, reports and is inconclusive' 6 'interrupted by signal 2'
run $fd heal --list --state "$state"
is 'after it nothing is left to heal' 0 'nothing to heal'
