#!/bin/bash
# replica.sh - silent corruption is found by the replicas' hashes in time
# SPDX-License-Identifier: MIT
#
# A rank that learns at another rate stands for one whose state was corrupted:
# nothing fails, and its parameters are not those of the others.
set -u
build=$(cd "${BUILD:-build}" && pwd)
base=$(mktemp -d) || exit 3
trap 'rm -rf "$base"' EXIT

for need in mpirun "$build/train" "$build/launch"; do
	command -v "$need" >/dev/null ||
		{ echo "SKIP replicas are compared: no $need"; exit 0; }
done
faults=0

# job NAME RANKS BAD OPTIONS... : rank BAD is wrong in the first attempt
job() {
	local n=$2 bad=$3
	dir=$base/$1
	shift 3
	mkdir -p "$dir"
	BAD=$bad timeout 90 "$build/launch" --dir "$dir" --log "$dir/log" \
		--ranks "$n" --ppn "$n" --hosts h0 --watchdog 5s \
		-- sh -c 'more=; [ "$FAULTDRILL_SLOT.$FAULTDRILL_ATTEMPT" != \
"$BAD.1" ] || more="--lr 0.004"; exec "$0" "$@" $more' "$build/train" \
		--step-time 0s --store "$dir/store" --checkpoint-every 10 \
		"$@" 3>"$dir/events" >"$dir/out" 2>&1
	rc=$?
}
state() { sed -n 's/^state step [0-9]* //p' "$dir/log"/rank0.a*.log | tail -1; }
field() {
	sed -n "/\"kind\":\"$1\"/{s/.*\"$2\":\"\{0,1\}\([^\",}]*\).*/\1/p;q}" \
		"$dir/events"
}
verdict() {
	if [ $? -eq 0 ]; then
		echo "PASS $1"
		return
	fi
	echo "FAIL $1: $(tail -n 4 "$dir/out" "$dir/log"/* 2>&1 |
		cut -c1-160 | tr '\n' '|')"
	faults=1
}

job agree 3 none --steps 40 --hash-every 5
whole=$(state)
[ $rc = 0 ] && [ -n "$whole" ]
verdict "replicas that agree are not disturbed"

job unseen 3 none --steps 40
[ "$(state)" = "$whole" ]
verdict "comparing them changes no bit of the state"

# Up to step 20 all is well; from there one is wrong, in the first attempt.
job good 3 none --steps 20
mkdir -p "$base/three"
cp -r "$dir/store" "$base/three/"
job three 3 1 --steps 40 --hash-every 5
[ $rc = 0 ] && [ "$(field blamed blame)" = "rank 1" ] &&
	grep -q 'train: rank 1: after step 25 my state is' \
		"$dir/log/rank1.a1.log" &&
	grep -q '^restored step 20' "$dir/log/rank0.a2.log"
verdict "a rank whose state differs is blamed before a checkpoint has it"
[ "$(state)" = "$whole" ]
verdict "the job restores the last good checkpoint and ends in the same state"

job two 2 1 --steps 20 --hash-every 5
[ $rc = 0 ] && ! grep -q '"kind":"blamed"' "$dir/events" &&
	grep -q 'cannot tell which is wrong' "$dir/log/rank0.a1.log"
verdict "of two replicas that differ nobody is blamed"
exit $faults
