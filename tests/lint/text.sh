#!/bin/sh
# text.sh - first lines, licence lines, length of files, no path of one machine
# SPDX-License-Identifier: MIT
. tests/lint/lib

# A rule of one awk program over files; `f` is the file, `base` its name.
over()
{
	program=$1
	shift
	files "$@" | sort -u | xargs -r awk '
		FNR == 1 { f = FILENAME; base = f; sub(/.*\//, "", base) }
		'"$program"
}

licence()
{
	over 'FNR == 1 { all[f] }
		FNR <= 5 && /SPDX-License-Identifier: MIT( \*\/)?$/ { has[f] }
		END { for (f in all) if (!(f in has)) print f }' \
		'*.c' '*.h' '*.sh' '*.lua' '*.f90' Makefile
}

# "/* name.c - what it is", "# name.sh - what it is", "--- What it shows."
first_line()
{
	over 'FNR == 1 && index($0, "/* " base " - ") != 1 { print f }' \
		'*.c' '*.h'
	over 'FNR == 1 { all[f] }
		FNR <= 2 && index($0, "# " base " - ") == 1 { has[f] }
		END { for (f in all) if (!(f in has)) print f }' '*.sh'
	over 'FNR == 1 && !/^---? ........../ { print f }' '*.lua'
}

length_of()
{
	over 'FNR == 601 { print f " is longer" }' '*.c' '*.h' '*.lua' '*.sh'
}

width()
{
	over '{ s = $0; while (match(s, /\t/)) {
			pad = sprintf("%*s", 8 - (RSTART - 1) % 8, "")
			s = substr(s, 1, RSTART - 1) pad substr(s, RSTART + 1) } }
		length(s) > 100 { print f ":" FNR " is " length(s) " wide" }' \
		'harness/*.[ch]' 'injectors/*.[ch]' 'reports/*.[ch]' \
		'workloads/*.[ch]'
}

# This file says what it looks for in pieces, or it would find itself.
machine_paths()
{
	work=/wo'rk/' up=\.\./sha'red'
	files '*' | grep -vE '^tests/data/measuring/' | sort -u |
		xargs -r grep -InE "(^|[^A-Za-z0-9_.])$work|$up" |
		cut -c1-100
}

# A comment that points at a paper nobody has.
papers()
{
	files '*' | sort -u | xargs -r grep -InE \
		'desig[n] section|section [0-9.]+ of the desig[n]|(measurin[g]|styl[e])\.md' |
		cut -c1-100
}

rule "each file says that it is MIT in one SPDX line" licence
planted "no SPDX line" licence harness/core/x.c <<'X'
/* x.c - a file without a licence
 */
X
rule "each file begins with its name and what it is" first_line
planted "another file's name" first_line harness/core/x.c <<'X'
/* y.c - the name of another file
 * SPDX-License-Identifier: MIT */
X
rule "no file is longer than 600 lines" length_of
seq 601 | planted "601 lines" length_of harness/core/x.c
rule "no line outside the tests is wider than 100 columns" width
printf '%0101d\n' 0 | planted "101 columns" width harness/core/x.c
rule "no path of one machine is in the tree" machine_paths
echo "see /wo""rk/x" | planted "a working directory" machine_paths README.md
rule "no comment points at a paper that is not in the tree" papers
echo "/* see des""ign section 7 */" | planted "a paper" papers harness/core/x.c
finish
