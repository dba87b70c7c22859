#!/usr/bin/env python3
# cuda_generate.py - writes cuda_symbols.h from a toolkit's files
# SPDX-License-Identifier: MIT
#
# usage: cuda_generate.py TOOLKIT [DIR]
#
# TOOLKIT holds include/cudaTypedefs.h and lib64/stubs/libcuda.so; DIR is where
# the header goes (injectors/hooks). A developer's step: it is committed.
#
# Which symbol is meant by a name and a version is written nowhere, but follows:
# a name's exports in order of their suffix (none, _v2, _v3) are its typedefs in
# order of their version, separately for _ptsz and _ptds. Names where the two
# have not the same length end the run.
import collections
import re
import subprocess
import sys

THREAD = r'(_pt[sd][sz])?'


def exports(toolkit):
    out = subprocess.run(['nm', '-D', '--defined-only',
                          toolkit + '/lib64/stubs/libcuda.so'],
                         check=True, capture_output=True, text=True).stdout
    names = sorted(line.split()[2] for line in out.splitlines())
    return [n for n in names if re.match(r'cu[A-Z]', n)]


def typedefs(toolkit):
    found = collections.defaultdict(set)
    newest, floats = 0, set()
    for header in ('cudaTypedefs.h', 'cudaProfilerTypedefs.h'):
        with open(toolkit + '/include/' + header) as f:
            text = f.read()
        for name, version, thread, arguments in re.findall(
                r'\*PFN_(cu\w+?)_v(\d+)' + THREAD + r'\)\((.*)\);', text):
            found[name, thread].add(int(version))
            newest = max(newest, int(version))
            if re.search(r'\b(float|double) \w', arguments):
                floats.add(name)
    return found, newest, floats


def split(symbol):
    return re.fullmatch(r'(cu\w+?)(?:_v(\d+))?' + THREAD, symbol).groups()


def base_name(symbol):
    return split(symbol)[0]


def suffixes(symbols):
    found = collections.defaultdict(list)
    for symbol in symbols:
        name, suffix, thread = split(symbol)
        found[name, thread or ''].append((int(suffix or 1), symbol))
    return found


def since(symbols, versions):
    result = {}
    by_suffix = suffixes(symbols)
    for key in sorted(set(by_suffix) | set(versions)):
        ours = sorted(by_suffix.get(key, []))
        theirs = sorted(versions.get(key, []))
        if len(ours) != len(theirs):
            sys.exit('%s: %d exports, %d versions' %
                     (''.join(key), len(ours), len(theirs)))
        result.update((symbol, v) for v, (_, symbol) in zip(theirs, ours))
    return result


def packed(items):
    """Items side by side, as many as go into a line of a macro."""
    lines, line = [], '\t'
    for item in items:
        if len(line.expandtabs(8)) + len(item) > 76:
            lines.append(line)
            line = '\t'
        line += (' ' if line != '\t' else '') + item
    return ' \\\n'.join(lines + [line]) + '\n'


HEAD = '''/* cuda_symbols.h - what the CUDA driver exports, and since which version
 * SPDX-License-Identifier: MIT
 *
 * Written by cuda_generate.py; do not edit. S(number, symbol, since): the
 * numbers are those of the device page (hot[], call). `since` is the first CUDA
 * version (12040 is 12.4) that means the symbol by its name, which is the
 * symbol without _v2, _v3, ... and without _ptsz, _ptds (a thread's own
 * stream, flag 2 of cuGetProcAddress). Used from assembly too.
 */
#ifndef DRILL_CUDA_SYMBOLS_H
#define DRILL_CUDA_SYMBOLS_H

#define DRILL_CUDA_SYMBOLS(S) \\
'''

TAIL = '''
/* Those that are given a float or a double itself, not where it is. */
#define DRILL_CUDA_FLOATS(F) \\
%s
#define DRILL_CUDA_CALLS %d
/* A name asked for in a newer version may mean what is not known here. */
#define DRILL_CUDA_NEWEST %d

#endif
'''


def main():
    toolkit = sys.argv[1]
    directory = sys.argv[2] if len(sys.argv) > 2 else 'injectors/hooks'
    symbols = exports(toolkit)
    versions, newest, floats = typedefs(toolkit)
    first = since(symbols, versions)
    with open(directory + '/cuda_symbols.h', 'w') as f:
        f.write(HEAD)
        f.write(packed('S(%d, %s, %d)' % (i, symbol, first[symbol])
                       for i, symbol in enumerate(symbols)))
        f.write(TAIL % (packed('F(%s)' % s for s in symbols
                               if base_name(s) in floats),
                        len(symbols), newest))


main()
