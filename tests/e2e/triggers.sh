#!/bin/bash
# triggers.sh - a fault fires exactly where it was asked to, or the drill says so
# SPDX-License-Identifier: MIT
#
# c19: the same kill before, inside and after an all-reduce gives three
# distinguishable incidents. c20: a step that comes again after a rollback fires
# once, n times or every time, and no progress is called livelock. c21: an armed
# fault that never fires is inconclusive and names the host that held it. c08: a
# rank or host that does not exist is a usage error, and nothing was applied.
cd "$(dirname "$0")/../.." && . tests/support/e2e.sh

# drill NAME FAULT [EXTRA-FIELDS]: writes and runs a scenario; the exit status
drill()
{
	cat >"$WORK/$1.lua" <<-LUA
	--- $1.
	return scenario {
	  name      = "$1",
	  lab       = lab.local_ { hosts = 2 },
	  workloads = { job = workload.train { ranks = 2, steps = 60, checkpoint_every = 15 } },
	  faults    = { f = $2 },
	  trials    = { baseline = 1, fault = 1 },
	  deadline  = "60s",
	  ${3:-}
	}
	LUA
	timeout -k 5 170 "$FD" run --out "$WORK/$1" --state "$WORK/state" "$WORK/$1.lua" \
		>"$WORK/$1.text" 2>&1 </dev/null
}

run_of() { find "$WORK/$1" -name run.json | head -1; }
events_of() { find "$WORK/$1" -name events.jsonl | head -1; }

for where in before inside after; do
	drill $where "host.kill { rank = 1, at = at.step(30):$where \"allreduce\" }" \
		'expect = { { "f.time_to_detect", "<", "5s" }, { "job.final_state", "==", "baseline" } },'
	is "c19 $where: passes" "$?" 0
	[ -f "$(run_of $where)" ] || { tail -5 "$WORK/$where.text"; continue; }
	truth "c19 $where: the evidence names the place and step 30" "$(events_of $where)" \
		'r.filter(e => e.kind === "fault.effective" && e.trial > 0).every(e =>
		JSON.stringify(e.evidence).includes("'$where'") && JSON.stringify(e.evidence).includes("30"))'
done
truth "c19 inside: the peers were blocked in the call" "$(events_of inside)" \
	'r.filter(e => e.kind === "fault.effective").every(e => e.evidence.peers_entered >= 1)'
truth "c19 before: the target had not entered" "$(events_of before)" \
	'r.filter(e => e.kind === "fault.effective").every(e => e.evidence.entered === false)'
truth "c19 after: the target had left" "$(events_of after)" \
	'r.filter(e => e.kind === "fault.effective").every(e => e.evidence.left === true)'

drill again 'host.kill { rank = 1, at = at.step(20), refire = 2 }'
truth "c20: refire = 2 fires twice, then the job ends" "$(run_of again)" \
	'r.trials.filter(t => t.role === "fault").every(t =>
	t.incidents.reduce((n, i) => n + i.occurrences, 0) === 2 && t.finished !== false)'
drill ever 'host.kill { rank = 1, at = at.step(20), refire = "every_attempt" }'
truth "c20: refire on every attempt ends as livelock" "$(run_of ever)" \
	'r.trials.filter(t => t.role === "fault").every(t => t.livelock === true &&
	t.incidents.some(i => i.outcome === "livelock"))'

drill never 'host.kill { rank = 1, at = at.step(4000) }'
is "c21: a fault that never fires is inconclusive" "$?" 6
grep -q 'h1' "$WORK/never.text" && pass "c21: the host that held it is named" ||
	fail "c21: the host that held it is named" "$(tail -4 "$WORK/never.text")"

drill nobody 'host.kill { rank = 7, at = at.step(20) }'
is "c08: rank 7 of 2 is a usage error" "$?" 2
grep -q 'nobody.lua:6' "$WORK/nobody.text" && pass "c08: file and line are named" ||
	fail "c08: file and line are named" "$(cat "$WORK/nobody.text")"
drill nowhere 'host.freeze { host = "h9", at = at.step(20) }'
is "c08: a host that does not exist is a usage error" "$?" 2
is "c08: the journal is empty" "$(find "$WORK/state" -name '*.rec*' -newer "$WORK/nobody.lua" 2>/dev/null | wc -l)" 0
finish
