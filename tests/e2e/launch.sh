#!/bin/bash
# launch.sh - the reference launcher with real jobs, on this machine alone
# SPDX-License-Identifier: MIT
set -u
. tests/support/launcher.sh
need "the launcher runs jobs"

# two hosts, two ranks each, quick to notice
four() {
	local name=$1
	shift
	begin "$name" --ranks 4 --ppn 2 --hosts h0,h1 --heartbeat 100ms \
		--watchdog 2s "$@"
}

ends_with() { [ "$(tail -n 1 "$dir/events" |
	sed -n 's/.*"reason":"\([a-z_]*\)".*/\1/p')" = "$1" ]; }

job_left() { left | grep -vx "$pid"; }

four clean -- "$job" "$base/clean/state" 20 10 2000
await_end 30
[ $rc = 0 ] && ends_with done && [ "$(count attempt.begin)" = 1 ] &&
	! event detected && [ "$(cat "$dir/state")" = 20 ] && nothing_left
verdict "a job without a fault runs to its end and leaves nothing"

four kill -- "$job" "$base/kill/state" 30 10 2000 kill 3 12 1
await_end 30
[ $rc = 0 ] && ends_with done && [ "$(field detected by)" = launcher ] &&
	[ "$(field blamed blame)" = "rank 3" ] &&
	[ "$(count attempt.begin)" = 2 ] && [ "$(cat "$dir/state")" = 30 ] &&
	[ $(($(field detected h_ns) - $(cat "$dir/state.fault"))) -lt \
		1000000000 ]
verdict "a killed rank is detected within a second, blamed, and restarted"

sed 's/.*"h_ns":\([0-9]*\).*/\1/' "$dir/events" | sort -nc &&
	[ "$(sed 's/.*"kind":"\([a-z.]*\)".*/\1/' "$dir/events" | head -n 9 |
		tr '\n' ' ')" = "attempt.begin placed detected blamed stopped \
fenced allocated attempt.end attempt.begin " ]
verdict "the events of a restart come in the order of the design"

four stop -- "$job" "$base/stop/state" 30 10 1000 stop 2 12 1
await_end 30
[ $rc = 0 ] && ends_with done && [ "$(field detected by)" = watchdog ] &&
	[ "$(field blamed blame)" = "rank 2" ] && nothing_left
verdict "a stopped rank is found by the watchdog, blamed, and not left behind"

four hang -- "$job" "$base/hang/state" 30 10 1500 hang 1 12 1
await_end 30
[ $rc = 0 ] && ends_with done && [ "$(field detected by)" = watchdog ] &&
	[ "$(field blamed blame)" = "rank 1" ]
verdict "a rank that hangs inside the collective is told from those who wait"

four exit -- "$job" "$base/exit/state" 30 10 2000 exit 1 12 1
await_end 30
[ $rc = 0 ] && ends_with done && [ "$(field blamed blame)" = "rank 1" ] &&
	[ "$(field attempt.end reason)" = failed ]
verdict "a rank that exits with an error is blamed and the job restarted"

four loop -- "$job" "$base/loop/state" 30 5 2000 kill 0 12 0
await_end 60
[ $rc = 1 ] && ends_with gave_up && grep -q livelock "$dir/events" &&
	[ "$(count attempt.begin)" = 4 ] && nothing_left
verdict "a fault at the same step of each attempt ends as livelock, not never"

four plain -- sh -c '[ $FAULTDRILL_ATTEMPT = 2 ] || exit $FAULTDRILL_SLOT'
await_end 30
[ $rc = 0 ] && ends_with done && [ "$(count attempt.begin)" = 2 ]
verdict "a job that knows nothing of rings is followed by its exit codes"

four env -- sh -c 'echo "$FAULTDRILL_HOST $FAULTDRILL_SLOT \
$FAULTDRILL_ATTEMPT $CUDA_VISIBLE_DEVICES $FAULTDRILL_RING \
$FAULTDRILL_HOOKS $FAULTDRILL_WAKE ${FAULTDRILL_LAUNCH-none} $MARK"'
await_end 30
[ "$(cat "$dir/log/rank3.a1.log")" = "h1 3 1 1 $dir/h1/rank3.a1.ring \
$dir/h1/hooks.page $dir/h1/wake none $dir" ]
verdict "a rank finds its place in its environment, and no token"

four next --library-path "/nowhere:$base/softcuda" -- \
	sh -c 'echo "$FAULTDRILL_CUDA_NEXT $FAULTDRILL_NVML_NEXT"'
await_end 30
[ "$(cat "$dir/log/rank3.a1.log")" = "$base/softcuda/libcuda.so.1 soft" ]
verdict "behind the proxies of a rank is the software device of its path"

four mute -- "$job" "$base/mute/state" 200 20 20000
wait_for 20 test -s "$dir/state"
for p in $(job_left); do
	grep -qz -- '^--hosts=' "/proc/$p/cmdline" 2>/dev/null &&
		grep -qzx OMPI_COMM_WORLD_RANK=1 "/proc/$p/environ" &&
		kill -STOP "$p"
done
await_end 60
[ $rc = 0 ] && [ "$(field detected by)" = heartbeat ] &&
	[ "$(field blamed blame)" = "rank 1" ] && nothing_left
verdict "a starter that falls silent is found by its missing heartbeat"

four child -- sh -c 'setsid sleep 300 & exit $((FAULTDRILL_ATTEMPT == 1))'
await_end 30
[ $rc = 0 ] && wait_for 6 nothing_left
verdict "what a rank left behind in a session of its own is fenced"

four killed -- "$job" "$base/killed/state" 5000 20 20000
wait_for 20 test -s "$dir/state"
kill -9 "$pid"
wait "$pid" 2>/dev/null
wait_for 3 nothing_left
verdict "a launcher killed by SIGKILL leaves nothing after two seconds"

four term -- "$job" "$base/term/state" 5000 20 20000
wait_for 20 test -s "$dir/state"
kill -TERM "$pid"
await_end 20
[ $rc = 143 ] && ends_with stopped && nothing_left
verdict "a launcher asked to end stops everything and says so"

four early -- sleep 300
wait_for 10 event placed
kill -TERM "$pid"
await_end 20
[ $rc = 143 ] && ends_with stopped && wait_for 6 nothing_left
verdict "a launcher asked to end while ranks are starting leaves nothing"

four hostile -- "$job" "$base/hostile/state" 400 20 20000
wait_for 20 test -s "$dir/state"
starter=$(grep -lz '^FAULTDRILL_LAUNCH=' $(job_left |
	sed 's|.*|/proc/&/environ|') 2>/dev/null | head -n 1)
read -r _ port token <<<"$(tr '\0' '\n' <"$starter" |
	sed -n 's/^FAULTDRILL_LAUNCH=//p')"
cut_off() { # the launcher closes the connection that sends this
	local rc
	exec 9<>"/dev/tcp/127.0.0.1/$port" || return 1
	cat >&9 2>/dev/null
	timeout 4 cat <&9 >/dev/null 2>&1
	rc=$?
	exec 9>&-
	[ $rc != 124 ]
}
bad=
cut_off < <(head -c 1000000 /dev/urandom) || bad+=random,
cut_off < <(head -c 100000 /dev/zero) || bad+=zeros,
cut_off <<<'GET / HTTP/1.1' || bad+=http,
cut_off <<<"start ${token//[0-9a-f]/0} 0 1 h0 1" || bad+=token,
cut_off <<<"start $token 0 1 h0 1" || bad+=taken,
cut_off <<<"start $token 99 1 h0 1" || bad+=rank,
cut_off <<<"start $token -1 1 h0 1" || bad+=negative,
cut_off <<<"exit 0 9 0" || bad+=exit,
cut_off </dev/null || bad+=silent,
await_end 60
[ $rc = 0 ] && [ -n "$port" ] && [ -z "$bad" ] && ends_with done &&
	! event detected
verdict "hostile bytes on the launcher's port are cut off and change nothing"

four one -- "$job" "$base/one/state" 60 10 5000 kill 1 20 1
d1=$dir p1=$pid
four two -- "$job" "$base/two/state" 60 10 5000 kill 2 30 1
d2=$dir p2=$pid
dir=$d1 pid=$p1
await_end 60
[ $rc = 0 ] && [ "$(field blamed blame)" = "rank 1" ]
one=$?
dir=$d2 pid=$p2
await_end 60
[ $one = 0 ] && [ $rc = 0 ] && [ "$(field blamed blame)" = "rank 2" ] &&
	[ "$(count attempt.begin)" = 2 ]
verdict "two launchers at once do not touch each other's ranks"

dir=$base/usage
mkdir -p "$dir"
ok=0
refused() { # WORDS ARGS...
	local words=$1
	shift
	"$build/launch" "$@" >"$dir/out" 2>&1
	[ $? = 2 ] && grep -q -- "$words" "$dir/out" || ok=1
}
refused "did you mean 'ranks'" --rank 4 --dir /x -- true
refused "has no unit" --ranks 1 --heartbeat 5 --dir /x -- true
refused "no command" --ranks 1 --dir /x
refused "do not fit" --ranks 4 --dir /x -- true
refused "not there yet" --ranks 1 --recovery shrink --dir /x -- true
refused "did you mean 'restart'" --ranks 1 --recovery restrat --dir /x -- true
refused "absolute path" --ranks 1 --dir x -- true
refused "IPv4 address" --ranks 1 --dir "$dir" --head nowhere -- true
[ $ok = 0 ]
verdict "a bad command line is refused with one clear line and status 2"

# Hosts that are UTS namespaces, entered by a remote shell of our own; a host
# whose file lies in down/ cannot be reached.
if [ "$(id -u)" != 0 ] || ! unshare --uts true 2>/dev/null; then
	echo "SKIP a lost host is replaced by a spare: needs root"
	finish
fi
down=$base/down
mkdir "$down"
cat >"$base/enter" <<END
#!/bin/sh
host=\$1
shift
[ ! -e "$down/\$host" ] || exit 1
exec unshare --uts sh -c 'hostname "\$0" &&
readlink /proc/self/ns/uts >>"$base/uts.\$0" && eval "\$*"' "\$host" "\$@"
END
chmod +x "$base/enter"

# Every process that entered the host, told by its UTS namespace.
stop_host() {
	local p
	touch "$down/$1"
	for p in $(job_left); do
		readlink "/proc/$p/ns/uts" 2>/dev/null |
			grep -qxFf "$base/uts.$1" && kill -STOP "$p"
	done
}

four lost --spares h2 --enter "$base/enter" --data-if lo \
	-- "$job" "$base/lost/state" 150 20 20000
wait_for 30 test -s "$dir/state"
stop_host h1
zombies=$(for p in $(left); do
	grep -q '^State:.T' "/proc/$p/status" && echo "$p"; done)
await_end 60
[ $rc = 0 ] && ends_with done && [ -n "$zombies" ] &&
	[ "$(field detected by)" = heartbeat ] &&
	[ "$(field blamed blame)" = "host h1" ] &&
	[ "$(field host.down host)" = h1 ] &&
	[ "$(field allocated host)" = h2 ] &&
	[ "$(field allocated replaces)" = h1 ]
verdict "a host that is lost is blamed, excluded and replaced by a spare"

# They wake: the connection is gone, so they end by themselves.
for p in $zombies; do kill -CONT "$p" 2>/dev/null; done
wait_for 3 nothing_left
verdict "processes of a lost host that wake end at once"
rm -f "$down"/* "$base"/uts.*

four back --host-wait 20s --enter "$base/enter" --data-if lo \
	-- "$job" "$base/back/state" 100 20 20000
wait_for 30 test -s "$dir/state"
stop_host h1
wait_for 20 event host.down
rm -f "$down"/*
await_end 60
[ $rc = 0 ] && ends_with done && [ "$(field host.up host)" = h1 ] &&
	nothing_left
verdict "with no spare the launcher waits for the lost host to come back"
rm -f "$base"/uts.*

four none --host-wait 1s --enter "$base/enter" --data-if lo \
	-- "$job" "$base/none/state" 5000 20 20000
wait_for 30 test -s "$dir/state"
stop_host h1
await_end 60
[ $rc = 1 ] && ends_with gave_up && grep -q "no spare for host 'h1'" \
	"$dir/events"
verdict "with no spare and no way back the launcher gives up"
for p in $(left); do kill -9 "$p"; done
finish
