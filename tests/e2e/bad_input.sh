#!/bin/bash
# bad_input.sh - each wrong input gives one clear message, and nothing was applied
# SPDX-License-Identifier: MIT
#
# The lab is `local`, so that no root is needed; only the journal without room
# makes a mount, in a mount namespace of its own. Case c08 is among them.
cd "$(dirname "$0")/../.." && . tests/support/e2e.sh

# scenario NAME FAULT [EXTRA]: line 6 holds the fault
scenario()
{
	cat >"$WORK/$1.lua" <<-LUA
	--- $1.
	return scenario {
	  name      = "$1",
	  lab       = lab["local"] { hosts = 2, name = "${lab:-}" },
	  workloads = { job = ${job:-workload.train { ranks = 2, steps = 400 \}} },
	  faults    = { f = $2 },
	  trials    = { baseline = 0, null = 0, fault = 1 },
	  deadline  = "60s",
	  ${3:-}
	}
	LUA
}

# The lines that complain; progress and the line that repeats a run do not.
complaints() { grep -cE '^faultdrill: ' "$WORK/err"; }

# bad NAME STATUS WORDS COMMAND...: one complaint (or the summary of the drill)
# with these words, the status, an empty journal, the machine as it was
bad()
{
	name=$1 status=$2 words=$3
	shift 3
	before=$(snapshot)
	timeout -k 5 100 "$@" >"$WORK/text" 2>"$WORK/err" </dev/null
	rc=$?
	if [ "$rc" -ne "$status" ]; then
		fail "$name" "status $rc, wanted $status: $(head -c 400 "$WORK/err" "$WORK/text")"
	elif [ "$(complaints)" -gt 1 ]; then
		fail "$name" "$(complaints) complaints: $(head -c 400 "$WORK/err")"
	elif ! cat "$WORK/err" "$WORK/text" | tr -s ' \n' ' ' |
		grep -qF -- "$words"; then
		fail "$name" "no '$words' in: $(head -c 400 "$WORK/err" "$WORK/text")"
	else
		pass "$name"
	fi
	is "$name: the machine is as it was" "$(snapshot)" "$before"
	is "$name: no record is open" \
		"$("$FD" heal --list --state "$WORK/state" 2>&1)" "nothing to heal"
}

# Nothing of these may come as far as a lab: there are no results.
refused()
{
	bad "$@"
	is "$1: there was no trial" \
		"$(find "$WORK/out" -name events.jsonl 2>/dev/null | wc -l)" 0
}

run() { echo "$FD" run --out "$WORK/out" --state "$WORK/state" "$@"; }

# ---- unknown names, bare numbers ----
while IFS='|' read -r name fault words; do
	scenario wrong "$fault"
	refused "$name" 2 "wrong.lua:6: $words" $(run "$WORK/wrong.lua")
done <<'TABLE'
an unknown parameter|host.stop { rnak = 1 }|host.stop: no parameter 'rnak' (did you mean 'rank'?)
an unknown injector|host.stpo { rank = 1 }|no host.stpo (did you mean host.stop?)
c08: an unknown rank|host.stop { rank = 7 }|f: no rank 7: the job has ranks 0 to 1
c08: an unknown host|host.freeze { host = "h9" }|f: no host 'h9' (did you mean 'h0'?)
a bare number for a duration|host.stop { rank = 1, duration = 2 }|duration: 2 is no duration: write "2s", say
a bare number for a trigger|host.stop { rank = 1, at = at.time(5) }|at.time: 5 is no duration: write "5s", say
a text for a step|host.stop { rank = 1, at = at.step("20") }|at.step: a whole number is wanted, not the text "20"
a duration of what is one act|host.kill { rank = 1, duration = "1s" }|host.kill: no duration: it is one act
an unknown collective|host.stop { rank = 1, at = at.step(5):inside "allredcue" }|:inside: unknown call 'allredcue', did you mean 'allreduce'?
TABLE
for wrong in 'tp=2|layout: tp above 1: not yet' 'dp=3|layout: dp=3 needs 3 ranks'; do
	job="workload.train { ranks = 2, layout = \"${wrong%%|*}\" }"
	scenario wrong 'host.stop { rank = 1 }'
	refused "layout ${wrong%%|*} of two ranks" 2 \
		"wrong.lua:5: workload.train: ${wrong#*|}" $(run "$WORK/wrong.lua")
done
job=
scenario wrong 'host.stop { rank = 1 }' 'tags = 3,'
refused "tags that are no text" 2 "wrong.lua:9: tags: a text or a list" \
	$(run "$WORK/wrong.lua")
for wrong in 'netns { hosts = 100000 }|must be a number from 1 to 250, not 100000' \
	'local_ { hosts = 200, spares = 51 }|are 251 together: lab local has at most 250'; do
	printf 'return scenario {\n  name = "x",\n  lab = lab.%s }\n' \
		"${wrong%%|*}" >"$WORK/away.lua"
	refused "a lab.${wrong%%|*}" 2 "away.lua:3: lab.${wrong%% *}: 'hosts'" \
		$(run "$WORK/away.lua")
	tr -s ' \n' ' ' <"$WORK/err" | grep -qF "${wrong#*|}" &&
		pass "${wrong%%|*}: the limit is said" ||
		fail "${wrong%%|*}: the limit is said" "$(cat "$WORK/err")"
done
printf 'return scenario {\n  name = "x",\n  lab = lab.auto { hosts = -2 } }\n' \
	>"$WORK/away.lua"
refused "a lab of -2 hosts" 2 "away.lua:3: lab.auto: 'hosts' must be" \
	$(run "$WORK/away.lua")
scenario fine 'host.stop { rank = 1, at = at.step(9000) }'
refused "an unknown parameter of the scenario" 2 "fine.lua:1: -p nope" \
	$(run -p nope=1 "$WORK/fine.lua")

# ---- lab files ----
printf 'provider: local\nhosts: [1, 2\n' >"$WORK/lab.yaml"
refused "a lab file that is no YAML" 2 "lab.yaml:3: " \
	$(run --lab "$WORK/lab.yaml" "$WORK/fine.lua")
printf 'provider: local\nhost: 4\n' >"$WORK/lab.yaml"
refused "a lab file with an unknown field" 2 "lab.yaml:2: a lab has no 'host'" \
	$(run --lab "$WORK/lab.yaml" "$WORK/fine.lua")
printf '\377\376\000' >"$WORK/lab.yaml"
refused "a lab file of bytes" 2 "lab.yaml:1: " \
	$(run --lab "$WORK/lab.yaml" "$WORK/fine.lua")
refused "a lab file that is not there" 2 "nowhere.yaml" \
	$(run --lab "$WORK/nowhere.yaml" "$WORK/fine.lua")

refused "a lab that is no provider" 2 "no provider 'netn', did you mean 'netns'?" \
	$(run --lab netn "$WORK/fine.lua")

# ---- scripts that run away ----
while IFS='|' read -r name body words; do
	printf '%s\n%s\nreturn {}\n' "-- $name" "$body" >"$WORK/away.lua"
	refused "$name" 2 "away.lua:$words" $(run "$WORK/away.lua")
done <<'TABLE'
a scenario that loops for ever|while true do end|2: the script ran 100 million instructions
a loop that pcall protects|while true do pcall(function() while true do end end) end|2: the script ran 100 million
a scenario that recurses|local function f() return 1 + f() end f()|2: stack overflow
a scenario that eats memory|local t = {} for i = 1, 1e9 do t[i] = ("x"):rep(1e6) .. i end| the script wanted more than 96 MiB
TABLE

# ---- a second drill on the same lab ----
lab=bad-input-$$
scenario first 'host.stop { rank = 1, at = at.step(9000) }'
lab=
"$FD" run --out "$WORK/first" --state "$WORK/state" "$WORK/first.lua" \
	>"$WORK/first.text" 2>&1 </dev/null &
first=$!
wait_for 60 grep -q 'fault: attempt 1' "$WORK/first.text" ||
	fail "the first drill runs" "$(tail -3 "$WORK/first.text")"
"$FD" run --out "$WORK/out" --state "$WORK/state" "$WORK/first.lua" \
	>"$WORK/text" 2>"$WORK/err" </dev/null
is "a second drill on the same lab is refused" "$?" 3
grep -q "is in use by a drill (pid $first)" "$WORK/err" &&
	pass "the second drill names the first" ||
	fail "the second drill names the first" "$(cat "$WORK/err")"
kill -0 $first 2>/dev/null && pass "the first drill goes on" ||
	fail "the first drill goes on" "it ended"
kill -INT $first
wait $first
is "the first drill ends as it was told" "$?" 6
is "no record is open after both" \
	"$("$FD" heal --list --state "$WORK/state" 2>&1)" "nothing to heal"

# ---- no room for the journal ----
if [ "$(id -u)" -eq 0 ] && unshare -m true 2>/dev/null; then
	mkdir "$WORK/tiny"
	scenario tiny 'host.stop { rank = 1, at = at.step(5) }'
	# The tmpfs is full before the drill begins.
	bad "no room for the journal" 3 "no room for the undo records" \
		unshare -m sh -c 'mount -t tmpfs -o size=16k none "$1" &&
		{ dd if=/dev/zero of="$1/full" bs=1k count=64 2>/dev/null; true; } &&
		exec "$2" run --out "$3" --state "$1" "$4"' sh "$WORK/tiny" "$FD" \
		"$WORK/full" "$WORK/tiny.lua"
	is "no room for the journal: nothing was applied" \
		"$(cat "$WORK"/full/*/events.jsonl 2>/dev/null | grep -c 'fault.issued')" 0
else
	skip "no room for the journal" "needs root for a mount namespace"
fi

# ---- a missing package ----
# What deps.sh sees: no dpkg-query, no tool, and that we are not root.
mkdir "$WORK/path"
for t in grep fmt sed; do
	ln -sf "$(command -v $t)" "$WORK/path/$t"
done
printf '#!/bin/sh\necho 1000\n' >"$WORK/path/id" && chmod +x "$WORK/path/id"
env -i PATH="$WORK/path" /bin/sh harness/deps.sh build >"$WORK/text" 2>"$WORK/err"
is "missing packages end as a skip" "$?" 4
grep -q 'libuv1-dev' "$WORK/err" && grep -q 'packages are missing' "$WORK/err" &&
	pass "the missing packages are listed" ||
	fail "the missing packages are listed" "$(cat "$WORK/err")"

# ---- an agent of another build ----
id=$("$FD" --version | cut -d' ' -f2)
sed "s/${id##*+}/0123456789abcdef/g" "$BUILD/faultdrill-agent" >"$WORK/agent"
chmod +x "$WORK/agent"
refused_by_build() { find "$WORK/other" -name events.jsonl -exec grep -l step.begin {} +; }
bad "an agent of another build" 3 "is of another build (" \
	env FAULTDRILL_AGENT="$WORK/agent" "$FD" run --out "$WORK/other" \
	--state "$WORK/state" "$WORK/fine.lua"
is "an agent of another build: no job was started" "$(refused_by_build)" ""

# ---- a rank without the hook ----
job='workload.command { command = { "env", "-u", "LD_PRELOAD", "sleep", "3" }, ranks = 2 }'
scenario unhooked 'collective.hang { rank = 1, at = at.time "1s" }'
job=
bad "a rank without the hook" 6 "rank 1 runs without the hook" \
	"$FD" run --out "$WORK/unhooked" --state "$WORK/state" "$WORK/unhooked.lua"

# ---- a job that fails of itself ----
job='workload.command { command = { "sh", "-c", "echo no flour >&2; exit 3" }, ranks = 2 }'
scenario broke 'host.kill { rank = 1, at = at.time "9s" }'
sed -i 's/baseline = 0/baseline = 1/' "$WORK/broke.lua"
job=
bad "a job that fails says why" 6 ": no flour" \
	"$FD" run --out "$WORK/broke" --state "$WORK/state" "$WORK/broke.lua"
is "its logs are kept" \
	"$(cat "$WORK"/broke/latest/collect/trial-1/rank0.a1.log)" "no flour"
finish
