#!/bin/bash
# device_exec.sh - device faults on single programs, whichever way they reach the driver
# SPDX-License-Identifier: MIT
cd "$(dirname "$0")/../.." && . tests/support/e2e.sh

S="--state $WORK/state"
P=$PWD/$BUILD/tests/programs
SOFT=$PWD/$BUILD/softcuda/libcuda.so.1
HOOK=$PWD/$BUILD/hooks/cuda
export HOME="$WORK" XDG_STATE_HOME="$WORK"
# What the programs would find of other drivers has no say here.
export FAULTDRILL_CUDA_NEXT=$SOFT FAULTDRILL_NVML_NEXT=soft
third='device.xid { code = 48, at = at.launch("count", 3) }'

# ex OPTIONS FAULT -- COMMAND...: sets rc; text, err, json
ex() { timeout -k 5 60 "$FD" exec $S "$@" >"$WORK/text" 2>"$WORK/err" </dev/null; rc=$?; }
said() { # NAME WORDS [FILE]
	grep -qE -- "$2" "$WORK/${3:-text}" && pass "$1" ||
		fail "$1" "no '$2' in: $(tail -4 "$WORK/text" | cut -c1-300) $(tail -3 "$WORK/err" | cut -c1-400)"
}
unsaid() { # NAME WORDS
	grep -qE -- "$2" "$WORK/text" && fail "$1" "'$(grep -m1 -E -- "$2" "$WORK/text")'" || pass "$1"
}

# ---- every route: the third launch fails, at the call that waits for it ----
while IFS='|' read -r name options command; do
	ex $options --fault "$third" -- $command
	is "$name: the program ends as it would" "$rc" 1
	unsaid "$name: the launch itself succeeds" 'cuLaunchKernel [1-9]'
	said "$name: the next call that waits says it" 'step 3 cuStreamSynchronize 214 '
	said "$name: every later call of the context says it" 'after cuMemFree_v2 214 '
	said "$name: exec says which call it was" \
		'felt first in cuStreamSynchronize[_a-z]* of process [0-9]+, which returned 214 .CUDA_ERROR_ECC_UNC' err
done <<TABLE
a linked program||$P/cuda_linked
one that opens libcuda.so.1||$P/cuda_dlopen
one that opens libcuda.so||$P/cuda_dlopen --library libcuda.so
one that opens a path|--audit|$P/cuda_dlopen --library $SOFT
one with streams of each thread||$P/cuda_per_thread
TABLE
ex --fault "$third" -- $P/cuda_dlopen --library "$SOFT"
is "a path without the audit library: inconclusive" "$rc" 6
said "a path without the audit library: it is called a bypass" '--audit' err
said "a path without the audit library: the program is untouched" 'end after 5 steps'

# ---- programs that do special things ----
ex --fault "$third" -- $P/cuda_dlclose
is "a program that closes the driver: its status" "$rc" 1
said "a program that closes the driver: the fault is felt" 'step 3 cuStreamSynchronize 214 '
ex --fault 'device.xid { code = 48, at = at.launch("count", 12) }' -- $P/cuda_dlclose
said "closed and opened again: launches are counted on" 'dlclose 0'
said "closed and opened again: the fault is felt in the third round" 'step 2 cuStreamSynchronize 214 '
ex --fault 'device.xid { code = 48, at = at.launch("count", 20) }' -- $P/cuda_threads
is "16 threads: the program ends with the error" "$rc" 1
said "16 threads: what the first of them met" 'threads 16 failed [1-9][0-9]* first 214'
ex --fault 'device.xid { code = 48, at = at.launch("count", 4) }' -- $P/cuda_fork
said "a fork after cuInit: the child has no driver" 'child cuMemAlloc_v2 3 '
unsaid "a fork after cuInit: no call of the child succeeds" 'child cu[A-Za-z]* 0'
said "a fork before cuInit: that child has one of its own" 'early cuInit 0'
said "a fork: the parent goes on to its fault" 'step 4 cuStreamSynchronize 214 '
ex --fault 'device.xid { code = 48, at = at.launch("count", 1) }' -- $P/cuda_capture
is "a launch that is only captured does not meet a fault" "$rc" 6
said "a stream that captures: it is not disturbed" 'capture cuGraphInstantiateWithFlags 0'
said "a stream that captures: nor is what follows" 'end after 5 steps'
ex --fault 'device.xid { code = 48, at = at.call("cuGraphLaunch", 2) }' -- $P/cuda_capture
said "a graph's launch: it succeeds" 'step 2 cuGraphLaunch 0'
said "a graph's launch: the next call that waits says the error" 'step 2 cuStreamSynchronize 214 '

# ---- more processes than the page has places for ----
ex --fault 'device.call { call = "cuInit", error = 3, count = 1 }' -- \
	sh -c "for i in \$(seq 130); do $P/cuda_linked --quiet --steps 1; done >/dev/null 2>&1"
is "130 processes one after the other: some met no fault: inconclusive" "$rc" 6
said "130 processes: how many had no place" 'exec: 2 processes found no place on the device page' err

# ---- each kind of fault, as the program sees it ----
while IFS='|' read -r name fault command status words; do
	ex --fault "$fault" -- $command
	is "$name: status" "$rc" "$status"
	said "$name: what the program saw" "$words"
done <<TABLE
lost|device.xid { code = 79, at = at.launch("count", 3) }|$P/cuda_linked|1|after cuMemFree_v2 [97][91]9 
effect alone|device.xid { code = 48, form = "effect", at = at.launch("count", 3) }|$P/cuda_linked|1|after cuMemFree_v2 214 
an alarm|device.alarm { code = 48 }|$P/cuda_linked --nap 100|0|end after 5 steps
a hang that ends|device.hang { at = at.launch("count", 3), duration = "500ms" }|$P/cuda_linked|0|end after 5 steps
slow|device.slow { factor = 3 }|$P/cuda_linked --nap 50|0|end after 5 steps
a flipped bit in an output|device.corrupt { where = "output", at = at.launch("count", 3) }|$P/cuda_linked|3|step 3 wrong: 1 elements
out of memory|device.oom { }|$P/cuda_linked|1|open cuMemAlloc_v2 2 
a call that fails once|device.call { call = "cuMemAlloc", error = 2, count = 1 }|$P/cuda_linked --retry|0|again cuMemAlloc_v2 0
absent|device.absent { }|$P/cuda_linked|1|open cuInit 100 
TABLE
# ---- faults of other kinds, exactly before a call of the driver ----
ex --fault 'host.kill { at = at.launch("count", 3) }' -- $P/cuda_linked
is "killed at the third launch: the program's status" "$rc" 137
is "killed at the third launch: after the second step, before the third launch" \
	"$(grep -c cuLaunchKernel "$WORK/text") $(tail -1 "$WORK/text")" "2 step 2 cuMemcpyDtoH_v2 0"
ex --fault 'host.kill { at = at.call("cuInit") }' -- $P/cuda_linked
is "killed at its first call of all: nothing was called" "$rc $(grep -c . "$WORK/text")" "137 0"
ex --fault 'host.stop { at = at.call("cuMemAlloc"), duration = "200ms" }' -- $P/cuda_linked
is "stopped at an allocation: it goes on afterwards" "$rc $(tail -1 "$WORK/text")" "0 end after 5 steps"
said "stopped at an allocation: the evidence names the call" 'call cuMemAlloc_v2, nth 1' err
ex --fault 'host.kill { at = at.call("cuStreamSynchronize", 2) }' -- $P/cuda_per_thread
is "a call of a program with streams of each thread is one of that name" "$rc $(grep -c StreamSync "$WORK/text")" "137 1"
ex --fault 'host.kill { at = at.launch("count", 30) }' -- $P/cuda_linked
is "a launch that never comes: inconclusive, and nothing is held" "$rc $(tail -1 "$WORK/text")" "6 end after 5 steps"
# What is met in a process: each kind at a launch or a call, by any entry of it.
while IFS='|' read -r name fault command status words; do
	ex --devices 2 --fault "$fault" -- $command
	is "$name: status" "$rc" "$status"
	said "$name: it fired there" 'in force' err
	said "$name: what the program saw" "$words"
done <<TABLE
an alarm at a launch|device.alarm { code = 48, at = at.launch("count", 3) }|$P/cuda_linked|0|end after 5 steps
a signal at a launch|device.xid { code = 79, form = "signal", at = at.launch("count", 3) }|$P/cuda_linked|0|end after 5 steps
a clock at a launch|device.slow { factor = 2, form = "signal", at = at.launch("count", 3) }|$P/cuda_linked|0|end after 5 steps
absent from a launch on|device.absent { at = at.launch("count", 2) }|$P/cuda_linked|0|end after 5 steps
no peers from a call on|device.peer { at = at.call("cuDeviceGetCount", 1) }|$P/cuda_peer|1|peer cuDeviceCanAccessPeer 0 can 0
a call in its older version|device.call { call = "cuCtxSynchronize", error = 1 }|$P/cuda_linked|1|open cuCtxSynchronize 1 
a call with streams of each thread|device.call { call = "cuMemcpyDtoH", error = 1, nth = 2 }|$P/cuda_per_thread|1|step 2 cuMemcpyDtoH_v2 1 
a call of its own after another|device.call { call = "cuMemcpyDtoH", error = 1, at = at.launch("count", 3) }|$P/cuda_linked --nap 20|1|step 3 cuMemcpyDtoH_v2 1 
a copy that flips after a launch|device.corrupt { where = "copy", at = at.launch("count", 2) }|$P/cuda_linked --nap 20|3|step 2 wrong: 1 elements
an output that flips after a copy|device.corrupt { at = at.call("cuMemcpyDtoH", 2) }|$P/cuda_linked --nap 20|3|step 3 wrong: 1 elements
two calls that fail|device.call { call = "cuMemcpyDtoH", error = 1, count = 2 }|$P/cuda_linked --retry|1|again 1 cuMemcpyDtoH_v2 1 
calls that fail by chance|device.call { call = "cuMemcpyDtoH", error = 1, probability = "20%", count = 1 }|$P/cuda_linked --steps 200|1|step [0-9]* cuMemcpyDtoH_v2 1 
TABLE

# A contained error is one process's, an uncontained one everybody's.
for contained in true false; do
	rm -f "$WORK"/both.*
	ex --fault "device.xid { code = 48, contained = $contained, at = at.launch(\"count\", 3) }" -- \
		sh -c "$P/cuda_linked --nap 30 --steps 9 >$WORK/both.1 & $P/cuda_linked --nap 30 --steps 9 >$WORK/both.2; wait"
	is "contained = $contained: processes that end with 214" \
		"$(grep -l 'cuMemFree_v2 214 ' "$WORK"/both.* | wc -l)" \
		"$([ $contained = true ] && echo 1 || echo 2)"
done
ex --format json --fault 'device.hang { at = at.launch("count", 3), duration = "500ms" }' -- $P/cuda_linked
said "a hang: the kernel, too, sees the thread that waits" '"thread_waits": true'
ex --devices 2 --fault 'device.peer { }' -- $P/cuda_linked
is "no peer access that nobody asks for: inconclusive" "$rc $(tail -1 "$WORK/text")" "6 end after 5 steps"
ex --devices 2 --fault 'device.peer { }' -- $P/cuda_peer
is "no peer access: status" "$rc" 1
said "no peer access: what the program saw" 'peer cuDeviceCanAccessPeer 0 can 0'

# ---- every failure in its three forms: what programs feel, what watchers see ----
felt() { grep -qE -- "$1" "$WORK/text" && echo felt || echo "not felt"; }
seen() { grep -qE -- "$1" "$WORK/text" && echo seen || echo "not seen"; }
while IFS='|' read -r fault args effect signal; do
	for form in both effect signal; do
		ex --format json --devices 2 --fault "device.$fault { $args${args:+,} form = \"$form\" }" -- sh -c \
			"$P/cuda_linked --nap 30; $P/cuda_peer; $P/nvml_show; cat \$(dirname \$FAULTDRILL_DEVICES)/kernel.log"
		said "$fault${args:+ ($args)} as $form: it is in force" '"effective": 1,'
		is "$fault${args:+ ($args)} as $form: the effect" "$(felt "$effect")" \
			"$([ $form = signal ] && echo "not felt" || echo felt)"
		is "$fault${args:+ ($args)} as $form: the signal" "$(seen "$signal")" \
			"$([ $form = effect ] && echo "not seen" || echo seen)"
	done
done <<TABLE
xid|code = 79|cu[A-Za-z_0-9]* [97][91]9 |^0 state=!15
xid|code = 95|cu[A-Za-z_0-9]* 46 |memory=!16
hang|duration = "300ms"|"call": "cuStreamSynchronize"|Xid .*: 8, 
slow|factor = 9|"added_s": [0-9]|sm=[1-9][0-9]{0,2} 
corrupt||step 1 wrong|Xid .*: 48, .*
corrupt|where = "copy", nth = 2|step 2 wrong|ecc_uncorrected=1
oom||cuMemAlloc_v2 2 |^0 .*memory=([0-9]+) used=\1 
call|call = "cuMemcpyDtoH", error = 700|step 1 cuMemcpyDtoH_v2 700 |Xid .*: 31, 
peer||cuCtxEnablePeerAccess 217 |Xid .*: 136, .*
TABLE
for form in both effect signal; do
	ex --format json --fault "device.absent { form = \"$form\" }" -- sh -c "$P/cuda_linked; $P/nvml_show"
	said "absent as $form: it is in force" '"effective": 1,'
	is "absent as $form: the effect" "$(felt 'cuInit 100 ')" \
		"$([ $form = signal ] && echo "not felt" || echo felt)"
	is "absent as $form: NVML has the device" "$(seen '^0 state=0')" \
		"$([ $form = effect ] && echo seen || echo "not seen")"
done
ex --fault 'device.call { call = "cuMemAlloc", error = 2, form = "both" }' -- $P/cuda_linked
is "a call without a known Xid, as both: status" "$rc" 2
said "a call without a known Xid, as both: the words" 'no Xid is known to come with that: write code' err

# ---- a host is all of its devices ----
ex --devices 2 --fault 'device.xid { code = 79, host = 0 }' -- $P/nvml_show
is "a fault of a host: its devices are lost" "$(grep -c '^[01] state=!15' "$WORK/text")" 2
ex --devices 2 --fault 'device.alarm { what = "ecc", host = "h0", at = at.launch("count", 3) }' -- $P/cuda_linked
said "a fault of a host at a launch: it fires where a device launches" 'in force on device 0' err

# ---- the CUDA runtime; without a driver all it asks for must be ours ----
every=$PWD/$BUILD/tests/cuda/libcuda.so.1
for kind in static shared; do
	if [ ! -x "$P/cuda_runtime_$kind" ]; then
		skip "cudart, $kind" "no CUDA toolkit"
		continue
	fi
	rm -f "$WORK/every"
	EVERY_LOG=$WORK/every FAULTDRILL_CUDA_NEXT=$every ex --format json \
		--fault 'device.call { call = "cuInit", error = 3 }' -- $P/cuda_runtime_$kind
	sed -n '/^{/,$p' "$WORK/text" >"$WORK/json"
	resolved=$(sed -n 's/.*resolved \([0-9]*\).*/\1/p' "$WORK/every" | tail -1)
	[ "${resolved:-0}" -gt 400 ] && pass "cudart, $kind: it asks for its entry points" ||
		fail "cudart, $kind: it asks for its entry points" "$(cat "$WORK/every")"
	is "cudart, $kind: every pointer that resolves is ours" \
		"$("$Q" "$WORK/json" 'r.proxies[0].remapped + " " + r.proxies[0].passed' 2>&1)" \
		"$resolved 0"
	said "cudart, $kind: the fault reaches it through cuInit" 'cudaGetDeviceCount 3 '
done

# ---- a fault that is never met says what it waited for ----
while IFS='|' read -r name fault words; do
	ex --fault "$fault" -- $P/cuda_linked
	is "$name: inconclusive" "$rc" 6
	said "$name: the words" "$words" err
done <<'TABLE'
a kernel that there is not|device.xid { code = 48, at = at.launch("cuont", 3) }|it waits for launch 3 of a kernel with 'cuont' in its name, and device h0/gpu0 never came to it
too few of a call|device.xid { code = 48, at = at.call("cuMemAlloc", 900) }|it waits for call 900 of cuMemAlloc, and device h0/gpu0 never came to it
TABLE

# ---- bad input: clear words, the right status, the program untouched ----
while IFS='|' read -r name status words fault; do
	ex --fault "$fault" -- $P/cuda_linked
	is "$name: status" "$rc" "$status"
	said "$name: the words" "$words" err
	unsaid "$name: the program did not run" '.'
done <<'TABLE'
an unknown Xid|2|47: no such Xid is known; the nearest is 4[68] |device.xid { code = 47 }
a code without an effect, as effect|2|has no effect|device.xid { code = 63, form = "effect" }
an index that there is not|2|no device 'h0/gpu7'|device.xid { code = 48, device = "h0/gpu7" }
an entry point that there is not|2|cuMemAlocate|device.call { call = "cuMemAlocate", error = 2 }
a mode that there is not|2|form|device.xid { code = 48, form = "loud" }
TABLE

# ---- pages that are none: said once, and the program runs as without us ----
alone() { # PAGE COMMAND...: the proxy in front of the program, without exec
	FAULTDRILL_DEVICES=$1 LD_LIBRARY_PATH=$HOOK LD_PRELOAD=$HOOK/libcuda.so.1 \
		timeout 20 "${@:2}" >"$WORK/text" 2>"$WORK/err"
	rc=$?
}
"$BUILD/gpu/one" --dir "$WORK" --bin "$PWD/$BUILD" --software 1 none -- true 2>/dev/null
page=$WORK/devices.page
head -c 5000 "$page" >"$WORK/short"
chmod 600 "$WORK/short"
cp -p "$page" "$WORK/version"
printf '\377' | dd of="$WORK/version" bs=1 seek=8 conv=notrunc status=none
cp -p "$page" "$WORK/mode"
chmod 666 "$WORK/mode"
for bad in short version mode; do
	alone "$WORK/$bad" "$P/cuda_linked"
	is "a page of the wrong $bad: the program's status" "$rc" 0
	said "a page of the wrong $bad: the program is untouched" 'end after 5 steps'
	is "a page of the wrong $bad: it is said once" "$(grep -c . "$WORK/err")" 1
done
alone "$WORK/none" "$P/cuda_linked"
is "no page: the program's status" "$rc" 0
alone "$page" "$P/cuda_linked"
is "a good page: nothing is said" "$(cat "$WORK/err")" ""

# ---- the proxy twice: one speaks, the other says so and stands aside ----
mkdir "$WORK/again"
build=$(sed -n 's/.*BUILD_ID "\(.*\)"/\1/p' "$BUILD/build_id.h")
while IFS='|' read -r name edit words; do
	LC_ALL=C sed "$edit" "$HOOK/libcuda.so.1" >"$WORK/again/libcuda.so.1"
	alone "$page" "$P/cuda_dlopen" --library libcuda.so.1 \
		--library "$WORK/again/libcuda.so.1"
	is "$name: the program's status" "$rc" 0
	is "$name: the program is untouched" "$(grep -c 'end after 5 steps' "$WORK/text")" 2
	is "$name: it is said once" "$(grep -c . "$WORK/err")" 1
	said "$name: the words" "$words" err
done <<TABLE
the proxy loaded twice|s/x/x/|is loaded here twice
two versions of the proxy|s/$build/0000000000000000/g|is the second version
TABLE

is "no record is open" "$("$FD" heal --list $S 2>&1)" "nothing to heal"
finish
