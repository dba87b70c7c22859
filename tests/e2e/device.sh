#!/bin/bash
# device.sh - faults of devices fire exactly where they were asked to, and are told as what they are
# SPDX-License-Identifier: MIT
#
# c12: a scenario that asserts recovery from a mere signal is refused, one that
# asserts an alarm is not. c19: the same Xid before, inside and after an
# all-reduce gives three distinguishable incidents. c20: a launch that comes
# again after a rollback meets the fault once, n times or every time, and no
# progress is called livelock. c21: a fault that is armed on a device that nobody
# uses never fires: inconclusive, with the host that held it.
cd "$(dirname "$0")/../.." && . tests/support/e2e.sh

# scenario NAME FAULT [EXTRA-FIELDS [HOSTS]]
scenario()
{
	cat >"$WORK/$1.lua" <<-LUA
	--- $1.
	return scenario {
	  name      = "$1",
	  lab       = lab.local_ { ${4:-hosts = 2}, devices = 1 },
	  workloads = { job = workload.train { ranks = 2, steps = 30, checkpoint_every = 10, watchdog = "4s" } },
	  faults    = { f = $2 },
	  trials    = { baseline = 1, null = 0, fault = 1 },
	  deadline  = "60s",
	  ${3:-}
	}
	LUA
}

drill()
{
	scenario "$@"
	timeout -k 5 150 "$FD" run --out "$WORK/$1" --state "$WORK/state" "$WORK/$1.lua" \
		>"$WORK/$1.text" 2>&1 </dev/null
}

run_of() { find "$WORK/$1" -name run.json | head -1; }
events_of() { find "$WORK/$1" -name events.jsonl | head -1; }
refused() { # NAME WORDS
	"$FD" check "$WORK/$1.lua" >"$WORK/text" 2>&1
	is "$1: check refuses it" "$?" 2
	grep -qE -- "$2" "$WORK/text" && pass "$1: the words" ||
		fail "$1: the words" "no '$2' in: $(cat "$WORK/text")"
}
accepted() { "$FD" check "$WORK/$1.lua" >"$WORK/text" 2>&1; is "$1: check takes it" "$? $(grep -i error "$WORK/text")" "0 "; }

# ---- c12: a signal is not a failure ----
recovers='expect = { { "f.time_to_resume", "<", "9s" } },'
scenario c12-xid-signal 'device.xid { code = 79, form = "signal", rank = 1, at = at.step(9) }' "$recovers"
refused c12-xid-signal 'signal|telemetry|alarm'
scenario c12-alarm 'device.alarm { code = 79, rank = 1, at = at.step(9) }' "$recovers"
refused c12-alarm 'signal|telemetry|alarm'
scenario c12-alarm-is-heard 'device.alarm { code = 79, rank = 1, at = at.step(9) }' \
	'expect = { { "f.time_to_detect", "<", "5s" } },'
accepted c12-alarm-is-heard
scenario c12-xid 'device.xid { code = 79, rank = 1, at = at.step(9) }' "$recovers"
accepted c12-xid

# ---- bad input, before anything starts ----
while IFS='|' read -r name fault words; do
	scenario "$name" "$fault"
	refused "$name" "$words"
done <<'TABLE'
an-unknown-xid|device.xid { code = 47, rank = 1 }|47: no such Xid is known; the nearest is 4[68] 
an-effect-of-none|device.xid { code = 63, form = "effect", rank = 1 }|63 has no effect
no-such-device|device.xid { code = 48, device = 2 }|no device 2.* 0 to 1
no-such-gpu|device.xid { code = 48, device = "h1/gpu4" }|h1/gpu4.*gpu0
no-such-peer|device.xid { code = 74, rank = 1, peer = 9 }|peer = 9: a host has devices 0 to
no-such-rank|device.hang { rank = 9 }|no rank 9
no-such-call|device.call { call = "cuMemAlocate", error = 2, rank = 0 }|cuMemAlocate
TABLE
scenario two-slow 'device.slow { rank = 1, factor = 2 },
	    g = device.slow { rank = 1, factor = 3 }'
refused two-slow 'f and g: .*do not compose'
scenario two-apart 'device.slow { rank = 1, factor = 2 }, g = device.slow { rank = 0, factor = 3 },
	    h = device.hang { rank = 1, at = at.step(20) }'
accepted two-apart

scenario of-a-host 'device.hang { host = "h1" }'
sed -i 's/devices = 1/devices = 2/' "$WORK/of-a-host.lua"
"$FD" plan --format json "$WORK/of-a-host.lua" >"$WORK/plan.json"
is "a host is the devices of it that ranks use" \
	"$(grep -o '"h1/gpu[0-9]"' "$WORK/plan.json" | sort -u | tr '\n' ' ')" '"h1/gpu0" '

# ---- c19 ----
for where in before inside after; do
	drill c19-$where "device.xid { code = 48, rank = 1, at = at.step(15):$where \"allreduce\" }" \
		'expect = { { "f.time_to_detect", "<", "9s" }, { "job.final_state", "==", "baseline" } },'
	is "c19 $where: passes" "$?" 0
	[ -f "$(run_of c19-$where)" ] || { tail -5 "$WORK/c19-$where.text"; continue; }
	truth "c19 $where: the evidence names the place and step 15" "$(events_of c19-$where)" \
		'r.some(e => e.kind === "fault.effective") && r.filter(e => e.kind === "fault.effective").every(e =>
		e.evidence.where === "'$where'" && e.evidence.step === 15)'
done
truth "c19 inside: the peers were blocked in the call" "$(events_of c19-inside)" \
	'r.filter(e => e.kind === "fault.effective").every(e => e.evidence.peers_entered >= 1)'
truth "c19 before: the target had not entered" "$(events_of c19-before)" \
	'r.filter(e => e.kind === "fault.effective").every(e => e.evidence.entered === false)'
truth "c19 after: the target had left" "$(events_of c19-after)" \
	'r.filter(e => e.kind === "fault.effective").every(e => e.evidence.left === true)'
truth "the device's error is the framework's word, with its name" "$(events_of c19-after)" \
	'r.some(e => e.kind === "detected" && e.by === "framework" && /^cu.*: ECC_UNCORRECTABLE/.test(e.what))'

# ---- c20 ----
xid='device.xid { code = 48, rank = 1, at = at.step(15)'
drill c20-again "$xid, refire = 2 }"
truth "c20: refire = 2 fires twice, then the job ends" "$(run_of c20-again)" \
	'r.trials.filter(t => t.role === "fault").every(t =>
	t.incidents.reduce((n, i) => n + i.occurrences, 0) === 2 && t.finished !== false)'
drill c20-ever "$xid, refire = \"every_attempt\" }"
truth "c20: refire on every attempt ends as livelock" "$(run_of c20-ever)" \
	'r.trials.filter(t => t.role === "fault").every(t => t.livelock === true &&
	t.incidents.some(i => i.outcome === "livelock"))'

# ---- a lasting fault follows its rank to a spare, or stays where it was ----
for follow in rank host device; do
	drill follow-$follow "device.slow { rank = 1, factor = 3, follow = \"$follow\", at = at.step(5) },
		gone = device.xid { code = 79, rank = 1, at = at.step(15) }" "" "hosts = 2, spares = 1"
	truth "follow = $follow: on the spare it is $([ $follow = rank ] && echo "in force again" || echo "not")" \
		"$(events_of follow-$follow)" 'r.some(e => e.kind === "step.begin" && e.rank === 1 && e.host === "h2") &&
		r.some(e => e.kind === "fault.effective" && e.fault === "f" && e.host === "h2") === ("'$follow'" === "rank")'
done

# ---- c21 ----
drill c21-spare 'device.xid { code = 48, device = "h2/gpu0", at = at.launch("adamw", 3) }' "" "hosts = 2, spares = 1"
is "c21: a fault on a device that nobody uses is inconclusive" "$?" 6
grep -q 'h2' "$WORK/c21-spare.text" && pass "c21: the host that held it is named" ||
	fail "c21: the host that held it is named" "$(grep -i inconcl -A3 "$WORK/c21-spare.text")"

# ---- faults of other kinds at a call, and their null trial there too ----
scenario at-a-launch 'host.kill { rank = 1, at = at.launch("adamw", 12) },
	    g = collective.delay { rank = 0, delay = "5ms", at = at.call("cuMemAlloc") }'
sed -i 's/null = 0/null = 1/' "$WORK/at-a-launch.lua"
timeout -k 5 150 "$FD" run --out "$WORK/at-a-launch" --state "$WORK/state" "$WORK/at-a-launch.lua" \
	>"$WORK/at-a-launch.text" 2>&1 </dev/null
is "at.launch of host.kill: passes" "$?" 0
truth "at.launch of host.kill: at the twelfth launch, before its step ends" "$(events_of at-a-launch)" \
	'r.filter(e => e.kind === "fault.effective" && e.fault === "f").every(e =>
	e.evidence.call === "cuLaunchKernel" && e.evidence.nth === 12) &&
	Math.max(...r.filter(e => e.kind === "step.end" && e.trial === 2 && e.rank === 1 && e.attempt === 1).map(e => e.step)) === 11'
truth "at.launch of host.kill: the null trial is disturbed at the same call" "$(events_of at-a-launch)" \
	'[1, 2].every(n => ["f", "g"].every(f => r.some(e => e.trial === n && e.kind === "fault.effective" &&
	e.fault === f && e.evidence.call && e.evidence.by_pid > 0)))'

"$FD" heal --list --state "$WORK/state" >"$WORK/heal" 2>&1
is "the journal holds nothing" "$?" 0

# ---- the scenarios: each loads, says what it is, and two of them run ----
for f in scenarios/device/*.lua; do
	"$FD" check "$f" >"$WORK/text" 2>&1
	is "$(basename "$f" .lua): check takes it" "$?" 0
done
if [ "$(id -u)" -ne 0 ]; then
	skip "scenarios of devices run" "needs root for the lab in namespaces"
	finish
fi
for name in lost_in_allreduce silent_corruption; do
	timeout -k 5 150 "$FD" run --out "$WORK/$name" --state "$WORK/state" \
		scenarios/device/$name.lua >"$WORK/$name.text" 2>&1 </dev/null
	is "scenario $name passes" "$?" 0
	truth "scenario $name: every rank had the proxy and nothing went past it" "$(run_of $name)" \
		'r.trials.every(t => (t.proxies || []).every(p => p.bypassed === 0))'
done
finish
