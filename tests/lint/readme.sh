#!/bin/sh
# readme.sh - every scenario shown in the README is a file that the tests run
# SPDX-License-Identifier: MIT
#
# A block behind the comment line "file: PATH" must equal that file.
set -u
cd "$(dirname "$0")/../.." || exit 3
fail=0

compare()
{
	awk -v want="<!-- file: $1 -->" '
		$0 == want { on = 1; next }
		on == 1 && /^```/ { on = 2; next }
		on == 2 && /^```/ { exit }
		on == 2' "$2" | cmp -s - "$1"
}

for f in $(sed -n 's/^<!-- file: \(.*\) -->$/\1/p' README.md); do
	if compare "$f" README.md; then
		echo "PASS README shows $f as it is"
	else
		echo "FAIL README shows $f as it is: the block differs from the file"
		fail=1
	fi
done

# The check must be able to fail.
tmp=$(mktemp) || exit 3
trap 'rm -f "$tmp"' EXIT
f=$(sed -n 's/^<!-- file: \(.*\) -->$/\1/p' README.md | head -1)
sed 's/return scenario/return  scenario/' README.md >"$tmp"
if [ -n "$f" ] && ! compare "$f" "$tmp"; then
	echo "PASS a changed block is noticed"
else
	echo "FAIL a changed block is noticed: it was not"
	fail=1
fi
exit $fail
