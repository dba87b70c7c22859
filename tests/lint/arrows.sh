#!/bin/sh
# arrows.sh - includes run one way, and foreign headers stay where they belong
# SPDX-License-Identifier: MIT
. tests/lint/lib

# Who may include what of ours, besides itself. The journal lies beside the
# agent but is part of the core: an injector's record is its way back. A lab's
# devices are reset by the launcher, as an operator would.
allowed='
harness/core
injectors	harness/core harness/agent/journal.h harness/agent/process.h workloads/include
harness/agent	harness/core injectors workloads/include
harness/lab	harness/core harness/agent injectors/injector.h
harness/measure	harness/core
reports		harness/core harness/measure
harness/engine	harness/core harness/agent injectors harness/lab harness/measure reports/reporter.h
harness/lua	harness/core injectors harness/lab harness/engine
harness/cli	harness injectors reports workloads/include
workloads	harness/core workloads injectors/hooks/device_step.h
'

# "FILE INCLUDED", both from the root, for each include of ours.
our_includes()
{
	files 'harness/*.[ch]' 'injectors/*.[ch]' 'reports/*.[ch]' \
		'workloads/*.[ch]' | sort -u | xargs -r awk '
		match($0, /^[ \t]*#[ \t]*include[ \t]*"[^"]+"/) {
			s = $0; sub(/^[^"]*"/, "", s); sub(/".*/, "", s)
			dir = FILENAME; sub(/[^\/]*$/, "", dir)
			if (s ~ /^faultdrill\//) s = "workloads/include/" s
			else if (s == "build_id.h" || s ~ /\.inc$/) next
			else if (s !~ /^(harness|injectors|reports|workloads)\//)
				s = dir s
			print FILENAME, s
		}'
}

one_way()
{
	our_includes | awk -v table="$allowed" '
		BEGIN {
			n = split(table, row, "\n")
			for (i = 1; i <= n; i++) {
				split(row[i], f, /[ \t]+/)
				if (f[1] != "") may[f[1]] = row[i]
			}
		}
		function layer(path,   best, l) {
			for (l in may)
				if (index(path, l "/") == 1 && length(l) > length(best))
					best = l
			return best
		}
		{
			from = layer($1); ok = layer($2) == from
			n = split(may[from], to, /[ \t]+/)
			for (i = 2; i <= n; i++)
				if (to[i] != "" && ($2 == to[i] || index($2, to[i] "/") == 1))
					ok = 1
			if (!ok) print $1 " includes " $2
		}'
}

# A header of somebody else's and the files that may know it.
foreign='
lua(lib)?[.]h|lauxlib[.]h	^harness/lua/
yaml[.]h			^harness/lab/[a-z_]*yaml[a-z_]*[.]c$
netlink/.*		^harness/(lab|agent)/.*[.]c$
mpi[.]h			^(injectors/hooks/mpi_|workloads/train/|tests/|workloads/launch/).*
cuda[.]h			^(workloads/softcuda/|workloads/train/|injectors/hooks/cuda).*
nvml[.]h			^injectors/hooks/nvml.*
libvirt/.*		^harness/lab/.*libvirt[a-z_]*[.]c$
fuse.*[.]h		^injectors/hooks/.*fuse.*[.]c$
bpf/.*			^injectors/.*[.]c$
sqlite3[.]h		^harness/cli/.*[.]c$
'

foreign_headers()
{
	files '*.[ch]' | sort -u | xargs -r awk -v table="$foreign" '
		BEGIN {
			n = split(table, row, "\n")
			for (i = 1; i <= n; i++)
				if (split(row[i], f, /[ \t]+/) == 2) {
					name[i] = "^(" f[1] ")$"
					where[i] = f[2]
				}
		}
		match($0, /^[ \t]*#[ \t]*include[ \t]*<[^>]+>/) {
			h = $0; sub(/^[^<]*</, "", h); sub(/>.*/, "", h)
			for (i in name)
				if (h ~ name[i] && FILENAME !~ where[i])
					print FILENAME " includes <" h ">"
		}'
}

# A library's own types must not leak out through our headers either.
headers_are_ours()
{
	files 'harness/*.h' 'injectors/*.h' 'reports/*.h' | sort -u |
		grep -vE '^harness/lua/|^injectors/hooks/mpi_' | xargs -r grep -lE \
		'include <(lua|lauxlib|yaml|netlink/|mpi\.h|cuda|nvml|libvirt|fuse|bpf|sqlite)' |
		sed 's/$/ is a header with a foreign one in it/'
}

rule "includes run one way: cli, lua, engine, labs and injectors, core" one_way
planted "the core includes the engine" one_way harness/core/x.c <<'X'
#include "harness/engine/drill.h"
X
planted "a report includes the engine" one_way reports/x.c <<'X'
#include "harness/engine/drill.h"
X
planted "a lab includes the Lua face" one_way harness/lab/x.h <<'X'
#  include "harness/lua/face.h"
X
planted "an injector includes the loop of the agent" one_way injectors/host/x.c <<'X'
#include "harness/agent/agent.h"
X
rule "a foreign header is included only where it is wrapped" foreign_headers
planted "lua.h outside the Lua face" foreign_headers harness/engine/x.c <<'X'
#include <lua.h>
X
planted "mpi.h outside the MPI hook" foreign_headers injectors/hooks/hook.c <<'X'
#include <mpi.h>
X
rule "no header of ours carries a foreign one along" headers_are_ours
planted "netlink in a header" headers_are_ours harness/lab/x.h <<'X'
#include <netlink/netlink.h>
X
finish
