# e2e.sh - what the end-to-end scripts share; source it from the tree's top
# SPDX-License-Identifier: MIT
#
# Gives: pass, fail, skip, is (compares and says both values), snapshot (what a
# mess would show in), wait_for (an event, bounded), verdict (of a launcher's
# job), FD (the program), WORK (a fresh folder, removed at the end), finish.

BUILD=${BUILD:-build}
FD=$PWD/$BUILD/faultdrill
Q=$PWD/tests/support/q
WORK=$(mktemp -d) || exit 3
failures=0
trap 'rm -rf "$WORK"' EXIT

pass() { echo "PASS $*"; }
skip() { echo "SKIP $1: $2"; }
fail() { echo "FAIL $1: $2"; failures=$((failures + 1)); }
finish() { [ "$failures" -eq 0 ]; exit; }

# is NAME GOT WANTED; of long texts only what differs is shown
is()
{
	if [ "$2" = "$3" ]; then
		pass "$1"
	elif [ "${#2}" -lt 200 ] && [ "${#3}" -lt 200 ]; then
		fail "$1" "got '$2', wanted '$3'"
	else
		echo "$2" >"$WORK/got" && echo "$3" >"$WORK/wanted"
		fail "$1" "got < and wanted >: $(diff "$WORK/got" "$WORK/wanted" |
			grep '^[<>]' | cut -c1-200 | head -8)"
	fi
}

# truth NAME FILE EXPRESSION: the expression over the JSON file is true
truth()
{
	v=$("$Q" "$2" "$3" 2>&1)
	if [ "$v" = true ]; then pass "$1"; else fail "$1" "'$3' is '$v' in $2"; fi
}

# wait_for SECONDS COMMAND...: polls until the command holds; 1 when it never did
wait_for()
{
	limit=$(($(date +%s) + $1)); shift
	until "$@" >/dev/null 2>&1; do
		[ "$(date +%s)" -ge "$limit" ] && return 1
		sleep 0.05
	done
}

# verdict NAME: of the command before; what the job in $dir said tells why
verdict()
{
	if [ $? -eq 0 ]; then
		pass "$1"
	else
		fail "$1" "$(tail -n 7 "$dir/out" "$dir/events" 2>&1 |
			cut -c1-180 | tr '\n' '|')"
	fi
}

# The labs of other trees' programs that run on this machine, one name a line.
others()
{
	for m in /run/faultdrill/*/mark; do
		owner=$(sed -n 's/^owner \([0-9]*\) .*/\1/p' "$m" 2>/dev/null)
		exe=$(readlink "/proc/${owner:-none}/exe") || continue
		case $exe in
		"$PWD/$BUILD/"*) ;;
		*) basename "$(dirname "$m")" ;;
		esac
	done
}

# Everything that a mess would show in, on this machine outside of any lab.
snapshot()
{
	ip -o link show 2>/dev/null | sed 's/^[0-9]*: //; s/ *\\.*//' | sort
	awk '{print $5, $(NF-2)}' /proc/self/mountinfo | sort
	{
		find /sys/fs/cgroup -type d -iname '*faultdrill*'
		find /run/faultdrill -mindepth 1 -maxdepth 1
	} 2>/dev/null | grep -vE "/(faultdrill-)?($(others | paste -sd'|')|-)([./]|\$)" | sort
	# Of this tree: other trees may be tested on the same machine.
	ps -eo stat=,args= | grep -F "$PWD/$BUILD/" |
		awk '$1 ~ /^[Tt]/ { print "stopped", $0 }
		/faultdrill-agent|launch-rank|\/launch |mpirun|orted|\/train / &&
		!/awk|tests\// { $1 = ""; print "process" $0 }' | sort
	true
}
