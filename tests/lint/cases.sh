#!/bin/sh
# cases.sh - every case that is claimed is in the table and named in a test
# SPDX-License-Identifier: MIT
#
# tests/data/cases.csv tells what users of other harnesses met. A test takes a
# case by its name: START_TEST(c02_...) in a unit test, the word c02 in a script
# of tests/e2e.
. tests/lint/lib

claimed="c01 c02 c03 c05 c07 c08 c09 c12 c15 c16 c17 c19 c20 c21 c22"

# tests_of CASE: the tests that name it, in one line.
tests_of()
{
	{
		files 'tests/unit/*.c' | xargs -r grep -ohE "START_TEST\\($1_\\w+" |
			sed 's/START_TEST(//'
		files 'tests/e2e/*.sh' | xargs -r grep -lw "$1"
	} | sort -u | tr '\n' ' '
}

without_test()
{
	for c in $claimed; do
		[ -n "$(tests_of "$c")" ] || echo "$c has no test"
	done
}

not_in_table()
{
	{
		echo "$claimed" | tr ' ' '\n'
		files 'tests/unit/*.c' | xargs -r grep -ohE "START_TEST\\(c[0-9]{2}_" |
			sed 's/START_TEST(//; s/_//'
		files 'tests/e2e/*.sh' | xargs -r grep -ohwE 'c[0-9]{2}'
	} | sort -u | while read -r c; do
		grep -q "^$c," tests/data/cases.csv 2>/dev/null ||
			echo "$c is no case of tests/data/cases.csv"
	done
}

rule "each claimed case is named in a test" without_test
planted "a case that only a comment names" without_test tests/unit/test_x.c <<'X'
/* test_x.c - c01 c02 c03 c05 c07 c08 c09 c12 c15 c16 c17 c19 c20 c21 c22
 * SPDX-License-Identifier: MIT */
X
rule "each case that a test names is in the table" not_in_table
planted "a case that there is not" not_in_table tests/e2e/x.sh <<'X'
# x.sh - a test of case c99
X
for c in $claimed; do
	echo "  $c: $(tests_of "$c")"
done
finish
