# launcher.sh - what the scripts share that run the launcher with real jobs
# SPDX-License-Identifier: MIT
#
# Gives: build, job, base (a fresh folder, removed at the end), need (or skip),
# begin, await, finish, event, field, count, nothing_left, verdict. $dir is the
# folder of the job that began last, $pid its launcher.
build=$(cd "${BUILD:-build}" && pwd)
job=$build/tests/programs/lockstep
base=$(mktemp -d) || exit 3
trap 'rm -rf "$base"' EXIT
faults=0

# need WHAT : skips it without mpirun and the programs
need() {
	local n
	for n in mpirun "$job" "$build/launch"; do
		command -v "$n" >/dev/null || { echo "SKIP $1: no $n"; exit 0; }
	done
}

# begin NAME OPTIONS... : a launcher in the background; its job carries MARK, so
# that what is left of it can be counted and only that is ever signalled
begin() {
	dir=$base/$1
	mkdir -p "$dir"
	shift
	MARK=$dir "$build/launch" --dir "$dir" --log "$dir/log" "$@" \
		3>"$dir/events" >"$dir/out" 2>&1 &
	pid=$!
}

# await SECONDS COMMAND... : polls until it holds
await() {
	local until=$((SECONDS + $1 + 1))
	shift
	until "$@"; do
		[ $SECONDS -lt $until ] || return 1
		sleep 0.02
	done
}

ends() { ! kill -0 "$pid" 2>/dev/null; }
# finish SECONDS : waits for the launcher; $rc
finish() {
	await "$1" ends || { kill -9 "$pid"; echo "(killed: too slow)"; }
	wait "$pid" 2>/dev/null
	rc=$?
}

event() { grep -q "\"kind\":\"$1\"" "$dir/events"; }
# field KIND FIELD : of the first such event
field() {
	sed -n "/\"kind\":\"$1\"/{s/.*\"$2\":\"\{0,1\}\([^\",}]*\).*/\1/p;q}" \
		"$dir/events"
}
count() { grep -c "\"kind\":\"$1\"" "$dir/events"; }

# pids of this job that still live, zombies left out
left() {
	local p
	for p in $(grep -lzx "MARK=$dir" /proc/[0-9]*/environ 2>/dev/null); do
		p=${p#/proc/}
		echo "${p%/environ}"
	done
}
nothing_left() { [ -z "$(left)" ]; }

# verdict NAME : of the command before
verdict() {
	if [ $? -eq 0 ]; then
		echo "PASS $1"
		return
	fi
	echo "FAIL $1: $(tail -n 7 "$dir/out" "$dir/events" 2>&1 |
		cut -c1-180 | tr '\n' '|')"
	faults=1
}
