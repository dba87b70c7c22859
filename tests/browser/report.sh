#!/bin/sh
# report.sh - opens reports in headless Chromium: no console error, no overflow
# SPDX-License-Identifier: MIT
#
# Each page is opened with a probe behind it, which uses the page as a reader
# with keyboard and mouse would and complains on the console. Screenshots stay
# in $BUILD/tests/browser/shots for looking at. PAGES="16 512" picks samples.
set -u
build=${BUILD:-build}
render=$build/tests/browser/render
shots=$build/tests/browser/shots
tall=5200 # px: the whole page is on the picture
probe=tests/browser/probe.html
work=$(mktemp -d) || exit 3
trap 'rm -rf "$work"' EXIT

for chromium in chromium chromium-browser google-chrome ""; do
	command -v "$chromium" >/dev/null 2>&1 && break
done
if [ -z "$chromium" ]; then
	echo "SKIP reports open in a browser: no chromium here"
	exit 0
fi
mkdir -p "$shots"

# open PAGE WIDTH SCHEME EXTRA...: what the console said, and "probe: done".
open() {
	page=$1 width=$2 scheme=0
	[ "$3" = light ] && scheme=1
	shift 3
	rm -rf "$work/profile"
	timeout 300 "$chromium" --headless --no-sandbox --disable-gpu \
		--disable-quic --no-first-run --disable-background-networking \
		--disable-component-update --disable-sync --hide-scrollbars \
		--user-data-dir="$work/profile" --enable-logging=stderr --v=0 \
		--blink-settings=preferredColorScheme=$scheme \
		--window-size="$width,$tall" --virtual-time-budget=2000 "$@" \
		"file://$(realpath "$page")" 2>&1 |
		sed -n 's/^.*CONSOLE[:(][0-9]*[])]* *//p'
}

# check NAME PAGE WIDTH SCHEME
check() {
	{ cat "$2"; cat "$probe"; } >"$work/page.html"
	said=$(open "$work/page.html" "$3" "$4" \
		--screenshot="$shots/$1-$3-$4.png")
	case $said in
	'"probe: done"'*) [ "$(printf '%s\n' "$said" | wc -l)" -eq 1 ] ;;
	*) false ;;
	esac
}

# must_pass NAME PAGE WIDTH SCHEME
must_pass() {
	if check "$@"; then
		echo "PASS page $1 is sound at $3 px, $4"
	else
		printf 'FAIL page %s is sound at %s px, %s: console said: %s\n' \
			"$1" "$3" "$4" "$(printf '%s' "$said" | tr '\n' ' ')"
	fi
}

# must_fail NAME PAGE WORD: the test is able to fail.
must_fail() {
	if check "$1" "$2" 1140 light; then
		echo "FAIL a planted $1 is seen: it was not"
	elif printf '%s' "$said" | grep -q "$3"; then
		echo "PASS a planted $1 is seen"
	else
		printf 'FAIL a planted %s is seen: console said: %s\n' "$1" \
			"$said"
	fi
	rm -f "$shots/$1-1140-light.png"
}

# make NAME ARGUMENTS OF RENDER...
make_page() {
	mkdir -p "$work/$1"
	name=$1
	shift
	"$render" "$@" "$work/$name" >"$work/$name/summary.txt" 2>"$work/err" ||
		echo "FAIL page $name is written: $(cat "$work/err")"
}

# together WIDTH SCHEME NAME...: many pages in one window, a frame each.
together() {
	width=$1 scheme=$2
	shift 2
	echo '<!doctype html><title>reports</title><body style="margin:0">' \
		>"$work/frames.html"
	for name in "$@"; do
		cat "$work/$name/report.html" "$probe" >"$work/$name/probed.html"
		printf '<iframe src="%s/probed.html" width="%s" height="900" %s' \
			"$name" "$width" 'style="border:0;display:block"></iframe>' \
			>>"$work/frames.html"
	done
	said=$(open "$work/frames.html" "$width" "$scheme" --dump-dom)
	if [ "$(printf '%s\n' "$said" | grep -c '^"probe: done"')" -eq $# ] &&
		[ "$(printf '%s\n' "$said" | wc -l)" -eq $# ]; then
		echo "PASS $# more pages are sound at $width px, $scheme"
	else
		printf 'FAIL %s pages are sound at %s px, %s: %s\n' $# "$width" \
			"$scheme" "$(printf '%s' "$said" | tr '\n' ' ')"
	fi
}

make_page sample-16 sample 16
for width in 700 1140 1600; do
	for scheme in light dark; do
		must_pass sample-16 "$work/sample-16/report.html" $width $scheme
	done
done
pages=
for n in ${PAGES:-8 128 512}; do
	make_page "sample-$n" sample "$n"
	pages="$pages sample-$n"
done
for run in tests/data/runs/*.json; do
	name=$(basename "$run" .json)
	make_page "$name" run "$run" -
	pages="$pages $name"
done
for events in tests/data/measuring/*.events.jsonl; do
	name=$(basename "$events" .events.jsonl)
	make_page "$name" events "$events"
	pages="$pages $name"
done
# Names of pages have no blanks.
together 700 light $pages
together 1600 dark $pages

{
	cat "$work/skip/report.html"
	echo '<script>no_such_function()</script>'
} >"$work/error.html"
must_fail "script error" "$work/error.html" no_such_function
{
	cat "$work/skip/report.html"
	echo '<div style="width:3000px">wide</div>'
} >"$work/wide.html"
must_fail overflow "$work/wide.html" "wider than the window"
sed 's/id="lab"/id="elsewhere"/' "$work/skip/report.html" \
	>"$work/link.html"
must_fail "dead link" "$work/link.html" "#lab"

open "$work/sample-16/report.html" 1140 light --no-pdf-header-footer \
	--print-to-pdf="$shots/sample-16.pdf" >/dev/null
if [ "$(head -c 4 "$shots/sample-16.pdf" 2>/dev/null)" = %PDF ]; then
	echo "PASS the page prints"
else
	echo "FAIL the page prints: no PDF"
fi
