#!/bin/bash
# cost.sh - the null test: what a fault costs that is armed and never fires
# SPDX-License-Identifier: MIT
#
# Four baseline trials and four with the armed fault, in turns within one drill;
# exact Mann-Whitney on wall_rank_s (p < 0.05 would be a cost).
cd "$(dirname "$0")/../.." && . tests/support/e2e.sh

what="training under an armed, never-firing fault"
[ "$(id -u)" -eq 0 ] || { skip "$what" "needs root for the lab"; finish; }
"$FD" run --quiet --out "$WORK/out" --state "$WORK/state" \
	scenarios/null/cost.lua >"$WORK/text" 2>&1 </dev/null
rc=$?
run=$(find "$WORK/out" -name run.json | head -1)
[ -f "$run" ] || { fail "$what" "$(tail -3 "$WORK/text")"; finish; }
wall() { # the median of the trials of one role, in rank*s
	"$Q" "$run" "(v => ((v[v.length >> 1] + v[(v.length - 1) >> 1]) / 2).toFixed(2))(
		r.trials.filter(t => t.role === '$1').map(t => t.ledger.wall_rank_s).sort((a, b) => a - b))"
}
p=$("$Q" "$run" 'r.null_test.p === null ? "none" : r.null_test.p.toFixed(3)')
n=$("$Q" "$run" 'r.null_test.n_baseline + " + " + r.null_test.n_null')
floor=$("$Q" "$run" 'r.noise_floor_rank_s.toFixed(2)')
line="p $p of $n trials, medians $(wall baseline) and $(wall null) rank*s, noise floor $floor rank*s"
[ "$rc" -eq 0 ] || "$Q" "$run" '"the drill: " + r.outcome + ": " + (r.reason ||
	r.trials.flatMap(t => t.reasons)[0])'
if "$Q" "$run" 'r.null_test.p >= 0.05' | grep -q true; then
	pass "$what: $line (limit: p not below 0.05)"
else
	fail "$what" "$line (limit: p not below 0.05)"
fi
finish
