#!/bin/bash
# train.sh - the training job learns, checkpoints, and goes on bit for bit
# SPDX-License-Identifier: MIT
set -u
. tests/support/e2e.sh
build=$(cd "${BUILD:-build}" && pwd)
solo=$build/train-solo
dump=$build/tests/programs/ringdump
base=$WORK
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
unset FAULTDRILL_RING FAULTDRILL_STORE FAULTDRILL_ISA

state() { sed -n 's/^state step [0-9]* //p' "$1"; }
fast() { "$solo" --step-time 0s --log-every 10 "$@"; }

t="gradients match finite differences"
if "$solo" --self-test >"$base/self" 2>&1; then pass "$t"
else fail "$t" "$(grep WRONG "$base/self" | head -1)"; fi

t="the loss falls by half"
fast --store "$base/learn" --steps 200 >"$base/out" 2>&1
if awk '/^step 10 / { a = $4 } /^step 200 / { b = $4 }
	END { exit !(b > 0 && b < a / 2) }' "$base/out"; then pass "$t"
else fail "$t" "$(tail -1 "$base/out")"; fi

# Recorded once; every compiler and instruction set must give it again.
want='parameters 327423b9435db7cb optimizer 2dae86a1a4ff0af7'
want="$want sampler 3d421ff03d959a10"
for isa in x86-64 avx2 avx512 generic; do
	t="kernels for $isa give the recorded state"
	FAULTDRILL_ISA=$isa fast --store "$base/isa-$isa" --steps 50 \
		>"$base/out" 2>&1
	got=$(state "$base/out")
	if [ "$got" = "$want" ]; then pass "$t"
	elif grep -q 'NO_BINARY\|FILE_NOT_FOUND' "$base/out"; then
		echo "SKIP $t: not on this machine"
	else fail "$t" "$got $(tail -1 "$base/out")"; fi
done

t="the software device by its own path and by the loader are one"
LD_LIBRARY_PATH=$build/softcuda fast --device real --store "$base/path" \
	--steps 50 >"$base/out" 2>&1
if [ "$(state "$base/out")" = "$want" ]; then pass "$t"
else fail "$t" "$(tail -1 "$base/out")"; fi

t="a device that is not there is told with its call, code and way out"
CUDA_VISIBLE_DEVICES=5 FAULTDRILL_RING=$base/absent.ring fast \
	--store "$base/absent" >"$base/out" 2>&1
rc=$?
if [ $rc -eq 87 ] && grep -q 'cuInit: CUDA_ERROR_NO_DEVICE (100) in init' \
	"$base/out" && grep -q 'is absent (CUDA_VISIBLE_DEVICES=5)' \
	"$base/out" &&
	"$dump" "$base/absent.ring" | grep -q '^detected .* n=0 .*cuInit: NO_'
then pass "$t"
else fail "$t" "$rc $(tail -1 "$base/out")"; fi

# ---- one rank, its checkpoints ----
fast --store "$base/whole" --steps 90 --checkpoint-every 20 >"$base/whole.out"
whole=$(state "$base/whole.out")

t="a rank killed in the middle goes on to the same state"
FAULTDRILL_RING=$base/kill.ring "$solo" --step-time 30ms --store "$base/kill" \
	--steps 90 --checkpoint-every 20 >"$base/out" 2>&1 &
pid=$!
committed() { "$dump" "$1" 2>/dev/null | grep -q "committed step=$2"; }
wait_for 20 committed "$base/kill.ring" 40
kill -9 $pid
wait $pid 2>/dev/null
rc=$?
fast --store "$base/kill" --steps 90 --checkpoint-every 20 >"$base/out" 2>&1
if [ $rc -eq 137 ] && grep -q '^restored step [4-8]0' "$base/out" &&
	[ "$(state "$base/out")" = "$whole" ]; then pass "$t"
else fail "$t" "$(cat "$base/out")"; fi

t="events of a checkpoint come in order"
if "$dump" "$base/kill.ring" | awk '
	/^checkpoint.writing step=20 / { w = NR }
	/^checkpoint.before_rename step=20 / { r = NR }
	/^checkpoint.committed step=20 / { c = NR }
	END { exit !(w && w < r && r < c) }'; then pass "$t"
else fail "$t" "$("$dump" "$base/kill.ring" | grep checkpoint | head -5)"; fi

t="steps say their tokens, samples and loss"
if "$dump" "$base/kill.ring" | grep -q \
	'^step.end step=2 detail=0 n=4 a=128 b=4 f=[0-9.]* '; then pass "$t"
else fail "$t" "$("$dump" "$base/kill.ring" | grep step.end | sed -n 2p)"; fi

# damage NAME FILE HOW EXPECTED : a copy of the finished store with one file
# damaged must restore EXPECTED and end in the same state.
damage() {
	local t=$1 s=$base/damaged file=$2 how=$3 from=$4
	rm -rf "$s" "$base/d.ring"
	cp -r "$base/whole" "$s"
	file=$s/ckpt/$file
	case $how in
	flip) printf '\377' | dd of="$file" bs=1 seek=5000 conv=notrunc \
		2>/dev/null ;;
	cut) truncate -s 3000 "$file" ;;
	tear) truncate -s 100 "$file" ;;
	empty) : >"$file" ;;
	gone) rm "$file" ;;
	esac
	FAULTDRILL_RING=$base/d.ring fast --store "$s" --steps 90 \
		--checkpoint-every 20 >"$base/out" 2>&1
	if ! grep -q "^restored step $from$" "$base/out" ||
		[ "$(state "$base/out")" != "$whole" ]; then
		fail "$t" "$(cat "$base/out")"
	elif [ "$how" != gone ] && ! "$dump" "$base/d.ring" |
		grep -q '^detected .*detail=5 '; then
		fail "$t" "not reported"
	else
		pass "$t"
	fi
}
damage "a flipped byte in a shard falls back" step-00000080/shard-00000 flip 60
damage "a cut shard falls back" step-00000080/shard-00000 cut 60
damage "a torn manifest falls back" step-00000080/manifest tear 60
damage "an empty manifest falls back" step-00000080/manifest empty 60
damage "a checkpoint never committed is not used" \
	step-00000080/manifest gone 60
damage "a lost shard falls back" step-00000080/shard-00000 gone 60

t="a checkpoint that cannot be written fails and training goes on"
mkdir -p "$base/full/ckpt"
: >"$base/full/ckpt/step-00000020"
FAULTDRILL_RING=$base/full.ring fast --store "$base/full" --steps 90 \
	--checkpoint-every 20 >"$base/out" 2>&1
if [ "$(state "$base/out")" = "$whole" ] && "$dump" "$base/full.ring" |
	grep -q '^checkpoint.failed step=20 .*text=Not a directory' &&
	"$dump" "$base/full.ring" | grep -q 'committed step=40'; then pass "$t"
else fail "$t" "$(cat "$base/out")"; fi

t="only the newest checkpoints are kept"
if [ "$(ls "$base/whole/ckpt" | tr '\n' ' ')" = \
	"step-00000040 step-00000060 step-00000080 " ]; then pass "$t"
else fail "$t" "$(ls "$base/whole/ckpt")"; fi

t="a damaged data shard is refused with its name"
cp -r "$base/whole" "$base/bad-data"
printf x | dd of="$(ls "$base"/bad-data/data/*-00003.bin)" bs=1 seek=9999 \
	conv=notrunc 2>/dev/null
fast --store "$base/bad-data" --steps 95 >"$base/out" 2>&1
rc=$?
if [ $rc -eq 1 ] && grep -q 'data shard 3: damaged' "$base/out"; then pass "$t"
else fail "$t" "$rc $(cat "$base/out")"; fi

# usage NAME PATTERN OPTIONS... : exit 2 and a line that says why
usage() {
	local t=$1 want=$2 rc
	shift 2
	"$solo" --store "$base/usage" "$@" >"$base/out" 2>&1
	rc=$?
	if [ $rc -eq 2 ] && grep -q -e "$want" "$base/out"; then pass "$t"
	else fail "$t" "$rc $(cat "$base/out")"; fi
}
usage "a number that is none is refused" 'steps: a number' --steps 12x
usage "a bare number for a time is refused" 'watchdog: a time' --watchdog 5
usage "an unknown layout is refused" 'layout: dp=N' --layout dp=1,zz=2
usage "parallelism to come is refused" 'not yet' --layout dp=1,tp=2
usage "a model beyond the kernels is refused" 'too large' --batch 4096 \
	--seq 4096 --width 8192
t="a store of another seed is refused"
fast --store "$base/whole" --seed 2 >"$base/out" 2>&1
rc=$?
if [ $rc -eq 2 ] && grep -q 'another model or seed' "$base/out"; then pass "$t"
else fail "$t" "$rc $(cat "$base/out")"; fi
usage "a layout for more ranks is refused" 'needs 3 ranks' --layout dp=3

# ---- four ranks ----
if ! command -v mpirun >/dev/null || [ ! -x "$build/train" ]; then
	echo "SKIP training on four ranks: no MPI"
	exit 0
fi
# ranks N NAME OPTIONS... : mpirun with a ring each in $base/NAME.rings
ranks() {
	local n=$1 name=$2
	shift 2
	rm -rf "$base/$name.rings"
	mkdir -p "$base/$name.rings/h"
	mpirun --oversubscribe -n "$n" ${mca:-} bash -c '
		export FAULTDRILL_RING="$0/h/rank$OMPI_COMM_WORLD_RANK.a1.ring"
		exec "$@"' "$base/$name.rings" "$build/train" \
		--step-time 20ms --store "$base/$name" "$@" \
		>"$base/$name.out" 2>&1
}
ranks 4 four --steps 60 --checkpoint-every 20 --layout dp=4
four=$(state "$base/four.out")

t="four ranks end in one state"
n=$(for r in 0 1 2 3; do
	"$dump" "$base/four.rings/h/rank$r.a1.ring" | grep ^state
done | sort -u | wc -l)
if [ -n "$four" ] && [ "$n" -eq 3 ]; then pass "$t"
else fail "$t" "$n states, $(tail -3 "$base/four.out")"; fi

t="the transport does not change a bit"
mca="--mca btl tcp,self" ranks 4 tcp --steps 60 --checkpoint-every 20
if [ -n "$four" ] && [ "$(state "$base/tcp.out")" = "$four" ]; then pass "$t"
else fail "$t" "$(tail -3 "$base/tcp.out")"; fi

t="four ranks, one killed, go on to the same state"
ranks 4 broken --steps 60 --checkpoint-every 20 --step-time 80ms &
job=$!
wait_for 30 committed "$base/broken.rings/h/rank0.a1.ring" 20
kill -9 "$("$dump" "$base/broken.rings/h/rank2.a1.ring" pid)"
wait $job
rc=$?
ranks 4 broken --steps 60 --checkpoint-every 20
if [ $rc -eq 137 ] && grep -q '^restored step [24]0' "$base/broken.out" &&
	[ "$(state "$base/broken.out")" = "$four" ]; then pass "$t"
else fail "$t" "$(tail -3 "$base/broken.out")"; fi

t="a shard damaged for one rank makes all fall back"
cp -r "$base/four" "$base/fall"
printf '\1' | dd of="$base/fall/ckpt/step-00000060/shard-00002" bs=1 \
	seek=4000 conv=notrunc 2>/dev/null
ranks 4 fall --steps 60 --checkpoint-every 20
if grep -q '^restored step 40' "$base/fall.out" &&
	[ "$(state "$base/fall.out")" = "$four" ]; then pass "$t"
else fail "$t" "$(tail -3 "$base/fall.out")"; fi

t="a stopped rank makes the others' watchdogs end the job and name it"
ranks 3 hang --steps 2000 --checkpoint-every 0 --watchdog 1s &
job=$!
ring=$base/hang.rings/h/rank1.a1.ring
at_step() { [ "$("$dump" "$1" step 2>/dev/null || echo 0)" -ge "$2" ]; }
wait_for 30 at_step "$ring" 5
pid=$("$dump" "$ring" pid)
[ -n "$pid" ] || { fail "$t" "no pid in the ring"; exit 1; }
kill -STOP "$pid"
word() { "$dump" "$base/hang.rings/h/rank0.a1.ring" | grep -q '^detected'; }
wait_for 10 word
kill -CONT "$pid"
wait $job
rc=$?
got=$("$dump" "$base/hang.rings/h/rank0.a1.ring" | grep '^detected')
if [ $rc -eq 86 ] && [ "$got" = \
	"detected step=0 detail=1 n=1 a=0 b=0 f=0 text=all-reduce" ]; then
	pass "$t"
else fail "$t" "$rc $got $(tail -3 "$base/hang.out")"; fi
finish
