# launcher.sh - what the scripts share that run the launcher with real jobs
# SPDX-License-Identifier: MIT
#
# Gives: build, job, base (a fresh folder, removed at the end), need (or skip),
# begin, await_end, event, field, count, left, nothing_left, and all of e2e.sh.
# $dir is the folder of the job that began last, $pid its launcher.
. tests/support/e2e.sh
build=$(cd "${BUILD:-build}" && pwd)
job=$build/tests/programs/lockstep
base=$WORK

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

ends() { ! kill -0 "$pid" 2>/dev/null; }
# await_end SECONDS : of the launcher; $rc
await_end() {
	wait_for "$1" ends || { kill -9 "$pid"; echo "(killed: too slow)"; }
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
