#!/bin/bash
# report_cli.sh - the numbers of a run again, from its events alone
# SPDX-License-Identifier: MIT
cd "$(dirname "$0")/../.." && . tests/support/e2e.sh

# Every number of the worked examples, as the program prints it. Instants are
# bare times in the examples and objects in the results.
compare='
const fs = require("fs"), [want, got] = process.argv.slice(1, 3)
	.map((f) => JSON.parse(fs.readFileSync(f)));
let numbers = 0;
const wrong = [];
function same(at, w, g) {
	if (at.match(/\.instants\.\w+$/) && g && typeof g === "object")
		g = g.t_s;
	if (typeof w === "number") {
		numbers++;
		if (typeof g !== "number" || Math.abs(w - g) >
				Math.max(0.002, 0.001 * Math.abs(w)))
			wrong.push(`${at} is ${g}, not ${w}`);
	} else if (w && typeof w === "object") {
		if (Array.isArray(w) && (!Array.isArray(g) ||
				w.length !== g.length))
			wrong.push(`${at} has another length`);
		else
			for (const k of Object.keys(w))
				same(`${at}.${k}`, w[k], g ? g[k] : undefined);
	} else if (w !== g) {
		wrong.push(`${at} is ${g}, not ${w}`);
	}
}
same("", want, got);
if (numbers < 40)
	wrong.push(`only ${numbers} numbers were compared`);
console.log(wrong.slice(0, 3).join("; "));
process.exit(wrong.length ? 1 : 0);'

cases=0
for events in tests/data/measuring/*.events.jsonl; do
	name=$(basename "$events" .events.jsonl)
	cases=$((cases + 1))
	"$FD" report --from-events "$events" --format json >"$WORK/got" \
		2>"$WORK/err" </dev/null
	rc=$?
	if ! command -v node >/dev/null; then
		skip "example $name" "needs nodejs"
		continue
	fi
	if [ $rc -ne 0 ]; then
		fail "example $name is reproduced" "status $rc: $(cat "$WORK/err")"
	elif why=$(node -e "$compare" "${events%.events.jsonl}.expected.json" \
			"$WORK/got"); then
		pass "example $name is reproduced"
	else
		fail "example $name is reproduced" "$why"
	fi
done
for empty in "" '{"kind": "log", "t_s": 1, "source": "drill", "text": "x"}' \
	"no events at all"; do
	printf '%s' "${empty:+$empty
}" >"$WORK/empty"
	"$FD" report --from-events "$WORK/empty" >"$WORK/got" 2>"$WORK/err" \
		</dev/null
	is "events that are none are refused (${empty:-empty file})" \
		"$? $(wc -c <"$WORK/got") $(grep -c "$WORK/empty" "$WORK/err")" \
		"2 0 1"
done
is "there are twelve examples" "$cases" 12

# The comparison can fail.
if command -v node >/dev/null; then
	sed 's/"wall_s": [0-9.]*/"wall_s": 1.0/' "$WORK/got" >"$WORK/false"
	if node -e "$compare" \
		tests/data/measuring/12-truncated.expected.json "$WORK/false" \
		>/dev/null; then fail "a false number is seen" "it was not"
	else pass "a false number is seen"; fi
fi

# A run's folder: the reports are made again, and say the same.
dir=$WORK/run
mkdir "$dir"
cat >"$dir/run.json" <<-'END'
	{"schema": "faultdrill.run/1", "id": "example", "seed": 1,
	 "scenario": "a rank is killed", "outcome": "pass",
	 "spec": {"name": "a rank is killed", "file": "example.lua", "line": 1,
	  "lab": {"provider": "netns", "hosts": 4, "devices": 1, "spares": 0},
	  "trials": {"baseline": 1, "fault": 1, "null": 0},
	  "workloads": {"job": {"kind": "train", "ranks": 4, "steps": 30,
	   "checkpoint_every": 10}},
	  "faults": {"kill": {"name": "kill", "injector": "host.kill",
	   "args": {}, "target": {"kind": "rank", "is": [3]}, "line": 2,
	   "at": {"on": "step", "steps": [16]}}},
	  "deadline": "1min", "story": 0,
	  "expect": [["kill.time_to_detect", "<", "500ms"],
	   ["kill.time_to_resume", "<", "30s"]]}}
	END
cp tests/data/measuring/01-restart.events.jsonl "$dir/events.jsonl"
"$FD" report --html "$dir" >"$WORK/text" 2>"$WORK/err" </dev/null
rc=$?
case $rc in
0 | 1 | 6) pass "the folder of a run is reported again" ;;
*) fail "the folder of a run is reported again" "status $rc: $(cat "$WORK/err")" ;;
esac
for f in report.html run.json junit.xml; do
	if [ -s "$dir/$f" ]; then pass "$f is written again"
	else fail "$f is written again" "it is not there"; fi
done
if grep -q 'id="ranks"' "$dir/report.html" &&
	grep -q 'class="lane"' "$dir/report.html"; then
	pass "the page has the lanes of the ranks"
else
	fail "the page has the lanes of the ranks" "no lane in report.html"
fi
cp "$dir/run.json" "$WORK/first"
"$FD" report --html "$dir" >"$WORK/again" 2>/dev/null </dev/null
if cmp -s "$WORK/first" "$dir/run.json" && cmp -s "$WORK/text" "$WORK/again"
then pass "a second time gives the same bytes"
else fail "a second time gives the same bytes" "they differ"; fi
if grep -q "$(printf '\033')" "$WORK/text"; then
	fail "no colour in a file" "an escape sequence is in it"
else
	pass "no colour in a file"
fi

mkdir "$dir/report.html.tmp"
"$FD" report --html "$dir" >"$WORK/text" 2>"$WORK/err" </dev/null
is "a page that cannot be written is an error" "$?" 3
grep -q 'report.html: cannot make' "$WORK/err" &&
	pass "and named" || fail "and named" "$(cat "$WORK/err")"
rmdir "$dir/report.html.tmp"

# Bad input: one clear message, status 2, nothing else.
bad() {
	name=$1 word=$2
	shift 2
	"$FD" report "$@" >"$WORK/text" 2>"$WORK/err" </dev/null
	rc=$?
	if [ $rc -eq 2 ] && [ ! -s "$WORK/text" ] &&
		[ "$(wc -l <"$WORK/err")" -eq 1 ] &&
		grep -q -- "$word" "$WORK/err"; then
		pass "$name is one clear message"
	else
		fail "$name is one clear message" "status $rc: $(cat "$WORK/err")"
	fi
}
bad "a missing file" "no-such-file" --from-events "$WORK/no-such-file"
head -2 tests/data/measuring/01-restart.events.jsonl >"$WORK/torn"
printf '{"kind":\n{}\n' >>"$WORK/torn"
bad "a broken line" "torn:3" --from-events "$WORK/torn"
bad "a folder that is none" "no-such-run" "$WORK/no-such-run"
: >"$WORK/empty"
"$FD" report --from-events "$WORK/empty" >"$WORK/text" 2>"$WORK/err" </dev/null
rc=$?
if [ $rc -lt 128 ]; then pass "no events at all do no harm"
else fail "no events at all do no harm" "status $rc"; fi
finish
