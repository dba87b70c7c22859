#!/bin/bash
# driver.sh - on a machine with a driver, a job of one's own has that driver's devices
# SPDX-License-Identifier: MIT
#
# The driver here is a copy of the software one, and what the kernel would show
# of two devices is written over /proc/driver in a mount namespace of our own.
cd "$(dirname "$0")/../.." && . tests/support/e2e.sh

P=$PWD/$BUILD/tests/programs
mkdir "$WORK/driver" && cp "$BUILD/softcuda/libcuda.so.1" "$WORK/driver/"
cat >"$WORK/inside" <<'SH'
mount -t tmpfs none /proc/driver || exit 77
for i in 0 1; do
	mkdir -p /proc/driver/nvidia/gpus/0000:1$i:00.0
	printf 'Model: \t\t Made up\nGPU UUID: \t %s\nBus Location: \t 0000:1%s:00.0\nDevice Minor: \t %s\n' \
		"$(sed -n "$((i + 1))s/.*uuid=\([^ ]*\).*/\1/p" "$WORK/devices")" $i $i \
		>/proc/driver/nvidia/gpus/0000:1$i:00.0/information
done
exec "$@"
SH
inside() { WORK=$WORK unshare -m sh "$WORK/inside" timeout -k 5 100 "$@"; }
run() { # NAME LAB
	cat >"$WORK/$1.lua" <<-LUA
	return scenario {
	  name      = "$1",
	  lab       = lab.local_ { $2 },
	  workloads = { job = workload.command { ranks = 2, command = { "$P/cuda_dlopen" } } },
	  faults    = { f = device.call { device = "h0/gpu1", call = "cuMemAlloc", error = 2, at = at.call "cuMemAlloc" } },
	  trials    = { baseline = 1, fault = 1 },
	}
	LUA
	LD_LIBRARY_PATH=$WORK/driver inside "$FD" run --out "$WORK/$1" --state "$WORK/state" \
		"$WORK/$1.lua" >"$WORK/$1.text" 2>&1 </dev/null
	json=$(find "$WORK/$1" -name run.json | head -1)
}

"$FD" exec --state "$WORK/state" --devices 2 --fault 'device.alarm { code = 63 }' -- \
	"$P/nvml_show" >"$WORK/devices" 2>"$WORK/err"
inside true 2>/dev/null
if [ $? -ne 0 ]; then
	skip "a driver's devices" "needs root, to show a driver in a mount namespace"
	finish
fi

run own 'hosts = 1'
truth "a job of one's own: the lab's devices are the driver's" "$json" 'r.lab.devices === 2'
truth "a job of one's own: it reached that driver, and the report says so" "$json" \
	'r.scope.device === "real" && r.trials[1].hooks.cuda.every(c => c.next === "'"$WORK"'/driver/libcuda.so.1")'
truth "a job of one's own: the fault meets the rank on that device" "$json" \
	'r.trials[1].incidents.filter(i => i.fault === "f").length === 1'
run chosen 'hosts = 1, devices = 2'
truth "a lab that names a number: it has software devices" "$json" \
	'r.scope.device === "software" && r.trials[1].hooks.cuda.every(c => /softcuda/.test(c.next))'
finish
