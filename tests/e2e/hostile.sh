#!/bin/bash
# hostile.sh - damaged journals and lab files through the whole program: a clear word, never a crash
# SPDX-License-Identifier: MIT
#
# What is damaged is drawn from HOSTILE_SEED (printed; default: fixed).
cd "$(dirname "$0")/../.." && . tests/support/e2e.sh

RANDOM=${HOSTILE_SEED:-11}
echo "damage drawn from seed ${HOSTILE_SEED:-11}"

# ends NAME STATUSES COMMAND...: one of these, soon, with a word when it is not 0
ends()
{
	name=$1 wanted=$2
	shift 2
	timeout -k 2 20 "$@" >"$WORK/text" 2>&1 </dev/null
	rc=$?
	case " $wanted " in
	*" $rc "*) ;;
	*) wrong="$wrong; $name: status $rc: $(head -c 200 "$WORK/text")" ;;
	esac
	[ $rc -eq 0 ] || [ -s "$WORK/text" ] || wrong="$wrong; $name: status $rc and no word"
	count=$((count + 1))
}
# none NAME: nothing was wrong since begin
begin() { wrong= count=0; }
none() { is "$1 ($count times)" "$wrong" ""; }
# flip FILE N: so many of its bytes are others
flip()
{
	perl -e 'my ($f, $n, $seed) = @ARGV; srand $seed;
		open my $h, "+<:raw", $f or die; my $size = -s $h;
		for (1..$n) { seek $h, int rand $size, 0; print $h chr int rand 256 }' \
		"$1" "$2" "$RANDOM"
}

# ---- journals ----
# A real one with open records: of a drill whose controller is killed.
cat >"$WORK/one.lua" <<-LUA
	return scenario {
	  name      = "one",
	  lab       = lab.local_ { hosts = 1 },
	  workloads = { job = workload.command { command = { "sleep", "60" }, ranks = 1 } },
	  faults    = { still = host.stop { rank = 0, at = at.time "100ms" } },
	  trials    = { baseline = 0, null = 0, fault = 1 },
	}
	LUA
"$FD" run --out "$WORK/out" --state "$WORK/state" "$WORK/one.lua" >"$WORK/run" 2>&1 </dev/null &
pid=$!
wait_for 40 grep -q 'is in force' "$WORK/run" || fail "a drill leaves records" "$(cat "$WORK/run")"
mkdir "$WORK/kept" && cp -r "$WORK/state/journal" "$WORK/kept/"
kill -9 $pid
wait $pid 2>/dev/null
wait_for 20 "$FD" heal --state "$WORK/state"
is "the drill's own records are healed" "$?" 0
is "there are journals to damage" "$(ls "$WORK/kept/journal" | wc -l)" 2

again() { rm -rf "$WORK/bad" && cp -r "$WORK/kept" "$WORK/bad"; }
heal() { ends "$1" "0 3 5" "$FD" heal --list --state "$WORK/bad"; ends "$1" "0 3 5" "$FD" heal --state "$WORK/bad"; }
begin
for i in $(seq 12); do
	again
	for j in "$WORK/bad/journal/"*; do flip "$j" $((1 + RANDOM % 40)); done
	heal "flipped bytes, $i"
done
none "heal survives flipped bytes"
begin
for n in 0 1 7 100 4095 4096 4097 8192 100000; do
	again
	for j in "$WORK/bad/journal/"*; do truncate -s $n "$j"; done
	heal "cut to $n bytes"
done
none "heal survives journals that are cut"
begin
again
for j in "$WORK/bad/journal/"*; do head -c 300000 /dev/urandom >"$j"; done
heal "noise"
again
for j in "$WORK/bad/journal/"*; do tr '0-9' '9' <"$j" >"$WORK/x" && cat "$WORK/x" >"$j"; done
heal "all digits are nines"
again
for j in "$WORK/bad/journal/"*; do rm "$j" && mkdir "$j"; done
heal "folders in their place"
again
for j in "$WORK/bad/journal/"*; do ln -sf "$j" "$j.journal"; ln -sfn loop.journal "$WORK/bad/journal/loop.journal"; done
heal "links that lead round"
again
for j in "$WORK/bad/journal/"*; do rm "$j" && mkfifo "$j"; done
heal "pipes in their place"
rm -rf "$WORK/bad" && : >"$WORK/bad"
heal "a file for a state folder"
none "heal survives what is no journal"
rm -rf "$WORK/bad"

# One slot of a record damaged: never skipped in silence, told as torn.
again
for j in "$WORK/bad/journal/"*; do printf 'X' | dd of="$j" bs=1 seek=4200 conv=notrunc 2>/dev/null; done
"$FD" heal --list --state "$WORK/bad" >"$WORK/text" 2>&1
is "a damaged record is dirty" "$?" 5
grep -q '^torn' "$WORK/text" && pass "and told as torn" || fail "and told as torn" "$(cat "$WORK/text")"
again
flip "$WORK/bad/journal/$(ls "$WORK/bad/journal" | head -1)" 3000
"$FD" run --out "$WORK/out2" --state "$WORK/bad" "$WORK/one.lua" >"$WORK/text" 2>&1 </dev/null
is "no drill begins on damaged records" "$?" 5
is "and none was run" "$(ls "$WORK/out2" 2>/dev/null)" ""

# ---- lab files ----
sed 's/"sleep", "60"/"true"/' "$WORK/one.lua" >"$WORK/short.lua"
# refused NAME TEXT: the file is named, with a line
refused()
{
	printf -- "$2" >"$WORK/bad.yaml"
	ends "$1" 2 "$FD" run --lab "$WORK/bad.yaml" --out "$WORK/out3" --state "$WORK/state" "$WORK/short.lua"
	grep -q "bad.yaml:[0-9]*: " "$WORK/text" || wrong="$wrong; $1: no file and line: $(cat "$WORK/text")"
}
begin
refused "a list" '- a\n- b\n'
refused "a word" 'netns\n'
refused "two documents" 'provider: local\n---\nprovider: netns\n'
refused "a key twice" 'provider: local\nhosts: 2\nhosts: 3\n'
refused "no hosts" 'provider: local\nhosts: 0\n'
refused "fewer than no hosts" 'provider: local\nhosts: -4\n'
refused "a million hosts" 'provider: local\nhosts: 1000000\n'
refused "more hosts than a number has room for" 'provider: local\nhosts: 99999999999999999999999\n'
refused "hosts in words" 'provider: local\nhosts: four\n'
refused "half a host" 'provider: local\nhosts: 1.5\n'
refused "a name that leads out" 'provider: local\nhosts: 2\nname: ../../etc\n'
refused "a tab" 'provider: local\n\thosts: 2\n'
refused "an anchor on itself" 'provider: local\ndomains: &a [*a, *a]\n'
refused "nothing behind it" 'provider: local\nhosts:\n'
refused "control characters" 'provider: local\nhosts: "\\x01\\x02"\n'
none "a lab file that is wrong is refused at its line"
{ printf 'provider: local\ndomains: '; printf '[%.0s' $(seq 20000); } >"$WORK/deep.yaml"
{ printf 'provider: local\nname: '; head -c 3000000 /dev/zero | tr '\0' a; } >"$WORK/long.yaml"
{ printf 'a: &a [x,x,x,x,x,x,x,x,x]\n'; p=a; for k in b c d e f g h i; do
	printf '%s: &%s [*%s,*%s,*%s,*%s,*%s,*%s,*%s,*%s]\n' $k $k $p $p $p $p $p $p $p $p; p=$k; done
} >"$WORK/bomb.yaml"
begin
for f in deep long bomb; do
	ends "$f" 2 "$FD" plan --lab "$WORK/$f.yaml" "$WORK/short.lua"
done
none "a lab file that wants too much is refused"
begin
cat >"$WORK/good.yaml" <<-END
	provider: local
	hosts: 4
	spares: 1
	devices: 2
	domains:
	  rack:
	    a: [h0, h1]
	    b: [h2, h3]
	END
ends "the file before its damage" 0 "$FD" plan --lab "$WORK/good.yaml" "$WORK/short.lua"
for i in $(seq 40); do
	cp "$WORK/good.yaml" "$WORK/flip.yaml"
	flip "$WORK/flip.yaml" $((1 + RANDOM % 4))
	ends "flipped bytes, $i" "0 2 4" "$FD" plan --lab "$WORK/flip.yaml" "$WORK/short.lua"
done
none "plan survives lab files with flipped bytes"
finish
