#!/bin/bash
# kmsg.sh - Xid lines reach the machine's own kernel log on request only, and never from lab netns
# SPDX-License-Identifier: MIT
#
# A file of ours lies over /dev/kmsg, in a mount namespace of our own.
cd "$(dirname "$0")/../.." && . tests/support/e2e.sh

P=$PWD/$BUILD/tests/programs
alarm='device.alarm { code = 63 }'
: >"$WORK/kmsg"
inside() {
	WORK=$WORK unshare -m sh -c 'mount --bind "$WORK/kmsg" /dev/kmsg || exit 77; exec "$@"' sh \
		timeout -k 5 60 "$@" >"$WORK/text" 2>"$WORK/err" </dev/null
}
ex() { inside "$FD" exec --state "$WORK/state" "$@" -- "$P/cuda_linked" --nap 50; }

inside true
if [ $? -ne 0 ]; then
	skip "the kernel's own log" "needs root, to put a file over /dev/kmsg"
	finish
fi

ex --fault "$alarm"
is "without a request: exec ends as its command" "$?" 0
is "without a request: nothing is said there" "$(cat "$WORK/kmsg")" ""
ex --kmsg --fault "$alarm"
is "on request: exec ends as its command" "$?" 0
is "on request: the line, as a program of the kernel's log finds it" \
	"$(grep -c '^<3>NVRM: NVRM: Xid (PCI:0000:10:00): 63, ' "$WORK/kmsg")" 1
is "on request: nothing else" "$(grep -c . "$WORK/kmsg")" 1

scenario() { # LAB
	cat >"$WORK/s.lua" <<-LUA
	return scenario {
	  name      = "a line for everybody",
	  lab       = lab.$1 { hosts = 1 },
	  workloads = { job = workload.train { ranks = 1, steps = 30 } },
	  faults    = { f = device.alarm { code = 63, rank = 0, at = at.step(4) } },
	  trials    = { baseline = 1, null = 0, fault = 1 },
	}
	LUA
}
: >"$WORK/kmsg"
scenario netns
inside "$FD" run --kmsg --out "$WORK/runs" --state "$WORK/state" "$WORK/s.lua"
is "lab netns: refused" "$?" 2
grep -q 'never to the kernel.s log in lab netns' "$WORK/err" && pass "lab netns: the words" ||
	fail "lab netns: the words" "$(cat "$WORK/err" "$WORK/text")"
scenario local_
inside "$FD" run --kmsg --allow contained --out "$WORK/runs" --state "$WORK/state" "$WORK/s.lua"
is "a risk below: refused" "$?" 2
is "refused: nothing is said there" "$(cat "$WORK/kmsg")" ""
inside "$FD" run --kmsg --out "$WORK/runs" --state "$WORK/state" "$WORK/s.lua"
is "lab local: passes" "$?" 0
is "lab local: the line" "$(grep -c 'Xid (PCI:0000:10:00): 63, ' "$WORK/kmsg")" 1
grep -q -- '--kmsg' "$WORK/text" && pass "lab local: the line that repeats it asks for it, too" ||
	fail "lab local: the line that repeats it asks for it, too" "$(tail -3 "$WORK/text")"
finish
