#!/bin/sh
# deps.sh - makes sure that the packages faultdrill builds and runs with are here
# SPDX-License-Identifier: MIT
#
# usage: harness/deps.sh build|check
# Debian as root: installs what is missing. Elsewhere, or without root: prints
# the list of packages and fails; it never guesses.
set -eu

build="gcc make pkg-config libc6-dev libuv1-dev libjansson-dev libyaml-dev
	libnl-3-dev libnl-route-3-dev libxxhash-dev liblua5.4-dev libopenmpi-dev
	openmpi-bin"
check="$build check clang libclang-rt-14-dev gfortran lua-check nodejs chromium
	fonts-liberation strace tmux binutils iproute2 procps libxml2-utils"

case "${1:-}" in
build) want=$build ;;
check) want=$check ;;
*)
	echo "usage: harness/deps.sh build|check" >&2
	exit 2
	;;
esac

debian=
[ -r /etc/os-release ] && debian=$(. /etc/os-release && echo "${ID:-} ${VERSION_ID:-}")

# A tool that is already on the machine need not come from a package.
have()
{
	case "$1" in
	gcc | make | clang | node | strace | tmux | gfortran) command -v "$1" >/dev/null && return 0 ;;
	nodejs) command -v node >/dev/null && return 0 ;;
	esac
	dpkg-query -W -f '${db:Status-Status}\n' "$1" 2>/dev/null | grep -qx installed
}

missing=
if command -v dpkg-query >/dev/null; then
	for p in $want; do
		have "$p" || missing="$missing $p"
	done
	[ -z "$missing" ] && exit 0
fi

if [ "$debian" != "debian 12" ] || [ "$(id -u)" -ne 0 ]; then
	if ! command -v dpkg-query >/dev/null; then
		missing=" "$(echo $want)
		# Not a Debian: what pkg-config and the path can see decides.
		if pkg-config --exists libuv jansson yaml-0.1 libnl-3.0 \
			libnl-route-3.0 libxxhash lua5.4 2>/dev/null &&
			command -v mpicc >/dev/null; then
			exit 0
		fi
	fi
	{
		echo "faultdrill: these packages are missing (names as in Debian 12):"
		echo "$missing" | fmt -w 76 | sed 's/^ */  /'
		if [ "$debian" = "debian 12" ]; then
			echo "Install them as root: apt-get install$missing"
		else
			echo "Install their like on this system, then run make again."
		fi
	} >&2
	exit 4
fi

echo "faultdrill: installing$missing"
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! { apt-get update -q && apt-get install -qy --no-install-recommends $missing; } >"$log" 2>&1; then
	tail -20 "$log" >&2
	echo "faultdrill: apt-get could not install$missing" >&2
	exit 3
fi
