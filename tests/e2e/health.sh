#!/bin/bash
# health.sh - the launcher's health check over a real job, on this machine alone
# SPDX-License-Identifier: MIT
#
# Lines are written to the hosts' kernel logs by the test itself, devices fail
# on a page that the test made. Nothing is injected into the job.
set -u
. tests/support/launcher.sh
need "the health check watches jobs"

# start NAME OPTIONS... : two hosts of two ranks and a spare
start() {
	local name=$1
	shift
	begin "$name" --ranks 4 --ppn 2 --hosts h0,h1 --spares h2 \
		--heartbeat 100ms --watchdog 2s "$@"
}

runs() { wait_for 20 test -s "$dir/state"; }

# log HOST XID TEXT : as the driver would write it
log() {
	echo "NVRM: Xid (PCI:0000:3b:00): $2, $3" >>"$dir/$1/kernel.log"
}

start bus --health xid -- "$job" "$base/bus/state" 60 10 20000
runs
log h1 79 "GPU has fallen off the bus."
await_end 30
[ $rc = 0 ] && [ "$(field detected by)" = health.xid ] &&
	[ "$(field detected blame)" = "host h1" ] &&
	[ "$(field blamed blame)" = "host h1" ] &&
	[ "$(field host.down host)" = h1 ] &&
	[ "$(field allocated replaces)" = h1 ] &&
	[ "$(field allocated host)" = h2 ] &&
	[ "$(count attempt.begin)" = 2 ] && [ "$(cat "$dir/state")" = 60 ]
verdict "a host whose log says that a GPU fell off the bus is replaced"
wait_for 6 nothing_left
verdict "the watchers of the devices end with the launcher"

start app --health xid -- "$job" "$base/app/state" 60 10 20000
runs
for n in 13 31 43 45 68 69 109; do log h0 $n "pid=1, name=x, whatever"; done
wait_for 10 grep -q '"Xid 109' "$dir/events"
await_end 30
[ $rc = 0 ] && ! event detected && ! event blamed &&
	[ "$(count symptom)" = 7 ] && [ "$(count attempt.begin)" = 1 ]
verdict "an application's own Xids are symptoms, and nobody is evicted"

start once --health xid -- "$job" "$base/once/state" 60 10 20000
runs
log h0 94 "Contained: SM"
log h0 94 "Contained: SM"
await_end 30
[ $rc = 0 ] && [ "$(count detected)" = 1 ] && ! event host.down &&
	[ "$(field allocated what)" = "same hosts" ] &&
	[ "$(count attempt.begin)" = 2 ]
verdict "a contained error starts the job again where it was, and is told once"

start bad --health xid -- "$job" "$base/bad/state" 60 10 20000
runs
{
	head -c 100000 /dev/urandom
	printf '\nNVRM: Xid (PCI:0000:3b:00): 79x, no\n'
	printf 'NVRM: Xid (PCI:0000:3b:00): 99999, no\n'
	head -c 5000 /dev/zero | tr '\0' A
	printf 'NVRM: Xid (PCI:0000:3b:00): 79, in a line without end\n'
} >>"$dir/h0/kernel.log"
log h0 13 last
wait_for 10 event symptom
await_end 30
[ $rc = 0 ] && ! event detected && [ "$(count symptom)" = 1 ] &&
	[ "$(count attempt.begin)" = 1 ]
verdict "hostile lines in the kernel's log lead to nothing"

start none --health xid --spares "" -- "$job" "$base/none/state" 600 10 20000
runs
log h1 79 "GPU has fallen off the bus."
await_end 30
[ $rc = 1 ] && [ "$(field attempt.end reason)" = gave_up ] &&
	grep -q "no spare for host 'h1' (Xid 79: " "$dir/events"
verdict "with no spare the launcher gives up at once and says why"

# Without a watcher: the rank itself says that its device fails, at each start.
start starts -- sh -c '[ $FAULTDRILL_HOST != h1 ] || exit 87'
await_end 30
[ $rc = 0 ] && [ "$(field blamed blame)" = "rank 2" -o \
	"$(field blamed blame)" = "rank 3" ] &&
	[ "$(field host.down host)" = h1 ] &&
	[ "$(field allocated what)" = "same hosts" ] &&
	[ "$(count attempt.begin)" = 3 ]
verdict "a host whose device fails at each start is tried twice, then replaced"

start spare --health xid -- "$job" "$base/spare/state" 60 10 20000
runs
log h2 79 "GPU has fallen off the bus."
wait_for 10 event detected
log h1 79 "GPU has fallen off the bus."
await_end 30
[ $rc = 1 ] && [ "$(count attempt.begin)" = 1 ] &&
	[ "$(count host.down)" = 2 ]
verdict "a spare with a bad device takes no place"

dir=$base/usage
mkdir -p "$dir"
"$build/launch" --ranks 1 --health xidd --dir /x -- true >"$dir/out" 2>&1
[ $? = 2 ] && grep -q "did you mean 'xid'" "$dir/out"
verdict "a health check that there is none of is refused with the nearest"

# ---- over a page of devices, through NVML ----
page=$build/tests/programs/device_page
if ! [ -x "$page" ] || ! [ -e "$build/hooks/cuda/libnvidia-ml.so.1" ]; then
	echo "SKIP the health check asks NVML: no device_page or no NVML here"
	finish
fi
# with_devices NAME OPTIONS... : two devices a host, all well at first
with_devices() {
	local h
	for h in h0 h1 h2; do
		mkdir -p "$base/$1/$h"
		"$page" make "$base/$1/$h/devices.page" $h 2 || return 1
	done
	start "$1" --devices 2 --library-path "$build/hooks/cuda" \
		--health-interval 100ms "${@:2}"
	runs
}
device() { "$page" fail "$dir/$1/devices.page" "${@:2}"; }
health() { "$page" health "$dir/$1/devices.page" "$2"; }
detectors() { sed -n '/"kind":"detected"/s/.*"by":"\([^"]*\)".*/\1/p' \
	"$dir/events" | sort -u | tr '\n' ' '; }

with_devices quiet --health both -- "$job" "$base/quiet/state" 60 10 20000
await_end 30
[ $rc = 0 ] && ! event detected && ! event symptom
verdict "devices that are well are not complained of"

with_devices lost --health nvml -- "$job" "$base/lost/state" 80 10 20000
device h1 1 health=2
await_end 30
[ $rc = 0 ] && [ "$(detectors)" = "health.nvml " ] &&
	[ "$(field blamed blame)" = "device h1/gpu1" ] &&
	[ "$(field host.down host)" = h1 ] &&
	[ "$(field allocated host)" = h2 ]
verdict "a lost device is found by NVML, blamed, and its host replaced"

with_devices gone --health nvml -- "$job" "$base/gone/state" 80 10 20000
device h0 0 health=4
await_end 30
[ $rc = 0 ] && [ "$(detectors)" = "health.nvml " ] &&
	[ "$(field blamed blame)" = "device h0/gpu0" ] &&
	[ "$(count attempt.begin)" = 2 ]
verdict "a device that is gone is not taken for the one behind it"

with_devices both --health both -- "$job" "$base/both/state" 80 10 20000
device h1 0 xid=95 health=3 recovery=1
await_end 30
[ $rc = 0 ] && [ "$(detectors)" = "health.nvml health.xid " ] &&
	[ "$(field blamed blame)" = "device h1/gpu0" ] &&
	[ "$(field device.state state)" = reset ] && ! event host.down &&
	[ "$(field allocated what)" = "same hosts" ] &&
	[ "$(health h1 0)" = 1 ] && [ "$(count attempt.begin)" = 2 ]
verdict "a device that needs a reset gets one, and the job goes on where it was"

with_devices remap --health nvml -- "$job" "$base/remap/state" 60 10 20000
device h0 1 pending=1
await_end 30
[ $rc = 0 ] && [ "$(field detected what)" = \
	"remap_pending: a row remap waits for a reset" ] &&
	[ "$(field blamed blame)" = "device h0/gpu1" ] &&
	[ "$(count attempt.begin)" = 1 ]
verdict "a remap that waits for a reset is told, and the job goes on"

with_devices slow --health nvml -- "$job" "$base/slow/state" 60 10 20000
device h1 1 mhz=300 reasons=0x40
await_end 30
[ $rc = 0 ] && [ "$(field detected what)" = "slow: the clocks are held down" ] &&
	[ "$(field blamed blame)" = "device h1/gpu1" ] &&
	[ "$(count attempt.begin)" = 1 ]
verdict "a throttled device is told and blamed, and the job goes on"

finish
