#!/bin/bash
# drill.sh - the main job: a real training run is broken, and every number of it is right
# SPDX-License-Identifier: MIT
cd "$(dirname "$0")/../.." && . tests/support/e2e.sh

if [ "$(id -u)" -ne 0 ]; then
	skip "main job" "needs root for the lab in namespaces"
	finish
fi

before=$(snapshot)
began=$(date +%s)
"$FD" run --out "$WORK/out" --state "$WORK/state" scenarios/host/rank_killed.lua \
	>"$WORK/text" 2>"$WORK/err" </dev/null
rc=$?
took=$(($(date +%s) - began))
is "the main job passes" "$rc" 0
[ "$rc" -eq 0 ] || { cat "$WORK/text" "$WORK/err"; }
echo "the main job took $took s"

run=$(find "$WORK/out" -name run.json | head -1)
dir=$(dirname "$run")
report=$(grep -o '[^ ]*report.html' "$WORK/text" | tail -1)
if [ -s "$report" ]; then pass "the summary ends with the path of the report"
else fail "the summary ends with the path of the report" "$(tail -3 "$WORK/text")"; fi
grep -q -- '--seed' "$WORK/text" && pass "the summary says how to repeat the run" ||
	fail "the summary says how to repeat the run" "no --seed in it"

truth "the schema is named" "$run" 'r.schema === "faultdrill.run/1"'
truth "the outcome is pass" "$run" 'r.outcome === "pass"'
truth "every fault trial has its incident" "$run" \
	'r.trials.filter(t => t.role === "fault").every(t => t.incidents.length === 1)'
truth "the launcher or MPI noticed within 2 s, never before the fault" "$run" \
	'r.trials.flatMap(t => t.incidents).every(i => i.injector !== "host.kill" ||
	(i.time_to_detect_s >= 0 && i.time_to_detect_s < 2))'
truth "the killed rank was blamed" "$run" \
	'r.trials.filter(t => t.role === "fault").flatMap(t => t.incidents).every(i => i.blame_correct === true)'
truth "every ledger balances" "$run" \
	'r.trials.every(t => { const l = t.ledger; const s = ["useful","checkpoint","data","stalled",
	"redone","restart","degraded","idle"].reduce((a, k) => a + l[k], 0);
	return Math.abs(s - l.wall_rank_s) <= 0.001 * l.wall_rank_s; })'
truth "a kill costs something, a baseline nothing" "$run" \
	'r.trials.filter(t => t.role === "fault").every(t => t.lost_compute_rank_s > 0 ||
	t.incidents.every(i => i.lost_compute_rank_s > 0))'
truth "the end state equals the baseline bit for bit" "$run" \
	'new Set(r.trials.map(t => JSON.stringify(t.workload.final_state))).size === 1 &&
	r.trials[0].workload.final_state !== null'
truth "every expectation was judged" "$run" \
	'r.expectations.length >= 4 && r.expectations.every(e => typeof e.held === "boolean")'
truth "no event was lost" "$dir/events.jsonl" \
	'r.filter(e => e.kind === "sample" && e.metric === "events.lost" && e.value > 0).length === 0'
truth "every rank began with a pid as seen from outside" "$dir/events.jsonl" \
	'r.filter(e => e.kind === "rank.begin").length >= 4 &&
	r.filter(e => e.kind === "rank.begin").every(e => e.pid > 1)'

truth "every process of the job told its calls and bytes" "$run" \
	'r.trials.every(t => t.hooks.mpi.length >= 4 && t.hooks.mpi.every(p =>
	p.calls.some(c => c.word === "allreduce" && c.calls > 0 && c.bytes > 0)))'
truth "at a detection it was told who waits since when" "$run" \
	'r.trials.filter(t => t.role === "fault").every(t => t.hooks.waits.length > 0 &&
	t.hooks.waits.every(h => h.at.startsWith("detected by ")))'

# The report is a view of the events: made again, it says the same.
cp -r "$dir" "$WORK/again" && rm -f "$WORK/again/report.html"
"$FD" report --html "$WORK/again" >"$WORK/again.text" 2>&1
is "the report is made again from the events" "$?" 0
[ -s "$WORK/again/report.html" ] && pass "report.html is there again" ||
	fail "report.html is there again" "missing"
"$FD" report --from-events "$dir/events.jsonl" --format json >"$WORK/measured.json" 2>"$WORK/err"
is "the numbers follow from the events alone" \
	"$("$Q" "$WORK/measured.json" 'JSON.stringify(r.trials.map(t => t.ledger.wall_rank_s.toFixed(3)))')" \
	"$("$Q" "$run" 'JSON.stringify(r.trials.map(t => t.ledger.wall_rank_s.toFixed(3)))')"

after=$(snapshot)
is "the machine is as it was" "$after" "$before"
"$FD" heal --list --state "$WORK/state" >"$WORK/heal" 2>&1
is "the journal holds nothing" "$?" 0
finish
